"""Are frames of all machines drawn by ATTILA as 64-bit integers draw them, but for pixels that are counted?"""

from __future__ import annotations

import numpy as np
import pytest

from attila_bridge.picture import draw_on_attila, scene_of_frame
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


def test_attila_interpolates_perspective_by_itself() -> None:
    """From 0 to 240 down a wall that is four times as far above: 48 half-way, where 120 would be linear."""
    points = np.array([[(0, 0), (SIDE, 0), (0, SIDE)], [(SIDE, 0), (SIDE, SIDE), (0, SIDE)]], float)
    below = points[..., 1] > 0
    colours = np.repeat(np.where(below, 0, 240)[..., None], 3, axis=-1)
    wall = snap(points, np.full((2, 3), 0.5), colours, None, np.where(below, 1.0, 0.25))
    frame = Frame(SIDE, SIDE, (0, 0, 0), (Draw("wall", wall),))
    drawn, expected = draw_on_attila(frame).picture.colours.astype(int), draw_frame(frame).colours.astype(int)
    assert np.abs(drawn - expected).max() <= 1
    middle = drawn[SIDE // 2 - 1 : SIDE // 2 + 1].mean()
    assert abs(middle - 48) < 8


def test_an_account_adds_up() -> None:
    drawn = draw_on_attila(Frame(SIDE, SIDE, (0, 0, 0), (Draw("one", square(0.5, (1, 2, 3))),)))
    assert sum(drawn.stages.values()) == drawn.cycles and drawn.clock_mhz == 600
    assert 0 < drawn.covered_lanes <= 1 and drawn.traffic["vertices"] > 0


def glass(alpha: int, texture: Texture | None = None) -> State:
    return State(blend=Blend.SORTED, alpha=alpha, depth_write=False, texture=texture)


def test_sorted_squares_are_blended_from_far_to_near_whatever_the_order_of_drawing() -> None:
    """A fifth of 250 over 100 is 130; two fifths of 30 over that are 90. The other way round it would be 107."""
    draws = (
        Draw("wall", square(0.9, (100, 100, 100))),
        Draw("near", square(0.25, (30, 30, 30)), glass(102)),
        Draw("far", square(0.5, (250, 250, 250)), glass(51)),
        Draw("hidden", square(0.95, (255, 0, 0)), glass(255)),
    )
    drawn = draw_on_attila(Frame(SIDE, SIDE, (0, 0, 0), draws))
    assert np.abs(drawn.picture.colours.astype(int) - 90).max() <= 1
    found = PictureDifference.of(drawn, draw_frame(Frame(SIDE, SIDE, (0, 0, 0), draws)))
    assert found.largest <= 1


def test_sorted_draws_of_one_state_go_together_and_their_textures_once() -> None:
    texture = Texture(np.full((8, 8, 4), 255, np.uint8))
    depths = (0.2, 0.6, 0.4, 0.8)
    textured = [Draw(f"{at}", square(at, (9, 9, 9), coordinates=True), glass(60, texture)) for at in depths]
    scene = scene_of_frame(Frame(SIDE, SIDE, (0, 0, 0), (*textured[:3], textured[3])))
    assert len(scene.draws) == 1 and scene.draws[0].count == 24 and list(scene.textures) == ["texture 0"]
    plain = Draw("plain", square(0.5, (9, 9, 9)), glass(200))
    scene = scene_of_frame(Frame(SIDE, SIDE, (0, 0, 0), (*textured, plain)))
    assert [each.count for each in scene.draws] == [12, 6, 12] and len(scene.textures) == 1


@pytest.mark.parametrize("seed", range(3))
def test_sorted_triangles_that_are_level_come_out_as_they_should(seed: int) -> None:
    """Fourteen triangles, each at one depth, in three draws of unlike opacity: no pixel off by more than rounding."""
    random = np.random.default_rng(seed)
    depths = random.permutation(14) / 20 + 0.1
    draws = []
    for number, some in enumerate(np.split(np.arange(14), (5, 9))):
        points, colours = random.uniform(-4, SIDE + 4, (len(some), 3, 2)), random.integers(0, 256, (len(some), 3, 3))
        triangles = snap(points, np.repeat(depths[some], 3).reshape(-1, 3), colours, None)
        draws.append(Draw(f"layer {number}", triangles, glass(60 + 50 * number)))
    frame = Frame(SIDE, SIDE, (7, 70, 170), tuple(draws))
    apart = np.abs(draw_on_attila(frame).picture.colours.astype(int) - draw_frame(frame).colours).max(axis=2)
    # On an edge a pixel may belong to another triangle; what lies over each other is rounded once a layer.
    assert np.median(apart) <= 2 and (apart > 6).sum() <= 2


def checker(low: int, high: int) -> Texture:
    """Return a texture of 8x8 texels whose left half has one opacity and whose right half another."""
    texels = np.full((8, 8, 4), 255, np.uint8)
    texels[:, :4, 3], texels[:, 4:, 3] = low, high
    return Texture(texels)


@pytest.mark.parametrize("depth_write", [True, False])
def test_a_cutout_leaves_neither_colour_nor_depth(depth_write: bool) -> None:
    """The left half has too little opacity: the square farther away that is drawn later is seen there."""
    triangles = snap(_SQUARE, np.full((2, 3), 0.25), np.full((2, 3, 3), 200), _SQUARE / 2)
    state = State(texture=checker(99, 101), cutout=100, depth_write=depth_write)
    draws = (Draw("leaves", triangles, state), Draw("far", square(0.75, (7, 7, 7))))
    frame = Frame(SIDE, SIDE, (0, 0, 0), draws)
    drawn, expected = draw_on_attila(frame).picture, draw_frame(frame)
    far = (drawn.colours == 7).all(axis=2)
    assert far.any() and far.all() != depth_write
    assert np.abs(drawn.colours.astype(int) - expected.colours).max() <= 1
    assert np.abs(drawn.depths - expected.depths).max() <= 2


def test_a_cutout_leaves_stencils_as_they_are() -> None:
    mark = Stencil(StencilTest.ALWAYS, 1, passed=StencilStep.REPLACE)
    triangles = snap(_SQUARE, np.full((2, 3), 0.25), np.full((2, 3, 3), 200), _SQUARE / 2)
    cut = State(texture=checker(0, 255), cutout=128, stencil=mark, depth_write=False, colour_write=False)
    only = State(stencil=Stencil(StencilTest.EQUAL, 1))
    frame = Frame(SIDE, SIDE, (0, 0, 0), (Draw("cut", triangles, cut), Draw("marked", square(0.5, (9, 9, 9)), only)))
    drawn = draw_on_attila(frame).picture.colours
    assert (drawn == draw_frame(frame).colours).all() and drawn.any() and not drawn.all()


def test_four_samples_are_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match=r"one sample a pixel here, not 4\n.*no machine here takes the mean"):
        scene_of_frame(Frame(SIDE, SIDE, (0, 0, 0), (), samples=4))


def test_the_command_renders(tmp_path) -> None:
    picture = tmp_path / "picture.png"
    assert main(["render", "enneper", "--machine", "attila", "--size", "32x24", "-o", str(picture)]) == 0
    assert picture.stat().st_size > 0
