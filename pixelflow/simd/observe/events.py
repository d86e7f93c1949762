"""Events of a run that any machine may have: each with the cycle of its run in which it begins.

An event is built only where somebody has subscribed to its kind, so a run that nobody watches builds none. Events of
one stream or of one part of a machine come in the order of their cycles. Streams run ahead of each other, so events of
different tracks do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from pixelflow.simd.observe.views import AccountView, ProgramView, RunView

__all__ = [
    "Carried",
    "Event",
    "Executed",
    "Progressed",
    "QueueFilled",
    "RoutineEntered",
    "RoutineLeft",
    "RunBegan",
    "RunEnded",
    "StageBegan",
    "Waited",
]


View = TypeVar("View", bound=RunView)
"""What a machine shows of its runs."""
Account = TypeVar("Account", bound=AccountView)
"""What a machine tells of a run that has ended."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; ``cycle`` counts from the beginning of the run."""

    cycle: int


@dataclass(frozen=True, slots=True)
class RunBegan(Event, Generic[View]):
    """A run begins; the first event of every run. A run that goes on from a checkpoint begins at its cycle."""

    program: ProgramView
    entries: tuple[str, ...]
    """The streams that run."""
    function: bool
    """False where only time passes."""
    view: View
    """The run itself, to be looked at while it goes on."""
    resumed: bool = False
    """Whether it goes on from a checkpoint: what was told before is not told again."""


@dataclass(frozen=True, slots=True)
class Executed(Event):
    """A stream has issued the instruction at a position of the program."""

    stream: str
    index: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Waited(Event):
    """A stream did nothing of its own from ``cycle`` up to ``end``, at the instruction of that index."""

    stream: str
    index: int
    reason: str
    """What it waited for, in words."""
    end: int


@dataclass(frozen=True, slots=True)
class StageBegan(Event):
    """A mark of the program was met."""

    stream: str
    name: str


@dataclass(frozen=True, slots=True)
class RoutineEntered(Event):
    """A call was executed; ``depth`` is 1 for a call from the main program."""

    stream: str
    name: str
    depth: int


@dataclass(frozen=True, slots=True)
class RoutineLeft(Event):
    """A routine has returned; ``depth`` as it was when the routine was entered."""

    stream: str
    name: str
    depth: int


@dataclass(frozen=True, slots=True)
class Carried(Event):
    """An item was sent over a wire; it can be read from cycle ``arrives`` on."""

    wire: str
    arrives: int
    amount: int
    unit: str


@dataclass(frozen=True, slots=True)
class QueueFilled(Event):
    """A queue of a box holds another number of items from this cycle on."""

    queue: str
    """The box, a space, the queue's name."""
    fill: int
    capacity: int


@dataclass(frozen=True, slots=True)
class Progressed(Event):
    """The run has come to a cycle; sent now and then, for displays that look at the run themselves."""


@dataclass(frozen=True, slots=True)
class RunEnded(Event, Generic[Account]):
    """A run has ended, for whatever reason; the last event of every run."""

    reason: str
    """``halt``, or what stopped it: ``deadlock``, ``cycle limit``, ``fault``, ``refused``, ``interrupted``,
    ``internal error``."""
    cycles: dict[str, int]
    """The last cycle of each stream."""
    account: Account
    """The account of the run, or of what there was of it."""
