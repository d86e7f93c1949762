"""Lines that threads touch: where they lie, the caches of a core, its memory, its texture unit; plain functions."""

from __future__ import annotations

from larrabee_bridge.vpu.core.turns.places import (
    EVICT,
    FAR,
    FULL_READ,
    G_PAST,
    G_RING,
    G_RING_AT,
    G_SHIFT,
    L1,
    L1_MISSES,
    L1_SETS,
    L2,
    L2_CYCLES,
    L2_MISSES,
    L2_SETS,
    MEMORY_CYCLES,
    MEMORY_FREE,
    MEMORY_LINE,
    NEAR,
    PENDING,
    PENDING_AT,
    PENDING_COUNT,
    R_ANSWER,
    R_BUSY,
    R_LINE,
    R_MISSES,
    RANGE,
    RANGES,
    S_OWN,
    S_OWN_PAST,
    S_OWN_SHIFT,
    S_RANGES,
    S_RANGES_PAST,
    STORE,
    STORES_WAIT,
    UNIT_FREE,
    UNIT_LATENCY,
    WAYS,
    WHOLE,
)
from pixelflow.simd.native.plain import Longs, Words

__all__ = ["LINE_FUNCTIONS", "turns_access", "turns_answer", "turns_find", "turns_insert"]


def turns_find(m: Longs, place: int, ways: int, line: int) -> int:
    """Use a line of a cache's set: return from when on it is there, or -1. It is the last used one afterwards."""
    at = 0
    while at < ways:
        if m[place + 2 * at] == line:
            there = m[place + 2 * at + 1]
            while at > 0:
                m[place + 2 * at] = m[place + 2 * at - 2]
                m[place + 2 * at + 1] = m[place + 2 * at - 1]
                at -= 1
            m[place] = line
            m[place + 1] = there
            return there
        at += 1
    return -1


def turns_insert(m: Longs, place: int, ways: int, line: int, there: int) -> int:
    """Put a line into a set, where it is from cycle ``there`` on; the least recently used one leaves."""
    at = ways - 1
    while at > 0:
        m[place + 2 * at] = m[place + 2 * at - 2]
        m[place + 2 * at + 1] = m[place + 2 * at - 1]
        at -= 1
    m[place] = line
    m[place + 1] = there
    return 0


def turns_evict(m: Longs, place: int, ways: int, line: int) -> int:
    """Let a line of a set, if it is there, be the next one that leaves."""
    there = turns_find(m, place, ways, line)
    if there >= 0:
        at = 0
        while at < ways - 1:
            m[place + 2 * at] = m[place + 2 * at + 2]
            m[place + 2 * at + 1] = m[place + 2 * at + 3]
            at += 1
        m[place + 2 * ways - 2] = line
        m[place + 2 * ways - 1] = there
    return 0


def turns_line(m: Longs, stretch: int, line: int) -> int:
    """Return where a line of a run lies on the modelled core: what a run keeps apart may be one place there."""
    if m[stretch + S_OWN] <= line and line < m[stretch + S_OWN_PAST]:
        return line + m[stretch + S_OWN_SHIFT]
    at = m[RANGES] + RANGE * m[stretch + S_RANGES]
    past = m[RANGES] + RANGE * m[stretch + S_RANGES_PAST]
    while at < past:
        if line < m[at + G_PAST]:
            line += m[at + G_SHIFT]
            if m[at + G_RING] > 0:
                line = m[at + G_RING_AT] + line % m[at + G_RING]
            return line
        at += RANGE
    return line


def turns_bring(m: Longs, line: int, flags: int, cycle: int) -> int:
    """Use a line; return the cycle from which on it is in the cache that it was wanted in."""
    near = m[L1] + 2 * m[WAYS] * (line % m[L1_SETS])
    far = m[L2] + 2 * m[WAYS] * (line % m[L2_SETS])
    if not flags & FAR:
        there = turns_find(m, near, m[WAYS], line)
        if there >= 0:
            return there
        m[L1_MISSES] += 1
    there = turns_find(m, far, m[WAYS], line)
    if there >= 0:
        there = max(there, cycle)
        if not flags & FAR:
            there += m[L2_CYCLES]
    else:
        m[L2_MISSES] += 1
        there = cycle + m[L2_CYCLES]
        if not flags & WHOLE or m[FULL_READ]:
            begin = max(cycle, m[MEMORY_FREE])
            m[MEMORY_FREE] = begin + m[MEMORY_LINE]
            there = begin + m[MEMORY_CYCLES]
        turns_insert(m, far, m[WAYS], line, there)
    if not flags & FAR:
        turns_insert(m, near, m[WAYS], line, there)
    return there


def turns_access(m: Longs, words: Words, stretch: int, first: int, touched: int, flags: int, cycle: int) -> int:
    """Use the lines of an access; return for how many cycles its thread waits: for the slowest, since misses overlap.

    A thread waits for what it loads. Stores and prefetches wait only for a place among the misses under way.
    """
    longest = 0
    if flags & WHOLE and touched > 1:
        flags -= WHOLE
    at = first
    while at < first + touched:
        line = turns_line(m, stretch, words[at])
        if flags & EVICT:
            turns_evict(m, m[L1] + 2 * m[WAYS] * (line % m[L1_SETS]), m[WAYS], line)
            turns_evict(m, m[L2] + 2 * m[WAYS] * (line % m[L2_SETS]), m[WAYS], line)
        else:
            there = turns_bring(m, line, flags, cycle)
            if there > cycle:
                if flags & (NEAR | FAR) or (flags & STORE and not m[STORES_WAIT]):
                    place = m[PENDING] + m[PENDING_AT]
                    longest = max(longest, m[place] - cycle)
                    m[place] = max(m[place], there)
                    m[PENDING_AT] = (m[PENDING_AT] + 1) % m[PENDING_COUNT]
                else:
                    longest = max(longest, there - cycle)
        at += 1
    return longest


def turns_answer(m: Longs, request: int, cycle: int) -> int:
    """Send a texture request in ``cycle``: command and answer go through the L2 slice, the unit takes one at a time."""
    begin = max(cycle + 1 + m[L2_CYCLES], m[UNIT_FREE])
    m[UNIT_FREE] = begin + m[request + R_BUSY]
    answer = m[UNIT_FREE] + m[UNIT_LATENCY]
    if m[request + R_MISSES] > 0:
        lines = max(begin, m[MEMORY_FREE])
        m[MEMORY_FREE] = lines + m[MEMORY_LINE] * m[request + R_MISSES]
        answer = max(answer, m[MEMORY_FREE] - m[MEMORY_LINE] + m[MEMORY_CYCLES] + m[UNIT_LATENCY])
    m[request + R_ANSWER] = answer
    line = m[request + R_LINE]
    if line >= 0:
        near = m[L1] + 2 * m[WAYS] * (line % m[L1_SETS])
        far = m[L2] + 2 * m[WAYS] * (line % m[L2_SETS])
        if turns_find(m, near, m[WAYS], line) >= 0:
            m[near] = -1
        if turns_find(m, far, m[WAYS], line) >= 0:
            m[far + 1] = answer
        else:
            turns_insert(m, far, m[WAYS], line, answer)
    return 0


LINE_FUNCTIONS = (turns_find, turns_insert, turns_evict, turns_line, turns_bring, turns_access, turns_answer)
"""All of them, those that are called before those that call."""
