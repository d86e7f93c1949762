"""A run that is being looked at: goes forwards until something stops it, and anywhere on demand.

Going on works in intervals. While one is executed, an event collector notes what could stop the run; afterwards the
run is taken back to the first of these. So nothing has to be asked at each instruction, and an interval costs what it
costs to run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pixelflow.debugger.event_collector import CycleEvents, EventCollector
from pixelflow.debugger.stops import Anywhere, Bytes, Changed, Cycle, Hit, Stop, Subject, Touched
from pixelflow.debugger.values.expression import StopCondition
from pixelflow.debugger.values.poking import poke_of
from pixelflow.isa import Program, Unit
from pixelflow.isa.control import CALL
from pixelflow.node import Node, Poke, Replay
from pixelflow.observe import Executed
from pixelflow.simd.dialogue import StopTable
from pixelflow.simd.errors import InputError

__all__ = ["DebugSession", "SessionOutcome"]

_INTERVAL = 2048
"""Cycles between two looks at whether the user has interrupted."""
_FAR = 1 << 62


@dataclass(frozen=True, slots=True)
class SessionOutcome:
    """Why the run stands where it stands now."""

    hits: tuple[Hit | Changed, ...] = ()
    interrupted: bool = False


@dataclass
class DebugSession:
    """A replay with its stops."""

    replay: Replay
    stops: StopTable[Stop] = field(default_factory=StopTable)
    interrupted: bool = False
    """Set by whoever wants a long movement to end."""

    def __post_init__(self) -> None:
        self._collector = EventCollector(self.replay)
        self._counting = True
        """Whether meetings of stops count; else each is one to stop at."""
        self._held: dict[int, bool] = {}
        """Whether conditions that may become true anywhere held at the position before, by the number of the stop."""

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
        """Stop there from now on, where the condition holds; returns the stop with its number."""
        return self.stops.enter(lambda number: Stop(number, subject, count, condition))

    def delete(self, number: int) -> None:
        """Forget a stop; raises InputError where there is none of that number."""
        self.stops.forget(number)

    # --- changes ---------------------------------------------------------------------------------------------------

    def poke(self, target: str, value: str, lanes: Sequence[int] | None = None) -> tuple[int, Poke]:
        """Give what PEs hold the value of an expression at this position; returns the poke with its number.

        It is part of the run from now on. Raises InputError for what cannot be recorded, and for values that do not
        fit.
        """
        poke = poke_of(self.node, self.program, self.replay.position, target, value, lanes)
        return self.replay.poke(poke), poke

    # --- movement ------------------------------------------------------------------------------------------------

    def step(self, count: int = 1, stream: str | None = None) -> SessionOutcome:
        """Go on by instructions; stops do not count."""
        return self._repeat(count, lambda: self.replay.step(stream))

    def back(self, count: int = 1, stream: str | None = None) -> SessionOutcome:
        """Go back by instructions."""
        self.replay.back(count, stream)
        return SessionOutcome()

    def goto(self, cycle: int) -> SessionOutcome:
        """Go to a cycle, in either direction; stops do not count."""
        self.interrupted = False
        if cycle < self.replay.position or (self.replay.end is not None and cycle >= self.replay.end):
            self.replay.goto(cycle)
        elif (kept := self.replay.kept_until(cycle)) > self.replay.position:
            self.replay.goto(kept)
        while self.replay.position < cycle and not self.replay.ended:
            if self.interrupted:
                return SessionOutcome(interrupted=True)
            self.replay.goto(min(cycle, self.replay.position + _INTERVAL))
        return SessionOutcome()

    def go_on(self) -> SessionOutcome:
        """Go on to the next stop, or to the last position."""
        return self._run(None)

    def go_back(self) -> SessionOutcome:
        """Go back to the last stop before this position, or to the beginning.

        A stop that counts its meetings counts those on the way back; a condition without a place stops where it becomes
        true on the way forwards.
        """
        self.interrupted = False
        start, last = self.replay.position, self.replay.position - 1
        while last > 0:
            first = self.replay.kept_until(last - 1)
            for position, hits in reversed(self._met_between(first, last)):
                due = tuple(hit for hit in hits if hit.stop.is_due())
                if due:
                    self.replay.goto(position)
                    return SessionOutcome(due)
            if self.interrupted:
                self.replay.goto(start)
                return SessionOutcome(interrupted=True)
            last = first
        self.replay.goto(0)
        return SessionOutcome()

    def _met_between(self, first: int, last: int) -> list[tuple[int, tuple[Hit | Changed, ...]]]:
        """Return the positions past ``first`` up to ``last`` at which stops are met, every meeting, with these."""
        met: list[tuple[int, tuple[Hit | Changed, ...]]] = []
        self.replay.goto(first)
        self._counting = False
        try:
            while (hits := self._forward(None, last + 1).hits) and self.replay.position <= last:
                met.append((self.replay.position, hits))
        finally:
            self._counting = True
        return met

    def step_over(self, stream: str) -> SessionOutcome:
        """Go on to the next instruction or call of a stream in no deeper call than now, or to a stop before it."""
        ahead = self.replay.ahead(stream)
        return self._run(self._reaches(stream, self.depth(stream) if ahead is None else ahead.outermost))

    def leave(self, stream: str) -> SessionOutcome:
        """Go on until a stream has left the routine of its next instruction; raises InputError where it is in none."""
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

    def _repeat(self, count: int, move: Callable[[], int]) -> SessionOutcome:
        self.interrupted = False
        for _ in range(count):
            before = self.replay.position
            if self.interrupted:
                return SessionOutcome(interrupted=True)
            if move() == before:
                break
        return SessionOutcome()

    def _run(self, until: Callable[[Executed], bool] | None) -> SessionOutcome:
        """Go on to the first stop after this position, or to where ``until`` says yes."""
        self.interrupted = False
        return self._forward(until, _FAR)

    def _forward(self, until: Callable[[Executed], bool] | None, end: int) -> SessionOutcome:
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
            last = anywhere if self.replay.ended else []
            hits = [Hit(each, None) for each in (*self._about(Cycle(reached)), *last) if self._is_due(each)]
            if hits:
                return SessionOutcome(tuple(hits))
            if reached >= end:
                break
        return SessionOutcome()

    def _about(self, subject: Cycle) -> list[Stop]:
        return [each for each in self.stops.values() if each.subject == subject]

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
        after = found.get(cycle + 1, CycleEvents())  # what else is met where the run now stands
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
        """Whether a stop that was met at this position is to stop the run: its condition holds, or now holds."""
        if stop.condition is None:
            return not self._counting or stop.is_due()
        before = isinstance(stop.subject, Anywhere) and self._held.get(stop.number, False)
        self._held[stop.number] = now = self._holds(stop)
        return now and not before and (not self._counting or stop.is_due())

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
