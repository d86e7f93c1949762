"""Meanings carried out at once on flags of all lanes, without registers and memory: for runs that follow flags only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa import PANEL_PES

__all__ = ["KnownLanes"]

Word = NDArray[np.uint8]
Bit = NDArray[np.bool_]


class KnownLanes:
    """The algebra over known flags; see :class:`pixelflow.simd.lanes.algebra.Algebra` for what the operations mean.

    Registers and memory read as 0: what is made from them must not be used. ``written`` holds the flags that a meaning
    has set.
    """

    def __init__(self, x: NDArray[np.uint64], y: NDArray[np.uint64]) -> None:
        self._lanes = len(x)
        self._places = {kind: (x.astype(kind), y.astype(kind)) for kind in (np.uint32, np.uint64)}
        self._flags: Mapping[str, Bit] = {}
        self.written: dict[str, Bit] = {}

    def begin(self, flags: Mapping[str, Bit]) -> None:
        """Begin a meaning with these flags known; all others read as not set."""
        self._flags, self.written = flags, {}

    def word(self, value: int) -> Word:
        return np.array(value & 0xFF, np.uint8)

    def bit(self, value: bool) -> Bit:
        return np.array(value)

    def load(self, row: int) -> Word:
        return self.word(0)

    def read(self, name: str) -> Word:
        return self.word(0)

    def flag(self, name: str) -> Bit:
        found = self.written.get(name)
        if found is None:
            found = self._flags.get(name)
        return self.bit(False) if found is None else found

    def affine(self, a: int, b: int, c: int, words: int) -> list[Word]:
        kind = np.uint32 if words <= 4 else np.uint64
        x, y = self._places[kind]
        limit = 1 << 8 * kind().itemsize
        total = x * kind(a % limit)
        total += y * kind(b % limit)
        total += kind(c % limit)
        return [(total >> kind(8 * index)).astype(np.uint8) for index in range(words)]

    def add(self, a: Word, b: Word, carry: Bit) -> tuple[Word, Bit]:
        total = np.add(a, b, dtype=np.uint16) + carry
        return total.astype(np.uint8), total > 0xFF

    def both(self, a: Word | Bit, b: Word | Bit) -> Word | Bit:
        return a & b

    def either(self, a: Word | Bit, b: Word | Bit) -> Word | Bit:
        return a | b

    def differ(self, a: Word | Bit, b: Word | Bit) -> Word | Bit:
        return a ^ b

    def complement(self, a: Word | Bit) -> Word | Bit:
        return ~a

    def shift_left(self, a: Word, into: Bit) -> tuple[Word, Bit]:
        return (a << np.uint8(1)) | np.asarray(into, np.uint8), a >= 0x80

    def shift_right(self, a: Word, into: Bit) -> tuple[Word, Bit]:
        return (a >> np.uint8(1)) | np.asarray(into, np.uint8) << np.uint8(7), a & np.uint8(1) != 0

    def select(self, where: Bit, a: Word, b: Word) -> Word:
        return np.where(where, a, b)

    def store(self, row: int, value: Word, where: Bit | None = None) -> None:
        pass

    def write(self, name: str, value: Word, where: Bit | None = None) -> None:
        pass

    def set_flag(self, name: str, value: Bit, where: Bit | None = None) -> None:
        value = value if where is None else np.where(where, value, self.flag(name))
        self.written[name] = np.broadcast_to(value, (self._lanes,))

    def route(self, value: Word, sources: Sequence[int]) -> Word:
        return np.broadcast_to(value, (self._lanes,)).reshape(-1, PANEL_PES)[:, sources].ravel()

    def pattern(self, bits: Sequence[bool]) -> Bit:
        return np.tile(np.array(bits, bool), self._lanes // PANEL_PES)
