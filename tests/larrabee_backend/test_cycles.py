"""Cycles and instructions: by hand where a program is short, and by what must hold between them."""

from collections import Counter

import numpy as np
import pytest

from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.back_end_programs import Attributes, TileStage, program_of, stages_of, work_parameters
from larrabee_bridge.pipeline.bins import quads_of
from larrabee_bridge.pipeline.tile_memory import Accounts, TileMemory, TilePlaces, draw_bytes, list_room
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.native import native_runs
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.drawing import Blend, Draw, Frame, State, snap
from pixelflow.simd.lanes import choose
from tests.larrabee_backend.soups import HEIGHT, WIDTH, soup, square, texture

IDEAL = CoreConfig(mispredicted_cycles=0)
ONE = snap(np.array([[(0, 0), (8, 0), (0, 8)]], float), np.zeros((1, 3)), np.array([[(0, 0, 0), (8, 8, 8), (9, 9, 9)]]))


def one_quad(**state):
    return render_back_end(Frame(4, 4, (1, 2, 3), (Draw("one", ONE, State(**state)),)), tile=32)


def test_clearing_a_block_takes_three_cycles() -> None:
    """In pairs: a store and a count, another count and store; the branch by itself, for it needs the last count."""
    found = one_quad()
    # 64 blocks in three shares; the first store waits four cycles for its word; halt comes after a branch, alone.
    assert int(found.stages[TileStage.CLEAR].sum()) == sum(4 + 3 * blocks + 1 for blocks in (21, 21, 22))


def test_the_instructions_of_one_quad() -> None:
    """A plain triangle over one quad, counted in the programs' text by hand."""
    found = one_quad().instructions
    clear = {
        VectorFamily.CONVERT: 3 * 2,
        VectorFamily.MEMORY: 64 * 2,
        VectorFamily.SCALAR: 64 * 2,
        VectorFamily.BRANCH: 64 + 3,
    }
    setup = {
        VectorFamily.CONVERT: 2,
        VectorFamily.INTEGER: 8,
        VectorFamily.MEMORY: 1 + 1,  # a store, and a line of the list that is asked for
        VectorFamily.SCALAR: 23 + 3,  # and a look at the next triangle, which is none
        VectorFamily.BRANCH: 3 + 1,
    }
    ahead = {
        VectorFamily.MEMORY: 1 + 3,  # planes are asked for, too
        VectorFamily.SCALAR: 3 + 3 + 1,
        VectorFamily.BRANCH: 1 + 2,
    }
    work = {
        VectorFamily.CONVERT: 2,  # columns and rows
        VectorFamily.INTEGER: 8 + 4 + 4,  # slopes of four planes, then the planes at the quad
        VectorFamily.SHIFT: 2 + 2,  # depth and red; green and blue put beside it
        VectorFamily.COMPARE: 1,
        VectorFamily.MEMORY: 2,  # depth and colour
        VectorFamily.MASK: 2,
        VectorFamily.SCALAR: 8,
        VectorFamily.BRANCH: 4,
    }
    parts = (clear, ahead, setup, work)
    assert found == {family: sum(part.get(family, 0) for part in parts) for family in VectorFamily}


def test_a_quad_that_is_hidden_is_not_shaded() -> None:
    twice = Draw("twice", soup(4), State())
    frames = [Frame(WIDTH, HEIGHT, (0, 0, 0), (twice,) * n) for n in (1, 2)]
    once, hidden = (render_back_end(frame, tile=32) for frame in frames)
    for stage in (TileStage.SHADE, TileStage.BLEND):
        assert hidden.stages[stage].sum() == once.stages[stage].sum() > 0
    assert hidden.stages[TileStage.SETUP].sum() == 2 * once.stages[TileStage.SETUP].sum()
    assert hidden.stages[TileStage.DEPTH].sum() > once.stages[TileStage.DEPTH].sum()


@pytest.mark.parametrize("samples", [1, 4])
def test_stages_and_threads_are_the_same_cycles(samples: int) -> None:
    draws = (
        Draw("a", soup(1, 3)),
        Draw("b", soup(2, 2), State(texture=texture(1), cutout=9, blend=Blend.OVER)),
        Draw("c", soup(3, 2), State(blend=Blend.SORTED, alpha=9, depth_write=False)),
    )
    found = render_back_end(Frame(WIDTH, HEIGHT, (0, 0, 0), draws, samples), tile=32)
    assert np.array_equal(sum(found.stages.values()), found.threads.sum(axis=1))
    spent = {stage for stage, cycles in found.stages.items() if cycles.sum()}
    assert spent == set(TileStage) - ({TileStage.RESOLVE} if samples == 1 else set())
    assert (found.cycles <= found.threads.sum(axis=1) + 4 * 200 * found.texture.requests.sum(axis=1)).all()
    carried_out = sum(core.issued + core.paired for core in found.accounts.shared.values())
    assert carried_out == sum(found.instructions.values())


def test_a_longer_shader_costs_a_cycle_an_operation_and_changes_no_pixel() -> None:
    """Four chains side by side, so that no operation waits: one cycle each in every quad that is shaded."""
    frame = Frame(4, 4, (1, 2, 3), (Draw("one", ONE),))
    short, long = (render_back_end(frame, tile=32, length=length) for length in (20, 60))
    assert long.stages[TileStage.SHADE].sum() - short.stages[TileStage.SHADE].sum() == 40
    assert long.picture.equals(short.picture)


