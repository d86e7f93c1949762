"""Do threads draw what 64-bit integers draw?"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from gen6_bridge.drawing import draw_on_gen6
from gen6_bridge.drawing.rasterizer import pixel_threads, pixels_of
from gen6_bridge.drawing.shaders import ShaderKind, pixel_shader
from gen6_bridge.time import EuConfig
from pixelflow.cli.main import main
from pixelflow.simd.drawing import (
    LEAST_NEARNESS,
    NEAREST,
    Blend,
    DepthTest,
    Draw,
    Frame,
    Framebuffer,
    State,
    Stencil,
    StencilStep,
    StencilTest,
    Texture,
    covered,
    draw_frame,
    snap,
)
from pixelflow.simd.errors import InputError
from tessellation.scenes import SceneSource, load_scene

WIDTH, HEIGHT = 40, 24


def triangles(seed: int, count: int = 12):
    source = np.random.default_rng(seed)
    points = source.uniform(-8, 48, (count, 3, 2))
    coordinates = source.uniform(-40, 40, (count, 3, 2))
    return snap(points, source.uniform(0, 1, (count, 3)), source.integers(0, 256, (count, 3, 3)), coordinates)


def in_perspective(seed: int, count: int = 4):
    """Corners up to a hundred times as far as others, but for every third triangle's."""
    nearness = 10.0 ** np.random.default_rng(seed).uniform(-2, 0, (count, 3))
    nearness[::3] = nearness[::3, :1]
    found = triangles(seed, count)
    shares = np.clip(np.rint(nearness * NEAREST).astype(int), LEAST_NEARNESS, NEAREST - 1)
    return replace(found, nearness=shares[: len(found)])


def texture(seed: int) -> Texture:
    return Texture(np.random.default_rng(seed).integers(0, 256, (16, 8, 4)).astype(np.uint8))


@pytest.mark.parametrize("seed", range(4))
def test_triangles_with_and_without_a_texture_are_the_references(seed: int) -> None:
    draws = (Draw("plain", triangles(seed)), Draw("textured", triangles(seed + 9), State(texture=texture(seed))))
    frame = Frame(WIDTH, HEIGHT, (9, 99, 199), draws)
    drawn = draw_on_gen6(frame, parts=2)
    assert drawn.picture.equals(draw_frame(frame)) and drawn.cycles > 0
    assert (
        f"{450 * int(dict(drawn.facts)['threads'].split()[0].replace(',', '')):,}" in dict(drawn.facts)["render cache"]
    )
    assert set(drawn.stages) == {"plain: pixels", "textured: pixels"} and sum(drawn.stages.values()) == drawn.cycles


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("channels", "samples"), [pytest.param(8, 1, marks=SLOW), pytest.param(16, 1, marks=SLOW), (16, 4)]
)
def test_colours_and_texels_follow_perspective(channels: int, samples: int) -> None:
    smaller = Texture(texture(2).texels, mipmaps=True)
    states = (State(), State(texture=texture(1)), State(texture=smaller, cutout=90, blend=Blend.OVER, alpha=200))
    draws = tuple(Draw(str(seed), in_perspective(seed), state) for seed, state in enumerate(states))
    frame = Frame(WIDTH, HEIGHT, (9, 99, 199), draws, samples)
    affine = replace(
        frame, draws=tuple(replace(each, triangles=replace(each.triangles, nearness=None)) for each in draws)
    )
    config = EuConfig(channels=channels)
    drawn, without = draw_on_gen6(frame, config=config), draw_on_gen6(affine, config=config)
    assert drawn.picture.equals(draw_frame(frame)) and not drawn.picture.equals(without.picture)
    assert drawn.cycles > without.cycles


@pytest.mark.parametrize("name", ["enneper", *(pytest.param(each, marks=SLOW) for each in ("herd", "glass"))])
def test_scenes_are_the_references(name: str) -> None:
    samples = 3 if name == "enneper" else None
    frame = load_scene(name, SceneSource(size=(48, 32), patch_samples=samples)).frame
    assert draw_on_gen6(frame).picture.equals(draw_frame(frame))


