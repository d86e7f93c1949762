"""AttilaStatistic: one thing that a box counts, declared once; units that there are several of each have their own."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AttilaStatistic", "listed"]


@dataclass(frozen=True, slots=True)
class AttilaStatistic:
    """What is counted, under the public simulator's name."""

    name: str
    box: str
    """The suffix of the box: `HZ`; of units with a number what stands before it: `CW` of `CW-SU0`."""
    unit: str
    doc: str
    per_channel: bool = False
    """Whether there is one for each channel of memory, whose number in two digits follows the name."""


def listed(box: str, table: str, *, per_channel: bool = False) -> tuple[AttilaStatistic, ...]:
    """Return the statistics of a box from lines of ``name|unit|what it counts``."""
    rows = (line.split("|") for line in table.strip().splitlines())
    return tuple(AttilaStatistic(name, box, unit, doc, per_channel) for name, unit, doc in rows)
