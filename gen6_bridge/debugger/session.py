"""Session: threads that carry out a program step by step, forwards and back, and what stops them.

A step is one instruction by all threads that stand at it, those that are furthest back first. Position n means: n steps
have been carried out. What threads do depends on nothing but their registers and what answers their messages, so a
position has one state, however it was reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.assembler import EuProgram
from gen6_bridge.code.isa.meanings.execution import FloatRules
from gen6_bridge.code.isa.meanings.state import ACC_FLOAT, ACC_HIGH, ACC_LOW, DISPATCHED, FLAGS, IP, ON, PC
from gen6_bridge.debugger.places import ThreadPlace
from gen6_bridge.time import EuConfig, Stretches, ThreadTraces, schedule
from gen6_bridge.unit import RunFunctions, dispatched
from pixelflow.simd.dialogue import StopTable
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.isa.places import Code

__all__ = ["AtStep", "EuSession", "EuStop", "PlaceChanged", "StopMet"]

_WORDS = (PC, IP, ACC_LOW, ACC_HIGH, ACC_FLOAT)
_BITS = (*FLAGS, ON, DISPATCHED)
_APART = 1000
"""Steps between two states that are kept."""


@dataclass(frozen=True, slots=True)
class AtStep:
    """A position."""

    number: int


@dataclass(slots=True)
class EuStop:
    """What stops the run, at every ``count``-th time that it is met on the way forwards."""

    number: int
    subject: Code | AtStep | ThreadPlace
    count: int = 1
    met: int = 0

    def is_due(self) -> bool:
        """Count one meeting; return whether it is one to stop at."""
        self.met += 1
        return self.met % self.count == 0


@dataclass(frozen=True, slots=True)
class StopMet:
    """A stop was met: its instruction is the next one, or its position is reached."""

    stop: EuStop


@dataclass(frozen=True, slots=True, eq=False)
class PlaceChanged:
    """What is watched has changed in the last step."""

    stop: EuStop
    by: int
    """The instruction that was carried out."""
    threads: NDArray[np.int64]
    before: NDArray[np.uint32]
    """uint32[threads that differ, double words]."""
    after: NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """All that a position has."""

    position: int
    registers: NDArray[np.uint8]
    memory: NDArray[np.uint8]
    words: tuple[NDArray[np.uint32], ...]
    bits: tuple[NDArray[np.bool_], ...]
    counts: tuple[NDArray[np.int64], NDArray[np.int64]]
    """Instructions issued, and pointers."""
    ended: NDArray[np.bool_]
    lengths: tuple[int, ...]


@dataclass
class EuSession:
    """A run at a position."""

    program: EuProgram
    config: EuConfig
    stops: StopTable[EuStop] = field(default_factory=StopTable)
    interrupted: bool = False
    """Set by whoever wants a long movement to end."""
    position: int = 0
    pokes: list[tuple[int, ThreadPlace, list[int], float]] = field(default_factory=list)
    """What users have changed, as (position, place, threads, value)."""
    stopped: MachineFault | None = None
    """What keeps the run from going on."""

    def __post_init__(self) -> None:
        self._functions = RunFunctions()
        config, rules = self.config, FloatRules(self.config.fused, self.config.flushes)
        self.unit = dispatched(self.program, config.count, config.channels, rules, self._functions, engine="rows")
        self.traces = ThreadTraces(self.unit)
        self._states = [self._state()]

    # --- what stands next ------------------------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether no step can follow."""
        return self.stopped is not None or self.unit.standing() is None

    def cycles(self) -> list[list[tuple[int, int]]]:
        """Return for each thread the cycles of issue of its steps so far, as (instruction, cycle), and its waits.

        They are those of the whole run where one thread is alone or all have ended: else threads that stand further
        back may yet have their turn before.
        """
        issues: list[list[tuple[int, int]]] = [[] for _ in range(self.unit.threads)]

        def issued(thread: int, instruction: int, since: int, cycle: int, held: int, waits: Stretches) -> None:
            issues[thread].append((instruction, cycle))

        schedule(self.program.code, self.traces.steps, self.config, watcher=issued)
        return issues

    # --- stops -----------------------------------------------------------------------------------------------------

    def add(self, subject: Code | AtStep | ThreadPlace, count: int = 1) -> EuStop:
        """Stop there from now on; return the stop with its number."""
        return self.stops.enter(lambda number: EuStop(number, subject, count))

    def delete(self, number: int) -> None:
        """Forget a stop; raises InputError where there is none of that number."""
        self.stops.forget(number)

    # --- changes ---------------------------------------------------------------------------------------------------

    def poke(self, place: ThreadPlace, threads: list[int], value: float) -> None:
        """Give a place a value in some threads at this position, from now on whenever the run comes here.

        Raises InputError for what cannot be changed, and for a value that does not fit.
        """
        place.write(self.unit, threads, value)
        self.pokes.append((self.position, place, threads, value))
        self.stopped = None
        earlier = [state for state in self._states if state.position < self.position]
        self._states = earlier or [self._state()]

    # --- movement --------------------------------------------------------------------------------------------------

    def step(self, count: int, thread: int | None = None) -> None:
        """Go on by steps, or by those that one thread takes part in; stops do not count."""
        self.interrupted = False
        done = 0
        while done < count and not self.ended and not self.interrupted:
            standing = self.unit.standing()
            done += thread is None or (standing is not None and bool(standing[1][thread]))
            self._forward()

    def back(self, count: int) -> None:
        """Go back by steps, at most to the first position."""
        self.goto(max(0, self.position - count))

    def goto(self, position: int) -> None:
        """Go to a position, in either direction; stops do not count."""
        self.interrupted = False
        if position < self.position:
            self._restore(next(each for each in reversed(self._states) if each.position <= position))
        while self.position < position and not self.ended and not self.interrupted:
            self._forward()

    def go_on(self) -> list[StopMet | PlaceChanged]:
        """Go on to the next stop, or to the last position; return what was met."""
        self.interrupted = False
        watched = [(stop, stop.subject) for stop in self.stops.values() if isinstance(stop.subject, ThreadPlace)]
        while not self.ended and not self.interrupted:
            before = [place.read(self.unit) for _, place in watched]
            standing = self.unit.standing()
            by = -1 if standing is None else standing[0]
            self._forward()
            hits: list[StopMet | PlaceChanged] = []
            for (stop, place), old in zip(watched, before, strict=True):
                new = place.read(self.unit)
                threads = np.flatnonzero((old != new).any(axis=1))
                if len(threads) and stop.is_due():
                    hits.append(PlaceChanged(stop, by, threads, old[threads], new[threads]))
            hits += [StopMet(stop) for stop in self.stops.values() if self._is_here(stop) and stop.is_due()]
            if hits:
                return hits
        return []

    def _is_here(self, stop: EuStop) -> bool:
        match stop.subject:
            case AtStep(number):
                return number == self.position
            case Code():
                standing = self.unit.standing()
                return self.stopped is None and standing is not None and standing[0] in stop.subject.indices
        return False

    def _forward(self) -> None:
        if self.position >= self._states[-1].position + _APART:
            self._states.append(self._state())
        kept = self._state()
        try:
            self.unit.step(self.traces)
        except MachineFault as fault:
            self._restore(kept)  # the state before the instruction that failed
            self.stopped = fault
            return
        self.position += 1
        for position, place, threads, value in self.pokes:
            if position == self.position:
                place.write(self.unit, threads, value)

    # --- states ----------------------------------------------------------------------------------------------------

    def _state(self) -> _State:
        unit = self.unit
        return _State(
            self.position,
            unit.memory.data.copy(),
            self._functions.memory.copy(),
            tuple(unit.lanes.get_word(name).copy() for name in _WORDS),
            tuple(unit.lanes.get_bit(name).copy() for name in _BITS),
            (unit.issued.copy(), unit.pointers.copy()),
            unit.ended.copy(),
            tuple(len(each) for each in self.traces.steps),
        )

    def _restore(self, state: _State) -> None:
        unit = self.unit
        unit.memory.data[:], self._functions.memory[:] = state.registers, state.memory
        for name, words in zip(_WORDS, state.words, strict=True):
            unit.lanes.set_word(name, words)
        for name, bits in zip(_BITS, state.bits, strict=True):
            unit.lanes.set_bit(name, bits)
        unit.issued[:], unit.pointers[:] = state.counts
        unit.ended[:] = state.ended
        for steps, length in zip(self.traces.steps, state.lengths, strict=True):
            del steps[length:]
        self.position, self.stopped = state.position, None
