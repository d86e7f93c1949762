"""What watchers may look at: the parts of programs and of runs that they read. The real objects satisfy these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

__all__ = [
    "AccountView",
    "DeclarationView",
    "InstructionView",
    "LineView",
    "ProgramView",
    "RoutineView",
    "RunView",
    "StreamView",
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
    """An assembled program (`pixelflow.isa.Program`)."""

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


class StreamView(Protocol):
    """An instruction stream while it runs (`pixelflow.node.streams.stream.Stream`)."""

    name: str
    cycle: int
    index: int
    """Position of the next instruction."""
    halted: bool
    executed: Sequence[int]
    waits: Mapping[str, int]
    waiting: int | None
    """The semaphore for which it waits."""
    semaphores: Any
    """``counts`` holds the count of each semaphore whose signals this stream gets."""
    stages: Sequence[tuple[str, int]]
    frames: Sequence[Any]
    """The running calls, innermost last: ``name``, ``parameters``, ``loops``."""

    @property
    def busy(self) -> int:
        """Cycles of the instructions executed so far."""


class RunView(Protocol):
    """A run while it goes on (`OneStream` and `TwoStreams` of `pixelflow.node`)."""

    @property
    def streams(self) -> Mapping[str, StreamView]: ...

    @property
    def cycle(self) -> int:
        """The last cycle that a stream has come to."""

    @property
    def tasic_cycles(self) -> tuple[int, ...]:
        """Busy cycles of the TASICs of each module; empty where one stream runs alone."""

    @property
    def gni_cycles(self) -> Mapping[str, int]:
        """Busy cycles of the paths out of the GNI."""


class AccountView(Protocol):
    """The account of one stream of a run that has ended, with that of the other beside it (`pixelflow.node.Run`)."""

    program: ProgramView
    engine: str
    stream: str
    reason: str
    cycles: int
    waits: Mapping[str, int]
    tasic_cycles: tuple[int, ...]
    gni_cycles: Mapping[str, int]
    ledger: Any

    @property
    def streams(self) -> Sequence[AccountView]:
        """This account and the one beside it."""

    @property
    def total_cycles(self) -> int:
        """Cycles until all streams had ended."""

    @property
    def busy(self) -> int:
        """Cycles of the instructions executed."""

    @property
    def instructions(self) -> int:
        """Instructions executed, control included."""

    @property
    def microinstructions(self) -> int:
        """Instructions executed that took at least one cycle."""

    @property
    def by_family(self) -> Mapping[Any, int]:
        """Cycles by instruction family."""

    @property
    def by_routine(self) -> Mapping[str, Any]:
        """Use of each routine: ``calls``, ``own_cycles``, ``total_cycles``."""

    @property
    def by_stage(self) -> Mapping[str, int]:
        """Cycles from each MARK to the next."""
