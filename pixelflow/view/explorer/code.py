"""Code that a listing shows: a program, or what the spans of a trace say of the instructions that they are of."""

from __future__ import annotations

from pathlib import PurePath
from typing import NamedTuple, Protocol

from pixelflow.isa import Program
from pixelflow.simd.isa.places import instruction_text
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.trace.model import Label, Trace

__all__ = ["ListedCode", "ListedInstruction", "ListedLine", "ProgramCode", "TraceCode"]

_PYTHON = ".py"
"""Programs may be put together by calls, whose lines say less than the instructions that they make."""


class ListedLine(NamedTuple):
    """A line of a source; without its text where only the place is known."""

    file: str
    line: int
    text: str = ""


class ListedInstruction(NamedTuple):
    """An instruction as it is shown; ``cycles`` is None where the declaration has no fixed number."""

    address: int
    cycles: int | None
    text: str


class ListedCode(Protocol):
    """Instructions by number from 0 on."""

    @property
    def coloured(self) -> bool:
        """Whether the texts are microcode, whose words have colours."""

    def __len__(self) -> int: ...

    def line_at(self, index: int) -> ListedLine | None:
        """Return the source line of an instruction, None where there is none that says something."""

    def instruction(self, index: int) -> ListedInstruction:
        """Return an instruction."""

    def index_of(self, label: Label) -> int:
        """Return the instruction that a span with this label is of, -1 where it is of none."""


class ProgramCode:
    """The instructions of a program, of any machine."""

    def __init__(self, program: AssembledProgram) -> None:
        self._program = program
        self.coloured = isinstance(program, Program)

    def __len__(self) -> int:
        return len(self._program.instructions)

    def line_at(self, index: int) -> ListedLine | None:
        """Return the source line of an instruction; lines of Python are none."""
        source = self._program.line_at(index)
        return None if source is None else _said(source.file, source.line, source.text)

    def instruction(self, index: int) -> ListedInstruction:
        """Return an instruction; only those of PixelFlow's streams take the cycles of their declarations."""
        program = self._program
        instruction = program.instructions[index]
        cycles = instruction.cycles if self.coloured else None
        return ListedInstruction(program.addresses[index], cycles, instruction_text(program, instruction))

    def index_of(self, label: Label) -> int:
        """Return the instruction at the address of a label."""
        address = label.arg("uPC")
        return self._program.index_of.get(address, -1) if isinstance(address, int) else -1


class TraceCode:
    """The instructions that a trace has spans of, by address; those that were never executed are not in it.

    Runs of several programs may have others at the same address: these stand below each other.
    """

    coloured = False

    def __init__(self, trace: Trace) -> None:
        found: dict[tuple[int, str], Label] = {}
        for label in trace.labels:
            place = _place(label)
            if place is not None:
                found.setdefault(place, label)
        self._places = sorted(found, key=lambda place: place[0])
        self._labels = [found[place] for place in self._places]
        self._number = {place: number for number, place in enumerate(self._places)}

    def __len__(self) -> int:
        return len(self._places)

    def line_at(self, index: int) -> ListedLine | None:
        """Return the place of a source line; a trace has no texts of them."""
        source = self._labels[index].arg("src")
        file, _, line = str(source or "").rpartition(":")
        return _said(file, int(line), "") if file and line.isdecimal() else None

    def instruction(self, index: int) -> ListedInstruction:
        """Return an instruction as the trace names it."""
        address, text = self._places[index]
        return ListedInstruction(address, None, text)

    def index_of(self, label: Label) -> int:
        """Return the instruction that a label names."""
        place = _place(label)
        return -1 if place is None else self._number.get(place, -1)


def _place(label: Label) -> tuple[int, str] | None:
    """Return address and text of the instruction that a label is of: its own name, or the one that waits."""
    address = label.arg("uPC")
    if not isinstance(address, int):
        return None
    waiting = label.arg("instruction")
    return address, label.name if waiting is None else str(waiting)


def _said(file: str, line: int, text: str) -> ListedLine | None:
    return None if PurePath(file).suffix == _PYTHON else ListedLine(file, line, text)
