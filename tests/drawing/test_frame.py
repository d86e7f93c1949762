"""Do states, samples, textures and blending mean what they say?"""

from fractions import Fraction

import numpy as np
import pytest

from pixelflow.simd.drawing import (
    SAMPLES,
    Blend,
    DepthTest,
    Draw,
    Frame,
    ScreenTriangles,
    State,
    Stencil,
    StencilStep,
    StencilTest,
    Texture,
    covered,
    draw,
    draw_frame,
    planes_of,
    snap,
    texture_planes_of,
)
from pixelflow.simd.drawing.framebuffer import blended, divided
from pixelflow.simd.drawing.mipmaps import filtered
from pixelflow.simd.errors import InputError

WIDTH, HEIGHT = 32, 24
GREY = (100, 100, 100)


def soup(count: int, seed: int = 1, side: float = 14, texels: float | None = None) -> ScreenTriangles:
    generator = np.random.default_rng(seed)
    points = generator.uniform(0, (WIDTH, HEIGHT), (count, 1, 2)) + generator.uniform(-side, side, (count, 3, 2))
    coordinates = None if texels is None else generator.uniform(-texels, texels, (count, 3, 2))
    return snap(points, generator.random((count, 3)), generator.integers(0, 256, (count, 3, 3)), coordinates)


def whole(depth: float, colour: int, texels: float = 0.0) -> ScreenTriangles:
    """Two triangles that cover the picture."""
    points = np.array([[[0, 0], [WIDTH, 0], [WIDTH, HEIGHT]], [[0, 0], [WIDTH, HEIGHT], [0, HEIGHT]]], float)
    colours = np.full((2, 3, 3), colour, np.uint8)
    return snap(points, np.full((2, 3), depth), colours, points * (texels / WIDTH) if texels else None)


def frame(*draws: Draw, samples: int = 1) -> Frame:
    return Frame(WIDTH, HEIGHT, GREY, draws, samples)


def shade(*draws: Draw, samples: int = 1) -> np.ndarray:
    """Return the red of a picture; colours here are grey."""
    return draw_frame(frame(*draws, samples=samples)).colours[..., 0]


def test_division_by_255_rounds_every_product_to_nearest() -> None:
    products = np.arange(255 * 255 + 1)
    exact = [round(Fraction(product, 255)) for product in products.tolist()]  # 255 is odd: there are no ties
    assert np.array_equal(divided(products), exact)


def test_plain_states_at_one_sample_are_the_picture_that_every_machine_draws() -> None:
    triangles = soup(40)
    assert draw_frame(frame(Draw("soup", triangles))).equals(draw(triangles, WIDTH, HEIGHT, GREY))


def test_the_split_of_triangles_into_draws_does_not_matter() -> None:
    triangles = soup(40)
    parts = [Draw(str(k), triangles.part(part)) for k, part in enumerate(np.array_split(np.arange(40), 7))]
    for samples in (1, 4):
        together = draw_frame(frame(Draw("soup", triangles), samples=samples))
        assert draw_frame(frame(*parts, samples=samples)).equals(together)


@pytest.mark.parametrize(
    "blend, expected",
    [
        (Blend.REPLACE, 200),
        (Blend.OVER, 125),  # (200 * 64 + 100 * 191) / 255 = 125.1
        (Blend.ADD, 150),  # 100 + 200 * 64 / 255 = 150.2
        (Blend.MULTIPLY, 78),  # 200 * 100 / 255 = 78.4
        (Blend.SORTED, 125),
    ],
)
def test_blending_by_hand(blend: Blend, expected: int) -> None:
    state = State(blend=blend, alpha=64, depth_write=False)
    assert (shade(Draw("sheet", whole(0.5, 200), state)) == expected).all()


def test_addition_stops_at_white() -> None:
    assert blended(Blend.ADD, np.array(200), np.array(255), np.array(100)) == 255


def test_sheets_of_glass_look_the_same_in_any_order_where_they_are_sorted() -> None:
    state = State(blend=Blend.SORTED, alpha=90, depth_write=False)
    sheets = [Draw(str(k), whole(0.2 + 0.1 * k, 40 * k), state) for k in range(5)]
    expected = np.int64(100)
    for colour in (160, 120, 80, 40, 0):  # the farthest first
        expected = divided(colour * 90 + expected * 165)
    for order in ((0, 1, 2, 3, 4), (4, 1, 3, 0, 2)):
        assert (shade(*(sheets[k] for k in order)) == expected).all()


