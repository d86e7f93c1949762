"""Streamer loader: attributes of vertices through a small cache, in order, a vertex a cycle to the shaders at best."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.config.front import StreamerConfig
from attila_bridge.time.memory.fill import LineFill
from attila_bridge.time.memory.tags import Tags
from attila_bridge.time.plan import DrawPlan
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["StreamerLoader", "StreamerLoaderSpec"]


class _Input:
    """A vertex that is loaded."""

    __slots__ = ("blocks", "draw", "entry", "fetched", "hit", "last", "lines", "read")

    def __init__(self, draw: int, entry: int, hit: bool, last: bool, blocks: list[int]) -> None:
        self.draw = draw
        self.entry = entry
        self.hit = hit
        self.last = last
        self.blocks = blocks
        """Lines of its attributes; an attribute that crosses lines has two."""
        self.lines: list[int] = []
        self.read = 0


@dataclass(frozen=True)
class StreamerLoaderSpec:
    """What the loader is given."""

    config: StreamerConfig
    draws: tuple[DrawPlan, ...]
    ports: int
    client: int
    width: int


@dataclass
class StreamerLoaderState:
    """What the loader holds."""

    counts: dict[str, int]
    tags: Tags
    fill: LineFill
    fetching: deque[_Input] = field(default_factory=deque)
    reading: deque[_Input] = field(default_factory=deque)
    loaded: deque[_Input] = field(default_factory=deque)
    port: int = 0
    cycle: int = -1
    awake: bool = False


class StreamerLoader(Box[StreamerLoaderSpec, StreamerLoaderState]):
    """Fetches and reads up to four attributes a cycle; to be done with a vertex takes one of the four turns."""

    inputs = ("indices", "ready", "memory_data", "memory_state")
    outputs: tuple[str, ...]

    def __init__(self, name: str, spec: StreamerLoaderSpec, counts: dict[str, int]) -> None:
        config = spec.config
        tags = Tags(config.cache_lines, 1, config.cache_requests)
        write = -(-config.cache_line // (config.attributes * config.cache_port))
        fill = LineFill(tags, config.cache_line, config.cache_inputs, spec.client, 0, write)
        super().__init__(name, spec, StreamerLoaderState(counts, tags, fill))
        self.outputs = ("free", "memory_request", *(f"vertex{port}" for port in range(spec.ports)))

    def next_event(self) -> Cycle | None:
        """The next cycle while a vertex is loaded."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """Vertices in it have to leave."""
        s = self.state
        return "waits for attributes or the shaders" if s.fetching or s.reading or s.loaded else None

    def tick(self, cycle: Cycle) -> None:
        """Send a loaded vertex, read, fetch, take new ones."""
        s, wires = self.state, self.wires
        s.cycle = cycle
        fill = s.fill
        if wires["memory_data"].ready(cycle):
            answer = wires["memory_data"].take(cycle)
            fill.answered(cycle, answer, self.spec.width)
            s.counts["ReadBytes"] += answer[2]
        if fill.busy:
            state = self.level("memory_state")
            sent = fill.step(cycle, state.value(cycle))
            if sent is not None:
                wires["memory_request"].send(cycle, sent)
                s.counts["MemTransactions"] += 1
        freed = 0
        if s.loaded:
            freed += self._send(cycle)
        if s.reading:
            self._read()
        if s.fetching:
            self._fetch()
        for draw, index, entry, hit, last in wires["indices"].take_all(cycle):
            if hit and not last:
                freed += 1
            else:
                blocks = [] if hit else self._blocks(draw, index)
                s.fetching.append(_Input(draw, entry, hit, last, blocks))
            s.counts["Indices"] += 1
        if freed:
            wires["free"].send(cycle, freed, freed)
        s.awake = bool(s.fetching or s.reading or s.loaded or fill.busy)

    def _blocks(self, draw: int, index: int) -> list[int]:
        """Return the lines that hold the attributes of a vertex."""
        size = self.spec.config.cache_line
        blocks: list[int] = []
        for attribute in self.spec.draws[draw].attributes:
            address = attribute.address + attribute.stride * index
            first, last = address // size, (address + attribute.size - 1) // size
            blocks.extend(range(first, last + 1))
            if last > first:
                self.state.counts["SplittedAttributes"] += 1
        return blocks

    def _send(self, cycle: Cycle) -> int:
        """Send the oldest loaded vertex where the shaders take it; return how many requests that frees."""
        s, counts = self.state, self.state.counts
        ready = self.level("ready")
        if not ready.value(cycle):
            counts["StallsShaderBusy"] += 1
            return 0
        each = s.loaded.popleft()
        self.wires[f"vertex{s.port}"].send(cycle, (each.draw, (each.entry, each.hit, each.last)))
        s.port = (s.port + 1) % self.spec.ports
        counts["Inputs"] += 1
        return 1

    def _read(self) -> None:
        s, tags, counts = self.state, self.state.tags, self.state.counts
        for _ in range(self.spec.config.attributes):
            if not s.reading:
                return
            each = s.reading[0]
            if each.read == len(each.lines):
                s.loaded.append(s.reading.popleft())
                continue
            line = each.lines[each.read]
            if tags.replacing[line]:
                tags.reads_failed += 1
                counts["NoReads"] += 1
                continue
            tags.reads += 1
            tags.use(line)
            tags.release(line)
            each.read += 1
            counts["Reads"] += 1

    def _fetch(self) -> None:
        s, tags, counts = self.state, self.state.tags, self.state.counts
        for _ in range(self.spec.config.attributes):
            if not s.fetching:
                return
            each = s.fetching[0]
            if len(each.lines) == len(each.blocks):
                s.reading.append(s.fetching.popleft())
                continue
            line = tags.fetch(each.blocks[len(each.lines)])
            if line < 0:
                counts["NoFetches"] += 1
            else:
                each.lines.append(line)
                counts["Fetches"] += 1
