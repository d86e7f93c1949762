"""Threads that take turns on a core, cycle by cycle: plain functions, which Python and native code carry out alike.

In each cycle the next thread, round robin, that has its instruction and its operands issues one, and a second one
beside it where both may. An image (`places.py`) holds all there is; ``words`` are notes of what threads carried out.
"""

from __future__ import annotations

from larrabee_bridge.vpu.core.turns.lines import (
    LINE_FUNCTIONS,
    turns_access,
    turns_answer,
    turns_find,
    turns_insert,
)
from larrabee_bridge.vpu.core.turns.places import (
    ADDRESS,
    B_FIRST,
    B_MARK,
    B_PAST,
    BETWEEN,
    BLOCK,
    BRANCH,
    CACHED,
    CAPACITY,
    CODE,
    CODE_CACHED,
    CODE_MISSES,
    CODE_SETS,
    DEALS,
    DEALS_A_QUAD,
    DEALT,
    DEALT_ALL,
    DUAL,
    EITHER,
    END,
    ENDED,
    I_ADDRESSES,
    I_CODE,
    I_COUNTER,
    I_FLAGS,
    I_LATENCY,
    I_LINE,
    I_PAST,
    I_READS,
    I_WRITES,
    INSTRUCTION,
    INSTRUCTIONS,
    ISSUED,
    L2_CYCLES,
    MARKED,
    MISPREDICTED,
    NEVER,
    ORDER,
    PAIRED,
    PHASE,
    PHASE_COUNT,
    PHASES,
    R_ANSWER,
    REGISTERS,
    REQUEST,
    REQUESTS,
    REST,
    RUNNING,
    RUNS,
    S_ASK,
    S_BEGIN,
    S_BLOCKS,
    S_PAST,
    S_PHASE,
    S_WAIT,
    STRETCH,
    SWITCH,
    T_AT,
    T_BLOCK,
    T_BLOCK_PAST,
    T_CODE,
    T_FETCH,
    T_FREE,
    T_NUMBER,
    T_READY,
    T_REGISTERS,
    T_STATE,
    T_STRETCH,
    T_STRETCHES_PAST,
    T_WORDS_PAST,
    T_WORKER,
    TAKEN,
    TAKES_A_QUAD,
    TOUCHES,
    TWO_ACCESSES,
    WAYS,
    WRONG,
)
from pixelflow.simd.native.plain import Longs, Words

__all__ = ["FUNCTIONS", "turns_count"]


def turns_latest(m: Longs, t: int, first: int, past: int) -> int:
    """Return the latest cycle from which some registers of a thread have their values."""
    latest = 0
    while first < past:
        latest = max(latest, m[t + T_REGISTERS + m[m[REGISTERS] + first]])
        first += 1
    return latest


def turns_look(m: Longs, t: int, cycle: int) -> int:
    """Note when a thread has its next instruction and that one's operands."""
    number = m[INSTRUCTIONS] + INSTRUCTION * m[t + T_NUMBER]
    ready = turns_latest(m, t, m[number + I_READS], m[number + I_ADDRESSES])
    if m[number + I_ADDRESSES] < m[number + I_WRITES]:
        address = turns_latest(m, t, m[number + I_ADDRESSES], m[number + I_WRITES])
        if address > 0:
            ready = max(ready, address + m[ADDRESS])
    m[t + T_READY] = ready
    if m[CODE_CACHED] and m[t + T_CODE] != m[number + I_CODE]:
        line = m[number + I_CODE]
        m[t + T_CODE] = line
        place = m[CODE] + 2 * m[WAYS] * (line % m[CODE_SETS])
        if turns_find(m, place, m[WAYS], line) < 0:
            turns_insert(m, place, m[WAYS], line, 0)
            m[CODE_MISSES] += 1
            m[t + T_FETCH] = max(m[t + T_FETCH], cycle + 1 + m[L2_CYCLES])
    return 0


