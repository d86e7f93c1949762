"""Memory of a chip (time): caches, the ring between cores, and the fibers that hide the latency of texels."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from larrabee_bridge.vpu.program import LINE_BYTES
from pixelflow.simd.boxes import Box, Clock, Netlist, Watcher
from pixelflow.simd.configuration import check_values, param
from pixelflow.simd.errors import Fault, InputError, InternalError
from pixelflow.simd.units import Cycle, Standing

# A cache of sets of lines that are used one after the other, by itself: what others are tested against.


class SetAssociativeCache:
    """Lines in sets of ``ways``, the least recently used given up first."""

    def __init__(self, size: int, ways: int) -> None:
        if size % (LINE_BYTES * ways):
            raise ValueError(f"{size} bytes are not a whole number of sets of {ways} lines")
        self.ways = ways
        self.sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(size // (LINE_BYTES * ways))]
        self.hits = self.misses = 0

    def touch(self, line: int) -> bool:
        """Use a line; return whether it was there. It is afterwards."""
        kept = self.sets[line % len(self.sets)]
        there = line in kept
        if there:
            self.hits += 1
            kept.move_to_end(line)
        else:
            self.misses += 1
            kept[line] = None
            if len(kept) > self.ways:
                kept.popitem(last=False)
        return there


# Reuse in caches worked out for whole arrays of accesses: which of them a least-recently-used cache holds.
#
# A cache of n lines that gives up the least recently used one holds a line if and only if fewer than n others were used
# since its last use (Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9, 1970). So
# what a run of accesses finds does not need the cache, only for each access how many lines stand between it and the one
# before of the same line. A line stands between if its last use before the access does.


_STRETCH = 512
"""Accesses that are looked at together."""
_MOST = 1 << 22
"""Places that are compared at a time, which bounds what is in memory."""


def found_again(lines: np.ndarray, capacity: int) -> np.ndarray:
    """Return which accesses find their line in a cache of ``capacity`` lines that is empty before them: bool[access].

    ``lines`` are int64[access], in their order. Accesses to caches of their own may stand after one another, if each
    names lines that no other does.
    """
    previous, following = _neighbours(lines)
    times = np.arange(len(lines))
    found: np.ndarray = (previous >= 0) & (times - previous <= capacity)
    far = np.flatnonzero((previous >= 0) & ~found)
    if capacity < 1 or not len(far):
        return found & (capacity > 0)
    # The last use so far of each of the ``capacity`` lines that were used last, ascending.
    last_uses = np.zeros(0, np.int64)
    done = 0
    cuts = np.flatnonzero(np.diff(far // _STRETCH)) + 1
    for these in np.split(far, cuts):
        start = int(these[0]) // _STRETCH * _STRETCH
        so_far = np.concatenate([last_uses, times[done:start]])
        last_uses, done = so_far[following[so_far] >= start][-capacity:], start
        before = previous[these]
        # Lines between as the stretch begins; within it each access adds one at most.
        least = len(last_uses) - np.searchsorted(last_uses, before, side="right")
        found[these] = here = (before < start) & (least + (these - start) < capacity)
        open_ones = np.flatnonzero(~here & (least < capacity))
        places = np.concatenate([last_uses, times[start : start + _STRETCH]])
        for part in np.array_split(open_ones, -(-len(open_ones) * len(places) // _MOST) or 1):
            at, since = these[part, None], before[part, None]
            between = ((places > since) & (places < at) & (following[places] >= at)).sum(axis=1)
            found[these[part]] = between < capacity
    return found


def line_moves(lines: np.ndarray, reads: np.ndarray, writes: np.ndarray, capacity: int) -> tuple[int, int]:
    """Return how many lines come from memory and go to memory, where a cache writes back and is empty in the end.

    A line comes where it is not there and something of it is read: ``reads`` and ``writes`` are bool[access]. What was
    written goes once for each stay in the cache.
    """
    found = found_again(lines, capacity)
    order = np.argsort(lines, kind="stable")
    stays = np.flatnonzero(~found[order])
    written = np.logical_or.reduceat(writes[order], stays) if len(stays) else np.zeros(0, bool)
    return int(np.count_nonzero(reads & ~found)), int(np.count_nonzero(written))


def _neighbours(lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the access before of the same line, or -1, and the next one, or as many as there are: int64[access]."""
    count = len(lines)
    previous, following = np.full(count, -1), np.full(count, count)
    order = np.argsort(lines, kind="stable")
    same = np.flatnonzero(lines[order[1:]] == lines[order[:-1]])
    previous[order[same + 1]] = order[same]
    following[order[same]] = order[same + 1]
    return previous, following


