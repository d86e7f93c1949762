"""Fragment FIFO: the queues between depth units, interpolator, shaders and colour units, for quads and vertices."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.statistics import Counts
from attila_bridge.time.config import FifoConfig
from attila_bridge.time.gpu_box import GpuBox, GpuBoxSpec, GpuBoxState, Queues
from attila_bridge.time.prepare import FRAGMENTS, VERTICES, DrawPlan, Group, Vertex
from pixelflow.simd.boxes import Level, Wire
from pixelflow.simd.dashboard import QueueFill
from pixelflow.simd.units import Cycle


class RopQueues:
    """Queues of one ROP."""

    __slots__ = ("done", "generated", "interpolated", "interpolating", "shaded", "tested")

    def __init__(self) -> None:
        self.generated: deque[int] = deque()
        self.tested: deque[int] = deque()
        self.interpolated: deque[int] = deque()
        self.interpolating = 0
        """Occupied or reserved entries of the interpolated queue."""
        self.shaded: deque[int] = deque()
        """Quads given to the shaders, in order."""
        self.done: set[int] = set()
        """Quads of `shaded` that have returned."""


@dataclass
class FifoState(GpuBoxState):
    """State of the FIFO."""

    rops: list[RopQueues]
    waiting: list[deque[Group]]
    """Groups waiting for each shader."""
    batched: list[int]
    """Inputs given to each shader since it was last left for the next."""
    ahead: list[deque[int]]
    """Queue of each ROP before interpolation: `tested` or `generated`."""
    draw: int = -1
    ends: int = 0
    """ROPs that have not been sent the end of the draw."""
    ended: int = 0
    """Ends that were sent to the colour units and keep their place in the shaded queues until the next draw."""
    next_interpolation: int = 0
    next_unit: int = 0
    next_shaded: int = 0
    next_shader: int = 0
    """Shader of the next vertices: after quads that of the last seen, after vertices the next."""
    shading: int = 0
    """Quads in the shaders."""
    vertices: deque[tuple[int, Vertex]] = field(default_factory=deque)
    """Draws and vertices waiting to be shaded."""
    vertices_out: deque[tuple[int, Vertex]] = field(default_factory=deque)
    vertices_shading: int = 0
    last_vertex: bool = False
    first_vertex: bool = False
    last_group: int = 0
    held: tuple[int, ...] = ()
    """Fill of all queues after the last tick, if it sent nothing."""
    fill: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Generated, tested, interpolated and shaded quads of all ROPs after the last tick."""


_END = -1
_OCCUPATIONS = tuple(f"{queue}StampQueuesOccupation" for queue in ("Rast", "Test", "Int", "Shaded"))
"""Statistics of `FifoState.fill`, summed over cycles."""