def turns_enter(m: Longs, words: Words, t: int, cycle: int) -> int:
    """Lead a thread to its next block."""
    block = m[m[t + T_STRETCH] + S_BLOCKS] + BLOCK * words[m[t + T_AT]]
    m[t + T_AT] += 1
    m[t + T_BLOCK] = block
    m[t + T_NUMBER] = m[block + B_FIRST]
    m[t + T_BLOCK_PAST] = m[block + B_PAST]
    if m[block + B_MARK]:
        m[t + T_STATE] = MARKED
    else:
        m[t + T_STATE] = RUNS
        turns_look(m, t, cycle)
    return 0


def turns_finish(m: Longs, t: int, cycle: int) -> int:
    """End a stretch of a thread, whose last instruction has issued in ``cycle``."""
    stretch = m[t + T_STRETCH]
    phase = m[stretch + S_PHASE]
    if phase >= 0:
        m[m[PHASES] + phase] -= 1
        while m[PHASE] < m[PHASE_COUNT] and m[m[PHASES] + m[PHASE]] == 0:
            m[PHASE] += 1
    if m[stretch + S_ASK] >= 0:
        turns_answer(m, m[REQUESTS] + REQUEST * m[stretch + S_ASK], cycle)
        m[t + T_FREE] += m[SWITCH]
    m[t + T_STRETCH] = stretch + STRETCH
    m[t + T_STATE] = ENDED if stretch + STRETCH == m[t + T_STRETCHES_PAST] else BETWEEN
    return 0


def turns_predict(m: Longs, words: Words, t: int, number: int, cycle: int) -> int:
    """Let a thread wait where its branch went another way than two bits of the past say."""
    following = m[m[t + T_STRETCH] + S_BLOCKS] + BLOCK * words[m[t + T_AT]]
    taken = following != m[t + T_BLOCK] + BLOCK
    counter = m[number + I_COUNTER]
    if taken != (counter > 1):
        m[WRONG] += 1
        m[t + T_FETCH] = max(m[t + T_FETCH], cycle + 1 + m[MISPREDICTED])
    m[number + I_COUNTER] = min(counter + 1, 3) if taken else max(counter - 1, 0)
    return 0


def turns_advance(m: Longs, words: Words, t: int, cycle: int) -> int:
    """Go on to the next instruction of a thread: in its block, in the next one, or past a stretch."""
    number = m[INSTRUCTIONS] + INSTRUCTION * m[t + T_NUMBER]
    m[t + T_NUMBER] += 1
    if m[t + T_NUMBER] < m[t + T_BLOCK_PAST]:
        turns_look(m, t, cycle)
        return 0
    if m[m[t + T_BLOCK] + B_MARK] == DEALS_A_QUAD:
        worker = m[m[DEALS] + m[DEALT_ALL]]
        m[m[DEALT] + worker] += 1
        m[DEALT_ALL] += 1
    if m[t + T_AT] == m[t + T_WORDS_PAST]:
        turns_finish(m, t, cycle)
        return 0
    if m[number + I_FLAGS] & BRANCH:
        turns_predict(m, words, t, number, cycle)
    turns_enter(m, words, t, cycle)
    return 0


def turns_issue(m: Longs, words: Words, t: int, cycle: int) -> int:
    """Issue the next instruction of a thread; return for how many cycles that holds the pipes."""
    number = m[INSTRUCTIONS] + INSTRUCTION * m[t + T_NUMBER]
    held = 1
    missing = 0
    if m[number + I_FLAGS] & TOUCHES:
        touched = words[m[t + T_AT]]
        first = m[t + T_AT] + 1
        m[t + T_AT] = first + touched
        held = max(touched * m[number + I_LINE], 1)
        if m[CACHED]:
            missing = turns_access(m, words, m[t + T_STRETCH], first, touched, m[number + I_FLAGS], cycle)
    there = cycle + held - 1 + missing + m[number + I_LATENCY]
    at = m[number + I_WRITES]
    while at < m[number + I_PAST]:
        m[t + T_REGISTERS + m[m[REGISTERS] + at]] = there
        at += 1
    # In order: a thread that waits for a line issues nothing else.
    m[t + T_FREE] = max(m[t + T_FREE], cycle + held + missing)
    turns_advance(m, words, t, cycle)
    return held


