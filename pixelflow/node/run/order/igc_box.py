"""The two sequencers as boxes: a stream that runs ahead until something that others can see must happen on time.

Between two such points a stream's cycles are added up without any event. What others can see is a signal, a wait, a
transfer, an access to a local port or to a mark, and the end. Each of them happens in a tick of its own cycle, so that
the order of ticks within a cycle, and how far one stream is ahead of the other, cannot matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pixelflow.node.parts.texture.transfer import Transfer
from pixelflow.node.run.order.emc_ports_box import PortTimes
from pixelflow.node.run.perform.performance import Performance
from pixelflow.node.run.streams.issue import Issue, IssueKind
from pixelflow.node.run.streams.stream import Stream
from pixelflow.observe import TRANSFER, Progressed, TransferBegan
from pixelflow.simd.boxes import Box
from pixelflow.simd.errors import CycleLimitError, MachineFault, SimulatorError
from pixelflow.simd.units import Cycle

__all__ = ["EigcBox", "IgcBox", "IgcSpec", "TigcBox"]


@dataclass(frozen=True, slots=True)
class IgcSpec:
    """What a sequencer box knows of the two programs."""

    remote_semaphores: frozenset[int]
    """Those that the other stream waits for: their signals go over the wire."""


ALONE = IgcSpec(frozenset())
"""Of a stream that runs alone."""


@dataclass(slots=True)
class IgcState:
    """What a sequencer box holds besides its stream."""

    resume_at: int | None = 0
    pending: Issue | None = None
    """What the stream has yielded and the box has not done yet."""
    outstanding: int = 0
    """Modules that are still busy with a transfer."""
    transfer: Transfer | None = None
    """The transfer under way."""


class IgcBox(Box[IgcSpec, IgcState]):
    """A sequencer that runs alone: nobody sees what it does before its end; running ahead, signals and waits of all."""

    def __init__(self, stream: Stream, performance: Performance, spec: IgcSpec = ALONE) -> None:
        super().__init__(stream.name, spec, IgcState())
        self.stream = stream
        self.performance = performance
        self.hold: int | None = None
        """Nothing that begins at or after this cycle is done before it, even where nobody could see that it was."""
        self._issues: Iterator[Issue] = stream.issues()
        self._going: list[int] = []
        self._failure: SimulatorError | None = None
        """What has stopped the stream while it ran ahead; raised when its cycle has come."""

    def next_event(self) -> Cycle | None:
        return None if self.state.resume_at is None else Cycle(self.state.resume_at)

    @property
    def waits_for(self) -> str | None:
        """Why the stream does nothing of its own, as in `Run.waits`; None where it does not wait."""
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
            # Others have not come that far yet, and what they do before is part of the run.
            self._failure, state.resume_at = error, due
        self._tell(cycle)

    def _step(self, cycle: Cycle) -> bool:
        """Take the stream one step on; returns whether it can take another one in this cycle."""
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
        """Return the cycle in which the step must be taken, or None where no one can see when."""
        if issue.kind is IssueKind.STALLED:
            return None
        if issue.index is None and issue.kind is not IssueKind.UNLATCH:
            return self.stream.cycle
        return self._begins(issue)

    def _begins(self, issue: Issue) -> int | None:
        """Return the first cycle of an instruction that others can see, None for one that they cannot."""
        return None

    def _act(self, issue: Issue, cycle: int | None) -> None:
        """Carry out an instruction that begins in ``cycle``."""
        self.performance.issue(self.stream, issue)

    def _hear(self, cycle: Cycle) -> None:
        """Read what has arrived."""

    def _flush(self) -> None:
        """Finish what was put off."""

    def _tell(self, cycle: Cycle) -> None:
        """Send what the stream has for others."""


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
    """The sequencer of the EMCs beside that of the TASICs, which sees local ports and marks."""

    def _begins(self, issue: Issue) -> int | None:
        if issue.index is None or not self._ports.use.shared(issue.index, self.stream.parameters):
            return None
        return self.stream.begins(issue)

    def _act(self, issue: Issue, cycle: int | None) -> None:
        if cycle is not None:
            self._ports.touch(issue.index, cycle, self.stream.cycle)
        super()._act(issue, cycle)

    def _flush(self) -> None:
        if self.bus.wants(Progressed):  # a subscriber may look at the PEs; the texture side asks by itself
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
        with self._placed(issue.index, cycle):
            transfer = self.performance.tell(issue.index)
        if transfer is None:
            return
        if transfer.uses_ports:
            self._ports.begin(transfer, cycle)
        with self._placed(issue.index, cycle):
            commands = self.performance.begin(transfer)
        for module, command in zip(self._modules, commands, strict=True):
            self.wires[f"command{module}"].send(cycle, command)
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
            if self.state.transfer.uses_ports:
                self._ports.end(cycle)
            self.state.transfer = None
