"""Depth and colour units: quads pass fetch, read, arithmetic and write, with a cache of lines."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from dataclasses import dataclass, field

from attila_bridge.function.layout import PLACES
from attila_bridge.statistics import Counts
from attila_bridge.time.caches import Tags
from attila_bridge.time.config import RopConfig
from attila_bridge.time.gpu_box import GpuBox, GpuBoxSpec, GpuBoxState
from attila_bridge.time.prepare import DrawPlan
from attila_bridge.time.rop_cache import COLOR_LEVELS, DEPTH_LEVELS, Levels, RopCache
from pixelflow.simd.boxes import Level
from pixelflow.simd.units import Cycle

END = -1
"""Quad that ends a draw."""

MASKS = [sum(0xF << 4 * fragment for fragment in range(4) if mask >> fragment & 1) for mask in range(16)]
"""Mask of the 16 bytes of a quad's words for a mask of fragments."""


@dataclass
class RopState(GpuBoxState):
    """State of a unit."""

    cache: RopCache
    draw: int = -1
    input: deque[int] = field(default_factory=deque)
    fetched: deque[tuple[int, int]] = field(default_factory=deque)
    """Quads and their lines."""
    read: deque[tuple[int, int]] = field(default_factory=deque)
    operated: deque[tuple[int, int]] = field(default_factory=deque)
    written: deque[int] = field(default_factory=deque)
    pending: set[int] = field(default_factory=set)
    """Places of quads that were read and not yet written."""
    next_operation: int = 0
    last: bool = False
    mode: str = "ready"


