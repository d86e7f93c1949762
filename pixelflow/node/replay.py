"""A run that can be moved to any cycle, forwards and backwards: states kept on the way, and execution from them.

Runs are deterministic, so going back is executing again from an earlier state.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple

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
from pixelflow.simd.observe import Emitted, ProgramView
from pixelflow.simd.report import Json
from pixelflow.simd.units import Snapshot


class Gate(Bus):
    """Bus that forwards events to another bus while it is open; its own subscribers receive everything."""

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


# Changes of PE state by a user at a position of a run. They are part of the run: a poke is made after everything that
# begins before its cycle, whenever the run is moved through that position, so that a position has one state.


_FLAGS = ("C", "E", "L", "MR", "MW")
_LONGEST_TEXT = 10_000

MEMORY = "memory"
"""The part of a poke of bytes; other parts are registers and flags by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Poke:
    """A change of a register, a flag or bytes of some PEs at a position."""

    cycle: int
    text: str
    """The text entered by the user."""
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
        """Return the poke of a JSON object on an array; raises ValueError for anything else."""
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
            raise ValueError("a number is out of range")
        if not text.isprintable() or len(text) > _LONGEST_TEXT:
            raise ValueError("its text is not printable, or too long")
        return cls(cycle, text, str(part), np.array(lanes, np.int64), rows, start)

    def make(self, node: Node) -> None:
        """Change the node; raises InputError for state that it does not have."""
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
    """The pokes of a run by number, in order of creation."""

    made: dict[int, Poke] = field(default_factory=dict)
    last: int = 0

    def __bool__(self) -> bool:
        return bool(self.made)

    def add(self, poke: Poke) -> int:
        """Add a poke; returns its number, which is unique."""
        self.last += 1
        self.made[self.last] = poke
        return self.last

    def begin(self, node: Node, pokes: Iterable[Poke]) -> None:
        """Add the pokes of a new run, and make those of its first position."""
        for each in pokes:
            self.add(each)
        self.make(node, 0)

    def forget(self, number: int) -> Poke:
        """Remove a poke and return it; raises InputError where there is none of that number."""
        if number not in self.made:
            raise InputError(f"there is no poke {number} (there is: {', '.join(map(str, self.made)) or 'none'})")
        return self.made.pop(number)

    def next_after(self, cycle: int) -> int | None:
        """Return the first position with a poke after a cycle."""
        return min((each.cycle for each in self.made.values() if each.cycle > cycle), default=None)

    def until(self, first: int, last: int) -> Iterator[int]:
        """Yield the positions with pokes after ``first`` up to ``last``, in order."""
        yield from sorted({each.cycle for each in self.made.values() if first < each.cycle <= last})

    def make(self, node: Node, cycle: int) -> None:
        """Make the pokes of a position."""
        for each in self.made.values():
            if each.cycle == cycle:
                each.make(node)


def state_hash(node: Node, runner: Clocked) -> str:
    """Return a hash of PEs, texture and GP memory, TASICs, streams, boxes, wires, however the run was moved there."""
    # Without the last tick of the clock and the number of attempts of a WAIT, which depend on the path.
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
"""Errors that stop a program; anything else is not caused by the program."""


