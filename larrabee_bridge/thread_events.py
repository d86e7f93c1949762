"""Events of a run on the vector unit: the instructions of each thread in its cycles alone on a core."""

from __future__ import annotations

from collections.abc import Callable

from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.notes import NoteSubscriber, RunNote
from larrabee_bridge.vpu.program import TARGET
from larrabee_bridge.vpu.vector_run import VectorRun
from larrabee_bridge.vpu.vector_unit import LONGEST, VectorUnit
from pixelflow.simd.errors import CycleLimitError
from pixelflow.simd.observe import Bus, Executed, RunBegan, RunEnded, Waited


class ThreadEvents:
    """Emits the events of a run to a bus; the object that subscribers inspect while it runs."""

    def __init__(self, bus: Bus, unit: VectorUnit, core: Core) -> None:
        """``core`` counts the cycles of each thread of ``unit``."""
        self._bus, self._unit, self._core = bus, unit, core
        (main,) = TARGET.streams
        self._streams = (main,) if unit.threads == 1 else tuple(f"{main}{thread}" for thread in range(unit.threads))

    @property
    def cycle(self) -> int:
        """Cycle that the longest thread has reached."""
        return int(self._core.cycles.max())

    def run(
        self,
        charge: NoteSubscriber,
        limit: int = LONGEST,
        *,
        lines: bool = False,
        come: Callable[[int, int], None] | None = None,
    ) -> None:
        """Execute the program; ``charge`` lets the core count each instruction.

        ``lines``, ``limit``, ``come`` and exceptions are those of `VectorUnit.run`.
        """

        def instruction(note: RunNote) -> None:
            began, waited = self._core.cycles, self._core.waited
            charge(note)
            ended, stalls = self._core.cycles, self._core.waited - waited
            # Blocks are single instructions: those that were executed side by side.
            number = int(note.words[0])
            for thread in note.threads.tolist():
                issued = int(began[thread] + stalls[thread])
                if stalls[thread]:
                    self._bus.emit(Waited, int(began[thread]), self._streams[thread], number, "result", issued)
                # The second instruction of a pair takes no further cycle.
                self._bus.emit(Executed, issued, self._streams[thread], number, int(ended[thread]) - issued)

        self._bus.emit(RunBegan, 0, self._unit.program, self._streams, True, self)
        reason = "fault"
        try:
            self._unit.run(instruction, limit, lines=lines, watched=True, come=come)
            reason = "halt"
        except (CycleLimitError, KeyboardInterrupt) as error:
            reason = "cycle limit" if isinstance(error, CycleLimitError) else "interrupted"
            raise
        finally:
            cycles = dict(zip(self._streams, self._core.cycles.tolist(), strict=True))
            self._bus.emit(RunEnded, self.cycle, reason, cycles, VectorRun(self._unit, self._core, reason=reason))
