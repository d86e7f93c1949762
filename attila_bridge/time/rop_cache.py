"""Cache of a depth or colour unit: compressed lines, states of blocks, transfers from and to memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapreplace
from typing import TypeAlias

from attila_bridge.statistics import Counts
from attila_bridge.time.caches import TRANSACTION_BYTES, LineRequest, Tags, Transaction
from attila_bridge.time.config import RopConfig
from attila_bridge.time.gpu_box import BOTH, NOTHING, Client

Levels: TypeAlias = Sequence[tuple[int, int]]
"""Pairs of low bits kept of each word and bytes of the compressed line, the smallest first."""

COLOR_LEVELS = ((5, 64), (13, 128))
"""Levels of colour lines: the paper's 1:4 and 1:2."""

DEPTH_LEVELS = (*COLOR_LEVELS, (21, 192))
"""Levels of depth lines, with 3:4 as in measured statistics."""


def compressed_bytes(words: Sequence[int], line_bytes: int, levels: Levels) -> int:
    """Return the bytes of a line in memory; ``line_bytes`` if it cannot be compressed.

    A line fits a level if the high part of each word, coded in two bits, is the least one, the greatest one, one more
    than the least or one less than the greatest.
    """
    least, greatest = min(words), max(words)
    for low, size in levels:
        bottom, top = least >> low, greatest >> low
        if top - bottom <= 3:
            return size
        allowed = (bottom, bottom + 1, top - 1, top)
        if all(word >> low in allowed for word in words):
            return size
    return line_bytes


FULL = (1 << 256) - 1
"""Mask of a line with all bytes written."""


class LineRead:
    """A line coming from memory."""

    __slots__ = ("received", "request", "requested", "size", "waits_read", "waits_spill")

    def __init__(self, request: LineRequest) -> None:
        self.request = request
        self.size = 0
        self.requested = 0
        self.received = 0
        self.waits_read = request.spill
        """True if the old line has to be read for its write-back first."""
        self.waits_spill = request.spill and request.block == request.old
        """True if the same block has to be written back before it is requested."""


class LineWrite:
    """A line going to memory."""

    __slots__ = ("block", "mask", "read", "request", "size", "written")

    def __init__(self, request: LineRequest, read: LineRead | None) -> None:
        self.request = request
        self.block = request.old
        self.read = read
        self.mask = FULL
        self.size = 0
        self.written = 0


CLEAR, UNCOMPRESSED = 0, 256
"""States of a block that is not compressed."""


