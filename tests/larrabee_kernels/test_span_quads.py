"""Quads put together from spans against those of the 64-bit reference, one triangle after the other."""

import numpy as np
import pytest

from larrabee_bridge.pipeline.coverage.quads import Quads, quads_of, quads_of_spans
from pixelflow.simd.drawing import snap


@pytest.mark.parametrize("size", [0.7, 6, 50, 400])
@pytest.mark.parametrize("tile", [32, 64])
def test_they_are_the_same(size: float, tile: int) -> None:
    rng = np.random.default_rng(1)
    points = rng.uniform((-20, -20), (170, 120), (120, 1, 2)) + rng.uniform(-size, size, (120, 3, 2))
    points[::3] = np.round(points[::3]) + 0.5
    triangles = snap(points, np.full((120, 3), 0.5), np.zeros((120, 3, 3), np.uint8))
    found, expected = quads_of_spans(triangles, 150, 101, tile), quads_of(triangles, 150, 101, tile)
    for name in ("tile", "triangle", "x", "y", "masks"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
    assert len(found) and found.masks.dtype == np.uint16


def test_nothing_to_draw() -> None:
    points = np.array([[[-9.0, -9], [-5, -9], [-9, -5]]])
    assert len(quads_of_spans(snap(points, np.full((1, 3), 0.5), np.zeros((1, 3, 3), np.uint8)), 64, 64)) == 0
    assert isinstance(quads_of_spans(snap(points[:0], np.zeros((0, 3)), np.zeros((0, 3, 3))), 64, 64), Quads)
