"""Fragment FIFO: the queues through which quads and vertices reach depth units, interpolator, shaders, colour units."""

from __future__ import annotations

from collections import deque

from attila_bridge.time.groups import FRAGMENTS, VERTICES
from attila_bridge.time.plan import DrawPlan
from attila_bridge.time.shading.fifo_state import FifoSpec, FifoState
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["FragmentFifo"]

_END = -1


class FragmentFifo(Box[FifoSpec, FifoState]):
    """Queues for each ROP, and the crossbar to the shaders: a round over the ROPs ends at the first full shader."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __init__(self, name: str, spec: FifoSpec, counts: dict[str, int]) -> None:
        rops = range(spec.rops)
        state = FifoState(
            counts,
            [deque() for _ in rops],
            [deque() for _ in rops],
            [deque() for _ in rops],
            [0 for _ in rops],
            [deque() for _ in rops],
            [set() for _ in rops],
            [deque() for _ in range(spec.shaders)],
        )
        super().__init__(name, spec, state)
        self.inputs = (
            *("command", "quads", "interpolated"),
            *(f"{port}{rop}" for rop in rops for port in ("tested", "depth_ready", "color_ready")),
            *(f"{port}{shader}" for shader in range(spec.shaders) for port in ("output", "busy")),
            *(f"vertex{port}" for port in range(spec.ports)),
        )
        self.outputs = (
            *("ended", "ready", "interpolation", "vertices_ready"),
            *(f"{port}{rop}" for rop in rops for port in ("depth", "color", "consumer")),
            *(f"input{shader}" for shader in range(spec.shaders)),
            *(f"shaded{port}" for port in range(spec.ports)),
        )
        self._plan: DrawPlan | None = None

    def next_event(self) -> Cycle | None:
        """The next cycle while anything is in the queues."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """Within a draw it waits for its end."""
        return "waits for quads" if self.state.drawing else None

    def restore(self, snapshot: dict[str, object]) -> None:
        """Put the FIFO into the state of a snapshot."""
        super().restore(snapshot)
        self._plan = self.spec.draws[self.state.draw] if self.state.draw >= 0 else None

    def wired(self) -> None:
        """Keep the wires that are read or written in every cycle."""
        wires, spec = self.wires, self.spec
        rops, shaders, ports = range(spec.rops), range(spec.shaders), range(spec.ports)
        self._depth = [wires[f"depth{rop}"] for rop in rops]
        self._tested = [wires[f"tested{rop}"] for rop in rops]
        self._color = [wires[f"color{rop}"] for rop in rops]
        self._depth_ready = [self.level(f"depth_ready{rop}") for rop in rops]
        self._color_ready = [self.level(f"color_ready{rop}") for rop in rops]
        self._consumer = [self.level(f"consumer{rop}") for rop in rops]
        self._inputs = [wires[f"input{shader}"] for shader in shaders]
        self._outputs = [wires[f"output{shader}"] for shader in shaders]
        self._busy = [self.level(f"busy{shader}") for shader in shaders]
        self._vertices = [wires[f"vertex{port}"] for port in ports]
        self._shaded = [wires[f"shaded{port}"] for port in ports]
        self._commands, self._quads = wires["command"], wires["quads"]
        self._interpolation, self._interpolated = wires["interpolation"], wires["interpolated"]
        self._ready, self._vertices_ready = self.level("ready"), self.level("vertices_ready")

    def tick(self, cycle: Cycle) -> None:
        """Move every queue on, the last ones first."""
        s, config = self.state, self.spec.config
        if s.cycle == cycle - 1 and s.awake:
            self._occupation()
        s.cycle = cycle
        if self._commands.waiting:
            for _, draw in self._commands.take_all(cycle):
                self._start(draw)
        plan = self._plan if s.drawing else None
        if plan is not None:
            if plan.early:
                self._to_color(cycle, s.shaded, True)
            else:
                self._to_color(cycle, s.tested, False)
                self._from_depth(cycle, plan)
                self._shaded_to_depth(cycle)
        if s.vertices_out:
            self._send_vertices(cycle)
        self._from_shaders(cycle)
        self._receive_vertices(cycle)
        waiting = len(s.vertices)
        if waiting and (waiting >= self.spec.group or s.last_vertex or cycle - s.last_group > config.vertex_wait):
            self._shade_vertices(cycle)
        elif plan is not None:
            self._shade_quads(plan)
        for shader, groups in enumerate(s.waiting):
            if groups:
                busy = self._busy[shader]
                if not (busy.value(cycle) if busy.waiting else busy.seen):
                    self._inputs[shader].send(cycle, groups.popleft(), self.spec.group)
        if plan is not None:
            self._pixels(cycle, plan)
        self._tell(cycle)

    def _tell(self, cycle: Cycle) -> None:
        """Say what there is room for."""
        s, config = self.state, self.spec.config
        awake = bool(s.vertices or s.vertices_out)
        least = config.generated - 2 * self.spec.quads
        ready = True
        for rop, generated in enumerate(s.generated):
            if len(generated) > least:
                ready = False
            consumer, tested = self._consumer[rop], s.tested[rop]
            free = config.tested - len(tested) > 2
            if free is not consumer.driven:
                consumer.drive(cycle, free)
            awake = awake or bool(generated or tested or s.interpolated[rop] or s.shaded[rop])
        if ready is not self._ready.driven:
            self._ready.drive(cycle, ready)
        ready = config.vertex_inputs - len(s.vertices) >= 2 * self.spec.ports
        if ready is not self._vertices_ready.driven:
            self._vertices_ready.drive(cycle, ready)
        s.awake = awake or any(s.waiting)

    def _start(self, draw: int) -> None:
        s = self.state
        s.draw = draw
        self._plan = self.spec.draws[draw]
        s.drawing = True
        s.ends = self.spec.rops
        s.next_unit = s.next_shaded = 0
        s.first_vertex = False
        s.next_interpolation = 0

    def _occupation(self) -> None:
        """Add what lay in the queues over the last cycle."""
        s, counts = self.state, self.state.counts
        counts["RastStampQueuesOccupation"] += sum(map(len, s.generated))
        counts["TestStampQueuesOccupation"] += sum(map(len, s.tested))
        counts["IntStampQueuesOccupation"] += sum(map(len, s.interpolated))
        counts["ShadedStampQueuesOccupation"] += sum(map(len, s.shaded))
        counts["VertexInputQueueOccupation"] += len(s.vertices)
        counts["VertexOutputQueueOccupation"] += len(s.vertices_out)

    # --- quads ---------------------------------------------------------------------------------------------------

    def _pixels(self, cycle: Cycle, plan: DrawPlan) -> None:
        """Move quads from hierarchical Z to the shaders' queues."""
        s, counts = self.state, self.state.counts
        if self._interpolated.waiting:
            for _, rop, quads in self._interpolated.take_all(cycle):
                s.interpolated[rop].extend(quads)
                counts["InterpolatedFragments"] += 4 * len(quads)
        if cycle >= s.next_interpolation:
            self._interpolate(cycle, plan, s.tested if plan.early else s.generated)
        if plan.early:
            self._from_depth(cycle, plan)
            for rop, queue in enumerate(s.generated):
                if queue:
                    ready = self._depth_ready[rop]
                    if ready.value(cycle) if ready.waiting else ready.seen:
                        self._depth[rop].send(cycle, queue.popleft(), 4)
        if self._quads.waiting:
            for quads in self._quads.take_all(cycle):
                counts["InputFragments"] += 4 * len(quads)
                for quad in quads:
                    if quad == _END:
                        for queue in s.generated:
                            queue.append(_END)
                    else:
                        s.generated[plan.rops[quad >> 4]].append(quad)

    def _interpolate(self, cycle: Cycle, plan: DrawPlan, queues: list[deque[int]]) -> None:
        """Send quads to the interpolator, ROP by ROP in turn; the turn changes with the tile."""
        s, rops, room = self.state, self.spec.rops, self.spec.config.interpolated
        taken, blocks = s.interpolating, plan.blocks
        unit, visited = s.next_unit, 0
        while visited < rops and (not queues[unit] or taken[unit] >= room):
            unit = (unit + 1) % rops
            visited += 1
        sent: list[tuple[int, int, list[int]]] = []
        number = 0
        while number < rops and queues[unit] and taken[unit] < room:
            queue = queues[unit]
            quad = queue.popleft()
            if sent and sent[-1][1] == unit:
                sent[-1][2].append(quad)
            else:
                sent.append((s.draw, unit, [quad]))
            taken[unit] += 1
            number += 1
            if queue and (quad == _END or queue[0] == _END or blocks[quad >> 4] >> 2 != blocks[queue[0] >> 4] >> 2):
                unit = (unit + 1) % rops
                visited += 1
            while visited < rops and (not queues[unit] or taken[unit] >= room):
                unit = (unit + 1) % rops
                visited += 1
        s.next_unit = unit
        if sent:
            for item in sent:
                self._interpolation.send(cycle, item, 4 * len(item[2]))
            s.next_interpolation = cycle + max(1, -(-plan.fragment_inputs // self.spec.config.interpolators))

    def _from_depth(self, cycle: Cycle, plan: DrawPlan) -> None:
        """Take quads that were tested; those without a fragment left vanish."""
        for rop, queue in enumerate(self.state.tested):
            waiting = self._tested[rop].waiting
            while waiting and waiting[0][0] <= cycle:
                quad = waiting.popleft()[3]
                if quad == _END or plan.tested[quad]:
                    queue.append(quad)

    def _shaded_to_depth(self, cycle: Cycle) -> None:
        """Send shaded quads to the depth units, in order."""
        s = self.state
        for rop, queue in enumerate(s.shaded):
            if queue and self._depth_ready[rop].value(cycle):
                quad = queue[0]
                if (quad == _END and not s.shading) or quad in s.done[rop]:
                    queue.popleft()
                    s.done[rop].discard(quad)
                    self._depth[rop].send(cycle, quad, 4)
                    s.counts["OutputFragments"] += 4

    def _to_color(self, cycle: Cycle, queues: list[deque[int]], early: bool) -> None:
        """Send quads to the colour units, in order, once they have come back from the shaders."""
        s = self.state
        for rop, queue in enumerate(queues):
            if not queue:
                continue
            ready = self._color_ready[rop]
            if not (ready.value(cycle) if ready.waiting else ready.seen):
                continue
            quad = queue[0]
            if early:
                if quad == _END:
                    if s.shading:
                        continue
                elif quad in s.done[rop]:
                    s.done[rop].discard(quad)
                else:
                    continue
            queue.popleft()
            self._color[rop].send(cycle, quad, 4)
            s.counts["OutputFragments"] += 4
            if quad == _END:
                s.ends -= 1
                if not s.ends:
                    s.drawing = False
                    self.wires["ended"].send(cycle, s.draw)

    def _shade_quads(self, plan: DrawPlan) -> None:
        """Give quads to the shaders of their tiles, ROP by ROP, up to the first shader whose queue is full."""
        s, rops, config = self.state, self.spec.rops, self.spec.config
        unit, visited = s.next_shaded, 0
        queues, shaded = s.interpolated, s.shaded
        room = config.shader_inputs // self.spec.group
        while visited < rops and (not queues[unit] or len(shaded[unit]) >= config.shaded):
            unit = (unit + 1) % rops
            visited += 1
        while visited < rops and queues[unit] and len(shaded[unit]) < config.shaded:
            quad = queues[unit][0]
            s.next_shader = shader = 0 if quad == _END else plan.shaders[quad >> 4]
            waiting = s.waiting[shader]
            if len(waiting) >= room:
                break
            queues[unit].popleft()
            s.interpolating[unit] -= 1
            shaded[unit].append(quad)
            if quad != _END:
                waiting.append((FRAGMENTS, s.draw, quad, ()))
                s.shading += 1
            unit = (unit + 1) % rops
            visited += 1
            while visited < rops and (not queues[unit] or len(shaded[unit]) >= config.shaded):
                unit = (unit + 1) % rops
                visited += 1
        s.next_shaded = unit

    # --- shaders -------------------------------------------------------------------------------------------------

    def _from_shaders(self, cycle: Cycle) -> None:
        s, counts = self.state, self.state.counts
        for shader in range(self.spec.shaders):
            wire = self._outputs[shader]
            if not wire.waiting:
                continue
            for kind, draw, quad, vertices in wire.take_all(cycle):
                if kind == FRAGMENTS:
                    counts["ShadedFragments"] += 4
                    s.shading -= 1
                    s.done[self.spec.draws[draw].rops[quad >> 4]].add(quad)
                else:
                    counts["ShadedVertices"] += len(vertices)
                    for vertex in vertices:
                        if vertex[0] < 0:
                            s.vertices_shading -= 1
                        else:
                            s.vertices_out.append((draw, vertex))

    def _send_vertices(self, cycle: Cycle) -> None:
        s = self.state
        for port in range(self.spec.ports):
            if not s.vertices_out:
                return
            self._shaded[port].send(cycle, s.vertices_out.popleft())
            s.vertices_shading -= 1
            s.counts["OutputVertices"] += 1

    def _receive_vertices(self, cycle: Cycle) -> None:
        s = self.state
        s.last_vertex = False
        for port in range(self.spec.ports):
            wire = self._vertices[port]
            if wire.waiting and wire.ready(cycle):
                draw, vertex = wire.take(cycle)
                s.vertices.append((draw, vertex))
                s.last_vertex |= vertex[2]
                s.counts["InputVertices"] += 1
                if not s.first_vertex:
                    s.first_vertex = True
                    s.last_group = cycle

    def _shade_vertices(self, cycle: Cycle) -> None:
        """Give a group of vertices to the next shader; the last ones of a draw, or late ones, are filled up."""
        s, group, config = self.state, self.spec.group, self.spec.config
        if len(s.vertices) < group:
            s.vertices.extend([(s.vertices[-1][0], (-1, False, False))] * (group - len(s.vertices)))
            s.last_vertex = False
        waiting = s.waiting[s.next_shader]
        room = config.vertex_outputs - s.vertices_shading
        if room < group or len(waiting) >= config.shader_inputs // group:
            return
        taken = [s.vertices.popleft() for _ in range(group)]
        s.vertices_shading += group
        waiting.append((VERTICES, taken[0][0], -1, tuple(vertex for _, vertex in taken)))
        s.last_group = cycle
        s.next_shader = (s.next_shader + 1) % self.spec.shaders
