"""The algebra of lane operations in which every instruction's one meaning is written.

An engine is one implementation of this protocol. A *word* is one unsigned number per lane (8 bits wide in the
shapes used so far), a *bit* one truth value per lane. Values belong to the engine that made them, and only for
the length of one instruction. No operation knows time, and none knows which machine it serves.

The five seams: **shape** (:mod:`pixelflow.simd.lanes.engine`), **fetch** (`word`, `bit`, `load`, `read`, `flag`,
`affine`), **operation** (`add`, `both`, `either`, `differ`, `complement`, `shift_left`, `shift_right`), **mask**
(`select` and the ``where`` of every write) and **route** (`route`, `pattern`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar, overload

Word = TypeVar("Word")
Bit = TypeVar("Bit")


class Algebra(Protocol[Word, Bit]):
    """Operations of a meaning on the lanes."""

    # --- fetch ----------------------------------------------------------------------------------------------

    def word(self, value: int) -> Word:
        """Return the same word in every lane; ``value`` is taken modulo the word size."""

    def bit(self, value: bool) -> Bit:
        """Return the same bit in every lane."""

    def load(self, row: int) -> Word:
        """Return a row of lane memory as it is now."""

    def read(self, name: str) -> Word:
        """Return a register as it is now."""

    def flag(self, name: str) -> Bit:
        """Return a flag as it is now."""

    def affine(self, a: int, b: int, c: int, words: int) -> list[Word]:
        """Return ``a * x + b * y + c`` modulo 2^(bits of ``words`` words), low word first, from each lane's x, y."""

    # --- operation ------------------------------------------------------------------------------------------

    def add(self, a: Word, b: Word, carry: Bit) -> tuple[Word, Bit]:
        """Return the sum of two words and a bit, and the carry from the top."""

    @overload
    def both(self, a: Word, b: Word) -> Word: ...
    @overload
    def both(self, a: Bit, b: Bit) -> Bit:
        """Return a and b, bit by bit; both operands are words or both are bits."""

    @overload
    def either(self, a: Word, b: Word) -> Word: ...
    @overload
    def either(self, a: Bit, b: Bit) -> Bit:
        """Return a or b, bit by bit."""

    @overload
    def differ(self, a: Word, b: Word) -> Word: ...
    @overload
    def differ(self, a: Bit, b: Bit) -> Bit:
        """Return a exclusive-or b, bit by bit."""

    @overload
    def complement(self, a: Word) -> Word: ...
    @overload
    def complement(self, a: Bit) -> Bit:
        """Return not a, bit by bit."""

    def shift_left(self, a: Word, into: Bit) -> tuple[Word, Bit]:
        """Return a shifted up by one with ``into`` at the bottom, and the bit that fell off the top."""

    def shift_right(self, a: Word, into: Bit) -> tuple[Word, Bit]:
        """Return a shifted down by one with ``into`` at the top, and the bit that fell off the bottom."""

    # --- mask -----------------------------------------------------------------------------------------------

    def select(self, where: Bit, a: Word, b: Word) -> Word:
        """Return a in the lanes where the bit is set, b in the others."""

    def store(self, row: int, value: Word, where: Bit | None = None) -> None:
        """Write a row of lane memory, in all lanes or only where the bit is set."""

    def write(self, name: str, value: Word, where: Bit | None = None) -> None:
        """Write a register, in all lanes or only where the bit is set."""

    def set_flag(self, name: str, value: Bit, where: Bit | None = None) -> None:
        """Write a flag, in all lanes or only where the bit is set."""

    # --- route ----------------------------------------------------------------------------------------------

    def route(self, value: Word, sources: Sequence[int]) -> Word:
        """Return a word in which lane i of every group takes the value of lane ``sources[i]`` of that group."""

    def pattern(self, bits: Sequence[bool]) -> Bit:
        """Return a bit that is the same in every group: ``bits[i]`` in lane i."""