# Fibers: qquads that take turns on a work thread, one texture access after the other, to hide its latency (4.5).
#
# Section numbers are those of Seiler et al. 2008. Fibers stand in a circular queue and run in that order only: where
# the
# next one's texture has not come, the thread waits for it, even if another one's has. A fiber that ends its qquad
# goes on
# with the next qquad at once; it switches after texture accesses and at no other time.


@dataclass(frozen=True, slots=True)
class FiberRun:
    """What a work thread did: cycles in all, cycles of qquads and of switches, cycles in which it waited."""

    cycles: int
    worked: int
    switched: int
    stalled: int
    order: tuple[int, ...]
    """Which qquad ran in each turn."""

    @property
    def stall_share(self) -> float:
        """Share of the waiting in all cycles."""
        return self.stalled / self.cycles if self.cycles else 0.0


def run_fibers(qquads: Iterable[Sequence[int]], fibers: int, latency: int, switch: int = 0) -> FiberRun:
    """Run qquads on one work thread, from texture access to texture access.

    A qquad is the cycles of its stretches; between two stretches it reads texture, and the result is there ``latency``
    cycles after the stretch's end. Qquads begin in their order. Raises ValueError without a fiber, and for a qquad
    without a stretch.
    """
    if fibers < 1:
        raise ValueError(f"{fibers} fibers run nothing")
    qquads = list(qquads)
    if not all(len(stretches) for stretches in qquads):
        raise ValueError("a qquad without a stretch runs nothing")
    coming = enumerate(qquads)
    ring: deque[tuple[int, int, Sequence[int], int]] = deque()  # ready, qquad, stretches, next stretch
    time = worked = switched = stalled = 0
    order: list[int] = []
    waiting = fibers
    while True:
        if waiting and (new := next(coming, None)) is not None:
            # A fiber that has not run yet: its turn comes before those that wait for their textures.
            waiting -= 1
            number, stretches, at = *new, 0
        elif ring:
            waiting = 0
            ready, number, stretches, at = ring.popleft()
            stalled += max(ready - time, 0)
            time = max(ready, time)
        else:
            break
        while True:
            order.append(number)
            time += stretches[at]
            worked += stretches[at]
            at += 1
            if at < len(stretches):
                ring.append((time + latency, number, stretches, at))
                break
            following = next(coming, None)
            if following is None:
                break
            number, stretches, at = *following, 0
        if ring or waiting:
            time += switch
            switched += switch
    return FiberRun(time, worked, switched, stalled, tuple(order))


def stall_of_a_round(fibers: int, between: int, latency: int, switch: int = 0) -> int:
    """Return the cycles that a thread waits in each round of its fibers, ``between`` cycles of work in each turn.

    From a fiber's access to its next turn the others run once each, and there is a switch for each of them and its own.
    """
    return max(0, latency - switch - (fibers - 1) * (between + switch))


def stall_share(fibers: int, between: int, latency: int, switch: int = 0) -> float:
    """Return the share of waiting in the cycles of a round."""
    stall = stall_of_a_round(fibers, between, latency, switch)
    return stall / (fibers * (between + switch) + stall)


