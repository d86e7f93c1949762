"""Numbers out of rows of bytes, and back: 64 lanes at a time, in four parts of 16.

The bytes of a number lie in rows one after the other. They are brought together by unpacking within blocks of 16
bytes, which vector units do in one step; the lanes of a part are therefore 0 to 3 of every block of 16, those of the
next one 4 to 7, and so on. Nobody sees that order, because `spread` undoes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pixelflow.node.parts.kernels.floats.vector import LaneVector, Text

__all__ = ["LANES", "gathered", "spread"]

LANES = 64
"""Lanes that are worked on together."""

_PARTS = 4
_BLOCK = 16


def _unpacked(a: LaneVector, b: LaneVector) -> list[LaneVector]:
    """Return the elements of two vectors in turn, block by block of 16 bytes: the lower halves, then the upper ones."""
    each = 8 * _BLOCK // a.bits
    orders = [
        [at + side for block in range(0, a.size, each) for at in range(block + first, block + first + each // 2)
         for side in (0, a.size)]
        for first in (0, each // 2)
    ]  # fmt: skip
    return [a.shuffled(b, order) for order in orders]


def gathered(rows: Sequence[LaneVector], text: Text) -> list[LaneVector]:
    """Return four vectors of 16 numbers from one to eight rows of 64 bytes, low byte first.

    The numbers have 32 bits where there are up to four rows, 64 otherwise.
    """
    low = _words(rows[:4], text)
    if len(rows) <= 4:
        return low
    high = _words(rows[4:], text)
    return [a.resized(64) | b.resized(64) << 32 for a, b in zip(low, high, strict=True)]


def _words(rows: Sequence[LaneVector], text: Text) -> list[LaneVector]:
    """Return the same for up to four rows."""
    zero = text.constant(0, LANES, 8)
    a, b, c, d = (*rows, *[zero] * (4 - len(rows)))
    pairs = zip(_unpacked(a, b), _unpacked(c, d), strict=True)
    return [word.viewed(32) for low, high in pairs for word in _unpacked(low.viewed(16), high.viewed(16))]


def spread(parts: Sequence[LaneVector], count: int) -> list[LaneVector]:
    """Return ``count`` rows of 64 bytes from four vectors of 16 numbers, low byte first."""
    low = _rows([part.resized(32) for part in parts])
    if count <= 4:
        return low[:count]
    return low + _rows([(part >> 32).resized(32) for part in parts])[: count - 4]


def _rows(parts: Sequence[LaneVector]) -> list[LaneVector]:
    """Return the four rows of numbers of 32 bits."""
    order = [block + 4 * lane + byte for block in range(0, LANES, _BLOCK) for byte in range(4) for lane in range(4)]
    sorted_ = [part.viewed(8).shuffled(None, order).viewed(32) for part in parts]
    first, second = _unpacked(*sorted_[:2]), _unpacked(*sorted_[2:])
    pairs = [wide for a, b in zip(first, second, strict=True) for wide in _unpacked(a.viewed(64), b.viewed(64))]
    return [wide.viewed(8) for wide in pairs]
