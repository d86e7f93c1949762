"""A run that can be taken to any cycle, forwards and backwards: states kept on the way, and execution from them again.

Runs are deterministic: what happened once happens the same way again. Going back is going on from an earlier state.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from pixelflow.isa import Program
from pixelflow.node.account.accounts import account, unfinished_account
from pixelflow.node.account.run import Run
from pixelflow.node.node import RUN_REASONS, Node
from pixelflow.node.replay.gate import Gate
from pixelflow.node.replay.pokes import Poke, Pokes
from pixelflow.node.replay.state_hash import state_hash
from pixelflow.node.run.order.clocked import Clocked
from pixelflow.node.run.streams.stream import Stream
from pixelflow.node.run.streams.upcoming import Upcoming, ends_at, upcoming
from pixelflow.observe import Executed, RunBegan, RunEnded, Subscriber
from pixelflow.simd.errors import CycleLimitError, DeadlockError, InputError, MachineFault, SimulatorError
from pixelflow.simd.snapshot import Snapshot

__all__ = ["Replay"]

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
        self._start = {"entry": entry, "max_cycles": max_cycles, "shuffle_seed": None, "bus": self.bus}
        self._every, self._keep, self._retell = every, keep, retell
        self._seen = 0
        """How far the run has been taken; subscribers of the node have heard of everything before."""
        self._end: int | None = None
        self._failure: SimulatorError | None = None
        self._states: dict[int, Snapshot] = {0: node.snapshot()}  # by position, before its pokes
        self.pokes = Pokes()
        """What users have changed on the way; `poke` adds to it."""
        self.pokes.begin(node, pokes)
        self._runner: Clocked = node.runner(program, **self._start)
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
        """Whether this is the last position."""
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
        """Go forwards to a cycle, executing all that lies between; returns the position."""
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
        before, begun, done = self.position, set(), self._issued(names)
        while before and len(begun) < count:
            first = max(at for at in self._states if at < before)
            done_first = sum(self._issued_at[first][name] for name in names)
            if done_first < done:  # else they stood still between these positions
                begun.update(self._begun(names, first, before))
            before, done = first, done_first
        return self.goto(sorted(begun)[-count] if len(begun) >= count else 0)

    def hear(self, subscriber: Subscriber, *kinds: type) -> None:
        """Let a subscriber receive all that is executed from this position on, also what was executed before."""
        self.bus.subscribe(subscriber, *kinds)
        self._renew()

    @contextlib.contextmanager
    def hearing(self, subscriber: Subscriber, *kinds: type) -> Iterator[None]:
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
        """Return the cycles from ``first`` on and before ``end`` in which instructions other than control begin."""
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
        """Whether nothing but control is left, which takes no more time: the end of the run is here."""
        return all(self._is_through(stream) for stream in self.streams.values())

    def _is_through(self, stream: Stream) -> bool:
        if stream.halted:
            return stream.cycle <= self.position
        ends = ends_at(stream) if stream.cycle >= self.position else None
        return ends is not None and ends <= self.position

    def _finish(self) -> None:
        """Carry out what boxes still have to do when the streams have ended, or meet the deadlock."""
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
        self._runner = self.node.runner(self.program, **self._start)
        if "run" in state:
            self._runner.restore(state["run"])
        self.position = position
        self.pokes.make(self.node, position)

    def _renew(self) -> None:
        """Go on with a new run at the same position: a run asks at its beginning what anybody wants to hear."""
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