class Replay:
    """A run of a program on a node, from the current state of the node; its data are loaded as `Node.run` does.

    ``position`` is a cycle c: everything that begins before cycle c is done, and nothing else. The node holds the data
    of that position; it may be read, and changed by `poke` alone, which makes the change part of the run. A run that
    ends in a fault, a deadlock or the cycle limit can be moved up to the last position before that; `stopped` has the
    error.

    States are kept every ``every`` cycles; where there would be more than ``keep`` of them, every second one is dropped
    and the distance doubles. ``pokes`` are part of the run from its beginning.

    Earlier subscribers of ``node.bus`` receive each cycle once, when it is reached for the first time; with ``retell``
    whenever it is executed. Subscribers of ``bus`` always receive it.
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
        """The account of the run, once its end was reached."""
        self.bus = Gate(node.bus)
        self.entry = entry
        """The stream that runs alone, None where both run."""
        self._max_cycles = max_cycles
        self._every, self._keep, self._retell = every, keep, retell
        self._seen = 0
        """The last position reached so far; subscribers of the node have received everything before."""
        self._end: int | None = None
        self._failure: SimulatorError | None = None
        self._states: dict[int, Snapshot] = {0: node.snapshot()}  # by position, before its pokes
        self.pokes = Pokes()
        """The changes made by users; `poke` adds to them."""
        self.pokes.begin(node, pokes)
        self._runner: Clocked = node.runner(program, entry, max_cycles, None, bus=self.bus)
        self._issued_at = {0: dict.fromkeys(self.streams, 0)}
        self.bus.emit(RunBegan, 0, program, tuple(self.streams), True, self)

    # --- the position --------------------------------------------------------------------------------------------

    @property
    def runner(self) -> Clocked:
        """The run at this position; another object after going back."""
        return self._runner

    @property
    def streams(self) -> dict[str, Stream]:
        """The streams of the run at this position."""
        return self._runner.streams

    @property
    def cycle(self) -> int:
        """The cycle that the streams have reached."""
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
        """The error that ends the run at this position: a fault, a deadlock, the cycle limit."""
        return self._failure if self.ended else None

    def ahead(self, stream: str) -> Upcoming | None:
        """Return the next instruction of a stream that is not control; None where it has ended or waits."""
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
        """Change PE state at this position, in this and every later pass through it; returns the number of the poke.

        Raises InputError for another position. Kept states of later positions are dropped.
        """
        if poke.cycle != self.position:
            raise InputError(f"the run is at cycle {self.position}, not {poke.cycle}")
        poke.make(self.node)
        self._forget_after(self.position)
        return self.pokes.add(poke)

    def unpoke(self, number: int) -> Poke:
        """Remove a poke of any position; the run stays at its position, or moves to an earlier end.

        Raises InputError for an unknown number.
        """
        poke, position = self.pokes.forget(number), self.position
        if poke.cycle <= position:
            self._restore(max(at for at in self._states if at <= poke.cycle))
        self._forget_after(poke.cycle)
        self.advance(position)
        return poke

    def _forget_after(self, cycle: int) -> None:
        """Drop states after a position, and the end of the run if it may change."""
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
        """Return the last position up to a cycle whose state is kept."""
        return max(at for at in self._states if at <= cycle)

    def advance(self, cycle: int) -> int:
        """Execute up to a cycle; returns the position."""
        cycle = cycle if self._end is None else min(cycle, self._end)
        with self.node.alone():
            while self.position < cycle and not self.ended:
                self._advance(min(cycle, self._next_stop()))
        return self.position

    def step(self, stream: str | None = None, count: int = 1) -> int:
        """Go to the next cycle in which a stream begins an instruction other than control; returns the position.

        Without ``stream`` any stream counts. Where none begins another one, that is the last position; where the stream
        has ended already, nothing changes.
        """
        names = self._names(stream)
        for _ in range(count):
            if all(self.streams[name].halted for name in names):
                break
            self._step(names)
        return self.position

    def back(self, count: int = 1, stream: str | None = None) -> int:
        """Undo ``count`` steps; returns the position, 0 where there are not that many."""
        names = self._names(stream)
        before, done = self.position, self._issued(names)
        begun: set[int] = set()
        while before and len(begun) < count:
            first = max(at for at in self._states if at < before)
            done_first = sum(self._issued_at[first][name] for name in names)
            if done_first < done:
                begun.update(self._begun(names, first, before))
            before, done = first, done_first
        return self.goto(sorted(begun)[-count] if len(begun) >= count else 0)

    def hear(self, subscriber: Callable[[Emitted], None], *kinds: type[Emitted]) -> None:
        """Add a subscriber that receives everything executed after this position, repeats included."""
        self.bus.subscribe(subscriber, *kinds)
        self._renew()

    @contextlib.contextmanager
    def hearing(self, subscriber: Callable[[Emitted], None], *kinds: type[Emitted]) -> Iterator[None]:
        """Add a subscriber during the block."""
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
            assert event is not None, "a run that has not ended has a next cycle"
            if known and min(known) <= event:
                self.goto(min(known))
                return
            before = self._issued(names)
            self.advance(event + 1)
            if self._issued(names) != before:  # a stream continued after a wait in that cycle
                self.goto(event)
                return

    def _issued(self, names: Iterable[str]) -> int:
        """Return the number of instructions other than control that the streams have begun."""
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

    # --- execution -----------------------------------------------------------------------------------------------

    def _next_stop(self) -> int:
        """Return the next cycle with a state to keep, a poke, or the first event for subscribers."""
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
        except BaseException:  # an interrupt or a defect: return to a consistent state
            self._go_quietly(start)
            raise
        self._seen = max(self._seen, self.position)
        if self.position % self._every == 0:
            self._keep_state()
        self.pokes.make(self.node, self.position)

    def _nothing_left(self) -> bool:
        """Return whether nothing but control is left, so that the run ends here."""
        return all(self._is_through(stream) for stream in self.streams.values())

    def _is_through(self, stream: Stream) -> bool:
        if stream.halted:
            return stream.cycle <= self.position
        ends = ends_at(stream) if stream.cycle >= self.position else None
        return ends is not None and ends <= self.position

    def _finish(self) -> None:
        """Execute the rest of the boxes' work after the streams have ended, or the deadlock."""
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
        """Find the last reachable position by bisection: ``start`` is reachable, ``cycle`` is not."""
        low, high = start, cycle
        while high - low > 1:
            middle = (low + high) // 2
            try:
                self._go_quietly(middle)
                low = middle
            except _FAILURES as earlier:
                error, high = earlier, middle
        with contextlib.suppress(*_FAILURES):  # the account is that of the stopped run
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
        """Go to a position already reached, without events."""
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
        """Replace the run by a new one at the same position: a run reads its subscriptions at its beginning."""
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


