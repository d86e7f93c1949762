"""Does the array draw what 64-bit integers draw, pixel for pixel, and what does it cost?"""

from dataclasses import replace

import numpy as np
import pytest

from pixelflow.config import TINY
from pixelflow.simd.drawing import LEAST_NEARNESS, NEAREST, Draw, Frame, Picture, ScreenTriangles, draw, snap
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import available
from tessellation.picture import View, lit_triangles
from tessellation.rendering import Roles, draw_on_nodes, instructions, regions, render
from tessellation.rendering.instructions import signed_bytes
from tests.narrow_index import narrow_index

WIDTH, HEIGHT = 200, 100
"""Four regions, three of them cut off by the picture's edge."""


def family(name: str, count: int = 60) -> ScreenTriangles:
    rng = np.random.default_rng(len(name))
    middle = rng.uniform((0, 0), (WIDTH, HEIGHT), (count, 1, 2))
    match name:
        case "small":
            points = middle + rng.uniform(-6, 6, (count, 3, 2))
        case "below a pixel":
            points = middle + rng.uniform(-0.7, 0.7, (count, 3, 2))
        case "large":
            points = rng.uniform((-300, -300), (WIDTH + 300, HEIGHT + 300), (count, 3, 2))
        case "enormous":
            points = rng.uniform(-16000, 16000, (count, 3, 2))
        case "slivers":
            along = rng.uniform(-90, 90, (count, 1, 2))
            points = middle + along * np.array([0, 1, 0.5])[None, :, None] + rng.uniform(-0.1, 0.1, (count, 3, 2))
        case "pixel centres":
            points = np.floor(middle + rng.uniform(-20, 20, (count, 3, 2))) + 0.5
        case "region borders":
            points = np.round(middle / 64) * 64 + rng.integers(-2, 3, (count, 3, 2)) * 16.0
    colours = rng.integers(0, 256, (count, 3, 3))
    colours[::2] = colours[::2, :1]
    return snap(points, rng.random((count, 3)), colours.astype(np.uint8))


def by_nodes(triangles: ScreenTriangles, nodes: int) -> Picture:
    return draw_on_nodes(Frame(WIDTH, HEIGHT, (0, 0, 0), (Draw("all", triangles),)), Roles(nodes)).picture


FAMILIES = ["small", "below a pixel", "large", "enormous", "slivers", "pixel centres", "region borders"]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_pixel_is_that_of_the_reference(name: str) -> None:
    triangles = family(name)
    assert len(triangles) > 10
    found = render(triangles, WIDTH, HEIGHT, background=(1, 2, 3))
    assert found.picture.equals(draw(triangles, WIDTH, HEIGHT, (1, 2, 3)))


@pytest.mark.parametrize("name", ["small", "large", "enormous"])
def test_colours_in_perspective_are_those_of_the_reference(name: str) -> None:
    affine, rng = family(name), np.random.default_rng(6)
    if name == "enormous":
        affine = replace(affine, colours=rng.integers(0, 256, affine.colours.shape))
    nearness = (10.0 ** rng.uniform(-4 if name == "enormous" else -1, 0, (len(affine), 3)) * NEAREST).astype(int)
    nearness = np.clip(nearness, LEAST_NEARNESS, NEAREST - 1)
    nearness[1::4] = nearness[1::4, :1]  # some shaded triangles are as far at all corners
    triangles = replace(affine, nearness=nearness)
    expected = draw(triangles, WIDTH, HEIGHT, (1, 2, 3))
    assert not expected.equals(draw(affine, WIDTH, HEIGHT, (1, 2, 3)))
    assert render(triangles, WIDTH, HEIGHT, background=(1, 2, 3)).picture.equals(expected)
    assert by_nodes(triangles, 3).equals(draw(triangles, WIDTH, HEIGHT))


def test_the_cycles_of_perspective_by_hand() -> None:
    corners = np.array([[(10, 5), (110, 20), (40, 60)]], float)
    shaded = np.array([[(10, 10, 10), (77, 77, 77), (77, 77, 77)]])
    found = render(snap(corners, np.full((1, 3), 0.5), shaded, None, np.array([[1, 0.5, 0.5]])), 128, 64)
    step = 4 * 2 + 4 * 3 + 1 + 4 * 2 + 2 + 1  # numerator up, less the divisor, enable, taken over, digit, enable all
    clamp = 2 + 4 + 1 + 4 * 2 + 1 + 4 * 3 + 1  # below 0 to 0; no less than the divisor to one less
    assert found.cycles_by_stage == {
        "clear": 1 + 5 + 3 + 1,
        "edges": 1 + 3 * 4,
        "depth": 5 + 5 + 1,
        "colour": 4 * 5 + 1,  # three numerators and the divisor of four bytes, and that they are such
        "division": 4 + 3 * (1 + clamp + 8 * step + 2),
    }
    assert found.cycles_by_stage["division"] == 868
    level = render(snap(corners, np.full((1, 3), 0.5), shaded, None, np.full((1, 3), 0.5)), 128, 64)
    assert level.cycles == render(snap(corners, np.full((1, 3), 0.5), shaded), 128, 64).cycles


