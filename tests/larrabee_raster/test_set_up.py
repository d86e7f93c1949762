"""The fields that set-up writes, against the integers of `pixelflow.simd.drawing`."""

import numpy as np
import pytest

from larrabee_bridge.pipeline.rasterizer import Fields, SetUp
from pixelflow.simd.drawing import SAMPLES, edges_of
from tests.larrabee_raster.scenes import FAMILIES, family


def fields(name: str, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return words of edges [triangle, edge, field] and the triangles' number."""
    triangles = family(name)
    words = SetUp(triangles, 128, samples, 10, None).results.view(np.int32).reshape(-1, Fields(samples).size // 64, 16)
    by_triangle = words.transpose(0, 2, 1).reshape(-1, words.shape[1])[: len(triangles)]
    edge = Fields(samples).left // 64
    return by_triangle[:, :edge].reshape(len(triangles), 3, -1).astype(np.int64), by_triangle[:, edge:]


def together(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return (high << 32) + (low & 0xFFFFFFFF)


@pytest.mark.parametrize("name", FAMILIES)
def test_edges_at_centres(name: str) -> None:
    edges, (found, _) = edges_of(family(name)), fields(name, 1)
    assert np.array_equal(found[..., 0], edges.a)
    assert np.array_equal(found[..., 1], edges.b)
    assert np.array_equal(together(found[..., 2], found[..., 3]), edges.c)


@pytest.mark.parametrize("name", FAMILIES)
def test_edges_at_samples(name: str) -> None:
    found, _ = fields(name, 4)
    c = np.stack([edges_of(family(name), place).c for place in SAMPLES], axis=-1)
    assert np.array_equal(together(found[..., 2], found[..., 3]), c.min(axis=-1))
    assert np.array_equal(found[..., 13], c.max(axis=-1) - c.min(axis=-1))
    assert np.array_equal(found[..., 14:18], c - c.min(axis=-1, keepdims=True))


def test_the_steps_to_the_corners_of_blocks() -> None:
    found, _ = fields("on the grid", 1)
    a, b = found[..., 0], found[..., 1]
    least, most = np.minimum(a, 0) + np.minimum(b, 0), np.maximum(a, 0) + np.maximum(b, 0)
    expected = [4 * a, 4 * b, 63 * least, 63 * most, 15 * least - 63 * least, 15 * most - 63 * least]
    expected += [3 * least - 15 * least, 3 * most - 15 * least, -3 * least]
    assert np.array_equal(found[..., 4:13], np.stack(expected, axis=-1))


def test_boxes_hold_what_is_covered() -> None:
    triangles = family("ties")
    _, rest = fields("ties", 1)
    low = -((128 - triangles.corners.min(axis=1)) // 256) // 4 * 4
    high = (triangles.corners.max(axis=1) - 128) // 256 // 4 * 4
    assert np.array_equal(rest[:, :4], np.concatenate([low, -high], axis=1))