# A saved run: program, machine, the state at the beginning, and pokes, in one file. Everything else follows from these.


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
"""The members of a file's header."""

_PROGRAMS_OWN = ("halt", "deadlock", "cycle limit", "fault")
"""Ends that a replay reaches as well; after any other one the end of the run is not known."""


class RunEnd(NamedTuple):
    """The end of a saved run."""

    cycles: int
    reason: str
    """As in `Run.reason`."""
    digest: str | None
    """The hash of all PE state at the end; None for a run that was stopped."""


@dataclass(frozen=True)
class SavedRun:
    """A run at its beginning, and its end where that is known."""

    program: Program
    config: NodeConfig
    command: str
    """The command line that made it."""
    entry: str | None
    """The stream that ran alone, None where both ran."""
    max_cycles: int | None
    state: Snapshot = field(repr=False)
    """The node's state at cycle 0."""
    end: RunEnd | None
    pokes: tuple[Poke, ...] = ()
    """Changes made by a user."""
    file: str = field(default="the saved run", compare=False)
    """The file it was read from, for messages."""

    @classmethod
    def of(cls, replay: Replay, command: str) -> SavedRun:
        """Return the run of a replay, with its pokes, and with its end if the replay is there."""
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
        """Raise InputError where a replay with the same pokes has not ended as the saved run did."""
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
    """A replay from a file; an error caused by a forged state names the file."""

    file = ""

    def _advance(self, cycle: int) -> None:
        with trusted(self.file):
            super()._advance(cycle)


class Recorder:
    """Subscriber that keeps one run of a node, by its number counted from 1."""

    def __init__(self, node: Node, command: str, number: int = 1) -> None:
        self._node = node
        node.array.exact = True  # the end is compared with that of a replay, on any engine
        self._command = command
        self._number = number
        self._runs = 0
        self.saved: SavedRun | None = None
        """The run; with its end when it has ended."""

    @property
    def runs(self) -> int:
        """The number of runs that have begun."""
        return self._runs

    def attach(self, bus: Bus) -> None:
        """Subscribe; before the runs begin."""
        bus.subscribe(self.hear, RunBegan, RunEnded)

    def hear(self, event: Event) -> None:
        """Record the state of the node when the run begins; raises InputError for a run without PE data."""
        match event:
            case RunBegan():
                self._runs += 1
                if self._runs == self._number:
                    self._begin(event.program, event.view, event.cycle, function=event.function)
            case RunEnded() if self._runs == self._number and event.reason in _PROGRAMS_OWN:
                digest = self._node.digest() if event.reason == "halt" else None
                assert self.saved is not None, "the run has begun"
                self.saved = replace(self.saved, end=RunEnd(event.cycle, event.reason, digest))

    def _begin(self, program: ProgramView, run: Clocked | Replay, cycle: int, *, function: bool) -> None:
        if not function:
            raise InputError("a timing-only run has no PE data, so there is no run to save")
        if cycle:
            raise InputError(f"a run that was loaded at cycle {cycle} cannot be saved: it has no beginning")
        streams = run.streams
        entry = None if len(streams) > 1 else next(iter(streams))
        limit = next(iter(streams.values())).max_cycles
        assert isinstance(program, Program), "a node runs node programs"
        self.saved = SavedRun(program, self._node.config, self._command, entry, limit, self._node.snapshot(), None)


def _refusal(message: str, file: str) -> InputError:
    return InputError(Fault(message, Place(file), "record it again: pixelflow run PROG --record FILE.npz"))
