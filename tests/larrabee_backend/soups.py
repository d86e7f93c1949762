"""Triangles and textures at random, the same for the same seed."""

from __future__ import annotations

import numpy as np

from pixelflow.simd.drawing import ScreenTriangles, Texture, snap

WIDTH, HEIGHT = 40, 21


def soup(seed: int, count: int = 5, *, flat: bool = False, width: int = WIDTH, height: int = HEIGHT) -> ScreenTriangles:
    """Return triangles of all sizes that reach beyond the screen, with coordinates beyond their textures."""
    rng = np.random.default_rng(seed)
    points = rng.uniform((0, 0), (width, height), (count, 1, 2)) + rng.normal(size=(count, 3, 2)) * 0.4 * height
    colours = rng.integers(0, 256, (count, 3, 3)).astype(np.uint8)
    if flat:
        colours[:] = colours[:, :1]
    return snap(points, rng.uniform(0, 1, (count, 3)), colours, rng.uniform(-40, 40, (count, 3, 2)))


def square(depth: float, colour: tuple[int, int, int], side: int = 32) -> ScreenTriangles:
    """Return a square of two triangles at the left and top border of the screen."""
    corners = np.array([[(0, 0), (side, 0), (0, side)], [(side, 0), (side, side), (0, side)]], float)
    colours = np.broadcast_to(np.array(colour, np.uint8), (2, 3, 3))
    return snap(corners, np.full((2, 3), depth), colours, corners)


def texture(seed: int, width: int = 16, height: int = 8) -> Texture:
    """Return a texture of noise."""
    return Texture(np.random.default_rng(seed).integers(0, 256, (height, width, 4)).astype(np.uint8))
