"""The two sequencers as boxes: a stream that runs ahead until something that others can see must happen on time.

Between two such points a stream's cycles are added up without any event. What others can see is a signal, a wait, a
transfer, an access to a local port or to a mark, and the end. Each of them happens in a tick of its own cycle, so that
the order of ticks within a cycle, and how far one stream is ahead of the other, cannot matter.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from pixelflow.errors import CycleLimitError, MachineFault, PixelflowError
from pixelflow.node.streams.stream import BLOCKED, SIGNALLED, UNLATCH, Issue, Stream
from pixelflow.node.texture.transfer import Command, Transfer
from pixelflow.observe import Progressed
from pixelflow.records import record
from pixelflow.sim import Box
from pixelflow.units import Cycle

__all__ = ["EigcBox", "IgcSpec", "PeWorker", "TextureWorker", "TigcBox"]


class PeWorker(Protocol):
    """The functional side of the EMC stream."""

    def shared(self, stream: Stream, issue: Issue) -> bool:
        """Whether the instruction touches a local port or a mark, which the TASICs see."""

    def begin_shared(self, stream: Stream, issue: Issue, cycle: int) -> None:
        """Note that a shared instruction begins in ``cycle``; it is issued next."""

    def issue(self, stream: Stream, issue: Issue) -> None:
        """Carry out an instruction, at the latest with the next `flush`."""

    def flush(self) -> None:
        """Carry out what still waits."""


class TextureWorker(Protocol):
    """The functional side of the texture stream."""

    def issue(self, stream: Stream, issue: Issue) -> Transfer | None:
        """Carry out a texture instruction; returns the transfer that it asks for, if it asks for one."""

    def begin(self, transfer: Transfer, cycle: int) -> tuple[Command, ...]:
        """Begin a transfer; returns what the TASICs of each module are told."""

    def end(self, transfer: Transfer, cycle: int) -> None:
        """End the transfer."""


@record
class IgcSpec:
    """What a sequencer box knows of the two programs."""

    elsewhere: frozenset[int]
    """Semaphores that the other stream waits for: their signals go over the wire."""


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


class _StreamBox(Box[IgcSpec, IgcState]):
    """What both sequencers share: running ahead, signals and waits."""

    inputs = ("signals_in",)
    outputs = ("signals_out",)

    def __init__(self, name: str, spec: IgcSpec, stream: Stream) -> None:
        super().__init__(name, spec, IgcState())
        self.stream = stream
        self.hold: int | None = None
        """Nothing that begins at or after this cycle is done before it, even where nobody could see that it was."""
        self._issues: Iterator[Issue] = stream.issues()
        self._going: list[int] = []
        self._failure: PixelflowError | None = None
        """What has stopped the stream while it ran ahead; raised when its cycle has come."""

    def next_event(self) -> Cycle | None:
        return None if self.state.resume_at is None else Cycle(self.state.resume_at)

    @property
    def waits_for(self) -> str | None:
        """Why the stream does nothing of its own, as in `Run.waits`; None where it does not wait."""
        if self.state.transfer is not None:
            return "transfer"
        return f"sem {self.stream.waiting}" if self.state.pending == BLOCKED else None

    def why_blocked(self) -> str | None:
        if self.state.pending != BLOCKED or self.state.resume_at is not None:
            return None
        return self.stream.why_waiting()

    def tick(self, cycle: Cycle) -> None:
        state, stream = self.state, self.stream
        for semaphores in self.wires["signals_in"].take_all(cycle):
            for semaphore in semaphores:
                stream.semaphores.signal(semaphore)
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
            due = stream.cycle if late else stream.begins(max(0, stream.index - 1))
            if due <= cycle:
                raise
            # Others have not come that far yet, and what they do before is part of the run.
            self._failure, state.resume_at = error, due
        if self._going:
            # Control takes no time, so a stream can send any number of signals in one cycle: they go as one item.
            self.wires["signals_out"].send(cycle, tuple(self._going))
            self._going.clear()
        self.bus.tell(Progressed, cycle)

    def _step(self, cycle: Cycle) -> bool:
        """Take the stream one step on; returns whether it can take another one in this cycle."""
        state, stream = self.state, self.stream
        if state.pending is None:
            if self.hold is not None and self.hold <= stream.cycle:
                state.resume_at = stream.cycle
                return False
            state.pending = next(self._issues, None)
        issue = state.pending
        due = stream.cycle if issue is None else self._due(issue)
        if due is not None and due > cycle:
            state.resume_at = due
            return False
        if issue is None:
            return False
        if issue == BLOCKED:
            if not stream.semaphores.count(stream.waiting):
                return False
            stream.resume(cycle)
        state.pending = None
        if issue == SIGNALLED:
            self._signal(stream.signalled)
        elif issue != BLOCKED:
            self._act(issue, due)
        return not state.outstanding

    def _due(self, issue: Issue) -> int | None:
        """Return the cycle in which the step must be taken, or None where no one can see when."""
        if issue in (BLOCKED, SIGNALLED):
            return self.stream.cycle
        return self._begins(issue)

    @abstractmethod
    def _begins(self, issue: Issue) -> int | None:
        """Return the first cycle of an instruction that others can see, None for one that they cannot."""

    @abstractmethod
    def _act(self, issue: Issue, cycle: int | None) -> None:
        """Carry out an instruction that begins in ``cycle``."""

    def _hear(self, cycle: Cycle) -> None:
        """Read what else has arrived."""

    def _flush(self) -> None:
        """Finish what was put off."""

    def _signal(self, semaphore: int) -> None:
        if semaphore in self.spec.elsewhere:
            self._going.append(semaphore)


class EigcBox(_StreamBox):
    """The sequencer of the EMCs."""

    def __init__(self, spec: IgcSpec, stream: Stream, worker: PeWorker) -> None:
        super().__init__("eigc", spec, stream)
        self._worker = worker

    def _begins(self, issue: Issue) -> int | None:
        if issue == UNLATCH or not self._worker.shared(self.stream, issue):
            return None
        return self.stream.begins(issue)

    def _act(self, issue: Issue, cycle: int | None) -> None:
        if cycle is not None:
            self._worker.begin_shared(self.stream, issue, cycle)
        self._worker.issue(self.stream, issue)

    def _flush(self) -> None:
        if self.bus.wants(Progressed):  # who hears it may look at the PEs; the texture side asks by itself
            self._worker.flush()


class TigcBox(_StreamBox):
    """The sequencer of the TASICs: it commands those of all modules and waits until the last is done."""

    def __init__(self, spec: IgcSpec, stream: Stream, worker: TextureWorker, modules: int) -> None:
        super().__init__("tigc", spec, stream)
        self.inputs = ("signals_in", *(f"done{module}" for module in range(modules)))
        self.outputs = ("signals_out", *(f"command{module}" for module in range(modules)))
        self._worker = worker
        self._modules = range(modules)

    def _begins(self, issue: Issue) -> int | None:
        return self.stream.begins(issue)

    def _act(self, issue: Issue, cycle: int | None) -> None:
        if issue == UNLATCH:
            return
        transfer = self._worker.issue(self.stream, issue)
        if transfer is None:
            return
        for module, command in zip(self._modules, self._worker.begin(transfer, cycle), strict=True):
            self.wires[f"command{module}"].send(cycle, command)
        self.state.transfer = transfer
        self.state.outstanding = len(self._modules)

    def _hear(self, cycle: Cycle) -> None:
        if not self.state.outstanding:
            return
        for module in self._modules:
            self.state.outstanding -= len(self.wires[f"done{module}"].take_all(cycle))
        if not self.state.outstanding:
            self.stream.resume(cycle)
            self._worker.end(self.state.transfer, cycle)
            self.state.transfer = None