@pytest.mark.parametrize("channels", [8, 16])
def test_subspans_cover_visible_pixels_once(channels: int) -> None:
    draw = Draw("one", triangles(1, 1))
    target = Framebuffer.cleared(Frame(WIDTH, HEIGHT, (0, 0, 0), (draw,)))
    pixels = pixels_of(draw, target)
    threads = pixel_threads(draw, pixels, channels)
    lit = threads.pixel >= 0
    count = np.zeros((HEIGHT, WIDTH), np.int64)
    np.add.at(count, (threads.rows[lit], threads.columns[lit]), 1)
    assert (count == covered(draw.triangles, WIDTH, HEIGHT)).all()
    assert sorted(threads.pixel[lit]) == list(range(len(pixels)))
    assert (threads.there.reshape(-1, 4).all(axis=1) == threads.there.reshape(-1, 4).any(axis=1)).all()
    assert threads.there[lit].all() and threads.there.shape[1] == channels


def test_a_frame_without_visible_pixels_takes_nothing() -> None:
    drawn = draw_on_gen6(Frame(8, 8, (1, 2, 3), (Draw("none", triangles(1, 0)),)))
    assert drawn.cycles == 0 and (drawn.picture.colours == (1, 2, 3)).all()


def test_more_units_take_less_and_draw_the_same() -> None:
    frame = Frame(WIDTH, HEIGHT, (0, 0, 0), (Draw("all", triangles(3, 30)),))
    one, three = (draw_on_gen6(frame, parts=parts) for parts in (1, 3))
    assert three.cycles < one.cycles and three.picture.equals(one.picture) and three.work == one.work


_SQUARE = np.array([[(0, 0), (16, 0), (0, 16)], [(16, 0), (16, 16), (0, 16)]], float)
_KEPT = {"depth_write": False}
_STATES = {
    "over": State(blend=Blend.OVER, alpha=99),
    "add, textured": State(blend=Blend.ADD, alpha=200, texture=texture(7)),
    "multiply": State(blend=Blend.MULTIPLY, **_KEPT),
    "over, all depths": State(blend=Blend.OVER, alpha=33, depth_test=DepthTest.ALWAYS, texture=texture(2)),
    "cut": State(texture=texture(3), cutout=120),
    "cut and blended": State(texture=texture(4), cutout=90, blend=Blend.OVER, alpha=150),
    "cut, depth alone": State(texture=texture(5), cutout=128, colour_write=False),
    "depth alone": State(colour_write=False),
    "counted": State(stencil=Stencil(hidden=StencilStep.UP, passed=StencilStep.DOWN), colour_write=False, **_KEPT),
    "where counted": State(stencil=Stencil(StencilTest.DIFFERENT, 0), depth_test=DepthTest.ALWAYS),
    "cut by the stencil": State(
        texture=texture(6), cutout=100, stencil=Stencil(StencilTest.EQUAL, 1, StencilStep.UP, StencilStep.ZERO)
    ),
    "sorted": State(blend=Blend.SORTED, alpha=120, **_KEPT),
    "sorted, textured": State(blend=Blend.SORTED, alpha=222, texture=texture(8), **_KEPT),
    "sorted and cut": State(blend=Blend.SORTED, alpha=90, texture=texture(9), cutout=60, **_KEPT),
}


@pytest.mark.parametrize(
    ("samples", "channels"), [(4, 16), *(pytest.param(*each, marks=SLOW) for each in ((1, 8), (1, 16), (4, 8)))]
)
def test_every_state_after_the_other_is_the_references(samples: int, channels: int) -> None:
    """One picture with all states, so that each meets what the others have left; at both widths of threads."""
    draws = [Draw("floor", triangles(50, 6))]
    draws += [Draw(name, triangles(60 + at, 5), state) for at, (name, state) in enumerate(_STATES.items())]
    frame = Frame(WIDTH, HEIGHT, (200, 100, 50), tuple(draws), samples)
    drawn = draw_on_gen6(frame, config=EuConfig(channels=channels))
    assert drawn.picture.equals(draw_frame(frame))
    taken = {name: drawn.stages[f"{name}: pixels"] for name in _STATES}
    assert not taken["counted"] and not taken["depth alone"]  # no colours, no threads
    assert all(cycles for name, cycles in taken.items() if name not in ("counted", "depth alone"))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(_STATES))
def test_each_state_alone_is_the_references(name: str) -> None:
    draws = (Draw("floor", triangles(50, 6)), Draw(name, triangles(11, 7), _STATES[name]))
    frame = Frame(WIDTH, HEIGHT, (9, 99, 199), draws, 4)
    assert draw_on_gen6(frame).picture.equals(draw_frame(frame))


def test_the_shaders_break_no_rule_of_legality() -> None:
    flags = (False, True)
    kinds = [
        ShaderKind(textured, translucent, cut, colours, samples, channels)
        for textured, translucent, cut, colours in product(flags, repeat=4)
        for samples, channels in product((1, 4), (8, 16))
        if textured or not cut
    ]
    assert len(kinds) == 48 and not any(pixel_shader(kind).broken for kind in kinds)


