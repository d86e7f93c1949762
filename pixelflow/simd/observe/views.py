"""Views of programs and of runs: the parts of them that watchers read. The real objects satisfy these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = [
    "AccountView",
    "DeclarationView",
    "InstructionView",
    "LineView",
    "ProgramView",
    "RoutineView",
    "RunView",
]


class LineView(Protocol):
    """A line of source text."""

    file: str
    line: int
    text: str


class RoutineView(Protocol):
    """A routine of a program."""

    name: str
    entry: int
    end: int


class DeclarationView(Protocol):
    """What is declared of an instruction."""

    mnemonic: str
    opcode: int


class InstructionView(Protocol):
    """An instruction of a program."""

    declaration: DeclarationView
    cycles: int

    def text(self) -> str:
        """Return the instruction as the assembler takes it."""


class ProgramView(Protocol):
    """An assembled program."""

    name: str
    names: tuple[str, ...]

    @property
    def sha256(self) -> str: ...

    @property
    def instructions(self) -> Sequence[InstructionView]: ...

    @property
    def addresses(self) -> Sequence[int]:
        """The word address of each instruction."""

    def where(self, index: int) -> str:
        """Return file and line of an instruction, or its word address."""

    def line_at(self, index: int) -> LineView | None:
        """Return the source line of an instruction."""

    def routine_at(self, address: int) -> RoutineView | None:
        """Return the routine that holds a word address."""


class RunView(Protocol):
    """A run while it goes on."""

    @property
    def cycle(self) -> int:
        """The last cycle that it has come to."""


class AccountView(Protocol):
    """The account of a run that has ended."""

    reason: str

    @property
    def total_cycles(self) -> int:
        """Cycles until all of it had ended."""
