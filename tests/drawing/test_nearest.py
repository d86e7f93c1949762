"""Which triangle is seen where? Against a walk over all triangles, pixel by pixel; and spans against their edges."""

import numpy as np
import pytest

from pixelflow.simd.drawing import FAR, NOTHING, SAMPLES, edges_of, nearest, planes_of, snap, spans_of

WIDTH, HEIGHT = 50, 40


@pytest.mark.parametrize("place", SAMPLES)
@pytest.mark.parametrize("size", [0.8, 9, 70])
def test_it_is_the_nearest_and_of_equals_the_first(size: float, place: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    points = rng.uniform((0, 0), (WIDTH, HEIGHT), (60, 1, 2)) + rng.uniform(-size, size, (60, 3, 2))
    depths = np.repeat(rng.integers(0, 4, (60, 1)) / 4, 3, axis=1)
    triangles = snap(np.repeat(points, 2, axis=0), np.repeat(depths, 2, axis=0), np.zeros((120, 3, 3), np.uint8))
    edges, planes = edges_of(triangles, place), planes_of(triangles, place)
    expected = np.full((HEIGHT, WIDTH), NOTHING)
    depth = np.full((HEIGHT, WIDTH), FAR)
    row, column = np.indices(depth.shape)
    spans = spans_of(triangles, WIDTH, HEIGHT, place)
    for number in range(len(triangles)):
        sides = (edges.a[number, k] * column + edges.b[number, k] * row + edges.c[number, k] for k in range(3))
        inside = np.logical_and.reduce([side < 0 for side in sides])
        assert spans.pixels[spans.triangle == number].sum() == inside.sum()
        here = planes.a[number, 0] * column + planes.b[number, 0] * row + planes.c[number, 0]
        here = here % (1 << 32) >> 8
        seen = inside & (here < depth)
        expected[seen], depth[seen] = number, here[seen]
    found = nearest(triangles, WIDTH, HEIGHT, place)
    assert np.array_equal(found[0], expected) and np.array_equal(found[1], depth)
    assert (expected < NOTHING).any()


def test_corners_keep_their_numbers() -> None:
    points = np.array([[(1, 1), (9, 1), (1, 9)], [(1, 1), (2, 2), (3, 3)], [(1, 1), (1, 9), (9, 1)]], float)
    found = snap(points, np.full((3, 3), 0.5), np.zeros((3, 3, 3), np.uint8))
    assert found.given.tolist() == [[0, 1, 2], [6, 8, 7]]
    assert np.array_equal(points.reshape(-1, 2)[found.given] * 256, found.corners)
