"""What a stream that stands between two instructions will do next, found on a copy of it."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.isa.control import SEMAPHORES
from pixelflow.node.run.streams.issue import Issue, IssueKind
from pixelflow.node.run.streams.semaphores import Semaphores
from pixelflow.node.run.streams.straight_code import CallFrame
from pixelflow.node.run.streams.stream import Stream
from pixelflow.observe import Bus, Executed, RoutineLeft
from pixelflow.simd.errors import SimulatorError

__all__ = ["Upcoming", "ends_at", "upcoming"]


@dataclass(frozen=True, slots=True)
class Upcoming:
    """The next instruction of a stream."""

    cycle: int
    """In which it begins."""
    index: int
    """Position in the program of the next instruction that is not control."""
    control: tuple[int, ...]
    """The control instructions before it, in the order in which they will be executed."""
    frames: tuple[CallFrame, ...]
    """The calls that it will be inside of, innermost last; the first is the main program."""

    outermost: int
    """How many calls the stream is inside of on the way there, where they are fewest."""


def upcoming(stream: Stream) -> Upcoming | None:
    """Return what a stream will do next; None where it ends, faults or has to wait before its next instruction."""
    if _is_control(stream) is False:
        return Upcoming(stream.cycle, stream.index, (), tuple(stream.frames), len(stream.frames) - 1)
    copy, issue, path, outermost = _look_ahead(stream)
    if issue is None or issue.index is None:
        return None
    return Upcoming(copy.begins(issue), issue.index, path[:-1], tuple(copy.frames), outermost)


def ends_at(stream: Stream) -> int | None:
    """Return the cycle in which a stream ends, where nothing but control is before its end; None elsewhere."""
    if not _is_control(stream):
        return None
    copy, issue, _, _ = _look_ahead(stream)
    return copy.cycle if issue is None and copy.halted else None


def _is_control(stream: Stream) -> bool | None:
    """Whether the next instruction is control, None where there is none."""
    control = stream.sequencer.control
    return control[stream.index] is not None if stream.index < len(control) else None


def _look_ahead(stream: Stream) -> tuple[Stream, Issue | None, tuple[int, ...], int]:
    """Return a copy of a stream that has gone on to its next instruction, and that; all it has executed on the way,
    and in how few calls it has been.

    The instruction is None where the stream ends before it; what stops the stream is left for the stream itself.
    """
    bus, path, depths = Bus(), [], [len(stream.frames) - 1]
    bus.subscribe(lambda event: path.append(event.index), Executed)
    bus.subscribe(lambda event: depths.append(event.depth - 1), RoutineLeft)
    supply = None if stream.supply is None else stream.supply.another()
    copy = Stream(stream.sequencer, stream.name, Semaphores(SEMAPHORES), bus=bus, supply=supply)
    copy.restore(stream.snapshot())
    try:
        wanted = (IssueKind.EXECUTE, IssueKind.BLOCKED)
        issue = next((each for each in copy.issues() if each.kind in wanted), None)
    except SimulatorError:
        issue = None
    return copy, issue, tuple(path), min(depths)
