"""A run that can be taken to any cycle, forwards and backwards: states kept on the way, and execution from them again.

Runs are deterministic: what happened once happens the same way again. Going back is going on from an earlier state.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import ArrayConfig, NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.isa.declarations import WORDS
from pixelflow.node.account import Run, account, unfinished_account
from pixelflow.node.node import RUN_REASONS, Node
from pixelflow.node.pe_array import with_loaded
from pixelflow.node.run.clocked import Clocked
from pixelflow.node.run.semaphores import STREAMS
from pixelflow.node.run.stream import Stream, Upcoming, ends_at, upcoming
from pixelflow.node.saved_state import DAMAGED, has_kinds, is_like, pack, read_archive, trusted, write_archive
from pixelflow.observe import Bus, Event, Executed, RunBegan, RunEnded
from pixelflow.simd.errors import CycleLimitError, DeadlockError, Fault, InputError, MachineFault, Place, SimulatorError
from pixelflow.simd.files import ARRAYS, read_bytes
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.observe import Emitted
from pixelflow.simd.report import Json
from pixelflow.simd.units import Snapshot

# Gate between what a run emits again and again and those who are to hear it once.


class Gate(Bus):
    """Hands on what a run emits to another bus while it is open; its own subscribers get everything."""

    def __init__(self, beyond: Bus) -> None:
        super().__init__()
        self._beyond = beyond
        self.open = True
        self.muted = False

    def wants(self, kind: type[Event]) -> bool:
        return super().wants(kind) or self._beyond.wants(kind)

    def publish(self, event: Event) -> None:
        if self.muted:
            return
        super().publish(event)
        if self.open:
            self._beyond.publish(event)

    def emit(self, kind: type[Event], *values: object) -> None:
        if super().wants(kind) or (self.open and self._beyond.wants(kind)):
            made: Callable[..., Event] = kind
            self.publish(made(*values))


# Changes that a user makes to what PEs hold while a run is at a position: part of the run from then on.
#
# A poke belongs to a position: everything that begins before its cycle has been done, then it is made, then the cycle
# comes. Whoever takes the run there, from before or from a kept state, makes it again; so a position has one state.


_FLAGS = ("C", "E", "L", "MR", "MW")
_LONGEST_TEXT = 10_000

MEMORY = "memory"
"""The part of a poke of bytes; others are registers and flags by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Poke:
    """A register, a flag or bytes of some PEs get values at a position."""

    cycle: int
    text: str
    """What was written to make it, for people."""
    part: str
    """``memory``, or the name of a register or flag as `Node.register` and `Node.flag` know it."""
    lanes: NDArray[np.int64]
    """The PEs that are changed."""
    values: NDArray[np.uint8]
    """uint8[bytes, changed PEs]; one row for a register or a flag."""
    start: int = 0
    """The first byte, of memory."""

    def as_object(self) -> dict[str, Json]:
        """Return it for JSON."""
        lanes: list[Json] = [*self.lanes.tolist()]
        values: list[Json] = [row.tobytes().hex() for row in np.ascontiguousarray(self.values, np.uint8)]
        about: dict[str, Json] = {"cycle": self.cycle, "text": self.text, "part": self.part, "start": self.start}
        return about | {"lanes": lanes, "values": values}

    @classmethod
    def from_object(cls, found: Mapping[str, object], config: ArrayConfig) -> Poke:
        """Return the poke of an object of JSON on an array; raises ValueError for what no poke is."""
        lanes, values, text = found["lanes"], found["values"], found["text"]
        if not (isinstance(lanes, list) and lanes and isinstance(values, list) and values and isinstance(text, str)):
            raise ValueError("a part is missing")
        cycle, start = (number if type(number) is int else -1 for number in (found["cycle"], found["start"]))
        whole = all(type(lane) is int and 0 <= lane < config.lanes for lane in lanes) and len(set(lanes)) == len(lanes)
        rows = np.array([np.frombuffer(bytes.fromhex(row), np.uint8) for row in values])  # of one length, or an error
        part = found["part"]
        fits = part in (*WORDS, *_FLAGS) and (start, len(rows)) == (0, 1)
        fits |= part == MEMORY and 0 <= start <= config.memory_bytes - len(rows)
        if not (whole and fits and cycle >= 0 and rows.shape[1:] == (len(lanes),)):
            raise ValueError("a number is outside of what there is")
        if not text.isprintable() or len(text) > _LONGEST_TEXT:
            raise ValueError("its text is none")
        return cls(cycle, text, str(part), np.array(lanes, np.int64), rows, start)

    def make(self, node: Node) -> None:
        """Change the node; raises InputError for what it does not have."""
        if self.part == MEMORY:
            rows = node.read_memory(self.start, len(self.values))
            rows[:, self.lanes] = self.values
            node.write_memory(self.start, rows)
        elif self.part in WORDS:
            words = node.register(self.part).copy()
            words[self.lanes] = self.values[0]
            node.set_register(self.part, words)
        else:
            bits = node.flag(self.part).copy()
            bits[self.lanes] = self.values[0] != 0
            node.set_flag(self.part, bits)


