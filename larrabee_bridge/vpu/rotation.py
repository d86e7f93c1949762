"""Threads that take turns on a core (time), cycle by cycle: plain functions over one array of whole numbers."""

from __future__ import annotations

from pixelflow.simd.lanes.native.plain import Longs, Words

# Layout of the image of a core: one array of integers, whose head has offsets into the image, values of the model and
# counts. Tables follow: instructions, blocks, stretches, texture requests, threads with the cycles in which their
# registers' values arrive, and the caches. Ranges of lines are a separate array, since works share them.


# fmt: off
(RUNNING, ORDER, REQUESTS, DEALS,
 L1, L1_LAST, L2, L2_LAST, WAYS, CODE, CODE_LAST, PENDING, PENDING_COUNT, PENDING_AT, CODE_CACHED,
 REST, CACHED, L2_CYCLES, MEMORY_CYCLES, MEMORY_LINE, MEMORY_FREE, ADDRESS, MISPREDICTED,
 STORES_WAIT, WRITE_LINE, UNIT_LATENCY, UNIT_FREE, SWITCH, CAPACITY, PHASE, PHASES, PHASE_COUNT, DEALT,
 TAKEN, DEALT_ALL, END, ISSUED, PAIRED, L1_MISSES, L2_MISSES, CODE_MISSES, WRONG, FULL_READ, WRITTEN,
 LEFT, FIRST, HEAD) = range(47)
"""The head; results start at END. The number of sets of a cache is a power of two: the last one is a mask of lines."""

I_FLAGS, I_LATENCY, I_CODE, I_COUNTER, I_LINE, I_READS = range(6)
I_ADDRESS, I_WRITES, INSTRUCTION = I_READS + 4, I_READS + 5, I_READS + 9
"""An instruction: its line of code, the counter of its branch, the cycles for which each line that it touches holds the
pipes; four registers that it reads, one that it reads for an address, four that it writes, as places in a thread."""
TOUCHES, PAIRS, BRANCH, STORE, WHOLE, NEAR, FAR, EVICT, AT_ONCE = (1 << place for place in range(9))
"""Flags: touches memory, may issue with the instruction before it, branches, stores, stores whole lines; prefetches
into the L1 cache or the L2 slice; marks a line for early eviction; reads flags that are there at once."""

(B_FIRST, B_PAST, B_MARK, BLOCK) = range(4)
"""A basic block: the places of its instructions, and its effect on the queues of quads."""
DEALS_A_QUAD, TAKES_A_QUAD = 1, 2

(S_BLOCKS, S_BEGIN, S_PAST, S_RANGES, S_RANGES_PAST, S_OWN, S_OWN_PAST, S_OWN_SHIFT, S_PHASE, S_ASK, S_WAIT,
 STRETCH) = range(12)
"""A stretch of a thread: the table of its program's blocks, its words, the mapping of its lines (ranges, and a shift of
its private lines), its phase or -1, and the texture request that it ends with or begins after, or -1."""

(G_PAST, G_SHIFT, G_RING, G_RING_AT, RANGE) = range(5)
"""A range of lines, up to G_PAST: shifted, and if G_RING is above 0, in a ring of this many lines; if it is below 0,
they are records of minus as many, whose first lines are in a table."""

(R_BUSY, R_MISSES, R_ANSWER, R_LINE, REQUEST) = range(5)
"""A texture request: cycles of the unit, lines from memory, cycle of the answer, line of the answer or -1."""

(T_STRETCH, T_STRETCHES_PAST, T_AT, T_WORDS_PAST, T_BLOCK, T_INSTRUCTION, T_BLOCK_PAST, T_FREE, T_READY, T_FETCH,
 T_STATE, T_WORKER, T_CODE, T_NONE, T_REGISTERS) = range(15)
"""A thread: its position; the first cycles in which it may issue again, has its operands and its instruction. T_NONE is
the register of an instruction that has fewer: its value is always there."""
BETWEEN, MARKED, RUNS, ENDED = range(4)
"""States of a thread: before a stretch, before a block that needs a quad or room for one, within a block, done."""

