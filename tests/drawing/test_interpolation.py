"""Do colours and texture coordinates follow perspective, and stay what they are where there is none?"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pixelflow.simd.drawing import (
    LEAST_NEARNESS,
    NEAREST,
    SAMPLES,
    TEXEL,
    Draw,
    Frame,
    Interpolation,
    ScreenTriangles,
    State,
    Texture,
    coordinate_bits,
    covered_samples,
    draw,
    draw_frame,
    snap,
    steady,
)
from pixelflow.simd.errors import InputError

WIDTH, HEIGHT = 96, 64


def strip(far: float) -> ScreenTriangles:
    """A floor from row 0 to row 64, pixel centres, at distance 1 above and ``far`` below; v is 0 to 64 texels."""
    points = np.array([[(0.5, 0.5), (80.5, 0.5), (0.5, 64.5)], [(80.5, 0.5), (80.5, 64.5), (0.5, 64.5)]])
    below = points[..., 1] > 1
    coordinates = np.stack([points[..., 0] - 0.5, 64.0 * below], axis=-1)
    colours = np.repeat(np.where(below, 240, 0)[..., None], 3, axis=-1)
    return snap(points, np.full((2, 3), 0.5), colours, coordinates, np.where(below, 1 / far, 1.0))


@pytest.mark.parametrize(
    ("far", "row", "texels"),
    [
        # At share s of the way down 1 / w is 1 - s (1 - 1 / far), v / w is 64 s / far.
        (2.0, 32, Fraction(16, 1) / Fraction(3, 4)),
        (2.0, 48, Fraction(24, 1) / Fraction(5, 8)),
        (4.0, 16, Fraction(4, 1) / Fraction(13, 16)),
        (4.0, 32, Fraction(8, 1) / Fraction(5, 8)),
        (1.0, 32, Fraction(32, 1)),
    ],
)
def test_the_coordinate_of_a_floor_by_hand(far: float, row: int, texels: Fraction) -> None:
    floor = strip(far)
    found = Interpolation.of(floor, textured=True).texels(np.array([0]), np.array([0]), np.array([row]))
    assert abs(Fraction(int(found[0, 1]), TEXEL) - texels) < Fraction(1, 1000)
    # The colour goes the same way, from 0 to 240 instead of 64: to the nearest whole number.
    colour = Interpolation.of(floor).colours(np.array([0]), np.array([0]), np.array([row]))[0, 0]
    assert abs(colour - texels * 240 / 64) <= Fraction(1, 2)


def test_a_checker_on_a_floor_changes_where_the_closed_form_says() -> None:
    # Rows of a floor twice as far at the bottom: v = 32 s / (1 - s / 2), fields of 8 texels; s = v / (32 + v / 2).
    at = np.arange(64) // 8
    texels = np.full((64, 64, 4), 255, np.uint8)
    texels[(at + at[:, None]) % 2 == 1, :3] = 0
    white = np.full((2, 3, 3), 255)
    floor = replace(strip(2.0), colours=white)
    frame = Frame(WIDTH, HEIGHT, (128, 128, 128), (Draw("floor", floor, State(texture=Texture(texels))),))
    light = draw_frame(frame).colours[:, 4, 0] > 127  # in the middle of a field across
    changes = (np.flatnonzero(np.diff(light.astype(int))) + 1).tolist()
    expected = [64 * v / (32 + v / 2) for v in range(8, 64, 8)]
    assert len(changes) == len(expected) == 7
    assert all(abs(found - row) <= 1 for found, row in zip(changes, expected, strict=True))


def soup(seed: int, count: int = 40) -> ScreenTriangles:
    random = np.random.default_rng(seed)
    points = random.uniform((0, 0), (WIDTH, HEIGHT), (count, 1, 2)) + random.normal(size=(count, 3, 2)) * 30
    colours = random.integers(0, 256, (count, 3, 3))
    nearness = 10.0 ** random.uniform(-1.5, 0, (count, 3))
    return snap(points, random.random((count, 3)), colours, random.uniform(-100, 100, (count, 3, 2)), nearness)


@pytest.mark.parametrize("place", SAMPLES[:2])
def test_values_are_those_of_exact_fractions(place: tuple[int, int]) -> None:
    triangles = soup(1)
    found = Interpolation.of(triangles, place, textured=True)
    (batch, _), *_ = covered_samples(triangles, WIDTH, HEIGHT, (place,))
    some = np.random.default_rng(3).choice(len(batch.triangle), 200, replace=False)
    where = batch.triangle[some], batch.column[some], batch.row[some]
    texels = found.texels(*where)
    texels -= (texels >> 31) << 32
    for (t, i, j), colours, (u, v) in zip(zip(*where, strict=True), found.colours(*where), texels, strict=True):
        corners = [tuple(map(int, corner)) for corner in triangles.corners[t]]
        x, y = 256 * int(i) + place[0], 256 * int(j) + place[1]
        areas = []
        for (x1, y1), (x2, y2) in ((corners[1], corners[2]), (corners[2], corners[0]), (corners[0], corners[1])):
            areas.append((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y))
        shares = [area * int(near) for area, near in zip(areas, triangles.nearness[t], strict=True)]
        for plane in range(3):
            exact = Fraction(sum(s * int(c) for s, c in zip(shares, triangles.colours[t, :, plane], strict=True)))
            assert abs(int(colours[plane]) - exact / sum(shares)) <= Fraction(501, 1000)
        for axis, value in enumerate((u, v)):
            exact = Fraction(sum(s * int(c) for s, c in zip(shares, triangles.coordinates[t, :, axis], strict=True)))
            assert abs(int(value) - exact / sum(shares)) < TEXEL // 256  # a step of the filter's weights


@pytest.mark.parametrize("samples", [1, 4])
def test_where_all_is_equally_far_nothing_differs_from_affine(samples: int) -> None:
    affine = replace(soup(2), nearness=None)
    level = replace(affine, nearness=np.broadcast_to(np.array([[1 << 20]]), (len(affine), 3)))
    texture = Texture(np.random.default_rng(5).integers(0, 256, (32, 64, 4)).astype(np.uint8))
    first, second = (
        draw_frame(Frame(WIDTH, HEIGHT, (1, 2, 3), (Draw("soup", each, State(texture=texture)),), samples))
        for each in (affine, level)
    )
    assert first.equals(second)
    assert draw(affine, WIDTH, HEIGHT).equals(draw(level, WIDTH, HEIGHT))
    assert not draw(affine, WIDTH, HEIGHT).equals(draw(soup(2), WIDTH, HEIGHT))


def test_triangles_of_one_colour_keep_it_where_that_is_said() -> None:
    """The bound is for any triangle: enormous ones, whose corners are up to a thousand times as far, keep it too."""
    random = np.random.default_rng(7)
    points = random.uniform(-16000, 16000, (300, 3, 2))
    colours = np.repeat(random.choice([0, 1, 128, 254, 255], (300, 1, 3)), 3, axis=1)
    triangles = snap(points, np.full((300, 3), 0.5), colours, None, 10.0 ** random.uniform(-4, 0, (300, 3)))
    sure = steady(triangles)
    assert 10 < sure.sum() < len(triangles)
    found = Interpolation.of(triangles)
    for batch, _ in covered_samples(triangles, WIDTH, HEIGHT, ((128, 128),)):
        told = sure[batch.triangle]
        values = found.colours(batch.triangle, batch.column, batch.row)
        assert (values == triangles.colours[batch.triangle, 0])[told].all()


def test_numerators_of_coordinates_are_as_long_as_the_largest_asks() -> None:
    triangles = soup(1)
    for largest, bits in ((0, 16), ((1 << 16) - 1, 16), (1 << 16, 18), ((1 << 30) - 1, 30)):
        coordinates = np.zeros_like(triangles.coordinates)
        coordinates[3, 1, 0] = -largest
        assert coordinate_bits(replace(triangles, coordinates=coordinates)) == bits


def test_nearness_is_a_share_above_0() -> None:
    points, colours = np.array([[(0, 0), (8, 0), (0, 8)]], float), np.zeros((1, 3, 3), int)
    for wrong in (0.0, -0.5, 1.5, np.nan):
        with pytest.raises(InputError, match="a nearness is out of range"):
            snap(points, np.zeros((1, 3)), colours, None, np.array([[1, 1, wrong]]))
    found = snap(points, np.zeros((1, 3)), colours, None, np.array([[1, 0.5, 1e-9]]))
    assert found.nearness.tolist() == [[NEAREST - 1, NEAREST // 2, LEAST_NEARNESS]]
    assert found.part(np.array([0])).nearness.tolist() == found.nearness.tolist()
    joined = ScreenTriangles.joined([found, replace(found, nearness=None)])
    assert joined.level.tolist() == [False, True]
