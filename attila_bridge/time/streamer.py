"""Streamer: indices, the cache of shaded vertices, the loader of attributes, and commit in order."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.statistics import Counts
from attila_bridge.time.caches import TRANSACTION_BYTES, LineFill, Tags
from attila_bridge.time.config import StreamerConfig
from attila_bridge.time.gpu_box import NOTHING, GpuBox, GpuBoxSpec, GpuBoxState, Queues
from attila_bridge.time.prepare import DrawPlan
from pixelflow.simd.dashboard import QueueFill
from pixelflow.simd.units import Cycle


@dataclass
class StreamerFetchState(GpuBoxState):
    """State of the fetch."""

    draw: int = -1
    sent: int = 0
    """Indices sent."""
    entry: int = 0
    """The next entry of the output queue."""
    free_entries: int = 0
    free_lines: int = 0
    free_requests: int = 0
    requested: int = 0
    """Bytes of indices requested."""
    received: int = 0
    arrived: dict[int, int] = field(default_factory=dict)
    """Bytes by ticket of answers that overtook older ones."""
    commit: int = 0
    ticket: int = 0


class StreamerFetch(GpuBox[StreamerFetchState]):
    """Sends an index a cycle, counted or read from memory, while later queues have room.

    Each index needs an entry of the output queue, a line of the output memory and an entry of the loader.
    """

    section, suffix, label, holds = "streamer", "StF", "fetch", StreamerFetchState
    config: StreamerConfig
    memory_bus = "fetch_bus"
    waits = "waits for room after it"
    inputs = ("command", "loader_free", "commit_free", "memory_data", "memory_state")
    outputs = ("indices", "memory_request")

    def tick(self, cycle: Cycle) -> None:
        """Take back free entries, read indices, send one."""
        s, wires, config = self.state, self.wires, self.config
        s.cycle = cycle
        if wires["command"].ready(cycle):
            s.draw = wires["command"].take(cycle)[1]
            s.drawing = True
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
        if not s.drawing:
            wires["memory_data"].take_all(cycle)
            s.awake = False
            return
        plan = self.draws[s.draw]
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
                s.drawing = False
        room = bool(s.free_entries and s.free_lines and s.free_requests)
        s.awake = s.drawing and (room or bool(plan.index_bytes))

    def _indices(self, cycle: Cycle, plan: DrawPlan) -> bool:
        """Read indices ahead; return whether the next one has arrived."""
        s, wires, config = self.state, self.wires, self.config
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
            wires["memory_request"].send(cycle, (False, address, size, self.client, s.ticket))
            s.counts["MemoryTransactions"] += 1
            s.ticket += 1
            s.requested += size
        return s.received >= (s.sent + 1) * plan.index_bytes

    @property
    def queues(self) -> Queues:
        """Occupied entries, lines and requests."""
        s, config = self.state, self.config
        begun = s.draw >= 0
        return (
            QueueFill("out", begun * (config.output_queue - s.free_entries), config.output_queue),
            QueueFill("mem", begun * (config.output_memory - s.free_lines), config.output_memory),
            QueueFill("req", begun * (config.request_queue - s.free_requests), config.request_queue),
        )


@dataclass
class StreamerOutputCacheState(GpuBoxState):
    """State of the cache."""

    free: deque[int] = field(default_factory=deque)
    line_of: dict[int, int] = field(default_factory=dict)
    """Lines of valid indices."""
    index_of: dict[int, int] = field(default_factory=dict)


class StreamerOutputCache(GpuBox[StreamerOutputCacheState]):
    """Finds indices that are shaded already and gives a line to each other one.

    A line is freed a cycle after its last user has left, unless another index hits it in between.
    """

    section, suffix, label, holds = "streamer", "StOC", "shaded", StreamerOutputCacheState
    config: StreamerConfig
    inputs = ("command", "indices", "freed", "updated")
    outputs = ("loader", "commit", "update")
    shown = (("lines", "line_of", "output_memory"),)

    def tick(self, cycle: Cycle) -> None:
        """Take updates, freed lines, and an index."""
        s, wires, counts = self.state, self.wires, self.state.counts
        if wires["command"].ready(cycle):
            wires["command"].take(cycle)
            s.free = deque(range(self.config.output_memory))
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


class _Input:
    """A vertex being loaded."""

    __slots__ = ("blocks", "draw", "entry", "fetched", "hit", "last", "lines", "read")

    def __init__(self, draw: int, entry: int, hit: bool, last: bool, blocks: list[int]) -> None:
        self.draw = draw
        self.entry = entry
        self.hit = hit
        self.last = last
        self.blocks = blocks
        """Lines of its attributes, two for an attribute that crosses lines."""
        self.lines: list[int] = []
        self.read = 0


@dataclass
class StreamerLoaderState(GpuBoxState):
    """State of the loader."""

    tags: Tags
    fill: LineFill
    fetching: deque[_Input] = field(default_factory=deque)
    reading: deque[_Input] = field(default_factory=deque)
    loaded: deque[_Input] = field(default_factory=deque)
    port: int = 0


class StreamerLoader(GpuBox[StreamerLoaderState]):
    """Loads attributes through a small cache, in order, and sends at most a vertex a cycle to the shaders.

    Up to four attributes are fetched and read in a cycle; the end of a vertex takes one of the four turns.
    """

    section, suffix, label = "streamer", "SL0", "loader"
    config: StreamerConfig
    memory_bus = "loader_bus"
    inputs = ("indices", "ready", "memory_data", "memory_state")
    outputs: tuple[str, ...]

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        super().__init__(name, spec)
        self._ports = range(spec.config.gpu.vertex_ports)
        self.outputs = ("free", "memory_request", *(f"vertex{port}" for port in self._ports))

    def begin(self, counts: Counts) -> StreamerLoaderState:
        """Return the state with an empty cache."""
        config = self.config
        tags = Tags(config.cache_lines, 1, config.cache_requests)
        write = -(-config.cache_line // (config.attributes * config.cache_port))
        fill = LineFill(tags, config.cache_line, config.cache_inputs, self.client, 0, write)
        return StreamerLoaderState(counts, tags, fill)

    def why_blocked(self) -> str | None:
        """Return what a vertex waits for: its attributes or the shaders."""
        s = self.state
        return "waits for attributes or the shaders" if s.fetching or s.reading or s.loaded else None

    def tick(self, cycle: Cycle) -> None:
        """Send a loaded vertex, read, fetch, take new ones."""
        s, wires = self.state, self.wires
        s.cycle = cycle
        fill = s.fill
        if wires["memory_data"].ready(cycle):
            answer = wires["memory_data"].take(cycle)
            fill.answered(cycle, answer, self.spec.clients[0].width)
            s.counts["ReadBytes"] += answer[2]
        if s.tags.outstanding:
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
        s.awake = bool(s.fetching or s.reading or s.loaded or s.tags.outstanding)

    def _blocks(self, draw: int, index: int) -> list[int]:
        """Return the lines of the attributes of a vertex."""
        size = self.config.cache_line
        blocks: list[int] = []
        for attribute in self.draws[draw].attributes:
            address = attribute.address + attribute.stride * index
            first, last = address // size, (address + attribute.size - 1) // size
            blocks.extend(range(first, last + 1))
            if last > first:
                self.state.counts["SplittedAttributes"] += 1
        return blocks

    def _send(self, cycle: Cycle) -> int:
        """Send the oldest loaded vertex if the shaders take it; return the number of requests freed."""
        s, counts = self.state, self.state.counts
        ready = self.level("ready")
        if not ready.value(cycle):
            counts["StallsShaderBusy"] += 1
            return 0
        each = s.loaded.popleft()
        self.wires[f"vertex{s.port}"].send(cycle, (each.draw, (each.entry, each.hit, each.last)))
        s.port = (s.port + 1) % len(self._ports)
        counts["Inputs"] += 1
        return 1

    def _read(self) -> None:
        s, tags, counts = self.state, self.state.tags, self.state.counts
        for _ in range(self.config.attributes):
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
        for _ in range(self.config.attributes):
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

    @property
    def queues(self) -> Queues:
        """Vertices being loaded."""
        s = self.state
        return (QueueFill("vertices", len(s.fetching) + len(s.reading) + len(s.loaded), self.config.request_queue),)

    @property
    def tags(self) -> tuple[str, Tags]:
        """Suffix and tags of its cache."""
        return "FC_InC", self.state.tags


@dataclass
class StreamerCommitState(GpuBoxState):
    """State of commit."""

    draw: int = -1
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
    """Index and line whose last user left in the last cycle."""
    next_send: int = 0


class StreamerCommit(GpuBox[StreamerCommitState]):
    """Sends shaded vertices to assembly in the order of their indices, on request while the bus is free."""

    section, suffix, label, holds = "streamer", "StC", "commit", StreamerCommitState
    config: StreamerConfig
    waits = "waits for vertices"
    inputs: tuple[str, ...]
    outputs = ("free", "freed", "vertices")
    shown = (("vertices", "entries", "output_queue"),)

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        super().__init__(name, spec)
        self._ports = range(spec.config.gpu.vertex_ports)
        self.inputs = ("command", "indices", "requests", *(f"shaded{port}" for port in self._ports))

    def tick(self, cycle: Cycle) -> None:
        """Take indices, send a vertex, take shaded ones."""
        s, wires, counts = self.state, self.wires, self.state.counts
        s.cycle = cycle
        if wires["command"].ready(cycle):
            s.draw = wires["command"].take(cycle)[1]
            s.drawing = True
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
        if s.drawing and s.asked and s.next in s.shaded and cycle >= s.next_send:
            self._send(cycle)
        for port in self._ports:
            wire = wires[f"shaded{port}"]
            if wire.ready(cycle):
                _, vertex = wire.take(cycle)
                s.shaded.add(vertex[0])
                counts["ShaderOutputs"] += 1
        s.awake = s.drawing and bool((s.asked and s.next in s.shaded) or s.left is not None)

    def _send(self, cycle: Cycle) -> None:
        s, wires, config = self.state, self.wires, self.config
        plan = self.draws[s.draw]
        entry = s.next
        index, line = s.entries.pop(entry)
        s.shaded.discard(entry)
        cycles = -(-plan.vertex_program.outputs // config.attributes_sent)
        wires["vertices"].send(cycle, s.draw, latency=cycles + self.spec.config.assembly.bus_latency)
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
            s.drawing = False
