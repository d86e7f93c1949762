"""The two sequencers as boxes: a stream runs ahead until something visible to others must happen on time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pixelflow.isa import Program
from pixelflow.node.run.perform import Performance
from pixelflow.node.run.straight_code import PortUse, sharing
from pixelflow.node.run.stream import Issue, IssueKind, Stream
from pixelflow.observe import TRANSFER, Progressed, TransferBegan
from pixelflow.simd.boxes import Box
from pixelflow.simd.errors import CycleLimitError, MachineFault, SimulatorError
from pixelflow.simd.units import Cycle

if TYPE_CHECKING:
    from pixelflow.node.transfer import Transfer

# Between two such points a stream's cycles are added up without any event. Visible are a signal, a wait, a transfer, an
# access to a local port or to a mark, and the end. Each of them happens in a tick in its cycle, so that the order of
# ticks within a cycle, and the distance of one stream ahead of the other, cannot matter.


class IgcSpec(NamedTuple):
    """The semaphores that the other stream waits for: their signals go over the wire."""

    remote_semaphores: frozenset[int]


ALONE = IgcSpec(frozenset())
"""The specification of a stream that runs alone."""


@dataclass(slots=True)
class IgcState:
    """The state of a sequencer box, without its stream."""

    resume_at: int | None = 0
    pending: Issue | None = None
    """Yielded by the stream and not executed yet."""
    outstanding: int = 0
    """Modules that are still busy with a transfer."""
    transfer: Transfer | None = None
    """The transfer under way."""


class IgcBox(Box[IgcSpec, IgcState]):
    """A sequencer that runs alone, and the base of the paired ones: running ahead, signals, waits."""

    def __init__(self, stream: Stream, performance: Performance, spec: IgcSpec = ALONE) -> None:
        super().__init__(stream.name, spec, IgcState())
        self.stream = stream
        self.performance = performance
        self.hold: int | None = None
        """Nothing that begins at or after this cycle is executed before it, visible or not."""
        self._issues: Iterator[Issue] = stream.issues()
        self._going: list[int] = []
        self._failure: SimulatorError | None = None
        """An error found while the stream ran ahead; raised in its cycle."""

    def next_event(self) -> Cycle | None:
        return None if self.state.resume_at is None else Cycle(self.state.resume_at)

    @property
    def waits_for(self) -> str | None:
        """The reason why the stream waits, as in `Run.waits`; None where it does not wait."""
        if self.state.transfer is not None:
            return TRANSFER
        if self.state.pending is not None and self.state.pending.kind is IssueKind.STARVED:
            return "instructions"
        return f"sem {self.stream.waiting}" if self._is_blocked else None

    @property
    def _is_blocked(self) -> bool:
        return self.state.pending is not None and self.state.pending.kind is IssueKind.BLOCKED

    def why_blocked(self) -> str | None:
        if not self._is_blocked or self.state.resume_at is not None:
            return None
        return self.stream.why_waiting()

    @property
    def worked(self) -> int:
        return self.stream.cycle

    def tick(self, cycle: Cycle) -> None:
        state, stream = self.state, self.stream
        if stream.supply is not None:
            stream.supply.advance(cycle)
        self._hear(cycle)
        if state.outstanding or (state.resume_at is not None and cycle < state.resume_at):
            return
        if self._failure is not None:
            raise self._failure
        state.resume_at = None
        try:
            while self._step(cycle):
                pass
            self._flush()
        except (MachineFault, CycleLimitError) as error:
            late = isinstance(error, CycleLimitError)  # found before the instruction was counted
            due = stream.cycle if late else stream.cycle - stream.sequencer.cycles[max(0, stream.index - 1)]
            if due <= cycle:
                raise
            # Other boxes may still act before that cycle.
            self._failure, state.resume_at = error, due
        self._tell(cycle)

    def _step(self, cycle: Cycle) -> bool:
        """Advance the stream by one step; returns whether it can take another one in this cycle."""
        state, stream = self.state, self.stream
        if state.pending is None or state.pending.kind is IssueKind.STARVED:
            if self.hold is not None and self.hold <= stream.cycle:
                state.resume_at = stream.cycle
                return False
            state.pending = next(self._issues, None)
        issue = state.pending
        if issue is not None and issue.kind is IssueKind.STARVED:
            state.resume_at = max(cycle + 1, stream.cycle)
            return False
        due = stream.cycle if issue is None else self._due(issue)
        if due is not None and due > cycle:
            state.resume_at = due
            return False
        if issue is None:
            return False
        kind = issue.kind
        if kind is IssueKind.BLOCKED:
            assert stream.waiting is not None, "a stream is blocked by a semaphore"
            if not stream.semaphores.count(stream.waiting):
                return False
            stream.resume(cycle)
        state.pending = None
        if kind is IssueKind.SIGNALLED:
            if stream.signalled in self.spec.remote_semaphores:
                self._going.append(stream.signalled)
        elif kind is not IssueKind.BLOCKED and kind is not IssueKind.STALLED:
            self._act(issue, due)
        return not state.outstanding

    def _due(self, issue: Issue) -> int | None:
        """Return the cycle in which the step must be taken, or None where that is invisible."""
        if issue.kind is IssueKind.STALLED:
            return None
        if issue.index is None and issue.kind is not IssueKind.UNLATCH:
            return self.stream.cycle
        return self._begins(issue)

    def _begins(self, issue: Issue) -> int | None:
        """Return the first cycle of an instruction that is visible to others, None for any other."""
        return None

    def _act(self, issue: Issue, cycle: int | None) -> None:
        """Execute an instruction that begins in ``cycle``."""
        self.performance.issue(self.stream, issue)

    def _hear(self, cycle: Cycle) -> None:
        """Read what has arrived."""

    def _flush(self) -> None:
        """Execute deferred instructions."""

    def _tell(self, cycle: Cycle) -> None:
        """Send the stream's signals."""


