"""Streamer commit: shaded vertices leave for assembly in the order of their indices."""

from __future__ import annotations

from dataclasses import dataclass, field

from attila_bridge.time.config.front import AssemblyConfig, StreamerConfig
from attila_bridge.time.plan import DrawPlan
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["StreamerCommit", "StreamerCommitSpec"]


@dataclass(frozen=True)
class StreamerCommitSpec:
    """What commit is given."""

    config: StreamerConfig
    assembly: AssemblyConfig
    draws: tuple[DrawPlan, ...]
    ports: int


@dataclass
class StreamerCommitState:
    """What commit holds."""

    counts: dict[str, int]
    draw: int = -1
    streaming: bool = False
    entries: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Index and line by entry of the output queue."""
    shaded: set[int] = field(default_factory=set)
    """Entries that can leave."""
    last_use: dict[int, int] = field(default_factory=dict)
    """The last entry that uses a line."""
    next: int = 0
    sent: int = 0
    asked: int = 0
    left: tuple[int, int] | None = None
    """Index and line whose last user left in the cycle before."""
    next_send: int = 0
    cycle: int = -1
    awake: bool = False


class StreamerCommit(Box[StreamerCommitSpec, StreamerCommitState]):
    """Sends a vertex where one is asked for and the bus to assembly is free."""

    inputs: tuple[str, ...]
    outputs = ("free", "freed", "vertices")

    def __init__(self, name: str, spec: StreamerCommitSpec, counts: dict[str, int]) -> None:
        super().__init__(name, spec, StreamerCommitState(counts))
        self.inputs = ("command", "indices", "requests", *(f"shaded{port}" for port in range(spec.ports)))

    def next_event(self) -> Cycle | None:
        """The next cycle while a vertex can leave, or a line waits to be free."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """Within a draw there are vertices left."""
        return "waits for vertices" if self.state.streaming else None

    def tick(self, cycle: Cycle) -> None:
        """Take indices, send a vertex, take what is shaded."""
        s, wires, counts = self.state, self.wires, self.state.counts
        s.cycle = cycle
        if wires["command"].ready(cycle):
            s.draw = wires["command"].take(cycle)[1]
            s.streaming = True
            s.entries.clear()
            s.shaded.clear()
            s.last_use.clear()
            s.next = s.sent = s.asked = 0
            s.left = None
        for number in wires["requests"].take_all(cycle):
            s.asked += number
            counts["Requests"] += number
        kept = False
        for _, index, entry, hit, last, line in wires["indices"].take_all(cycle):
            kept |= s.left is not None and s.left[0] == index
            s.entries[entry] = (index, line)
            if hit and not last:
                s.shaded.add(entry)
            if line in s.last_use:
                wires["free"].send(cycle, (0, 1))
            s.last_use[line] = entry
            counts["Indices"] += 1
        if s.left is not None:
            wires["freed"].send(cycle, ("kept" if kept else "free", s.left[1]))
            wires["free"].send(cycle, (0, 1))
            s.left = None
        if s.streaming and s.asked and s.next in s.shaded and cycle >= s.next_send:
            self._send(cycle)
        for port in range(self.spec.ports):
            wire = wires[f"shaded{port}"]
            if wire.ready(cycle):
                _, vertex = wire.take(cycle)
                s.shaded.add(vertex[0])
                counts["ShaderOutputs"] += 1
        s.awake = s.streaming and bool((s.asked and s.next in s.shaded) or s.left is not None)

    def _send(self, cycle: Cycle) -> None:
        s, wires, config = self.state, self.wires, self.spec.config
        plan = self.spec.draws[s.draw]
        entry = s.next
        index, line = s.entries.pop(entry)
        s.shaded.discard(entry)
        cycles = -(-plan.vertex_program.outputs // config.attributes_sent)
        wires["vertices"].send(cycle, s.draw, latency=cycles + self.spec.assembly.bus_latency)
        s.next_send = cycle + cycles
        if s.last_use[line] == entry:
            del s.last_use[line]
            s.left = (index, line)
            wires["freed"].send(cycle, ("left", line))
        wires["free"].send(cycle, (1, 0))
        s.next = (entry + 1) % config.output_queue
        s.asked -= 1
        s.sent += 1
        s.counts["Outputs"] += 1
        if s.sent == len(plan.indices):
            s.streaming = False
