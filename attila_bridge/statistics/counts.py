"""Counts: the statistics of one box, all of them from the beginning, so that what is not declared cannot be counted."""

from __future__ import annotations

from attila_bridge.statistics.caches import CACHES
from attila_bridge.statistics.memory import MEMORY
from attila_bridge.statistics.raster import RASTER
from attila_bridge.statistics.rops import ROPS
from attila_bridge.statistics.shading import SHADING
from attila_bridge.statistics.statistic import AttilaStatistic
from attila_bridge.statistics.vertices import VERTICES

__all__ = ["STATISTICS", "Counts", "counts_of", "statistic_of"]

STATISTICS: tuple[AttilaStatistic, ...] = (*VERTICES, *RASTER, *ROPS, *SHADING, *CACHES, *MEMORY)
"""Everything that is counted."""

Counts = dict[str, int]
"""Counts of a box by name."""


def counts_of(box: str, channels: int = 0) -> Counts:
    """Return the counts of a box, all 0; ``box`` is its suffix without a number (`CW`, `HZ`)."""
    counts: Counts = {}
    for statistic in STATISTICS:
        if statistic.box == box:
            numbers = range(channels) if statistic.per_channel else ()
            for name in [f"{statistic.name}{number:02}" for number in numbers] or [statistic.name]:
                counts[name] = 0
    return counts


def statistic_of(name: str) -> AttilaStatistic:
    """Return what a full name like `InputFragments_CW-SU0` or `OpenPages02_MC` is about; raises KeyError."""
    base, _, suffix = name.rpartition("_")
    box = suffix.split("-")[0]
    for each in STATISTICS:
        if each.per_channel:
            fits = each.box == box and base[:-2] == each.name and base[-2:].isdecimal()
        else:
            fits = f"{each.name}_{each.box}" == f"{base}_{box}"
        if fits:
            return each
    raise KeyError(name)
