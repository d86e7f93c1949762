"""Display: reads the blocks of the picture that are not clear, after a swap."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.caches import TRANSACTION_BYTES
from attila_bridge.time.config import DisplayConfig
from attila_bridge.time.gpu_box import NOTHING, GpuBox, GpuBoxSpec, GpuBoxState
from pixelflow.simd.units import Cycle


@dataclass
class DisplayState(GpuBoxState):
    """State of the display."""

    states: dict[int, int] = field(default_factory=dict)
    """Bytes of each block that is not clear."""
    came: int = 0
    """Colour units whose states have arrived."""
    updated: int = 0
    """Cycle by which these states are kept."""
    start: int = -1
    """First cycle in which blocks are taken; -1: none."""
    block: int = 0
    """The next block."""
    held: deque[list[int]] = field(default_factory=deque)
    """Blocks in the queue: block, bytes, bytes requested, bytes received."""
    asked: int = 0
    decompressing: int = 0
    tickets: dict[int, list[int]] = field(default_factory=dict)
    ticket: int = 0
    clear: int = 0
    """Clear blocks that follow, one a cycle, without any other event."""


class Display(GpuBox[DisplayState]):
    """Takes a block a cycle into a queue, requests 64 bytes a cycle, and finishes a block a cycle."""

    section, suffix, label, holds = "display", "DAC", "display", DisplayState
    config: DisplayConfig
    memory_bus = "display_bus"
    inputs: tuple[str, ...]
    outputs = ("ended", "memory_request")
    shown = (("blocks", "held", "queue"),)

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        super().__init__(name, spec)
        self._rops, self._blocks = range(spec.config.gpu.rops), spec.frame.blocks
        self.inputs = ("memory_data", "memory_state", *(f"states{rop}" for rop in self._rops))

    def why_blocked(self) -> str | None:
        """A dump that has begun must end."""
        return "waits for memory" if self.state.came else None

    @property
    def worked(self) -> int:
        """Blocks displayed; no wire carries the clear ones."""
        return self.state.block - len(self.state.held)

    def tick(self, cycle: Cycle) -> None:
        """Take states, then blocks."""
        s, wires = self.state, self.wires
        if s.clear:
            self._pass(min(s.clear, cycle - 1 - s.cycle))
        s.cycle = cycle
        for rop in self._rops:
            wire = wires[f"states{rop}"]
            if wire.ready(cycle):
                s.states.update(wire.take(cycle))
                s.updated = max(s.updated, cycle) + -(-self._blocks // (len(self._rops) * self.config.updated))
                s.came += 1
                if s.came == len(self._rops):
                    # Past the copy, its end reaches the processor, and the swap the display, a cycle later each.
                    copy = -(-self._blocks // (len(self._rops) * self.spec.config.color.cleared))
                    s.start = max(s.updated, cycle + copy + 2)
                    s.block = s.asked = 0
        if wires["memory_data"].ready(cycle):
            _, _, size, _, ticket = wires["memory_data"].take(cycle)
            s.tickets.pop(ticket)[3] += size
        if 0 <= s.start <= cycle:
            self._dump(cycle)
        if s.start >= 0:
            s.clear = self._clear_ahead() if s.start < cycle else 0
            s.wake = max(cycle + 1 + s.clear, s.start)

    def _clear_ahead(self) -> int:
        """Return the number of following cycles in which nothing happens but one clear block entering, one leaving.

        The first such cycle is that of the fourth clear block in a row, when one block is finished, one is begun and
        one waits.
        """
        s = self.state
        if self.config.decompression != 1 or not s.decompressing or not 1 < s.asked == len(s.held) - 1:
            return 0
        if any(held[1] for held in s.held):
            return 0
        ahead = s.block
        while ahead < self._blocks and not s.states.get(ahead, 0):
            ahead += 1
        return ahead - s.block

    def _pass(self, blocks: int) -> None:
        """Account for cycles that only passed clear blocks."""
        s, counts = self.state, self.state.counts
        for held in s.held:
            held[0] += blocks
        s.block += blocks
        s.clear = 0
        counts["ColorStateBlocksTotal"] += blocks
        counts[_NAMES[0]] += blocks

    def _dump(self, cycle: Cycle) -> None:
        s, config, counts = self.state, self.config, self.state.counts
        if s.decompressing:
            s.decompressing -= 1
            if not s.decompressing:
                s.held.popleft()
                s.asked -= 1
        if not s.decompressing and s.asked and s.held[0][1] == s.held[0][3]:
            s.decompressing = config.decompression
        if s.asked < len(s.held) and self.level("memory_state").value(cycle) != NOTHING:
            held = s.held[s.asked]
            if held[1] > held[2]:
                size = min(TRANSACTION_BYTES, held[1] - held[2])
                address = self.spec.frame.color_address + held[0] * config.block + held[2]
                self.wires["memory_request"].send(cycle, (False, address, size, self.client, s.ticket))
                s.tickets[s.ticket] = held
                s.ticket += 1
                held[2] += size
            if held[1] == held[2]:
                s.asked += 1
        if s.block < self._blocks and len(s.held) < config.queue:
            size = s.states.get(s.block, 0)
            counts["ColorStateBlocksTotal"] += 1
            counts[_NAMES[size]] += 1
            s.held.append([s.block, size, 0, 0])
            s.block += 1
        elif s.block == self._blocks and not s.held:
            s.start = -1
            s.came = 0
            s.states.clear()
            s.wake = -1
            self.wires["ended"].send(cycle, 0)


_NAMES = {
    0: "ColorStateBlocksClear",
    64: "ColorStateBlocksCompressedBest",
    128: "ColorStateBlocksCompressedNormal",
    192: "ColorStateBlocksCompressedWorst",
    256: "ColorStateBlocksUncompressed",
}
