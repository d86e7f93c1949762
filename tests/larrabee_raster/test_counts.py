"""What the programs took: by hand for one triangle, and what must not change it."""

import numpy as np
import pytest

from larrabee_bridge.pipeline.back_end_programs import Attributes
from larrabee_bridge.pipeline.bins import Bins
from larrabee_bridge.pipeline.rasterizer import ablation, rasterize
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily
from tests.larrabee_raster.scenes import HEIGHT, WIDTH, equilateral, family, triangles_of

ONE = triangles_of(np.array([[[64.0, 0], [68, 0], [64, 4]]]))
"""Lies in one block of 4x4 pixels."""


def test_instructions_of_one_block_by_hand() -> None:
    """Counted in the listing: no branch leaves the way of a small triangle with one block, none is skipped."""
    counted = rasterize(ONE, 128, 64).descent.instructions
    by_hand = {
        VectorFamily.CONVERT: 4,  # the four sides of the box
        # clipped, 4; pixels of the block and its size, 4; the place, 2; products, 6; sums of an edge, two each
        VectorFamily.INTEGER: 4 + 4 + 2 + 6 + 3 * 2,
        VectorFamily.SHIFT: 2,
        VectorFamily.MEMORY: 3,  # what goes from vectors to scalars
        VectorFamily.MASK: 3,
        # loads, 7; the size of the box, 5; row and place, 2; the word, 4; one block right, one down, the end
        VectorFamily.SCALAR: 7 + 5 + 2 + 4 + 2 + 1,
        VectorFamily.BRANCH: 7,
    }
    assert {family: count for family, count in counted.items() if count} == by_hand


def test_a_triangle_off_the_tile_is_left_at_once() -> None:
    bins = Bins(64, 2, 1, np.array([0, 1, 1]), np.array([0]))  # in the first tile, where it is not
    found = rasterize(ONE, 128, 64, bins=bins)
    assert len(found.blocks) == 0
    inside = rasterize(ONE, 128, 64)
    assert 0 < found.descent.carried_out < inside.descent.carried_out


def test_the_vector_share_is_that_of_the_families() -> None:
    found = rasterize(equilateral(40, 60, (WIDTH, HEIGHT)), WIDTH, HEIGHT)
    both = [found.set_up.instructions, found.descent.instructions]
    scalar = sum(each[family] for each in both for family in (VectorFamily.SCALAR, VectorFamily.BRANCH))
    total = sum(sum(each.values()) for each in both)
    assert found.vector_share == (total - scalar) / total
    assert found.set_up.instructions[VectorFamily.FLOAT] == found.descent.instructions[VectorFamily.FLOAT] == 0


@pytest.mark.parametrize("samples", [1, 4])
def test_how_many_threads_run_side_by_side_changes_nothing(samples: int) -> None:
    triangles = equilateral(20, 200, (WIDTH, HEIGHT))
    primset = np.arange(20) // 5
    first, other = (
        rasterize(triangles, WIDTH, HEIGHT, samples=samples, batch=batch, primset=primset) for batch in (4096, 13)
    )
    for name in ("tile", "triangle", "x", "y", "size", "masks"):
        assert np.array_equal(getattr(first.blocks, name), getattr(other.blocks, name))
    assert np.array_equal(first.descent.cycles, other.descent.cycles)
    assert first.descent.instructions == other.descent.instructions
    assert len(first.cores) == 4 and first.cores == other.cores


