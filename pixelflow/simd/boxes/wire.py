"""A wire: the only way from one box to another, with a latency of at least one cycle and a bandwidth that is checked.

What is sent in a cycle can be seen from that cycle plus the latency on, never earlier; so the order in which boxes
are ticked within a cycle cannot matter. (The idea is ATTILA's; so is the rule that a message names the culprits.)
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict, cast

from pixelflow.simd.errors import InternalError
from pixelflow.simd.units import Cycle

__all__ = ["Item", "Level", "Record", "Sent", "Wire", "WireError"]

Item: TypeAlias = Any
"""What a wire carries: whatever the boxes at its ends agree on."""


class WireError(InternalError):
    """A box sent more than its wire carries, read what was not there, or left an item unread."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One item on a wire, from the cycle in which it was sent to the first cycle in which it can be read."""

    wire: str
    sent: Cycle
    arrives: Cycle
    amount: int
    """In the wire's unit."""
    item: Item


Record: TypeAlias = "tuple[int, int, int, Item, Wire]"
"""A transfer as wires keep it: first cycle in which it can be read, cycle in which it was sent, amount, item, wire."""


class WireState(TypedDict):
    """What a wire holds, as it is saved."""

    items: tuple[Sent, ...]
    last: tuple[Sent, ...]
    busy: tuple[Cycle, Cycle]
    used: int


class LevelState(WireState):
    """What a level holds, as it is saved."""

    value: Item
    driven: Item


