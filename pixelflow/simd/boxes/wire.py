"""A wire: the only way from one box to another, with a latency of at least one cycle and a bandwidth that is checked.

What is sent in a cycle can be seen from that cycle plus the latency on, never earlier; so the order in which boxes
are ticked within a cycle cannot matter. (The idea is ATTILA's; so is the rule that a message names the culprits.)
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict

from pixelflow.simd.errors import InternalError
from pixelflow.simd.units import Cycle

__all__ = ["Item", "Sent", "Wire", "WireError"]

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


class WireState(TypedDict):
    """What a wire holds, as it is saved."""

    items: tuple[Sent, ...]
    last: tuple[Sent, ...]
    busy: tuple[Cycle, Cycle]
    used: int


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
        self.fresh: list[Sent] = []
        """What was sent since the clock last looked."""
        self._items: deque[Sent] = deque()
        self._last: tuple[Sent, ...] = ()
        # Sends that used cycle `_busy_from`; a bulk transfer is alone and goes on to `_busy_to`.
        self._busy_from = self._busy_to = Cycle(-1)
        self._used = 0

    # --- the sender's end ----------------------------------------------------------------------------------------

    @property
    def free_from(self) -> Cycle:
        """The first cycle in which nothing has been sent yet."""
        return Cycle(self._busy_to + 1)

    def send(self, cycle: Cycle, item: Item, amount: int = 1) -> Cycle:
        """Send an item that fits what is left of ``cycle``; returns the cycle in which it can first be read.

        Raises WireError where the sends of one cycle exceed the bandwidth.
        """
        self._check(cycle, item, amount)
        used = amount + (self._used if cycle == self._busy_from else 0)
        if used > self.bandwidth:
            before = self._last if cycle == self._busy_from else ()
            named = "; ".join(str(each) for each in (*(sent.item for sent in before), item))
            raise WireError(
                f"cycle {cycle}, wire {self.name}: {used} {self.unit} in one cycle, bandwidth {self.bandwidth}: {named}"
            )
        transfer = Sent(self.name, cycle, Cycle(cycle + self.latency), amount, item)
        self._last = (*self._last, transfer) if cycle == self._busy_from else (transfer,)
        self._busy_from = self._busy_to = cycle
        self._used = used
        return self._put(transfer)

    def send_bulk(self, cycle: Cycle, item: Item, amount: int) -> Cycle:
        """Send one item that occupies the wire for ceil(amount / bandwidth) whole cycles from ``cycle`` on.

        Returns the cycle in which all of it can be read: the last occupied cycle plus the latency. It is one event,
        however long it takes. Raises WireError where it overlaps another transfer.
        """
        self._check(cycle, item, amount)
        if cycle == self._busy_from:
            raise self._overlap(cycle, item)
        last = Cycle(cycle + -(-amount // self.bandwidth) - 1)
        transfer = Sent(self.name, cycle, Cycle(last + self.latency), amount, item)
        self._last = (transfer,)
        self._busy_from, self._busy_to = cycle, last
        # A bulk transfer leaves nothing of its cycles, even where its last bytes would.
        self._used = self.bandwidth
        return self._put(transfer)

    def _check(self, cycle: Cycle, item: Item, amount: int) -> None:
        if amount < 1:
            raise WireError(f"cycle {cycle}, wire {self.name}: {amount} {self.unit} are not a transfer: {item}")
        if cycle < self._busy_from:
            raise WireError(
                f"cycle {cycle}, wire {self.name}: sent after something was sent in cycle {self._busy_from}: "
                f"{self._last[-1].item}; {item}"
            )
        if self._busy_from < cycle <= self._busy_to:
            raise self._overlap(cycle, item)

    def _overlap(self, cycle: Cycle, item: Item) -> WireError:
        until = f"busy from cycle {self._busy_from} to {self._busy_to}"
        return WireError(f"cycle {cycle}, wire {self.name}: {until} ({self._last[-1].item}; {item})")

    def _put(self, transfer: Sent) -> Cycle:
        self._items.append(transfer)
        self.fresh.append(transfer)
        return transfer.arrives

    # --- the reader's end ----------------------------------------------------------------------------------------

    def ready(self, cycle: Cycle) -> bool:
        """Whether an item has arrived by ``cycle`` and is still unread."""
        return bool(self._items) and self._items[0].arrives <= cycle

    def peek(self, cycle: Cycle) -> Item:
        """Return the oldest unread item without reading it; raises WireError where none has arrived."""
        if not self.ready(cycle):
            raise WireError(f"cycle {cycle}, wire {self.name}: nothing has arrived to be read")
        return self._items[0].item

    def take(self, cycle: Cycle) -> Item:
        """Read the oldest unread item; raises WireError where none has arrived."""
        item = self.peek(cycle)
        self._items.popleft()
        return item

    def take_all(self, cycle: Cycle) -> list[Item]:
        """Read every item that has arrived by ``cycle``, oldest first."""
        taken = []
        while self.ready(cycle):
            taken.append(self._items.popleft().item)
        return taken

    @property
    def unread(self) -> tuple[Sent, ...]:
        """Everything sent and not yet read, arrived or still on its way."""
        return tuple(self._items)

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> WireState:
        """Return the wire's state; :meth:`restore` takes it back."""
        return {
            "items": tuple(self._items),
            "last": self._last,
            "busy": (self._busy_from, self._busy_to),
            "used": self._used,
        }

    def restore(self, snapshot: WireState) -> None:
        """Put the wire into the state of a snapshot."""
        self._items = deque(snapshot["items"])
        self._last = tuple(snapshot["last"])
        self._busy_from, self._busy_to = snapshot["busy"]
        self._used = snapshot["used"]
        self.fresh.clear()
