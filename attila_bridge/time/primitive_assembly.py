"""Primitive assembly: asks for vertices as far as its queue has room, and sends a triangle when the Clipper asks."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.config import AssemblyConfig, ClippingConfig
from attila_bridge.time.prepare import DrawPlan
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

_DEGENERATE = 0
_LAST = -1


@dataclass(frozen=True)
class PrimitiveAssemblySpec:
    """What assembly is given."""

    config: AssemblyConfig
    clipper: ClippingConfig
    draws: tuple[DrawPlan, ...]


@dataclass
class PrimitiveAssemblyState:
    """What assembly holds."""

    counts: dict[str, int]
    draw: int = -1
    drawing: bool = False
    asked: int = 0
    received: int = 0
    freed: int = 0
    triangle: int = 0
    last: bool = False
    wanted: int = 0
    """Triangles that the Clipper has asked for and not got."""
    next_send: int = 0
    cycle: int = -1
    awake: bool = False


class PrimitiveAssembly(Box[PrimitiveAssemblySpec, PrimitiveAssemblyState]):
    """A triangle that names an index twice takes its cycle and vanishes."""

    inputs = ("command", "requests", "vertices")
    outputs = ("request", "triangles")

    def __init__(self, name: str, spec: PrimitiveAssemblySpec, counts: dict[str, int]) -> None:
        super().__init__(name, spec, PrimitiveAssemblyState(counts))

    def next_event(self) -> Cycle | None:
        """The next cycle while it can ask or send."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """Within a draw it waits for vertices or the Clipper."""
        return "waits for vertices or the Clipper" if self.state.drawing else None

    def tick(self, cycle: Cycle) -> None:
        """Ask for a vertex, send a triangle, take vertices."""
        s, wires, counts = self.state, self.wires, self.state.counts
        s.cycle = cycle
        if wires["command"].ready(cycle):
            s.draw = wires["command"].take(cycle)[1]
            s.drawing, s.last = True, False
            s.asked = s.received = s.freed = s.triangle = s.wanted = 0
        s.wanted += sum(wires["requests"].take_all(cycle))
        if not s.drawing:
            return
        plan = self.spec.draws[s.draw]
        count = len(plan.indices)
        if s.received + s.asked < count and s.received - s.freed + s.asked < self.spec.config.queue:
            wires["request"].send(cycle, 1)
            s.asked += 1
            counts["Requests"] += 1
        if s.wanted and cycle >= s.next_send:
            if s.last:
                wires["triangles"].send(cycle, _LAST)
                counts["Triangles"] += 1
                s.drawing = s.awake = False
                return
            self._assemble(cycle, plan)
        for _ in wires["vertices"].take_all(cycle):
            s.asked -= 1
            s.received += 1
            counts["Vertices"] += 1
        s.last = s.received == count and s.triangle == len(plan.triangles)
        possible = s.last or (s.triangle < len(plan.triangles) and s.received >= plan.triangles[s.triangle].needs)
        asking = s.received + s.asked < count and s.received - s.freed + s.asked < self.spec.config.queue
        s.awake = asking or bool(s.wanted and possible)

    def _assemble(self, cycle: Cycle, plan: DrawPlan) -> None:
        s, counts = self.state, self.state.counts
        if s.triangle == len(plan.triangles) or s.received < plan.triangles[s.triangle].needs:
            return
        triangle = plan.triangles[s.triangle]
        if triangle.outcome == _DEGENERATE:
            counts["Degenerated"] += 1
        else:
            self.wires["triangles"].send(cycle, s.triangle)
            counts["Triangles"] += 1
            s.wanted -= 1
            s.next_send = cycle + self.spec.clipper.start
        s.triangle += 1
        s.freed += triangle.frees


# Clipper: drops triangles outside of the frustum, and sends the others to set-up when that asks.


_OUTSIDE = 1


@dataclass(frozen=True)
class ClipperSpec:
    """What the Clipper is given."""

    config: ClippingConfig
    draws: tuple[DrawPlan, ...]
    setup_start: int
    """Cycles after which set-up takes the next triangle."""


@dataclass
class ClipperState:
    """What the Clipper holds."""

    counts: dict[str, int]
    draw: int = -1
    drawing: bool = False
    clipped: deque[int] = field(default_factory=deque)
    reserved: int = 0
    wanted: int = 0
    next_send: int = 0
    cycle: int = -1
    awake: bool = False


class Clipper(Box[ClipperSpec, ClipperState]):
    """Asks assembly for as many triangles as its buffer has room for."""

    inputs = ("command", "triangles", "requests", "clip_end")
    outputs = ("ended", "request", "clip", "output")

    def __init__(self, name: str, spec: ClipperSpec, counts: dict[str, int]) -> None:
        super().__init__(name, spec, ClipperState(counts))

    def next_event(self) -> Cycle | None:
        """The next cycle while it can ask or send."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """Within a draw it waits for assembly or set-up."""
        return "waits for triangles or set-up" if self.state.drawing else None

    def tick(self, cycle: Cycle) -> None:
        """Ask for a triangle, begin with those that came, send one on."""
        s, wires, counts, config = self.state, self.wires, self.state.counts, self.spec.config
        s.cycle = cycle
        s.wanted += sum(wires["requests"].take_all(cycle))
        if wires["command"].ready(cycle):
            s.draw = wires["command"].take(cycle)[1]
            s.drawing = True
            s.reserved = s.wanted = 0
        if not s.drawing:
            return
        if s.reserved + len(s.clipped) < config.buffer:
            wires["request"].send(cycle, 1)
            s.reserved += 1
        for triangle in wires["triangles"].take_all(cycle):
            wires["clip"].send(cycle, triangle)
            counts["InputTriangles"] += 1
        outcomes = self.spec.draws[s.draw].triangles
        for triangle in wires["clip_end"].take_all(cycle):
            s.reserved -= 1
            if triangle != _LAST and outcomes[triangle].outcome == _OUTSIDE:
                counts["ClippedTriangles"] += 1
            else:
                s.clipped.append(triangle)
        if s.wanted and s.clipped and cycle >= s.next_send:
            triangle = s.clipped.popleft()
            wires["output"].send(cycle, triangle)
            s.wanted -= 1
            s.next_send = cycle + self.spec.setup_start
            counts["OutputTriangles"] += 1
            if triangle == _LAST:
                s.drawing = False
                wires["ended"].send(cycle, s.draw)
        s.awake = s.drawing and (bool(s.wanted and s.clipped) or s.reserved + len(s.clipped) < config.buffer)
