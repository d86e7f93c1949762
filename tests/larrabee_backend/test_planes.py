"""Planes by the vector unit: do they have every bit of the contract's, for any triangle?"""

from __future__ import annotations

import numpy as np
import pytest

from larrabee_bridge.pipeline.back_end_programs import Attributes, constants_of, plane_words
from larrabee_bridge.pipeline.bins import BinRule, bin_triangles
from larrabee_bridge.pipeline.picture import draw_on_larrabee, front_of_screen
from larrabee_bridge.pipeline.tile_memory import triangle_words
from pixelflow.simd.drawing import FAR, LEAST_NEARNESS, NEAREST, REACH, Draw, Frame, ScreenTriangles, draw_frame
from tests.larrabee_backend.soups import HEIGHT, WIDTH, soup


def triangles(reach: int, count: int = 500) -> ScreenTriangles:
    """Triangles of any size up to a reach in 1/256 pixel, clockwise, with whatever values corners can have."""
    random = np.random.default_rng(reach)
    corners = random.integers(-reach, reach + 1, (2 * count, 3, 2))
    corners += random.integers(-(256 * (REACH - 1) - reach), 256 * (REACH - 1) - reach + 1, (2 * count, 1, 2))
    (x0, y0), (x1, y1), (x2, y2) = corners.transpose(1, 2, 0)
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    corners[area < 0, 1:] = corners[area < 0, :0:-1]
    corners = corners[area != 0][:count]
    depths = random.choice([0, 1, FAR, FAR - 1, 12345], (len(corners), 3))
    depths[::2] = random.integers(0, FAR + 1, depths[::2].shape)
    colours = random.integers(0, 256, (len(corners), 3, 3))
    coordinates = random.integers(-(1 << 30), 1 << 30, (len(corners), 3, 2))
    nearness = random.integers(LEAST_NEARNESS, NEAREST, (len(corners), 3))
    nearness[::3] = nearness[::3, :1]
    return ScreenTriangles(corners, depths, colours, 0, coordinates, nearness=nearness)


@pytest.mark.parametrize(
    "reach",
    [2, 256 * (REACH - 1), *(pytest.param(each, marks=pytest.mark.slow) for each in (20, 300, 5000, 60_000, 1 << 20))],
)
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    "told",
    [
        (False, False),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ((True, False), (False, True))),
        (True, True, 30),
    ],
)
def test_no_bit_of_a_plane_differs(reach: int, samples: int, told: tuple[bool, bool]) -> None:
    found, attributes = triangles(reach), Attributes(*told)
    words = plane_words(found, samples, attributes).words
    expected = triangle_words(found, samples, attributes)
    layout = constants_of(samples, False, attributes)
    assert words.shape == (len(found), layout["TRIANGLE_BYTES"] // 4)
    assert np.array_equal(words, expected)


@pytest.mark.parametrize("reach", [300, 60_000, 256 * (REACH - 1)])
def test_corners_on_the_screen_stay_where_they_are_and_fill_the_bins_of_their_boxes(reach: int) -> None:
    found = triangles(reach)
    front = front_of_screen(Frame(640, 480, (0, 0, 0), ()), found)
    expected = bin_triangles(found, 640, 480, 64, BinRule.BOX)
    assert front is not None
    assert np.array_equal(front.bins.starts, expected.starts)
    assert np.array_equal(front.bins.triangles, expected.triangles)


def test_vertices_bins_and_planes_take_cycles_unless_they_are_free() -> None:
    frame = Frame(
        WIDTH, HEIGHT, (0, 0, 0), (Draw("soup", soup(6, 40)), Draw("nothing", soup(6, 40).part(np.arange(0))))
    )
    counted, free = (draw_on_larrabee(frame, tile=32, free_setup=each) for each in (False, True))
    assert counted.picture.equals(draw_frame(frame)) and free.picture.equals(counted.picture)
    added = set(counted.stages) - set(free.stages)
    assert added == {"planes", *(f"front end: {stage}" for stage in ("index", "transform", "assemble", "bin"))}
    assert counted.cycles > free.cycles
