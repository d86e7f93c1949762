"""Compression of a line of 64 words: high parts near the least or the greatest are coded in two bits."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["COLOR_LEVELS", "DEPTH_LEVELS", "compressed_bytes"]

COLOR_LEVELS = ((5, 64), (13, 128))
"""Low bits that each word of a colour line keeps, and bytes of the line then: the paper's 1:4 and 1:2."""

DEPTH_LEVELS = (*COLOR_LEVELS, (21, 192))
"""The same of depth lines, which measured statistics also have at 3:4."""


def compressed_bytes(words: Sequence[int], line_bytes: int, levels: Sequence[tuple[int, int]]) -> int:
    """Return the bytes that a line takes in memory; ``line_bytes`` where it cannot be compressed.

    A line fits a level where the high part of each word is the least one, the greatest one, one more than the least or
    one less than the greatest.
    """
    least, greatest = min(words), max(words)
    for low, size in levels:
        bottom, top = least >> low, greatest >> low
        if top - bottom <= 3:
            return size
        allowed = (bottom, bottom + 1, top - 1, top)
        if all(word >> low in allowed for word in words):
            return size
    return line_bytes