def fewest_fibers(between: int, latency: int, switch: int = 0, percent: int = 5) -> int:
    """Return the least number of fibers whose stall share is below ``percent``.

    With w = between + switch and t = latency - switch + w a round of f fibers that stalls lasts t cycles and its share
    of waiting is 1 - f w / t; so f > (1 - percent / 100) t / w. Raises ValueError where a turn takes no cycles: then no
    number of them fills a latency.
    """
    each = between + switch
    if each < 1:
        raise ValueError(f"{between} cycles of work and {switch} of a switch fill no latency")
    whole = latency - switch + each
    return max(1, (100 - percent) * whole // (100 * each) + 1)


# The ring between the cores: messages that are never stored once they are on it (3.4), as boxes and wires.
#
# Section numbers are those of Seiler et al. 2008. Each agent accepts from one direction in even clocks and from the
# other
# one in odd clocks, so never two messages at once. A sender knows distance and direction beforehand; it puts a message
# into an empty place that passes by, in a clock from which the message arrives when its receiver listens. So
# whatever is
# on the ring moves on in every clock.
#
# Above sixteen agents there are several short rings. How they are linked is not printed; here each has one stop more,
# which is a link to a ring of links. A link keeps messages until they fit onto the next ring, as a sender does.


@dataclass(frozen=True)
class RingConfig:
    """What the model of the rings is given; raises InputError for values out of their ranges."""

    # fmt: off
    agents_of_a_ring: int = param(16, "most agents on one ring, links not counted", unit="agents",
        source="Seiler et al. 2008, 3.4: more than 16 cores take multiple short linked rings",
        standing=Standing.DERIVED, low=2, high=64)
    width_bytes: int = param(64, "a message; each direction carries one from each stop to the next in a clock",
        unit="bytes", source="Seiler et al. 2008, 3.4: 512 bits per direction", standing=Standing.DERIVED,
        allowed=(64,))
    hop_clocks: int = param(1, "from one stop to the next", unit="clocks", source="no source gives it",
        standing=Standing.INVENTED, low=1, high=16)
    link_clocks: int = param(1, "from a link's ring to the ring of links, or back, at the least", unit="clocks",
        source="no source gives it", standing=Standing.INVENTED, low=0, high=64)
    # fmt: on

    def __post_init__(self) -> None:
        check_values(self)


class RingDirection(IntEnum):
    """Which way round; the number is the parity of the clocks in which agents accept from it."""

    UP = 0
    """To the next higher stop."""
    DOWN = 1


@dataclass(frozen=True, slots=True)
class Leg:
    """A way on one ring; stops count from 0, the link of a ring is its last one."""

    ring: int
    """-1 is the ring of links."""
    begin: int
    end: int
    direction: RingDirection
    hops: int


@dataclass(frozen=True, slots=True)
class RingMessage:
    """What an agent wants to send to another one, from a clock on."""

    source: int
    to: int
    clock: int


@dataclass(frozen=True, slots=True)
class Ride:
    """A message on one ring: put onto it in one clock, accepted in another one."""

    leg: Leg
    put: int
    accepted: int


@dataclass(frozen=True, slots=True)
class RingDelivery:
    """A message that has arrived, and how."""

    message: RingMessage
    rides: tuple[Ride, ...]

    @property
    def latency(self) -> int:
        """Clocks from the wish to send to the arrival."""
        return self.rides[-1].accepted - self.message.clock


@dataclass(slots=True)
class _Parcel:
    """A message under way with the legs before it; its rides so far."""

    message: RingMessage
    legs: tuple[Leg, ...]
    ready: int
    put: int = -1
    rides: tuple[Ride, ...] = ()


@dataclass(frozen=True, slots=True)
class _StopSpec:
    stops: tuple[tuple[int, int], ...]
    """(ring, position) of each ring on which it is: one, or two where it is a link."""
    hop_clocks: int
    link_clocks: int


@dataclass(slots=True)
class _StopState:
    queues: dict[str, deque[_Parcel]] = field(default_factory=dict)
    """What is to be sent, by output."""
    delivered: list[RingDelivery] = field(default_factory=list)
    now: int = -1
    longest: int = 0
    """Most messages that waited for one output at a time."""


class _Stop(Box[_StopSpec, _StopState]):
    """A stop of a ring: passes on, accepts, and sends where nothing passes by."""

    def __init__(self, name: str, spec: _StopSpec) -> None:
        super().__init__(name, spec, _StopState())
        sides = [(ring, way) for ring, _ in spec.stops for way in RingDirection]
        self.inputs = tuple(_port("from", *side) for side in sides)
        self.outputs = tuple(_port("to", *side) for side in sides)

    def give(self, parcel: _Parcel) -> None:
        """Let a message wait for the first ring of its way."""
        leg = parcel.legs[0]
        queue = self.state.queues.setdefault(_port("to", leg.ring, leg.direction), deque())
        queue.append(parcel)
        self.state.longest = max(self.state.longest, len(queue))

    def next_event(self) -> Cycle | None:
        heads = [queue[0].ready for queue in self.state.queues.values() if queue]
        return Cycle(max(min(heads), self.state.now + 1)) if heads else None

    def tick(self, cycle: Cycle) -> None:
        self.state.now = cycle
        passing = set()
        for ring, position in self.spec.stops:
            for way in RingDirection:
                wire = self.wires[_port("from", ring, way)]
                if not wire.ready(cycle):
                    continue
                parcel = wire.take(cycle)
                if parcel.legs[0].end == position:
                    self._accept(cycle, parcel)
                else:
                    output = _port("to", ring, way)
                    self.wires[output].send(cycle, parcel)
                    passing.add(output)
        for output, queue in self.state.queues.items():
            if queue and output not in passing and queue[0].ready <= cycle and self._fits(cycle, queue[0].legs[0]):
                parcel = queue.popleft()
                parcel.put = cycle
                self.wires[output].send(cycle, parcel)

    def _fits(self, cycle: Cycle, leg: Leg) -> bool:
        return (cycle + leg.hops * self.spec.hop_clocks) % 2 == leg.direction

    def _accept(self, cycle: Cycle, parcel: _Parcel) -> None:
        leg, *rest = parcel.legs
        if cycle % 2 != leg.direction:
            raise InternalError(f"clock {cycle}, {self.name}: a message from {leg.direction.name} in the other's clock")
        rides = (*parcel.rides, Ride(leg, parcel.put, cycle))
        if rest:
            self.give(_Parcel(parcel.message, tuple(rest), cycle + self.spec.link_clocks, rides=rides))
        else:
            self.state.delivered.append(RingDelivery(parcel.message, rides))


def _port(what: str, ring: int, way: RingDirection) -> str:
    return f"{what} {'links' if ring < 0 else ring} {way.name.lower()}"


class RingNetwork:
    """Agents on as many rings as they need; agent a sits on ring a // agents_of_a_ring. Raises InputError below two."""

    def __init__(self, agents: int, config: RingConfig | None = None) -> None:
        if agents < 2:
            raise InputError(Fault(f"a ring of {agents} agents", hint="at least 2"))
        self.agents = agents
        self.config = config or RingConfig()
        self._most = self.config.agents_of_a_ring
        self.rings = -(-agents // self._most)
        self.longest_at_links = 0
        """Most messages that waited at a link for one direction of one ring, in the last run."""

    def stops(self, ring: int) -> int:
        """Return the stops of a ring, its link among them; -1 is the ring of links."""
        if ring < 0:
            return self.rings
        return min(self._most, self.agents - ring * self._most) + (self.rings > 1)

    def way(self, source: int, to: int) -> tuple[Leg, ...]:
        """Return how a message goes: on each ring the shorter way round, of equal ones upwards for even agents."""
        if source == to or not (0 <= source < self.agents and 0 <= to < self.agents):
            raise InputError(Fault(f"a message from agent {source} to {to}", hint=f"two of 0 to {self.agents - 1}"))
        (first, begin), (last, end) = divmod(source, self._most), divmod(to, self._most)
        if first == last:
            places = [(first, begin, end)]
        else:
            out, into = self.stops(first) - 1, self.stops(last) - 1
            places = [(first, begin, out), (-1, first, last), (last, into, end)]
        return tuple(self._leg(*each, RingDirection(source % 2)) for each in places)

    def _leg(self, ring: int, begin: int, end: int, equal: RingDirection) -> Leg:
        size = self.stops(ring)
        up = (end - begin) % size
        down = size - up
        direction = equal if up == down else RingDirection.UP if up < down else RingDirection.DOWN
        return Leg(ring, begin, end, direction, min(up, down))

    def latency(self, source: int, to: int, clock: int = 0) -> int:
        """Return the clocks of a message on empty rings.

        They are its hops, on each ring at most one clock until they end in one in which its receiver listens, and the
        links.
        """
        time = clock
        for number, leg in enumerate(self.way(source, to)):
            time += self.config.link_clocks if number else 0
            clocks = leg.hops * self.config.hop_clocks
            time += (time + clocks - leg.direction) % 2 + clocks
        return time - clock

    def run(self, messages: Sequence[RingMessage], *, watchers: tuple[Watcher, ...] = ()) -> tuple[RingDelivery, ...]:
        """Send messages until all have arrived; return them by the clock of their arrival, then by sender.

        An agent sends in the order of its messages' clocks, in both directions at once. Watchers see every hop. Raises
        InputError for a message before clock 0, and for one between agents that do not exist.
        """
        faults = [Fault(f"a message at clock {each.clock}", hint="0 or later") for each in messages if each.clock < 0]
        if faults:
            raise InputError(faults)
        netlist, agents, links = self._netlist()
        for message in sorted(messages, key=lambda each: each.clock):
            agents[message.source].give(_Parcel(message, self.way(message.source, message.to), message.clock))
        Clock(netlist, watchers=watchers).run()
        self.longest_at_links = max((link.state.longest for link in links), default=0)
        found = [each for agent in agents for each in agent.state.delivered]
        return tuple(sorted(found, key=lambda each: (each.rides[-1].accepted, each.message.source)))

    def _netlist(self) -> tuple[Netlist, list[_Stop], list[_Stop]]:
        netlist = Netlist("rings")

        def stop(name: str, *places: tuple[int, int]) -> _Stop:
            return netlist.add(_Stop(name, _StopSpec(places, self.config.hop_clocks, self.config.link_clocks)))

        agents = [stop(f"agent {agent}", divmod(agent, self._most)) for agent in range(self.agents)]
        rings = [agents[first : first + self._most] for first in range(0, self.agents, self._most)]
        links = []
        if self.rings > 1:
            links = [stop(f"link {ring}", (ring, self.stops(ring) - 1), (-1, ring)) for ring in range(self.rings)]
            rings = [[*each, link] for each, link in zip(rings, links, strict=True)]
        for ring, stops in [*enumerate(rings), *([(-1, links)] if links else [])]:
            for position, sender in enumerate(stops):
                for way, step in ((RingDirection.UP, 1), (RingDirection.DOWN, -1)):
                    receiver = stops[(position + step) % len(stops)]
                    netlist.connect(
                        f"{sender.name} {_port('to', ring, way)}",
                        (sender, _port("to", ring, way)),
                        (receiver, _port("from", ring, way)),
                        latency=self.config.hop_clocks,
                        unit="messages",
                    )
        return netlist, agents, links
