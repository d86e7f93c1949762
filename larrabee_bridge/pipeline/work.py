"""Work (time) of PrimSets and bins, from programs that ran; scaling and balance (figures 9, 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from larrabee_bridge.pipeline.back_end import BackEnd
from larrabee_bridge.pipeline.front_end import FrontEndResult
from larrabee_bridge.pipeline.rasterizer import Rasterized
from larrabee_bridge.pipeline.schedule import FrameWork, Schedule, ScheduleConfig, schedule
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted


def primset_numbers(count: int, primset: int, draws: Sequence[int] = (0,)) -> np.ndarray:
    """Return the sequence id of each of ``count`` triangles' PrimSets: int64[triangle].

    ``draws`` holds the first triangle of each draw. Raises InputError for PrimSets of less than one triangle.
    """
    if primset < 1:
        raise InputError(Fault(f"PrimSets of {primset} triangles", hint="at least 1"))
    numbers = np.empty(count, np.int64)
    begun = 0
    for first, last in zip(draws, [*draws[1:], count], strict=True):
        numbers[first:last] = begun + np.arange(last - first) // primset
        begun += -(-(last - first) // primset)
    return numbers


# Work from programs that ran: vertices, set-up and descents by PrimSet, back end by tile.
#
# Descents are executed by the threads of the front end, which leave masks in the bins (Seiler et al. 2008, figure 7;
# the bytes of bins are counted so, too). Four threads take turns on a core, in every part of it.


def measured_work(
    name: str,
    rasterized: Sequence[Rasterized],
    tiles: BackEnd | np.ndarray,
    *,
    fronts: Sequence[FrontEndResult | None] = (),
    frame: int = 0,
    reads: tuple[str, ...] = (),
    writes: tuple[str, ...] = ("back buffer",),
) -> FrameWork:
    """Return the work of a frame from its draws and its back end, or the cycles of its tiles: int64[tile].

    ``rasterized`` is what the rasterizer made of each draw, by PrimSets; one that one of ``fronts`` has made has that
    front end's PrimSets, and their cycles. Only tiles with entries are bins. Raises InputError for draws on different
    tiles, or rasterized without PrimSets, and for counts that do not fit each other.
    """
    if len({(each.bins.tile, each.bins.columns, each.bins.rows) for each in rasterized}) > 1:
        raise InputError(Fault(f"{name}: its draws were not rasterized on the same tiles"))
    if len(fronts) not in (0, len(rasterized)):
        raise InputError(Fault(f"{name}: {counted(len(rasterized), 'draw')}, {len(fronts)} from a front end"))
    cycles = tiles.cycles if isinstance(tiles, BackEnd) else tiles
    if rasterized and len(cycles) != rasterized[0].bins.columns * rasterized[0].bins.rows:
        raise InputError(Fault(f"{name}: cycles of {counted(len(cycles), 'tile')}, rasterized on others"))
    entries = np.zeros(len(cycles), np.int64)
    front = []
    for raster, made in zip_longest(rasterized, fronts):
        if not raster.cores and len(raster.set_up.cycles) and raster.bins.entries:
            raise InputError(Fault(f"{name}: a draw was rasterized without its PrimSets"))
        most = max(raster.cores, default=-1) + 1
        spent = np.zeros(most if made is None else max(most, len(made.cycles)), np.int64)
        if made is not None:
            spent[: len(made.cycles)] += made.cycles
        for primset, core in raster.cores.items():
            spent[primset] += core.cycles
        front.append(spent)
        entries += np.diff(raster.bins.starts)
    filled = entries > 0
    every = np.concatenate([*front, np.zeros(0, np.int64)])
    return FrameWork(
        name,
        every if len(every) else np.zeros(1, np.int64),
        cycles[filled] if filled.any() else np.zeros(1, np.int64),
        reads,
        writes,
        frame,
    )


# Scaling: how much faster more cores are, beside as much faster as there are more of them (5.2, figure 9).


CORES = (8, 16, 24, 32, 40, 48)
"""Core counts of figure 9; everything is relative to the first."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """Schedules of the same work on more and more cores."""

    schedules: tuple[Schedule, ...]

    @property
    def cores(self) -> tuple[int, ...]:
        """Cores of each schedule."""
        return tuple(each.cores for each in self.schedules)

    @property
    def speedups(self) -> tuple[float, ...]:
        """How many times faster than the first each is."""
        return tuple(self.schedules[0].makespan / each.makespan for each in self.schedules)

    @property
    def below_linear(self) -> tuple[float, ...]:
        """By which share each falls short of a speed-up that equals its ratio of cores to the first."""
        base = self.schedules[0].cores
        return tuple(1 - speed * base / cores for speed, cores in zip(self.speedups, self.cores, strict=True))


def scaling_of(
    works: Sequence[FrameWork], config: ScheduleConfig | None = None, cores: Sequence[int] = CORES
) -> Scaling:
    """Schedule work on each number of cores; memory bandwidth and texture units grow with them, as in 5.2."""
    config = config or ScheduleConfig()
    return Scaling(tuple(schedule(works, replace(config, cores=count)) for count in cores))


# Bin balance: how long bins take beside the mean of their RTset (5.3, figure 11).
#
# What a bin is decides much of it. Tiles in which nothing is to be done are not bins in a `FrameWork`: they are never
# taken from a list. Their zeros would lower the mean, and move the longest bins away from it.


@dataclass(frozen=True, slots=True, eq=False)
class Balance:
    """Cycles of bins, each over the mean of its own RTset, from the least to the greatest: float64[bin]."""

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
    """Return the balance of bins from the cycles of each bin of each RTset; RTsets without any cycles do not count.

    Raises InputError where no bin has any cycles.
    """
    ratios = [cycles * len(cycles) / cycles.sum() for cycles in backs if cycles.sum()]
    if not ratios:
        raise InputError(Fault("bins without any cycles have no balance"))
    return Balance(np.sort(np.concatenate(ratios)))
