"""Display: at the swap it takes the states of all blocks and reads those that are not clear."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.config.front import DisplayConfig
from attila_bridge.time.memory.requests import NOTHING, TRANSACTION_BYTES
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["Display", "DisplaySpec"]


@dataclass(frozen=True)
class DisplaySpec:
    """What the display is given."""

    config: DisplayConfig
    client: int
    rops: int
    blocks: int
    address: int


@dataclass
class DisplayState:
    """What the display holds."""

    counts: dict[str, int]
    states: dict[int, int] = field(default_factory=dict)
    """Bytes of the blocks that are not clear."""
    came: int = 0
    """Colour units whose states have come."""
    start: int = -1
    """Cycle from which blocks are taken."""
    block: int = 0
    """The next block."""
    held: deque[list[int]] = field(default_factory=deque)
    """Blocks on their way: block, bytes, bytes asked for, bytes received."""
    asked: int = 0
    decompressing: int = 0
    tickets: dict[int, list[int]] = field(default_factory=dict)
    ticket: int = 0
    cycle: int = -1
    awake: bool = False


class Display(Box[DisplaySpec, DisplayState]):
    """Takes a block a cycle into a queue, asks for 64 bytes a cycle, and is done with a block a cycle."""

    inputs: tuple[str, ...]
    outputs = ("ended", "memory_request")

    def __init__(self, name: str, spec: DisplaySpec, counts: dict[str, int]) -> None:
        super().__init__(name, spec, DisplayState(counts))
        self.inputs = ("memory_data", "memory_state", *(f"states{rop}" for rop in range(spec.rops)))

    def next_event(self) -> Cycle | None:
        """The next cycle while it reads."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """A dump that has begun has to end."""
        return "waits for memory" if self.state.came else None

    def tick(self, cycle: Cycle) -> None:
        """Take states, then go through the blocks."""
        s, wires = self.state, self.wires
        s.cycle = cycle
        for rop in range(self.spec.rops):
            wire = wires[f"states{rop}"]
            if wire.ready(cycle):
                s.states.update(wire.take(cycle))
                s.came += 1
                if s.came == self.spec.rops:
                    s.start = cycle + -(-self.spec.blocks // self.spec.config.updated)
                    s.block = s.asked = 0
        if wires["memory_data"].ready(cycle):
            _, _, size, _, ticket = wires["memory_data"].take(cycle)
            s.tickets.pop(ticket)[3] += size
        s.awake = s.start >= 0
        if 0 <= s.start <= cycle:
            self._dump(cycle)

    def _dump(self, cycle: Cycle) -> None:
        s, config, counts = self.state, self.spec.config, self.state.counts
        if s.decompressing:
            s.decompressing -= 1
            if not s.decompressing:
                s.held.popleft()
                s.asked -= 1
        if not s.decompressing and s.asked and s.held[0][1] == s.held[0][3]:
            s.decompressing = config.decompression
        state = self.level("memory_state")
        if s.asked < len(s.held):
            held = s.held[s.asked]
            if held[1] > held[2] and state.value(cycle) != NOTHING:
                size = min(TRANSACTION_BYTES, held[1] - held[2])
                address = self.spec.address + held[0] * config.block + held[2]
                self.wires["memory_request"].send(cycle, (False, address, size, self.spec.client, s.ticket))
                s.tickets[s.ticket] = held
                s.ticket += 1
                held[2] += size
            if held[1] == held[2]:
                s.asked += 1
        if s.block < self.spec.blocks and len(s.held) < config.queue:
            size = s.states.get(s.block, 0)
            counts["ColorStateBlocksTotal"] += 1
            counts[_NAMES[size]] += 1
            s.held.append([s.block, size, 0, 0])
            s.block += 1
        elif s.block == self.spec.blocks and not s.held:
            s.start = -1
            s.came = 0
            s.states.clear()
            s.awake = False
            self.wires["ended"].send(cycle, 0)


_NAMES = {
    0: "ColorStateBlocksClear",
    64: "ColorStateBlocksCompressedBest",
    128: "ColorStateBlocksCompressedNormal",
    192: "ColorStateBlocksCompressedWorst",
    256: "ColorStateBlocksUncompressed",
}
