"""Do depth and colour stay where exact arithmetic puts them, and never wrap round?"""

from fractions import Fraction

import numpy as np
import pytest

from pixelflow.simd.drawing import (
    CENTRE,
    DEPTH_GUARD,
    FAR,
    REACH,
    SAMPLES,
    SUBPIXELS,
    ScreenTriangles,
    draw,
    planes_of,
    snap,
    texture_planes_of,
)
from pixelflow.simd.drawing import planes as planes_file
from tests.narrow_index import narrow_index


def made(corners, depths, colours) -> ScreenTriangles:
    return snap(np.asarray(corners, float)[None], np.asarray(depths, float)[None], np.asarray(colours)[None])


def exact(triangles: ScreenTriangles, number: int, values, i: int, j: int) -> Fraction:
    """The plane through three corners at the centre of pixel (i, j), by barycentric weights."""
    (x0, y0), (x1, y1), (x2, y2) = (tuple(map(int, c)) for c in triangles.corners[number])
    x, y = i * SUBPIXELS + SUBPIXELS // 2, j * SUBPIXELS + SUBPIXELS // 2
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    w1 = Fraction((x - x0) * (y2 - y0) - (x2 - x0) * (y - y0), area)
    w2 = Fraction((x1 - x0) * (y - y0) - (x - x0) * (y1 - y0), area)
    v0, v1, v2 = map(int, values)
    return v0 + (v1 - v0) * w1 + (v2 - v0) * w2


def test_a_plane_by_hand() -> None:
    # Red rises by 1 a pixel to the right and is 10 at x = 0; at the centre of pixel (0, 0) it is 10.5.
    triangle = made([(0, 0), (64, 0), (0, 64)], [0.5] * 3, [(10, 0, 0), (74, 0, 0), (10, 0, 0)])
    found = planes_of(triangle)
    assert found.a[0, 1] == 1 << 16 and found.b[0, 1] == 0
    assert found.c[0, 1] == (10 << 16) + (1 << 15) + (1 << 15)
    picture = draw(triangle, 8, 4)
    assert picture.colours[0, :4, 0].tolist() == [11, 12, 13, 14]  # 10.5 and a half, cut off


@pytest.mark.parametrize("scale", [3, 40, 400, 4000])
def test_values_are_within_the_stated_distance_of_the_exact_plane(scale: float) -> None:
    rng = np.random.default_rng(int(scale))
    checked = 0
    for _ in range(60):
        middle = rng.uniform(-scale / 2, 64 + scale / 2, 2)
        points = middle + rng.uniform(-scale, scale, (3, 2))
        depths, colours = rng.choice([0.0, 1.0, rng.random()], 3), rng.choice([0, 255, 128], (3, 3))
        triangle = made(points, depths, colours.astype(np.uint8))
        if not len(triangle):
            continue
        picture = draw(triangle, 64, 64)
        extent = float(np.ptp(triangle.corners[0], axis=0).sum()) / SUBPIXELS + 2
        rows, columns = np.nonzero(picture.depths < FAR)
        for j, i in list(zip(rows.tolist(), columns.tolist(), strict=True))[::7]:
            depth = exact(triangle, 0, triangle.depths[0], i, j)
            assert abs(int(picture.depths[j, i]) - depth) <= Fraction(1, 2) + Fraction(extent) / 512
            for channel in range(3):
                value = exact(triangle, 0, triangle.colours[0, :, channel], i, j)
                assert abs(int(picture.colours[j, i, channel]) - value) <= Fraction(1, 2) + Fraction(extent) / 131072
            checked += 1
    assert checked > 50


def test_extreme_slivers_do_not_wrap() -> None:
    rng = np.random.default_rng(7)
    for _ in range(400):
        start = rng.uniform(0, 64, 2)
        along = rng.uniform(-60, 60, 2)
        points = np.stack([start, start + along, start + along / 2 + rng.uniform(-0.02, 0.02, 2)])
        triangle = made(points, rng.choice([0.0, 1.0], 3), rng.choice([0, 255], (3, 3)).astype(np.uint8))
        if not len(triangle):
            continue
        picture = draw(triangle, 64, 64)
        for j, i in np.argwhere(picture.depths < FAR):
            low, high = triangle.depths.min() - DEPTH_GUARD, triangle.depths.max() + DEPTH_GUARD
            assert low <= picture.depths[j, i] <= high
            for channel in range(3):
                value = exact(triangle, 0, triangle.colours[0, :, channel], int(i), int(j))
                assert abs(int(picture.colours[j, i, channel]) - value) < 1


def test_of_equal_depths_the_first_triangle_stays() -> None:
    corners = [[(0, 0), (8, 0), (0, 8)]] * 2
    colours = np.zeros((2, 3, 3), np.uint8)
    colours[0], colours[1] = 1, 2
    both = snap(np.array(corners, float), np.full((2, 3), 0.25), colours)
    assert set(np.unique(draw(both, 8, 8).colours)) == {0, 1}


