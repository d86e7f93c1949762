"""Formulas of a chip's memory (time): reuse in caches, fibers that hide a latency, the ring between cores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelflow.simd.configuration import check_values, param
from pixelflow.simd.units import Standing

# Reuse in least-recently-used caches, computed for whole arrays of accesses.
#
# Such a cache of n lines holds a line if and only if fewer than n others were used since its last use (Mattson et al.,
# "Evaluation techniques for storage hierarchies", IBM Systems Journal 9, 1970). So hits depend only on the number of
# different lines between an access and the previous access of the same line.


_STRETCH = 512
"""Accesses to examine together."""
_MOST = 1 << 22
"""Places to compare at a time, which bounds the memory used."""


def found_again(lines: np.ndarray, capacity: int) -> np.ndarray:
    """Return which accesses find their line in an initially empty cache of ``capacity`` lines: bool[access].

    ``lines`` are int64[access], in order. Accesses to separate caches may follow each other if their lines have
    different names.
    """
    previous, following = _neighbours(lines)
    times = np.arange(len(lines))
    found: np.ndarray = (previous >= 0) & (times - previous <= capacity)
    far = np.flatnonzero((previous >= 0) & ~found)
    if capacity < 1 or not len(far):
        return found & (capacity > 0)
    # The last uses so far of the ``capacity`` most recently used lines, ascending.
    last_uses = np.zeros(0, np.int64)
    done = 0
    cuts = np.flatnonzero(np.diff(far // _STRETCH)) + 1
    for these in np.split(far, cuts):
        start = int(these[0]) // _STRETCH * _STRETCH
        so_far = np.concatenate([last_uses, times[done:start]])
        last_uses, done = so_far[following[so_far] >= start][-capacity:], start
        before = previous[these]
        # Lines between at the start of the stretch; within it each access adds at most one.
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
    """Return the lines read from memory and written to it by a write-back cache that is emptied at the end.

    ``reads`` and ``writes`` are bool[access]. A line is read if a read misses it, and written once for each stay in the
    cache in which it became dirty.
    """
    found = found_again(lines, capacity)
    order = np.argsort(lines, kind="stable")
    stays = np.flatnonzero(~found[order])
    written = np.logical_or.reduceat(writes[order], stays) if len(stays) else np.zeros(0, bool)
    return int(np.count_nonzero(reads & ~found)), int(np.count_nonzero(written))


def _neighbours(lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the previous access of the same line, or -1, and the next one, or their number: int64[access]."""
    count = len(lines)
    previous, following = np.full(count, -1), np.full(count, count)
    order = np.argsort(lines, kind="stable")
    same = np.flatnonzero(lines[order[1:]] == lines[order[:-1]])
    previous[order[same + 1]] = order[same]
    following[order[same]] = order[same + 1]
    return previous, following


# Fibers: qquads that take turns on a work thread, one texture access after the other, to hide its latency (4.5).
#
# They run in the order of a circular queue and switch after texture accesses. The renderer executes them
# (`tile_memory.py`); these formulas give the number that fills a latency if all turns are equally long.


def stall_share(fibers: int, between: int, latency: int, switch: int = 0) -> float:
    """Return the share of waiting in the cycles of a round of fibers, ``between`` cycles of work in each turn.

    From a fiber's access to its next turn the others run once each, with a switch for each fiber.
    """
    stall = max(0, latency - switch - (fibers - 1) * (between + switch))
    return stall / (fibers * (between + switch) + stall)


def fewest_fibers(between: int, latency: int, switch: int = 0) -> int:
    """Return the least number of fibers whose stall share is below 5 %.

    With w = between + switch and t = latency - switch + w a round of f fibers that stalls lasts t cycles and its share
    of waiting is 1 - f w / t; so f > 0.95 t / w. Raises ValueError for turns without cycles.
    """
    each = between + switch
    if each < 1:
        raise ValueError(f"{between} cycles of work and {switch} of a switch fill no latency")
    whole = latency - switch + each
    return max(1, 95 * whole // (100 * each) + 1)


# The ring between the cores, as one formula: the clocks of a message on empty rings (3.4).
#
# Each agent accepts from one direction in even clocks and from the other in odd clocks. A sender knows distance and
# direction and injects a message in a clock from which it arrives when its receiver listens, so that messages on the
# ring advance in every clock. `CoreConfig.ring_cycles` is the resulting mean ride.
#
# More than sixteen agents have several short rings. Their links are not printed; here each ring has a further stop,
# which is a link to a ring of links.


@dataclass(frozen=True)
class RingConfig:
    """Parameters of the rings; raises InputError for values out of their ranges."""

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

    def rings(self, agents: int) -> int:
        """Return the number of rings for some agents, without the ring of links."""
        return -(-agents // self.agents_of_a_ring)


def ride_clocks(source: int, to: int, agents: int, clock: int = 0, config: RingConfig | None = None) -> int:
    """Return the clocks of a message between two of ``agents``, counted from 0, on empty rings.

    They are its hops, the shorter way round and upwards for even senders where both are equal; on each ring at most
    one clock until they end in one in which the receiver listens (even upwards, odd downwards); and the links. Agent a
    is on ring a // agents_of_a_ring.
    """
    config = config or RingConfig()
    most, count = config.agents_of_a_ring, config.rings(agents)
    (first, begin), (last, end) = divmod(source, most), divmod(to, most)

    def stops(ring: int) -> int:
        return min(most, agents - ring * most) + (count > 1)

    ways = [(stops(first), begin, end)]
    if first != last:
        out, into = stops(first) - 1, stops(last) - 1
        ways = [(stops(first), begin, out), (count, first, last), (stops(last), into, end)]
    time = clock
    for number, (size, leaves, arrives) in enumerate(ways):
        time += config.link_clocks if number else 0
        up = (arrives - leaves) % size
        down = size - up
        direction = source % 2 if up == down else int(down < up)
        clocks = min(up, down) * config.hop_clocks
        time += (time + clocks - direction) % 2 + clocks
    return time - clock


def mean_ride(agents: int, config: RingConfig | None = None) -> float:
    """Return the mean clocks of a message on empty rings: each agent to each other one, in even and odd clocks."""
    pairs = [(source, to) for source in range(agents) for to in range(agents) if source != to]
    return sum(ride_clocks(*pair, agents, clock, config) for pair in pairs for clock in (0, 1)) / (2 * len(pairs))
