"""Triangles and textures at random, the same for the same seed."""

from __future__ import annotations

import numpy as np

from pixelflow.simd.drawing import ScreenTriangles, Texture, snap

WIDTH, HEIGHT = 40, 21


def soup(
    seed: int,
    count: int = 5,
    *,
    flat: bool = False,
    width: int = WIDTH,
    height: int = HEIGHT,
    perspective: bool = False,
) -> ScreenTriangles:
    """Return triangles of all sizes that reach beyond the screen, with coordinates beyond their textures.

    In ``perspective`` corners are up to a hundred times as far as others, but for every third triangle's.
    """
    rng = np.random.default_rng(seed)
    points = rng.uniform((0, 0), (width, height), (count, 1, 2)) + rng.normal(size=(count, 3, 2)) * 0.4 * height
    colours = rng.integers(0, 256, (count, 3, 3)).astype(np.uint8)
    if flat:
        colours[:] = colours[:, :1]
    depths, coordinates = rng.uniform(0, 1, (count, 3)), rng.uniform(-40, 40, (count, 3, 2))
    nearness = 10.0 ** rng.uniform(-2, 0, (count, 3)) if perspective else None
    if nearness is not None:
        nearness[::3] = nearness[::3, :1]
    return snap(points, depths, colours, coordinates, nearness)


def square(depth: float, colour: tuple[int, int, int], side: int = 32) -> ScreenTriangles:
    """Return a square of two triangles at the left and top border of the screen."""
    corners = np.array([[(0, 0), (side, 0), (0, side)], [(side, 0), (side, side), (0, side)]], float)
    colours = np.broadcast_to(np.array(colour, np.uint8), (2, 3, 3))
    return snap(corners, np.full((2, 3), depth), colours, corners)


def texture(seed: int, width: int = 16, height: int = 8) -> Texture:
    """Return a texture of noise."""
    return Texture(np.random.default_rng(seed).integers(0, 256, (height, width, 4)).astype(np.uint8))
