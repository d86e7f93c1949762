"""Texels by formula: patterns of 32-bit integer arithmetic, level by level."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["PATTERNS", "texture_levels"]

Grid = NDArray[np.uint32]


def _noise(i: Grid, j: Grid, level: int, seed: int) -> list[Grid]:
    """Return the four bytes of a hash of position, level and seed."""
    base = (0x01000193 * level + 0x9E3779B1 * seed) & 0xFFFFFFFF
    x = i + np.uint32(65536) * j + np.uint32(base)
    x = (x ^ x >> np.uint32(16)) * np.uint32(0x7FEB352D)
    x = (x ^ x >> np.uint32(15)) * np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    return [x >> np.uint32(shift) for shift in (0, 8, 16, 24)]


def _ramps(i: Grid, j: Grid) -> list[Grid]:
    height, width = i.shape
    return [
        np.uint32(255) * i // np.uint32(max(width - 1, 1)),
        np.uint32(255) * j // np.uint32(max(height - 1, 1)),
        np.full_like(i, 255),
    ]


def _checker(i: Grid, j: Grid, level: int, seed: int) -> list[Grid]:
    """Return squares of four texels in red, ramps in green and blue."""
    return [np.uint32(255) * ((i >> np.uint32(2)) + (j >> np.uint32(2)) & np.uint32(1)), *_ramps(i, j)]


def _level(i: Grid, j: Grid, level: int, seed: int) -> list[Grid]:
    """Return the level's number in red, ramps in green and blue."""
    return [np.full_like(i, (40 + 37 * level) % 256), *_ramps(i, j)]


PATTERNS: dict[str, Callable[[Grid, Grid, int, int], list[Grid]]] = {
    "noise": _noise,
    "checker": _checker,
    "level": _level,
}
"""From texel numbers (to the right, upwards), level and seed to red, green, blue, alpha in the low 8 bits."""


def texture_levels(pattern: str, width: int, height: int, levels: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    """Return levels of a texture, each uint8[height, width, 4], halved in both directions from one to the next."""
    made = []
    for level in range(levels):
        w, h = max(1, width >> level), max(1, height >> level)
        j, i = np.meshgrid(np.arange(h, dtype=np.uint32), np.arange(w, dtype=np.uint32), indexing="ij")
        made.append(np.stack([each.astype(np.uint8) for each in PATTERNS[pattern](i, j, level, seed)], axis=-1))
    return tuple(made)
