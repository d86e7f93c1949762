"""Every pixel and every depth of the back end's programs against 64-bit integers, state by state."""

from dataclasses import replace

import numpy as np
import pytest

from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.bins import quads_of
from larrabee_bridge.pipeline.frame import FrameSetting, render_on_larrabee
from pixelflow.simd.drawing import (
    Blend,
    DepthTest,
    Draw,
    Frame,
    State,
    Stencil,
    StencilStep,
    StencilTest,
    Texture,
    draw_frame,
    snap,
)
from pixelflow.simd.errors import InputError
from tests.larrabee_backend.soups import HEIGHT, WIDTH, soup, texture

KEEP, ZERO, REPLACE, UP, DOWN = StencilStep
NOISE = texture(3)
BEHIND = Draw("behind", soup(1))

STATES = {
    "plain": State(),
    "always": State(depth_test=DepthTest.ALWAYS),
    "always, no depth": State(depth_test=DepthTest.ALWAYS, depth_write=False),
    "depth only": State(colour_write=False),
    "over": State(blend=Blend.OVER, alpha=100),
    "over, no depth": State(blend=Blend.OVER, alpha=255, depth_write=False),
    "add": State(blend=Blend.ADD, alpha=200, depth_test=DepthTest.ALWAYS),
    "multiply": State(blend=Blend.MULTIPLY),
    "sorted": State(blend=Blend.SORTED, alpha=130, depth_write=False),
}
TEXTURED = {
    "texture": State(texture=NOISE),
    "texture over": State(texture=NOISE, blend=Blend.OVER, alpha=77),
    "texture over, opaque": State(texture=NOISE, blend=Blend.OVER),
    "texture add": State(texture=NOISE, blend=Blend.ADD, alpha=230),
    "texture multiply": State(texture=NOISE, blend=Blend.MULTIPLY, alpha=9),
    "texture sorted": State(texture=NOISE, blend=Blend.SORTED, alpha=200, depth_write=False),
    "cutout": State(texture=NOISE, cutout=128),
    "cutout over": State(texture=NOISE, cutout=128, blend=Blend.OVER, alpha=180),
    "cutout sorted": State(texture=NOISE, cutout=90, blend=Blend.SORTED, depth_write=False),
    "cutout, depth only": State(texture=NOISE, cutout=128, colour_write=False),
    "a texel": State(texture=texture(4, 1, 1)),
    "texture that nobody sees": State(texture=NOISE, colour_write=False),
}
EVERY = STATES | TEXTURED


def check(draws, samples: int = 1, tile: int = 32, width: int = WIDTH, height: int = HEIGHT, **known) -> None:
    frame = Frame(width, height, (10, 20, 30), tuple(draws), samples)
    found = render_back_end(frame, tile=tile, **known)
    expected = draw_frame(frame)
    assert np.array_equal(found.picture.depths, expected.depths)
    assert np.array_equal(found.picture.colours, expected.colours)


@pytest.mark.parametrize("name", EVERY)
def test_a_state_at_one_sample(name: str) -> None:
    check([BEHIND, Draw(name, soup(2), EVERY[name]), Draw("flat", soup(3, 2, flat=True), EVERY[name])])


SOME = ("always", "over", "sorted", "texture multiply", "cutout over", "cutout, depth only")


@pytest.mark.parametrize(
    "name", [name if name in SOME else pytest.param(name, marks=pytest.mark.slow) for name in EVERY]
)
def test_a_state_at_four_samples(name: str) -> None:
    flat = len(name) % 2 == 0
    check([Draw("behind", soup(1, 2)), Draw(name, soup(4, 3, flat=flat), EVERY[name])], samples=4)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    "name",
    ["plain", "texture add", *(pytest.param(each, marks=pytest.mark.slow) for each in ("over", "multiply")),
     *(pytest.param(each, marks=pytest.mark.slow) for each in ("texture", "cutout sorted"))],
)  # fmt: skip
def test_a_state_in_perspective(name: str, samples: int) -> None:
    """With planes in a program too; textured planes of four samples fill more than half of a second line."""
    near = soup(4, 4, perspective=True)
    draws = [Draw(name, near, EVERY[name]), Draw("flat", soup(5, 2, flat=True, perspective=True), EVERY[name])]
    check([Draw("behind", soup(1, 2, perspective=True)), *draws], samples)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("perspective", [False, True])
