"""Boxes and wires: the timed parts of a machine, the wires between them, and the clock that runs them."""

from __future__ import annotations

import copy
import heapq
import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypedDict, TypeVar, cast

from pixelflow.simd.errors import CycleLimitError, DeadlockError, InternalError, nearest
from pixelflow.simd.observe import Bus
from pixelflow.simd.units import Cycle

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# A wire: the only way from one box to another, with a latency of at least one cycle and a bandwidth that is checked.
#
# What is sent in a cycle can be seen from that cycle plus the latency on, never earlier; so the order in which boxes
# are ticked within a cycle cannot matter. (The idea is ATTILA's; so is the rule that a message names the culprits.)


Item: TypeAlias = Any
"""The payload of a wire: any object that the boxes at its ends agree on."""


class WireError(InternalError):
    """A box sent more than its wire carries, read what was not there, or left an item unread."""


class Sent(NamedTuple):
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
    """State of a wire as it is saved."""

    items: tuple[Sent, ...]
    last: tuple[Sent, ...]
    busy: tuple[Cycle, Cycle]
    used: int


class LevelState(WireState):
    """State of a level as it is saved."""

    value: Item
    driven: Item


class Wire:
    """A named channel with one sender and one reader; items are read in the order in which they were sent.

    ``bandwidth`` is in ``unit`` per cycle ("items", "bytes", "words": a noun, used in messages only). Items should be
    values: the wire passes the object itself. Arrived items wait until they are read, so a reader with limited room
    needs a separate wire back to its sender.
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
        """Sends since the clock last looked; wires on one clock share the list."""
        self.waiting: deque[Record] = deque()
        """Everything sent and not yet read, in the order of arrival; for readers that cannot afford a call."""
        # What was sent last, and what was sent before it: of the latter only what was sent in the same cycle counts.
        self._last: Record | None = None
        self._before: tuple[Record, ...] = ()
        # The wire is in use to this cycle: a bulk transfer is alone and continues past the cycle of its send.
        self._busy_to = Cycle(-1)
        self._used = 0
        self.sink = -1
        """Number of the box that reads it; the clock's."""

    # --- the sender's end ----------------------------------------------------------------------------------------

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
        if latency is not None and waiting and waiting[-1][0] > arrives:
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
        """Send one item that occupies the wire for ceil(amount / bandwidth) whole cycles starting at ``cycle``.

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
        """Return whether an item has arrived by ``cycle`` and is still unread."""
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
        """Items still unread when a run is over, although they should have been read."""
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

    A change wakes the reader like any item; an unread change is not lost.
    """

    def __init__(self, name: str, value: Item, *, latency: int = 1) -> None:
        super().__init__(name, latency=latency, unit="changes")
        self.seen = value
        """The value that was read last; it still holds where nothing is waiting."""
        self.driven = value
        """The value that was sent last."""

    def drive(self, cycle: Cycle, value: Item) -> None:
        """Let the wire carry ``value`` starting at ``cycle``; nothing is sent where it carries that already."""
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
        """Nothing: an unread value was not needed."""
        return ()

    def snapshot(self) -> LevelState:
        """Return the state of the level; :meth:`restore` takes it back."""
        return {**super().snapshot(), "value": self.seen, "driven": self.driven}

    def restore(self, snapshot: WireState) -> None:
        """Put the level into the state of a snapshot."""
        super().restore(snapshot)
        state = cast(LevelState, snapshot)
        self.seen, self.driven = state["value"], state["driven"]


# A box: a timed part of the machine. What it is is in an immutable spec, what it holds in a state dataclass.


SpecT = TypeVar("SpecT", covariant=True)
StateT = TypeVar("StateT", bound="DataclassInstance", covariant=True)


