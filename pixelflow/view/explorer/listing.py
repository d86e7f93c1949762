"""The listing of a program: source lines and the instructions that they have become, and how hot each is."""

from __future__ import annotations

from functools import cache
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray
from pygments.token import STANDARD_TYPES

from microcode.lexer import MicrocodeLexer
from pixelflow.isa import Program
from pixelflow.simd.isa.places import instruction_text
from pixelflow.simd.report import Json
from pixelflow.view.explorer.levels import Levels, SpanLevels

__all__ = ["ProgramListing"]

_PYTHON = ".py"
"""Programs may be put together by calls, whose lines say less than the instructions that they make."""


class ProgramListing:
    """Rows, each a source line or an instruction, by number from 0 on."""

    def __init__(self, program: Program) -> None:
        self._program = program
        count = len(program.instructions)
        self._rows: list[tuple[bool, int]] = []
        """Whether it is a source line, and the number of its (first) instruction."""
        self.row_of = np.zeros(count, np.int64)
        """The row of each instruction."""
        self._line_row_of = np.full(count, -1, np.int64)
        before = None
        line_row = -1
        for index in range(count):
            source = program.line_at(index)
            if source is None or PurePath(source.file).suffix == _PYTHON:
                line_row = -1
            elif source != before:
                line_row = len(self._rows)
                self._rows.append((True, index))
            before = source
            self.row_of[index] = len(self._rows)
            self._line_row_of[index] = line_row
            self._rows.append((False, index))

    def __len__(self) -> int:
        return len(self._rows)

    def row_at(self, index: int | None) -> int | None:
        """Return the row of an instruction, None past the end of the program."""
        return None if index is None or index >= len(self.row_of) else int(self.row_of[index])

    def rows(self, first: int, count: int) -> list[Json]:
        """Return what so many rows show, from one on."""
        return [self._shown(*each) for each in self._rows[first : first + count]]

    def _shown(self, is_line: bool, index: int) -> Json:
        program = self._program
        if is_line:
            source = program.line_at(index)
            assert source is not None
            place = f"{PurePath(source.file).name}:{source.line}"
            return {"form": "line", "place": place, "text": _coloured(source.text.strip()[:400])}
        instruction = program.instructions[index]
        text = instruction_text(program, instruction)
        address, cycles = program.addresses[index], instruction.cycles
        return {"form": "instruction", "address": address, "cycles": cycles, "text": _coloured(text[:400])}

    def heat(self, levels: Levels, streams: tuple[str, ...], begin: int, end: int) -> list[list[int]]:
        """Return (row, busy cycles, waiting cycles) in a window for each row that has any."""
        count = len(levels.labels)
        instruction_of = self._instructions_of(levels, count)
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

    def _instructions_of(self, levels: Levels, count: int) -> NDArray[np.int64]:
        """Return the instruction that each label is of, -1 where it is of none."""
        index_of = self._program.index_of
        found = np.full(count, -1, np.int64)
        for number, label in enumerate(levels.labels[:count]):
            address = label.arg("uPC")
            if isinstance(address, int):
                found[number] = index_of.get(address, -1)
        return found


@cache
def _lexer() -> MicrocodeLexer:
    return MicrocodeLexer()


def _coloured(text: str) -> list[Json]:
    """Return the pieces of a text, each with the short name of its kind of token."""
    found: list[Json] = []
    for kind, piece in _lexer().get_tokens(text):
        piece = piece.rstrip("\n")
        if piece:
            found.append([STANDARD_TYPES.get(kind, ""), piece])
    return found
