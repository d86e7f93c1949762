"""A run of one instruction stream alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.control import SEMAPHORES
from pixelflow.node.account.ledger import Ledger, signal_flows
from pixelflow.node.array.pe_array import PeArray
from pixelflow.node.perform.on_lanes import ArrayWorker
from pixelflow.node.perform.score import Score
from pixelflow.node.streams.analysis import analysis_of
from pixelflow.node.streams.semaphore_use import OpenWait, deadlock
from pixelflow.node.streams.semaphores import Semaphores
from pixelflow.node.streams.stream import BLOCKED, SIGNALLED, Issue, Stream
from pixelflow.observe import Bus, Executed

__all__ = ["OneStream"]


class OneStream:
    """One stream and the PE array; without ``function`` only time passes."""

    def __init__(
        self,
        program: Program,
        config: NodeConfig,
        array: PeArray,
        entry: str,
        *,
        max_cycles: int | None = None,
        function: bool = True,
        bus: Bus | None = None,
        score: Score | None = None,
    ) -> None:
        bus = Bus() if bus is None else bus
        self.program = program
        analysis = analysis_of(program, config.igc)
        self.stream = Stream(analysis.sequencer, entry, Semaphores(SEMAPHORES), max_cycles, bus=bus)
        self.streams = {entry: self.stream}
        self._worker = ArrayWorker(array, program, bus, score) if function else None
        if not function and not bus.wants(Executed):
            self.stream.stretches = analysis.stretches(timed=True)
        if self._worker is not None:
            self._worker.join(self.stream, analysis)
        self._issues: Iterator[Issue] = self.stream.issues()
        self._pending: Issue | None = None
        self.moved_before: dict[str, int] = {}
        """Nothing moves: no TASIC takes part."""

    @property
    def cycle(self) -> int:
        """The cycle that the stream has come to."""
        return self.stream.cycle

    @property
    def tasic_cycles(self) -> tuple[int, ...]:
        """No TASIC takes part."""
        return ()

    @property
    def gni_cycles(self) -> dict[str, int]:
        """Nor the GNI."""
        return {}

    def run(self) -> None:
        """Run to the end; raises MachineFault, DeadlockError or CycleLimitError."""
        stream, worker = self.stream, self._worker
        try:
            if self._pending is not None:
                self._do(self._pending)
                self._pending = None
            for issue in self._issues:
                if issue == BLOCKED:
                    raise deadlock(self.program, [stream], stream.cycle)
                if worker is not None and issue != SIGNALLED:
                    worker.issue(stream, issue)
        finally:
            if worker is not None:
                worker.flush()
        stream.settle()

    def run_until(self, cycle: int) -> bool:
        """Carry out what begins before ``cycle``; returns whether the run got there."""
        stream = self.stream
        try:
            with stream.one_by_one():
                while self._pending is None and stream.cycle < cycle:
                    issue = next(self._issues, None)
                    if issue is None:
                        break
                    if issue == BLOCKED:
                        self._pending = issue  # a standstill is left for `run` to report
                    else:
                        self._do(issue)
        finally:
            self._worker.flush()
        return stream.cycle >= cycle

    @property
    def last_cycle(self) -> int:
        """The last cycle in which something happened."""
        return self.stream.cycle

    def next_cycle(self) -> int | None:
        """Return the next cycle in which something happens, or None where nothing will."""
        return None if self.stream.halted or self._pending == BLOCKED else self.stream.cycle

    def steps(self) -> Iterator[Stream]:
        """Run instruction by instruction: yields the stream after each one, with PE state up to date."""
        self.stream.stretches = None
        for issue in self._issues:
            self._do(issue)
            self._worker.flush()
            yield self.stream

    def _do(self, issue: Issue) -> None:
        if issue == BLOCKED:
            raise deadlock(self.program, [self.stream], self.stream.cycle)
        if self._worker is not None and issue != SIGNALLED:
            self._worker.issue(self.stream, issue)

    def open_waits(self) -> dict[str, OpenWait]:
        """None: a stream that runs alone waits for nothing that could still come."""
        return {}

    def ledger(self) -> Ledger:
        """Return the ledger of the run."""
        return Ledger(signal_flows([self.stream]))

    def snapshot(self) -> dict[str, Any]:
        """Return the state of the stream and what it has begun."""
        return {"stream": self.stream.snapshot(), "pending": self._pending}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a snapshot."""
        self.stream.restore(snapshot["stream"])
        self._pending = snapshot["pending"]