def test_the_nearer_triangle_wins_in_any_order() -> None:
    corners = np.array([[(0, 0), (8, 0), (0, 8)]] * 2, float)
    colours = np.zeros((2, 3, 3), np.uint8)
    colours[0], colours[1] = 1, 2
    depths = np.array([[0.5] * 3, [0.25] * 3])
    for order in ([0, 1], [1, 0]):
        picture = draw(snap(corners[order], depths[order], colours[order]), 8, 8)
        assert set(np.unique(picture.colours)) == {0, 2}


def test_the_guard_is_as_large_as_rounding_needs() -> None:
    """Triangles as large as there are: depths leave those of the corners by less than the guard, but not by much."""
    rng = np.random.default_rng(3)
    low, high = -REACH, REACH - 1 / 256
    worst = 0
    for _ in range(300):
        corners = rng.choice([low, high], (3, 2)) + rng.uniform(-1, 1, (3, 2)) * rng.choice([0, 2000])
        corners = np.clip(corners, low, high)
        triangle = made(corners, rng.choice([0.0, 1.0, 0.5], 3), np.zeros((3, 3), np.uint8))
        if not len(triangle):
            continue
        plane = planes_of(triangle)
        for x, y in np.concatenate([triangle.corners[0] // SUBPIXELS, [triangle.corners[0].mean(axis=0) // SUBPIXELS]]):
            i, j = int(x), int(y)
            value = (int(plane.a[0, 0]) * i + int(plane.b[0, 0]) * j + int(plane.c[0, 0])) % (1 << 32) >> 8
            wanted = exact(triangle, 0, triangle.depths[0], i, j)
            if DEPTH_GUARD <= wanted <= FAR - DEPTH_GUARD:  # as everywhere inside a triangle
                worst = max(worst, abs(value - wanted))
    assert 60 < worst < DEPTH_GUARD


def nearest(value: Fraction) -> int:
    """Return the nearest integer, of halves the upper one."""
    return (value + Fraction(1, 2)).__floor__()


def whole_planes(corners, values, fraction: int, place: tuple[int, int]) -> tuple[int, int, int]:
    """A, B and C as the file's docstring has them, in integers without bounds."""
    (x0, y0), (x1, y1), (x2, y2) = (tuple(map(int, c)) for c in corners)
    v0, v1, v2 = map(int, values)
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    slope_x = Fraction((v1 - v0) * (y2 - y0) - (v2 - v0) * (y1 - y0), area)
    slope_y = Fraction((v2 - v0) * (x1 - x0) - (v1 - v0) * (x2 - x0), area)
    a, b = (nearest(slope * SUBPIXELS * 2**fraction) for slope in (slope_x, slope_y))
    left, top = min(x0, x1, x2) // SUBPIXELS, min(y0, y1, y2) // SUBPIXELS
    at_x, at_y = left * SUBPIXELS + place[0] - x0, top * SUBPIXELS + place[1] - y0
    return a, b, nearest((v0 + slope_x * at_x + slope_y * at_y) * 2**fraction) - a * left - b * top


@pytest.mark.parametrize("size", [0.02, 1, 50, 3000, 40000])
@pytest.mark.parametrize(("place", "bits"), [(CENTRE, 64), (SAMPLES[0], 64), (SAMPLES[3], 64), (CENTRE, 32)])
def test_planes_are_those_of_integers_without_bounds(
    size: float, place: tuple[int, int], bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Triangles of any size, slivers and values at the ends of their ranges among them; some reach 16K pixels.

    They are the same where the host's index integer has 32 ``bits``.
    """
    if bits == 32:
        narrow_index(monkeypatch, planes_file)
    rng = np.random.default_rng(int(size))
    count, low, high = 60, -REACH, REACH - 1 / 256
    middle = rng.uniform(low, high, (count, 1, 2)) if size < high else 0
    points = middle + rng.uniform(-size, size, (count, 3, 2))
    points[::3, 2] = points[::3, 0] + rng.uniform(0, 1, (20, 1)) * (points[::3, 1] - points[::3, 0])
    points[::3, 2] += rng.integers(-2, 3, (20, 2)) / 256
    colours, depths = rng.choice([0, 255, 77], (count, 3, 3)), rng.choice([0, 1, 0.3], (count, 3))
    texels = rng.choice([REACH - 1e-4, 1e-4 - REACH, 3.7], (count, 3, 2))
    triangles = snap(np.clip(points, low, high), depths, colours, texels)
    assert len(triangles) > 30
    planes, texture = planes_of(triangles, place), texture_planes_of(triangles, place)
    for number, corners in enumerate(triangles.corners):
        values = [triangles.depths[number], *triangles.colours[number].T]
        for plane, (each, fraction, bits) in enumerate(zip(values, planes.fractions, planes.bits, strict=True)):
            a, b, c = whole_planes(corners, each, fraction, place)
            expected = [value % 2**bits for value in (a, b, c + 2 ** (fraction - 1))]
            assert [int(found[number, plane]) for found in (planes.a, planes.b, planes.c)] == expected
        for plane, each in enumerate(triangles.coordinates[number].T):
            expected = [value % 2**32 for value in whole_planes(corners, each, 0, place)]
            assert [int(found[number, plane]) for found in (texture.a, texture.b, texture.c)] == expected
