"""Scheduling (time): which core does what when, and what waits for what (4.2, 4.3, 4.5, 5.2)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from pixelflow.simd.configuration import check_values, param
from pixelflow.simd.errors import Fault, InputError, InternalError
from pixelflow.simd.units import Standing

# Work: what the PrimSets and the bins of one RTset cost, and which render targets it reads and writes (4.1, 4.2).


@dataclass(frozen=True, slots=True, eq=False)
class FrameWork:
    """One RTset of a frame: int64 cycles of each PrimSet's front end and of each bin's back end.

    PrimSets stand in the order of their sequence ids. A bin's back end is that of a whole core: one set-up thread and
    three work threads are folded into it (4.5). Tiles in which nothing is to be done do not stand here.

    ``writes`` are the render targets that it changes; ``reads`` those whose contents it needs: textures, and targets
    that it draws over without clearing them. ``front_reads`` are those of them that the front end needs already.
    Raises InputError where there is no PrimSet or no bin, for negative cycles, and for front reads that are not reads.
    """

    name: str
    front: np.ndarray
    back: np.ndarray
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ("back buffer",)
    frame: int = 0
    front_reads: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        faults = []
        for what, cycles in (("PrimSet", self.front), ("bin", self.back)):
            if cycles.ndim != 1 or not len(cycles) or cycles.dtype != np.int64:
                faults.append(Fault(f"{self.name}: cycles of each {what} are int64, one for each, at least one"))
            elif (cycles < 0).any():
                faults.append(Fault(f"{self.name}: a {what} costs {int(cycles.min())} cycles"))
        faults += [
            Fault(f"{self.name}: its front end reads {target}, which is not among its reads")
            for target in self.front_reads
            if target not in self.reads
        ]
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


def check_works(works: list[FrameWork]) -> None:
    """Raise InputError where there is no work, or frames do not follow each other."""
    if not works:
        raise InputError(Fault("there is no work to schedule"))
    numbers = [work.frame for work in works]
    if numbers != sorted(numbers):
        raise InputError(Fault(f"RTsets stand in the order of their frames, not {numbers}"))


# The RTset dependency graph: which RTsets must be complete before another one's front end or back end begins (4.2).


@dataclass(frozen=True, slots=True)
class Dependencies:
    """For each RTset the numbers of those that must be complete before its front end, and before its back end."""

    front: tuple[frozenset[int], ...]
    back: tuple[frozenset[int], ...]


def dependencies_of(
    works: Sequence[FrameWork], *, own_buffers: bool = True, fronts_wait: bool = False, frames_in_flight: int = 1
) -> Dependencies:
    """Return what waits for what among RTsets in the order of their submission.

    A target is not read until its last writer is complete, and not changed until those that read it, or wrote it last,
    are. With ``own_buffers`` an RTset that writes a target without reading it gets other memory for it ("a different
    back buffer ... would remove the dotted line"), so that the second half falls away for it. Front ends wait for the
    targets that they read, with ``fronts_wait`` for all that their RTset waits for; and everything waits for the
    frames before the last ``frames_in_flight``, its own among them.
    """
    writer: dict[str, int] = {}
    readers: dict[str, set[int]] = {}
    front, back = [], []
    for number, work in enumerate(works):
        needed = {target: writer[target] for target in work.reads if target in writer}
        waits = set(needed.values())
        for target in work.writes:
            if target in work.reads or not own_buffers:
                waits |= readers.get(target, set())
                waits |= {writer[target]} if target in writer else set()
        early = waits if fronts_wait else {needed[target] for target in work.front_reads if target in needed}
        old = {each for each in range(number) if works[each].frame <= work.frame - frames_in_flight}
        front.append(frozenset(early | old))
        back.append(frozenset(waits | old))
        for target in work.reads:
            readers.setdefault(target, set()).add(number)
        for target in work.writes:
            writer[target] = number
            # An RTset that reads what it writes has read the old contents, not its own.
            readers[target] = set()
    return Dependencies(tuple(front), tuple(back))


# A timeline: what each core did from when to when, and what follows from it.


class WorkKind(IntEnum):
    """What a core does: a lock of a work list each time, and what is here."""

    LIST_FRONT = 0
    """An RTset's PrimSets are put on the front-end list."""
    FRONT = 1
    """A PrimSet is taken, and its front end executed."""
    LIST_BACK = 2
    """An RTset's bins are put on the back-end list."""
    BACK = 3
    """A bin is taken, and its back end executed."""


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


# The scheduler: idle cores take from shared lists what is ready, one thing after the other, in a fixed order.
#
# It is a list scheduling from event to event; nothing in it is random, so equal work gives equal timelines.


@dataclass(frozen=True)
class ScheduleConfig:
    """What the scheduler is given."""

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
    longest_first: bool = param(False, "of an RTset's bins the longest is taken first; else in the order of the tiles",
        unit="", source="Seiler et al. 2008, 4.5 and 5.3: the next available tile, without attempting to load balance",
        standing=Standing.DERIVED)
    frames_in_flight: int = param(2,
        "frames that may be under way at a time; 1: each begins when the one before is complete", unit="frames",
        source="Seiler et al. 2008, 4.2: frame 2 can overlap with frame 1; how many is not said",
        standing=Standing.INVENTED, low=1, high=16)
    own_buffers: bool = param(True, "a target that is written without being read gets memory of its own", unit="",
        source="Seiler et al. 2008, 4.2: a different back buffer can be substituted automatically",
        standing=Standing.DERIVED)
    fronts_wait: bool = param(False,
        "a front end waits for all that its RTset depends on; else for the targets only that it reads itself", unit="",
        source="Seiler et al. 2008, 4.3 name the graph and not which half of an RTset waits",
        standing=Standing.INVENTED)
    front_first: bool = param(False, "an idle core prefers PrimSets to bins", unit="",
        source="Seiler et al. 2008, 5.3 let cores choose between the next RTset and front-end work, not in which order",
        standing=Standing.INVENTED)
    # fmt: on

    def dependencies(self, works: Sequence[FrameWork]) -> Dependencies:
        """Return what waits for what under this configuration."""
        return dependencies_of(
            works,
            own_buffers=self.own_buffers,
            fronts_wait=self.fronts_wait,
            frames_in_flight=self.frames_in_flight,
        )


def schedule(works: Sequence[FrameWork], config: ScheduleConfig | None = None) -> Schedule:
    """Execute RTsets, in the order of their submission, on the cores.

    Raises InputError for work that is not a work, and for a configuration out of its ranges.
    """
    works, config = list(works), config or ScheduleConfig()
    check_values(config)
    check_works(works)
    run = _Run(works, config, config.dependencies(works))
    run.to_the_end()
    columns = np.array(run.rows, np.int64).reshape(-1, 6).T
    return Schedule(config.cores, config.lock_cycles, tuple(work.name for work in works), *columns)


Ready = tuple[int, int, int, int, int, int]
"""Sorted as cores take them: rank, RTset, place, then kind, item, cycles."""


@dataclass
class _Run:
    works: list[FrameWork]
    config: ScheduleConfig
    waits: Dependencies
    rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    """core, begin, end, kind, RTset, item"""

    def __post_init__(self) -> None:
        self.ready: list[Ready] = []
        self.running: list[tuple[int, int, int, int]] = []
        """end, core, kind, RTset"""
        self.idle = list(range(self.config.cores))
        self.lock_free = {True: 0, False: 0}
        """When the lock of the back-end list, and of the front-end list, is free again."""
        self.complete: set[int] = set()
        self.fronts_left = [len(work.front) for work in self.works]
        self.bins_left = [len(work.back) for work in self.works]
        # For each half of each RTset: RTsets that are not complete yet; the back half also waits for its front end.
        self.front_waits = [set(each) for each in self.waits.front]
        self.back_waits = [set(each) for each in self.waits.back]
        for rtset in range(len(self.works)):
            self._offer_front(rtset)

    def to_the_end(self) -> None:
        """Hand out what is ready to idle cores, least core first; then go to the next end of something."""
        while self.ready or self.running:
            time = self.running[0][0] if self.running else 0
            while self.running and self.running[0][0] == time:
                _, core, kind, rtset = heapq.heappop(self.running)
                heapq.heappush(self.idle, core)
                self._finish(kind, rtset)
            while self.ready and self.idle:
                self._begin(time, heapq.heappop(self.idle), heapq.heappop(self.ready))
        if len(self.complete) != len(self.works):
            left = [work.name for rtset, work in enumerate(self.works) if rtset not in self.complete]
            raise InternalError(f"nothing is ready, and these RTsets are not complete: {', '.join(left)}")

    def _begin(self, time: int, core: int, ready: Ready) -> None:
        _, rtset, _, kind, item, cycles = ready
        lock = self.config.lock_cycles
        if self.config.exclusive_locks:
            which = kind in (WorkKind.LIST_BACK, WorkKind.BACK)
            time = max(time, self.lock_free[which])
            self.lock_free[which] = time + lock
        end = time + lock + cycles
        self.rows.append((core, time, end, kind, rtset, item))
        heapq.heappush(self.running, (end, core, kind, rtset))

    def _offer(self, kind: WorkKind, rtset: int, cycles: Sequence[int]) -> None:
        """Make things ready: lists before all else; then bins or PrimSets, of the earliest RTset first."""
        rank = (
            0
            if kind in (WorkKind.LIST_FRONT, WorkKind.LIST_BACK)
            else 1 + ((kind is WorkKind.BACK) == self.config.front_first)
        )
        order: Sequence[int] = range(len(cycles))
        if kind is WorkKind.BACK and self.config.longest_first:
            order = sorted(order, key=lambda item: (-cycles[item], item))
        for place, item in enumerate(order):
            heapq.heappush(self.ready, (rank, rtset, place, int(kind), item, cycles[item]))

    def _offer_front(self, rtset: int) -> None:
        if not self.front_waits[rtset]:
            self._offer(WorkKind.LIST_FRONT, rtset, [0])

    def _offer_back(self, rtset: int) -> None:
        if not self.back_waits[rtset] and not self.fronts_left[rtset]:
            self._offer(WorkKind.LIST_BACK, rtset, [0])

    def _finish(self, kind: int, rtset: int) -> None:
        if kind == WorkKind.LIST_FRONT:
            self._offer(WorkKind.FRONT, rtset, self.works[rtset].front.tolist())
        elif kind == WorkKind.LIST_BACK:
            self._offer(WorkKind.BACK, rtset, self.works[rtset].back.tolist())
        elif kind == WorkKind.FRONT:
            self.fronts_left[rtset] -= 1
            self._offer_back(rtset)
        else:
            self.bins_left[rtset] -= 1
            if not self.bins_left[rtset]:
                self._complete(rtset)

    def _complete(self, done: int) -> None:
        self.complete.add(done)
        for rtset in range(done + 1, len(self.works)):
            for waits, offer in ((self.front_waits, self._offer_front), (self.back_waits, self._offer_back)):
                if done in waits[rtset]:
                    waits[rtset].remove(done)
                    offer(rtset)
