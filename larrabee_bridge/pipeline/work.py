"""Work (time) of PrimSets and bins, from programs that ran; scaling and balance (figures 9, 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from larrabee_bridge.pipeline.front_end import FrontEndResult
from larrabee_bridge.pipeline.rasterizer import Rasterized
from larrabee_bridge.pipeline.schedule import FrameWork, Schedule, ScheduleConfig, schedule
from larrabee_bridge.vpu.program import LINE_BYTES
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted


def primset_numbers(count: int, primset: int) -> np.ndarray:
    """Return the sequence id of the PrimSet of each of ``count`` triangles: int64[triangle]."""
    return np.arange(count) // primset


# Work from programs that ran: vertices, set-up and descents by PrimSet, back end by tile.
#
# Descents are executed by the threads of the front end, which leave masks in the bins (Seiler et al. 2008, figure 7;
# the bytes of bins are counted the same way). Four threads take turns on a core in every part of it.


def measured_work(
    name: str,
    rasterized: Sequence[Rasterized],
    tiles: np.ndarray,
    fronts: Sequence[FrontEndResult | None] = (),
    tile_bytes: np.ndarray | None = None,
) -> FrameWork:
    """Return the work of a frame from its draws, and the cycles and bytes to and from memory of its tiles, int64[tile].

    ``rasterized`` are its draws by PrimSets; a draw with a front end in ``fronts`` has the PrimSets of that front end,
    and their cycles. Only tiles with entries are bins. Raises InputError for tiles other than those of the draws, and
    for draws rasterized without PrimSets.
    """
    entries = np.zeros(len(tiles), np.int64)
    front, moved = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for raster, made in zip_longest(rasterized, fronts):
        if len(tiles) != raster.bins.columns * raster.bins.rows:
            raise InputError(Fault(f"{name}: cycles of {counted(len(tiles), 'tile')}, rasterized on others"))
        if not raster.cores and len(raster.set_up.cycles) and raster.bins.entries:
            raise InputError(Fault(f"{name}: a draw was rasterized without its PrimSets"))
        most = max(raster.cores, default=-1) + 1
        spent = np.zeros(most if made is None else max(most, len(made.cycles)), np.int64)
        count = np.zeros_like(spent)
        if made is not None:
            spent[: len(made.cycles)] += made.cycles
        for cores in (raster.cores, {} if made is None else made.cores):
            for primset, core in cores.items():
                # Other cores read what a PrimSet leaves in the slice.
                count[primset] += core.memory_bytes + LINE_BYTES * (core.left or 0)
        for primset, core in raster.cores.items():
            spent[primset] += core.cycles
        front.append(spent)
        moved.append(count)
        entries += np.diff(raster.bins.starts)
    every, filled, nothing = np.concatenate(front), entries > 0, np.zeros(1, np.int64)
    return FrameWork(
        name,
        every if len(every) else nothing,
        tiles[filled] if filled.any() else nothing,
        front_bytes=np.concatenate(moved) if len(every) else None,
        back_bytes=tile_bytes[filled] if tile_bytes is not None and filled.any() else None,
    )


# Scaling: speed-up by number of cores, next to the ratio of cores (5.2, figure 9).


CORES = (8, 16, 24, 32, 40, 48)
"""Core counts of figure 9; everything is relative to the first."""


class Scaling(NamedTuple):
    """Schedules of the same work on rising numbers of cores."""

    schedules: tuple[Schedule, ...]

    @property
    def speedups(self) -> tuple[float, ...]:
        """How many times faster than the first each is."""
        return tuple(self.schedules[0].makespan / each.makespan for each in self.schedules)

    @property
    def below_linear(self) -> tuple[float, ...]:
        """Share by which each falls short of its ratio of cores to the first."""
        base = self.schedules[0].cores
        return tuple(1 - speed * base / each.cores for speed, each in zip(self.speedups, self.schedules, strict=True))


def scaling_of(
    works: Sequence[FrameWork], config: ScheduleConfig | None = None, cores: Sequence[int] = CORES
) -> Scaling:
    """Schedule work on each number of cores; memory bandwidth and texture units grow with them, as in 5.2."""
    config = config or ScheduleConfig()
    return Scaling(tuple(schedule(works, replace(config, cores=count)) for count in cores))


# Bin balance: cycles of bins next to the mean of their frame (5.3, figure 11).
#
# Tiles in which nothing is drawn are not bins of a `FrameWork`: they are never taken from a list. Their zeros would
# lower the mean, and move the longest bins away from it.


class Balance(NamedTuple):
    """Cycles of bins, each over the mean of its frame, ascending: float64[bin]."""

    ratios: np.ndarray

    @property
    def within(self) -> float:
        """Share of bins from half to twice the mean, both included."""
        return float(((self.ratios >= 0.5) & (self.ratios <= 2)).mean())

    @property
    def above(self) -> float:
        """Share of bins above three times the mean."""
        return float((self.ratios > 3).mean())

    @property
    def greatest(self) -> float:
        """The longest bin over its mean."""
        return float(self.ratios[-1])


def balance_of(backs: Sequence[np.ndarray]) -> Balance:
    """Return the balance from the cycles of each bin of each frame, some of them positive."""
    ratios = [cycles * len(cycles) / cycles.sum() for cycles in backs]
    return Balance(np.sort(np.concatenate(ratios)))
