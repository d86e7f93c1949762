"""Does Mesa's llvmpipe, an independent rasterizer, cover the same pixels? It snaps to 1/256 pixel too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pixelflow.simd.drawing import CENTRE, SAMPLES, covered, snap
from tessellation import load, tessellate
from tessellation.picture import View, lit_triangles
from tests.drawing.llvmpipe import llvmpipe, overdraw

SIZE = 256


@pytest.fixture(scope="module")
def context() -> Iterator:
    yield from llvmpipe()


def ours(points: np.ndarray, places: tuple[tuple[int, int], ...] = (CENTRE,)) -> np.ndarray:
    triangles = snap(points, np.full(points.shape[:2], 0.5), np.zeros((len(points), 3, 3), np.uint8))
    return sum(covered(triangles, SIZE, SIZE, place) for place in places)


def family(name: str) -> np.ndarray:
    """Triangles inside the viewport: llvmpipe clips those that leave it to new corners."""
    rng = np.random.default_rng(2)
    middle = rng.uniform(20, SIZE - 20, (250, 1, 2))
    match name:
        case "anywhere":
            return middle + rng.uniform(-18, 18, (250, 3, 2))
        case "grid of 1/256":
            return np.floor((middle + rng.uniform(-18, 18, (250, 3, 2))) * 256) / 256
        case "pixel centres":
            return np.floor(middle + rng.uniform(-18, 18, (250, 3, 2))) + 0.5
        case "whole pixels":
            return np.floor(middle + rng.uniform(-18, 18, (250, 3, 2)))
        case "ties":
            return (np.floor((middle + rng.uniform(-18, 18, (250, 3, 2))) * 256) + 0.5) / 256
        case "below a pixel":
            return middle + rng.uniform(-0.6, 0.6, (250, 3, 2))
        case "slivers":
            along = rng.uniform(-18, 18, (250, 1, 2)) * np.array([0.0, 1.0, 0.5])[None, :, None]
            return middle + along + rng.uniform(-0.05, 0.05, (250, 3, 2))
        case "mesh":
            x, y = np.meshgrid(np.linspace(4, SIZE - 4, 21), np.linspace(4, SIZE - 4, 21))
            grid = np.stack([x, y], axis=-1) + rng.uniform(-7, 7, (21, 21, 2)) * 0.5
            a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
            return np.concatenate([np.stack(t, axis=-2).reshape(-1, 3, 2) for t in ([a, b, c], [a, c, d])])
        case "large":
            return rng.uniform(0, SIZE, (40, 3, 2))
    raise AssertionError(name)


FAMILIES = [
    "anywhere",
    "grid of 1/256",
    "pixel centres",
    "whole pixels",
    "ties",
    "below a pixel",
    "slivers",
    "mesh",
    "large",
]


@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_pixels_as_often(context, name: str) -> None:
    # What the GPU is given is binary32; so is what is rounded here.
    points = family(name).astype(np.float32).astype(np.float64)
    theirs = overdraw(context, points, SIZE)
    assert theirs.sum() > 0
    assert np.count_nonzero(theirs != ours(points)) == 0


@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_of_four_samples(context, name: str) -> None:
    points = family(name).astype(np.float32).astype(np.float64)
    theirs = overdraw(context, points, SIZE, samples=4)
    assert theirs.sum() > 0
    assert np.count_nonzero(theirs != ours(points, SAMPLES)) == 0


@pytest.mark.parametrize("samples", [0, 4], ids=["centres", "four samples"])
def test_the_teapot(context, samples: int) -> None:
    mesh = tessellate(load("teapot").patches, samples=4).mesh(weld=True)
    seen = lit_triangles(mesh.points, mesh.normals, mesh.triangles, View(width=SIZE, height=SIZE))
    points = seen.corners / 256.0
    theirs = overdraw(context, points, SIZE, samples)
    assert theirs.sum() > 10_000
    assert np.count_nonzero(theirs != ours(points, SAMPLES if samples else (CENTRE,))) == 0
