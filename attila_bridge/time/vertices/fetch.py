"""Streamer fetch: an index a cycle, counted or read from memory, as far as the queues after it have room."""

from __future__ import annotations

from dataclasses import dataclass, field

from attila_bridge.time.config.front import StreamerConfig
from attila_bridge.time.memory.requests import NOTHING, TRANSACTION_BYTES
from attila_bridge.time.plan import DrawPlan
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["StreamerFetch", "StreamerFetchSpec"]


@dataclass(frozen=True)
class StreamerFetchSpec:
    """What the fetch is given."""

    config: StreamerConfig
    draws: tuple[DrawPlan, ...]
    client: int


@dataclass
class StreamerFetchState:
    """What the fetch holds."""

    counts: dict[str, int]
    draw: int = -1
    streaming: bool = False
    sent: int = 0
    """Indices sent."""
    entry: int = 0
    """The next entry of the output queue."""
    free_entries: int = 0
    free_lines: int = 0
    free_requests: int = 0
    requested: int = 0
    """Bytes of indices asked for."""
    received: int = 0
    arrived: dict[int, int] = field(default_factory=dict)
    """Bytes by ticket, of answers that came before older ones."""
    commit: int = 0
    ticket: int = 0
    cycle: int = -1
    awake: bool = False


class StreamerFetch(Box[StreamerFetchSpec, StreamerFetchState]):
    """Needs a free entry of the output queue, a line of the output memory and an entry of the loader for each index."""

    inputs = ("command", "loader_free", "commit_free", "memory_data", "memory_state")
    outputs = ("indices", "memory_request")

    def __init__(self, name: str, spec: StreamerFetchSpec, counts: dict[str, int]) -> None:
        super().__init__(name, spec, StreamerFetchState(counts))

    def next_event(self) -> Cycle | None:
        """The next cycle while it can send or ask."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """Within a draw it has indices left."""
        return "waits for room after it" if self.state.streaming else None

    def tick(self, cycle: Cycle) -> None:
        """Take back what is free, read indices, send one."""
        s, wires, config = self.state, self.wires, self.spec.config
        s.cycle = cycle
        if wires["command"].ready(cycle):
            s.draw = wires["command"].take(cycle)[1]
            s.streaming = True
            s.sent = s.entry = s.requested = s.received = s.commit = s.ticket = 0
            s.arrived.clear()
            s.free_entries, s.free_lines = config.output_queue, config.output_memory
            s.free_requests = config.request_queue
            s.awake = True
            return
        s.free_requests += sum(wires["loader_free"].take_all(cycle))
        for entries, lines in wires["commit_free"].take_all(cycle):
            s.free_entries += entries
            s.free_lines += lines
        if not s.streaming:
            wires["memory_data"].take_all(cycle)
            s.awake = False
            return
        plan = self.spec.draws[s.draw]
        available = not plan.index_bytes or self._indices(cycle, plan)
        if available and s.free_entries and s.free_lines and s.free_requests:
            s.free_entries -= 1
            s.free_lines -= 1
            s.free_requests -= 1
            index = plan.indices[s.sent]
            s.sent += 1
            last = s.sent == len(plan.indices)
            wires["indices"].send(cycle, (s.draw, index, s.entry, last))
            s.entry = (s.entry + 1) % config.output_queue
            s.counts["IndexesSent"] += 1
            if last:
                s.streaming = False
        room = bool(s.free_entries and s.free_lines and s.free_requests)
        s.awake = s.streaming and (room or bool(plan.index_bytes))

    def _indices(self, cycle: Cycle, plan: DrawPlan) -> bool:
        """Read indices ahead; return whether the next one is there."""
        s, wires, config = self.state, self.wires, self.spec.config
        for transaction in wires["memory_data"].take_all(cycle):
            s.arrived[transaction[4]] = transaction[2]
            s.counts["ReadBytes"] += transaction[2]
        if s.commit in s.arrived:
            s.received += s.arrived.pop(s.commit)
            s.commit += 1
        total = len(plan.indices) * plan.index_bytes
        state = self.level("memory_state")
        held = s.requested - s.sent * plan.index_bytes
        if s.requested < total and held + TRANSACTION_BYTES <= config.index_buffer and state.value(cycle) != NOTHING:
            address = plan.index_address + s.requested
            size = min(TRANSACTION_BYTES - address % TRANSACTION_BYTES, total - s.requested)
            wires["memory_request"].send(cycle, (False, address, size, self.spec.client, s.ticket))
            s.counts["MemoryTransactions"] += 1
            s.ticket += 1
            s.requested += size
        return s.received >= (s.sent + 1) * plan.index_bytes
