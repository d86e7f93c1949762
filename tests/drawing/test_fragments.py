"""Which sample gives a fragment its colour, texel and depth, and what a texel and the lists do to it: by hand."""

import numpy as np
import pytest

from pixelflow.simd.drawing import (
    DEPTH_GUARD,
    FAR,
    TEXEL,
    Blend,
    Draw,
    Frame,
    ScreenTriangles,
    State,
    Stencil,
    StencilStep,
    StencilTest,
    Texture,
    draw_frame,
    snap,
)
from pixelflow.simd.drawing.mipmaps import filtered

# One pixel at (0, 0); its samples are at x 6, 14, 2, 10 and y 2, 6, 10, 14 sixteenths.
SHEET = np.array([[[-8, -8], [24, -8], [-8, 24]]], float)


def sheet(colour, depth: float = 0.5, texel: tuple[float, float] | None = None) -> ScreenTriangles:
    """One triangle over the whole pixel, of one colour, depth and texel (its middle)."""
    coordinates = None if texel is None else np.tile(np.array(texel) + 0.5, (1, 3, 1))
    return snap(SHEET, np.full((1, 3), depth), np.tile(np.asarray(colour, np.uint8), (1, 3, 1)), coordinates)


def pixel(*draws: tuple[ScreenTriangles, State], samples: int = 1, background=(0, 0, 0)) -> list[int]:
    named = tuple(Draw(str(number), *draw) for number, draw in enumerate(draws))
    return draw_frame(Frame(1, 1, background, named, samples)).colours[0, 0].tolist()


def test_turning_a_triangle_turns_all_that_its_corners_carry() -> None:
    points = np.array([[[0, 0], [0, 4], [4, 0]]], float)  # counter-clockwise on the screen
    depths, colours = np.array([[0.0, 0.5, 1.0]]), np.array([[[1, 1, 1], [2, 2, 2], [3, 3, 3]]])
    texels = np.array([[[10, 11], [20, 21], [30, 31]]], float)
    found = snap(points, depths, colours, texels)
    assert (found.corners[0] / 256).tolist() == [[0, 0], [4, 0], [0, 4]]
    assert found.depths[0].tolist() == [DEPTH_GUARD, FAR - DEPTH_GUARD, DEPTH_GUARD + round(0.5 * (FAR - 256))]
    assert found.colours[0, :, 0].tolist() == [1, 3, 2]
    assert (found.coordinates[0] / TEXEL).tolist() == [[10, 11], [30, 31], [20, 21]]
    kept = snap(points[:, ::-1], depths[:, ::-1], colours[:, ::-1], texels[:, ::-1])
    assert (kept.coordinates[0] / TEXEL).tolist() == [[30, 31], [20, 21], [10, 11]]  # clockwise already


def test_each_channel_is_its_own() -> None:
    assert pixel((sheet((10, 20, 30)), State())) == [10, 20, 30]
    half = State(blend=Blend.OVER, alpha=51, depth_write=False)  # a fifth
    assert pixel((sheet((250, 100, 0)), half), background=(0, 100, 200)) == [50, 100, 160]
    texels = np.array([[[255, 51, 0, 255]]], np.uint8)
    assert pixel((sheet((200, 100, 50), texel=(0, 0)), State(texture=Texture(texels)))) == [200, 20, 0]


def test_of_equal_depths_that_are_sorted_the_first_drawn_lies_below() -> None:
    state = State(blend=Blend.SORTED, alpha=255, depth_write=False)
    assert pixel((sheet((1, 1, 1)), state), (sheet((2, 2, 2)), state)) == [2, 2, 2]
    assert pixel((sheet((2, 2, 2)), state), (sheet((1, 1, 1)), state)) == [1, 1, 1]


@pytest.mark.parametrize(("opacity", "cutout", "seen"), [(99, 100, False), (100, 100, True), (101, 100, True)])
def test_a_texel_with_just_the_opacity_of_the_cutout_stays(opacity: int, cutout: int, seen: bool) -> None:
    texture = Texture(np.array([[[255, 255, 255, opacity]]], np.uint8))
    assert pixel((sheet((9, 9, 9), texel=(0, 0)), State(texture=texture, cutout=cutout))) == [9 * seen] * 3


def test_the_opacity_of_a_texel_multiplies_that_of_the_draw() -> None:
    texture = Texture(np.array([[[255, 255, 255, 51]]], np.uint8))
    for blend in (Blend.OVER, Blend.ADD, Blend.SORTED):
        state = State(blend=blend, alpha=127, depth_write=False, texture=texture)
        assert pixel((sheet((255, 255, 255), texel=(0, 0)), state)) == [25] * 3  # 127 / 5 = 25.4


