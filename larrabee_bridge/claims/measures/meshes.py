"""Triangles of known sizes on a screen, for measures that ask what a triangle's area does."""

from __future__ import annotations

import numpy as np

from pixelflow.simd.drawing import ScreenTriangles, snap

__all__ = ["equilateral", "even_mesh"]

_JITTER = 0.3
"""How far corners of an even mesh move, at most, as a share of its cells' sides."""


def even_mesh(width: int, height: int, area: float, layers: int = 1, seed: int = 1) -> ScreenTriangles:
    """Return a mesh over the whole screen, and a little more, of triangles of about ``area`` pixels.

    Cells of a square grid are halved, and corners moved at random. Layers lie one after the other, moved on their own.
    """
    rng = np.random.default_rng(seed)
    side = np.sqrt(2 * area)
    columns, rows = (int(np.ceil(size / side)) + 2 for size in (width, height))
    number = np.arange((columns + 1) * (rows + 1)).reshape(rows + 1, columns + 1)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    index = np.stack([np.stack([a, b, c], axis=-1), np.stack([b, d, c], axis=-1)], axis=2).reshape(-1, 3)
    x, y = np.meshgrid(np.arange(columns + 1), np.arange(rows + 1))
    grid = np.stack([x, y], axis=-1).reshape(-1, 2) - 1
    moved = [side * (grid + rng.uniform(-_JITTER, _JITTER, grid.shape)) for _ in range(layers)]
    return _gray(np.concatenate([layer[index] for layer in moved]))


def equilateral(area: float, count: int, seed: int = 1) -> ScreenTriangles:
    """Return equilateral triangles of an area in pixels, each turned and moved at random, all near the origin."""
    rng = np.random.default_rng(seed)
    radius = np.sqrt(4 * area / (3 * np.sqrt(3)))
    angle = rng.uniform(0, 2 * np.pi, (count, 1)) + np.arange(3) * 2 * np.pi / 3
    middle = radius + 1 + rng.uniform(0, 64, (count, 1, 2))
    return _gray(middle + radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1))


def _gray(points: np.ndarray) -> ScreenTriangles:
    return snap(points, np.full(points.shape[:2], 0.5), np.full((*points.shape[:2], 3), 128))
