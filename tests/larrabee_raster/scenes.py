"""Triangles that find mistakes: families of corners that lie where rules for edges differ."""

from collections.abc import Sequence

import numpy as np

from pixelflow.simd.drawing import ScreenTriangles, snap

WIDTH, HEIGHT = 150, 101
"""Neither a multiple of a tile nor of a block of 4x4 pixels."""


def triangles_of(points: np.ndarray) -> ScreenTriangles:
    count = len(points)
    return snap(points, np.full((count, 3), 0.5), np.zeros((count, 3, 3), np.uint8))


def equilateral(count: int, area: float, screen: tuple[int, int], seed: int = 3) -> ScreenTriangles:
    """Return triangles of one size, turned and placed at random."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, (count, 1)) + np.arange(3) * 2 * np.pi / 3
    radius = np.sqrt(4 * area / (3 * np.sqrt(3)))
    centres = rng.uniform(0, 1, (count, 1, 2)) * screen
    return triangles_of(centres + radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1))


def _around(rng: np.random.Generator, count: int, reach: float) -> np.ndarray:
    return rng.uniform(0, 1, (count, 1, 2)) * (WIDTH, HEIGHT) + rng.uniform(-reach, reach, (count, 3, 2))


def _on_grid(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(-10 * 256, 160 * 256, (14, 3, 2)) / 256


def _on_centres(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([rng.integers(-4, 155, (12, 3, 2)), np.round(_around(rng, 20, 6))]) + 0.5


def _integers(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([rng.integers(-4, 155, (12, 3, 2)), np.round(_around(rng, 20, 6))])


def _ties(rng: np.random.Generator) -> np.ndarray:
    """Corners halfway between two of the grid."""
    return np.round(_around(rng, 30, 12) * 256) / 256 + 1 / 512


def _slivers(rng: np.random.Generator) -> np.ndarray:
    ends = rng.uniform(0, 1, (30, 2, 2)) * (WIDTH, HEIGHT)
    return np.concatenate([ends, ends[:, :1] + rng.uniform(-0.02, 0.02, (30, 1, 2))], axis=1)


def _sub_pixel(rng: np.random.Generator) -> np.ndarray:
    return _around(rng, 120, 0.7)


def _viewport(rng: np.random.Generator) -> np.ndarray:
    return np.array([[0, 0], [WIDTH, 0], [0, HEIGHT]]) + rng.uniform(-60, 60, (8, 3, 2))


def _huge(rng: np.random.Generator) -> np.ndarray:
    return rng.integers(-16384 * 256, 16384 * 256, (40, 3, 2)) / 256


FAMILIES = {
    "on the grid": _on_grid,
    "on pixel centres": _on_centres,
    "integers": _integers,
    "ties": _ties,
    "slivers": _slivers,
    "sub-pixel": _sub_pixel,
    "viewport": _viewport,
    "huge": _huge,
}


def joined(parts: Sequence[ScreenTriangles]) -> ScreenTriangles:
    """Return all triangles of several sets, one after the other."""
    kinds = ("corners", "depths", "colours")
    return ScreenTriangles(*(np.concatenate([getattr(part, kind) for part in parts]) for kind in kinds))


def family(name: str) -> ScreenTriangles:
    """Return the triangles of a family, always the same."""
    return triangles_of(FAMILIES[name](np.random.default_rng(list(FAMILIES).index(name))))
