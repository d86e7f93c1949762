"""Streamer output cache: tells which indices are shaded already, and gives a line to each that is not."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.config.front import StreamerConfig
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["StreamerOutputCache", "StreamerOutputCacheSpec"]


@dataclass(frozen=True)
class StreamerOutputCacheSpec:
    """What the cache is given."""

    config: StreamerConfig


@dataclass
class StreamerOutputCacheState:
    """What the cache holds."""

    counts: dict[str, int]
    free: deque[int] = field(default_factory=deque)
    line_of: dict[int, int] = field(default_factory=dict)
    """Lines of valid indices."""
    index_of: dict[int, int] = field(default_factory=dict)


class StreamerOutputCache(Box[StreamerOutputCacheSpec, StreamerOutputCacheState]):
    """A line is freed a cycle after its last user has left, unless an index has asked for it in between."""

    inputs = ("command", "indices", "freed", "updated")
    outputs = ("loader", "commit", "update")

    def __init__(self, name: str, spec: StreamerOutputCacheSpec, counts: dict[str, int]) -> None:
        super().__init__(name, spec, StreamerOutputCacheState(counts))

    def next_event(self) -> Cycle | None:
        """None: it only answers."""
        return None

    def tick(self, cycle: Cycle) -> None:
        """Take updates, lines that are free, and an index."""
        s, wires, counts = self.state, self.wires, self.state.counts
        if wires["command"].ready(cycle):
            wires["command"].take(cycle)
            s.free = deque(range(self.spec.config.output_memory))
            s.line_of.clear()
            s.index_of.clear()
        for index, line in wires["updated"].take_all(cycle):
            s.line_of[index] = line
            s.index_of[line] = index
        for kind, line in wires["freed"].take_all(cycle):
            if kind == "left":
                index = s.index_of.get(line, -1)
                if s.line_of.get(index) == line:
                    del s.line_of[index]
            elif kind == "kept":
                s.line_of[s.index_of[line]] = line
            elif line not in s.free:
                s.free.append(line)
        for draw, index, entry, last in wires["indices"].take_all(cycle):
            line = s.line_of.get(index, -1)
            hit = line >= 0
            if hit:
                counts["Hits"] += 1
            else:
                counts["Misses"] += 1
                line = s.free.popleft()
                wires["update"].send(cycle, (index, line))
            counts["Indices"] += 1
            wires["loader"].send(cycle, (draw, index, entry, hit, last))
            wires["commit"].send(cycle, (draw, index, entry, hit, last, line))
