"""From bins to the work of cores: sums by hand, and scaling and balance on generated triangles."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np
import pytest

from larrabee_bridge.pipeline.frame import FrameSetting, LarrabeeRun, render_on_larrabee
from larrabee_bridge.pipeline.schedule import FrameWork, ScheduleConfig
from larrabee_bridge.pipeline.work import (
    balance_of,
    measured_work,
    primset_numbers,
    scaling_of,
)
from larrabee_bridge.vpu.core_image import SharedCore
from pixelflow.simd.drawing import Frame
from pixelflow.simd.errors import InputError
from tessellation.scenes import sized


def cycles(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_primsets_by_hand() -> None:
    assert primset_numbers(7, 3).tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_balance_by_hand() -> None:
    """Means of 4 and 10: ratios 1/4, 1/2, 2, 5/4 and 0, 4/10, 36/10, 0."""
    found = balance_of([cycles(1, 2, 8, 5), cycles(0, 4, 36, 0)])
    assert found.ratios.tolist() == [0, 0, 0.25, 0.4, 0.5, 1.25, 2, 3.6]
    assert (found.within, found.above, found.greatest) == (3 / 8, 1 / 8, 3.6)


def test_equal_bins_scale_as_they_divide() -> None:
    """48 bins of 1000 and no front end: 6 rounds on 8 cores, 2 on 24, 1 on 48; 40 need 2."""
    work = FrameWork("even", cycles(0), np.full(48, 1000, np.int64))
    found = scaling_of([work], ScheduleConfig(lock_cycles=0), (8, 24, 40, 48))
    assert found.speedups == (1, 3, 3, 6)
    assert found.below_linear == (0, 0, pytest.approx(0.4), 0)


SIZE = (150, 100)
"""Three columns and two rows of tiles."""


@cache
def run_of(seed: int = 0) -> LarrabeeRun:
    """Two draws, of 40 and 21 triangles; the lower right tile is empty."""
    draws = tuple(sized(120, 60, count=count, pixels=60, seed=seed + count) for count in (40, 21))
    return render_on_larrabee(Frame(*SIZE, (0, 0, 0), draws), FrameSetting(tile=64, primset=16))


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
    whole = measured_work("x", run.rasters, run.back_end.cycles)
    assert whole.back.tolist() == run.back_end.cycles[filled].tolist()


def test_a_front_end_brings_its_primsets_and_their_cycles() -> None:
    run = run_of()
    first, second = run.rasters

    class Made:
        """A front end that also had a PrimSet of which nothing reached the rasterizer."""

        cycles = np.array([1000, 2000, 3000, 4000])
        cores: ClassVar[dict[int, SharedCore]] = {3: first.cores[0]}

    work = measured_work("x", run.rasters, run.back_end.cycles, (Made, None))
    taken = [first.cores[number].cycles for number in range(3)]
    assert work.front[:4].tolist() == [1000 + taken[0], 2000 + taken[1], 3000 + taken[2], 4000]
    assert work.front[4:].tolist() == [second.cores[number].cycles for number in range(2)]
    assert work.front_bytes is not None and not work.front_bytes.any(), "no caches"
    assert Made.cycles.tolist() == [1000, 2000, 3000, 4000]


def test_measured_work_that_does_not_fit_is_refused() -> None:
    run = run_of()
    with pytest.raises(InputError, match="cycles of 4 tiles"):
        measured_work("x", run.rasters, np.zeros(4, np.int64))
    with pytest.raises(InputError, match="without its PrimSets"):
        measured_work("x", [run.rasters[0]._replace(cores={}), run.rasters[1]], run.back_end.cycles)
