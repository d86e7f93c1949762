"""Fill of caches that are only read: lines asked from memory, decompressed, written into the cache, in order."""

from __future__ import annotations

from collections import deque

from attila_bridge.time.memory.requests import NOTHING, TRANSACTION_BYTES, Transaction
from attila_bridge.time.memory.tags import LineRequest, Tags

__all__ = ["LineFill"]


class _Fill:
    """A line on its way."""

    __slots__ = ("received", "request", "requested")

    def __init__(self, request: LineRequest) -> None:
        self.request = request
        self.requested = 0
        self.received = 0


class LineFill:
    """Moves missing lines of a cache from memory into it, one transaction a cycle, one line at a time."""

    def __init__(self, tags: Tags, line_bytes: int, inputs: int, client: int, decompression: int, write: int) -> None:
        self.tags = tags
        self.line_bytes = line_bytes
        self.inputs = inputs
        """Lines that may be on their way."""
        self.client = client
        self.decompression = decompression
        """Cycles; 0 where lines go straight into the cache."""
        self.write = write
        """Cycles in which a line is written into the cache."""
        self.held: deque[_Fill] = deque()
        """Every line on its way, oldest first."""
        self.asking = 0
        """Lines of `held` that have been asked for completely."""
        self.decompressed = 0
        """Lines of `held` that can be written into the cache."""
        self.decompressing = 0
        """Cycles left of a decompression."""
        self.writing = 0
        """Cycles left of the write of a line."""
        self.bus = 0
        """Cycles left of an answer, and which line it is for."""
        self.answer: _Fill | None = None
        self.answer_bytes = 0
        self.tickets: dict[int, _Fill] = {}
        self.ticket = 0
        self.filled = -1
        """The block that came into the cache in this cycle; -1: none."""
        self.asked_at: dict[int, int] = {}
        """Cycle of each transaction that is not answered, by ticket."""

    @property
    def busy(self) -> bool:
        """Whether anything is on its way."""
        return bool(self.held or self.tags.queue)

    def answered(self, cycle: int, transaction: Transaction, width: int) -> int:
        """Take an answer of the controller, over a bus of ``width`` bytes; return the cycles since it was asked for."""
        _, _, size, _, ticket = transaction
        self.answer = self.tickets.pop(ticket)
        latency = cycle - self.asked_at.pop(ticket)
        self.answer_bytes = size
        self.bus = -(-size // width)
        return latency

    def step(self, cycle: int, accepts: int) -> Transaction | None:
        """Do what happens in one cycle; return the transaction that is sent to memory, if any."""
        self.filled = -1
        held, tags = self.held, self.tags
        if self.writing:
            self.writing -= 1
            if not self.writing:
                fill = held.popleft()
                self.asking -= 1
                tags.finish(fill.request, False)
                self.filled = fill.request.block
        if tags.queue and len(held) < self.inputs:
            held.append(_Fill(tags.queue.popleft()))
        if self.bus:
            self.bus -= 1
            if not self.bus and self.answer is not None:
                self.answer.received += self.answer_bytes
                self.answer = None
        sent: Transaction | None = None
        if self.asking < len(held) and not self.bus and accepts != NOTHING:
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
        self._decompress()
        if self.decompressed and not self.writing:
            self.decompressed -= 1
            self.writing = self.write
        return sent

    def _decompress(self) -> None:
        held = self.held
        if self.decompressing:
            self.decompressing -= 1
            if not self.decompressing:
                self.decompressed += 1
        ahead = self.decompressed + (1 if self.writing else 0)
        if not self.decompressing and ahead < len(held) and held[ahead].received == self.line_bytes:
            if self.decompression:
                self.decompressing = self.decompression
            elif not self.writing and not self.decompressed:
                self.decompressed += 1