@dataclass(slots=True)
class Pokes:
    """The pokes of a run by number, in the order in which they were made."""

    made: dict[int, Poke] = field(default_factory=dict)
    last: int = 0

    def __bool__(self) -> bool:
        return bool(self.made)

    def add(self, poke: Poke) -> int:
        """Take a poke; returns its number, which is given once."""
        self.last += 1
        self.made[self.last] = poke
        return self.last

    def begin(self, node: Node, pokes: Iterable[Poke]) -> None:
        """Take the pokes of a run that begins, and make those of its first position."""
        for each in pokes:
            self.add(each)
        self.make(node, 0)

    def forget(self, number: int) -> Poke:
        """Remove a poke and return it; raises InputError where there is none of that number."""
        if number not in self.made:
            raise InputError(f"there is no poke {number} (there is: {', '.join(map(str, self.made)) or 'none'})")
        return self.made.pop(number)

    def next_after(self, cycle: int) -> int | None:
        """Return the first position past a cycle at which there is a poke."""
        return min((each.cycle for each in self.made.values() if each.cycle > cycle), default=None)

    def until(self, first: int, last: int) -> Iterator[int]:
        """Yield the positions with pokes past ``first`` up to ``last``, in order."""
        yield from sorted({each.cycle for each in self.made.values() if first < each.cycle <= last})

    def make(self, node: Node, cycle: int) -> None:
        """Make those of a position."""
        for each in self.made.values():
            if each.cycle == cycle:
                each.make(node)


# Hash of everything that a run has at a position, equal however the run was taken there.


def state_hash(node: Node, runner: Clocked) -> str:
    """Return a hash of PEs, texture and GP memory, TASICs, streams, boxes, wires."""
    # Left out is what tells how the run was taken here: when the clock ticked last, how often a WAIT was tried.
    state = {
        "texture_memory": [memory.digest() for memory in node.texture_memory],
        "gp_memory": [memory.snapshot() for memory in node.gp_memory],
        "streams": {name: _without(stream.snapshot(), {"control_since"}) for name, stream in runner.streams.items()},
    }
    run = _without(runner.snapshot(), {"streams"})
    run["clock"] = _without(run["clock"], {"cycle"})
    state |= {"texture": node.snapshot()["texture"], "run": run}
    arrays: list[NDArray[np.generic]] = []
    found = hashlib.sha256(json.dumps(pack(state, arrays)).encode())
    found.update(node.digest().encode())
    for array in arrays:
        found.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()


def _without(state: Snapshot, names: Iterable[str]) -> Snapshot:
    return {name: value for name, value in state.items() if name not in names}


_FAILURES = (MachineFault, DeadlockError, CycleLimitError)
"""What can stop a program; anything else is not the program's doing."""