class FragmentFifo(GpuBox[FifoState]):
    """Queues for each ROP, and the crossbar to the shaders, whose round over the ROPs ends at the first full shader.

    Quads wait where the depth unit is not ready (`_pixels`), the interpolator has no room or its rate forbids it
    (`_interpolate`), the queue of shaded quads or the shader's is full (`_shade_quads`), vertices go first or the
    shader is busy (`tick`), and where the next unit is not ready or an older quad is still being shaded; the end of a
    draw waits for all of them (`_shaded_to`, `_tested_to_color`). An incomplete group of vertices waits `vertex_wait`.
    """

    section, suffix, label = "fifo", "FFU", "FIFO"
    config: FifoConfig
    waits = "waits for quads"
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        super().__init__(name, spec)
        gpu = spec.config.gpu
        rops, self._shaders, self._ports = range(gpu.rops), range(gpu.shaders), range(gpu.vertex_ports)
        self._group = spec.config.shader.group
        self._most_vertices = self.config.vertex_inputs - 2 * gpu.vertex_ports
        self._most_generated = self.config.generated - 2 * 16 * spec.config.traversal.steps
        self.inputs = (
            *("command", "quads", "interpolated"),
            *(f"{port}{rop}" for rop in rops for port in ("tested", "depth_ready", "color_ready")),
            *(f"{port}{shader}" for shader in self._shaders for port in ("output", "busy")),
            *(f"vertex{port}" for port in self._ports),
        )
        self.outputs = (
            *("ended", "ready", "interpolation", "vertices_ready"),
            *(f"{port}{rop}" for rop in rops for port in ("depth", "color", "consumer")),
            *(f"input{shader}" for shader in self._shaders),
            *(f"shaded{port}" for port in self._ports),
        )
        self._plan: DrawPlan | None = None

    def begin(self, counts: Counts) -> FifoState:
        """Return the state with empty queues."""
        gpu = self.spec.config.gpu
        queues = [RopQueues() for _ in range(gpu.rops)]
        return FifoState(counts, queues, [deque() for _ in range(gpu.shaders)], [0] * gpu.shaders, [])

    def restore(self, snapshot: dict[str, object]) -> None:
        """Put the FIFO into the state of a snapshot."""
        super().restore(snapshot)
        self._plan = self.draws[self.state.draw] if self.state.draw >= 0 else None

    def wired(self) -> None:
        """Keep the wires used in every cycle."""
        wires, shaders, ports = self.wires, self._shaders, self._ports
        rops = range(len(self.state.rops))
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

    def tick(self, cycle: Cycle) -> int | None:
        """Advance every queue, the last ones first."""
        s = self.state
        if s.skipped:
            self._wake(cycle)
        s.cycle = cycle
        sent = len(self._ready.fresh)
        if self._commands.waiting:
            for _, draw in self._commands.take_all(cycle):
                self._start(draw)
        plan = self._plan if s.drawing else None
        if plan is not None:
            if plan.early:
                self._shaded_to(cycle, self._color, self._color_ready, True)
            else:
                self._tested_to_color(cycle)
                self._from_depth(cycle, plan)
                self._shaded_to(cycle, self._depth, self._depth_ready, False)
        if s.vertices_out:
            self._send_vertices(cycle)
        for wire in self._outputs:
            if wire.waiting:
                self._from_shader(wire.take_all(cycle))
        s.last_vertex = False
        for wire in self._vertices:
            if wire.waiting:
                self._receive_vertices(cycle, wire.take_all(cycle))
        waiting = len(s.vertices)
        group = self._group
        if waiting and (waiting >= group or s.last_vertex or cycle - s.last_group > self.config.vertex_wait):
            self._shade_vertices(cycle)
        elif plan is not None and s.fill[2]:
            self._shade_quads(plan)
        for shader, groups in enumerate(s.waiting):
            if groups:
                busy = self._busy[shader]
                if not (busy.value(cycle) if busy.waiting else busy.seen):
                    self._inputs[shader].send(cycle, groups.popleft(), group)
        if plan is not None:
            self._pixels(cycle, plan)
        self._report(cycle)
        if len(self._ready.fresh) > sent or not s.awake or plan is None or not s.drawing:
            s.held = ()
        else:
            self._stall(cycle)
        return cycle + 1 if s.awake else None

    def _stall(self, cycle: Cycle) -> None:
        """Sleep after a second tick that changed nothing, unless time alone lets quads or vertices continue."""
        s = self.state
        if s.vertices or s.vertices_out or cycle < s.next_interpolation:
            s.held = ()
            return
        before = s.held
        of_rops = ((q.generated, q.tested, q.interpolated, q.shaded, q.done) for q in s.rops)
        queues = (*(queue for each in of_rops for queue in each), *s.waiting)
        s.held = (s.shading, s.next_unit, s.next_shaded, s.next_shader, *map(len, queues))
        if s.held == before:
            self._sleep(dict(zip(_OCCUPATIONS, s.fill, strict=True)))

    def _report(self, cycle: Cycle) -> None:
        """Drive the ready levels, and add the fill of the queues over this cycle."""
        s, config = self.state, self.config
        ready = True
        generated = tested = interpolated = shaded = 0
        for rop, queues in enumerate(s.rops):
            consumer = self._consumer[rop]
            held = len(queues.generated)
            if held > self._most_generated:
                ready = False
            generated += held
            held = len(queues.tested)
            tested += held
            free = config.tested - held > 2
            if free is not consumer.driven:
                consumer.drive(cycle, free)
            interpolated += len(queues.interpolated)
            shaded += len(queues.shaded)
        if ready is not self._ready.driven:
            self._ready.drive(cycle, ready)
        vertices, leaving = len(s.vertices), len(s.vertices_out)
        ready = vertices <= self._most_vertices
        if ready is not self._vertices_ready.driven:
            self._vertices_ready.drive(cycle, ready)
        s.awake = bool(generated or shaded or tested or interpolated or vertices or leaving or any(s.waiting))
        if s.ended:
            shaded += s.ended
            if not s.awake:
                self._sleep({"ShadedStampQueuesOccupation": shaded})
        s.fill = generated, tested, interpolated, shaded
        if s.awake or s.ended:
            counts = s.counts
            counts["RastStampQueuesOccupation"] += generated
            counts["TestStampQueuesOccupation"] += tested
            counts["IntStampQueuesOccupation"] += interpolated
            counts["ShadedStampQueuesOccupation"] += shaded
            if vertices or leaving:
                counts["VertexInputQueueOccupation"] += vertices
                counts["VertexOutputQueueOccupation"] += leaving

    def _start(self, draw: int) -> None:
        s = self.state
        s.draw = draw
        plan = self._plan = self.draws[draw]
        s.ahead = [queues.tested if plan.early else queues.generated for queues in s.rops]
        s.drawing = True
        s.ends, s.ended = len(s.rops), 0
        s.next_unit = s.next_shaded = 0
        s.first_vertex = False
        s.next_interpolation = 0

    # --- quads ---------------------------------------------------------------------------------------------------

    def _pixels(self, cycle: Cycle, plan: DrawPlan) -> None:
        """Move quads from hierarchical Z to the shaders' queues."""
        s = self.state
        arrived = self._interpolated.waiting
        while arrived and arrived[0][0] <= cycle:
            _, quads = arrived.popleft()[3]
            for rop, quad in quads:
                s.rops[rop].interpolated.append(quad)
            s.counts["InterpolatedFragments"] += 4 * len(quads)
        if cycle >= s.next_interpolation and any(s.ahead):
            self._interpolate(cycle, plan)
        if plan.early:
            self._from_depth(cycle, plan)
            for rop, queues in enumerate(s.rops):
                ready = self._depth_ready[rop]
                if queues.generated and (ready.value(cycle) if ready.waiting else ready.seen):
                    self._depth[rop].send(cycle, queues.generated.popleft(), 4)
        arrived = self._quads.waiting
        while arrived and arrived[0][0] <= cycle:
            self._generated(plan, arrived.popleft()[3])

    def _generated(self, plan: DrawPlan, quads: tuple[int, ...]) -> None:
        """Queue quads from hierarchical Z for their ROPs."""
        s = self.state
        s.counts["InputFragments"] += 4 * len(quads)
        for quad in quads:
            if quad == _END:
                for queues in s.rops:
                    queues.generated.append(_END)
            else:
                s.rops[plan.rops[quad >> 4]].generated.append(quad)

    def _interpolate(self, cycle: Cycle, plan: DrawPlan) -> None:
        """Send quads to the interpolator, in turn over the ROPs, changing with the tile."""
        s, room = self.state, self.config.interpolated
        all_queues, ahead, blocks = s.rops, s.ahead, plan.blocks
        rops, unit, visited = len(ahead), s.next_unit, 0
        sent: list[tuple[int, int]] = []
        while True:
            queues, queue = all_queues[unit], ahead[unit]
            if not queue or queues.interpolating >= room:
                if visited == rops or not any(ahead):
                    break
                unit = (unit + 1) % rops
                visited += 1
                continue
            if len(sent) == rops:
                break
            quad = queue.popleft()
            queues.interpolating += 1
            sent.append((unit, quad))
            if queue and (quad == _END or queue[0] == _END or blocks[quad >> 4] >> 2 != blocks[queue[0] >> 4] >> 2):
                unit = (unit + 1) % rops
                visited += 1
        s.next_unit = unit
        if sent:
            self._interpolation.send(cycle, (s.draw, sent), 4 * len(sent))
            s.next_interpolation = cycle + max(1, -(-plan.fragment_inputs // self.config.interpolators))

    def _from_depth(self, cycle: Cycle, plan: DrawPlan) -> None:
        """Take tested quads; those without a live fragment vanish."""
        for rop, queues in enumerate(self.state.rops):
            waiting = self._tested[rop].waiting
            while waiting and waiting[0][0] <= cycle:
                quad = waiting.popleft()[3]
                if quad == _END or plan.tested[quad]:
                    queues.tested.append(quad)

    def _shaded_to(self, cycle: Cycle, wires: list[Wire], readies: list[Level], color: bool) -> None:
        """Send quads that have returned from the shaders to the colour or depth units, in order."""
        s = self.state
        for rop, queues in enumerate(s.rops):
            ready = readies[rop]
            if not (queues.shaded and (ready.value(cycle) if ready.waiting else ready.seen)):
                continue
            quad = queues.shaded[0]
            if quad in queues.done:
                queues.done.remove(quad)
            elif quad != _END or s.shading:
                continue
            queues.shaded.popleft()
            wires[rop].send(cycle, quad, 4)
            s.counts["OutputFragments"] += 4
            if color and quad == _END:
                s.ended += 1
                self._end(cycle)

    def _tested_to_color(self, cycle: Cycle) -> None:
        """Send quads tested after shading to the colour units."""
        s = self.state
        for rop, queues in enumerate(s.rops):
            ready = self._color_ready[rop]
            if queues.tested and (ready.value(cycle) if ready.waiting else ready.seen):
                quad = queues.tested.popleft()
                self._color[rop].send(cycle, quad, 4)
                s.counts["OutputFragments"] += 4
                if quad == _END:
                    self._end(cycle)

    def _end(self, cycle: Cycle) -> None:
        """Note the end of a draw at one ROP; the last one ends the draw."""
        s = self.state
        s.ends -= 1
        if not s.ends:
            s.drawing = False
            self.wires["ended"].send(cycle, s.draw)

    def _shade_quads(self, plan: DrawPlan) -> None:
        """Give quads to the shaders of their tiles, ROP by ROP, up to the first full shader."""
        s, config = self.state, self.config
        all_queues, shaders, limit = s.rops, plan.shaders, config.shaded
        rops, unit, shader = len(all_queues), s.next_shaded, s.next_shader
        room = config.shader_inputs // self._group
        visited, given = 0, False
        while True:
            queues = all_queues[unit]
            while visited < rops and not (queues.interpolated and len(queues.shaded) < limit):
                unit = (unit + 1) % rops
                queues = all_queues[unit]
                visited += 1
            if queues.interpolated:
                quad = queues.interpolated[0]
                shader = 0 if quad == _END else shaders[quad >> 4]
            elif given and s.batched[shader] >= config.shader_batch:
                s.batched[shader] = 0
                shader = (shader + 1) % len(self._shaders)
            waiting = s.waiting[shader]
            if visited == rops or len(waiting) >= room:
                break
            queues.interpolated.popleft()
            queues.interpolating -= 1
            queues.shaded.append(quad)
            if quad != _END:
                waiting.append((FRAGMENTS, s.draw, quad, ()))
                s.shading += 1
                s.batched[shader] += self._group
            unit = (unit + 1) % rops
            visited, given = visited + 1, True
        s.next_shaded, s.next_shader = unit, shader

    # --- shaders -------------------------------------------------------------------------------------------------

    def _from_shader(self, groups: list[Group]) -> None:
        """Take finished groups of a shader."""
        s, counts = self.state, self.state.counts
        for kind, draw, quad, vertices in groups:
            if kind == FRAGMENTS:
                counts["ShadedFragments"] += 4
                s.shading -= 1
                s.rops[self.draws[draw].rops[quad >> 4]].done.add(quad)
            else:
                counts["ShadedVertices"] += len(vertices)
                for vertex in vertices:
                    if vertex[0] < 0:
                        s.vertices_shading -= 1
                    else:
                        s.vertices_out.append((draw, vertex))

    def _send_vertices(self, cycle: Cycle) -> None:
        s = self.state
        for port in self._ports:
            if not s.vertices_out:
                return
            self._shaded[port].send(cycle, s.vertices_out.popleft())
            s.vertices_shading -= 1
            s.counts["OutputVertices"] += 1

    def _receive_vertices(self, cycle: Cycle, arrived: list[tuple[int, Vertex]]) -> None:
        """Queue vertices loaded by the streamer."""
        s = self.state
        for draw, vertex in arrived:
            s.vertices.append((draw, vertex))
            s.last_vertex |= vertex[2]
            s.counts["InputVertices"] += 1
            if not s.first_vertex:
                s.first_vertex = True
                s.last_group = cycle

    def _shade_vertices(self, cycle: Cycle) -> None:
        """Give a group of vertices to the next shader; late ones and the last of a draw are padded."""
        s, group, config = self.state, self._group, self.config
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
        s.batched[s.next_shader] += group
        s.last_group = cycle
        s.next_shader = (s.next_shader + 1) % len(self._shaders)

    @property
    def queues(self) -> Queues:
        """Queues of each ROP, of vertices, and before each shader."""
        s, config = self.state, self.config
        fills = []
        for rop, queues in enumerate(s.rops):
            fills += [
                QueueFill(f"gen{rop}", len(queues.generated), config.generated),
                QueueFill(f"test{rop}", len(queues.tested), config.tested),
                QueueFill(f"int{rop}", len(queues.interpolated), config.interpolated),
                QueueFill(f"shad{rop}", len(queues.shaded), config.shaded),
            ]
        for number, groups in enumerate(s.waiting):
            fills.append(QueueFill(f"to{number}", self._group * len(groups), config.shader_inputs))
        fills.append(QueueFill("vin", len(s.vertices), config.vertex_inputs))
        fills.append(QueueFill("vout", s.vertices_shading, config.vertex_outputs))
        return tuple(fills)
