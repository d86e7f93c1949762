"""Triangle set-up: a triangle begins every few cycles, takes a fixed time, and waits until traversal asks for it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.config.pixels import SetupConfig
from attila_bridge.time.plan import DrawPlan
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["LAST", "SetupSpec", "TriangleSetup"]

LAST = -1
"""The triangle that ends a draw."""

_DRAWN = 4

_SIZES = (
    (1, "TrianglesLess_1"),
    (4, "Triangles1_to_4"),
    (16, "Triangles4_to_16"),
    (100, "Triangles16_to_100"),
    (1000, "Triangles100_to_1000"),
)
"""Classes of kept triangles by their area in pixels: what it is less than, and the statistic."""


@dataclass(frozen=True)
class SetupSpec:
    """What set-up is given."""

    config: SetupConfig
    draws: tuple[DrawPlan, ...]
    pixels: int
    """Pixels of the screen."""


@dataclass
class SetupState:
    """What set-up holds."""

    counts: dict[str, int]
    draw: int = -1
    done: deque[int] = field(default_factory=deque)
    reserved: int = 0
    asked: int = 0
    """Triangles that traversal has asked for and not got."""
    drawing: bool = False
    last: bool = False
    cycle: int = -1
    awake: bool = False


class TriangleSetup(Box[SetupSpec, SetupState]):
    """Asks the Clipper for as many triangles as it has room for."""

    inputs = ("command", "triangles", "requests", "setup_end")
    outputs = ("ended", "request", "setup_start", "output")

    def __init__(self, name: str, spec: SetupSpec, counts: dict[str, int]) -> None:
        super().__init__(name, spec, SetupState(counts))

    def next_event(self) -> Cycle | None:
        """The next cycle while it can ask or send."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """Within a draw it waits for the last triangle."""
        return "waits for triangles" if self.state.drawing else None

    def _size(self, area: float) -> str:
        """Return the statistic of the class that an area belongs to."""
        for limit, name in _SIZES:
            if area < limit:
                return name
        return "Triangles1000_to_Screen" if area < self.spec.pixels else "TrianglesGreaterScreen"

    def tick(self, cycle: Cycle) -> None:
        """Take requests and triangles, ask for more, send what is asked for."""
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
        config = self.spec.config
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
            plan = self.spec.draws[s.draw].triangles[triangle]
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