def test_mipmaps(samples: int, perspective: bool) -> None:
    """Also of small triangles, most of whose blocks have pixels that they do not cover."""
    large = soup(8, 6, perspective=perspective)
    small = replace(large, corners=large.corners // 6 + 256 * 12)
    small = small.part(small.doubled_areas > 0)
    assert len(small) > 3
    states = [State(texture=Texture(NOISE.texels, mipmaps=True), cutout=cutout) for cutout in (0, 90)]
    check([Draw("large", large, states[0]), Draw("small", small, states[1])], samples)


def test_planes_of_perspective_by_the_program_draw_the_same() -> None:
    draws = [Draw(str(seed), soup(seed, 4, perspective=True), State(texture=NOISE)) for seed in (6, 7)]
    frame = Frame(WIDTH, HEIGHT, (10, 20, 30), tuple(draws), 4)
    assert render_on_larrabee(frame, FrameSetting(tile=32)).picture.equals(draw_frame(frame))


def test_corners_that_are_equally_far_cost_what_they_cost_without_perspective() -> None:
    affine = soup(2)
    level = replace(affine, nearness=np.full((len(affine), 3), 1 << 29))
    for state in (State(texture=NOISE),):
        runs = [
            render_on_larrabee(Frame(WIDTH, HEIGHT, (10, 20, 30), (Draw("soup", each, state),)), FrameSetting(tile=32))
            for each in (affine, level, soup(2, perspective=True))
        ]
        first, second, third = (run.back_end.cycles.sum() + run.plane_cycles for run in runs)
        assert runs[0].picture.equals(runs[1].picture)
        assert first == second < third


@pytest.mark.parametrize(
    ("tile", "samples"), [(64, 1), (64, 4), (128, 1), pytest.param(128, 4, marks=pytest.mark.slow)]
)
def test_larger_tiles(tile: int, samples: int) -> None:
    states = [State(), State(texture=NOISE, blend=Blend.OVER, cutout=30)]
    draws = [Draw(str(seed), soup(seed, 2), state) for seed, state in enumerate(states)]
    check(draws, samples, tile)


STENCILS = [
    Stencil(StencilTest.ALWAYS, 3, KEEP, DOWN, REPLACE),
    Stencil(StencilTest.EQUAL, 3, ZERO, DOWN, UP),
    Stencil(StencilTest.DIFFERENT, 1, DOWN, KEEP, ZERO),
    Stencil(StencilTest.DIFFERENT, 255, UP, REPLACE, KEEP),
]


@pytest.mark.parametrize(
    ("samples", "cutout"),
    [(1, 60), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((1, 0), (4, 60))), (4, 0)],
)
def test_stencils_step_in_every_way(samples: int, cutout: int) -> None:
    """Steps wrap round at 0 and 255; a cutout leaves fragments out before the stencil is tested."""
    draws = [Draw("behind", soup(1, 2))]
    for number, stencil in enumerate(STENCILS):
        state = State(
            stencil=stencil, texture=NOISE, cutout=cutout, depth_write=number % 2 == 0, colour_write=number > 1
        )
        draws.append(Draw(f"{number}", soup(5 + number, 3), state))
    draws.append(Draw("no stencil", soup(30, 2), State(depth_test=DepthTest.ALWAYS)))
    seen = Stencil(StencilTest.EQUAL, 0)
    draws.append(Draw("seen", soup(20, 4), State(stencil=seen, depth_test=DepthTest.ALWAYS, blend=Blend.ADD)))
    check(draws, samples)