NEVER = 1 << 62
# fmt: on


# Lines that threads touch: their mapping, the caches of a core, its memory, its texture unit; plain functions.


def turns_find(m: Longs, place: int, ways: int, line: int) -> int:
    """Use a line of a cache's set: return its arrival, or -1. It becomes the most recently used one.

    The arrival of a line of the L2 slice that was stored to is -2 - arrival (`turns_dirty`).
    """
    if m[place] == line:
        return m[place + 1]
    at = 1
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
    """Put a line that arrives in cycle ``there`` into a set; the least recently used one leaves."""
    at = ways - 1
    while at > 0:
        m[place + 2 * at] = m[place + 2 * at - 2]
        m[place + 2 * at + 1] = m[place + 2 * at - 1]
        at -= 1
    m[place] = line
    m[place + 1] = there
    return 0


def turns_evict(m: Longs, place: int, ways: int, line: int) -> int:
    """Make a line of a set, if present, the next one to leave."""
    there = turns_find(m, place, ways, line)
    if there != -1:
        at = 0
        while at < ways - 1:
            m[place + 2 * at] = m[place + 2 * at + 2]
            m[place + 2 * at + 1] = m[place + 2 * at + 3]
            at += 1
        m[place + 2 * ways - 2] = line
        m[place + 2 * ways - 1] = there
    return 0


def turns_dirty(m: Longs, place: int, ways: int, line: int) -> int:
    """Mark a line of a set of the L2 slice, if present, as stored to: memory takes it when it leaves."""
    at = 0
    while at < ways:
        if m[place + 2 * at] == line:
            there = m[place + 2 * at + 1]
            m[place + 2 * at + 1] = min(there, -2 - there)
            return 0
        at += 1
    return 0