class Wire:
    """A named channel with one sender and one reader; items are read in the order in which they were sent.

    ``bandwidth`` is in ``unit`` per cycle ("items", "bytes", "words": a noun, used in messages only). Items should be
    values: the wire hands over the object itself. Arrived items wait until they are read, so a reader that must not
    accept more than it can hold has to tell its sender by a wire of its own.
    """

    def __init__(self, name: str, *, latency: int = 1, bandwidth: int = 1, unit: str = "items") -> None:
        if latency < 1:
            raise WireError(f"wire {name}: latency {latency} is refused; a wire takes at least 1 cycle")
        if bandwidth < 1:
            raise WireError(f"wire {name}: bandwidth {bandwidth} is refused; a wire carries at least 1 of its unit")
        self.name = name
        self.latency = latency
        self.bandwidth = bandwidth
        self.unit = unit
        self.fresh: list[Record] = []
        """What was sent since the clock last looked; wires on one clock share the list."""
        self.waiting: deque[Record] = deque()
        """Everything sent and not yet read, in the order of arrival; for readers that cannot afford a call."""
        # What was sent last, and what was sent before it: of the latter only what was sent in the same cycle counts.
        self._last: Record | None = None
        self._before: tuple[Record, ...] = ()
        # The wire is in use to this cycle: a bulk transfer is alone and goes on past the cycle of its send.
        self._busy_to = Cycle(-1)
        self._used = 0
        self.sink = -1
        """Number of the box that reads it; the clock's."""

    # --- the sender's end ----------------------------------------------------------------------------------------

    @property
    def free_from(self) -> Cycle:
        """The first cycle in which nothing has been sent yet."""
        return Cycle(self._busy_to + 1)

    def send(self, cycle: Cycle, item: Item, amount: int = 1, latency: int | None = None) -> int:
        """Send an item that fits what is left of ``cycle``; returns the cycle in which it can first be read.

        ``latency`` is that of this item where it is less than the wire's. Items are read in the order of their arrival.
        Raises WireError where the sends of one cycle exceed the bandwidth.
        """
        if latency is None:
            arrives = cycle + self.latency
        elif 1 <= latency <= self.latency:
            arrives = cycle + latency
        else:
            limit = f"the wire's is 1 to {self.latency}"
            raise WireError(f"cycle {cycle}, wire {self.name}: latency {latency} of an item, {limit}: {item}")
        record = (arrives, cycle, amount, item, self)
        if cycle > self._busy_to and 0 < amount <= self.bandwidth:
            self._busy_to = cycle
            self._used = amount
        else:
            self._add(cycle, record)
        self._last = record
        waiting = self.waiting
        if waiting and waiting[-1][0] > arrives:
            self._insert(record)
        else:
            waiting.append(record)
        self.fresh.append(record)
        return arrives

    def _add(self, cycle: Cycle, record: Record) -> None:
        """Note a send that is not the first one of its cycle, or that may not be; raises WireError."""
        _, _, amount, item, _ = record
        self._check(cycle, item, amount)
        before = self._sends if cycle == self._busy_from else ()
        used = amount + (self._used if before else 0)
        if used > self.bandwidth:
            named = "; ".join(str(each) for each in (*(sent[3] for sent in before), item))
            raise WireError(
                f"cycle {cycle}, wire {self.name}: {used} {self.unit} in one cycle, bandwidth {self.bandwidth}: {named}"
            )
        self._busy_to = cycle
        self._used = used
        self._before = before

    def send_bulk(self, cycle: Cycle, item: Item, amount: int) -> int:
        """Send one item that occupies the wire for ceil(amount / bandwidth) whole cycles from ``cycle`` on.

        Returns the cycle in which all of it can be read: the last occupied cycle plus the latency. It is one event,
        however long it takes. Raises WireError where it overlaps another transfer.
        """
        self._check(cycle, item, amount)
        if cycle == self._busy_from:
            raise self._overlap(cycle, item)
        last = Cycle(cycle + -(-amount // self.bandwidth) - 1)
        record = (last + self.latency, cycle, amount, item, self)
        self._last = record
        self._busy_to = last
        # A bulk transfer leaves nothing of its cycles, even where its last bytes would.
        self._used = self.bandwidth
        self._insert(record)
        self.fresh.append(record)
        return record[0]

    @property
    def _busy_from(self) -> int:
        """The cycle of the last send; -1 before the first."""
        return -1 if self._last is None else self._last[1]

    @property
    def _sends(self) -> tuple[Record, ...]:
        """Everything that was sent in the cycle of the last send."""
        last = self._last
        return () if last is None else (*(each for each in self._before if each[1] == last[1]), last)

    def _check(self, cycle: Cycle, item: Item, amount: int) -> None:
        if amount < 1:
            raise WireError(f"cycle {cycle}, wire {self.name}: {amount} {self.unit} are not a transfer: {item}")
        if cycle < self._busy_from:
            raise WireError(
                f"cycle {cycle}, wire {self.name}: sent after something was sent in cycle {self._busy_from}: "
                f"{self._last_item}; {item}"
            )
        if self._busy_from < cycle <= self._busy_to:
            raise self._overlap(cycle, item)

    def _overlap(self, cycle: Cycle, item: Item) -> WireError:
        until = f"busy from cycle {self._busy_from} to {self._busy_to}"
        return WireError(f"cycle {cycle}, wire {self.name}: {until} ({self._last_item}; {item})")

    @property
    def _last_item(self) -> Item:
        return None if self._last is None else self._last[3]

    def _insert(self, record: Record) -> None:
        """Put a transfer among those that wait, past all that arrive no later."""
        items = self.waiting
        place = len(items)
        while place and items[place - 1][0] > record[0]:
            place -= 1
        items.insert(place, record)

    # --- the reader's end ----------------------------------------------------------------------------------------

    def ready(self, cycle: Cycle) -> bool:
        """Whether an item has arrived by ``cycle`` and is still unread."""
        return bool(self.waiting) and self.waiting[0][0] <= cycle

    def peek(self, cycle: Cycle) -> Item:
        """Return the oldest unread item without reading it; raises WireError where none has arrived."""
        if not self.ready(cycle):
            raise WireError(f"cycle {cycle}, wire {self.name}: nothing has arrived to be read")
        return self.waiting[0][3]

    def take(self, cycle: Cycle) -> Item:
        """Read the oldest unread item; raises WireError where none has arrived."""
        item = self.peek(cycle)
        self.waiting.popleft()
        return item

    def take_all(self, cycle: Cycle) -> list[Item]:
        """Read every item that has arrived by ``cycle``, oldest first."""
        items = self.waiting
        taken: list[Item] = []
        while items and items[0][0] <= cycle:
            taken.append(items.popleft()[3])
        return taken

    @property
    def unread(self) -> tuple[Sent, ...]:
        """Everything sent and not yet read, arrived or still on its way."""
        return tuple(self.sent(record) for record in self.waiting)

    @property
    def lost(self) -> tuple[Sent, ...]:
        """What has not been read when a run is over, although somebody should have."""
        return self.unread

    def sent(self, record: Record) -> Sent:
        """Return a transfer of this wire with its fields named."""
        arrives, sent, amount, item, _ = record
        return Sent(self.name, Cycle(sent), Cycle(arrives), amount, item)

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> WireState:
        """Return the wire's state; :meth:`restore` takes it back."""
        return {
            "items": self.unread,
            "last": tuple(self.sent(record) for record in self._sends),
            "busy": (Cycle(self._busy_from), self._busy_to),
            "used": self._used,
        }

    def restore(self, snapshot: WireState) -> None:
        """Put the wire into the state of a snapshot."""
        self.waiting = deque(self._record(each) for each in snapshot["items"])
        sends = tuple(self._record(each) for each in snapshot["last"])
        self._last, self._before = (sends[-1] if sends else None), sends[:-1]
        self._busy_to = snapshot["busy"][1]
        self._used = snapshot["used"]
        self.fresh.clear()

    def _record(self, each: Sent) -> Record:
        return (each.arrives, each.sent, each.amount, each.item, self)


class Level(Wire):
    """A wire that always carries a value (ready or busy): sent when it changes, read as the last value that arrived.

    A change wakes the reader like any item; nothing is lost when nobody reads it.
    """

    def __init__(self, name: str, value: Item, *, latency: int = 1) -> None:
        super().__init__(name, latency=latency, unit="changes")
        self.seen = value
        """The value that was read last; it still holds where nothing is waiting."""
        self.driven = value
        """The value that was sent last."""

    def drive(self, cycle: Cycle, value: Item) -> None:
        """Let the wire carry ``value`` from ``cycle`` on; nothing is sent where it carries that already."""
        if value != self.driven:
            self.driven = value
            self.send(cycle, value)

    def value(self, cycle: Cycle) -> Item:
        """Return the value as it is seen in ``cycle``."""
        items = self.waiting
        while items and items[0][0] <= cycle:
            self.seen = items.popleft()[3]
        return self.seen

    @property
    def lost(self) -> tuple[Sent, ...]:
        """Nothing: a value that nobody reads is only not needed."""
        return ()

    def snapshot(self) -> LevelState:
        """Return the state of the level; :meth:`restore` takes it back."""
        return {**super().snapshot(), "value": self.seen, "driven": self.driven}

    def restore(self, snapshot: WireState) -> None:
        """Put the level into the state of a snapshot."""
        super().restore(snapshot)
        state = cast(LevelState, snapshot)
        self.seen, self.driven = state["value"], state["driven"]
