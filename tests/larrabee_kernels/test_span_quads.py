"""Quads put together from spans against edges that are looked at pixel by pixel."""

import numpy as np
import pytest

from larrabee_bridge.pipeline.bins import quads_of
from pixelflow.simd.drawing import CENTRE, SAMPLES, ScreenTriangles, edges_of, snap

WIDTH, HEIGHT = 150, 101


def pixel_by_pixel(triangles: ScreenTriangles, tile: int, samples: int) -> list[tuple[int, ...]]:
    """Look at every pixel of the screen: tile, triangle, y, x and masks of each block that has one, in that order."""
    edges = [edges_of(triangles, place) for place in ((CENTRE,) if samples == 1 else SAMPLES)]
    j, i = np.mgrid[: -(-HEIGHT // 4) * 4, : -(-WIDTH // 4) * 4]
    found = []
    for number in range(len(triangles)):
        masks = []
        for edge in edges:
            inside = (i < WIDTH) & (j < HEIGHT)
            for a, b, c in zip(edge.a[number], edge.b[number], edge.c[number], strict=True):
                inside &= a * i + b * j + c < 0
            blocks = inside.reshape(j.shape[0] // 4, 4, -1, 4).transpose(0, 2, 1, 3).reshape(j.shape[0] // 4, -1, 16)
            masks.append((blocks * (1 << np.arange(16))).sum(axis=-1))
        for row, column in np.argwhere(np.any(masks, axis=0)).tolist():
            place = 4 * row // tile * -(-WIDTH // tile) + 4 * column // tile
            found.append((place, number, 4 * row, 4 * column, *(int(mask[row, column]) for mask in masks)))
    return sorted(found)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("size", [0.7, 6, 50, 400])
@pytest.mark.parametrize("tile", [32, 64, 128])
def test_they_are_the_same(size: float, tile: int, samples: int) -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform((-20, -20), (170, 120), (80, 1, 2)) + rng.uniform(-size, size, (80, 3, 2))
    points[::3] = np.round(points[::3]) + 0.5
    triangles = snap(points, np.full((80, 3), 0.5), np.zeros((80, 3, 3), np.uint8))
    found = quads_of(triangles, WIDTH, HEIGHT, tile, samples)
    columns = (found.tile, found.triangle, found.y, found.x, *found.masks.T)
    assert list(zip(*(each.tolist() for each in columns), strict=True)) == pixel_by_pixel(triangles, tile, samples)
    assert len(found) and found.masks.dtype == np.uint16


@pytest.mark.parametrize("samples", [1, 4])
def test_nothing_to_draw(samples: int) -> None:
    points = np.array([[[-9.0, -9], [-5, -9], [-9, -5]]])
    outside = snap(points, np.full((1, 3), 0.5), np.zeros((1, 3, 3), np.uint8))
    for triangles in (outside, outside.part(np.arange(0))):
        assert quads_of(triangles, 64, 64, 64, samples).masks.shape == (0, samples)