class RopCache:
    """Cache of one unit: in each cycle `step`, then at most one fetch or allocation, reads and writes."""

    def __init__(self, config: RopConfig, client: Client, address: int, levels: Levels, counts: Counts) -> None:
        """``address`` is that of line 0 of the buffer in memory."""
        self.config, self.client, self.address, self.levels = config, client, address, levels
        self.counts = counts
        self.tags = Tags(config.ways, config.lines, config.cache_requests)
        self.states: dict[int, int] = {}
        """CLEAR (where absent), bytes of a compressed block, or UNCOMPRESSED, by block."""
        self.contents: dict[int, list[int]] = {}
        """Words of every block that has been written since the clear."""
        self.clear_word = 0
        self.line_bytes = TRANSACTION_BYTES // 4 * config.line_quads
        self.request: LineRequest | None = None
        self.reads: deque[LineRead] = deque()
        """Every line coming from memory, oldest first; the first ones have been requested."""
        self.asked = 0
        """Lines of `reads` that have been requested completely."""
        self.there = 0
        """Lines of `reads` whose decompression has begun."""
        self.plain = 0
        """Lines of `reads` decompressed and waiting to be written into the cache."""
        self.writes: deque[LineWrite] = deque()
        self.lines_read = 0
        """Lines of `writes` whose read from the cache has begun."""
        self.uncompressed: deque[LineWrite] = deque()
        self.packed: deque[LineWrite] = deque()
        self.compressing: LineWrite | None = None
        self.compress_left = self.decompress_left = 0
        self.cycle = 0
        self.read_ports = [0] * (1 + config.extra_read_port)
        """First free cycle of each port, as a heap."""
        self.write_ports = [0] * (1 + config.extra_write_port)
        self.line_read: LineWrite | None = None
        """Line being read for its write-back, until `line_read_end`."""
        self.line_read_end = 0
        self.line_write_end = 0
        """Cycle in which a line has been written into the cache; 0: none is being written."""
        self.line_cycles = -(-self.line_bytes // config.port)
        self.quad_cycles = -(-16 // config.port)
        self.bus = 0
        self.answer: LineRead | None = None
        self.answer_bytes = 0
        self.sending = False
        self.tickets: dict[int, LineRead] = {}
        self.ticket = 0
        self.flushing = False
        self.evicted: list[int] = []
        """Blocks whose compression has begun in this cycle."""

    def clear(self, word: int) -> None:
        """Fill all blocks with ``word``."""
        self.clear_word = word
        self.states.clear()
        self.contents.clear()

    def begin(self, word: int, contents: Mapping[int, list[int]]) -> None:
        """Begin with the contents of memory: lines in the sizes that their words compress to, others clear."""
        self.clear(word)
        for block, words in contents.items():
            size = compressed_bytes(words, self.line_bytes, self.levels) if self.config.compress else 0
            self.states[block] = size or UNCOMPRESSED
            self.contents[block] = list(words)

    def words(self, block: int) -> list[int]:
        """Return the present 64 words of a block, in the cache or in memory."""
        words = self.contents.get(block)
        if words is None:
            words = self.contents[block] = [self.clear_word] * (self.line_bytes // 4)
        return words

    # --- requests of the unit ------------------------------------------------------------------------------------

    def fetch(self, block: int) -> int:
        """Reserve the line of a block and request it; return the line, or -1 to try again."""
        return self.tags.fetch(block, 1, FULL)

    def allocate(self, block: int) -> int:
        """Reserve a line for a block that is written over; a compressed block is read nevertheless."""
        for write in self.writes:
            if write.block == block:
                return -1
        if self.states.get(block, CLEAR) in (CLEAR, UNCOMPRESSED):
            return self.tags.allocate(block)
        return self.tags.fetch(block, 1, FULL)

    def read(self, line: int) -> bool:
        """Read a quad of a fetched line; False if its block is missing or no port is free."""
        if self.read_ports[0] > self.cycle:
            return False
        tags = self.tags
        if tags.replacing[line]:
            tags.reads_failed += 1
            return False
        tags.reads += 1
        tags.use(line)
        heapreplace(self.read_ports, self.cycle + self.quad_cycles)
        return True

    def writable(self, line: int) -> bool:
        """Return whether a quad of a line can be written: its block is there and a port is free."""
        if self.write_ports[0] > self.cycle:
            return False
        if self.tags.replacing[line]:
            self.tags.writes_failed += 1
            return False
        return True

    def write(self, line: int, place: int, mask: int, words: Iterable[int]) -> None:
        """Write quad ``place`` of a line with a mask of 16 bytes."""
        tags = self.tags
        tags.writes += 1
        if mask:
            tags.mask[line] |= mask << 16 * place
            tags.dirty[line] = True
            self.words(tags.blocks[line])[4 * place : 4 * place + 4] = words
        if tags.reserved[line]:
            tags.reserved[line] -= 1
        tags.use(line)
        heapreplace(self.write_ports, self.cycle + self.quad_cycles)

    def answered(self, transaction: Transaction) -> None:
        """Take an answer of the controller."""
        _, _, size, _, ticket = transaction
        self.answer = self.tickets.pop(ticket)
        self.answer_bytes = size
        self.bus = -(-size // self.client.width)
        self.counts["ReadBytes"] += size

    # --- a cycle -------------------------------------------------------------------------------------------------

    def step(self, accepts: int) -> Transaction | None:
        """Advance by one cycle; return the transaction sent to memory, if any."""
        if self.flushing:
            self.flushing = not self.tags.flush()
        if self.evicted:
            self.evicted.clear()
        if self.line_read is not None and self.line_read_end == self.cycle:
            self.uncompressed.append(self.line_read)
            self.line_read = None
        if self.line_write_end == self.cycle:
            self.line_write_end = 0
            read = self.reads.popleft()
            self.asked -= 1
            self.there -= 1
            self.tags.finish(read.request, False)
        if self.request is None and self.tags.queue:
            self.request = self.tags.queue.popleft()
        if self.request is not None:
            self._queue(self.request)
        if self.bus:
            self._bus()
        sent: Transaction | None = None
        if self.asked < len(self.reads):
            sent = self._ask(accepts)
        if self.lines_read < len(self.writes):
            if self.line_read is None:
                self._read_line()
            else:
                self.counts["ReadLinePortStall"] += 1
        if self.reads:
            self._decompress()
        if self.writes:
            self._compress()
            if self.packed:
                if sent is None:
                    sent = self._write_back(accepts)
                else:
                    self.counts["MemReqStall"] += 1
        if self.plain and not self.line_write_end:
            self._write_line()
        return sent

    def _queue(self, request: LineRequest) -> None:
        """Accept a request of the tags, unless it has to wait."""
        config, counts = self.config, self.counts
        if full := (len(self.writes) == config.cache_outputs) + (len(self.reads) == config.cache_inputs):
            counts["RWReqFull"] += full
            return
        read = None
        if request.fill:
            if any(write.block == request.block for write in self.writes):
                counts["WaitWriteStall"] += 1
                return
            read = LineRead(request)
            self.reads.append(read)
            counts["ReadReqAccepted"] += 1
        if request.spill:
            self.writes.append(LineWrite(request, read))
            counts["WriteReqAccepted"] += 1
        self.request = None

    def _bus(self) -> None:
        self.counts["DataBusBusy"] += 1
        self.bus -= 1
        if self.bus:
            return
        if self.answer is not None:
            self.answer.received += self.answer_bytes
            self.answer = None
        if self.sending:
            self.sending = False
            if self.packed[0].written == self.packed[0].size:
                self._written()

    def _ask(self, accepts: int) -> Transaction | None:
        """Request the next 64 bytes of the oldest incomplete line; clear blocks need no memory."""
        read = self.reads[self.asked]
        if read.waits_spill:
            return None
        if not read.size:
            state = self.states.get(read.request.block, CLEAR)
            if state == CLEAR:
                read.size = read.received = self.line_bytes
                self.asked += 1
                return None
            read.size = state
        if self.bus or accepts == NOTHING:
            return None
        size = min(TRANSACTION_BYTES, read.size - read.requested)
        address = self.address + read.request.block * self.line_bytes + read.requested
        self.tickets[self.ticket] = read
        sent = (False, address, size, self.client.number, self.ticket)
        self.ticket += 1
        read.requested += size
        if read.requested == read.size:
            self.asked += 1
        return sent

    def _read_line(self) -> None:
        if self.read_ports[0] > self.cycle:
            self.counts["ReadLinePortStall"] += 1
            return
        write = self.writes[self.lines_read]
        self.lines_read += 1
        tags = self.tags
        line = write.request.line
        if write.request.masked:
            write.mask = tags.mask[line]
        tags.mask[line] = 0
        self.line_read_end = self.cycle + self.line_cycles
        heapreplace(self.read_ports, self.line_read_end)
        self.line_read = write
        if write.read is not None:
            write.read.waits_read = False

    def _decompress(self) -> None:
        if self.decompress_left:
            self.counts["DecompressorBusy"] += 1
            self.decompress_left -= 1
            if not self.decompress_left:
                self.plain += 1
        if not self.decompress_left and self.there < len(self.reads):
            read = self.reads[self.there]
            if read.size and read.received == read.size:
                self.there += 1
                self.decompress_left = self.config.decompression

    def _compress(self) -> None:
        if self.compressing is not None:
            self.counts["CompressorBusy"] += 1
            self.compress_left -= 1
            if not self.compress_left:
                self.packed.append(self.compressing)
                self.compressing = None
        if self.compressing is None and self.uncompressed:
            write = self.compressing = self.uncompressed.popleft()
            config = self.config
            self.compress_left = config.compression
            block = write.block
            state = self.states.get(block, CLEAR)
            if state == CLEAR:
                write.mask = FULL
            size = self.line_bytes
            if config.compress and state != UNCOMPRESSED:
                size = compressed_bytes(self.words(block), self.line_bytes, self.levels)
            self.counts[f"ComprBlock{size}"] += 1
            self.states[block] = size if size < self.line_bytes else UNCOMPRESSED
            if size < self.line_bytes:
                write.mask = FULL
            write.size = size
            self.evicted.append(block)

    def _write_back(self, accepts: int) -> Transaction | None:
        """Send the next 64 bytes of a line to memory; pieces without a written byte are skipped."""
        write = self.packed[0]
        sent: Transaction | None = None
        if not self.bus and accepts == BOTH:
            offset = write.written
            size = min(TRANSACTION_BYTES, write.size - offset)
            write.written += size
            if write.mask == FULL or write.mask >> offset & (1 << size) - 1:
                sent = (True, self.address + write.block * self.line_bytes + offset, size, self.client.number, -1)
                self.bus = -(-size // self.client.width)
                self.sending = True
        if sent is None and write.written == write.size and not self.sending:
            self._written()
        return sent

    def _written(self) -> None:
        """Note the end of the oldest write-back."""
        write = self.packed.popleft()
        self.writes.popleft()
        self.lines_read -= 1
        self.tags.finish(write.request, True)
        if write.read is not None:
            write.read.waits_spill = False

    def _write_line(self) -> None:
        """Begin to write the oldest decompressed line into the cache."""
        if self.write_ports[0] > self.cycle:
            self.counts["WriteLinePortStall"] += 1
            return
        read = self.reads[0]
        if read.waits_read:
            self.counts["CacheLineWARStall"] += 1
            return
        self.plain -= 1
        self.line_write_end = self.cycle + self.line_cycles
        heapreplace(self.write_ports, self.line_write_end)
        self.tags.dirty[read.request.line] = False
        self.tags.mask[read.request.line] = 0
