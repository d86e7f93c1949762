"""Words of a program as an IGC gets them: how many each instruction has, and what can stay in its memory.

A *piece* is what the memory of an IGC holds as a whole: a routine, or the outermost loop of code outside of routines.
Everything else passes through the FIFO, each time it is executed. MARK has no words: it is there for reports alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pixelflow.isa import Program
from pixelflow.isa.control import ENDL, LOOP, MARK
from pixelflow.simd.errors import MachineFault

__all__ = ["WORD_BYTES", "Piece", "ProgramWords", "loops_of", "words_of"]

WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """Instructions ``first`` to ``end - 1``, which lie in the memory of an IGC together."""

    first: int
    end: int
    words: int


class ProgramWords:
    """The words of a program's instructions, and its pieces."""

    def __init__(self, program: Program) -> None:
        """Raises MachineFault where a LOOP has no end."""
        self.each = tuple(program.by_kind.each(lambda each: 0 if each.declaration is MARK else each.words))
        """Words of each instruction."""
        self.pieces: list[Piece] = []
        self.piece_of = [-1] * len(self.each)
        """The piece of each instruction, -1 for none."""
        self.within = [0] * len(self.each)
        """Words of its piece up to the end of each instruction."""
        ends = [*program.addresses, len(program.words)]
        position = {address: index for index, address in enumerate(ends)}
        for routine in program.routines:
            first, end = position.get(routine.entry), position.get(routine.end)
            if first is not None and end is not None and first < end:
                self._add(first, end)
        for first, last in sorted(loops_of(program).items()):
            if self.piece_of[first] < 0:
                self._add(first, last + 1)

    def _add(self, first: int, end: int) -> None:
        total = 0
        for index in range(first, end):
            total += self.each[index]
            self.piece_of[index], self.within[index] = len(self.pieces), total
        self.pieces.append(Piece(first, end, total))

    def executed(self, executed: Sequence[int]) -> int:
        """Return the words of all that was executed, each time."""
        return sum(times * words for times, words in zip(executed, self.each, strict=True))

    def needed(self, executed: Sequence[int]) -> int:
        """Return the words to deliver where every piece is delivered once, however large the memory must be."""
        streamed = sum(
            times * words for times, words, piece in zip(executed, self.each, self.piece_of, strict=True) if piece < 0
        )
        used = sum(piece.words for piece in self.pieces if any(executed[piece.first : piece.end]))
        return streamed + used


def words_of(program: Program) -> ProgramWords:
    """Return the words of a program, found once and kept with it."""
    found = program.analyses.get("words")
    if not isinstance(found, ProgramWords):
        found = program.analyses["words"] = ProgramWords(program)
    return found


def loops_of(program: Program) -> dict[int, int]:
    """Return the position of the ENDL of every LOOP; raises MachineFault where one is missing."""
    open_loops: list[int] = []
    ends: dict[int, int] = {}
    for index, declaration in program.by_kind.places_of(LOOP, ENDL):
        if declaration is LOOP:
            open_loops.append(index)
        else:
            if not open_loops:
                raise MachineFault(f"{program.where(index)}: ENDL without LOOP")
            ends[open_loops.pop()] = index
    if open_loops:
        raise MachineFault(f"{program.where(open_loops[-1])}: LOOP without ENDL")
    return ends
