"""Planes by the vector unit: every bit of the contract's, for any triangle; or floats, and what they change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.claims.bench import even_mesh
from larrabee_bridge.pipeline.back_end_programs import Attributes, constants_of, plane_words
from larrabee_bridge.pipeline.bins import BinRule, bin_triangles
from larrabee_bridge.pipeline.picture import draw_on_larrabee, front_of_screen
from larrabee_bridge.pipeline.tile_memory import triangle_words
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.simd.drawing import (
    FAR,
    LEAST_NEARNESS,
    NEAREST,
    REACH,
    Blend,
    Draw,
    Frame,
    ScreenTriangles,
    State,
    draw_frame,
)
from pixelflow.simd.errors import InputError
from tessellation.scenes import SceneSource, load_scene
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
@pytest.mark.parametrize("samples", [1, pytest.param(4, marks=pytest.mark.slow)])
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


# Planes in floats.


FLOAT = CoreConfig(planes="float")
PAGE = Path(__file__).parents[2] / "docs/pages/larrabee.md"
MARK = "<!-- read by: tests/larrabee_backend/test_planes.py -->\n"


@pytest.mark.parametrize("reach", [20, 5000, 256 * (REACH - 1)])
def test_floats_are_those_of_exact_slopes_but_for_a_few_roundings(reach: int) -> None:
    """A by 8 roundings at most: 3 of numerator and area, those of the reciprocal, products; C by those of its terms."""
    found = triangles(reach)
    words = plane_words(found, 1, Attributes(floats=True)).words
    a, b, c = (words.view(np.float32)[:, 16 * row : 16 * row + 4].astype(float) for row in range(3))
    x, y = found.corners.transpose(2, 1, 0)
    values = np.concatenate([found.depths[..., None], found.colours], axis=2).transpose(1, 2, 0)
    rise, run = (values[at] - values[0] for at in (1, 2))
    area = found.doubled_areas
    exact_a = (rise * (y[2] - y[0]) - run * (y[1] - y[0])) * 256 / area
    exact_b = (run * (x[1] - x[0]) - rise * (x[2] - x[0])) * 256 / area
    across, down = ((128 - (each[0] & 255)) / 256 for each in (x, y))
    terms = np.stack([values[0], exact_a * across, exact_b * down])
    assert (np.abs(a.T - exact_a) <= 8 * 2.0**-24 * np.abs(exact_a)).all()
    assert (np.abs(b.T - exact_b) <= 8 * 2.0**-24 * np.abs(exact_b)).all()
    assert (np.abs(c.T - terms.sum(axis=0)) <= 10 * 2.0**-24 * np.abs(terms).sum(axis=0)).all()


@pytest.mark.parametrize("scene", ["textured", "cutout"])
def test_textures_in_floats_differ_by_a_step_in_few_pixels(scene: str) -> None:
    frame = load_scene(scene, SceneSource(size=(96, 72))).frame
    found, expected = draw_on_larrabee(frame, config=FLOAT), draw_frame(frame)
    apart = np.abs(found.picture.colours.astype(int) - expected.colours).max(axis=2)
    assert (apart > 0).mean() < 0.02 and (apart > 1).mean() < 0.001 and found.own_arithmetic


def test_the_host_has_no_planes_in_floats() -> None:
    frame = Frame(WIDTH, HEIGHT, (0, 0, 0), (Draw("soup", soup(6, 40)),))
    with pytest.raises(InputError, match="planes = float"):
        draw_on_larrabee(frame, config=FLOAT, free_setup=True)


def rows(number: int, quick: int) -> list[object]:
    """Return the rows of a table as cases, slow ones but for one."""
    lines = PAGE.read_text(encoding="utf-8").split(MARK)[number].split("\n\n")[0].splitlines()[2:]
    found = [[cell.strip().replace(",", "").replace("`", "") for cell in line.split("|")[1:-1]] for line in lines]
    return [
        pytest.param(row, marks=[pytest.mark.slow] * (at != quick), id=" ".join(row[:3]))
        for at, row in enumerate(found)
    ]


@pytest.mark.parametrize("row", rows(1, quick=0))
def test_a_row_of_floats_is_what_is_drawn(row: list[str]) -> None:
    scene, samples, *cells = row
    frame = replace(load_scene(scene, SceneSource(size=(640, 480))).frame, samples=int(samples))
    exact, floats = (draw_on_larrabee(frame, config=each) for each in (CoreConfig(), FLOAT))
    apart = np.abs(exact.picture.colours.astype(int) - floats.picture.colours).max(axis=2)
    depths = np.abs(exact.picture.depths - floats.picture.depths)
    found = (apart > 0).sum(), apart.max(), (depths > 0).sum(), depths.max()
    planes = (each.stages["planes"] for each in (exact, floats))
    assert [*map(str, found), *map(str, planes), str(exact.cycles), str(floats.cycles)] == cells


@pytest.mark.parametrize("row", rows(2, quick=4))
def test_no_pixel_of_a_shared_edge_is_covered_twice(row: list[str]) -> None:
    """Every triangle adds 64 to its samples: 64 is once, less is a hole, more is twice."""
    area, samples, place, *cells = row
    mesh = even_mesh(320, 240, float(area))
    x, y = mesh.corners.transpose(2, 0, 1)
    depths = 10 * (7 * x + 3 * y) if place == "between" else FAR - 1 - (x + y) // 4096
    mesh = replace(mesh, depths=np.clip(depths, 0, FAR), colours=np.full_like(mesh.colours, 64))
    draw = Draw("mesh", mesh, State(blend=Blend.ADD, depth_write=False))
    frame = Frame(320, 240, (0, 0, 0), (draw,), samples=int(samples))
    found = []
    for config in (CoreConfig(), FLOAT):
        times = draw_on_larrabee(frame, config=config, ideal_memory=True).picture.colours[..., 0]
        found += [str((times > 64).sum()), str((times < 64).sum())]
    assert found == cells
