"""Scheduling (time): frames on cores, PrimSets before bins, locks of the work lists (4.2, 4.3, 4.5, 5.2)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import ceil
from typing import NamedTuple

import numpy as np

from pixelflow.simd.configuration import check_values, param
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.units import Standing

# Work: the cycles of the PrimSets and the bins of a frame (4.1, 4.2).


@dataclass(frozen=True, slots=True, eq=False)
class FrameWork:
    """Cycles of a frame: int64 of each PrimSet's front end, by sequence id, and of each bin's back end.

    A bin's back end is that of a whole core, one set-up thread and three work threads (4.5). Tiles in which nothing is
    drawn are left out. Every frame has its own back buffer. Raises InputError without a PrimSet or a bin, and for
    negative cycles.
    """

    name: str
    front: np.ndarray
    back: np.ndarray
    frame: int = 0
    front_bytes: np.ndarray | None = None
    """Bytes to and from memory of each PrimSet, int64; None for none."""
    back_bytes: np.ndarray | None = None
    """The same of each bin."""

    def __post_init__(self) -> None:
        faults = []
        for what, cycles in (("PrimSet", self.front), ("bin", self.back)):
            if cycles.ndim != 1 or not len(cycles) or cycles.dtype != np.int64:
                faults.append(Fault(f"{self.name}: cycles of each {what} are int64, one for each, at least one"))
            elif (cycles < 0).any():
                faults.append(Fault(f"{self.name}: a {what} costs {int(cycles.min())} cycles"))
        if faults:
            raise InputError(faults)

    @property
    def cycles(self) -> int:
        """All cycles of front end and back end, without locks."""
        return int(self.front.sum()) + int(self.back.sum())

    @property
    def locks(self) -> int:
        """Locks of 5.2: two for the bin set (one a queue), one a PrimSet, one a bin."""
        return 2 + len(self.front) + len(self.back)


# A timeline: what each core did from when to when, and what follows from it.


class WorkKind(IntEnum):
    """Kind of a stretch of a core; each begins with the lock of a work list."""

    LIST_FRONT = 0
    """A frame's PrimSets are put on the front-end list."""
    FRONT = 1
    """A PrimSet is taken, and its front end executed."""
    LIST_BACK = 2
    """A frame's bins are put on the back-end list."""
    BACK = 3
    """A bin is taken, and its back end executed."""


class Schedule(NamedTuple):
    """All stretches of all cores in the order in which they began: int64[stretch] each, ``end`` excluded.

    ``work`` counts the frames; ``item`` is the PrimSet's sequence id or the bin's place in the frame, 0 for lists.
    """

    cores: int
    lock_cycles: int
    core: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    work: np.ndarray
    item: np.ndarray

    @property
    def makespan(self) -> int:
        """Cycles until the last core is done."""
        return int(self.end.max())

    @property
    def busy(self) -> np.ndarray:
        """Cycles of work and locks of each core: int64[core]."""
        busy = np.zeros(self.cores, np.int64)
        np.add.at(busy, self.core, self.end - self.begin)
        return busy

    @property
    def done(self) -> np.ndarray:
        """End of each core's last stretch, 0 without any: int64[core]."""
        done = np.zeros(self.cores, np.int64)
        np.maximum.at(done, self.core, self.end)
        return done

    @property
    def locks(self) -> int:
        """Locks taken."""
        return len(self.core)

    @property
    def utilisation(self) -> float:
        """Share of busy cycles in those of all cores until the last one is done."""
        whole = self.cores * self.makespan
        return int(self.busy.sum()) / whole if whole else 1.0


# The scheduler: idle cores take what is ready from shared lists, one item at a time, in a fixed order.
#
# It is list scheduling from event to event without randomness, so equal work gives equal timelines.


@dataclass(frozen=True)
class ScheduleConfig:
    """Parameters of the scheduler."""

    # fmt: off
    cores: int = param(8, "cores that share the work", unit="cores", source="Seiler et al. 2008, 5.2: 8 to 48",
        standing=Standing.DERIVED, low=1, high=64)
    lock_cycles: int = param(100, "a core is busy with each lock of a work list", unit="cycles",
        source='Seiler et al. 2008, 5.2: "around 100 clocks per lock per core"', standing=Standing.DERIVED, low=0,
        high=100000)
    exclusive_locks: bool = param(False,
        "a core waits while another one holds the lock of the same list; else locks of several cores overlap", unit="",
        source="Seiler et al. 2008, 5.2 charge low-contention locks a core, and call their scaling fairly linear",
        standing=Standing.DERIVED)
    longest_first: bool = param(False, "of a frame's bins the longest is taken first; else in the order of the tiles",
        unit="", source="Seiler et al. 2008, 4.5 and 5.3: the next available tile, without attempting to load balance",
        standing=Standing.DERIVED)
    frames_in_flight: int = param(2,
        "frames that may be under way at a time; 1: each begins when the one before is complete", unit="frames",
        source="Seiler et al. 2008, 4.2: frame 2 can overlap with frame 1; how many is not said",
        standing=Standing.INVENTED, low=1, high=16)
    front_first: bool = param(False, "an idle core prefers PrimSets to bins", unit="",
        source="Seiler et al. 2008, 5.3 let cores choose between the next RTset and front-end work, not in which order",
        standing=Standing.INVENTED)
    memory_bytes: int = param(115, "that memory delivers and takes in a cycle, all cores together; 0: without a limit",
        unit="bytes", source="AMD, Radeon HD 4870, 2008: 115.2 GB/s of GDDR5, at 1 GHz; no source on Larrabee gives it",
        standing=Standing.INVENTED, low=0, high=10000)
    # fmt: on


