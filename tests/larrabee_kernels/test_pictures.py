"""Kernels that draw against integers, float64 and rows by hand: layers, fog, shadows, tones."""

from dataclasses import replace

import numpy as np
import pytest

from larrabee_bridge.kernels.fog import crossing_panes, exact_fog
from larrabee_bridge.kernels.parallel_views import ShadowViews, hidden_exactly, within_rounding
from larrabee_bridge.kernels.shadow_maps import IRREGULAR, ORDINARY, irregular_shadows, ordinary_shadows
from larrabee_bridge.kernels.tones import toned
from larrabee_bridge.kernels.tracing import knot_on_floor
from larrabee_bridge.kernels.transparency import back_end_run, layered
from larrabee_bridge.pipeline.back_end import LayerFog, ToneCurve, render_back_end
from larrabee_bridge.pipeline.frame import render_on_larrabee
from pixelflow.simd.drawing import Blend, Draw, Frame, State, Stencil, StencilStep, draw_frame, snap
from pixelflow.simd.errors import InputError

MESH = knot_on_floor(40, 8)
SIZE = 64


def test_layers_are_those_of_integers() -> None:
    frame = layered(19, 64, 32)
    run = render_on_larrabee(frame, tile=32)
    assert run.picture.equals(draw_frame(frame))
    # Two tiles, each of 19 layers of 1,024 pixels in 12 bytes, and what is left of pages.
    assert all(19 * 1024 * 12 <= each <= 19 * 1024 * 12 * 1.02 for each in run.back_end.list_bytes)
    taken = back_end_run(run.back_end)
    assert taken.pieces.tolist() == run.back_end.cycles.tolist() and taken.alone == run.back_end.threads.sum()


def test_what_is_hidden_by_hand() -> None:
    """A triangle that slopes from z = 1 to 3: before it, past it by less than the bias, past it, and beside it."""
    triangle = np.array([[(0, 0, 1), (4, 0, 1), (0, 4, 3)]], float)
    points = np.array([(1, 1, 0.9), (1, 1, 1.5 + 0.05), (1, 1, 1.7), (3, 3, 9), (1, 0, 1.2), (4.1, 0, 5)])
    expected = [False, False, True, False, True, False]
    assert hidden_exactly(points, triangle, 0.1).tolist() == expected
    assert hidden_exactly(points, triangle[:, ::-1], 0.1).tolist() == expected
    near = np.array([(1, 1, 1.5 + 0.004 + 0.01), (0.005, 1, 9), (1, 1, 9)])
    assert within_rounding(near, triangle, np.full(3, 0.02)).tolist() == [True, True, False]


def test_a_pixel_and_its_depth_are_the_point_that_the_eye_saw() -> None:
    """A corner's place and depth, snapped to steps, come back within half of a step of each."""
    views = ShadowViews.of(MESH, SIZE)
    world = np.array([0.3, -0.2, 0.9, 1])
    x, y, depth = views.eye @ world
    steps = 128 + depth * ((1 << 24) - 1 - 256)
    again = views.from_pixels(np.eye(4)[:3]) @ np.array([x - 0.5, y - 0.5, steps, 1])
    np.testing.assert_allclose(again, world[:3], atol=1e-9)


def test_shadows_are_exact_at_samples_and_a_map_is_not() -> None:
    views = ShadowViews.of(MESH, SIZE)
    which, points = views.samples(draw_frame(views.eye_frame()).depths)
    wanted = hidden_exactly(points, views.points(views.light))
    exact, plain = irregular_shadows(MESH, SIZE), ordinary_shadows(MESH, SIZE)
    assert 0.1 < wanted.mean() < 0.5
    assert (exact.hidden.reshape(-1)[which] == wanted).all()
    assert 0 < (plain.hidden.reshape(-1)[which] != wanted).mean() < 0.1
    assert exact.makespan(48, IRREGULAR) < exact.makespan(1, IRREGULAR) and list(plain.steps) == list(ORDINARY)
    # Nothing is sooner than what waits for what: casters are set up beside samples, which wait for the eye's depths.
    chain = [run for name in exact.steps if name != "casters" for run in exact.steps[name] if run is not None]
    assert exact.makespan(48, IRREGULAR) >= sum(int(run.pieces.max()) for run in chain)


@pytest.mark.parametrize("size", [32, 100])
def test_pictures_that_do_not_go_by_sixteen_are_refused(size: int) -> None:
    with pytest.raises(InputError, match="a multiple of 16"):
        irregular_shadows(MESH, size)


