"""Watching: the events of a run, the bus to their subscribers, and what watchers read of programs and runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

# Views of programs and of runs: the parts of them that watchers read. The real objects satisfy these.


class LineView(Protocol):
    """A line of source text."""

    file: str
    line: int
    text: str


class RoutineView(Protocol):
    """A routine of a program."""

    name: str
    entry: int
    end: int


class DeclarationView(Protocol):
    """Declaration of an instruction."""

    mnemonic: str
    opcode: int


class InstructionView(Protocol):
    """An instruction of a program."""

    declaration: DeclarationView
    cycles: int

    def text(self) -> str:
        """Return the instruction as the assembler takes it."""


class ProgramView(Protocol):
    """An assembled program."""

    name: str
    names: tuple[str, ...]

    @property
    def sha256(self) -> str: ...

    @property
    def instructions(self) -> Sequence[InstructionView]: ...

    @property
    def addresses(self) -> Sequence[int]:
        """The word address of each instruction."""

    def where(self, index: int) -> str:
        """Return file and line of an instruction, or its word address."""

    def line_at(self, index: int) -> LineView | None:
        """Return the source line of an instruction."""

    def routine_at(self, address: int) -> RoutineView | None:
        """Return the routine that holds a word address."""


class RunView(Protocol):
    """A run while it continues."""

    @property
    def cycle(self) -> int:
        """The last cycle that it has come to."""


class AccountView(Protocol):
    """The account of a run that has ended."""

    reason: str

    @property
    def total_cycles(self) -> int:
        """Cycles until all of it had ended."""


# Events of a run that any machine may have: each with the cycle of its run in which it begins.
#
# An event is built only if its kind has a subscriber, so an unwatched run builds none. Events of one stream or of one
# part of a machine come in the order of their cycles. Streams run ahead of each other, so events of different tracks do
# not.


View = TypeVar("View", bound=RunView)
"""A machine's view of its runs."""
Account = TypeVar("Account", bound=AccountView)
"""A machine's account of a run that has ended."""


class Event(Protocol):
    """Something that happened; ``cycle`` counts from the beginning of the run."""

    @property
    def cycle(self) -> int: ...


class RunBegan(NamedTuple, Generic[View]):
    """A run begins; the first event of every run. A run that continues from a checkpoint begins at its cycle."""

    cycle: int
    program: ProgramView
    entries: tuple[str, ...]
    """The streams that run."""
    function: bool
    """False where only time passes."""
    view: View
    """The run itself, to be looked at while it continues."""
    resumed: bool = False
    """True if it continues from a checkpoint: earlier events are not sent again."""


@dataclass(frozen=True, slots=True)
class Executed:
    """A stream has issued the instruction at a position of the program."""

    cycle: int
    stream: str
    index: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Waited:
    """A stream was idle from ``cycle`` up to ``end``, at the instruction of that index."""

    cycle: int
    stream: str
    index: int
    reason: str
    """The awaited event, in words."""
    end: int


class StageBegan(NamedTuple):
    """A mark of the program was met."""

    cycle: int
    stream: str
    name: str


class RoutineEntered(NamedTuple):
    """A call was executed; ``depth`` is 1 for a call from the main program."""

    cycle: int
    stream: str
    name: str
    depth: int


class RoutineLeft(NamedTuple):
    """A routine has returned; ``depth`` as it was when the routine was entered."""

    cycle: int
    stream: str
    name: str
    depth: int


class Carried(NamedTuple):
    """An item was sent over a wire; it can first be read in cycle ``arrives``."""

    cycle: int
    wire: str
    arrives: int
    amount: int
    unit: str


class QueueFilled(NamedTuple):
    """The number of items in a queue of a box changed."""

    cycle: int
    queue: str
    """The box, a space, the queue's name."""
    fill: int
    capacity: int


class Progressed(NamedTuple):
    """The run has come to a cycle; sent now and then, for displays that look at the run themselves."""

    cycle: int


class RunEnded(NamedTuple, Generic[Account]):
    """A run has ended, for whatever reason; the last event of every run."""

    cycle: int
    reason: str
    """``halt``, or what stopped it: ``deadlock``, ``cycle limit``, ``fault``, ``refused``, ``interrupted``,
    ``internal error``."""
    cycles: dict[str, int]
    """The last cycle of each stream."""
    account: Account
    """The account of the run, or of what there was of it."""


# The bus between a run and those who watch it.


Subscriber = Callable[[Event], None]
Emitted = TypeVar("Emitted", bound=Event)


class Bus:
    """Hands events to their subscribers, in the order of subscription.

    Subscribers subscribe before a run begins: what a run asks at its beginning (`wants`) holds to its end.
    """

    def __init__(self) -> None:
        self._subscribers: dict[type[Event], list[Callable[..., None]]] = {}

    @property
    def watched(self) -> bool:
        """True if anybody has subscribed to any event."""
        return bool(self._subscribers)

    def wants(self, kind: type[Event]) -> bool:
        """Return whether this kind of event has a subscriber."""
        return kind in self._subscribers

    def subscribe(self, subscriber: Callable[[Emitted], None], *kinds: type[Emitted]) -> None:
        """Call ``subscriber`` for every event of these kinds."""
        for kind in kinds:
            self._subscribers.setdefault(kind, []).append(subscriber)

    def unsubscribe(self, subscriber: Callable[[Emitted], None]) -> None:
        """Forget a subscriber."""
        for kind, subscribers in list(self._subscribers.items()):
            kept = [each for each in subscribers if each != subscriber]
            if kept:
                self._subscribers[kind] = kept
            else:
                del self._subscribers[kind]

    def publish(self, event: Event) -> None:
        """Hand an event to its subscribers."""
        for subscriber in self._subscribers.get(type(event), ()):
            subscriber(event)

    def emit(self, kind: type[Event], *values: object) -> None:
        """Build an event of these field values and publish it, if its kind has a subscriber."""
        if kind in self._subscribers:
            made: Callable[..., Event] = kind
            self.publish(made(*values))
