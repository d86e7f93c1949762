"""Places in the image of a core that `rotation.py` counts on: one array of whole numbers, whose head names the others.

In its head stand offsets into the image, values of the model, and what is counted; then tables of instructions, blocks,
stretches, ranges of lines and texture requests, threads with the cycles from which their registers have their values,
and the caches.
"""

# fmt: off
(THREADS, THREAD_SIZE, RUNNING, ORDER, INSTRUCTIONS, REGISTERS, RANGES, REQUESTS, DEALS,
 L1, L1_SETS, L2, L2_SETS, WAYS, CODE, CODE_SETS, PENDING, PENDING_COUNT, PENDING_AT, CODE_CACHED,
 DUAL, REST, TWO_ACCESSES, CACHED, L2_CYCLES, MEMORY_CYCLES, MEMORY_LINE, MEMORY_FREE, ADDRESS, MISPREDICTED,
 STORES_WAIT, UNIT_LATENCY, UNIT_FREE, SWITCH, CAPACITY, PHASE, PHASES, PHASE_COUNT, DEALT, TAKEN, DEALT_ALL,
 END, ISSUED, PAIRED, L1_MISSES, L2_MISSES, CODE_MISSES, WRONG, FULL_READ,
 HEAD) = range(50)
"""The head. From END on it is what comes out."""

(I_FLAGS, I_LATENCY, I_READS, I_ADDRESSES, I_WRITES, I_PAST, I_CODE, I_COUNTER, I_LINE, INSTRUCTION) = range(10)
"""An instruction: its registers lie one after the other: read, read for an address, written; then its line of code, the
counter of its branch, and how long each line that it touches holds the pipes."""
TOUCHES, EITHER, BRANCH, STORE, WHOLE, NEAR, FAR, EVICT = (1 << place for place in range(8))
"""Flags: touches memory, may issue in the secondary pipe, branches, stores, stores whole lines; prefetches into the L1
cache or into the L2 slice; marks a line for early eviction."""

(B_FIRST, B_PAST, B_MARK, BLOCK) = range(4)
"""A basic block: its instructions, and what it does with the queues of quads."""
DEALS_A_QUAD, TAKES_A_QUAD = 1, 2

(S_BLOCKS, S_BEGIN, S_PAST, S_RANGES, S_RANGES_PAST, S_OWN, S_OWN_PAST, S_OWN_SHIFT, S_PHASE, S_ASK, S_WAIT,
 STRETCH) = range(12)
"""A stretch of a thread: the table of its program's blocks, its words, where its lines lie (ranges, and lines of its
own that lie so much further), the phase that it belongs to or -1, and the texture request that it ends with or begins
after, or -1."""

(G_PAST, G_SHIFT, G_RING, G_RING_AT, RANGE) = range(5)
"""A range of lines, up to one: so much further, or where G_RING is not 0, in a ring of so many lines."""

(R_BUSY, R_MISSES, R_ANSWER, R_LINE, REQUEST) = range(5)
"""A texture request: cycles of the unit, lines from memory, when it is answered, the line of the answer or -1."""

(T_STRETCH, T_STRETCHES_PAST, T_AT, T_WORDS_PAST, T_BLOCK, T_NUMBER, T_BLOCK_PAST, T_FREE, T_READY, T_FETCH, T_STATE,
 T_WORKER, T_CODE, T_REGISTERS) = range(14)
"""A thread: where it is; the first cycles in which it may issue again, has its operands and its instruction."""
BETWEEN, MARKED, RUNS, ENDED = range(4)
"""States of a thread: before a stretch, before a block that needs a quad or room for one, within a block, done."""

NEVER = 1 << 62
# fmt: on