class Replay:
    """A run of a program on a node, from the state that the node is in; its data are loaded as `Node.run` does.

    ``position`` is a cycle c: everything that begins before cycle c has been done, and nothing else has been looked
    at. The node holds the data as they are at that position; others may look at it, and change it by `poke` alone,
    which makes the change part of the run. A run that something stops (a fault, a deadlock, the cycle limit) can be
    taken as far as the last position before it; `stopped` says what it was.

    States are kept every ``every`` cycles; where there would be more than ``keep`` of them, every second one goes and
    the distance doubles. ``pokes`` are part of the run from its beginning.

    Subscribers of ``node.bus`` that have subscribed before hear each cycle once, when it is reached for the first time;
    with ``retell`` whenever it is executed. Those of ``bus`` always hear it.
    """

    def __init__(
        self,
        node: Node,
        program: Program,
        *,
        entry: str | None = None,
        max_cycles: int | None = None,
        every: int = 2048,
        keep: int = 64,
        retell: bool = False,
        pokes: Iterable[Poke] = (),
    ) -> None:
        if every < 1 or keep < 2:
            raise ValueError(f"every {every} cycles, {keep} states: there must be a cycle between them, and two")
        self.node = node
        node.load_once(program)
        node.array.exact = True  # every position has one state, however it was reached
        self.program = program
        self.position = 0
        self.account: Run | None = None
        """The account of the run, as soon as its end was reached once."""
        self.bus = Gate(node.bus)
        self.entry = entry
        """The stream that runs alone, None where both run."""
        self._max_cycles = max_cycles
        self._every, self._keep, self._retell = every, keep, retell
        self._seen = 0
        """How far the run has been taken; subscribers of the node have heard of everything before."""
        self._end: int | None = None
        self._failure: SimulatorError | None = None
        self._states: dict[int, Snapshot] = {0: node.snapshot()}  # by position, before its pokes
        self.pokes = Pokes()
        """What users have changed on the way; `poke` adds to it."""
        self.pokes.begin(node, pokes)
        self._runner: Clocked = node.runner(program, entry, max_cycles, None, bus=self.bus)
        self._issued_at = {0: dict.fromkeys(self.streams, 0)}
        self.bus.emit(RunBegan, 0, program, tuple(self.streams), True, self)

    # --- what it looks like now ----------------------------------------------------------------------------------

    @property
    def runner(self) -> Clocked:
        """The run as it is at this position; another object after going back."""
        return self._runner

    @property
    def streams(self) -> dict[str, Stream]:
        """The streams of the run, as they are at this position."""
        return self._runner.streams

    @property
    def cycle(self) -> int:
        """The last cycle that a stream has come to."""
        return self._runner.cycle

    @property
    def tasic_cycles(self) -> tuple[int, ...]:
        """Busy cycles of the TASICs of each module."""
        return self._runner.tasic_cycles

    @property
    def gni_cycles(self) -> dict[str, int]:
        """Busy cycles of the paths out of the GNI."""
        return self._runner.gni_cycles

    @property
    def end(self) -> int | None:
        """The last position, None where it is not known yet."""
        return self._end

    @property
    def ended(self) -> bool:
        """True if this is the last position."""
        return self.position == self._end

    @property
    def stopped(self) -> SimulatorError | None:
        """What keeps the run from going on from this position: a fault, a deadlock, the cycle limit."""
        return self._failure if self.ended else None

    def ahead(self, stream: str) -> Upcoming | None:
        """Return the next instruction of a stream that is not control.

        None where the stream has ended, or waits, so that the cycle is not known yet.
        """
        running = self.streams[stream]
        if running.halted or running.cycle < self.position:
            return None
        return upcoming(running)

    def digest(self) -> str:
        """Return a hash of all state at this position: PEs, texture and GP memory, TASICs, streams, boxes, wires."""
        return state_hash(self.node, self._runner)

    @property
    def begun(self) -> Snapshot:
        """The state of the node at cycle 0, before its pokes."""
        return self._states[0]

    # --- changing ------------------------------------------------------------------------------------------------

    def poke(self, poke: Poke) -> int:
        """Change what PEs hold at this position, from now on in every pass through it; returns the number of it.

        Raises InputError for another position than this one. What was known of later positions is forgotten.
        """
        if poke.cycle != self.position:
            raise InputError(f"the run stands at cycle {self.position}, not {poke.cycle}")
        poke.make(self.node)
        self._forget_after(self.position)
        return self.pokes.add(poke)

    def unpoke(self, number: int) -> Poke:
        """Take a change back, wherever it was made; the run stays at its position, or goes to an earlier end.

        Raises InputError where there is none of that number.
        """
        poke, position = self.pokes.forget(number), self.position
        if poke.cycle <= position:
            self._restore(max(at for at in self._states if at <= poke.cycle))
        self._forget_after(poke.cycle)
        self.advance(position)
        return poke

    def _forget_after(self, cycle: int) -> None:
        """Forget what follows a position; of an end that time alone brings nothing else can come."""
        self._states = {at: state for at, state in self._states.items() if at <= cycle}
        self._seen = min(self._seen, cycle)
        if self._end is not None and (cycle < self._end or isinstance(self._failure, MachineFault)):
            self._end = self._failure = self.account = None

    # --- going ---------------------------------------------------------------------------------------------------

    def goto(self, cycle: int) -> int:
        """Go to a cycle, or to the last position where that comes first; returns the position."""
        if cycle < 0:
            raise InputError(f"cycle {cycle}: a run begins at cycle 0")
        nearest = self.kept_until(cycle)
        if cycle < self.position or (nearest > self.position and not self._retell):
            self._restore(nearest)
        return self.advance(cycle)

    def kept_until(self, cycle: int) -> int:
        """Return the last position up to a cycle whose state is kept: from there on it has to be executed."""
        return max(at for at in self._states if at <= cycle)

    def advance(self, cycle: int) -> int:
        """Go forwards to a cycle, executing all that is between; returns the position."""
        cycle = cycle if self._end is None else min(cycle, self._end)
        with self.node.alone():
            while self.position < cycle and not self.ended:
                self._advance(min(cycle, self._next_stop()))
        return self.position

    def step(self, stream: str | None = None, count: int = 1) -> int:
        """Go to the next cycle in which a stream begins an instruction other than control; returns the position.

        Without ``stream`` any stream will do. Where none begins another one, that is the last position; where the
        stream has ended already, nothing changes.
        """
        names = self._names(stream)
        for _ in range(count):
            if all(self.streams[name].halted for name in names):
                break
            self._step(names)
        return self.position

    def back(self, count: int = 1, stream: str | None = None) -> int:
        """Undo `step`: go back to the last cycle before in which an instruction other than control begins.

        Returns the position, which is 0 where there are not that many.
        """
        names = self._names(stream)
        before, done = self.position, self._issued(names)
        begun: set[int] = set()
        while before and len(begun) < count:
            first = max(at for at in self._states if at < before)
            done_first = sum(self._issued_at[first][name] for name in names)
            if done_first < done:  # else they stood still between these positions
                begun.update(self._begun(names, first, before))
            before, done = first, done_first
        return self.goto(sorted(begun)[-count] if len(begun) >= count else 0)

    def hear(self, subscriber: Callable[[Emitted], None], *kinds: type[Emitted]) -> None:
        """Let a subscriber receive all that is executed from this position on, also what was executed before."""
        self.bus.subscribe(subscriber, *kinds)
        self._renew()

    @contextlib.contextmanager
    def hearing(self, subscriber: Callable[[Emitted], None], *kinds: type[Emitted]) -> Iterator[None]:
        """Let a subscriber receive what is executed while the block lasts."""
        self.hear(subscriber, *kinds)
        try:
            yield
        finally:
            self.bus.unsubscribe(subscriber)

    def _names(self, stream: str | None) -> list[str]:
        if stream is None:
            return list(self.streams)
        if stream not in self.streams:
            raise InputError(f"no stream {stream!r} runs here (there is: {', '.join(self.streams)})")
        return [stream]

    def _step(self, names: Iterable[str]) -> None:
        self.advance(self.position + 1)
        while not self.ended:
            known = [ahead.cycle for name in names if (ahead := self.ahead(name)) is not None]
            event = self._runner.next_cycle()
            assert event is not None, "a run that goes on has a next cycle"
            if known and min(known) <= event:
                self.goto(min(known))
                return
            before = self._issued(names)
            self.advance(event + 1)
            if self._issued(names) != before:  # a stream that waited has gone on in that cycle
                self.goto(event)
                return

    def _issued(self, names: Iterable[str]) -> int:
        """How many instructions other than control the streams have begun."""
        return sum(
            times
            for stream in (self.streams[name] for name in names)
            for control, times in zip(stream.sequencer.control, stream.executed, strict=True)
            if control is None
        )

    def _begun(self, names: Iterable[str], first: int, end: int) -> list[int]:
        """Return the cycles starting at ``first`` and before ``end`` in which instructions other than control begin."""
        begun: list[int] = []

        def note(event: Executed) -> None:
            if event.stream in names and self.streams[event.stream].sequencer.control[event.index] is None:
                begun.append(event.cycle)

        self.bus.subscribe(note, Executed)
        try:
            self._restore(first)
            self.advance(end)
        finally:
            self.bus.unsubscribe(note)
        return begun

    # --- how -----------------------------------------------------------------------------------------------------

    def _next_stop(self) -> int:
        """The next cycle at which to stop on the way: where a state is due, or where subscribers begin to hear."""
        due = self.position - self.position % self._every + self._every
        poke = self.pokes.next_after(self.position)
        return min([due, *(each for each in (self._seen, poke) if each is not None and each > self.position)])

    def _advance(self, cycle: int) -> None:
        start = self.position
        self.bus.open = self._retell or start >= self._seen
        try:
            self._runner.run_until(cycle)
            self.position = cycle
            if self._runner.next_cycle() is None or self._nothing_left():
                self._finish()
        except _FAILURES as error:
            self._fail(error, start, cycle)
        except BaseException:  # an interrupt, a defect: what is half done is done again from a state that is whole
            self._go_quietly(start)
            raise
        self._seen = max(self._seen, self.position)
        if self.position % self._every == 0:
            self._keep_state()
        self.pokes.make(self.node, self.position)

    def _nothing_left(self) -> bool:
        """Return whether nothing but control is left, which takes no more time: the end of the run is here."""
        return all(self._is_through(stream) for stream in self.streams.values())

    def _is_through(self, stream: Stream) -> bool:
        if stream.halted:
            return stream.cycle <= self.position
        ends = ends_at(stream) if stream.cycle >= self.position else None
        return ends is not None and ends <= self.position

    def _finish(self) -> None:
        """Execute what boxes still have to do when the streams have ended, or meet the deadlock."""
        try:
            self._runner.run()
            self.position = self._runner.cycle
        except DeadlockError as error:
            self._failure = error
            self.position = self._runner.last_cycle + 1
        if self._end is None:
            self._end, self.account = self.position, self._account()
            self._tell_end(self.account)

    def _fail(self, error: SimulatorError, start: int, cycle: int) -> None:
        """Find the last position that can be reached, by bisection: ``start`` can, ``cycle`` cannot."""
        low, high = start, cycle
        while high - low > 1:
            middle = (low + high) // 2
            try:
                self._go_quietly(middle)
                low = middle
            except _FAILURES as earlier:
                error, high = earlier, middle
        with contextlib.suppress(*_FAILURES):  # the account is that of the run when it was stopped, not before
            self._go_quietly(high)
        self._end, self._failure = low, error
        self.account = self._account()
        self._go_quietly(low)
        self._tell_end(self.account)

    def _account(self) -> Run:
        if self._failure is None:
            return account(self._runner, self.node.config, self.node.engine)
        reason = RUN_REASONS[type(self._failure)]
        return unfinished_account(self._runner, self.node.config, self.node.engine, reason)

    def _tell_end(self, run: Run) -> None:
        self.bus.open = True
        self.bus.emit(RunEnded, run.total_cycles, run.reason, {each.stream: each.cycles for each in run.streams}, run)

    def _go_quietly(self, cycle: int) -> None:
        """Go to a position that the run has been at, or before, without a word to anybody."""
        self.bus.muted = True
        try:
            self._restore(max(at for at in self._states if at <= cycle))
            for at in self.pokes.until(self.position, cycle):
                self._runner.run_until(at)
                self.pokes.make(self.node, at)
            self._runner.run_until(cycle)
        finally:
            self.bus.muted = False
        self.position = cycle

    def _restore(self, position: int) -> None:
        """Put the node and a new run into a kept state."""
        state = self._states[position]
        self.bus.open = False
        self.node.restore(state)
        self._runner = self.node.runner(self.program, self.entry, self._max_cycles, None, bus=self.bus)
        if "run" in state:
            self._runner.restore(state["run"])
        self.position = position
        self.pokes.make(self.node, position)

    def _renew(self) -> None:
        """Continue with a new run at the same position: a run asks at its beginning what anybody wants to hear."""
        position = self.position
        self._restore(max(at for at in self._states if at <= position))
        self.advance(position)

    def _keep_state(self) -> None:
        if self.position in self._states or self.ended:
            return
        self._issued_at[self.position] = {name: self._issued([name]) for name in self.streams}
        self._states[self.position] = self.node.snapshot() | {"run": self._runner.snapshot()}
        if len(self._states) > self._keep:
            self._every *= 2
            self._states = {at: state for at, state in self._states.items() if at % self._every == 0}


