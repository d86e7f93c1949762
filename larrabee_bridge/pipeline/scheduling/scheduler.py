"""The scheduler: idle cores take from shared lists what is ready, one thing after the other, in a fixed order.

It is a list scheduling from event to event; nothing in it is random, so equal work gives equal timelines.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from larrabee_bridge.pipeline.scheduling.graph import Dependencies, dependencies_of
from larrabee_bridge.pipeline.scheduling.timeline import Schedule, WorkKind
from larrabee_bridge.pipeline.scheduling.work import FrameWork, check_works
from pixelflow.simd.config.param import check_values, param
from pixelflow.simd.errors import InternalError
from pixelflow.simd.units import Standing

__all__ = ["ScheduleConfig", "schedule"]


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
    """Carry out RTsets, in the order of their submission, on the cores.

    Raises InputError for work that is no work, and for a configuration out of its ranges.
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
