"""Deadlock of the streams of a program: which waits where, for what, and who could have signalled it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pixelflow.isa import Program
from pixelflow.node.run.streams.semaphores import use_of
from pixelflow.node.run.streams.stream import Stream
from pixelflow.simd.errors import DeadlockError
from pixelflow.simd.report import counted

__all__ = ["OpenWait", "deadlock"]


@dataclass(frozen=True, slots=True)
class OpenWait:
    """A wait that has not come to its end: its reason, as in `Run.waits`, and its cycles so far."""

    reason: str
    cycles: int


def deadlock(program: Program, streams: Sequence[Stream], cycle: int | None) -> DeadlockError:
    """Return the error of a standstill: who waits where for what since when, and who would have signalled it.

    ``cycle`` is None where no time is simulated.
    """
    lines = [f"deadlock{'' if cycle is None else f' at cycle {cycle}'}: no stream can advance"]
    for stream in streams:
        if stream.waiting is None:
            lines.append(f"  {stream.name.upper()}  ended{'' if cycle is None else f' at cycle {stream.cycle}'}")
            continue
        lines.append(f"  {stream.why_waiting()}")
        lines += [f"      {line}" for line in _signallers(program, streams, stream.waiting)]
    return DeadlockError("\n".join(lines))


def _signallers(program: Program, streams: Sequence[Stream], semaphore: int) -> list[str]:
    """Return a line for every instruction that signals a semaphore: where, and whether it was reached."""
    running = {stream.name: stream for stream in streams}
    lines = []
    for entry in program.entries:
        for index in use_of(program, entry).signals.get(semaphore, ()):
            place = f"sem {semaphore} is signalled by {entry.upper()} {program.where(index)}"
            if entry not in running:
                lines.append(f"{place} (this stream does not run)")
                continue
            times = running[entry].executed[index]
            reached = f"reached, {counted(times, 'time')}" if times else "not reached"
            lines.append(f"{place} ({reached})")
    return lines or [f"sem {semaphore} is signalled by nobody"]
