"""What a stream that stands between two instructions will do next, found on a copy of it, or on one ahead of it."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.isa.control import SEMAPHORES
from pixelflow.node.run.costs.supply import Supply
from pixelflow.node.run.streams.issue import Issue, IssueKind
from pixelflow.node.run.streams.semaphores import Semaphores
from pixelflow.node.run.streams.straight_code import CallFrame, StraightCodes
from pixelflow.node.run.streams.stream import Stream
from pixelflow.observe import Bus, Executed, RoutineLeft
from pixelflow.simd.errors import SimulatorError
from pixelflow.simd.snapshot import Snapshot

__all__ = ["OrderAhead", "Upcoming", "ends_at", "upcoming"]


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
        wanted = (IssueKind.EXECUTE, IssueKind.BLOCKED, IssueKind.STARVED)
        issue = next((each for each in copy.issues() if each.kind in wanted), None)
    except SimulatorError:
        issue = None
    return copy, issue, tuple(path), min(depths)


class _Open(Semaphores):
    """Semaphores that nobody waits for: which instruction comes next depends on none of them."""

    def take(self, semaphore: int) -> bool:
        return True


class _Ordering:
    """The end of a supply that a stream ahead of the executed one sees: it orders words, and has them at once."""

    joint = False

    def __init__(self, supply: Supply) -> None:
        self._supply = supply
        self.ready = False

    @property
    def delivered(self) -> int:
        return self._supply.delivered

    def advance(self, cycle: int) -> None:
        """Time is nothing to it."""

    def take(self, index: int, cycle: int) -> int:
        self._supply.order(index)
        return cycle

    def has(self, first: int, end: int, cycle: int) -> bool:
        return self._supply.holds(first, end)

    def pass_over(self, first: int, end: int, cycle: int) -> None:
        self._supply.order_held(first, end)

    def another(self) -> _Ordering:
        return _Ordering(self._supply)

    def snapshot(self) -> Snapshot:
        return {}

    def restore(self, snapshot: Snapshot) -> None:
        """Nothing of its own changes."""


class OrderAhead:
    """The order of execution beyond what a stream has come to, for the sender of its words."""

    def __init__(self, stream: Stream, supply: Supply, codes: StraightCodes) -> None:
        """Of a stream that has not begun."""
        self._limit = stream.max_cycles
        ordering = _Ordering(supply)
        self._stream = Stream(stream.sequencer, stream.name, _Open(SEMAPHORES), supply=ordering)
        self._stream.straight_codes = codes
        self._issues = self._stream.issues()
        self._ended = False

    def more(self) -> bool:
        """Go on to the next instruction or straight code; at the end, a fault or past the cycle limit there is none."""
        if self._ended or (self._limit is not None and self._stream.cycle > self._limit):
            self._ended = True
            return False
        try:
            self._ended = next(self._issues, None) is None
        except SimulatorError:
            self._ended = True
        return True

    def snapshot(self) -> Snapshot:
        """Return how far it has come."""
        return {"stream": self._stream.snapshot(), "ended": self._ended}

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot."""
        self._stream.restore(snapshot["stream"])
        self._issues, self._ended = self._stream.issues(), snapshot["ended"]