def test_killed_and_blended_pixels_by_hand() -> None:
    """A texel of opacity 127 is below the cutout of 128: nothing is drawn; half of 100 over 0 is 50."""
    faint, half = (Texture(np.full((1, 1, 4), value, np.uint8)) for value in (127, 255))
    points = snap(_SQUARE, np.full((2, 3), 0.5), np.full((2, 3, 3), 100), _SQUARE)
    draws = (
        Draw("killed", points, State(texture=faint, cutout=128)),
        Draw("half", points, State(texture=half, cutout=255, blend=Blend.OVER, alpha=128)),
    )
    drawn = draw_on_gen6(Frame(8, 8, (0, 0, 0), draws))
    assert (drawn.picture.colours == 50).all()
    assert drawn.traffic == {"texels": 2 * 64 * 16, "render target": 64 * 4, "render target, read to blend": 64 * 4}


def test_sorted_fragments_are_shaded_once_a_turn() -> None:
    """Three panes over the whole picture are three turns, each of which shades all pixels."""
    glass = State(blend=Blend.SORTED, alpha=128, depth_write=False)
    depths_and_greys = ((0.5, 200), (0.9, 100), (0.1, 0))
    panes = [snap(_SQUARE, np.full((2, 3), depth), np.full((2, 3, 3), grey)) for depth, grey in depths_and_greys]
    frame = Frame(8, 8, (0, 0, 0), tuple(Draw(f"{at}", pane, glass) for at, pane in enumerate(panes)))
    drawn = draw_on_gen6(frame)
    assert "in 3 turns" in dict(drawn.facts)["sorted draws"]
    # 100 over 0 is 50; 200 over it, (200 * 128 + 50 * 127) / 255 = 125.3; 0 over that, 62.25
    assert (drawn.picture.colours == 62).all() and drawn.traffic["render target"] == 3 * 64 * 4


def test_eight_channels_take_fewer_idle_ones_and_more_threads() -> None:
    """A triangle within one block of 2x2 pixels: a subspan, whose four channels are half of eight."""
    corners = snap(np.array([[(2, 2), (3.9, 2), (2, 3.9)]]), np.full((1, 3), 0.5), np.full((1, 3, 3), 9))
    frame = Frame(8, 8, (0, 0, 0), (Draw("small", corners),))
    eight, sixteen = (draw_on_gen6(frame, config=EuConfig(channels=channels)) for channels in (8, 16))
    assert (eight.enabled_lanes, sixteen.enabled_lanes) == (0.5, 0.25)
    assert 2 * eight.work == sixteen.work  # the pipe is held half as long by eight channels
    with pytest.raises(InputError, match="channels is 4"):
        draw_on_gen6(frame, config=EuConfig(channels=4))


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "enneper.png"
    assert main(["render", "enneper", "--machine", "gen6", "--size", "32x24", "--eus", "3", "-o", str(picture)]) == 0
    assert "pixel equal" in capsys.readouterr().out and picture.stat().st_size > 0


SOURCE = """.data g10 F 1.0, 2.0
    add (8) g20<1>F g10<8,8,1>F 0.5F {align1}
    nop
"""


def test_run_assemble_and_disassemble(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, assembled = tmp_path / "half.g6a", tmp_path / "half.mco"
    source.write_text(SOURCE)
    assert main(["asm", "--machine", "gen6", str(source), "-o", str(assembled)]) == 0
    assert main(["dis", "--machine", "gen6", str(assembled)]) == 0
    assert "add(8) g20<1>F g10<8,8,1>F 0.5F { align1 WE_normal 1Q };\nnop ;" in capsys.readouterr().out
    for program in (source, assembled):
        assert main(["run", "--machine", "gen6", str(program), "-D", "caches=false", "-D", "count=3"]) == 0
        assert "3 threads" in capsys.readouterr().out
    assert main(["isa", "--machine", "gen6", "pln"]) == 0 and "Plane:" in capsys.readouterr().out


def test_a_broken_rule_is_a_warning_and_fails_a_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "wide.g6a"
    source.write_text("mov (4) g20<1>F g10<8,8,1>F\n")
    assert main(["asm", "--machine", "gen6", str(source), "--check"]) == 1
    assert "S1" in capsys.readouterr().err
    source.write_text("mov (4) g20<1>F g10<4,4,1>:X\n")
    assert main(["asm", "--machine", "gen6", str(source)]) == 3
    assert "expected a type" in capsys.readouterr().err