def test_colour_and_texel_are_those_of_the_first_sample_that_is_covered() -> None:
    # Left of x = 12/16 are the samples 0, 2, 3; right of it only sample 1, at y 6/16. Colours grow by 16 a pixel
    # down, times 16 columns: 16 * 16 y; texels are 16 rows of one pixel.
    points = np.array([[[0.75, 0], [16.75, 0], [0.75, 16]], [[0.75, 0], [0.75, 16], [-15.25, 0]]])
    shades = np.zeros((2, 3, 3))
    shades[0, 2], shades[1, 1] = 240, 240  # 15 a pixel down, 0 at the top
    for number, at in ((0, 6), (1, 2)):
        one = snap(points[[number]], np.full((1, 3), 0.5), shades[[number]])
        covered = 1 if number == 0 else 3
        value = round(15 * at / 16)
        assert pixel((one, State()), samples=4) == [(covered * value + 2) // 4] * 3
    texels = np.zeros((16, 1, 4), np.uint8)
    texels[..., :3], texels[..., 3] = (np.arange(16) * 16)[:, None, None], 255
    for number, at, covered in ((0, 6, 1), (1, 2, 3)):
        uv = points[[number]] * (1, 16) + (0, 0.5)  # a texel a sixteenth pixel: row 6 or 2 at the sample
        one = snap(points[[number]], np.full((1, 3), 0.5), np.full((1, 3, 3), 255), uv)
        assert pixel((one, State(texture=Texture(texels))), samples=4) == [(covered * at * 16 + 2) // 4] * 3


def test_the_depth_of_a_picture_at_four_samples_is_the_first_samples() -> None:
    depths = np.array([[0.0, 0.0, 1.0]])  # 1/16 of the range a pixel down; the first sample is 2/16 down
    points = np.array([[[-16, 0], [16, 0], [-16, 16]]], float)
    one = Draw("one", snap(points, depths, np.zeros((1, 3, 3))))
    found = int(draw_frame(Frame(1, 1, (0, 0, 0), (one,), 4)).depths[0, 0])
    assert abs(found - (DEPTH_GUARD + (FAR - 2 * DEPTH_GUARD) / 16 * 2 / 16)) <= 1
    right = snap(np.array([[[0.75, 0], [16.75, 0], [0.75, 16]]]), depths, np.zeros((1, 3, 3)))
    assert draw_frame(Frame(1, 1, (0, 0, 0), (Draw("one", right),), 4)).depths[0, 0] == FAR  # sample 1 alone


def test_a_hidden_step_counts_where_the_stencil_passed_and_depth_did_not() -> None:
    seen = State(stencil=Stencil(StencilTest.EQUAL, 1))
    for reference, depth, expected in ((0, 0.8, 33), (5, 0.8, 0), (0, 0.2, 0), (5, 0.2, 0)):
        stencil = Stencil(StencilTest.EQUAL, reference, hidden=StencilStep.UP)
        draws = (
            (sheet((0, 0, 0), 0.5), State()),
            (sheet((0, 0, 0), depth), State(stencil=stencil, colour_write=False, depth_write=False)),
            (sheet((33, 33, 33), 0.1), seen),
        )
        assert pixel(*draws) == [expected] * 3
    # Outside the triangle nothing steps: of two pixels, the triangle covers the left.
    left = snap(np.array([[[0, 0], [1, 0], [0, 4]]]), np.full((1, 3), 0.8), np.zeros((1, 3, 3)))
    wall = snap(SHEET * 4, np.full((1, 3), 0.5), np.zeros((1, 3, 3)))
    count = State(stencil=Stencil(hidden=StencilStep.UP), colour_write=False, depth_write=False)
    top = snap(SHEET * 4, np.full((1, 3), 0.1), np.full((1, 3, 3), 33))
    draws = (Draw("wall", wall), Draw("left", left, count), Draw("top", top, seen))
    assert draw_frame(Frame(2, 1, (0, 0, 0), draws)).colours[0, :, 0].tolist() == [33, 0]


def test_a_texture_repeats_after_its_own_width_and_height() -> None:
    texels = np.zeros((2, 8, 4), np.uint8)
    texels[..., 0], texels[..., 1] = np.arange(8), np.arange(2)[:, None]
    texture = Texture(texels)
    for column in range(-9, 20):
        for row in range(-3, 5):
            u, v = (column * TEXEL + TEXEL // 2) % 2**32, (row * TEXEL + TEXEL // 2) % 2**32
            assert filtered(texture, np.array(u), np.array(v))[:2].tolist() == [column % 8, row % 2]
