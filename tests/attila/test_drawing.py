"""Are frames of all machines drawn by ATTILA as 64-bit integers draw them, but for pixels that are counted?"""

from __future__ import annotations

import numpy as np
import pytest

from attila_bridge.drawing import draw_on_attila, scene_of_frame
from pixelflow.cli.main import main
from pixelflow.simd.drawing import (
    Blend,
    DepthTest,
    Draw,
    Frame,
    PictureDifference,
    State,
    Stencil,
    StencilStep,
    StencilTest,
    Texture,
    draw_frame,
    snap,
)
from pixelflow.simd.errors import InputError
from tessellation.scenes import SceneSource, load_scene

SIDE = 16
_SQUARE = np.array([[(0, 0), (SIDE, 0), (0, SIDE)], [(SIDE, 0), (SIDE, SIDE), (0, SIDE)]], float)


def square(depth: float, colour: tuple[int, int, int], coordinates: bool = False):
    corners = _SQUARE if coordinates else None
    return snap(_SQUARE, np.full((2, 3), depth), np.full((2, 3, 3), colour), corners)


def differences(frame: Frame) -> PictureDifference:
    return PictureDifference.of(draw_on_attila(frame), draw_frame(frame))


def test_the_nearer_of_two_squares_stays_and_depths_are_equal() -> None:
    frame = Frame(
        SIDE, SIDE, (1, 2, 3), (Draw("near", square(0.25, (9, 99, 199))), Draw("far", square(0.75, (7, 7, 7))))
    )
    drawn = draw_on_attila(frame)
    assert (drawn.picture.colours == (9, 99, 199)).all()
    found = PictureDifference.of(drawn, draw_frame(frame))
    assert found.colours == 0 and np.abs(drawn.picture.depths - draw_frame(frame).depths).max() <= 1


def test_a_square_in_half_of_the_frame_covers_half() -> None:
    points = _SQUARE * (0.5, 1)
    triangles = snap(points, np.full((2, 3), 0.5), np.full((2, 3, 3), 200), None)
    drawn = draw_on_attila(Frame(SIDE, SIDE, (0, 0, 0), (Draw("half", triangles),)))
    assert (drawn.picture.colours[:, : SIDE // 2] == 200).all() and not drawn.picture.colours[:, SIDE // 2 :].any()


@pytest.mark.parametrize(
    ("blend", "expected"),
    # (200, 100, 50) with 51 of 255 over (100, 100, 100): a fifth of the one and four fifths of the other.
    [(Blend.OVER, (120, 100, 90)), (Blend.ADD, (140, 120, 110)), (Blend.MULTIPLY, (78, 39, 20))],
)
def test_blending_by_hand(blend: Blend, expected: tuple[int, int, int]) -> None:
    state = State(blend=blend, alpha=51, depth_test=DepthTest.ALWAYS)
    frame = Frame(SIDE, SIDE, (100, 100, 100), (Draw("blended", square(0.5, (200, 100, 50)), state),))
    colour = draw_on_attila(frame).picture.colours[4, 4]
    assert np.abs(colour.astype(int) - expected).max() <= 1


def test_a_stencil_keeps_out_what_was_not_marked() -> None:
    mark = Stencil(StencilTest.ALWAYS, 1, passed=StencilStep.REPLACE)
    left = snap(_SQUARE * (0.5, 1), np.full((2, 3), 0.5), np.full((2, 3, 3), 9), None)
    only = Stencil(StencilTest.EQUAL, 1)
    hidden = {"colour_write": False, "depth_write": False}
    draws = (
        Draw("mark", left, State(stencil=mark, **hidden)),
        Draw("marked", square(0.5, (255, 0, 0)), State(stencil=only)),
    )
    colours = draw_on_attila(Frame(SIDE, SIDE, (0, 0, 0), draws)).picture.colours
    assert (colours[:, : SIDE // 2] == (255, 0, 0)).all() and not colours[:, SIDE // 2 :].any()


def test_a_texture_is_multiplied() -> None:
    texels = np.full((8, 8, 4), 255, np.uint8)
    texels[..., 1] = 0
    draw = Draw("textured", square(0.5, (100, 100, 100), coordinates=True), State(texture=Texture(texels)))
    colours = draw_on_attila(Frame(SIDE, SIDE, (0, 0, 0), (draw,))).picture.colours
    assert np.abs(colours.astype(int) - (100, 0, 100)).max() <= 1


@pytest.mark.parametrize("name", ["enneper", pytest.param("herd", marks=pytest.mark.slow)])
def test_pixels_of_scenes_that_differ_are_few_and_have_a_reason(name: str) -> None:
    frame = load_scene(name, SceneSource(size=(48, 32), patch_samples=3 if name == "enneper" else None)).frame
    found = differences(frame)
    assert found.reason and not found.wrong and found.colours < found.pixels / 20


def test_an_account_adds_up() -> None:
    drawn = draw_on_attila(Frame(SIDE, SIDE, (0, 0, 0), (Draw("one", square(0.5, (1, 2, 3))),)))
    assert sum(drawn.stages.values()) + 1 == drawn.cycles and drawn.clock_mhz == 600
    assert 0 < drawn.covered_lanes <= 1 and drawn.traffic["vertices"] > 0


def test_states_that_are_not_built_are_refused_all_at_once() -> None:
    draws = tuple(
        Draw(name, square(0.5, (1, 1, 1), coordinates=True), state)
        for name, state in (
            ("sorted", State(blend=Blend.SORTED)),
            ("cut", State(texture=Texture(np.zeros((8, 8, 4), np.uint8)), cutout=9)),
        )
    )
    with pytest.raises(InputError) as caught:
        scene_of_frame(Frame(SIDE, SIDE, (0, 0, 0), draws))
    assert "sorted" in str(caught.value) and "cut" in str(caught.value)


def test_the_command_renders(tmp_path) -> None:
    picture = tmp_path / "picture.png"
    assert main(["render", "enneper", "--machine", "attila", "--size", "32x24", "-o", str(picture)]) == 0
    assert picture.stat().st_size > 0
