"""Hierarchical Z: drops quads beyond the greatest depth of their block before any other work."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.statistics import Counts
from attila_bridge.time.config import HierarchicalConfig
from attila_bridge.time.gpu_box import GpuBox, GpuBoxSpec, GpuBoxState, Queues
from attila_bridge.time.prepare import DrawPlan
from attila_bridge.time.setup import LAST_STEP
from pixelflow.simd.dashboard import QueueFill
from pixelflow.simd.units import Cycle

LAST_QUAD = -1
"""Quad that ends a draw."""


class _Line:
    """Line of the cache: maxima of blocks at the time of its read."""

    __slots__ = ("there", "users", "values")

    def __init__(self) -> None:
        self.there = False
        self.users = 0
        self.values: list[int] = []


@dataclass
class HierarchicalZState(GpuBoxState):
    """State of hierarchical Z."""

    lines: list[_Line]
    firsts: list[int]
    """First block of each line; -1: it is empty."""
    buffer: dict[int, int] = field(default_factory=dict)
    """Maxima of blocks below the greatest depth."""
    draw: int = -1
    arrived: deque[int] = field(default_factory=deque)
    """Quads whose blocks have to be looked up."""
    looked: deque[tuple[int, int]] = field(default_factory=deque)
    """Quads and the lines of their blocks."""
    sending: deque[int] = field(default_factory=deque)
    """Quads that leave; -2: a culled one."""
    last: bool = False


_CULLED = -2
_GREATEST = 0xFFFFFF


class HierarchicalZ(GpuBox[HierarchicalZState]):
    """Receives steps of quads, drops those without a covered fragment, and tests the others by block."""

    section, suffix, label = "hz", "HZ", "hier. Z"
    config: HierarchicalConfig
    waits = "waits for quads"
    inputs: tuple[str, ...]
    outputs = ("ended", "ready", "quads", "buffer")

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        super().__init__(name, spec)
        self._quads_a_cycle = 16 * spec.config.traversal.steps
        self._maxima = tuple(f"maxima{number}" for number in range(spec.config.gpu.rops))
        self.inputs = ("command", "steps", "fifo_ready", "buffer_end", *self._maxima)

    def begin(self, counts: Counts) -> HierarchicalZState:
        """Return the state with empty lines."""
        lines = self.config.cache_lines
        return HierarchicalZState(counts, [_Line() for _ in range(lines)], [-1] * lines)

    def wired(self) -> None:
        """Keep the wires used in every cycle."""
        wires = self.wires
        self._commands, self._steps, self._quads = wires["command"], wires["steps"], wires["quads"]
        self._updates = [wires[port] for port in self._maxima]
        self._buffer, self._buffer_end = wires["buffer"], wires["buffer_end"]
        self._ready, self._fifo_ready = self.level("ready"), self.level("fifo_ready")

    def tick(self, cycle: Cycle) -> None:
        """Update the buffer, then receive, look up, send and test quads."""
        s = self.state
        s.cycle = cycle
        bus_free = self._update(cycle)
        if self._commands.waiting:
            self._command(cycle)
        if s.wake == cycle:
            s.buffer.clear()
            s.firsts = [-1] * len(s.lines)
            self.wires["ended"].send(cycle, s.draw)
        ready = self._fifo_ready.value(cycle)
        if s.drawing:
            self._draw(cycle, bus_free, ready)
        used = len(s.arrived) + len(s.looked) + len(s.sending)
        room = self.config.queue - used > 2 * self._quads_a_cycle
        if room is not self._ready.driven:
            self._ready.drive(cycle, room)
        # Wires wake the box when the FIFO becomes ready or a line arrives.
        s.awake = bool(
            s.arrived
            or (ready and (s.sending or (s.last and s.drawing and not s.looked)))
            or (s.looked and s.lines[s.looked[0][1]].there)
        )

    def _command(self, cycle: Cycle) -> None:
        """Begin a draw or a clear."""
        s = self.state
        for kind, s.draw in self._commands.take_all(cycle):
            if kind == "draw":
                s.drawing, s.last = True, False
            else:
                s.wake = cycle + -(-self.spec.frame.blocks // self.config.cleared) - 1

    def _update(self, cycle: Cycle) -> bool:
        """Take new maxima and finished accesses; return whether the buffer can still be read."""
        s, counts = self.state, self.state.counts
        free = True
        for wire in self._updates:
            if wire.waiting:
                for update in wire.take_all(cycle):
                    self._buffer.send(cycle, update)
                    free = False
        if self._buffer_end.waiting:
            size = self.config.cache_line
            for block, most in self._buffer_end.take_all(cycle):
                if most >= 0:
                    s.buffer[block] = most
                    counts["WritesHZBuffer"] += 1
                else:
                    line = s.lines[-1 - most]
                    line.values = [s.buffer.get(block + each, _GREATEST) for each in range(size)]
                    line.there = True
                    counts["ReadsHZBuffer"] += 1
        return free

    def _draw(self, cycle: Cycle, bus_free: bool, ready: bool) -> None:
        s, counts = self.state, self.state.counts
        plan = self.draws[s.draw]
        if s.last and ready and not (s.arrived or s.looked or s.sending):
            self._quads.send(cycle, (LAST_QUAD,), 4)
            counts["OutputFragments"] += 4
            s.drawing = False
            self.wires["ended"].send(cycle, s.draw)
        if self._steps.waiting:
            for first, some in self._steps.take_all(cycle):
                if first == LAST_STEP:
                    s.last = True
                    counts["InputFragments"] += 4
                else:
                    self._receive(plan, first, some)
        if s.arrived:
            self._look_up(cycle, plan, bus_free)
        if s.sending and ready:
            self._send(cycle)
        if s.looked:
            self._test(plan)

    def _receive(self, plan: DrawPlan, first: int, some: int) -> None:
        s, counts = self.state, self.state.counts
        counts["InputFragments"] += 64 * some
        queue = s.arrived if plan.hierarchical else s.sending
        for step in range(first, first + some):
            quads = plan.step_quads[step]
            counts["CulledOutsideFragments"] += 64 - 4 * len(quads)
            counts["CulledFragments"] += 64 - 4 * len(quads)
            _, one, two, three, four = plan.steps_inside[step]
            inside = one + 2 * two + 3 * three + 4 * four
            counts["OutsideTriangleFragments"] += 64 - inside
            counts["OutsideViewportFragments"] += inside - plan.steps_covered[step]
            queue.extend(quads)

    def _look_up(self, cycle: Cycle, plan: DrawPlan, bus_free: bool) -> None:
        """Look up the blocks of quads in the cache; one line a cycle may be requested from the buffer.

        A quad that cannot continue is tried again until the tries of the cycle are used up, each of which counts a
        miss: recorded misses, less the lines read, are multiples of a cycle's tries.
        """
        s, counts = self.state, self.state.counts
        size = self.config.cache_line
        for tried in range(self._quads_a_cycle):
            if not s.arrived:
                return
            quad = s.arrived[0]
            first = plan.blocks[quad >> 4] // size * size
            if first in s.firsts:
                index = s.firsts.index(first)
                counts["HitsHZCache"] += 1
            else:
                index = self._insert(first) if bus_free else -1
                if index < 0:
                    counts["MissesHZCache"] += self._quads_a_cycle - tried
                    return
                counts["MissesHZCache"] += 1
                self._buffer.send(cycle, (first, -1 - index))
                bus_free = False
            s.lines[index].users += 1
            s.looked.append((s.arrived.popleft(), index))

    def _insert(self, first: int) -> int:
        """Give the first free line to other blocks; return it, or -1 if all are in use.

        This reproduces the recorded reads of the buffer; replacing the least recently used line would need a third of
        them.
        """
        lines, firsts = self.state.lines, self.state.firsts
        unused = (index for index, line in enumerate(lines) if not line.users)
        index = firsts.index(-1) if -1 in firsts else next(unused, -1)
        if index >= 0:
            firsts[index] = first
            lines[index].there, lines[index].users = False, 0
        return index

    def _send(self, cycle: Cycle) -> None:
        s, counts = self.state, self.state.counts
        quads: list[int] = []
        sending, limit = s.sending, self._quads_a_cycle
        while sending and len(quads) < limit:
            quad = sending.popleft()
            if quad != _CULLED:
                quads.append(quad)
        if quads:
            self._quads.send(cycle, tuple(quads), 4 * len(quads))
            counts["OutputFragments"] += 4 * len(quads)

    def _test(self, plan: DrawPlan) -> None:
        s = self.state
        looked = s.looked
        nearest, blocks, equal = plan.nearest, plan.blocks, plan.culls_equal
        for _ in range(min(self._quads_a_cycle, len(looked))):
            quad, index = looked[0]
            line = s.lines[index]
            if not line.there:
                break
            looked.popleft()
            line.users -= 1
            most = line.values[blocks[quad >> 4] - s.firsts[index]]
            if nearest[quad] > most or (equal and nearest[quad] == most):
                s.counts["CulledHZFragments"] += 1
                s.counts["CulledFragments"] += 4
                s.sending.append(_CULLED)
            else:
                s.sending.append(quad)

    @property
    def queues(self) -> Queues:
        """Quads held."""
        s = self.state
        return (QueueFill("quads", len(s.arrived) + len(s.looked) + len(s.sending), self.config.queue),)
