"""Collector of a run's events that notes the cycles in which something could stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pixelflow.debugger.stops import Anywhere, Bytes, Stop, Touched
from pixelflow.isa import Unit
from pixelflow.node import Replay
from pixelflow.observe import Blocked, Executed, Signalled, StageBegan, Taken, Waited

__all__ = ["CycleEvents", "EventCollector"]


@dataclass(slots=True)
class CycleEvents:
    """What was noted of one cycle."""

    met: list[tuple[Stop, Touched]] = field(default_factory=list)
    writers: list[tuple[str, int]] = field(default_factory=list)
    """Instructions that may change watched bytes: (stream, position)."""
    reached: bool = False
    """Whether the condition was met that the run was to go on to."""


class EventCollector:
    """Subscribes to a replay, and collects its events while it goes forwards."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._instructions = replay.program.instructions
        self._stops: list[Stop] = []
        self._anywhere: list[Stop] = []
        self._watched: list[Bytes] = []
        self._until: Callable[[Executed], bool] | None = None
        self._heard: dict[int, CycleEvents] = {}
        self._writes: dict[tuple, bool] = {}
        self._on = False
        replay.hear(self._touched, Executed, Signalled, Taken, Blocked, StageBegan)
        replay.hear(self._waited, Waited)

    def collect(
        self, cycle: int, stops: Iterable[Stop], until: Callable[[Executed], bool] | None
    ) -> dict[int, CycleEvents]:
        """Take the run forwards to a cycle; returns by cycle what may stop it there."""
        self._stops = list(stops)
        watched = [stop.subject for stop in self._stops if isinstance(stop.subject, Bytes)]
        if watched != self._watched:
            self._watched = watched
            self._writes.clear()
        self._anywhere = [stop for stop in self._stops if isinstance(stop.subject, Anywhere)]
        self._until, self._heard, self._on = until, {}, True
        try:
            self._replay.advance(cycle)
        finally:
            self._on = False
        return self._heard

    def _touched(self, event: Touched) -> None:
        if not self._on:
            return
        for stop in self._stops:
            if stop.meets(event):
                self._note(stop, event)
        if isinstance(event, Executed):
            if self._anywhere and self._is_timed(event.index):
                self._at(event.cycle).met += [(stop, event) for stop in self._anywhere]
            if self._until is not None and self._until(event):
                self._at(event.cycle).reached = True
            if self._watched and self._may_write(event):
                self._at(event.cycle).writers.append((event.stream, event.index))

    def _waited(self, event: Waited) -> None:
        """A transfer brings its bytes in the cycle in which it ends."""
        if self._on and self._watched and self._is_transfer(event.index):
            self._at(event.end).writers.append((event.stream, event.index))

    def _note(self, stop: Stop, event: Touched) -> None:
        met = self._at(event.cycle).met
        if isinstance(event, Taken):  # a stream that ran ahead of the clock did not know that it need not wait
            blocked = (event.stream, event.index)
            met[:] = [e for e in met if not (isinstance(e[1], Blocked) and (e[1].stream, e[1].index) == blocked)]
        met.append((stop, event))

    def _at(self, cycle: int) -> CycleEvents:
        return self._heard.setdefault(cycle, CycleEvents())

    def _is_timed(self, index: int) -> bool:
        """Whether an instruction is no control, so that there is a position before it."""
        return self._instructions[index].declaration.unit is not Unit.SEQUENCER

    def _is_transfer(self, index: int) -> bool:
        return self._instructions[index].declaration.transfers is not None

    def _may_write(self, event: Executed) -> bool:
        """Whether an instruction names watched bytes; transfers may reach any."""
        instruction = self._instructions[event.index]
        parameters = self._replay.streams[event.stream].parameters
        bases = instruction.bases
        if bases and max(bases) >= len(parameters):
            return False  # a fault, of which the run will tell
        key = (event.index, *(parameters[base] for base in bases))
        known = self._writes.get(key)
        if known is None:
            touches = instruction.resolve(parameters).touches if bases else instruction.touches
            known = self._writes[key] = self._is_transfer(event.index) or any(
                first.offset < at.start + at.size and at.start < first.offset + size
                for first, size in touches
                for at in self._watched
            )
        return known
