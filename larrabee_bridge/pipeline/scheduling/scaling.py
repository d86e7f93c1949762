"""Scaling: how much faster more cores are, beside as much faster as there are more of them (5.2, figure 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from larrabee_bridge.pipeline.scheduling.scheduler import ScheduleConfig, schedule
from larrabee_bridge.pipeline.scheduling.timeline import Schedule
from larrabee_bridge.pipeline.scheduling.work import FrameWork

__all__ = ["CORES", "Scaling", "scaling_of"]

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