# A run that can be taken again: program, machine, the state from which it began, and pokes on the way, in one file.
#
# Runs are deterministic, so everything that happened at any cycle follows from these.


SCHEMA = "pixelflow.saved_run/2"

_KINDS: Mapping[str, type | UnionType] = {
    "program": str,
    "config": dict,
    "config_sha256": str,
    "command": str,
    "entry": str | None,
    "max_cycles": int | None,
    "end": dict | None,
}
_END_KINDS: Mapping[str, type | UnionType] = {"cycles": int, "reason": str, "digest": str | None}
"""What the header of a file holds."""

_PROGRAMS_OWN = ("halt", "deadlock", "cycle limit", "fault")
"""Ends that a replay comes to as well; where something else stopped the run, its end is not known."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a saved run ended."""

    cycles: int
    reason: str
    """As in `Run.reason`."""
    digest: str | None
    """The hash of all PE state after a run that came to its end, None for one that something stopped."""


@dataclass(frozen=True)
class SavedRun:
    """A run as it began, and how it ended where that is known."""

    program: Program
    config: NodeConfig
    command: str
    """The command line that made it, for people."""
    entry: str | None
    """The stream that ran alone, None where both ran."""
    max_cycles: int | None
    state: Snapshot = field(repr=False)
    """The node's state at cycle 0."""
    end: RunEnd | None
    pokes: tuple[Poke, ...] = ()
    """What a user changed on the way: part of the run."""
    file: str = field(default="the saved run", compare=False)
    """Where it was read from, for messages."""

    @classmethod
    def of(cls, replay: Replay, command: str) -> SavedRun:
        """Return the run of a replay, with its pokes; with its end where the replay is there."""
        run, end = replay.account, None
        if replay.ended and run is not None and run.reason in _PROGRAMS_OWN:
            end = RunEnd(run.total_cycles, run.reason, replay.node.digest() if run.reason == "halt" else None)
        limit = next(iter(replay.streams.values())).max_cycles
        pokes = tuple(replay.pokes.made.values())
        config = replay.node.config
        return cls(replay.program, config, command, replay.entry, limit, replay.begun, end, pokes)

    def replay(self, engine: str = AUTO, *, watch: Callable[[Bus], None] | None = None, **options: Any) -> Replay:
        """Return the run at cycle 0, on a separate node; ``options`` are those of `Replay`.

        ``watch`` is called with the node's bus before the run begins.
        """
        node = Node(self.config, engine)
        if not is_like(self.state, Node(self.config, "rows").snapshot()):
            raise _refusal(DAMAGED, self.file)
        with trusted(self.file):
            node.restore(self.state)
            if watch is not None:
                watch(node.bus)
            of = node, self.program
            found = _Again(*of, entry=self.entry, max_cycles=self.max_cycles, pokes=self.pokes, **options)
        found.file = self.file
        return found

    def check_end(self, replay: Replay) -> None:
        """Raise InputError where a replay that is at its end has not ended as the saved run did.

        One with other pokes is another run.
        """
        if self.end is None or replay.account is None or tuple(replay.pokes.made.values()) != self.pokes:
            return
        wanted: tuple[object, ...] = (self.end.reason, self.end.cycles)
        found: tuple[object, ...] = (replay.account.reason, replay.account.total_cycles)
        if self.end.digest is not None:
            wanted, found = (*wanted, self.end.digest[:12]), (*found, replay.node.digest()[:12])
        if self.end.reason == "halt" and found != wanted:
            message = f"the run ended with {wanted}, executed again it ends with {found}"
            hint = "the file is damaged or of another version; where a new record does the same, it is a defect here"
            raise InputError(Fault(message, Place(self.file), hint))

    def to_bytes(self) -> bytes:
        """Return the file's contents; the same run gives the same bytes."""
        end = self.end and {"cycles": self.end.cycles, "reason": self.end.reason, "digest": self.end.digest}
        about = {
            "program": self.program.to_json(),
            "config": self.config.values,
            "config_sha256": self.config.sha256,
            "command": self.command,
            "entry": self.entry,
            "max_cycles": self.max_cycles,
            "end": end,
            **({"pokes": [each.as_object() for each in self.pokes]} if self.pokes else {}),
        }
        return write_archive(SCHEMA, about, self.state)

    @classmethod
    def from_bytes(cls, data: bytes, file: str = "the saved run") -> SavedRun:
        """Return the run of a file's contents; raises InputError for a damaged one or one of another version."""

        def refuse(message: str) -> InputError:
            return _refusal(message, file)

        header, state = read_archive(data, SCHEMA, "saved run", refuse)
        if not isinstance(state, dict) or not has_kinds(header, _KINDS) or header["entry"] not in (None, *STREAMS):
            raise refuse(DAMAGED)
        if header["end"] is not None and not has_kinds(header["end"], _END_KINDS):
            raise refuse(DAMAGED)
        try:
            program = Program.from_json(header["program"], file)
            config = load_config(None, [f"{key}={json.dumps(value)}" for key, value in header["config"].items()])
            if config.sha256 != header["config_sha256"]:
                raise refuse("is of another version: its configuration means another machine now")
            end = None if header["end"] is None else RunEnd(**header["end"])
            pokes = tuple(Poke.from_object(each, config.array) for each in header.get("pokes", []))
            entry, limit = header["entry"], header["max_cycles"]
            state = with_loaded(state, [program.sha256] if program.data else [])
            return cls(program, config, header["command"], entry, limit, state, end, pokes, file)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise refuse(DAMAGED) from None

    @classmethod
    def load(cls, path: str | Path) -> SavedRun:
        """Read a file; raises InputError where it cannot be read or is not a saved run of this version."""
        return cls.from_bytes(read_bytes(path, ARRAYS), str(path))


