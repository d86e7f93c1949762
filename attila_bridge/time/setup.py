"""Triangle set-up, traversal and interpolator."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.config import FifoConfig, SetupConfig, TraversingConfig
from attila_bridge.time.gpu_box import GpuBox, GpuBoxState, Queues
from attila_bridge.time.prepare import BatchPlan, DrawPlan
from pixelflow.simd.dashboard import QueueFill
from pixelflow.simd.units import Cycle

LAST = -1
"""Triangle that ends a draw."""

_DRAWN = 4

_SIZES = (
    (1, "TrianglesLess_1"),
    (4, "Triangles1_to_4"),
    (16, "Triangles4_to_16"),
    (100, "Triangles16_to_100"),
    (1000, "Triangles100_to_1000"),
)
"""Classes of kept triangles: upper limit of the area in pixels, and the statistic."""


@dataclass
class SetupState(GpuBoxState):
    """State of set-up."""

    draw: int = -1
    done: deque[int] = field(default_factory=deque)
    reserved: int = 0
    asked: int = 0
    """Triangles that traversal has requested and not received."""
    last: bool = False


class TriangleSetup(GpuBox[SetupState]):
    """Requests as many triangles as it has room for, takes a fixed time for each, and sends them on request."""

    section, suffix, label, holds = "setup", "TS", "set-up", SetupState
    config: SetupConfig
    waits = "waits for triangles"
    shown = (("triangles", "done", "fifo"),)
    inputs = ("command", "triangles", "requests", "setup_end")
    outputs = ("ended", "request", "setup_start", "output")

    def _size(self, area: float) -> str:
        """Return the statistic of the class that an area belongs to."""
        for limit, name in _SIZES:
            if area < limit:
                return name
        return "Triangles1000_to_Screen" if area < self.spec.frame.pixels else "TrianglesGreaterScreen"

    def tick(self, cycle: Cycle) -> None:
        """Take requests and triangles, request more, send one."""
        s, wires, counts = self.state, self.wires, self.state.counts
        s.cycle = cycle
        if wires["command"].ready(cycle):
            s.draw = wires["command"].take(cycle)[1]
            s.drawing, s.last = True, False
            s.reserved = s.asked = 0
        for number in wires["requests"].take_all(cycle):
            s.asked += number
            counts["RequestedTriangles"] += 1
        if not s.drawing:
            return
        config = self.config
        room = len(s.done) + s.reserved < config.fifo
        if not s.last and room:
            wires["request"].send(cycle, 1)
            s.reserved += 1
        for triangle in wires["triangles"].take_all(cycle):
            s.last = triangle == LAST
            wires["setup_start"].send(cycle, triangle)
            counts["InputTriangles"] += 1
        for triangle in wires["setup_end"].take_all(cycle):
            s.reserved -= 1
            if triangle == LAST:
                s.done.append(triangle)
                continue
            plan = self.draws[s.draw].triangles[triangle]
            counts["FrontFacingTriangles" if plan.area >= 0 else "BackFacingTriangles"] += 1
            if plan.outcome == _DRAWN:
                s.done.append(triangle)
                counts[self._size(abs(plan.area))] += 1
            else:
                counts["CulledTriangles"] += 1
        if s.asked and s.done:
            triangle = s.done.popleft()
            s.asked -= 1
            wires["output"].send(cycle, triangle)
            counts["OutputTriangles"] += 1
            if triangle == LAST:
                s.drawing = False
                wires["ended"].send(cycle, s.draw)
        s.awake = s.drawing and (bool(s.asked and s.done) or (not s.last and len(s.done) + s.reserved < config.fifo))


LAST_STEP = -1
"""Step that ends a draw: one quad."""


@dataclass
class TraversalState(GpuBoxState):
    """State of traversal."""

    draw: int = -1
    queue: deque[int] = field(default_factory=deque)
    asked: int = 0
    batch: int = -1
    """Batch being traversed; -1: none."""
    next_batch: int = 0
    ends: bool = False
    """True if only the end of the draw is left."""
    descents: int = 0
    known: int = 0
    """Scan tiles of the batch found so far."""
    scan: int = 0
    """Open scan tile, of which `emitted` steps have left."""
    emitted: int = 0


class TriangleTraversal(GpuBox[TraversalState]):
    """Traverses batches of triangles: a descent and two steps of quads a cycle, while hierarchical Z is ready."""

    section, suffix, label, holds = "traversal", "TT", "traversal", TraversalState
    config: TraversingConfig
    waits = "waits for triangles or hierarchical Z"
    inputs = ("command", "triangles", "ready")
    outputs = ("ended", "request", "steps")

    def tick(self, cycle: Cycle) -> None:
        """Emit, descend, begin a batch, take triangles, request more."""
        s, wires, counts = self.state, self.wires, self.state.counts
        s.cycle = cycle
        ready = self.level("ready")
        free = ready.value(cycle)
        if wires["command"].ready(cycle):
            s.draw = wires["command"].take(cycle)[1]
            s.drawing = True
            s.asked = s.next_batch = 0
            s.batch, s.ends = -1, False
            s.awake = True
            return
        if not s.drawing:
            return
        if free and s.ends:
            wires["steps"].send(cycle, (LAST_STEP, 1), 4)
            counts["GeneratedFragments"] += 4
            counts["Stamps0Fragment"] += 1
            s.drawing = s.awake = False
            wires["ended"].send(cycle, s.draw)
            self._ask(cycle)
            return
        plan = self.draws[s.draw]
        works = free and s.batch >= 0
        if works:
            self._traverse(cycle, plan, plan.batches[s.batch])
        if s.batch < 0 and not s.ends:
            self._begin()
            works = works or s.batch >= 0
        counts["UtilizationCycles"] += works
        for triangle in wires["triangles"].take_all(cycle):
            s.queue.append(triangle)
            s.asked -= 1
            counts["InputTriangles"] += 1
        room = self._ask(cycle)
        waiting = len(s.queue) >= self.config.at_once or (s.queue and s.queue[-1] == LAST)
        s.awake = ((s.batch >= 0 or s.ends) and free) or (s.batch < 0 and bool(waiting)) or room

    def _ask(self, cycle: Cycle) -> bool:
        """Request a triangle if there is room, even past the last one of a draw; return whether there was."""
        s = self.state
        room = len(s.queue) + s.asked < self.config.queue
        if room:
            self.wires["request"].send(cycle, 1)
            s.asked += 1
            s.counts["RequestedTriangles"] += 1
        return room

    def _begin(self) -> None:
        """Begin the next batch if four triangles wait, or the last one does."""
        s = self.state
        queue = s.queue
        if len(queue) < self.config.at_once and not (queue and queue[-1] == LAST):
            return
        if queue[0] == LAST:
            queue.popleft()
            s.ends = True
            return
        s.batch = s.next_batch
        s.next_batch += 1
        s.descents = s.known = s.scan = s.emitted = 0

    def _traverse(self, cycle: Cycle, plan: DrawPlan, batch: BatchPlan) -> None:
        """Make a descent and emit steps of the open scan tile."""
        s, config = self.state, self.config
        scans = batch.scans
        # A scan tile is opened in the cycle after the descent that finds it.
        while s.known < len(scans) and scans[s.known][2] <= s.descents:
            s.known += 1
        if s.descents < batch.descents and s.known - s.scan < config.scan_queue:
            s.descents += 1
        left = config.steps
        while left and s.scan < s.known:
            first, number, _ = scans[s.scan]
            some = min(left, number - s.emitted)
            if some:
                self._emit(cycle, plan, first + s.emitted, some)
                s.emitted += some
                left -= some
            if s.emitted == number:
                s.scan += 1
                s.emitted = 0
        if s.scan == len(scans) and s.descents == batch.descents:
            for _ in range(batch.triangles):
                s.queue.popleft()
            s.batch = -1

    def _emit(self, cycle: Cycle, plan: DrawPlan, first: int, some: int) -> None:
        counts = self.state.counts
        self.wires["steps"].send(cycle, (first, some), 64 * some)
        counts["GeneratedFragments"] += 64 * some
        for step in range(first, first + some):
            none, one, two, three, four = plan.steps_inside[step]
            counts["Stamps0Fragment"] += none
            counts["Stamps1Fragment"] += one
            counts["Stamps2Fragment"] += two
            counts["Stamps3Fragment"] += three
            counts["Stamps4Fragment"] += four

    @property
    def queues(self) -> Queues:
        """Waiting triangles, and unopened scan tiles of the batch."""
        s = self.state
        return (
            QueueFill("triangles", len(s.queue), self.config.queue),
            QueueFill("tiles", s.known - s.scan if s.batch >= 0 else 0, self.config.scan_queue),
        )


class Interpolator(GpuBox[GpuBoxState]):
    """Pipeline of (draw, quads with their ROPs); the number of attributes determines its latency."""

    section, suffix, label, holds = "fifo", "INT", "interp.", GpuBoxState
    config: FifoConfig
    inputs = ("quads", "interpolated")
    outputs = ("interpolation", "output")

    def wired(self) -> None:
        """Keep the wires used in every cycle."""
        wires = self.wires
        self._quads, self._interpolation = wires["quads"], wires["interpolation"]
        self._interpolated, self._output = wires["interpolated"], wires["output"]
        config, most = self.config, self._interpolation.latency
        self._latencies = [
            min(most, config.interpolation_latency + -(-draw.fragment_inputs // config.interpolators))
            for draw in self.draws
        ]
        """Of each draw."""

    def tick(self, cycle: Cycle) -> None:
        """Begin with arrived quads, return finished ones."""
        arrived = self._quads.waiting
        while arrived and arrived[0][0] <= cycle:
            item = arrived.popleft()[3]
            self._interpolation.send(cycle, item, 4 * len(item[1]), self._latencies[item[0]])
        arrived = self._interpolated.waiting
        while arrived and arrived[0][0] <= cycle:
            item = arrived.popleft()[3]
            self._output.send(cycle, item, 4 * len(item[1]))
