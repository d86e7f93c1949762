"""A run that is being looked at: goes forwards until something stops it, and anywhere on demand.

Going on works in intervals. While one is executed, an event collector notes what could stop the run; afterwards the
run is taken back to the first of these. So nothing has to be asked at each instruction, and an interval costs what it
costs to run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pixelflow.debugger.expressions import StopCondition, poke_of
from pixelflow.isa import Program, Unit
from pixelflow.isa.control import CALL
from pixelflow.isa.declarations import transfers_of
from pixelflow.node import Node, Poke, Replay
from pixelflow.observe import Blocked, Executed, Signalled, StageBegan, Taken, Waited
from pixelflow.simd.dialogue import RunSession, RunStop, SessionOutcome, StopMet
from pixelflow.simd.errors import InputError
from pixelflow.simd.isa.program import Code
from pixelflow.simd.report import counted

# What stops a run that is being looked at, and what is known when it did.


Touched = Executed | Signalled | Taken | Blocked | StageBegan
"""Events that a stop can be about."""
_TOUCHED: tuple[type[Touched], ...] = (Executed, Signalled, Taken, Blocked, StageBegan)


@dataclass(frozen=True, slots=True)
class Semaphore:
    """A semaphore: signals to it, taking from it, and waiting for it."""

    number: int


@dataclass(frozen=True, slots=True)
class Cycle:
    """A position of the run."""

    cycle: int


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes of PEs, by name where they have one."""

    text: str
    start: int
    size: int
    lanes: tuple[int, ...] | None
    """None for all PEs."""