class Box(ABC, Generic[SpecT, StateT]):
    """A timed part, which learns about other parts only over its wires.

    A subclass names its ports in ``inputs`` and ``outputs`` (class attributes, or set per instance where the number
    of ports follows from the spec) and implements :meth:`next_event` and :meth:`tick`. State changes in ``tick`` only.

    The clock ticks a box at its next event and whenever something arrives on one of its inputs. An item that is left
    unread does not tick the box again.
    """

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def __init__(self, name: str, spec: SpecT, state: StateT) -> None:
        declared = getattr(type(spec), "__dataclass_params__", None)
        if not isinstance(spec, tuple) and (declared is None or not declared.frozen):
            raise InternalError(f"box {name}: its spec must be immutable, not {type(spec).__name__}")
        if not is_dataclass(state) or isinstance(state, type):
            raise InternalError(f"box {name}: its state must be a dataclass, not {type(state).__name__}")
        self.name = name
        self.spec = spec
        self.state = state
        self.bus = Bus()
        """Receiver of the box's events; the driver may replace it."""
        self.wires: dict[str, Wire] = {}
        """The wire at each port; filled in by the netlist."""

    def wired(self) -> None:
        """Take note that every port has its wire: called once, by the clock."""

    def level(self, port: str) -> Level:
        """Return the wire at a port, which always carries a value; raises InternalError where it does not."""
        wire = self.wires[port]
        if not isinstance(wire, Level):
            raise InternalError(f"box {self.name}: the wire at {port} carries items, not a value")
        return wire

    @abstractmethod
    def next_event(self) -> int | None:
        """Return the next cycle in which the box has something to do by itself, or None where it can only wait.

        It is after the last tick, and changes only by a tick.
        """

    @abstractmethod
    def tick(self, cycle: Cycle) -> int | None:
        """Do everything that happens in ``cycle``: read inputs, change state, send.

        Returns the next event if it is known at once, else None: the clock asks for it.
        """

    def why_blocked(self) -> str | None:
        """Return what the box is waiting for, in words, or None where it needs nothing to be finished.

        A run that comes to a standstill while a box gives a reason is a deadlock, and the reason is printed.
        """
        return None

    @property
    def worked(self) -> int:
        """How far the box has come with what no wire carries; a run in which neither continues is a deadlock."""
        return 0

    @property
    def done(self) -> bool:
        """True if the box will send nothing more unless something arrives; a run ends when all are done."""
        return self.next_event() is None and self.why_blocked() is None

    def snapshot(self) -> dict[str, object]:
        """Return a copy of the state, by field; dataclasses inside stay what they are."""
        return copy.deepcopy({each.name: getattr(self.state, each.name) for each in fields(self.state)})

    def restore(self, snapshot: dict[str, object]) -> None:
        """Put the box into the state of a snapshot."""
        kind = type(self.state)
        known = {each.name for each in fields(kind)}
        if known != set(snapshot):
            raise InternalError(f"box {self.name}: the snapshot has {sorted(snapshot)}, the state {sorted(known)}")
        self.state = kind(**copy.deepcopy(snapshot))


# A netlist: the boxes of a machine and the wires between their ports, checked before anything moves.


AnyBox: TypeAlias = "Box[object, DataclassInstance]"
Part = TypeVar("Part", bound=AnyBox)


class NetlistError(InternalError):
    """Boxes and wires that do not fit together; the message lists every fault."""


class _Connection(NamedTuple):
    wire: Wire
    source: AnyBox
    source_port: str
    sink: AnyBox
    sink_port: str


