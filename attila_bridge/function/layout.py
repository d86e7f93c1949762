"""Layout of memory: where the buffers of a scene lie, and which line, ROP and shader a tile of the frame belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DEFAULT_UNITS",
    "LINE_BYTES",
    "OVER_TILE",
    "PAGE_BYTES",
    "TILE",
    "Allocator",
    "Units",
    "blocks_of",
    "line_of",
    "morton",
    "rop_of",
    "shader_of",
]

TILE = 8
"""Pixels: a side of a generation tile, whose 64 words are one line."""
SCAN_TILE = 16
OVER_TILE = 64
LINE_BYTES = 256
PAGE_BYTES = 4096
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Units:
    """Units that quads are shared among, how traversal goes, and what it takes for the screen."""

    rops: int = 2
    shaders: int = 2
    square: bool = False
    """Whether tiles further up than the screen is wide are left out: the public simulator takes the width for both.

    A frame that is higher than wide is then not drawn above that line. One that is wider than high has tiles above it
    either way."""
    testers: int = 4
    """Tiles of a level that the descent splits at once."""
    recursive: bool = True
    """Whether traversal descends through tiles with four triangles at once; else it scans one after the other."""


DEFAULT_UNITS = Units()


class Allocator:
    """Addresses in the graphics memory, handed out in order, each at the beginning of a page (invented)."""

    def __init__(self) -> None:
        self._next = 0

    def place(self, size: int) -> int:
        """Return the address of so many bytes."""
        found = self._next
        self._next += -(-size // PAGE_BYTES) * PAGE_BYTES
        return found


def morton(x: Integers, y: Integers, bits: int) -> Integers:
    """Return the bits of x and y interleaved, x lowest."""
    found = np.zeros(np.broadcast(x, y).shape, np.int64)
    for bit in range(bits):
        found |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1
    return found


def blocks_of(width: int, height: int) -> int:
    """Return how many lines a buffer of a frame has: whole over-tiles of 64x64 pixels."""
    return -(-width // OVER_TILE) * -(-height // OVER_TILE) * (OVER_TILE // TILE) ** 2


def line_of(x: Integers, y: Integers, width: int) -> Integers:
    """Return the number of the line of 8x8 tiles at x, y in pixels.

    Over-tiles row by row; in them scan tiles in Morton order; in those four 8x8 tiles row by row.
    """
    across = -(-width // OVER_TILE)
    over = (y // OVER_TILE) * across + x // OVER_TILE
    scan = morton(x // SCAN_TILE, y // SCAN_TILE, 2)
    return (over * 16 + scan) * 4 + (y // TILE & 1) * 2 + (x // TILE & 1)


def rop_of(x: Integers, y: Integers, rops: int) -> Integers:
    """Return the ROP of tiles at x, y in pixels: the Morton number of the scan tile modulo ROPs."""
    return morton(x // SCAN_TILE, y // SCAN_TILE, 8) % rops


def shader_of(x: Integers, y: Integers, shaders: int) -> Integers:
    """Return the shader of tiles at x, y in pixels.

    The public simulator spreads quads over 2 or 4 shaders; any other number of them gives all quads to the first.
    """
    column, row = x // SCAN_TILE, y // SCAN_TILE
    if shaders == 2:
        return (column + row) % 2
    if shaders == 4:
        return (column & 1) | (row & 1) << 1
    return np.zeros(np.broadcast(x, y).shape, np.int64)