def test_glass_behind_a_wall_is_not_seen() -> None:
    glass = State(blend=Blend.SORTED, alpha=255, depth_write=False)
    assert (shade(Draw("wall", whole(0.3, 7)), Draw("glass", whole(0.6, 250), glass)) == 7).all()


@pytest.mark.parametrize(
    "stencil, seen",
    [
        (Stencil(StencilTest.EQUAL, 0), True),
        (Stencil(StencilTest.EQUAL, 3), False),
        (Stencil(StencilTest.DIFFERENT, 3), True),
        (Stencil(StencilTest.DIFFERENT, 0), False),
    ],
)
def test_the_stencil_lets_pass_what_it_says(stencil: Stencil, seen: bool) -> None:
    assert (shade(Draw("sheet", whole(0.5, 9), State(stencil=stencil))) == (9 if seen else 100)).all()


@pytest.mark.parametrize(
    "step, expected",
    [
        (StencilStep.KEEP, 0),
        (StencilStep.ZERO, 0),
        (StencilStep.REPLACE, 200),
        (StencilStep.UP, 1),
        (StencilStep.DOWN, 255),
    ],
)
@pytest.mark.parametrize("where", ["passed", "hidden", "failed"])
def test_the_stencil_steps_where_it_says(where: str, step: StencilStep, expected: int) -> None:
    test = StencilTest.DIFFERENT if where == "failed" else StencilTest.ALWAYS
    reference = 0 if where == "failed" else 200
    if where == "failed" and step is StencilStep.REPLACE:
        expected = 0
    first = State(stencil=Stencil(test, reference, **{where: step}), colour_write=False, depth_write=False)
    depth = 0.8 if where == "hidden" else 0.2
    check = Stencil(StencilTest.EQUAL, expected)
    draws = (
        Draw("wall", whole(0.5, 100)),
        Draw("step", whole(depth, 0), first),
        Draw("seen", whole(0.1, 33), State(stencil=check)),
    )
    assert (shade(*draws) == 33).all()


def test_depth_is_tested_and_written_only_where_it_is_asked() -> None:
    far, near = whole(0.8, 1), whole(0.2, 2)
    always = State(depth_test=DepthTest.ALWAYS)
    assert (shade(Draw("near", near), Draw("far", far)) == 2).all()
    assert (shade(Draw("near", near), Draw("far", far, always)) == 1).all()
    assert (shade(Draw("near", near, State(depth_write=False)), Draw("far", far)) == 1).all()
    unseen = Draw("near", near, State(colour_write=False))
    assert (shade(unseen, Draw("far", far)) == 100).all()


