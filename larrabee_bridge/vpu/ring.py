"""Formulas of a chip's memory (time): reuse in caches, fibers that hide a latency, the ring between cores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelflow.simd.configuration import check_values, param
from pixelflow.simd.lanes.native.plain import Longs, Words, executed, pays_natively
from pixelflow.simd.units import Standing

# Reuse in fully associative caches, the least recently used line of which leaves.


TOGETHER = 1 << 20
"""Accesses counted by one call, which bounds the memory used."""


def use_lines(m: Longs, words: Words, count: int, lines: int, capacity: int) -> int:
    """Use ``count`` lines, of ``lines`` that there are, one after the other; return how many went to memory.

    A word is twice a line, and 1 if it is stored to. ``m`` begins with a list of the lines in the cache from the most
    recently used one on: for each the next older one, then for each the next newer one, -1 outside of the cache, both
    with ``lines`` for the ends; then 1 for each that was stored to, how many are in the cache, and whether each access
    has found its line.
    """
    newer, stored = lines + 1, 2 * lines + 2
    out = stored + lines + 1
    written, at = 0, 0
    while at < count:
        line = words[at] >> 1
        after = m[newer + line]
        if after >= 0:
            m[out + at] = 1
            m[after] = m[line]
            m[newer + m[line]] = after
        elif m[out - 1] < capacity:
            m[out + at] = 0
            m[out - 1] += 1
        else:
            m[out + at] = 0
            last = m[newer + lines]
            m[m[newer + last]] = lines
            m[newer + lines] = m[newer + last]
            m[newer + last] = -1
            written += m[stored + last]
            m[stored + last] = 0
        m[line] = m[lines]
        m[newer + m[lines]] = line
        m[newer + line] = lines
        m[lines] = line
        m[stored + line] = m[stored + line] | words[at] & 1
        at += 1
    return written


def line_moves(lines: np.ndarray, writes: np.ndarray, capacity: int) -> tuple[np.ndarray, int]:
    """Return which accesses find their line in an initially empty cache, bool[access], and the lines written to memory.

    ``lines`` are int64[access], in order, ``writes`` bool[access], ``capacity`` is the lines of the cache, which is
    emptied at the end. A line is written once for each stay in the cache in which it was stored to. Accesses to
    separate caches may follow each other if their lines have different names.
    """
    if capacity < 1:
        return np.zeros(len(lines), bool), int(np.count_nonzero(writes))
    many = int(lines.max(initial=0)) + 1
    if many > 8 * len(lines):
        names, lines = np.unique(lines, return_inverse=True)
        many = len(names)
    words = (lines << 1 | writes).astype(np.uint32)
    native = pays_natively(len(words))
    m = np.zeros(3 * (many + 1) + min(len(words), TOGETHER), np.int64)
    m[many + 1 : 2 * many + 1] = -1
    m[many] = m[2 * many + 1] = many
    found, written, results = np.empty(len(words), bool), 0, 3 * (many + 1)
    for begin in range(0, len(words), TOGETHER):
        some = words[begin : begin + TOGETHER]
        written += executed(use_lines, (m, some, len(some), many, capacity), natively=native)
        found[begin : begin + len(some)] = m[results : results + len(some)]
    return found, written + int(m[2 * many + 2 : 3 * many + 2].sum())


def found_again(lines: np.ndarray, capacity: int) -> np.ndarray:
    """Return which accesses find their line in a cache that is not stored to, as `line_moves` does."""
    return line_moves(lines, np.zeros(len(lines), bool), capacity)[0]


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