def one_tile() -> TilePlaces:
    return TilePlaces(np.array([0]), 32, 1, False, list_room([], [], 32, 1, 1))


def test_the_set_up_thread_is_the_same_whether_its_triangles_run_side_by_side_or_not() -> None:
    """The same queues, and a cycle at most for each place where the run is cut."""
    triangles = soup(6, 9)
    quads = quads_of(triangles, 32, 21, 32)
    found = []
    for whole in (False, True):
        memory = TileMemory(one_tile(), 1, draw_bytes(quads, 1, Attributes()))
        dealt = memory.put(triangles, quads, Attributes())
        accounts = Accounts(1, CoreConfig())
        pairs = np.arange(1 if whole else len(dealt.pairs))
        scalars = {
            0: dealt.lists[pairs],
            1: np.full(len(pairs), len(dealt.pairs) if whole else 1),
            2: memory.places.pixels_of(dealt.pairs[pairs]),
            3: dealt.headers[pairs],
        }
        parameters = {"SAMPLES": 1, "SORTS": 0, "TEXTURED": 0, "TILE": 32}
        zeros = np.zeros_like(pairs)
        accounts.run("setup", parameters, memory.memory, zeros, zeros, scalars, dealt.sizes[pairs], {1: 0xFF})
        found.append((int(accounts.cycles[0, 0]), memory.records(dealt, Attributes()).copy()))
    (cut, records), (straight, same) = found
    assert np.array_equal(records, same)
    assert len(dealt.pairs) > 4
    assert abs(cut - straight) <= len(dealt.pairs)


@pytest.mark.skipif(choose("compiled").note is not None, reason="needs native code")
@pytest.mark.parametrize("seed", [3, 30, 55])
def test_the_set_up_thread_reads_nothing_past_its_list(seed: int) -> None:
    """Lists that but for their last word fill whole lines: the next word is the first that a set-up thread writes."""
    triangles = soup(seed, 9)
    quads = quads_of(triangles, 32, 21, 32)
    memory = TileMemory(one_tile(), 1, draw_bytes(quads, 1, Attributes()))
    dealt = memory.put(triangles, quads, Attributes())
    assert (2 * len(dealt.pairs) + len(quads)) % 16 == 0
    unit = VectorUnit(program_of("setup", SAMPLES=1, SORTS=0, TEXTURED=0, TILE=32), len(dealt.pairs), memory.memory)
    for register, values in ((0, dealt.lists), (1, 1), (2, memory.places.pixels_of(dealt.pairs)), (3, dealt.headers)):
        unit.set_scalar(register, values)
    unit.set_mask(1, 0xFF)
    # Native code gives up where a thread reads what another one writes.
    assert native_runs(unit.program, unit.lanes.shape).run(unit.lanes, 10_000).is_done


def test_the_stages_of_a_cutout_by_hand() -> None:
    """Its depth is tested after the texel has come: plane, mask (2), cutout, shift, compare, store, is any seen (2)."""
    draw = Draw("cutout", square(0.5, (1, 2, 3)), State(texture=texture(1), cutout=9))
    parameters = work_parameters(Frame(4, 4, (0, 0, 0), (draw,)), draw, Attributes.of(draw, CoreConfig()), 2, False, 0)
    found = Counter(stages_of("work", **parameters))
    # Opacity of the texels, and its comparison; one store of a colour.
    assert (found[TileStage.DEPTH], found[TileStage.TEXTURE], found[TileStage.BLEND]) == (9, 2, 1)


def test_the_share_of_vector_instructions_by_hand() -> None:
    """Of those of one quad, above: scalar ones and branches are not the vector unit's."""
    scalar, branches = 64 * 2 + 26 + 7 + 8, 64 + 3 + 4 + 3 + 4
    vector = 3 * 2 + 64 * 2 + 2 + 8 + 2 + 4 + 2 + 16 + 4 + 1 + 2 + 2
    assert one_quad().vector_share == vector / (vector + scalar + branches)


def test_lanes_of_quads() -> None:
    """A square of 6x6 pixels covers 36 lanes of its four quads; two triangles share the quads on the diagonal."""
    corners = np.array([[(0, 0), (6, 0), (0, 6)], [(6, 0), (6, 6), (0, 6)]], float)
    draw = Draw("square", snap(corners, np.zeros((2, 3)), np.zeros((2, 3, 3))))
    found = render_back_end(Frame(8, 8, (0, 0, 0), (draw,)), tile=32)
    assert found.covered == 36
    assert found.utilisation == 36 / (16 * int(found.quads.sum()))


def test_a_lane_is_covered_by_any_sample() -> None:
    """A triangle around the last sample of the pixel at (1, 1), (416, 480) in 1/256 pixel, and around no other."""
    draw = Draw(
        "one", snap(np.array([[(400, 470), (435, 470), (416, 500)]]) / 256, np.zeros((1, 3)), np.zeros((1, 3, 3)))
    )
    found = render_back_end(Frame(4, 4, (0, 0, 0), (draw,), 4), tile=32)
    assert (found.covered, found.utilisation) == (1, 1 / 16)


@pytest.mark.parametrize("latency", [1, 8])
def test_the_core_is_the_configured_one(latency: int) -> None:
    frame = Frame(WIDTH, HEIGHT, (0, 0, 0), (Draw("a", soup(1)),))
    found, usual = (render_back_end(frame, tile=32, config=config) for config in (CoreConfig(latency), None))
    assert (found.threads.sum() > usual.threads.sum()) == (latency > 4)
    assert found.instructions == usual.instructions
