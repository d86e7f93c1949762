"""Do both machines draw the same picture of the same scene, and do their accounts add up?"""

from functools import cache

import numpy as np
import pytest

from larrabee_bridge.compare import tessellate_on_both
from larrabee_bridge.pipeline.frame import FrameSetting, LarrabeeRun, render_on_larrabee
from larrabee_bridge.pipeline.picture import draw_on_larrabee, side_of, work_of
from pixelflow.simd.drawing import Blend, Draw, Frame, State, draw_frame, snap
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import AUTO, choose
from tessellation import load
from tessellation.plan.schedule import Stage
from tessellation.rendering.machine import draw_on_pixelflow
from tessellation.scenes import layers, sized

ENGINE = choose(AUTO).engine
SIZE = (150, 100)
"""Two columns and two rows of PixelFlow's regions, neither of them whole; likewise of Larrabee's tiles."""


@cache
def frame(name: str) -> Frame:
    match name:
        case "small":
            draws = (sized(*SIZE, count=90, pixels=6, seed=2),)
        case "large":
            draws = (sized(*SIZE, count=12, pixels=2500, seed=3),)
        case "deep":
            draws = (layers(*SIZE, depth=4, columns=3, rows=2, seed=4),)
        case "two draws":
            draws = (sized(*SIZE, count=20, pixels=300, seed=5), sized(*SIZE, count=20, pixels=300, seed=6))
        case "beyond":  # corners outside the screen on all sides
            points = np.random.default_rng(7).uniform(-120, 260, (15, 3, 2))
            colours = np.random.default_rng(8).integers(0, 256, (15, 3, 3))
            draws = (Draw("beyond", snap(points, np.random.default_rng(9).random((15, 3)), colours)),)
        case "nothing":
            draws = ()
    return Frame(*SIZE, (10, 20, 30), draws)


@cache
def larrabee(name: str) -> LarrabeeRun:
    return render_on_larrabee(frame(name))


@pytest.mark.parametrize("name", ["small", "large", "deep", "two draws", "beyond", "nothing"])
def test_both_draw_every_pixel_as_64_bit_integers_do(name: str) -> None:
    expected = draw_frame(frame(name))
    first, second = draw_on_pixelflow(frame(name), engine=ENGINE), side_of(larrabee(name), 1, 1000.0)
    assert first.picture.equals(expected) and second.picture.equals(expected)


@pytest.mark.parametrize("nodes", [2, 5])
def test_nodes_that_share_a_scene_draw_the_same_picture(nodes: int) -> None:
    one, several = (draw_on_pixelflow(frame("deep"), parts=each, engine=ENGINE) for each in (1, nodes))
    assert several.picture.equals(one.picture)
    assert several.lanes == nodes * one.lanes and several.work > one.work
    assert several.traffic["image composition network"] == nodes * 4 * 128 * 64 * 6  # 3 bytes each of depth and colour
    assert several.covered_lanes == one.covered_lanes


def test_the_stages_of_pixelflow_are_all_of_its_cycles() -> None:
    side = draw_on_pixelflow(frame("large"), engine=ENGINE)
    assert side.work == sum(side.stages.values()) == side.cycles
    assert 0 < side.covered_lanes < side.enabled_lanes < 1


def test_enabled_pes_by_hand() -> None:
    """One triangle over half of one region: PEs are enabled by three edges, then those inside draw."""
    points = np.array([[[0, 0], [128, 0], [0, 64]]], float)
    one = Frame(128, 64, (0, 0, 0), (Draw("half", snap(points, [[0.5] * 3], [[[9, 9, 9]] * 3])),))
    side = draw_on_pixelflow(one, engine=ENGINE)
    # In 15.8 edges reach +-2 million: 3 bytes, 4 cycles each. The first and the third lie along the region's borders
    # and disable nobody. So all PEs are enabled while the region is cleared (9 cycles), for the instruction that
    # enables all and for the first two edges; then those with i + 2 j < 126.5, 127 + 125 + ... + 1 = 4096 of them.
    assert (side.stages["clear"], side.stages["edges"]) == (9, 1 + 3 * 4)
    whole = 9 + 1 + 4 + 4
    assert side.enabled_lanes * side.work * 8192 == pytest.approx(whole * 8192 + (side.work - whole) * 4096, abs=0.5)
    assert side.covered_lanes == 4096 / 8192


@pytest.mark.parametrize("name", ["small", "deep"])
def test_one_core_does_all_the_work_one_after_the_other(name: str) -> None:
    work, side = work_of(larrabee(name)), side_of(larrabee(name), 1, 1000.0)
    assert side.cycles == side.work == work.cycles + 100 * work.locks
    cores = [core for raster in larrabee(name).rasters for core in raster.cores.values()]
    assert work.front.tolist() == [core.cycles for core in cores]


def test_more_cores_draw_the_same_in_less_time_with_the_same_work() -> None:
    sides = [side_of(larrabee("deep"), cores, 1000.0) for cores in (1, 2, 6)]
    assert sides[0].cycles > sides[1].cycles > sides[2].cycles
    assert {side.work for side in sides} == {sides[0].work}
    assert all(side.cycles >= side.work / side.parts for side in sides)


