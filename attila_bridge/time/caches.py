"""Tags of a cache that separates fetch from read, and the fill of read-only caches.

A block is reserved from its fetch to its use, so that no other block takes its line in between. Blocks are numbers:
address / bytes of a line.
"""

from __future__ import annotations

from collections import deque
from typing import TypeAlias

TRANSACTION_BYTES = 64
"""Largest transaction with memory."""

Transaction: TypeAlias = tuple[bool, int, int, int, int]
"""True if it writes, address, bytes, number of the client, the client's ticket."""

REMEMBERED = 4
"""Ways of a set remembered by replacement, at most."""


class LineRequest:
    """Change of a line's block: the old one is written back (spill), the new one is read (fill), or both."""

    __slots__ = ("block", "fill", "line", "masked", "old", "spill")

    def __init__(self, line: int, block: int, old: int, spill: bool, fill: bool, masked: bool) -> None:
        self.line = line
        """Set x ways + way."""
        self.block = block
        self.old = old
        self.spill = spill
        self.fill = fill
        self.masked = masked


class Tags:
    """Sets of ways with the replacement that all caches of the machine have.

    The search for a victim begins at a rotating way; it takes the first unreserved way that is not among the last four
    used, or else the least recently used unreserved one.
    """

    def __init__(self, ways: int, sets: int, requests: int) -> None:
        lines = ways * sets
        self.ways = ways
        self.sets = sets
        self.where: dict[int, int] = {}
        """Line of each block."""
        self.blocks = [-1] * lines
        self.valid = [False] * lines
        self.reserved = [0] * lines
        self.replacing = [False] * lines
        """Lines whose block has not arrived."""
        self.dirty = [False] * lines
        self.masked = [False] * lines
        """Lines that were allocated without a read."""
        self.mask = [0] * lines
        """Bytes written, one bit each."""
        kept = min(REMEMBERED, ways)
        self.recent = [list(range(first, first + kept)) for first in range(0, lines, ways)]
        """Lines of each set by their last use, oldest first."""
        self.first_way = 0
        self.requests = requests
        self.outstanding = 0
        """Requests that have not ended."""
        self.queue: deque[LineRequest] = deque()
        self.hits = self.misses = self.misses_ok = self.failed_reserved = self.failed_queue = self.failed_limit = 0
        self.allocate_hits = self.allocate_misses = self.allocate_ok = 0
        self.allocate_failed_reserved = self.allocate_failed_queue = 0
        self.reads = self.reads_failed = self.writes = self.writes_failed = self.unreserves = 0

    def victim(self, place: int) -> int:
        """Return the line of a set to be replaced; it may be reserved if all are."""
        ways = self.ways
        self.first_way = first = (self.first_way + 1) % ways
        base = place * ways
        recent = self.recent[place]
        if len(recent) < ways:
            for line in range(base + first, base + ways):
                if not self.reserved[line] and line not in recent:
                    return line
        for line in recent:
            if not self.reserved[line]:
                return line
        return base

    def use(self, line: int) -> None:
        """Note a use of a line."""
        recent = self.recent[line // self.ways]
        if recent[-1] == line:
            return
        if line in recent:
            recent.remove(line)
        else:
            del recent[0]
        recent.append(line)

    def _take(self, line: int, block: int) -> int:
        """Give a line to another block; return the old one."""
        old = self.blocks[line]
        if old != block:
            if self.where.get(old) == line:
                del self.where[old]
            self.blocks[line] = block
            self.where[block] = line
        return old

    def fetch(self, block: int, count: int = 1, full: int = -1) -> int:
        """Reserve the line of a block ``count`` times, requesting it if it is missing; -1 if neither is possible.

        ``full`` is the mask of a completely written line; with it, an allocated line that is not full is written back
        and read.
        """
        line = self.where.get(block, -1)
        partial = False
        if line >= 0:
            if full < 0 or not self.masked[line] or self.mask[line] == full:
                self.reserved[line] += count
                self.hits += count
                return line
            partial = True
        self.misses += 1
        if not partial:
            line = self.victim(block % self.sets)
        if self.reserved[line]:
            self.failed_reserved += 1
            return -1
        if self.outstanding == self.requests:
            self.failed_queue += 1
            return -1
        spill = self.valid[line] and self.dirty[line]
        masked = self.masked[line]
        old = self._take(line, block)
        self.outstanding += 1
        self.queue.append(LineRequest(line, block, old, spill, True, masked))
        self.reserved[line] += count
        self.replacing[line] = self.valid[line] = True
        self.masked[line] = self.dirty[line] = False
        self.misses_ok += 1
        self.hits += count - 1
        return line

    def allocate(self, block: int) -> int:
        """Reserve a line for a block that will be written without a read; -1 if no line is free."""
        line = self.where.get(block, -1)
        if line >= 0:
            self.reserved[line] += 1
            self.allocate_hits += 1
            return line
        self.allocate_misses += 1
        line = self.victim(block % self.sets)
        if self.reserved[line]:
            self.allocate_failed_reserved += 1
            return -1
        if self.valid[line] and self.dirty[line]:
            if self.outstanding == self.requests:
                self.allocate_failed_queue += 1
                return -1
            masked = self.masked[line]
            old = self._take(line, block)
            self.outstanding += 1
            self.queue.append(LineRequest(line, -1, old, True, False, masked))
            self.replacing[line] = True
        else:
            self._take(line, block)
            self.mask[line] = 0
        self.reserved[line] += 1
        self.valid[line] = self.masked[line] = True
        self.dirty[line] = False
        self.allocate_ok += 1
        return line

    def release(self, line: int, count: int = 1) -> None:
        """Give back reservations of a line."""
        self.unreserves += count
        self.reserved[line] = max(0, self.reserved[line] - count)

    def counted(self) -> dict[str, int]:
        """Return the counts under the names of statistics."""
        return {
            "HitsFetch": self.hits,
            "MissesFetch": self.misses,
            "MissOKFetch": self.misses_ok,
            "MissFailFetch": self.failed_reserved + self.failed_queue + self.failed_limit,
            "MissFailReqQueueFetch": self.failed_queue,
            "MissFailReserveFetch": self.failed_reserved,
            "MissFailMissFetch": self.failed_limit,
            "ReadsOK": self.reads,
            "ReadsFail": self.reads_failed,
            "Unreserves": self.unreserves,
            "HitsAlloc": self.allocate_hits,
            "MissesAlloc": self.allocate_misses,
            "MissOKAlloc": self.allocate_ok,
            "MissFailAlloc": self.allocate_failed_reserved + self.allocate_failed_queue,
            "MissFailReqQueueAlloc": self.allocate_failed_queue,
            "MissFailReserveAlloc": self.allocate_failed_reserved,
            "WritesOK": self.writes,
            "WritesFail": self.writes_failed,
        }

    def finish(self, request: LineRequest, spill: bool) -> bool:
        """Note the end of one half of a request; return whether it is complete, so that its line can be used."""
        if spill:
            request.spill = False
        else:
            request.fill = False
        if request.spill or request.fill:
            return False
        self.replacing[request.line] = False
        self.mask[request.line] = 0
        self.outstanding -= 1
        return True

    def flush(self) -> bool:
        """Request the write-back of every valid line while requests are free; return whether all is done."""
        while self.outstanding < self.requests and True in self.valid:
            line = self.valid.index(True)
            self.outstanding += 1
            self.queue.append(LineRequest(line, -1, self.blocks[line], True, False, self.masked[line]))
            self.valid[line] = False
            self.where.pop(self.blocks[line], None)
            self.blocks[line] = -1
        return not self.outstanding


class _Fill:
    """A line being read."""

    __slots__ = ("received", "request", "requested")

    def __init__(self, request: LineRequest) -> None:
        self.request = request
        self.requested = 0
        self.received = 0


class LineFill:
    """Moves missing lines of a read-only cache from memory into it, one transaction a cycle, one line at a time."""

    def __init__(self, tags: Tags, line_bytes: int, inputs: int, client: int, decompression: int, write: int) -> None:
        self.tags = tags
        self.line_bytes = line_bytes
        self.inputs = inputs
        """Most lines being read."""
        self.client = client
        self.decompression = decompression
        """Cycles; 0 if lines are not compressed."""
        self.write = write
        """Cycles to write a line into the cache."""
        self.held: deque[_Fill] = deque()
        """Lines being read, oldest first."""
        self.asking = 0
        """Lines of `held` requested completely."""
        self.decompressed = 0
        """Lines of `held` ready to be written into the cache."""
        self.decompressing = -1
        """Cycle in which a decompression ends; -1: none."""
        self.writing = -1
        """Cycle in which the write of a line ends; -1: none."""
        self.bus = -1
        """Cycle in which `answer` has passed the bus; -1: it is free."""
        self.answer: _Fill | None = None
        self.answer_bytes = 0
        self.tickets: dict[int, _Fill] = {}
        self.ticket = 0
        self.filled = -1
        """Block that entered the cache in this cycle; -1: none."""
        self.asked_at: dict[int, int] = {}
        """Cycle of each unanswered transaction, by ticket."""

    def next_step(self, cycle: int, accepts: int) -> int:
        """Return the next cycle in which `step` does anything; -1: only after an answer or a new state."""
        count = len(self.held)
        if (self.tags.queue and count < self.inputs) or (accepts and self.asking < count and self.bus < 0):
            return cycle + 1
        return min((end for end in (self.writing, self.decompressing, self.bus) if end >= 0), default=-1)

    def answered(self, cycle: int, transaction: Transaction, width: int) -> int:
        """Take an answer of the controller, over a bus of ``width`` bytes; return the cycles since the request."""
        _, _, size, _, ticket = transaction
        self.answer = self.tickets.pop(ticket)
        latency = cycle - self.asked_at.pop(ticket)
        self.answer_bytes = size
        self.bus = cycle + -(-size // width) - 1
        return latency

    def step(self, cycle: int, accepts: int) -> Transaction | None:
        """Advance by one cycle; return the transaction sent to memory, if any."""
        self.filled = -1
        held, tags = self.held, self.tags
        if self.writing == cycle:
            self.writing = -1
            fill = held.popleft()
            self.asking -= 1
            tags.finish(fill.request, False)
            self.filled = fill.request.block
        if tags.queue and len(held) < self.inputs:
            held.append(_Fill(tags.queue.popleft()))
        if self.bus == cycle and self.answer is not None:
            self.bus = -1
            self.answer.received += self.answer_bytes
            self.answer = None
        sent: Transaction | None = None
        if self.asking < len(held) and self.bus < 0 and accepts:
            fill = held[self.asking]
            size = min(TRANSACTION_BYTES, self.line_bytes - fill.requested)
            address = fill.request.block * self.line_bytes + fill.requested
            sent = (False, address, size, self.client, self.ticket)
            self.tickets[self.ticket] = fill
            self.ticket += 1
            self.asked_at[self.ticket - 1] = cycle
            fill.requested += size
            if fill.requested == self.line_bytes:
                self.asking += 1
        self._decompress(cycle)
        if self.decompressed and self.writing < 0:
            self.decompressed -= 1
            self.writing = cycle + self.write
        return sent

    def _decompress(self, cycle: int) -> None:
        held = self.held
        if self.decompressing == cycle:
            self.decompressing = -1
            self.decompressed += 1
        ahead = self.decompressed + (self.writing >= 0)
        if self.decompressing < 0 and ahead < len(held) and held[ahead].received == self.line_bytes:
            if self.decompression:
                self.decompressing = cycle + self.decompression
            elif self.writing < 0 and not self.decompressed:
                self.decompressed += 1