class Netlist:
    """Boxes and wires by name. Build it, call :meth:`check` (the clock does), print it to see the machine."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._boxes: dict[str, AnyBox] = {}
        self._connections: dict[str, _Connection] = {}
        self._faults: list[str] = []

    @property
    def boxes(self) -> tuple[AnyBox, ...]:
        """The boxes, in the order in which they were added."""
        return tuple(self._boxes.values())

    @property
    def wires(self) -> tuple[Wire, ...]:
        """The wires, in the order in which they were connected."""
        return tuple(connection.wire for connection in self._connections.values())

    def add(self, box: Part) -> Part:
        """Add a box and return it; a second box of the same name is a fault."""
        if box.name in self._boxes:
            self._faults.append(f"two boxes have the name {box.name}")
        else:
            self._boxes[box.name] = box
        return box

    def connect(
        self,
        name: str,
        source: tuple[AnyBox, str],
        sink: tuple[AnyBox, str],
        *,
        latency: int = 1,
        bandwidth: int = 1,
        unit: str = "items",
    ) -> Wire:
        """Lay a wire from an output port to an input port, each given as (box, port name); return the wire.

        Latency and bandwidth are those of :class:`Wire`. What does not fit is a fault that :meth:`check` reports.
        """
        wire = Wire(name, latency=latency, bandwidth=bandwidth, unit=unit)
        return self._lay(wire, source, sink)

    def connect_level(
        self, name: str, source: tuple[AnyBox, str], sink: tuple[AnyBox, str], value: Item, *, latency: int = 1
    ) -> Level:
        """Lay a wire that always carries a value, ``value`` at first; what does not fit is reported as by `connect`."""
        wire = Level(name, value, latency=latency)
        self._lay(wire, source, sink)
        return wire

    def _lay(self, wire: Wire, source: tuple[AnyBox, str], sink: tuple[AnyBox, str]) -> Wire:
        name = wire.name
        if name in self._connections:
            self._faults.append(f"two wires have the name {name}")
            return wire
        self._connections[name] = _Connection(wire, *source, *sink)
        self._attach(wire, *source, source[0].outputs, "output")
        self._attach(wire, *sink, sink[0].inputs, "input")
        return wire

    def _attach(self, wire: Wire, box: AnyBox, port: str, ports: tuple[str, ...], direction: str) -> None:
        if self._boxes.get(box.name) is not box:
            self._faults.append(f"wire {wire.name}: box {box.name} was not added")
        if port not in ports:
            close = nearest(port, ports)
            hint = f"; did you mean {close}?" if close else f" (it has: {', '.join(ports) or 'none'})"
            self._faults.append(f"wire {wire.name}: box {box.name} has no {direction} {port}{hint}")
        elif port in box.wires:
            self._faults.append(f"{box.name}.{port} is connected twice: {box.wires[port].name} and {wire.name}")
        else:
            box.wires[port] = wire

    def check(self) -> None:
        """Raise NetlistError with every fault: ports that are open, taken twice or unknown, and names used twice."""
        faults = list(self._faults)
        for box in self.boxes:
            both = set(box.inputs) & set(box.outputs)
            faults += [f"{box.name}.{port} is both an input and an output" for port in sorted(both)]
            faults += [
                f"{box.name}.{port} is not connected" for port in (*box.inputs, *box.outputs) if port not in box.wires
            ]
        if faults:
            raise NetlistError(f"netlist {self.name}: {len(faults)} faults\n" + "\n".join(f"  {f}" for f in faults))

    def sink_of(self, wire: Wire) -> AnyBox:
        """Return the box that reads a wire."""
        return self._connections[wire.name].sink

    def diagram(self) -> str:
        """Return the block diagram as text: each box, what it sends where, and by which wire."""
        lines = [f"{self.name}: {len(self._boxes)} boxes, {len(self._connections)} wires"]
        for box in self.boxes:
            lines.append(f"{box.name}  ({type(box).__name__})")
            leaving = [each for each in self._connections.values() if each.source is box]
            width = max((len(each.source_port) for each in leaving), default=0)
            for each in leaving:
                wire = each.wire
                about = f"{wire.bandwidth} {wire.unit}/cycle, latency {wire.latency}"
                end = f"{each.sink.name}.{each.sink_port}"
                lines.append(f"  {each.source_port:<{width}} --> {end}  [{wire.name}: {about}]")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.diagram()


# The clock: ticks boxes where something happens and skips the cycles in which nothing does.
#
# It stops when every box is done and nothing is in flight. A standstill before that is a deadlock, and it is found
# exactly: nothing is scheduled, nothing is in flight on any wire, and at least one box says what it waits for. Boxes
# may also stand still while retrying in each cycle; that is found once they have retried for `STILL` cycles.


STILL = 100_000
"""Cycles with ticks in which nothing is carried and no box has worked, after which a run is a deadlock."""
_LOOK = STILL // 10
"""Cycles without a transfer after which boxes are asked for their work."""

Watcher = Callable[[Sent], None]


class ClockState(TypedDict):
    """State of a clock, its boxes and its wires as it is saved."""

    cycle: Cycle
    boxes: dict[str, dict[str, object]]
    wires: dict[str, WireState]


class _Calendar(dict[int, set[int]]):
    """Numbers of boxes by cycle; a cycle that is named for the first time enters the agenda."""

    def __init__(self, agenda: list[int]) -> None:
        self.agenda = agenda

    def __missing__(self, cycle: int) -> set[int]:
        heapq.heappush(self.agenda, cycle)
        there = self[cycle] = set()
        return there


class Clock:
    """Runs one netlist from cycle 0.

    ``watchers`` are called for every transfer, by cycle and within a cycle in the order of the netlist's wires.
    ``shuffle_seed`` ticks the boxes of each cycle in a random order; results do not depend on it, and a test says so.
    """

    def __init__(
        self, netlist: Netlist, *, watchers: tuple[Watcher, ...] = (), shuffle_seed: int | None = None
    ) -> None:
        netlist.check()
        self.netlist = netlist
        self.watchers = watchers
        self.cycle = Cycle(-1)
        """The last cycle in which a box was ticked; -1 before the first."""
        self._random = None if shuffle_seed is None else random.Random(shuffle_seed)
        self._boxes = netlist.boxes
        index_of = {box.name: index for index, box in enumerate(self._boxes)}
        # Boxes without a rule for when they are done are done when they want nothing and wait for nothing.
        self._plain_done = [type(box).done is Box.done for box in self._boxes]
        self._ticks = [box.tick for box in self._boxes]
        self._next_events = [box.next_event for box in self._boxes]
        self._sent: list[Record] = []
        for wire in netlist.wires:
            wire.fresh = self._sent
            wire.sink = index_of[netlist.sink_of(wire).name]
        for box in self._boxes:
            box.wired()
        self._rank = {wire.name: rank for rank, wire in enumerate(netlist.wires)}
        self._schedule()

    def _schedule(self) -> None:
        """Build the agenda from the state of boxes and wires."""
        # Cycles since anything was carried, and how far all boxes had come when that was last looked at.
        self._idle = self._worked = 0
        # Boxes that the cycle after the present one ticks, because they want it or something arrives at them.
        self._soon: set[int] = set()
        # By later cycle: boxes at which something arrives, and boxes that want a tick; the latter count only while
        # `_wanted` agrees. The heap has each of these cycles.
        self._agenda: list[int] = []
        self._arrivals, self._wants = _Calendar(self._agenda), _Calendar(self._agenda)
        self._wanted: list[int | None] = [None] * len(self._boxes)
        for index in range(len(self._boxes)):
            self._look_at(index, self._next_events[index]())
        for wire in self.netlist.wires:
            for transfer in wire.unread:
                if transfer.arrives > self.cycle:
                    self._arrivals[transfer.arrives].add(wire.sink)

    def run(self, max_cycles: int | None = None) -> Cycle:
        """Run until all boxes are done; return the last cycle in which something happened.

        Raises DeadlockError; CycleLimitError where an event is at or beyond ``max_cycles``; WireError where an
        arrived item was never read.
        """
        while (cycle := self.next_cycle()) is not None:
            if max_cycles is not None and cycle >= max_cycles:
                waiting = ", ".join(box.name for box in self._not_done)
                raise CycleLimitError(
                    f"cycle limit {max_cycles} reached: the next event is at cycle {cycle} (not done: {waiting})"
                )
            self._step(cycle)
        self._check_end()
        return self.cycle

    def run_until(self, cycle: int) -> None:
        """Do everything that happens before ``cycle``; a standstill before that is left for :meth:`run` to report."""
        while (event := self.next_cycle()) is not None and event < cycle:
            self._step(event)

    def next_cycle(self) -> Cycle | None:
        """Return the next cycle in which a box will be ticked, or None where the run has come to its end."""
        if self._soon:
            return Cycle(self.cycle + 1)
        agenda, wanted = self._agenda, self._wanted
        while agenda:
            cycle = agenda[0]
            if cycle in self._arrivals or any(wanted[index] == cycle for index in self._wants.get(cycle, ())):
                # What finished boxes have scheduled for themselves holds up neither the end nor a deadlock.
                return Cycle(cycle) if self._arrivals or self._driven() else None
            heapq.heappop(agenda)
            self._wants.pop(cycle, None)
        return None

    def _driven(self) -> bool:
        """Return whether a box that is not done wants a tick."""
        return any(wanted is not None and not box.done for box, wanted in zip(self._boxes, self._wanted, strict=True))

    def _step(self, cycle: Cycle) -> None:
        """Tick every box that has something to do in ``cycle``."""
        due, wanted = self._soon, self._wanted
        agenda, arrivals, wants = self._agenda, self._arrivals, self._wants
        while agenda and agenda[0] <= cycle:
            heapq.heappop(agenda)
        if cycle in arrivals:
            due |= arrivals.pop(cycle)
        if cycle in wants:
            due.update(index for index in wants.pop(cycle) if wanted[index] == cycle)
        order = sorted(due)
        if self._random is not None:
            self._random.shuffle(order)
        self.cycle = cycle
        soon = cycle + 1
        due.clear()
        sent = self._sent
        sent.clear()
        ticks, next_events, plain = self._ticks, self._next_events, self._plain_done
        for index in order:
            event = ticks[index](cycle)
            if event is None:
                event = next_events[index]()
            if event == soon and plain[index]:
                due.add(index)
                wanted[index] = soon
            elif event is not None or wanted[index] is not None:
                self._look_at(index, event)
        if not sent:
            self._idle += 1
            if not self._idle % _LOOK:
                self._check_work()
            return
        self._idle = 0
        for arrives, when, _, item, wire in sent:
            if when != cycle:
                raise WireError(f"cycle {cycle}, wire {wire.name}: sent for cycle {when}: {item}")
            if arrives == soon:
                due.add(wire.sink)
            else:
                arrivals[arrives].add(wire.sink)
        if self.watchers:
            transfers = [record[4].sent(record) for record in sent]
            transfers.sort(key=lambda transfer: self._rank[transfer.wire])
            for transfer in transfers:
                for watch in self.watchers:
                    watch(transfer)

    def _look_at(self, index: int, wanted: int | None) -> None:
        """Note what a box wants next; raises InternalError where that is in the past."""
        if wanted is not None:
            if wanted <= self.cycle:
                name = self._boxes[index].name
                raise InternalError(f"cycle {self.cycle}, box {name}: its next event is cycle {wanted}, which has gone")
            if wanted != self._wanted[index]:
                self._wants[wanted].add(index)
        self._wanted[index] = wanted

    # --- the end -------------------------------------------------------------------------------------------------

    @property
    def _not_done(self) -> list[AnyBox]:
        """Boxes that are not done, as they are now."""
        return [box for box in self._boxes if not box.done]

    def _check_work(self) -> None:
        """Begin to count again where a box has worked; raise DeadlockError where none has for too long."""
        worked = sum(box.worked for box in self._boxes)
        if worked != self._worked:
            self._idle, self._worked = 0, worked
        elif self._idle >= STILL:
            self._standstill(f"nothing was carried for {STILL:,} cycles", "nothing carried")

    def _check_end(self) -> None:
        if self._not_done:
            self._standstill("no box can advance", "nothing scheduled")
        left = [(wire, transfer) for wire in self.netlist.wires for transfer in wire.lost]
        if left:
            lines = [f"  wire {wire.name}: {each.item}, arrived in cycle {each.arrives}" for wire, each in left]
            raise WireError(f"cycle {self.cycle}: {len(left)} items were never read\n" + "\n".join(lines))

    def _standstill(self, seen: str, unblocked: str) -> None:
        """Raise DeadlockError with what was seen, the reason of every blocked box and the unread items.

        Raises InternalError where no box has a reason.
        """
        reasons = [(box.name, box.why_blocked()) for box in self._boxes]
        blocked = [(name, reason) for name, reason in reasons if reason is not None]
        if not blocked:
            lost = ", ".join(box.name for box in self._not_done)
            raise InternalError(f"cycle {self.cycle}: not done, not blocked, and {unblocked}: {lost}")
        width = max(len(name) for name, _ in blocked)
        lines = [f"deadlock at cycle {self.cycle}: {seen}"]
        lines += [f"  {name:<{width}}  {reason}" for name, reason in blocked]
        for wire in self.netlist.wires:
            if wire.lost:
                lines.append(f"  unread on wire {wire.name}: {'; '.join(str(each.item) for each in wire.lost)}")
        raise DeadlockError("\n".join(lines))

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> ClockState:
        """Return the state of the clock, every box and every wire."""
        return {
            "cycle": self.cycle,
            "boxes": {box.name: box.snapshot() for box in self._boxes},
            "wires": {wire.name: wire.snapshot() for wire in self.netlist.wires},
        }

    def restore(self, snapshot: ClockState) -> None:
        """Continue from a snapshot of the same netlist."""
        self.cycle = snapshot["cycle"]
        for box in self._boxes:
            box.restore(snapshot["boxes"][box.name])
        for wire in self.netlist.wires:
            wire.restore(snapshot["wires"][wire.name])
        self._schedule()
