"""Tracer of a node's runs: the events of any machine, and semaphores, TASICs, the GNI and enabled PEs."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.observe.node_events import (
    Accessed,
    Blocked,
    EnablesChanged,
    NodeAccountView,
    NodeRunView,
    PathUsed,
    Signalled,
    Taken,
)
from pixelflow.simd.observe import Bus, Executed, RunBegan, RunEnded, Waited
from pixelflow.simd.trace.trace_model import Category, FlowArrow, Label, Track, TrackKind
from pixelflow.simd.trace.tracer import Spot, Tracer


class NodeTracer(Tracer[NodeRunView, NodeAccountView]):
    """Subscribes to the bus of a node and builds a `Trace`."""

    def _subscribe(self, bus: Bus, wanted: set[TrackKind]) -> None:
        super()._subscribe(bus, wanted)
        if TrackKind.STREAM in wanted:
            bus.subscribe(self._blocks, Blocked)
        if wanted & {TrackKind.STREAM, TrackKind.COUNTER}:
            bus.subscribe(self._signalled, Signalled)
            bus.subscribe(self._taken, Taken)
        if TrackKind.UNIT in wanted:
            bus.subscribe(self._accessed, Accessed)
        if TrackKind.PATH in wanted:
            bus.subscribe(self._path_used, PathUsed)
        if TrackKind.ENABLED in wanted:
            bus.subscribe(self._enables_changed, EnablesChanged)

    # --- runs --------------------------------------------------------------------------------------------------

    def _began(self, event: RunBegan[NodeRunView]) -> None:
        super()._began(event)
        self._last: dict[str, Spot] = {}
        """For each stream, its last instruction."""
        self._blocked: dict[str, Blocked] = {}
        self._taking: dict[str, _Semaphore] = {}
        self._semaphores: dict[int, _Semaphore] = {}
        for name, stream in event.view.streams.items():
            if stream.waiting is not None:  # a resumed run may begin at a WAIT
                self._blocked[name] = Blocked(stream.cycle, name, stream.index, stream.waiting)

    def _finish(self, event: RunEnded[NodeAccountView]) -> None:
        for stream, blocked in self._blocked.items():
            if event.cycle > blocked.cycle:
                label = self._wait_label(blocked.index, Category.BLOCKED, f"blocked sem {blocked.semaphore}")
                self._add(Track(TrackKind.STREAM, stream), blocked.cycle, event.cycle, label)
        for semaphore, seen in self._semaphores.items():
            self._end_semaphore(semaphore, seen, event.account)

    def _about(self, account: NodeAccountView) -> tuple[tuple[str, int | str], ...]:
        return (("engine", account.engine),)

    # --- streams -----------------------------------------------------------------------------------------------

    def _add_instruction(self, event: Executed) -> Spot:
        self._last[event.stream] = spot = super()._add_instruction(event)
        taking = self._taking.pop(event.stream, None)
        if taking is not None:
            taking.takers.append(spot)
        return spot

    def _category(self, event: Waited) -> Category:
        # Words are waited for before an instruction, as signals are; a transfer is waited for after it.
        before = event.stream in self._blocked or event.reason == "instructions"
        return Category.WAIT if before else Category.STALL

    def _blocks(self, event: Blocked) -> None:
        self._blocked[event.stream] = event

    def _signalled(self, event: Signalled) -> None:
        seen = self._semaphores.setdefault(event.semaphore, _Semaphore())
        seen.givers.append(self._last.get(event.stream))
        seen.changes.append((event.cycle, 1))

    def _taken(self, event: Taken) -> None:
        self._blocked.pop(event.stream, None)
        seen = self._semaphores.setdefault(event.semaphore, _Semaphore())
        seen.changes.append((event.cycle, -1))
        self._taking[event.stream] = seen

    def _end_semaphore(self, number: int, seen: _Semaphore, account: NodeAccountView) -> None:
        """Draw the arrows and the count of a semaphore, once the signals of both streams are known."""
        before = 0
        if self._since:
            # Signals from before the checkpoint, whose number is not known if the run was stopped.
            if account.ledger is None:
                return
            flow = account.ledger.signals[number]
            before = (flow.sent - flow.taken) - sum(change for _, change in seen.changes)
        for giver, taker in zip(seen.givers, seen.takers[before:], strict=False):
            if giver is not None and taker is not None:
                self.trace.flows.append(FlowArrow(*giver, *taker))
        track, count = Track(TrackKind.COUNTER, str(number)), before
        self._count(track, "signals", self._since, count)
        for cycle, change in sorted(seen.changes, key=lambda each: each[0]):
            count += change
            self._count(track, "signals", cycle, count)

    # --- the rest of the machine -------------------------------------------------------------------------------

    def _accessed(self, event: Accessed) -> None:
        label = Label(event.what, Category.ACCESS, (("rounds", event.rounds), ("accesses", event.accesses)))
        self._add(Track(TrackKind.UNIT, str(event.module)), event.cycle, event.end, self.trace.label(label))

    def _path_used(self, event: PathUsed) -> None:
        label = Label(f"{event.amount} bytes", Category.PATH, (("bytes", event.amount),))
        self._add(Track(TrackKind.PATH, event.path), event.cycle, event.end, self.trace.label(label))

    def _enables_changed(self, event: EnablesChanged) -> None:
        for module, count in enumerate(event.counts):
            self._count(Track(TrackKind.ENABLED, str(module)), "PEs", event.cycle, count)


@dataclass
class _Semaphore:
    """Signals of one semaphore: their origins, their takers, and the changes of its count."""

    givers: list[Spot] = field(default_factory=list)
    takers: list[Spot] = field(default_factory=list)
    changes: list[tuple[int, int]] = field(default_factory=list)
