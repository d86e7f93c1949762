"""Primitive assembly and Clipper: triangles of shaded vertices, without those outside of the frustum."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.config import AssemblyConfig, ClippingConfig
from attila_bridge.time.gpu_box import GpuBox, GpuBoxState, Queues
from attila_bridge.time.prepare import DrawPlan
from pixelflow.simd.dashboard import QueueFill
from pixelflow.simd.units import Cycle

_DEGENERATE = 0
_LAST = -1


@dataclass
class PrimitiveAssemblyState(GpuBoxState):
    """State of assembly."""

    draw: int = -1
    asked: int = 0
    received: int = 0
    freed: int = 0
    triangle: int = 0
    last: bool = False
    wanted: int = 0
    """Triangles that the Clipper has requested and not received."""
    next_send: int = 0


class PrimitiveAssembly(GpuBox[PrimitiveAssemblyState]):
    """Requests vertices while its queue has room, and sends a triangle when the Clipper requests one.

    A triangle that names an index twice takes its cycle and vanishes.
    """

    section, suffix, label, holds = "assembly", "PA", "assembly", PrimitiveAssemblyState
    config: AssemblyConfig
    waits = "waits for vertices or the Clipper"
    inputs = ("command", "requests", "vertices")
    outputs = ("request", "triangles")

    def tick(self, cycle: Cycle) -> None:
        """Request a vertex, send a triangle, take vertices."""
        s, wires, counts = self.state, self.wires, self.state.counts
        s.cycle = cycle
        if wires["command"].ready(cycle):
            s.draw = wires["command"].take(cycle)[1]
            s.drawing, s.last = True, False
            s.asked = s.received = s.freed = s.triangle = s.wanted = 0
        s.wanted += sum(wires["requests"].take_all(cycle))
        if not s.drawing:
            return
        plan = self.draws[s.draw]
        count = len(plan.indices)
        if s.received + s.asked < count and s.received - s.freed + s.asked < self.config.queue:
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
        asking = s.received + s.asked < count and s.received - s.freed + s.asked < self.config.queue
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
            s.next_send = cycle + self.spec.config.clipper.start
        s.triangle += 1
        s.freed += triangle.frees

    @property
    def queues(self) -> Queues:
        """Vertices held."""
        s = self.state
        return (QueueFill("vertices", s.received - s.freed if s.drawing else 0, self.config.queue),)


_OUTSIDE = 1


@dataclass
class ClipperState(GpuBoxState):
    """State of the Clipper."""

    draw: int = -1
    clipped: deque[int] = field(default_factory=deque)
    reserved: int = 0
    wanted: int = 0
    next_send: int = 0


class Clipper(GpuBox[ClipperState]):
    """Requests as many triangles as its buffer has room for, and sends those within the frustum on demand."""

    section, suffix, label, holds = "clipper", "CLP", "clipper", ClipperState
    config: ClippingConfig
    waits = "waits for triangles or set-up"
    shown = (("triangles", "clipped", "buffer"),)
    inputs = ("command", "triangles", "requests", "clip_end")
    outputs = ("ended", "request", "clip", "output")

    def tick(self, cycle: Cycle) -> None:
        """Request a triangle, begin with those that arrived, send one on."""
        s, wires, counts, config = self.state, self.wires, self.state.counts, self.config
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
        outcomes = self.draws[s.draw].triangles
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
            s.next_send = cycle + self.spec.config.setup.start
            counts["OutputTriangles"] += 1
            if triangle == _LAST:
                s.drawing = False
                wires["ended"].send(cycle, s.draw)
        s.awake = s.drawing and (bool(s.wanted and s.clipped) or s.reserved + len(s.clipped) < config.buffer)
