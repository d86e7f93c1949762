"""Events of a run on execution units: issues and waits of each thread, cycle by cycle."""

from __future__ import annotations

from gen6_bridge.time import EuConfig, Stretches
from gen6_bridge.time.run import EuRun
from pixelflow.simd.attendance import Attendance
from pixelflow.simd.errors import CycleLimitError
from pixelflow.simd.observe import Bus, Carried, Executed, RunBegan, RunEnded, Waited


class EuEvents:
    """Emitter of a run's events while its threads are scheduled."""

    def __init__(self, bus: Bus, run: EuRun) -> None:
        self._bus, self._run = bus, run
        self._streams = ("main",) if run.unit.threads == 1 else tuple(f"main{at}" for at in range(run.unit.threads))
        self.cycle = 0
        """Current cycle of the schedule."""
        self.reason = "fault"

    @property
    def total_cycles(self) -> int:
        """As `cycle`; every run has it for subscribers."""
        return self.cycle

    def schedule(self, config: EuConfig, attendance: Attendance | None = None) -> EuRun:
        """Schedule the threads and emit every issue.

        A thread may continue, and wait, while its last instruction still holds a pipe. So that a thread does one thing
        at a time, an instruction's event ends where the thread continues.
        """
        last: dict[int, tuple[int, int, int]] = {}

        def end(thread: int, since: int | None) -> None:
            """Emit the last issue of a thread, which continues in ``since``; None where it has ended."""
            if thread in last:
                cycle, instruction, held = last.pop(thread)
                taken = held if since is None else min(held, since - cycle)
                self._bus.emit(Executed, cycle, self._streams[thread], instruction, taken)

        def issued(thread: int, instruction: int, since: int, cycle: int, held: int, waits: Stretches) -> None:
            self.cycle = max(self.cycle, cycle)
            end(thread, since)
            last[thread] = cycle, instruction, held
            for until, cause in waits:
                self._bus.emit(Waited, since, self._streams[thread], instruction, cause, until)
                since = until

        def carried(thread: int, way: str, cycle: int, arrives: int, amount: int) -> None:
            self._bus.emit(Carried, cycle, f"{way} {self._streams[thread]}", arrives, amount, "bytes")

        self._bus.emit(RunBegan, 0, self._run.program, self._streams, True, self)
        ended = dict.fromkeys(self._streams, 0)
        try:
            run = self._run.timed(config, issued, carried, attendance)
            self.reason, self.cycle = run.reason, run.cycles
            ended = {name: each.end for name, each in zip(self._streams, run.account.threads, strict=True)}
        except (CycleLimitError, KeyboardInterrupt) as error:
            self.reason = "cycle limit" if isinstance(error, CycleLimitError) else "interrupted"
            ended |= {self._streams[thread]: cycle + held for thread, (cycle, _, held) in last.items()}
            self.cycle = max(ended.values())
            raise
        finally:
            for thread in tuple(last):
                end(thread, None)
            self._bus.emit(RunEnded, self.cycle, self.reason, ended, self)
        return run
