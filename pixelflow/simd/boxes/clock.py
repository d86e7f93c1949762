"""The clock: ticks boxes where something happens and skips the cycles in which nothing does.

It stops when every box is done and nothing is on its way. A standstill before that is a deadlock, and it is found
exactly: nothing is scheduled, nothing is in flight on any wire, and at least one box says what it waits for. Boxes may
also stand still while they try again in each cycle; that is found once they have tried for `STILL` cycles.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from typing import TypedDict

from pixelflow.simd.boxes.box import Box
from pixelflow.simd.boxes.netlist import AnyBox, Netlist
from pixelflow.simd.boxes.wire import Record, Sent, WireError, WireState
from pixelflow.simd.errors import CycleLimitError, DeadlockError, InternalError
from pixelflow.simd.units import Cycle

__all__ = ["STILL", "Clock"]

STILL = 100_000
"""Cycles with ticks in which nothing is carried and no box has worked, after which a run is a deadlock."""
_LOOK = STILL // 10
"""Cycles without a transfer after which it is looked at whether boxes have worked."""

Watcher = Callable[[Sent], None]


class ClockState(TypedDict):
    """What a clock, its boxes and its wires hold, as it is saved."""

    cycle: Cycle
    boxes: dict[str, dict[str, object]]
    wires: dict[str, WireState]


class Clock:
    """Runs one netlist from cycle 0.

    ``watchers`` are called for every transfer, by cycle and within a cycle in the order of the netlist's wires.
    ``shuffle_seed`` ticks the boxes of each cycle in a random order; results do not depend on it, and a test says so.
    """

    def __init__(
        self, netlist: Netlist, *, watchers: tuple[Watcher, ...] = (), shuffle_seed: int | None = None
    ) -> None:
        netlist.check()
        self.netlist = netlist
        self.watchers = watchers
        self.cycle = Cycle(-1)
        """The last cycle in which a box was ticked; -1 before the first."""
        self._random = None if shuffle_seed is None else random.Random(shuffle_seed)
        self._boxes = netlist.boxes
        index_of = {box.name: index for index, box in enumerate(self._boxes)}
        # Boxes that do not say themselves when they are done are done when they want nothing and wait for nothing.
        self._plain_done = [type(box).done is Box.done for box in self._boxes]
        self._ticks = [box.tick for box in self._boxes]
        self._next_events = [box.next_event for box in self._boxes]
        self._sent: list[Record] = []
        for wire in netlist.wires:
            wire.fresh = self._sent
            wire.sink = index_of[netlist.sink_of(wire).name]
        for box in self._boxes:
            box.wired()
        self._rank = {wire.name: rank for rank, wire in enumerate(netlist.wires)}
        self._schedule()

    def _schedule(self) -> None:
        """Build the agenda from the state of boxes and wires."""
        # Cycles since anything was carried, and how far all boxes had come when that was last looked at.
        self._idle = self._worked = 0
        # Boxes that the cycle after the present one ticks, because they want it or something arrives at them.
        self._soon: set[int] = set()
        # By later cycle: boxes at which something arrives, and boxes that want a tick; the latter count only while
        # `_wanted` agrees. The heap has each of these cycles once.
        self._arrivals: dict[int, set[int]] = {}
        self._wants: dict[int, list[int]] = {}
        self._agenda: list[int] = []
        self._wanted: list[Cycle | None] = [None] * len(self._boxes)
        self._driving = [False] * len(self._boxes)
        self._drivers = 0
        for index in range(len(self._boxes)):
            self._look_at(index, self._next_events[index]())
        for wire in self.netlist.wires:
            for transfer in wire.unread:
                if transfer.arrives > self.cycle:
                    self._expect(wire.sink, transfer.arrives)

    def run(self, max_cycles: int | None = None) -> Cycle:
        """Run until all boxes are done; return the last cycle in which something happened.

        Raises DeadlockError; CycleLimitError where an event lies at or beyond ``max_cycles``; WireError where an
        arrived item was never read.
        """
        while (cycle := self.next_cycle()) is not None:
            if max_cycles is not None and cycle >= max_cycles:
                waiting = ", ".join(box.name for box in self._not_done)
                raise CycleLimitError(
                    f"cycle limit {max_cycles} reached: the next event is at cycle {cycle} (not done: {waiting})"
                )
            self._step(cycle)
        self._check_end()
        return self.cycle

    def run_until(self, cycle: int) -> None:
        """Do everything that happens before ``cycle``; a standstill before that is left for :meth:`run` to report."""
        while (event := self.next_cycle()) is not None and event < cycle:
            self._step(event)

    def next_cycle(self) -> Cycle | None:
        """Return the next cycle in which a box will be ticked, or None where the run has come to its end."""
        if self._soon:
            return Cycle(self.cycle + 1)
        agenda, wanted = self._agenda, self._wanted
        while agenda:
            cycle = agenda[0]
            if cycle in self._arrivals or any(wanted[index] == cycle for index in self._wants.get(cycle, ())):
                # What finished boxes have scheduled for themselves holds up neither the end nor a deadlock.
                return Cycle(cycle) if self._arrivals or self._drivers else None
            heapq.heappop(agenda)
            self._wants.pop(cycle, None)
        return None

    def _step(self, cycle: Cycle) -> None:
        """Tick every box that has something to do in ``cycle``."""
        due, wanted = self._soon, self._wanted
        agenda, arrivals = self._agenda, self._arrivals
        if agenda and agenda[0] == cycle:
            heapq.heappop(agenda)
            if cycle in arrivals:
                due |= arrivals.pop(cycle)
            for index in self._wants.pop(cycle, ()):
                if wanted[index] == cycle:
                    due.add(index)
        order = sorted(due)
        if self._random is not None:
            self._random.shuffle(order)
        self.cycle = cycle
        soon = Cycle(cycle + 1)
        due.clear()
        sent = self._sent
        sent.clear()
        ticks, next_events = self._ticks, self._next_events
        driving, plain = self._driving, self._plain_done
        for index in order:
            ticks[index](cycle)
            event = next_events[index]()
            if event == soon and plain[index]:
                due.add(index)
                wanted[index] = soon
                if not driving[index]:
                    driving[index] = True
                    self._drivers += 1
            elif event is not None or wanted[index] is not None:
                self._look_at(index, event)
        if not sent:
            self._idle += 1
            if not self._idle % _LOOK:
                self._check_work()
            return
        self._idle = 0
        for arrives, when, _, item, wire in sent:
            if when != cycle:
                raise WireError(f"cycle {cycle}, wire {wire.name}: sent for cycle {when}: {item}")
            if arrives == soon:
                due.add(wire.sink)
            else:
                self._expect(wire.sink, arrives)
        if self.watchers:
            transfers = [record[4].sent(record) for record in sent]
            transfers.sort(key=lambda transfer: self._rank[transfer.wire])
            for transfer in transfers:
                for watch in self.watchers:
                    watch(transfer)

    def _expect(self, sink: int, arrives: int) -> None:
        """Note that something arrives at a box."""
        there = self._arrivals.get(arrives)
        if there is not None:
            there.add(sink)
            return
        self._arrivals[arrives] = {sink}
        if arrives not in self._wants:
            heapq.heappush(self._agenda, arrives)

    def _look_at(self, index: int, wanted: Cycle | None) -> None:
        """Note what a box wants next; raises InternalError where that lies in the past."""
        if wanted is not None:
            if wanted <= self.cycle:
                name = self._boxes[index].name
                raise InternalError(f"cycle {self.cycle}, box {name}: its next event is cycle {wanted}, which has gone")
            if wanted != self._wanted[index]:
                there = self._wants.get(wanted)
                if there is None:
                    self._wants[wanted] = [index]
                    if wanted not in self._arrivals:
                        heapq.heappush(self._agenda, wanted)
                else:
                    there.append(index)
        self._wanted[index] = wanted
        driving = wanted is not None and (self._plain_done[index] or not self._boxes[index].done)
        if driving is not self._driving[index]:
            self._drivers += driving - self._driving[index]
            self._driving[index] = driving

    # --- the end -------------------------------------------------------------------------------------------------

    @property
    def _not_done(self) -> list[AnyBox]:
        """Boxes that are not done, as they are now."""
        return [box for box in self._boxes if not box.done]

    def _check_work(self) -> None:
        """Begin to count again where a box has worked; raise DeadlockError where none has for too long."""
        worked = sum(box.worked for box in self._boxes)
        if worked != self._worked:
            self._idle, self._worked = 0, worked
        elif self._idle >= STILL:
            self._standstill(f"nothing was carried for {STILL:,} cycles", "nothing carried")

    def _check_end(self) -> None:
        if self._not_done:
            self._standstill("no box can advance", "nothing scheduled")
        left = [(wire, transfer) for wire in self.netlist.wires for transfer in wire.lost]
        if left:
            lines = [f"  wire {wire.name}: {each.item}, arrived in cycle {each.arrives}" for wire, each in left]
            raise WireError(f"cycle {self.cycle}: {len(left)} items were never read\n" + "\n".join(lines))

    def _standstill(self, seen: str, unblocked: str) -> None:
        """Raise DeadlockError with what was seen, the reason of every blocked box and what lies unread.

        Raises InternalError where no box has a reason.
        """
        reasons = [(box.name, box.why_blocked()) for box in self._boxes]
        blocked = [(name, reason) for name, reason in reasons if reason is not None]
        if not blocked:
            lost = ", ".join(box.name for box in self._not_done)
            raise InternalError(f"cycle {self.cycle}: not done, not blocked, and {unblocked}: {lost}")
        width = max(len(name) for name, _ in blocked)
        lines = [f"deadlock at cycle {self.cycle}: {seen}"]
        lines += [f"  {name:<{width}}  {reason}" for name, reason in blocked]
        for wire in self.netlist.wires:
            if wire.lost:
                lines.append(f"  unread on wire {wire.name}: {'; '.join(str(each.item) for each in wire.lost)}")
        raise DeadlockError("\n".join(lines))

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> ClockState:
        """Return the state of the clock, every box and every wire."""
        return {
            "cycle": self.cycle,
            "boxes": {box.name: box.snapshot() for box in self._boxes},
            "wires": {wire.name: wire.snapshot() for wire in self.netlist.wires},
        }

    def restore(self, snapshot: ClockState) -> None:
        """Continue from a snapshot of the same netlist."""
        self.cycle = snapshot["cycle"]
        for box in self._boxes:
            box.restore(snapshot["boxes"][box.name])
        for wire in self.netlist.wires:
            wire.restore(snapshot["wires"][wire.name])
        self._schedule()
