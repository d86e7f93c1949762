"""Compression of a line of 64 words: high parts near the least or the greatest are coded in two bits."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["LEVELS", "compressed_bytes"]

LEVELS = ((5, 64), (13, 128), (21, 192))
"""Low bits that each word keeps, and bytes of the line then."""


def compressed_bytes(words: Sequence[int], line_bytes: int) -> int:
    """Return the bytes that a line takes in memory; ``line_bytes`` where it cannot be compressed.

    A line fits a level where the high part of each word is the least one, the greatest one, one more than the least or
    one less than the greatest.
    """
    least, greatest = min(words), max(words)
    for low, size in LEVELS:
        bottom, top = least >> low, greatest >> low
        if top - bottom <= 3:
            return size
        allowed = (bottom, bottom + 1, top - 1, top)
        if all(word >> low in allowed for word in words):
            return size
    return line_bytes