def test_four_samples_are_averaged_over_the_covered_ones() -> None:
    triangles = soup(1, seed=5)
    flat = ScreenTriangles(triangles.corners, triangles.depths, np.full_like(triangles.colours, 220))
    count = sum(covered(flat, WIDTH, HEIGHT, place) for place in SAMPLES)
    assert {1, 2, 3, 4} <= set(np.unique(count).tolist())
    assert np.array_equal(shade(Draw("one", flat), samples=4), (220 * count + 100 * (4 - count) + 2) // 4)


@pytest.mark.parametrize("place", SAMPLES)
def test_planes_at_samples_are_within_a_step_of_the_exact_plane(place: tuple[int, int]) -> None:
    triangles = soup(20, seed=2, texels=50)
    planes, texture = planes_of(triangles, place), texture_planes_of(triangles, place)
    for number in range(len(triangles)):
        (x0, y0), (x1, y1), (x2, y2) = triangles.corners[number].tolist()
        i, j = min(x0, x1, x2) // 256, min(y0, y1, y2) // 256  # the anchor, where no slope's rounding counts
        x, y, area = 256 * i + place[0], 256 * j + place[1], int(triangles.doubled_areas[number])
        for found, index, values, scale in (
            (planes, 0, triangles.depths[number], 256),
            (texture, 1, triangles.coordinates[number, :, 1], 1),
        ):
            v0, v1, v2 = values.tolist()
            exact = v0 + Fraction(
                ((v1 - v0) * (y2 - y0) - (v2 - v0) * (y1 - y0)) * (x - x0)
                + ((v2 - v0) * (x1 - x0) - (v1 - v0) * (x2 - x0)) * (y - y0),
                area,
            )
            at = int(found.a[number, index]) * i + int(found.b[number, index]) * j + int(found.c[number, index])
            half = 128 if found is planes else 0
            distance = (at - half - exact * scale) % 2**32
            assert min(distance, 2**32 - distance) <= Fraction(1, 2)


def test_a_texel_is_met_in_its_middle_and_weighed_between() -> None:
    texels = np.zeros((2, 2, 4), np.uint8)
    texels[..., 0] = [[0, 100], [200, 40]]
    texture = Texture(texels)
    half, one = 1 << 15, 1 << 16
    places = {(half, half): 0, (one + half, half): 100, (one, half): 50, (one, one): 85, (half, 2 * one): 100}
    for (u, v), expected in places.items():
        assert filtered(texture, np.array(u), np.array(v))[0] == expected
    again = filtered(texture, np.array(half + 6 * one), np.array(-2 * one + half) % (1 << 32))
    assert again[0] == 0  # it repeats, also below 0


def test_a_cutout_leaves_holes_in_colour_and_depth() -> None:
    texels = np.full((4, 4, 4), 255, np.uint8)
    texels[:, 2:, 3] = 0
    state = State(texture=Texture(texels), cutout=128)
    picture = draw_frame(frame(Draw("fence", whole(0.5, 255, texels=4), state)))
    holes = picture.colours[..., 0] == 100
    assert holes.any() and not holes.all()
    assert np.array_equal(holes, picture.depths == (1 << 24) - 1)


def test_a_texture_multiplies_the_colour() -> None:
    texels = np.full((1, 1, 4), 255, np.uint8)
    texels[..., :3] = 51
    assert (shade(Draw("sheet", whole(0.5, 100, texels=1), State(texture=Texture(texels)))) == 20).all()


def snapped(colour: float, texels: float = 0.0) -> ScreenTriangles:
    points = np.array([[[0, 0], [1, 0], [0, 1]]])
    return snap(points, np.zeros((1, 3)), np.full((1, 3, 3), colour), np.full((1, 3, 2), texels))


GLASS = State(blend=Blend.SORTED, depth_write=False)
BAD = [
    (lambda: frame(samples=2), "allowed: 1, 4"),
    (lambda: frame(Draw("a", soup(1), State(texture=Texture(np.zeros((4, 4, 4), np.uint8))))), "no coordinates"),
    (lambda: frame(Draw("a", soup(1), State(cutout=1))), "cutout and no texture"),
    (lambda: frame(Draw("a", soup(1), State(alpha=256))), "0 to 255"),
    (lambda: frame(Draw("a", soup(1), State(stencil=Stencil(reference=-1)))), "0 to 255"),
    (lambda: frame(Draw("a", soup(1), State(blend=Blend.SORTED))), "no depth"),
    (lambda: frame(Draw("a", soup(1), GLASS), Draw("b", soup(1))), "follows draws that are sorted"),
    (lambda: Texture(np.zeros((3, 4, 4), np.uint8)), "powers of two"),
    (lambda: Texture(np.zeros((4, 4, 3), np.uint8)), "uint8"),
    (lambda: Texture(np.zeros((2048, 4, 4), np.uint8)), "powers of two up to 1024"),
    (lambda: snapped(0, np.nan), "triangle 1: a texture coordinate"),
    (lambda: snapped(300), "triangle 1: a colour is out of range"),
    (lambda: snapped(-5), "whole numbers from 0 to 255"),
    (lambda: snapped(np.nan), "a colour is out of range or not a number"),
    (lambda: snapped(1.5), "colours are whole numbers"),
    (lambda: frame(Draw("a", soup(1), State(alpha=9.0))), "alpha and cutout are whole numbers"),
    (lambda: frame(Draw("a", soup(1), State(cutout=-1))), "alpha and cutout are whole numbers"),
    (lambda: frame(samples=1.0), "1.0 samples a pixel"),
    (lambda: Frame(0, 5, GREY, ()), "a picture of 0x5 pixels"),
    (lambda: Frame(5, -1, GREY, ()), "1 to 16384 each"),
    (lambda: Frame(5, 16385, GREY, ()), "5x16385"),
    (lambda: Frame(5, 5.0, GREY, ()), "5x5.0"),
    (lambda: Frame(5, 5, (300, 0, 0), ()), "a background of"),
    (lambda: Frame(5, 5, (1, 2, 3.0), ()), "red, green and blue"),
    (lambda: Frame(5, 5, (1, 2), ()), "red, green and blue"),
    (lambda: Frame(5, 5, 300, ()), "a background of 300"),
]


@pytest.mark.parametrize("make, message", BAD, ids=[message for _, message in BAD])
def test_contradictions_are_refused(make, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
