"""Which pixels belong to a triangle? Against exact fractions, the top-left rule by hand, and the exactly-once law."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelflow.simd.drawing import FAR, REACH, draw, snap, spans
from pixelflow.simd.drawing.spans import spans_of
from pixelflow.simd.errors import InputError
from tests.narrow_index import narrow_index

SIZE = 24


def coverage(points, width: int = SIZE, height: int = SIZE) -> np.ndarray:
    """Return how many of the triangles cover each pixel: each is drawn by itself."""
    points = np.asarray(points, float)
    found = np.zeros((height, width), int)
    for triangle in points:
        one = snap(triangle[None], np.full((1, 3), 0.5), np.full((1, 3, 3), 9, np.uint8))
        found += draw(one, width, height).depths < FAR
    return found


def exact(triangle) -> np.ndarray:
    """Coverage by the rule itself: strictly inside, or on an edge that is a left edge or a horizontal one at the top.

    Left and top are found by looking which side of the edge the third corner is on.
    """
    corners = [[Fraction(round(Fraction(float(v)) * 256), 256) for v in corner] for corner in triangle]
    found = np.zeros((SIZE, SIZE), int)
    for j in range(SIZE):
        for i in range(SIZE):
            x, y = Fraction(2 * i + 1, 2), Fraction(2 * j + 1, 2)
            inside = True
            for k in range(3):
                (x0, y0), (x1, y1), (x2, y2) = corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]
                third = (x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0)
                if third == 0:
                    return np.zeros((SIZE, SIZE), int)
                side = ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) * (1 if third > 0 else -1)
                if side == 0:
                    if y0 == y1:
                        owned = y2 > y0  # the rest is below: this is the top
                    else:
                        at = x0 + (x1 - x0) * (y2 - y0) / (y1 - y0)
                        owned = x2 > at  # the rest is to the right: this is a left edge
                    inside &= owned
                else:
                    inside &= side > 0
            found[j, i] = inside
    return found


def test_spans_are_the_same_where_the_index_integer_has_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(3).uniform(-9, SIZE + 9, (40, 3, 2))
    triangles = snap(points, np.full((40, 3), 0.5), np.full((40, 3, 3), 9, np.uint8))

    def columns() -> list[np.ndarray]:
        found = spans_of(triangles, SIZE, SIZE)
        (pixels,) = found.fragments()
        return [getattr(of, name) for of in (found, pixels) for name in of.__slots__]

    wide = columns()
    narrow_index(monkeypatch, spans)
    assert all(each.dtype == np.int64 for each in columns())
    assert all(map(np.array_equal, columns(), wide))


def test_the_top_left_rule_by_hand() -> None:
    # Corners on pixel centres: of the square's border only the top and the left edge belong to it.
    square = [[(2.5, 2.5), (6.5, 2.5), (6.5, 6.5)], [(2.5, 2.5), (6.5, 6.5), (2.5, 6.5)]]
    found = coverage(square)
    assert found.sum() == 16 and (found[2:6, 2:6] == 1).all()


COORDINATES = {
    "anywhere": st.floats(-4, SIZE + 4, allow_nan=False),
    "on the grid of 1/256": st.integers(-4 * 256, (SIZE + 4) * 256).map(lambda n: n / 256),
    "pixel centres": st.integers(-4, SIZE + 4).map(lambda n: n + 0.5),
    "pixel corners": st.integers(-4, SIZE + 4).map(float),
    "halves of 1/256": st.integers(-4 * 512, (SIZE + 4) * 512).map(lambda n: n / 512),
}


@pytest.mark.parametrize("kind", COORDINATES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_coverage_is_exact(kind: str, data: st.DataObject) -> None:
    number = COORDINATES[kind]
    triangle = data.draw(st.lists(st.tuples(number, number), min_size=3, max_size=3))
    assert np.array_equal(coverage([triangle]), exact(triangle))


@pytest.mark.parametrize("seed", range(6))
def test_every_pixel_of_a_triangulated_square_is_drawn_exactly_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 8
    step = SIZE / n
    x, y = np.meshgrid(np.arange(n + 1) * step, np.arange(n + 1) * step)
    inner = np.s_[1:-1, 1:-1]
    wobble = [0, 1 / 256, 1 / 4, 0.5, step / 5, step / 4.5][seed]  # quads stay convex
    for axis in (x, y):
        axis[inner] += rng.uniform(-wobble, wobble, axis[inner].shape)
    points = np.stack([x, y], axis=-1)
    triangles = []
    for j in range(n):
        for i in range(n):
            a, b, c, d = points[j, i], points[j, i + 1], points[j + 1, i + 1], points[j + 1, i]
            triangles += [[a, b, c], [a, c, d]] if rng.random() < 0.5 else [[a, b, d], [b, c, d]]
    turned = [triangle[::-1] if rng.random() < 0.5 else triangle for triangle in triangles]
    assert (coverage(turned) == 1).all()


def test_triangles_without_area_are_counted_and_left_out() -> None:
    points = np.array([[(1, 1), (5, 5), (9, 9)], [(1, 1), (1, 1), (4, 2)], [(1, 1), (5, 1), (1, 5)]], float)
    found = snap(points, np.zeros((3, 3)), np.zeros((3, 3, 3), np.uint8))
    assert (len(found), found.dropped) == (1, 2)


def test_coordinates_are_rounded_half_to_even() -> None:
    points = np.array([[(1 / 512, 3 / 512), (5, 0), (0, 5)]])
    found = snap(points, np.zeros((1, 3)), np.zeros((1, 3, 3), np.uint8))
    assert found.corners[0, 0].tolist() == [0, 2]


@pytest.mark.parametrize("value", [np.nan, np.inf, REACH, REACH - 1e-6, -REACH - 1, 1e30])
def test_what_is_out_of_range_is_refused_by_number(value: float) -> None:
    points = np.zeros((3, 3, 2))
    points[1, 2, 1] = value
    with pytest.raises(InputError, match="triangle 2: a corner is out of range or not a number"):
        snap(points, np.zeros((3, 3)), np.zeros((3, 3, 3), np.uint8))


@pytest.mark.parametrize("value", [np.nan, -0.01, 1.01])
def test_a_depth_out_of_range_is_refused(value: float) -> None:
    depths = np.zeros((1, 3))
    depths[0, 0] = value
    with pytest.raises(InputError, match="a depth"):
        snap(np.zeros((1, 3, 2)), depths, np.zeros((1, 3, 3), np.uint8))


def test_the_largest_triangles_are_exact() -> None:
    low, high = -REACH, REACH - 1
    square = [[(low, low), (high, low), (high, high)], [(low, low), (high, high), (low, high)]]
    assert (coverage(square) == 1).all()
    assert np.array_equal(coverage(square[:1]), exact(square[0]))