def turns_may_pair(m: Longs, t: int, last: int, cycle: int) -> int:
    """Return whether a thread's next instruction may issue beside ``last``, which it issued in this cycle."""
    if m[t + T_STATE] != RUNS or m[t + T_FETCH] > cycle or m[t + T_READY] > cycle:
        return 0
    number = m[INSTRUCTIONS] + INSTRUCTION * m[t + T_NUMBER]
    if m[last + I_FLAGS] & BRANCH or not m[number + I_FLAGS] & EITHER:
        return 0
    if not m[TWO_ACCESSES] and m[last + I_FLAGS] & m[number + I_FLAGS] & TOUCHES:
        return 0
    return turns_latest(m, t, m[number + I_WRITES], m[number + I_PAST]) <= cycle


def turns_when(m: Longs, words: Words, t: int, cycle: int) -> int:
    """Return the first cycle in which a thread may issue, NEVER where it waits for what others do."""
    if m[t + T_STATE] == BETWEEN:
        stretch = m[t + T_STRETCH]
        if m[stretch + S_PHASE] > m[PHASE]:
            return NEVER
        if m[stretch + S_WAIT] >= 0:
            m[t + T_FREE] = max(m[t + T_FREE], m[m[REQUESTS] + REQUEST * m[stretch + S_WAIT] + R_ANSWER])
        m[t + T_AT] = m[stretch + S_BEGIN]
        m[t + T_WORDS_PAST] = m[stretch + S_PAST]
        turns_enter(m, words, t, cycle)
    if m[t + T_STATE] == MARKED:
        worker = m[t + T_WORKER]
        if m[m[t + T_BLOCK] + B_MARK] == TAKES_A_QUAD:
            if m[m[DEALT] + worker] <= m[m[TAKEN] + worker]:
                return NEVER
            m[m[TAKEN] + worker] += 1
        else:
            worker = m[m[DEALS] + m[DEALT_ALL]]
            if m[m[DEALT] + worker] - m[m[TAKEN] + worker] >= m[CAPACITY]:
                return NEVER
        m[t + T_STATE] = RUNS
        m[t + T_FREE] = max(m[t + T_FREE], cycle)
        turns_look(m, t, cycle)
    return max(max(m[t + T_FREE], m[t + T_READY]), m[t + T_FETCH])


def turns_count(m: Longs, words: Words) -> int:
    """Count until every thread has ended; return 1, or 0 where all wait for each other."""
    cycle, turn = 0, 0
    while m[PHASE] < m[PHASE_COUNT] and m[m[PHASES] + m[PHASE]] == 0:
        m[PHASE] += 1
    while m[RUNNING] > 0:
        chosen, place, step, soonest = -1, 0, 0, NEVER
        while step < m[RUNNING]:
            place = turn + step
            if place >= m[RUNNING]:
                place -= m[RUNNING]
            when = turns_when(m, words, m[m[ORDER] + place], cycle)
            if when <= cycle:
                chosen = m[m[ORDER] + place]
                break
            soonest = min(soonest, when)
            step += 1
        if chosen < 0:
            if soonest == NEVER:
                return 0
            cycle = soonest
            continue
        last = m[INSTRUCTIONS] + INSTRUCTION * m[chosen + T_NUMBER]
        held = turns_issue(m, words, chosen, cycle)
        m[ISSUED] += 1
        if m[DUAL] and turns_may_pair(m, chosen, last, cycle):
            beside = turns_issue(m, words, chosen, cycle)
            held = max(held, beside)
            m[PAIRED] += 1
        m[chosen + T_FREE] = max(m[chosen + T_FREE], cycle + m[REST])
        # The pipes are the core's: while one thread's access holds them, the others wait.
        cycle += held
        m[END] = max(m[END], cycle)
        turn = place + 1
        if m[chosen + T_STATE] == ENDED:
            m[END] = max(m[END], m[chosen + T_FREE])
            m[RUNNING] -= 1
            turn = place
            while place < m[RUNNING]:
                m[m[ORDER] + place] = m[m[ORDER] + place + 1]
                place += 1
        if turn >= m[RUNNING]:
            turn = 0
    return 1


FUNCTIONS = (
    *LINE_FUNCTIONS, turns_latest, turns_look, turns_enter, turns_finish, turns_predict, turns_advance, turns_issue,
    turns_may_pair, turns_when,
)  # fmt: skip
"""What `turns_count` calls."""
