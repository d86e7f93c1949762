"""From bins to the work of cores: sums by hand, and scaling and balance on generated triangles."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from larrabee_bridge.pipeline.bins import Bins, Quads, bin_triangles, quads_of
from larrabee_bridge.pipeline.frame import LarrabeeRun, render_on_larrabee
from larrabee_bridge.pipeline.rasterizer import rasterize
from larrabee_bridge.pipeline.schedule import FrameWork, ScheduleConfig, violations
from larrabee_bridge.pipeline.work import (
    FormulaCosts,
    PairCosts,
    balance_of,
    bins_of,
    entry_quads,
    formula_costs,
    frame_work,
    measured_work,
    primset_numbers,
    scaling_of,
)
from pixelflow.simd.drawing import Frame, snap
from pixelflow.simd.errors import InputError
from tessellation.scenes import layers, sized


def cycles(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_primsets_end_with_their_draw() -> None:
    assert primset_numbers(7, 3).tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert primset_numbers(7, 3, [0, 4]).tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert primset_numbers(7, 100, [0, 4, 4]).tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_work_by_hand() -> None:
    """Tiles 0 and 2 of three: triangles 0 and 1 in the first, 0 and 2 in the last; PrimSets of two."""
    bins = Bins(64, 3, 1, np.array([0, 2, 2, 4]), np.array([0, 1, 0, 2]))
    costs = PairCosts(cycles(1, 2, 4), cycles(10, 20, 40, 80), cycles(100, 200, 400, 800), cycles(5, 6, 7))
    work = frame_work("x", bins, costs, primset=2)
    assert work.front.tolist() == [1 + 2 + 10 + 20 + 40, 4 + 80]
    assert work.back.tolist() == [5 + 300, 7 + 1200]
    with pytest.raises(InputError, match="3, 4 and 3 costs for 4 entries"):
        frame_work("x", bins, replace(costs, front=costs.triangle))


@pytest.mark.parametrize("tile", [32, 64])
def test_bins_from_quads_are_those_of_covered_pixels(tile: int) -> None:
    rng = np.random.default_rng(2)
    points = rng.uniform(-20, 220, (60, 1, 2)) + rng.uniform(-40, 40, (60, 3, 2))
    triangles = snap(points, np.full((60, 3), 0.5), np.zeros((60, 3, 3), np.uint8))
    quads = quads_of(triangles, 200, 150, tile)
    bins, whole = bins_of([quads], 200, 150, tile)
    wanted = bin_triangles(triangles, 200, 150, tile)
    assert np.array_equal(bins.starts, wanted.starts)
    assert np.array_equal(bins.triangles, wanted.triangles)
    counts = entry_quads(wanted, whole, len(triangles))
    for place in range(bins.columns * bins.rows):
        for at in range(bins.starts[place], bins.starts[place + 1]):
            assert counts[at] == ((quads.tile == place) & (quads.triangle == bins.triangles[at])).sum()
    with pytest.raises(InputError, match="not in their tile's bin"):
        entry_quads(bin_triangles(triangles, 200, 150, 128), whole, len(triangles))


def test_a_formula_is_linear() -> None:
    quads = Quads(cycles(0, 0, 1), cycles(0, 0, 1), cycles(0, 4, 64), cycles(0, 0, 0), np.ones((3, 1), np.uint16))
    bins, whole = bins_of([quads], 128, 64)
    costs = formula_costs(bins, whole, 3, FormulaCosts(1, 10, 100, 1000, 10000, 7))
    assert costs.triangle.tolist() == [1, 1, 1]
    assert costs.front.tolist() == [10 + 200, 10 + 100]
    assert costs.back.tolist() == [1000 + 20000, 1000 + 10000]
    assert costs.tile.tolist() == [7, 7]


def test_balance_by_hand() -> None:
    """Means of 4 and 10: ratios 1/4, 1/2, 2, 5/4 and 0, 4/10, 36/10, 0."""
    found = balance_of([cycles(1, 2, 8, 5), cycles(0, 4, 36, 0)])
    assert found.ratios.tolist() == [0, 0, 0.25, 0.4, 0.5, 1.25, 2, 3.6]
    assert (found.within, found.above, found.greatest) == (3 / 8, 1 / 8, 3.6)
    ends, counts = found.histogram(1.0)
    assert ends.tolist() == [0, 1, 2, 3]
    assert counts.tolist() == [5, 1, 1, 1]
    # On a screen of eight tiles the means are 2 and 5.
    every = balance_of([cycles(1, 2, 8, 5), cycles(0, 4, 36, 0)], tiles=8)
    assert every.ratios.tolist() == [0] * 10 + [0.5, 0.8, 1, 2.5, 4, 7.2]


def test_what_has_no_balance() -> None:
    with pytest.raises(InputError, match="without any cycles"):
        balance_of([cycles(0, 0)])
    with pytest.raises(InputError, match="4 bins on 3 tiles"):
        balance_of([cycles(1), cycles(1, 2, 8, 5)], tiles=3)


def test_primsets_have_triangles() -> None:
    with pytest.raises(InputError, match="PrimSets of 0 triangles"):
        primset_numbers(5, 0)
    with pytest.raises(InputError, match="quad_cycles: -1 is out of range"):
        FormulaCosts(quad_cycles=-1)


def test_equal_bins_scale_as_they_divide() -> None:
    """48 bins of 1000 and no front end: 6 rounds on 8 cores, 2 on 24, 1 on 48; 40 need 2."""
    work = FrameWork("even", cycles(0), np.full(48, 1000, np.int64))
    found = scaling_of([work], ScheduleConfig(lock_cycles=0), (8, 24, 40, 48))
    assert found.speedups == (1, 3, 3, 6)
    assert found.below_linear == (0, 0, pytest.approx(0.4), 0)


SCREEN = (800, 600)


@cache
def soup(tile: int, seed: int) -> tuple[Bins, Quads]:
    """A ground of 96 triangles, and 1,604 of 200 pixels all over the screen."""
    draws = [layers(*SCREEN, depth=1, seed=seed), sized(*SCREEN, count=1604, pixels=200, seed=seed)]
    parts = [quads_of(draw.triangles, *SCREEN, tile) for draw in draws]
    parts[1] = replace(parts[1], triangle=parts[1].triangle + 96)
    return bins_of(parts, *SCREEN, tile)


def frames(tile: int, primset: int, distinct: int) -> list[FrameWork]:
    works = []
    for frame in range(4):
        bins, quads = soup(tile, frame % distinct)
        costs = formula_costs(bins, quads, 1700)
        works.append(frame_work("soup", bins, costs, primset=primset, draws=[0, 96], frame=frame))
    return works


SIZE = (150, 100)
"""Three columns and two rows of tiles."""


@cache
def run_of(seed: int = 0) -> LarrabeeRun:
    """Two draws, of 40 and 21 triangles; the lower right tile is empty."""
    draws = tuple(sized(120, 60, count=count, pixels=60, seed=seed + count) for count in (40, 21))
    return render_on_larrabee(Frame(*SIZE, (0, 0, 0), draws), tile=64, primset=16)


def test_measured_cycles_are_all_there() -> None:
    """A PrimSet has the cycles of its core for set-up, planes and descents, a bin those of its tile."""
    run, tiles = run_of(), 1000 * (1 + np.arange(6))
    work = measured_work("x", run.rasters, tiles)
    for each, primsets in zip(run.rasters, ([0, 1, 2], [3, 4]), strict=True):
        assert sorted(each.cores) == list(range(len(primsets)))
        assert work.front[primsets].tolist() == [each.cores[number].cycles for number in range(len(primsets))]
        # All that was carried out was carried out on one of these cores.
        carried_out = sum(core.issued + core.paired for core in each.cores.values())
        assert carried_out == sum(part.carried_out for part in (each.set_up, each.planes, each.descent))
    filled = [tile for tile in range(6) if any(len(each.bins.of(tile)) for each in run.rasters)]
    assert work.back.tolist() == tiles[filled].tolist()
    assert 5 not in filled
    whole = measured_work("x", run.rasters, run.back_end)
    assert whole.back.tolist() == run.back_end.cycles[filled].tolist()


def test_a_front_end_brings_its_primsets_and_their_cycles() -> None:
    run = run_of()
    first, second = run.rasters

    class Made:
        """A front end that also had a PrimSet of which nothing reached the rasterizer."""

        cycles = np.array([1000, 2000, 3000, 4000])

    work = measured_work("x", run.rasters, run.back_end.cycles, fronts=(Made, None))
    taken = [first.cores[number].cycles for number in range(3)]
    assert work.front[:4].tolist() == [1000 + taken[0], 2000 + taken[1], 3000 + taken[2], 4000]
    assert work.front[4:].tolist() == [second.cores[number].cycles for number in range(2)]
    assert Made.cycles.tolist() == [1000, 2000, 3000, 4000]


def test_measured_work_that_does_not_fit_is_refused() -> None:
    run = run_of()
    for changed, said in (
        (
            {
                "rasterized": [
                    run.rasters[0],
                    rasterize(snap(np.ones((1, 3, 2)), [[0.5] * 3], [[[1] * 3] * 3]), *SIZE, tile=32),
                ]
            },
            "the same tiles",
        ),
        ({"fronts": (None,)}, "1 from a front end"),
        ({"tiles": np.zeros(4, np.int64)}, "cycles of 4 tiles"),
        ({"rasterized": [replace(run.rasters[0], cores={}), run.rasters[1]]}, "without its PrimSets"),
    ):
        given = {"rasterized": run.rasters, "tiles": run.back_end} | changed
        with pytest.raises(InputError, match=said):
            measured_work("x", **given)


@pytest.mark.parametrize("distinct", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_more_cores_on_a_soup_of_triangles(distinct: int) -> None:
    """What 5.2 shows of games, on triangles that are spread evenly: overlapped frames on small tiles scale.

    PrimSets of 20 and 4 cut 1,700 triangles into as many as 1000 and 200 cut 85,000; into two, they do not scale.
    Tiles of 32 and 64 are to this screen what those of 64 and 128 are to one of 1600x1200, and a lock of 2 cycles to
    these PrimSets what one of 100 is to those.
    """
    config = ScheduleConfig(lock_cycles=2)
    works = frames(32, 20, distinct)
    fine = scaling_of(works, config)
    assert fine.below_linear[-1] <= 0.10
    assert list(fine.speedups) == sorted(fine.speedups)
    assert scaling_of(frames(32, 4, distinct), config).below_linear[-1] <= fine.below_linear[-1]
    assert scaling_of(works, replace(config, frames_in_flight=1)).below_linear[-1] > fine.below_linear[-1]
    assert scaling_of(frames(64, 20, distinct), config).below_linear[-1] > fine.below_linear[-1]
    assert scaling_of(frames(32, 1000, distinct), config).below_linear[-1] > 0.25
    for found in fine.schedules:
        assert violations(found, works, replace(config, cores=found.cores)) == []
    balance = balance_of([work.back for work in works])
    assert balance.within >= 0.85
    assert balance.above <= 0.05