@dataclass
class PortState:
    """The transfer that uses the ports, and their last use by PEs."""

    transfer: Transfer | None = None
    since: int = 0
    until: int = -1
    touched_from: int = 0
    touched_until: int = -1
    touched_by: int = -1
    """The instruction that began in ``touched_from``; others may follow immediately (`StraightCode.shared`)."""
    next_touch: int | None = None
    """The next use of a port by PEs, where a transfer has begun between two instructions that use ports."""
    next_by: int = -1


class PortTimes:
    """Checks that transfers and PE instructions of a program do not use the local ports at the same time."""

    def __init__(self, program: Program, use: PortUse) -> None:
        self._program = program
        self.use = use
        self.state = PortState()

    def touch(self, index: int, cycle: int, end: int) -> None:
        """PE instructions use a port or set a mark starting at ``cycle`` and before ``end``.

        Raises MachineFault where a transfer is using the ports.
        """
        state = self.state
        state.touched_from, state.touched_until, state.touched_by = cycle, end - 1, index
        if state.transfer is not None or cycle <= state.until:
            raise self._conflict(index, f"in use from cycle {state.since}", cycle)

    def begin(self, transfer: Transfer, cycle: int) -> None:
        """A transfer uses the ports starting at ``cycle``; raises MachineFault where a PE instruction does."""
        state, cycles = self.state, self._program.cycles
        state.transfer, state.since = transfer, cycle
        if cycle > state.touched_until:
            return
        index, begins = state.touched_by, state.touched_from
        while begins + cycles[index] <= cycle:
            begins, index = begins + cycles[index], index + 1
        if self._touches(index):
            raise self._conflict(index, "taken in this cycle", cycle)
        while not self._touches(index):
            begins, index = begins + cycles[index], index + 1
        state.next_touch, state.next_by = begins, index

    def _touches(self, index: int) -> bool:
        """Return whether an instruction that began in or after ``touched_from`` uses a port or sets a mark.

        Where that depends on parameters, the first one does, and those immediately after it do not.
        """
        return index == self.state.touched_by or sharing(self._program.by_kind[index]) is True

    def end(self, cycle: int) -> None:
        """The transfer has ended; raises MachineFault where a PE instruction has used the ports meanwhile."""
        state = self.state
        if state.next_touch is not None and state.next_touch <= cycle:
            raise self._conflict(state.next_by, f"in use from cycle {state.since}", state.next_touch)
        state.transfer, state.until, state.next_touch = None, cycle, None

    def _conflict(self, index: int, how: str, cycle: int) -> MachineFault:
        who = f"{self._program.instructions[index].text()} at {self._program.where(index)}"
        return MachineFault(f"port conflict in cycle {cycle}: {who}, while the ports are {how} by a texture transfer")