def test_every_engine_draws_the_same() -> None:
    triangles = family("small", 12)
    first, *others = (render(triangles, 128, 64, engine=engine) for engine in available())
    for other in others:
        assert first.picture.equals(other.picture) and first.cycles == other.cycles


@pytest.mark.parametrize("nodes", [1, 2, 3, 7])
def test_nodes_that_share_the_triangles_compose_the_same_picture(nodes: int) -> None:
    triangles = family("small")
    # Many triangles at one depth: the first drawn must stay, whichever node has it.
    triangles.depths[:] = triangles.depths[0, 0]
    assert by_nodes(triangles, nodes).equals(draw(triangles, WIDTH, HEIGHT))


def test_the_cycles_of_a_triangle_by_hand() -> None:
    # Edges of 10 to 110 pixels within a region: A, B below 2^15, C below 2^23; their sign needs 3 bytes, 4 cycles.
    corners = np.array([[(10, 5), (110, 20), (40, 60)]], float)
    flat = np.full((1, 3, 3), 77, np.uint8)
    found = render(snap(corners, np.full((1, 3), 0.5), flat), 128, 64)
    assert found.cycles_by_stage == {
        "clear": 1 + 5 + 3,  # enable all, depth by the LEE, three colours
        "edges": 1 + 3 * 4,
        "depth": 5 + 5 + 1,  # compare, load, clear the fraction
        "colour": 3,
    }
    assert found.cycles == 9 + 13 + 11 + 3
    shaded = flat.copy()
    shaded[0, 0] = 10
    assert render(snap(corners, np.full((1, 3), 0.5), shaded), 128, 64).cycles_by_stage["colour"] == 3 * 4


def test_a_region_gets_every_triangle_that_has_a_pixel_in_it_and_no_box_that_misses_it() -> None:
    triangles = family("small", 300)
    got = {(region.left, region.top): set(region.triangles.tolist()) for region in regions(triangles, WIDTH, HEIGHT)}
    assert set(got) == {(left, top) for left in (0, 128) for top in (0, 64)}
    centres = np.stack(np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5), axis=-1)
    for number, corners in enumerate(triangles.corners / 256):
        boxed = ((centres >= corners.min(axis=0)) & (centres <= corners.max(axis=0))).all(axis=-1)
        for (left, top), members in got.items():
            assert (number in members) == boxed[top : top + 64, left : left + 128].any()


def test_a_node_without_a_pe_for_every_pixel_is_refused() -> None:
    with pytest.raises(InputError, match="the node has 256"):
        render(family("small", 3), 64, 64, config=TINY)


SQUARE = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0.5), (0, 1, 0.5)], float)


@pytest.mark.parametrize(
    ("points", "corners", "message"),
    [
        (SQUARE, np.zeros((0, 3), int), "nothing to draw"),
        (np.zeros((4, 3)), np.array([[0, 1, 2]]), "nothing to draw"),
        (SQUARE, np.array([[0, 1, 4]]), "triangle 1 names a vertex that does not exist; there are 4"),
        (SQUARE * np.array([1, 1, np.nan]), np.array([[0, 1, 2]]), "vertex 1 of 4 is not a finite point"),
    ],
)
def test_models_that_cannot_be_drawn_are_refused(points: np.ndarray, corners: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lit_triangles(points, np.ones_like(points), corners, View())


@pytest.mark.parametrize("index_bits", [32, 64])
def test_an_edge_is_compared_in_as_few_bytes_as_hold_its_sign(monkeypatch, index_bits: int) -> None:
    if index_bits == 32:
        narrow_index(monkeypatch, instructions)
    rng = np.random.default_rng(4)
    for _ in range(2000):
        bits = rng.integers(1, 30, 3)
        a, b, c = (rng.integers(-(1 << n), 1 << n) for n in bits)
        values = [a * x + b * y + c for x in (0, 127) for y in (0, 63)]
        size = signed_bytes(a, b, c)
        assert all(-(1 << 8 * size - 1) <= value < 1 << 8 * size - 1 for value in values)
        assert size == 1 or not all(-(1 << 8 * size - 9) <= value < 1 << 8 * size - 9 for value in values)