def schedule(works: Sequence[FrameWork], config: ScheduleConfig | None = None) -> Schedule:
    """Execute frames on the cores, in the order of their numbers.

    Raises InputError without works, for numbers that descend, and for a configuration out of its ranges.
    """
    config = config or ScheduleConfig()
    check_values(config)
    numbers = [work.frame for work in works]
    if not works or numbers != sorted(numbers):
        raise InputError(Fault(f"frames {numbers} to schedule", hint="at least one, in the order of their numbers"))
    run = _Run(list(works), config)
    run.to_the_end()
    return Schedule(config.cores, config.lock_cycles, *np.array(run.rows, np.int64).reshape(-1, 6).T)


# Memory is shared: while the works under way ask for more bytes a cycle than memory has, each of them that asks for any
# advances at the share that memory has of their sum. A work asks for its bytes evenly over its cycles.


Ready = tuple[int, int, int, int, int, int, int]
"""Sorted as cores take them: rank, work, place, then kind, item, cycles, bytes."""


@dataclass(slots=True)
class _Stretch:
    row: list[int]
    """core, begin, end, kind, work, item"""
    rate: float
    """Bytes a cycle at full speed."""


class _Run:
    def __init__(self, works: list[FrameWork], config: ScheduleConfig) -> None:
        self.works, self.config = works, config
        self.rows: list[list[int]] = []
        self.ready: list[Ready] = []
        self.running: list[tuple[int, int, _Stretch]] = []
        """end, core, stretch"""
        self.speed = 1.0
        """Of stretches that ask for bytes."""
        self.idle = list(range(config.cores))
        self.lock_free = {True: 0, False: 0}
        """Cycle in which the lock of the back-end list, and of the front-end list, is free again."""
        self.fronts_left = [len(work.front) for work in works]
        self.bins_left = [len(work.back) for work in works]
        flight = config.frames_in_flight
        self.waits = [{at for at, each in enumerate(works) if each.frame <= work.frame - flight} for work in works]
        """Works that must be complete before a work's front end begins."""
        for work in range(len(works)):
            self._offer_front(work)

    def to_the_end(self) -> None:
        """Hand out what is ready to idle cores, lowest core first; then advance to the next end of a stretch."""
        while self.ready or self.running:
            time = self.running[0][0] if self.running else 0
            while self.running and self.running[0][0] == time:
                _, core, ended = heapq.heappop(self.running)
                ended.row[2] = time
                heapq.heappush(self.idle, core)
                self._finish(*ended.row[3:5])
            while self.ready and self.idle:
                self._begin(time, heapq.heappop(self.idle), heapq.heappop(self.ready))
            self._share(time)

    def _share(self, time: int) -> None:
        """Give the stretches under way their share of memory after ``time``; ends are whole cycles, rounded up."""
        asked = sum(stretch.rate for _, _, stretch in self.running)
        speed = min(1.0, self.config.memory_bytes / asked) if asked and self.config.memory_bytes else 1.0
        if speed != self.speed:
            slower = self.speed / speed
            self.running = [
                (time + ceil((end - time) * (slower if stretch.rate else 1)), core, stretch)
                for end, core, stretch in self.running
            ]
            heapq.heapify(self.running)
            self.speed = speed

    def _begin(self, time: int, core: int, ready: Ready) -> None:
        _, work, _, kind, item, cycles, count = ready
        lock = self.config.lock_cycles
        if self.config.exclusive_locks:
            which = kind in (WorkKind.LIST_BACK, WorkKind.BACK)
            time = max(time, self.lock_free[which])
            self.lock_free[which] = time + lock
        rate = count / (lock + cycles) if count else 0.0
        end = time + (ceil((lock + cycles) / self.speed) if rate else lock + cycles)
        self.rows.append([core, time, end, kind, work, item])
        heapq.heappush(self.running, (end, core, _Stretch(self.rows[-1], rate)))

    def _offer(self, kind: WorkKind, work: int, cycles: Sequence[int], moved: np.ndarray | None = None) -> None:
        """Make items ready: lists first; then bins or PrimSets, of the earliest work first."""
        rank = (
            0
            if kind in (WorkKind.LIST_FRONT, WorkKind.LIST_BACK)
            else 1 + ((kind is WorkKind.BACK) == self.config.front_first)
        )
        order: Sequence[int] = range(len(cycles))
        if kind is WorkKind.BACK and self.config.longest_first:
            order = sorted(order, key=lambda item: (-cycles[item], item))
        for place, item in enumerate(order):
            count = 0 if moved is None else int(moved[item])
            heapq.heappush(self.ready, (rank, work, place, int(kind), item, cycles[item], count))

    def _offer_front(self, work: int) -> None:
        if not self.waits[work]:
            self._offer(WorkKind.LIST_FRONT, work, [0])

    def _finish(self, kind: int, work: int) -> None:
        if kind == WorkKind.LIST_FRONT:
            self._offer(WorkKind.FRONT, work, self.works[work].front.tolist(), self.works[work].front_bytes)
        elif kind == WorkKind.LIST_BACK:
            self._offer(WorkKind.BACK, work, self.works[work].back.tolist(), self.works[work].back_bytes)
        elif kind == WorkKind.FRONT:
            self.fronts_left[work] -= 1
            if not self.fronts_left[work]:
                self._offer(WorkKind.LIST_BACK, work, [0])
        else:
            self.bins_left[work] -= 1
            if not self.bins_left[work]:
                self._complete(work)

    def _complete(self, done: int) -> None:
        for work in range(done + 1, len(self.works)):
            if done in self.waits[work]:
                self.waits[work].remove(done)
                self._offer_front(work)