class _PairedBox(IgcBox):
    """One of two sequencers that signal each other."""

    inputs: tuple[str, ...] = ("signals_in",)
    outputs: tuple[str, ...] = ("signals_out",)

    def __init__(self, stream: Stream, performance: Performance, spec: IgcSpec, ports: PortTimes) -> None:
        super().__init__(stream, performance, spec)
        self._ports = ports

    def _hear(self, cycle: Cycle) -> None:
        for semaphores in self.wires["signals_in"].take_all(cycle):
            for semaphore in semaphores:
                self.stream.semaphores.signal(semaphore)

    def _tell(self, cycle: Cycle) -> None:
        if self._going:
            # Control takes no time, so a stream can send any number of signals in one cycle: they go as one item.
            self.wires["signals_out"].send(cycle, tuple(self._going))
            self._going.clear()
        self.bus.emit(Progressed, cycle)


class EigcBox(_PairedBox):
    """The sequencer of the EMCs, where that of the TASICs can see local ports and marks."""

    def _begins(self, issue: Issue) -> int | None:
        if issue.index is None or not self._ports.use.shared(issue.index, self.stream.parameters):
            return None
        return self.stream.begins(issue)

    def _act(self, issue: Issue, cycle: int | None) -> None:
        if issue.index is not None and cycle is not None:
            self._ports.touch(issue.index, cycle, self.stream.cycle)
        super()._act(issue, cycle)

    def _flush(self) -> None:
        if self.bus.wants(Progressed):  # a subscriber may look at the PEs; the texture side flushes itself
            self.performance.flush()


class TigcBox(_PairedBox):
    """The sequencer of the TASICs: it commands those of all modules and waits until the last is done."""

    def __init__(self, stream: Stream, performance: Performance, spec: IgcSpec, ports: PortTimes, modules: int) -> None:
        super().__init__(stream, performance, spec, ports)
        self.inputs = (*self.inputs, *(f"done{module}" for module in range(modules)))
        self.outputs = (*self.outputs, *(f"command{module}" for module in range(modules)))
        self._modules = range(modules)

    def _begins(self, issue: Issue) -> int | None:
        return self.stream.begins(issue)

    def _act(self, issue: Issue, cycle: int | None) -> None:
        if issue.index is None:
            return
        assert cycle is not None, "texture instructions are visible"
        with self._placed(issue.index, cycle):
            transfer = self.performance.tell(issue.index)
        if transfer is None:
            return
        if transfer.uses_ports:
            self._ports.begin(transfer, cycle)
        with self._placed(issue.index, cycle):
            commands = self.performance.begin(transfer)
        for module, command in zip(self._modules, commands, strict=True):
            self.wires[f"command{module}"].send(Cycle(cycle), command)
        if self.bus.wants(TransferBegan) and self.performance.accessed is not None:
            self.bus.emit(TransferBegan, cycle, self.stream.name, issue.index, self.performance.accessed)
        self.state.transfer = transfer
        self.state.outstanding = len(self._modules)

    @contextmanager
    def _placed(self, index: int, cycle: int | None) -> Iterator[None]:
        """Give a fault the place of its instruction in the program, the stream and the cycle."""
        try:
            yield
        except MachineFault as error:
            where = self.stream.program.where(index)
            said = str(error).removeprefix(f"{where}: ")
            raise MachineFault(f"{where}: {said} (TIGC, cycle {cycle})") from None

    def _hear(self, cycle: Cycle) -> None:
        super()._hear(cycle)
        if not self.state.outstanding:
            return
        for module in self._modules:
            self.state.outstanding -= len(self.wires[f"done{module}"].take_all(cycle))
        if not self.state.outstanding:
            self.stream.resume(cycle)
            self.performance.end()
            assert self.state.transfer is not None, "a transfer is under way"
            if self.state.transfer.uses_ports:
                self._ports.end(cycle)
            self.state.transfer = None
