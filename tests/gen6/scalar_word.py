"""Fields of an instruction word, read from its bits."""

from __future__ import annotations

SIZES = (4, 4, 2, 2, 1, 1, 8, 4)
SIGNED = (False, True, False, True, False, True, False, True, True, True)
UD, D, UW, W, UB, B, _, F = range(8)
SPREAD = (0, 1, 2, 4, 8, 16, 32)
"""Strides by code."""


class Word:
    """The fields of an instruction."""

    def __init__(self, word: int) -> None:
        self.word = word
        self.opcode, self.wide = self.of(0, 7), self.of(8, 1)
        self.nomask, self.quarter = self.of(9, 1), self.of(12, 2)
        self.predicate, self.inverse = self.of(16, 4), self.of(20, 1)
        self.size, self.condition = 1 << self.of(21, 3), self.of(24, 4)
        self.accumulates, self.saturates = self.of(28, 1), self.of(31, 1)
        self.three = self.opcode in (91, 92)
        self.flag = self.of(33 if self.three else 89, 1)
        self.first = 8 * self.quarter if self.size < 16 else 0
        self.type = F if self.three else self.of(34, 3)

    def of(self, low: int, width: int, signed: bool = False) -> int:
        value = self.word >> low & (1 << width) - 1
        return value - (1 << width) if signed and value >> width - 1 else value

    def source_type(self, position: int) -> int:
        """Return the type of a source; 8 is V, 9 is VF."""
        if self.three:
            return F
        kind = self.of(39 + 5 * position, 3)
        if self.of(37 + 5 * position, 2) == 3:
            return {5: 9, 6: 8}.get(kind, kind)
        return kind

    def sources(self) -> int:
        if self.three:
            return 3
        return 1 if self.opcode in (1, 4, 67, 68, 69, 70, 71, 74) else 2
