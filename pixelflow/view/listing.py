"""The listing of a program: files, their lines and the instructions that they have become, and how hot each is."""

from __future__ import annotations

from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa import Program
from pixelflow.simd.isa.program import AssembledProgram, instruction_text
from pixelflow.simd.report import Json
from pixelflow.simd.trace.trace_model import Label, Trace
from pixelflow.view.timeline import Levels, SpanLevels

if TYPE_CHECKING:
    from microcode.lexer import MicrocodeLexer

# Code that a listing shows: a program, or what the spans of a trace say of the instructions that they are of.


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


class ProgramCode:
    """The instructions of a program, of any machine."""

    def __init__(self, program: AssembledProgram) -> None:
        self._program = program
        self.coloured = isinstance(program, Program)
        """True if the texts are microcode, whose words have colours."""

    def __len__(self) -> int:
        return len(self._program.instructions)

    def line_at(self, index: int) -> ListedLine | None:
        """Return the source line of an instruction; None for lines of Python."""
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

    Runs of several programs may have others at the same address, which follow each other.
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


ListedCode = ProgramCode | TraceCode
"""Instructions by number starting at 0."""

_LONGEST = 400
"""Characters of a row, at most."""
_FILE, _LINE, _INSTRUCTION = "file", "line", "instruction"
"""Kind of a row."""


class CodeListing:
    """Rows, each the name of a file, a source line or an instruction, by number starting at 0."""

    def __init__(self, code: ListedCode) -> None:
        self._code = code
        count = len(code)
        self._rows: list[tuple[str, int]] = []
        """Kind of each row, and the number of its (first) instruction."""
        self.row_of = np.zeros(count, np.int64)
        """The row of each instruction."""
        self._line_row_of = np.full(count, -1, np.int64)
        before, file = None, ""
        line_row = -1
        for index in range(count):
            source = code.line_at(index)
            if source is None:
                line_row = -1
            elif source != before:
                if source.file != file:
                    self._rows.append((_FILE, index))
                    file = source.file
                line_row = len(self._rows)
                self._rows.append((_LINE, index))
            before = source
            self.row_of[index] = len(self._rows)
            self._line_row_of[index] = line_row
            self._rows.append((_INSTRUCTION, index))

    def __len__(self) -> int:
        return len(self._rows)

    def row_at(self, index: int | None) -> int | None:
        """Return the row of an instruction, None past the end of the program and for none."""
        return None if index is None or not 0 <= index < len(self.row_of) else int(self.row_of[index])

    def row_of_label(self, label: Label) -> int | None:
        """Return the row of the instruction that a label is of, None where it is of none."""
        return self.row_at(self._code.index_of(label))

    def rows(self, first: int, count: int) -> list[Json]:
        """Return what ``count`` rows show, starting with ``first``."""
        return [self._shown(*each) for each in self._rows[first : first + count]]

    def _shown(self, form: str, index: int) -> Json:
        if form != _INSTRUCTION:
            source = self._code.line_at(index)
            assert source is not None
            name = PurePath(source.file).name
            if form == _FILE:
                return {"form": form, "text": [["", name]]}
            place = f"{name}:{source.line}"
            return {"form": form, "place": place, "line": source.line, "text": self._pieces(source.text.strip())}
        address, cycles, text = self._code.instruction(index)
        return {"form": form, "address": address, "cycles": cycles, "text": self._pieces(text)}

    def _pieces(self, text: str) -> list[Json]:
        """Return the pieces of a text, each with the short name of its kind of token."""
        return _coloured(text[:_LONGEST]) if self._code.coloured else [["", text[:_LONGEST]]]

    def heat(self, levels: Levels, streams: tuple[str, ...], begin: int, end: int) -> list[list[int]]:
        """Return (row, busy cycles, waiting cycles) in a window for each row that has any."""
        count = len(levels.labels)
        instruction_of = np.fromiter(map(self._code.index_of, levels.labels[:count]), np.int64, count)
        busy, waiting = np.zeros(len(self)), np.zeros(len(self))
        for row in levels.rows:
            if isinstance(row, SpanLevels) and row.track in streams:
                for total, cycles in zip((busy, waiting), row.cycles_of_labels(begin, end, count), strict=True):
                    self._add(total, cycles, instruction_of)
        hot = np.flatnonzero(busy + waiting)
        return np.stack([hot, busy[hot], waiting[hot]], axis=1).astype(np.int64).tolist()

    def _add(self, total: NDArray[np.float64], cycles: NDArray[np.float64], instruction_of: NDArray[np.int64]) -> None:
        there = np.flatnonzero((cycles > 0) & (instruction_of >= 0))
        index = instruction_of[there]
        np.add.at(total, self.row_of[index], cycles[there])
        lines = self._line_row_of[index]
        np.add.at(total, lines[lines >= 0], cycles[there][lines >= 0])


@cache
def _lexer() -> MicrocodeLexer:
    from microcode.lexer import MicrocodeLexer

    return MicrocodeLexer()


def _coloured(text: str) -> list[Json]:
    from pygments.token import STANDARD_TYPES

    found: list[Json] = []
    for kind, piece in _lexer().get_tokens(text):
        piece = piece.rstrip("\n")
        if piece:
            found.append([STANDARD_TYPES.get(kind, ""), piece])
    return found