def test_primsets_carry_out_all_set_ups_and_descents() -> None:
    for size in (7, 16, 50, 1000):
        run = render_on_larrabee(frame("small"), FrameSetting(primset=size))
        assert len(work_of(run).front) == -(-90 // size)
        (raster,) = run.rasters
        carried_out = sum(core.issued + core.paired for core in raster.cores.values())
        assert carried_out == sum(part.carried_out for part in (raster.set_up, raster.planes, raster.descent))


def test_a_tile_takes_at_least_its_longest_thread() -> None:
    run = larrabee("deep")
    back = work_of(run).back
    # Of two stretches that follow each other a cycle may be one.
    assert (back >= 0.95 * run.back_end.threads.max(axis=1)).all()
    assert (back <= 1.05 * run.back_end.threads.sum(axis=1)).all()


def test_bytes_of_three_draws_by_hand() -> None:
    """Three squares of 64x64 over each other in one tile, two triangles each with two of four vertices in common.

    A bin entry takes 16 bytes. Each triangle has six whole blocks of 16x16 and 24 of 4x4, two bytes for the place of
    each, and 16 of 4x4 with a mask as well; a vertex takes 32.
    """
    points = np.array([[(0, 0), (64, 0), (0, 64)], [(64, 0), (64, 64), (0, 64)]], float)
    squares = [Draw(str(n), snap(points, np.full((2, 3), n / 4), np.full((2, 3, 3), 60 * n))) for n in (3, 2, 1)]
    scene = Frame(64, 64, (0, 0, 0), tuple(squares))
    bins, vertices = 6 * (16 + 2 * (6 + 24) + (2 + 2) * 16), 12 * 32
    both = {"bins, read": bins, "vertices, read": vertices, "bins, written": bins, "vertices, written": vertices}
    pixels = 4 * 64 * 64
    run = render_on_larrabee(scene)
    assert side_of(run, 1, 1000.0).traffic == both | {"colour, written": pixels}


def test_tiles_without_entries_are_no_bins() -> None:
    """Two locks for the list of bins, one for the PrimSet, one for the only tile of 80 in which there is anything."""
    points = np.array([[(0, 0), (64, 0), (0, 64)]], float)
    scene = Frame(640, 480, (0, 0, 0), (Draw("one", snap(points, np.zeros((1, 3)), np.zeros((1, 3, 3)))),))
    run = render_on_larrabee(scene)
    assert work_of(run).locks == 4
    side = side_of(run, 1, 1000.0)
    assert side.work == work_of(run).cycles + 4 * 100


def test_whether_a_tile_stays_in_the_cache_is_said() -> None:
    one = Frame(8, 8, (0, 0, 0), (), 4)
    facts = [
        dict(side_of(render_on_larrabee(one, FrameSetting(tile=tile)), 1, 1000.0).facts)["L2 cache"]
        for tile in (64, 128)
    ]
    assert facts[0].startswith("131,072 bytes") and "within" in facts[0]
    assert facts[1].startswith("524,288 bytes") and "MORE" in facts[1]


def test_any_number_of_layers_is_kept() -> None:
    glass = State(blend=Blend.SORTED, alpha=90, depth_write=False)
    points = np.tile(np.array([[(0, 0), (32, 0), (0, 32)]], float), (18, 1, 1))
    draw = Draw("panes", snap(points, np.full((18, 3), 0.5), np.full((18, 3, 3), 50)), glass)
    deep = Frame(32, 32, (0, 0, 0), (draw,))
    drawn = draw_on_larrabee(deep, tile=32)
    assert drawn.picture.equals(draw_frame(deep))
    assert "lists, within" in dict(drawn.facts)["L2 cache"]


def test_states_that_the_pes_do_not_draw_are_refused_by_name() -> None:
    glass = State(blend=Blend.OVER, alpha=90, depth_write=False)
    draws = (sized(64, 48, count=5, pixels=200), sized(64, 48, count=5, pixels=200, seed=2, state=glass))
    four = Frame(64, 48, (1, 2, 3), draws, samples=4)
    with pytest.raises(InputError, match="here: 5 triangles of 200 pixels: blending in the order of drawing"):
        draw_on_pixelflow(four, engine=ENGINE)
    assert draw_on_larrabee(four).picture.equals(draw_frame(four))


def test_both_tessellate_to_within_binary32() -> None:
    patches = load("enneper").patches
    found = tessellate_on_both(patches, 4, engine=ENGINE)
    assert found.patches == 4 and found.samples == 4
    # A point is the sum of 16 weighted control points: some 20 roundings of 2^-24 of the control net's extent.
    assert found.pixelflow_error < 20 * 2**-24 and found.larrabee_error < 20 * 2**-24
    twice = tessellate_on_both([*patches, *patches], 4, engine=ENGINE)
    stages = [each.pixelflow.cycles_by_stage for each in (found, twice)]
    assert stages[0].keys() == stages[1].keys()
    # They fit into one pass as well: only the base addresses take longer.
    assert {name for name in stages[0] if stages[0][name] != stages[1][name]} == {Stage.ADDRESSES.value}
    assert twice.larrabee_cycles > 1.9 * found.larrabee_cycles
