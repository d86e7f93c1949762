"""Triangle traversal: batches of triangles descend through tiles and leave as steps of sixteen quads."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.config.pixels import TraversingConfig
from attila_bridge.time.plan import BatchPlan, DrawPlan
from attila_bridge.time.raster.setup import LAST
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["LAST_STEP", "TraversalSpec", "TriangleTraversal"]

LAST_STEP = -1
"""The step that ends a draw: one quad."""


@dataclass(frozen=True)
class TraversalSpec:
    """What traversal is given."""

    config: TraversingConfig
    draws: tuple[DrawPlan, ...]


@dataclass
class TraversalState:
    """What traversal holds."""

    counts: dict[str, int]
    draw: int = -1
    queue: deque[int] = field(default_factory=deque)
    asked: int = 0
    drawing: bool = False
    batch: int = -1
    """The batch that is traversed; -1: none."""
    next_batch: int = 0
    ends: bool = False
    """Whether only the end of the draw is left."""
    descents: int = 0
    known: int = 0
    """Scan tiles of the batch that the descent has found."""
    scan: int = 0
    """The scan tile whose steps are emitted, and how many of them are."""
    emitted: int = 0
    cycle: int = -1
    awake: bool = False


class TriangleTraversal(Box[TraversalSpec, TraversalState]):
    """Descends by one step a cycle and emits two steps of quads a cycle, while hierarchical Z is ready."""

    inputs = ("command", "triangles", "ready")
    outputs = ("ended", "request", "steps")

    def __init__(self, name: str, spec: TraversalSpec, counts: dict[str, int]) -> None:
        super().__init__(name, spec, TraversalState(counts))

    def next_event(self) -> Cycle | None:
        """The next cycle while there is a batch or room for triangles."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """Within a draw it waits for the last triangle, or for room."""
        return "waits for triangles or hierarchical Z" if self.state.drawing else None

    def tick(self, cycle: Cycle) -> None:
        """Emit, descend, begin a batch, take triangles, ask for more."""
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
        plan = self.spec.draws[s.draw]
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
        waiting = len(s.queue) >= self.spec.config.at_once or (s.queue and s.queue[-1] == LAST)
        s.awake = ((s.batch >= 0 or s.ends) and free) or (s.batch < 0 and bool(waiting)) or room

    def _ask(self, cycle: Cycle) -> bool:
        """Ask for a triangle where there is room for one, also past the last one of a draw; return whether."""
        s = self.state
        room = len(s.queue) + s.asked < self.spec.config.queue
        if room:
            self.wires["request"].send(cycle, 1)
            s.asked += 1
            s.counts["RequestedTriangles"] += 1
        return room

    def _begin(self) -> None:
        """Begin the next batch where four triangles wait, or the last one does."""
        s = self.state
        queue = s.queue
        if len(queue) < self.spec.config.at_once and not (queue and queue[-1] == LAST):
            return
        if queue[0] == LAST:
            queue.popleft()
            s.ends = True
            return
        s.batch = s.next_batch
        s.next_batch += 1
        s.descents = s.known = s.scan = s.emitted = 0

    def _traverse(self, cycle: Cycle, plan: DrawPlan, batch: BatchPlan) -> None:
        """Descend by one step and emit the steps of the scan tile that is open."""
        s, config = self.state, self.spec.config
        scans = batch.scans
        # A scan tile is opened in the cycle after the descent that found it.
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