@dataclass(frozen=True, slots=True)
class StageBegin:
    """A stage, which a MARK begins."""

    name: str


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Any position at which an instruction begins, and the end: for a condition that has become true."""


Subject = Code | Semaphore | Cycle | Bytes | StageBegin | Anywhere


@dataclass(slots=True)
class Stop(RunStop[Subject]):
    """One thing that stops the run, and what must hold there."""

    condition: StopCondition | None = None
    """Without it the stop is not met."""

    @property
    def about(self) -> str:
        """Its subject and condition, in words."""
        match self.subject:
            case Code():
                text = self.subject.text
            case Semaphore():
                text = f"sem {self.subject.number}"
            case Cycle():
                text = f"cycle {self.subject.cycle:,}"
            case StageBegin():
                text = f"stage {self.subject.name}"
            case Anywhere():
                text = ""
            case Bytes():
                text = f"watch {self.subject.text}{_within(self.subject.lanes)}"
        if self.condition is not None:
            text = f"{text} if {self.condition.expression.text}{_within(self.condition.lanes)}".lstrip()
        return text

    def meets(self, event: Touched) -> bool:
        """Return whether the stop is about an event."""
        match self.subject:
            case Code():
                return isinstance(event, Executed) and event.index in self.subject.indices
            case Semaphore():
                return not isinstance(event, Executed | StageBegan) and event.semaphore == self.subject.number
            case StageBegin():
                return isinstance(event, StageBegan) and event.name == self.subject.name
        return False


def _within(lanes: Sequence[int] | None) -> str:
    return "" if lanes is None else f" in {counted(len(lanes), 'PE')}"


@dataclass(frozen=True, slots=True)
class Hit(StopMet[Stop]):
    """A stop was met at the position; ``event`` is about to happen there (None for a cycle)."""

    event: Touched | None


@dataclass(frozen=True)
class Changed(StopMet[Stop]):
    """Watched bytes have changed in the cycle before the position."""

    cycle: int
    by: tuple[tuple[str, int], ...]
    """Instructions that may have changed them: (stream, position of the instruction)."""
    lanes: NDArray[np.int64]
    """The PEs in which they have."""
    before: NDArray[np.uint8]
    """uint8[bytes, PEs]: what the bytes of these PEs were."""
    after: NDArray[np.uint8]


# Collector of a run's events that notes the cycles in which something could stop it.


@dataclass(slots=True)
class CycleEvents:
    """Events of one cycle."""

    met: list[tuple[Stop, Touched]] = field(default_factory=list)
    writers: list[tuple[str, int]] = field(default_factory=list)
    """Instructions that may change watched bytes: (stream, position)."""
    reached: bool = False
    """True if the condition was met that the run was to continue to."""


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
        self._writes: dict[tuple[object, ...], bool] = {}
        self._on = False
        replay.hear(self._touched, *_TOUCHED)
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
            control = self._instructions[event.index].declaration.unit is Unit.SEQUENCER
            if self._anywhere and not control:  # there is no position before a control
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

    def _is_transfer(self, index: int) -> bool:
        return transfers_of(self._instructions[index].declaration) is not None

    def _may_write(self, event: Executed) -> bool:
        """Return whether an instruction names watched bytes; transfers may reach any."""
        instruction = self._instructions[event.index]
        parameters = self._replay.streams[event.stream].parameters
        bases = instruction.bases
        if bases and max(bases) >= len(parameters):
            return False  # a fault, which the run reports
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


_INTERVAL = 2048
"""Cycles of an interval, between which the session looks at whether the user has interrupted."""
_FAR = 1 << 62


@dataclass
class DebugSession(RunSession[Replay, Stop]):
    """A replay with its stops."""

    def __post_init__(self) -> None:
        self._collector = EventCollector(self.replay)
        self._held: dict[int, bool] = {}
        """True if conditions that may become true anywhere held at the position before, by the number of the stop."""

    @property
    def node(self) -> Node:
        """The node, with the data as they are at this position."""
        return self.replay.node

    @property
    def program(self) -> Program:
        """The program that runs."""
        return self.replay.program

    # --- stops ---------------------------------------------------------------------------------------------------

    def add(self, subject: Subject, count: int = 1, condition: StopCondition | None = None) -> Stop:
        """Set a stop, with a condition; returns the stop with its number."""
        return self.stops.enter(lambda number: Stop(number, subject, count, condition=condition))

    # --- changes ---------------------------------------------------------------------------------------------------

    def poke(self, target: str, value: str, lanes: Sequence[int] | None = None) -> tuple[int, Poke]:
        """Give what PEs hold the value of an expression at this position; returns the poke with its number.

        It becomes part of the run. Raises InputError for what cannot be recorded, and for values that do not
        fit.
        """
        poke = poke_of(self.node, self.program, self.replay.position, target, value, lanes)
        return self.replay.poke(poke), poke

    # --- movement ------------------------------------------------------------------------------------------------

    def step(self, count: int = 1, stream: str | None = None) -> SessionOutcome:
        """Continue by instructions; stops do not count."""
        return self.repeat(count, lambda: self.replay.step(stream))

    def back(self, count: int = 1, stream: str | None = None) -> SessionOutcome:
        """Go back by instructions."""
        self.replay.back(count, stream)
        return SessionOutcome()

    def step_over(self, stream: str) -> SessionOutcome:
        """Continue to the next instruction or call of a stream in no deeper call than now, or to a stop before it."""
        ahead = self.replay.ahead(stream)
        return self._run(self._reaches(stream, self.depth(stream) if ahead is None else ahead.outermost))

    def leave(self, stream: str) -> SessionOutcome:
        """Continue until a stream has left the routine of its next instruction; raises InputError where it is in
        none.
        """
        depth = self.depth(stream)
        if not depth:
            raise InputError(f"{stream.upper()} is in its main program, which no RET leaves")
        return self._run(self._reaches(stream, depth - 1))

    def depth(self, stream: str) -> int:
        """Return how many calls the next instruction of a stream is inside of."""
        ahead = self.replay.ahead(stream)
        return len(self.replay.streams[stream].frames if ahead is None else ahead.frames) - 1

    def _reaches(self, stream: str, depth: int) -> Callable[[Executed], bool]:
        """Return the condition that a stream begins an instruction, or a call, inside of at most ``depth`` calls."""
        instructions = self.program.instructions

        def reached(event: Executed) -> bool:
            if event.stream != stream or len(self.replay.streams[stream].frames) - 1 > depth:
                return False
            declaration = instructions[event.index].declaration
            return declaration.unit is not Unit.SEQUENCER or declaration is CALL

        return reached

    def _run(self, until: Callable[[Executed], bool]) -> SessionOutcome:
        """Continue to the first stop after this position, or to where ``until`` says yes."""
        self.interrupted = False
        return self.forward(_FAR, until)

    def forward(self, end: int, until: Callable[[Executed], bool] | None = None) -> SessionOutcome:
        """Go forwards to the next position at which a stop is due, or ``until`` says yes, at most to ``end``."""
        start = self.replay.position
        anywhere = [each for each in self.stops.values() if isinstance(each.subject, Anywhere)]
        self._held = {each.number: self._holds(each) for each in anywhere}
        while not self.replay.ended:
            if self.interrupted:
                return SessionOutcome(interrupted=True)
            cycles = [each.subject.cycle for each in self.stops.values() if isinstance(each.subject, Cycle)]
            limit = min((c for c in cycles if c > self.replay.position), default=end)
            events = self._collector.collect(
                min(limit, end, self.replay.position + _INTERVAL), self.stops.values(), until
            )
            reached = self.replay.position
            for cycle in sorted(events):
                if self.interrupted:
                    return SessionOutcome(interrupted=True)
                if cycle <= reached and (outcome := self._judge(cycle, events, start)) is not None:
                    return outcome
            self.replay.goto(reached)  # looking at changes may have gone back
            last: list[Stop] = anywhere if self.replay.ended else []
            here = [each for each in self.stops.values() if each.subject == Cycle(reached)]
            hits = [Hit(each, None) for each in (*here, *last) if self._is_due(each)]
            if hits:
                return SessionOutcome(tuple(hits))
            if reached >= end:
                break
        return SessionOutcome()

    def _judge(self, cycle: int, found: dict[int, CycleEvents], start: int) -> SessionOutcome | None:
        """Return why the run stops in a cycle, having gone there; None where it does not."""
        events = found[cycle]
        if cycle > start:
            hits = self._hits(cycle, events.met)
            if hits or events.reached:
                self.replay.goto(cycle)
                return SessionOutcome(tuple(hits))
        changed = self._changes(cycle, events.writers) if events.writers else []
        if not changed:
            return None
        after = found.get(cycle + 1, CycleEvents())  # what else is met at the new position
        return SessionOutcome((*changed, *self._hits(cycle + 1, after.met)))

    def _hits(self, cycle: int, met: Iterable[tuple[Stop, Touched]]) -> list[Hit]:
        """Return which stops that were met in a cycle are to stop the run; those anywhere once, by the first stream."""
        hits = []
        seen: set[int] = set()
        for stop, event in met:
            if isinstance(stop.subject, Anywhere) and stop.number in seen:
                continue
            seen.add(stop.number)
            if stop.condition is not None:
                self.replay.goto(cycle)
            if self._is_due(stop):
                hits.append(Hit(stop, event))
        return hits

    def _is_due(self, stop: Stop) -> bool:
        """Return whether a stop that was met at this position is to stop the run: its condition holds, or now holds."""
        if stop.condition is None:
            return not self.counting or stop.is_due()
        before = isinstance(stop.subject, Anywhere) and self._held.get(stop.number, False)
        self._held[stop.number] = now = self._holds(stop)
        return now and not before and (not self.counting or stop.is_due())

    def _holds(self, stop: Stop) -> bool:
        return stop.condition is None or stop.condition.holds(self.node, self.replay.position)

    def _changes(self, cycle: int, writers: Iterable[tuple[str, int]]) -> list[Changed]:
        """Go through a cycle in which watched bytes may change, and return those that did and are to stop the run."""
        watched = [(each, each.subject) for each in self.stops.values() if isinstance(each.subject, Bytes)]
        self.replay.goto(cycle)
        before = [self.node.read_memory(at.start, at.size) for _, at in watched]
        self.replay.goto(cycle + 1)
        found = []
        for (stop, at), old in zip(watched, before, strict=True):
            new = self.node.read_memory(at.start, at.size)
            differs = (old != new).any(axis=0)
            lanes = np.flatnonzero(differs)
            if at.lanes is not None:
                lanes = np.array([lane for lane in at.lanes if differs[lane]], np.int64)
            if len(lanes) and self._is_due(stop):
                found.append(Changed(stop, cycle, tuple(writers), lanes, old[:, lanes], new[:, lanes]))
        return found