def turns_line(m: Longs, ranges: Longs, stretch: int, line: int) -> int:
    """Return a run's line on the modelled core, where separate lines of a run may share a place."""
    if m[stretch + S_OWN] <= line and line < m[stretch + S_OWN_PAST]:
        return line + m[stretch + S_OWN_SHIFT]
    at, past = m[stretch + S_RANGES], m[stretch + S_RANGES_PAST]
    while at < past and line >= ranges[at + G_PAST]:
        at += RANGE
    if at == past:
        return line
    line += ranges[at + G_SHIFT]
    ring = ranges[at + G_RING]
    if ring > 0:
        return ranges[at + G_RING_AT] + line % ring
    if ring < 0:
        return ranges[ranges[at + G_RING_AT] + line // -ring] + line % -ring
    return line


def turns_bring(m: Longs, line: int, flags: int, cycle: int) -> int:
    """Use a line; return the cycle in which it arrives in the requested cache."""
    ways = m[WAYS]
    near = m[L1] + 2 * ways * (line & m[L1_LAST])
    far = m[L2] + 2 * ways * (line & m[L2_LAST])
    if not flags & FAR:
        there = turns_find(m, near, ways, line)
        if there >= 0:
            if flags & STORE:
                turns_dirty(m, far, ways, line)
            return there
        m[L1_MISSES] += 1
    there = turns_find(m, far, ways, line)
    if there != -1:
        if there < 0:
            there = -2 - there
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
        if m[far + 2 * m[WAYS] - 1] < 0:
            # The line that leaves was stored to; its place is free when it has been sent.
            m[WRITTEN] += 1
            m[MEMORY_FREE] = max(cycle, m[MEMORY_FREE]) + m[WRITE_LINE]
            there = max(there, m[MEMORY_FREE])
        turns_insert(m, far, m[WAYS], line, there)
    if not flags & FAR:
        turns_insert(m, near, m[WAYS], line, there)
    if flags & STORE:
        turns_dirty(m, far, m[WAYS], line)
    return there


def turns_access(
    m: Longs, ranges: Longs, words: Words, stretch: int, first: int, touched: int, flags: int, cycle: int
) -> int:
    """Use the lines of an access; return the cycles that its thread waits: for the slowest line, since misses overlap.

    A thread waits for loads. Stores and prefetches wait only for a place among the misses under way.
    """
    longest = 0
    if flags & WHOLE and touched > 1:
        flags -= WHOLE
    at = first
    while at < first + touched:
        line = turns_line(m, ranges, stretch, words[at])
        if flags & EVICT:
            turns_evict(m, m[L1] + 2 * m[WAYS] * (line & m[L1_LAST]), m[WAYS], line)
            turns_evict(m, m[L2] + 2 * m[WAYS] * (line & m[L2_LAST]), m[WAYS], line)
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
    """Send a texture request in ``cycle``: command and answer pass the L2 slice; the unit takes one at a time."""
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
        near = m[L1] + 2 * m[WAYS] * (line & m[L1_LAST])
        far = m[L2] + 2 * m[WAYS] * (line & m[L2_LAST])
        if turns_find(m, near, m[WAYS], line) >= 0:
            m[near] = -1
        if turns_find(m, far, m[WAYS], line) != -1:
            m[far + 1] = answer
        else:
            turns_insert(m, far, m[WAYS], line, answer)
    return 0


# Threads that take turns on a core, cycle by cycle: plain functions, executed by Python and by native code.
#
# In each cycle the next ready thread, round robin, issues an instruction, and a second one with it if both may pair.
# ``m`` is the image of the core; ``words`` are the threads' notes.


def turns_latest(m: Longs, t: int, first: int) -> int:
    """Return the latest arrival of the values of four registers of a thread."""
    early = max(m[t + m[first]], m[t + m[first + 1]])
    return max(early, max(m[t + m[first + 2]], m[t + m[first + 3]]))


def turns_look(m: Longs, t: int, cycle: int) -> int:
    """Set the cycles in which a thread has its next instruction and its operands."""
    number = m[t + T_INSTRUCTION]
    address = m[t + m[number + I_ADDRESS]]
    m[t + T_READY] = max(turns_latest(m, t, number + I_READS), address + m[ADDRESS] if address > 0 else 0)
    line = m[number + I_CODE]
    if m[CODE_CACHED] and m[t + T_CODE] != line:
        m[t + T_CODE] = line
        place = m[CODE] + 2 * m[WAYS] * (line & m[CODE_LAST])
        if turns_find(m, place, m[WAYS], line) < 0:
            turns_insert(m, place, m[WAYS], line, 0)
            m[CODE_MISSES] += 1
            m[t + T_FETCH] = max(m[t + T_FETCH], cycle + 1 + m[L2_CYCLES])
    return 0


def turns_enter(m: Longs, words: Words, t: int) -> int:
    """Move a thread to its next block."""
    block = m[m[t + T_STRETCH] + S_BLOCKS] + BLOCK * words[m[t + T_AT]]
    m[t + T_AT] += 1
    m[t + T_BLOCK] = block
    m[t + T_INSTRUCTION] = m[block + B_FIRST]
    m[t + T_BLOCK_PAST] = m[block + B_PAST]
    m[t + T_STATE] = MARKED if m[block + B_MARK] else RUNS
    return 0


def turns_finish(m: Longs, t: int, cycle: int) -> int:
    """End a stretch of a thread whose last instruction issued in ``cycle``."""
    stretch = m[t + T_STRETCH]
    phase = m[stretch + S_PHASE]
    if phase >= 0:
        m[m[PHASES] + phase] -= 1
        while m[PHASE] < m[PHASE_COUNT] and m[m[PHASES] + m[PHASE]] == 0:
            m[PHASE] += 1
        if phase == 0:
            m[FIRST] = max(m[FIRST], m[t + T_FREE])
    if m[stretch + S_ASK] >= 0:
        turns_answer(m, m[REQUESTS] + REQUEST * m[stretch + S_ASK], cycle)
        m[t + T_FREE] += m[SWITCH]
    m[t + T_STRETCH] = stretch + STRETCH
    m[t + T_STATE] = ENDED if stretch + STRETCH == m[t + T_STRETCHES_PAST] else BETWEEN
    return 0


def turns_predict(m: Longs, words: Words, t: int, number: int, cycle: int) -> int:
    """Let nothing issue with a branch that a thread issued before, and delay it if its two-bit counter was wrong."""
    following = m[m[t + T_STRETCH] + S_BLOCKS] + BLOCK * words[m[t + T_AT]]
    taken = following != m[t + T_BLOCK] + BLOCK
    counter = m[number + I_COUNTER]
    wrong = taken != (counter > 1)
    m[WRONG] += wrong
    m[t + T_FETCH] = max(m[t + T_FETCH], cycle + 1 + (m[MISPREDICTED] if wrong else 0))
    m[number + I_COUNTER] = min(counter + 1, 3) if taken else max(counter - 1, 0)
    return 0


def turns_advance(m: Longs, words: Words, t: int, cycle: int) -> int:
    """Continue to the next instruction of a thread: in its block, in the next one, or past a stretch."""
    number = m[t + T_INSTRUCTION]
    m[t + T_INSTRUCTION] = number + INSTRUCTION
    if number + INSTRUCTION == m[t + T_BLOCK_PAST]:
        if m[m[t + T_BLOCK] + B_MARK] == DEALS_A_QUAD:
            worker = m[m[DEALS] + m[DEALT_ALL]]
            m[m[DEALT] + worker] += 1
            m[DEALT_ALL] += 1
        if m[t + T_AT] == m[t + T_WORDS_PAST]:
            turns_finish(m, t, cycle)
            return 0
        if m[number + I_FLAGS] & BRANCH:
            turns_predict(m, words, t, number, cycle)
        turns_enter(m, words, t)
        if m[t + T_STATE] == MARKED:
            return 0
    turns_look(m, t, cycle)
    return 0


def turns_issue(m: Longs, ranges: Longs, words: Words, t: int, cycle: int) -> int:
    """Issue the next instruction of a thread; return the cycles for which it holds the pipes."""
    number = m[t + T_INSTRUCTION]
    held = 1
    missing = 0
    if m[number + I_FLAGS] & TOUCHES:
        touched = words[m[t + T_AT]]
        first = m[t + T_AT] + 1
        m[t + T_AT] = first + touched
        held = max(touched * m[number + I_LINE], 1)
        if m[CACHED]:
            missing = turns_access(m, ranges, words, m[t + T_STRETCH], first, touched, m[number + I_FLAGS], cycle)
    there = cycle + held - 1 + missing + m[number + I_LATENCY]
    m[t + m[number + I_WRITES]] = there
    m[t + m[number + I_WRITES + 1]] = there
    m[t + m[number + I_WRITES + 2]] = there
    m[t + m[number + I_WRITES + 3]] = there
    m[t + T_NONE] = 0
    # In order: a thread that waits for a line issues nothing else.
    m[t + T_FREE] = max(m[t + T_FREE], cycle + held + missing)
    turns_advance(m, words, t, cycle)
    return held


def turns_may_pair(m: Longs, t: int, cycle: int) -> int:
    """Return whether a thread's next instruction may issue with the one that it issued in this cycle."""
    number = m[t + T_INSTRUCTION]
    flags = m[number + I_FLAGS]
    if not flags & PAIRS or m[t + T_STATE] != RUNS:
        return 0
    there = max(m[t + T_FETCH], 0 if flags & AT_ONCE else m[t + T_READY])
    return max(there, turns_latest(m, t, number + I_WRITES)) <= cycle


def turns_when(m: Longs, t: int) -> int:
    """Return the first cycle in which a thread may issue, -1 if it is not within a block."""
    return max(max(m[t + T_FREE], m[t + T_READY]), m[t + T_FETCH]) if m[t + T_STATE] == RUNS else -1


def turns_begin(m: Longs, words: Words, t: int, cycle: int) -> int:
    """Let a thread into its next stretch or marked block; return when it may issue, NEVER if it waits for others.

    It is the next cycle at the latest where the thread takes a quad, since another one may wait for its place.
    """
    soon = NEVER
    if m[t + T_STATE] == BETWEEN:
        stretch = m[t + T_STRETCH]
        if m[stretch + S_PHASE] > m[PHASE]:
            return NEVER
        if m[stretch + S_WAIT] >= 0:
            m[t + T_FREE] = max(m[t + T_FREE], m[m[REQUESTS] + REQUEST * m[stretch + S_WAIT] + R_ANSWER])
        m[t + T_AT] = m[stretch + S_BEGIN]
        m[t + T_WORDS_PAST] = m[stretch + S_PAST]
        turns_enter(m, words, t)
    if m[t + T_STATE] == MARKED:
        worker = m[t + T_WORKER]
        if m[m[t + T_BLOCK] + B_MARK] == TAKES_A_QUAD:
            if m[m[DEALT] + worker] <= m[m[TAKEN] + worker]:
                return NEVER
            m[m[TAKEN] + worker] += 1
            soon = cycle + 1
        else:
            worker = m[m[DEALS] + m[DEALT_ALL]]
            if m[m[DEALT] + worker] - m[m[TAKEN] + worker] >= m[CAPACITY]:
                return NEVER
        m[t + T_STATE] = RUNS
        m[t + T_FREE] = max(m[t + T_FREE], cycle)
    turns_look(m, t, cycle)
    return min(turns_when(m, t), soon)


def turns_count(m: Longs, ranges: Longs, words: Words) -> int:
    """Count until every thread has ended; return 1, or 0 for a deadlock."""
    cycle, turn, end, issued, paired = 0, 0, 0, 0, 0
    while m[PHASE] < m[PHASE_COUNT] and m[m[PHASES] + m[PHASE]] == 0:
        m[PHASE] += 1
    running, order = m[RUNNING], m[ORDER]
    while running > 0:
        # The first thread that may issue now, or else soonest.
        place, at, left, soonest, began = turn, turn, running, NEVER, 0
        while left > 0:
            when = m[order + 2 * at + 1]
            if when < 0:
                when = turns_begin(m, words, m[order + 2 * at], cycle)
                if when < NEVER:
                    began = 1
                    m[order + 2 * at + 1] = turns_when(m, m[order + 2 * at])
            if when < soonest:
                soonest, place = when, at
                if when <= cycle:
                    break
            at += 1
            if at == running:
                at = 0
            left -= 1
        if soonest > cycle:
            if soonest == NEVER:
                return 0
            cycle = soonest
            if began:
                continue
        chosen = m[order + 2 * place]
        held = turns_issue(m, ranges, words, chosen, cycle)
        issued += 1
        if turns_may_pair(m, chosen, cycle):
            held = max(held, turns_issue(m, ranges, words, chosen, cycle))
            paired += 1
        m[chosen + T_FREE] = max(m[chosen + T_FREE], cycle + m[REST])
        m[order + 2 * place + 1] = turns_when(m, chosen)
        # The pipes belong to the core: while one thread's access holds them, the others wait.
        cycle += held
        turn = place + 1
        if m[chosen + T_STATE] == ENDED:
            end = max(end, m[chosen + T_FREE])
            running -= 1
            turn = place
            while place < running:
                m[order + 2 * place] = m[order + 2 * place + 2]
                m[order + 2 * place + 1] = m[order + 2 * place + 3]
                place += 1
        if turn >= running:
            turn = 0
    m[END], m[ISSUED], m[PAIRED] = max(end, cycle), issued, paired
    at = 0
    while at < (m[L2_LAST] + 1) * m[WAYS]:
        if m[m[L2] + 2 * at + 1] < 0:
            m[LEFT] += 1
        at += 1
    return 1


FUNCTIONS = (
    turns_find, turns_insert, turns_evict, turns_dirty, turns_line, turns_bring, turns_access, turns_answer,
    turns_latest, turns_look, turns_enter, turns_finish, turns_predict, turns_advance, turns_issue, turns_may_pair,
    turns_when, turns_begin,
)  # fmt: skip
"""Callees of `turns_count`, callees before callers."""