@pytest.mark.parametrize("warm", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_parts_of_a_draw_change_nothing(warm: bool) -> None:
    """PrimSets are timed a few at a time, or all together where another grouping has them in one."""
    triangles, config = equilateral(300, 60_000, (1000, 600)), CoreConfig(caches=True, warm_caches=warm)
    primset, one = np.arange(300) // 30, np.zeros(300, np.int64)
    parts, whole = (
        rasterize(
            *(triangles, 1000, 600), tile=32, config=config, batch=batch, primset=primset, regrouped=others,
            attributes=Attributes(),
        )
        for batch, others in ((4096, ()), (700, (one,)))
    )  # fmt: skip
    assert parts.pairs > 18_000, "two parts"
    assert len(parts.cores) == 10 and parts.cores == whole.cores
    assert parts.words is not None and whole.words is not None and np.array_equal(parts.words, whole.words)
    assert np.array_equal(parts.planes.cycles, whole.planes.cycles)


def test_cycles_of_a_pair_are_its_own() -> None:
    """A triangle costs the same whatever stands beside it."""
    triangles = equilateral(24, 100, (128, 64))
    every = rasterize(triangles, 128, 64)
    single = rasterize(triangles.part(np.array([7])), 128, 64)
    assert np.array_equal(every.descent.cycles[every.bins.triangles == 7], single.descent.cycles)


def test_without_the_bit_scan_the_descent_takes_longer() -> None:
    triangles = equilateral(10, 2000, (128, 128))
    found = ablation(triangles, 128, 128)
    assert np.array_equal(found.loop.blocks.masks, found.instruction.blocks.masks)
    assert np.array_equal(found.loop.blocks.x, found.instruction.blocks.x)
    assert found.extra > 0
    # what has nothing to scan costs the same
    assert ablation(ONE, 128, 128).extra == 0


def test_one_pair_of_a_primset_has_the_core_for_itself() -> None:
    """Two models of the core, written apart, on the rasterizer's own programs; neither has the usual latency."""
    config = CoreConfig(vector_latency=6, mispredicted_cycles=0)
    for area in (10, 150, 600):
        for samples in (1, 4):
            triangles = equilateral(1, area, (64, 64), seed=area)
            found = rasterize(triangles, 64, 64, samples=samples, config=config, primset=np.zeros(1, np.int64))
            (core,) = found.cores.values()
            assert found.pairs == 1
            assert core.issued + core.paired == found.set_up.carried_out + found.descent.carried_out
            # The second program's first instructions wait for no result of the first one's: a cycle or two of its end.
            assert 0 <= found.set_up.cycles[0] + found.descent.cycles[0] - core.cycles <= 1


def test_four_threads_hide_each_others_waits() -> None:
    triangles = equilateral(200, 60, (128, 128))
    found = rasterize(triangles, 128, 128, primset=np.arange(200) // 100)
    assert sorted(found.cores) == [0, 1]
    alone = int(found.set_up.cycles.sum() + found.descent.cycles.sum())
    assert alone / 4 < sum(core.cycles for core in found.cores.values()) < alone
    assert all(core.issued <= core.cycles and core.paired <= core.issued for core in found.cores.values())
    carried_out = sum(core.issued + core.paired for core in found.cores.values())
    assert carried_out == found.set_up.carried_out + found.descent.carried_out


def test_four_threads_set_up_sixteen_triangles_each() -> None:
    """One thread would take the sum of all set-ups; the 63 triangles outside the screen end with theirs."""
    triangles = triangles_of(np.array([[[1.0, 1], [3, 1], [1, 3]], *[[[71, 1], [73, 1], [71, 3]]] * 63]))
    one, four = (
        rasterize(triangles.part(np.arange(count)), 64, 64, primset=np.zeros(count, int)) for count in (16, 64)
    )
    more = four.cores[0].cycles - one.cores[0].cycles
    assert one.pairs == four.pairs == 1
    assert more < four.set_up.cycles.sum() - one.set_up.cycles.sum()


def test_one_thread_descends_for_its_sixteen_triangles() -> None:
    """One after the other, each in its cycles alone, although three threads have nothing to do."""
    triangles = triangles_of(np.array([[[1.0, 1], [3, 1], [1, 3]]] * 16))
    one, all_of_them = (
        rasterize(triangles.part(np.arange(count)), 64, 64, primset=np.zeros(count, int)) for count in (1, 16)
    )
    assert all_of_them.cores[0].cycles - one.cores[0].cycles == 15 * one.descent.cycles[0]


def test_the_model_of_the_core_counts() -> None:
    triangles = family("integers")
    quick, slow = (
        rasterize(triangles, WIDTH, HEIGHT, config=CoreConfig(vector_latency=latency)).descent for latency in (1, 8)
    )
    assert (quick.cycles < slow.cycles).all()
    assert quick.instructions == slow.instructions
