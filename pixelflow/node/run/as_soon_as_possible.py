"""Order without time: every stream runs as far as it can, and a transfer begins and ends at once.

The texture stream runs as far as it can at the beginning, after every signal of the EMC stream that it could wait for,
and whenever the EMC stream waits.

Each semaphore is taken by one stream alone, so the progress of the streams does not depend on their order (G. Kahn,
The semantics of a simple language for parallel programming, 1974). Where semaphores order all accesses to shared data,
the state is bit for bit that of a full run. Otherwise it may differ: two accesses without a semaphore between them may
come in another order, and an access to a port during a transfer, which a full run refuses as a port conflict, is not
detected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.control import SEMAPHORES
from pixelflow.node.run.analysis import analysis_of
from pixelflow.node.run.perform import Performance
from pixelflow.node.run.semaphores import STREAMS, Semaphores
from pixelflow.node.run.stream import Issue, IssueKind, Stream, deadlock
from pixelflow.simd.errors import CycleLimitError, DeadlockError, MachineFault


class _UntimedStream(Stream):
    """A stream that counts its own cycles without waits, to end endless loops; they say nothing about time."""

    def why_waiting(self) -> str:
        return self._why_waiting()

    def _limit(self, how: str) -> CycleLimitError:
        return super()._limit(f", its own cycles without waits{how}")

    def _fault(self, message: str) -> NoReturn:
        where = self.program.where(max(0, self.index - 1)) if self.index >= 0 else self.name
        raise MachineFault(f"{where}: {message}")


class AsSoonAsPossible:
    """A run of one stream, or of both, in which no time passes."""

    def __init__(
        self,
        program: Program,
        config: NodeConfig,
        performance: Performance,
        *,
        entry: str | None = None,
        max_cycles: int | None = None,
    ) -> None:
        """``entry`` and the limit as in `Node.run`; raises MachineFault where no sequencer can run the program."""
        analysis = analysis_of(program, config)
        both = entry is None and len(program.entries) > 1
        self.program = program
        self.performance = performance
        self.streams = [
            _UntimedStream(
                *(analysis.sequencer, name, Semaphores(SEMAPHORES), max_cycles),
                remote_semaphores=analysis.remote_semaphores[name] if both else frozenset(),
            )
            for name in (STREAMS if both else (entry or STREAMS[0],))
        ]
        for each in self.streams:
            each.stalls = None  # no time passes
        self._emc, self._texture = self.streams[0], self.streams[1] if both else None
        performance.join(self._emc)
        self._commands: Iterator[Issue] = iter(()) if self._texture is None else self._texture.issues()

    def run(self) -> None:
        """Run to the end; raises MachineFault, DeadlockError or CycleLimitError.

        PE state is then that after the EMC stream's previous instructions.
        """
        stream = self._emc
        try:
            self._run_texture()
            for issue in stream.issues():
                if issue.kind is IssueKind.SIGNALLED:
                    if self._texture is not None and stream.signalled in stream.remote_semaphores:
                        self._texture.semaphores.signal(stream.signalled)
                        self._run_texture()
                elif issue.kind is IssueKind.BLOCKED:
                    self._run_texture()
                    if stream.is_blocked:
                        raise self._standstill()
                else:
                    self.performance.issue(stream, issue)
            self._run_texture()
            if self._texture is not None and not self._texture.halted:
                raise self._standstill()
        finally:
            self.performance.flush()
        for each in self.streams:
            each.settle()

    def _standstill(self) -> DeadlockError:
        for each in self.streams:
            each.settle()
        return deadlock(self.program, self.streams, None)

    def _run_texture(self) -> None:
        """Run the texture stream to its end, or to a wait without a signal."""
        stream = self._texture
        if stream is None or stream.is_blocked:
            return
        for issue in self._commands:
            if issue.kind is IssueKind.BLOCKED:
                return
            if issue.kind is IssueKind.SIGNALLED:
                if stream.signalled in stream.remote_semaphores:
                    self._emc.semaphores.signal(stream.signalled)
            elif issue.index is not None:
                transfer = self.performance.tell(issue.index)
                if transfer is not None:
                    self.performance.begin(transfer)
                    self.performance.end()
