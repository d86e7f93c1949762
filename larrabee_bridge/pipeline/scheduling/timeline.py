"""A timeline: what each core did from when to when, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

__all__ = ["Schedule", "WorkKind", "WorkSpan"]


class WorkKind(IntEnum):
    """What a core does: a lock of a work list each time, and what stands here."""

    LIST_FRONT = 0
    """An RTset's PrimSets are put on the front-end list."""
    FRONT = 1
    """A PrimSet is taken, and its front end carried out."""
    LIST_BACK = 2
    """An RTset's bins are put on the back-end list."""
    BACK = 3
    """A bin is taken, and its back end carried out."""


@dataclass(frozen=True, slots=True)
class WorkSpan:
    """One stretch of one core in cycles, ``end`` excluded; the first of them are the lock's."""

    core: int
    begin: int
    end: int
    kind: WorkKind
    name: str
    """Of the RTset."""
    item: int
    """The PrimSet's sequence id, or the bin's place in the work; 0 for lists."""


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """All stretches of all cores in the order in which they were begun: int64 each, numbers as in :class:`WorkSpan`."""

    cores: int
    lock_cycles: int
    names: tuple[str, ...]
    core: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    rtset: np.ndarray
    item: np.ndarray

    @property
    def makespan(self) -> int:
        """Cycles until the last core is done."""
        return int(self.end.max())

    @property
    def busy(self) -> np.ndarray:
        """Cycles of work and locks of each core: int64[core]."""
        found = np.zeros(self.cores, np.int64)
        np.add.at(found, self.core, self.end - self.begin)
        return found

    @property
    def done(self) -> np.ndarray:
        """When each core ends its last stretch, 0 where it has none: int64[core]."""
        found = np.zeros(self.cores, np.int64)
        np.maximum.at(found, self.core, self.end)
        return found

    @property
    def locks(self) -> int:
        """Locks taken."""
        return len(self.core)

    @property
    def lock_share(self) -> float:
        """Share of locks in all busy cycles."""
        busy = int(self.busy.sum())
        return self.locks * self.lock_cycles / busy if busy else 0.0

    @property
    def utilisation(self) -> float:
        """Share of busy cycles in those of all cores until the last one is done."""
        whole = self.cores * self.makespan
        return int(self.busy.sum()) / whole if whole else 1.0

    def takers(self, rtset: int) -> list[int]:
        """Return the core that took each PrimSet of an RTset, by sequence id: whose sub-bins it is in (4.3)."""
        chosen = (self.kind == WorkKind.FRONT) & (self.rtset == rtset)
        return self.core[chosen][np.argsort(self.item[chosen])].tolist()

    def spans(self) -> Iterator[WorkSpan]:
        """Yield the stretches, for those who draw them."""
        columns = (self.core, self.begin, self.end, self.kind, self.rtset, self.item)
        for core, begin, end, kind, rtset, item in zip(*(values.tolist() for values in columns), strict=True):
            yield WorkSpan(core, begin, end, WorkKind(kind), self.names[rtset], item)

    def busy_cores(self, points: int) -> np.ndarray:
        """Return the mean number of busy cores in each of ``points`` equal parts of the run: float64[point]."""
        edges = np.linspace(0, self.makespan, points + 1)
        covered = np.zeros(points + 1)
        for sign, at in ((1, self.begin), (-1, self.end)):
            # A core is busy from `at` on: its part of everything before each edge.
            ordered = np.sort(at)
            sums = np.concatenate([[0], np.cumsum(ordered)])
            count = np.searchsorted(ordered, edges)
            covered += sign * (count * edges - sums[count])
        width = self.makespan / points
        return np.diff(covered) / width if width else np.zeros(points)