class RopUnit(GpuBox[RopState]):
    """Common part of depth and colour units."""

    config: RopConfig
    levels: Levels
    """Levels of compression."""
    cache: str
    """Suffix of the statistics of its cache."""
    shown = (
        *(("in", "input", "input_queue"), ("fetch", "fetched", "fetch_queue"), ("read", "read", "read_queue")),
        *(("op", "operated", "op_queue"), ("write", "written", "write_queue")),
    )

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        super().__init__(name, spec)
        # A buffer that is not cleared begins with these words too, as in function.
        self.state.cache.clear(self._clear_word)
        self._plan: DrawPlan | None = None
        self._consumer: Level | None = None
        """Ready level of the unit that follows, if one does."""
        config = self.config
        self._ready_below = config.input_queue - 2 * config.quads
        self._op_limit = config.op_queue - config.alu_latency
        self._bypass = self._reading = False
        self._alive = b""
        self._blocks: list[int] = []

    def begin(self, counts: Counts) -> RopState:
        """Return the state with an empty cache."""
        return RopState(counts, RopCache(self.config, self.spec.clients[0], self._address, self.levels, counts))

    @property
    def tags(self) -> tuple[str, Tags]:
        """Suffix and tags of its cache."""
        return self.suffixed(self.cache), self.state.cache.tags

    # --- differences of the two kinds ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def _address(self) -> int:
        """Address of its buffer in memory."""

    @property
    @abstractmethod
    def _clear_word(self) -> int:
        """Word written by a clear."""

    @abstractmethod
    def _bypasses(self, plan: DrawPlan) -> bool:
        """Return whether quads of a draw pass without any operation."""

    @abstractmethod
    def _reads(self, plan: DrawPlan) -> bool:
        """Return whether the words are read before they are written."""

    @abstractmethod
    def _live(self, plan: DrawPlan) -> bytes:
        """Return the fragments of each quad that arrive alive."""

    @abstractmethod
    def _stored(self, plan: DrawPlan, quad: int) -> tuple[int, list[int]]:
        """Return the mask of bytes written by a quad, and its words."""

    def _leave(self, cycle: Cycle, quad: int) -> None:
        """Hand a finished quad on, if a unit follows."""

    @abstractmethod
    def _operate(self, plan: DrawPlan, quad: int) -> None:
        """Count the results of the arithmetic."""

    # --- the clock's view ----------------------------------------------------------------------------------------

    def why_blocked(self) -> str | None:
        """A unit within a draw waits for its end."""
        return "waits for the end of the draw" if self.state.mode == "draw" else None

    def restore(self, snapshot: dict[str, object]) -> None:
        """Put the unit into the state of a snapshot."""
        super().restore(snapshot)
        self._begin()

    def wired(self) -> None:
        """Keep the wires used in every cycle."""
        wires = self.wires
        self._data, self._request, self._quads = wires["memory_data"], wires["memory_request"], wires["quads"]
        self._commands, self._alu_start, self._alu_end = wires["command"], wires["alu_start"], wires["alu_end"]
        self._memory_state, self._ready = self.level("memory_state"), self.level("ready")

    def _begin(self) -> None:
        """Look up what is constant for a draw."""
        if self.state.draw < 0:
            return
        plan = self._plan = self.draws[self.state.draw]
        self._bypass, self._reading = self._bypasses(plan), self._reads(plan)
        self._alive, self._blocks = self._live(plan), plan.blocks

    def tick(self, cycle: Cycle) -> int | None:
        """Advance the cache, then every quad by at most one stage, the last stage first."""
        s = self.state
        if s.skipped:
            self._wake(cycle)
        s.cycle = cycle
        cache = s.cache
        cache.cycle = cycle
        if self._data.waiting:
            for answer in self._data.take_all(cycle):
                cache.answered(answer)
        tags = cache.tags
        sent = False
        if tags.outstanding or cache.flushing:
            sent = self._lines(cycle, cache)
        if self._commands.waiting:
            for command in self._commands.take_all(cycle):
                self._command(cycle, command)
        drawing = s.mode == "draw"
        held_up = False
        if drawing:
            held_up = self._draw(cycle, sent)
        elif s.mode != "ready":
            self._other(cycle)
        ready = len(s.input) < self._ready_below
        if ready is not self._ready.driven:
            self._ready.drive(cycle, ready)
        busy = tags.outstanding or cache.flushing
        s.awake = bool(
            s.input or s.read or s.written or s.fetched or s.operated or (s.last and s.mode == "draw") or busy
        )
        if held_up and self._bypass and not busy and (not s.input or len(s.written) == self.config.write_queue):
            self._sleep({"ConsumerBusy": 1, "WriteQFullStall": 1} if s.input else {"ConsumerBusy": 1})
        return cycle + 1 if s.awake else None

    def _lines(self, cycle: Cycle, cache: RopCache) -> bool:
        """Advance the lines of the cache; return whether a transaction was sent to memory."""
        sent = cache.step(self._memory_state.value(cycle))
        if cache.evicted:
            self._evicted(cycle)
        if sent is None:
            return False
        self._request.send(cycle, sent)
        counts = self.state.counts
        if sent[0]:
            counts["WriteTransactions"] += 1
            counts["WriteBytes"] += sent[2]
        else:
            counts["ReadTransactions"] += 1
        return True

    def _command(self, cycle: Cycle, command: tuple[str, int]) -> None:
        s = self.state
        s.mode, argument = command
        if s.mode == "draw":
            s.draw = argument
            s.last = False
            self._begin()
        elif s.mode == "clear":
            s.wake = cycle + -(-self.config.block_states // self.config.cleared) - 1
        elif s.mode == "swap":
            s.wake = cycle + 1

    def _other(self, cycle: Cycle) -> None:
        """Continue with a clear or a swap."""
        s = self.state
        if s.wake == cycle:
            if s.mode == "swap":
                s.mode, s.cache.flushing = "flush", True
                return
            if s.mode == "clear":
                s.cache.clear(self._clear_word)
            self._ended(cycle)
        elif s.mode == "flush" and s.wake < cycle and not s.cache.flushing:
            blocks = -(-self.spec.frame.blocks // self.spec.config.gpu.rops)
            s.wake = cycle + -(-blocks // self.config.cleared)
            self._copied(cycle)

    def _copied(self, cycle: Cycle) -> None:
        """Hand the states of blocks to the display."""

    def _ended(self, cycle: Cycle) -> None:
        self.state.mode = "ready"
        self.wires["ended"].send(cycle, self.state.draw)

    def _evicted(self, cycle: Cycle) -> None:
        """Note that blocks are being written back."""

    # --- quads ---------------------------------------------------------------------------------------------------

    def _draw(self, cycle: Cycle, sent: bool) -> bool:
        """Move quads; return whether one waits for the unit that follows."""
        s, counts = self.state, self.state.counts
        plan = self._plan
        assert plan is not None
        written, arriving = s.written, s.input
        operating = self._alu_end.waiting
        if s.last and not (sent or written or arriving or s.fetched or s.read or operating or s.operated):
            self._leave(cycle, END)
            self._ended(cycle)
        held_up = False
        if written:
            consumer = self._consumer
            held_up = consumer is not None and not (consumer.value(cycle) if consumer.waiting else consumer.seen)
            if held_up:
                counts["ConsumerBusy"] += 1
            else:
                self._leave(cycle, written.popleft())
        if self._bypass:
            if arriving:
                if len(written) < self.config.write_queue:
                    written.append(arriving.popleft())
                else:
                    counts["WriteQFullStall"] += 1
        else:
            if s.operated:
                self._write(plan)
            if operating and operating[0][0] <= cycle:
                entry = operating.popleft()[3]
                self._operate(plan, entry[0])
                s.operated.append(entry)
            if s.read:
                self._start(cycle)
            if s.fetched:
                self._read(plan)
            if arriving:
                self._fetch()
        quads = self._quads.waiting
        while quads and quads[0][0] <= cycle:
            quad = quads.popleft()[3]
            counts["InputFragments"] += 4
            if quad == END:
                s.last = True
                continue
            alive = self._alive[quad]
            if alive:
                arriving.append(quad)
                if alive != 15:
                    counts["OutsideFragments"] += 4 - alive.bit_count()
            else:
                counts["OutsideFragments"] += 4
                counts["CulledFragments"] += 4
        return held_up

    def _start(self, cycle: Cycle) -> None:
        """Begin to test or blend the oldest quad that has its words."""
        s = self.state
        if cycle < s.next_operation:
            s.counts["ROPOperatorBusy"] += 1
        elif len(s.operated) <= self._op_limit:
            self._alu_start.send(cycle, s.read.popleft())
            s.next_operation = cycle + self.config.alu_rate
        else:
            s.counts["OperationQFullStall"] += 1

    def _fetch(self) -> None:
        """Request the line of the oldest input."""
        s, config, counts = self.state, self.config, self.state.counts
        quad = s.input[0]
        block = self._blocks[quad >> 4]
        if self._reading:
            if len(s.fetched) == config.fetch_queue:
                counts["FetchQFullStall"] += 1
                return
            line = s.cache.fetch(block)
            if line < 0:
                counts["FetchFailed"] += 1
                return
            counts["FetchOK"] += 1
            s.fetched.append((quad, line))
        else:
            if len(s.read) == config.read_queue:
                counts["ReadQFullStall"] += 1
                return
            line = s.cache.allocate(block)
            if line < 0:
                counts["AllocateFailed"] += 1
                return
            counts["AllocateOK"] += 1
            s.read.append((quad, line))
        s.input.popleft()

    def _read(self, plan: DrawPlan) -> None:
        """Read the words of the oldest quad with a requested line."""
        s, counts = self.state, self.state.counts
        quad, line = s.fetched[0]
        place = plan.blocks[quad >> 4] << 4 | quad & 15
        if place in s.pending:
            counts["RAWDependence"] += 1
        elif len(s.read) == self.config.read_queue:
            counts["ReadQFullStall"] += 1
        elif s.cache.read(line):
            counts["ReadOK"] += 1
            s.pending.add(place)
            s.read.append(s.fetched.popleft())
        else:
            counts["ReadFailed"] += 1

    def _write(self, plan: DrawPlan) -> None:
        """Write the words of the oldest quad after the arithmetic."""
        s, counts = self.state, self.state.counts
        if len(s.written) == self.config.write_queue:
            counts["WriteQFullStall"] += 1
            return
        quad, line = s.operated[0]
        if not s.cache.writable(line):
            counts["WriteFailed"] += 1
            return
        mask, words = self._stored(plan, quad)
        s.cache.write(line, PLACES[quad & 15], mask, words)
        counts["WriteOK"] += 1
        s.operated.popleft()
        s.written.append(quad)
        if s.pending:
            s.pending.discard(plan.blocks[quad >> 4] << 4 | quad & 15)


class ColorUnit(RopUnit):
    """Unit that blends and writes colours, and hands the states of its blocks to the display."""

    section, suffix, label, memory_bus = "color", "CW", "colour", "color_bus"
    levels, cache = COLOR_LEVELS, "FC_CW"
    inputs = ("command", "quads", "memory_data", "memory_state", "alu_end")
    outputs = ("ended", "ready", "memory_request", "alu_start", "states")

    @property
    def _address(self) -> int:
        return self.spec.frame.color_address

    @property
    def _clear_word(self) -> int:
        return self.spec.frame.clear_color

    def _bypasses(self, plan: DrawPlan) -> bool:
        return not plan.color_mask

    def _reads(self, plan: DrawPlan) -> bool:
        return plan.blends

    def _live(self, plan: DrawPlan) -> bytes:
        return plan.to_color

    def _stored(self, plan: DrawPlan, quad: int) -> tuple[int, list[int]]:
        mask = MASKS[plan.to_color[quad]] & plan.color_bytes
        return mask, plan.color_words[4 * quad : 4 * quad + 4]

    def _operate(self, plan: DrawPlan, quad: int) -> None:
        counts = self.state.counts
        counts["OperatedFragments"] += 1
        if plan.blends:
            counts["BlendedFragments"] += 4

    def _copied(self, cycle: Cycle) -> None:
        states = self.state.cache.states
        self.wires["states"].send(cycle, dict(states))


class DepthUnit(RopUnit):
    """Unit that tests depth and stencil, and sends hierarchical Z the greatest depth of each line written back."""

    section, suffix, label, memory_bus = "depth", "ZST", "depth", "depth_bus"
    levels, cache = DEPTH_LEVELS, "FC_ZST"
    inputs = ("command", "quads", "consumer", "memory_data", "memory_state", "alu_end")
    outputs = ("ended", "tested", "ready", "memory_request", "alu_start", "maxima")

    @property
    def _address(self) -> int:
        return self.spec.frame.depth_address

    @property
    def _clear_word(self) -> int:
        return self.spec.frame.clear_depth

    def wired(self) -> None:
        """Keep the wires used in every cycle."""
        super().wired()
        self._tested, self._consumer = self.wires["tested"], self.level("consumer")

    def _bypasses(self, plan: DrawPlan) -> bool:
        return not plan.tests

    def _reads(self, plan: DrawPlan) -> bool:
        return True

    def _live(self, plan: DrawPlan) -> bytes:
        return plan.to_depth

    def _stored(self, plan: DrawPlan, quad: int) -> tuple[int, list[int]]:
        # The words are written whatever the tests say, so a line that was only tested goes back to memory.
        return MASKS[plan.to_depth[quad]], plan.depth_words[4 * quad : 4 * quad + 4]

    def _leave(self, cycle: Cycle, quad: int) -> None:
        self._tested.send(cycle, quad, 4)
        self.state.counts["OutputFragments"] += 4

    def _operate(self, plan: DrawPlan, quad: int) -> None:
        counts = self.state.counts
        passed = plan.tested[quad].bit_count()
        counts["OperatedFragments"] += 1
        counts["TestedFragments"] += 4
        counts["PassedFragments"] += passed
        counts["FailedFragments"] += 4 - passed

    def _evicted(self, cycle: Cycle) -> None:
        s = self.state
        if self.spec.config.hz.enabled:
            for block in s.cache.evicted:
                most = max(word & 0xFFFFFF for word in s.cache.words(block))
                self.wires["maxima"].send(cycle, (block, most))
                s.counts["UpdatesHZ"] += 1