def test_shadow_volumes() -> None:
    """The fronts of a volume count up where they are hidden, its backs count down: light where that comes to 0."""
    up = Stencil(StencilTest.ALWAYS, 0, KEEP, UP, KEEP)
    down = Stencil(StencilTest.ALWAYS, 0, KEEP, DOWN, KEEP)
    dark = State(colour_write=False, depth_write=False)
    lit = State(stencil=Stencil(StencilTest.EQUAL, 0), depth_test=DepthTest.ALWAYS, blend=Blend.ADD, alpha=90)
    states = [State(), *(State(**_fields(dark) | {"stencil": each}) for each in (up, down)), lit]
    check([Draw(str(number), soup(40 + number), state) for number, state in enumerate(states)])


def _fields(state: State) -> dict:
    return {name: getattr(state, name) for name in ("colour_write", "depth_write")}


def test_one_quad_by_hand() -> None:
    """Red 10 a pixel to the right, green 20 a pixel down, over 60 90 120 at an opacity of 128."""
    corners, colours = np.array([[(0, 0), (8, 0), (0, 8)]], float), np.array([[(0, 0, 7), (80, 0, 7), (0, 160, 7)]])
    triangle = snap(corners, np.zeros((1, 3)), colours.astype(np.uint8))
    frame = Frame(4, 4, (60, 90, 120), (Draw("one", triangle, State(blend=Blend.OVER, alpha=128)),))
    found = render_back_end(frame, tile=32)
    assert int(found.quads.sum()) == 1 and found.covered == 16
    assert (found.picture.depths == 128).all()
    # (x 128 + d 127) / 255, rounded: red of column i is 10 i + 5, green of row j is 20 j + 10
    red = [round(((10 * i + 5) * 128 + 60 * 127) / 255) for i in range(4)]
    green = [round(((20 * j + 10) * 128 + 90 * 127) / 255) for j in range(4)]
    assert (red, green, round((7 * 128 + 120 * 127) / 255)) == ([32, 37, 42, 47], [50, 60, 70, 80], 63)
    assert found.picture.colours.tolist() == [[[red[i], green[j], 63] for i in range(4)] for j in range(4)]


@pytest.mark.parametrize("samples", [1, 4])
def test_an_empty_frame_is_its_background(samples: int) -> None:
    check([], samples)
    check(
        [
            Draw(
                "outside",
                snap(np.full((1, 3, 2), -9.0) + np.eye(3)[:1, :, None], np.zeros((1, 3)), np.zeros((1, 3, 3))),
            )
        ]
    )


def test_quads_are_drawn_in_the_order_in_which_they_come() -> None:
    """Blending over does not commute: triangles the other way round give what drawing them so gives."""
    triangles = soup(8)
    state = State(blend=Blend.OVER, alpha=90, depth_test=DepthTest.ALWAYS)
    frame = Frame(WIDTH, HEIGHT, (0, 0, 0), (Draw("over", triangles, state),))
    quads = quads_of(triangles, WIDTH, HEIGHT, 32)
    order = np.lexsort((-quads.triangle, quads.tile))
    back = type(quads)(*(each[order] for each in (quads.tile, quads.triangle, quads.x, quads.y, quads.masks)))
    reversed_ = Frame(WIDTH, HEIGHT, (0, 0, 0), (Draw("over", triangles.part(np.arange(len(triangles))[::-1]), state),))
    found = render_back_end(frame, [back], tile=32).picture
    assert found.equals(draw_frame(reversed_))
    assert not found.equals(draw_frame(frame))


def test_a_tile_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="a tile of 48 pixels"):
        render_back_end(Frame(8, 8, (0, 0, 0), ()), tile=48)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_many_draws_of_any_state(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [name for name, state in EVERY.items() if state.blend is not Blend.SORTED]
    late = [name for name, state in EVERY.items() if state.blend is Blend.SORTED]
    chosen = [*rng.choice(names, 5), *rng.choice(late, 2)]
    draws = [Draw(name, soup(100 * seed + at, 8, flat=at % 3 == 0), EVERY[name]) for at, name in enumerate(chosen)]
    check(draws, (1, 4)[seed % 2], (32, 64, 128)[seed % 3], 90, 70)


def test_the_textures_here_have_opaque_and_clear_texels() -> None:
    assert isinstance(NOISE, Texture) and NOISE.texels[..., 3].min() < 40 < 200 < NOISE.texels[..., 3].max()