class _Again(Replay):
    """A replay from a file, whose name an error has that no state of a run leads to."""

    file = ""

    def _advance(self, cycle: int) -> None:
        with trusted(self.file):
            super()._advance(cycle)


class Recorder:
    """Subscribes to the runs of a node and keeps one of them: the first, or the one of a number counted from 1."""

    def __init__(self, node: Node, command: str, number: int = 1) -> None:
        self._node = node
        node.array.exact = True  # the end is compared with that of a replay, on any engine
        self._command = command
        self._number = number
        self._runs = 0
        self.saved: SavedRun | None = None
        """The run, from its beginning on; with its end when it has ended."""

    @property
    def runs(self) -> int:
        """How many runs have begun."""
        return self._runs

    def attach(self, bus: Bus) -> None:
        """Listen; before the runs begin."""
        bus.subscribe(self.hear, RunBegan, RunEnded)

    def hear(self, event: Event) -> None:
        """Take the state of the node when the run begins; raises InputError for a run without PE data."""
        match event:
            case RunBegan():
                self._runs += 1
                if self._runs == self._number:
                    self._begin(event)
            case RunEnded() if self._runs == self._number and event.reason in _PROGRAMS_OWN:
                digest = self._node.digest() if event.reason == "halt" else None
                assert self.saved is not None, "the run has begun"
                self.saved = replace(self.saved, end=RunEnd(event.cycle, event.reason, digest))

    def _begin(self, event: RunBegan[Clocked | Replay]) -> None:
        if not event.function:
            raise InputError("a timing-only run has no PE data, so there is no run to save")
        if event.cycle:
            raise InputError(f"a run that was loaded at cycle {event.cycle} cannot be saved: it has no beginning")
        streams = event.view.streams
        entry = None if len(streams) > 1 else next(iter(streams))
        limit = next(iter(streams.values())).max_cycles
        assert isinstance(event.program, Program), "a node runs programs of its own"
        self.saved = SavedRun(
            event.program, self._node.config, self._command, entry, limit, self._node.snapshot(), None
        )


def _refusal(message: str, file: str) -> InputError:
    return InputError(Fault(message, Place(file), "record it again: pixelflow run PROG --record FILE.npz"))