def test_tones_are_the_curves_and_cost_no_lines_in_tiles() -> None:
    """16,384 pixels are 1,024 lines for a pass of its own, and two of constants for each of its cores.

    In tiles hardly one in fifty is not there any more.
    """
    frame = ShadowViews.of(MESH, 128).eye_frame()
    found = toned(frame)
    wanted = ToneCurve().of(found.plain)
    assert (found.resident == wanted).all() and (found.again == wanted).all()
    assert found.plain.tolist() == draw_frame(frame).colours.tolist() != wanted.tolist()
    assert found.after.from_memory == 1024 + 2 * len(found.after.pieces) == 1032
    assert 0 <= found.within.from_memory - found.drawn.from_memory < 1024 / 50
    assert 0 < found.within.cycles - found.drawn.cycles < found.after.cycles


def test_tones_by_hand() -> None:
    """Exposure 2, white 2: x = 1 gives 5/8, x = 2 gives 1, 0 stays."""
    curve = ToneCurve(2, 2)
    assert curve.of(np.array([0, 255], np.uint8)).tolist() == [0, 255]
    assert abs(int(curve.of(np.array([128], np.uint8))[0]) - 255 * 5 / 8) < 1
    with pytest.raises(InputError, match="white 0"):
        ToneCurve(white=0)


def test_fog_between_layers_is_that_of_float64_within_what_rounding_allows() -> None:
    frame, fog = crossing_panes(9, 64, 32), LayerFog(3.0)
    found = render_back_end(frame, tile=32, fog=fog)
    exact, bound = exact_fog(frame, fog)
    off = np.abs(found.picture.colours - exact).max(axis=-1)
    assert (off <= bound).all() and bound.min() > 0.6 and bound.max() < 4
    # Without fog, or with fog that the eye looks through at once, something else comes out.
    plain = render_back_end(frame, tile=32)
    assert np.abs(plain.picture.colours - exact).max() > 30 and plain.cycles.sum() < found.cycles.sum()
    late = np.array(fog.colour) + np.exp(-3.0 / 2) * (plain.picture.colours - np.array(fog.colour))
    assert (np.abs(late - exact).max(axis=-1) > bound).mean() > 0.5


def test_fog_by_hand() -> None:
    """One pane at a quarter of the depth before white, fog of black that leaves 1/2 of each quarter.

    White comes through three quarters as 255/8, 32; glass of 90/255 makes 100 and 32 to 56; a half of that comes to the
    eye. Beside the pane there is what four quarters leave, 16.
    """
    square = np.array([(0, 0), (16, 0), (16, 16), (0, 16)], float)[[[0, 1, 2], [0, 2, 3]]]
    quarter = snap(square, np.full((2, 3), 0.25), np.full((2, 3, 3), 100, np.uint8))
    glass = Draw("glass", quarter, State(blend=Blend.SORTED, alpha=90, depth_write=False))
    fog = LayerFog(4 * np.log(2), (0, 0, 0))
    found = render_back_end(Frame(32, 16, (255, 255, 255), (glass,)), tile=32, fog=fog).picture.colours
    assert np.unique(found[:, :16]).tolist() == [28] and np.unique(found[:, 16:]).tolist() == [16]


@pytest.mark.parametrize("thickness", [0.1, 3.0, 20.0])
def test_what_fog_leaves_of_white_is_the_nearest_byte(thickness: float) -> None:
    """A white wall from the nearest depth to the farthest, which also writes the stencil that lies beside depths."""
    corners = np.array([(0, 0), (64, 0), (64, 32), (0, 32)], float)[[[0, 1, 2], [0, 2, 3]]]
    depths, white = np.array([0, 0.9, 1, 0.1])[[[0, 1, 2], [0, 2, 3]]], np.full((2, 3, 3), 255, np.uint8)
    marks = Stencil(reference=0xA5, passed=StencilStep.REPLACE)
    wall = Draw("wall", snap(corners, depths, white), State(stencil=marks))
    pane = Draw("pane", snap(corners / 16, depths, white), State(blend=Blend.SORTED, alpha=90, depth_write=False))
    frame, fog = Frame(64, 32, (255, 255, 255), (wall, pane)), LayerFog(thickness, (0, 0, 0))
    found = render_back_end(frame, tile=32, fog=fog).picture.colours[4:]
    left = 255 * fog.left(draw_frame(frame).depths[4:, :, None])
    assert np.abs(found - left).max() <= 0.5 + 255 * fog.error
    assert len(np.unique(found)) > 20


def test_where_fog_has_no_meaning() -> None:
    frame = crossing_panes(2, 32, 32)
    with pytest.raises(InputError, match="no draw is sorted"):
        render_back_end(replace(frame, draws=frame.draws[:1]), tile=32, fog=LayerFog())
    with pytest.raises(InputError, match="thickness 0"):
        LayerFog(0)
    with pytest.raises(InputError, match="fog of colour"):
        LayerFog(1, (1, 2, 300))
