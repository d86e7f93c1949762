"""Netlist of the machine: the boxes and wires of the paper's Figure 2, under the public simulator's names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from attila_bridge.statistics import Counts
from attila_bridge.time.caches import Tags
from attila_bridge.time.command_processor import CommandProcessor
from attila_bridge.time.config import AttilaConfig
from attila_bridge.time.display import Display
from attila_bridge.time.fragment_fifo import FragmentFifo
from attila_bridge.time.gpu_box import BOTH, Client, GpuBox, GpuBoxSpec, GpuBoxState
from attila_bridge.time.hierarchical_z import HierarchicalZ
from attila_bridge.time.memory_controller import MemoryController
from attila_bridge.time.prepare import Contents, FramePlan
from attila_bridge.time.primitive_assembly import Clipper, PrimitiveAssembly
from attila_bridge.time.rop_unit import ColorUnit, DepthUnit
from attila_bridge.time.setup import Interpolator, TriangleSetup, TriangleTraversal
from attila_bridge.time.shader import UnifiedShader
from attila_bridge.time.streamer import StreamerCommit, StreamerFetch, StreamerLoader, StreamerOutputCache
from attila_bridge.time.texture_unit import TexturePipeline
from pixelflow.simd.boxes import AnyBox, Netlist

Kind = TypeVar("Kind", bound=GpuBox[GpuBoxState])


class Boxes:
    """Boxes of a machine, units of a kind by their number."""

    def __init__(self, config: AttilaConfig, frame: FramePlan) -> None:
        self.config, self.frame = config, frame
        self.clients: list[Client] = []
        gpu = config.gpu
        self.processor = self._box(CommandProcessor, "CommandProcessor")
        self.loader = self._box(StreamerLoader, "StreamerLoader")
        self.fetch = self._box(StreamerFetch, "StreamerFetch")
        self.cache = self._box(StreamerOutputCache, "StreamerOutputCache")
        self.commit = self._box(StreamerCommit, "StreamerCommit")
        self.assembly = self._box(PrimitiveAssembly, "PrimitiveAssembly")
        self.clipper = self._box(Clipper, "Clipper")
        self.setup = self._box(TriangleSetup, "TriangleSetup")
        self.traversal = self._box(TriangleTraversal, "TriangleTraversal")
        self.hz = self._box(HierarchicalZ, "HierarchicalZ")
        self.fifo = self._box(FragmentFifo, "FragmentFIFO")
        self.interpolator = self._box(Interpolator, "Interpolator")
        # Requests of one cycle are queued in the order of the clients: ROP by ROP, depths before colours.
        self.depth: list[DepthUnit] = []
        self.color: list[ColorUnit] = []
        for rop in range(gpu.rops):
            self.depth.append(self._box(DepthUnit, f"SU{rop}::ZStencilTest", rop))
            self.color.append(self._box(ColorUnit, f"SU{rop}::ColorWrite", rop))
        self.display = self._box(Display, "DAC")
        self.shaders = [self._box(UnifiedShader, f"FS{number}::Shader", number) for number in range(gpu.shaders)]
        self.textures = [
            [
                self._box(TexturePipeline, f"FS{shader}TU{unit}::TextureUnit", unit)
                for unit in range(config.texture.units)
            ]
            for shader in range(gpu.shaders)
        ]
        self.memory = MemoryController("MemoryController", GpuBoxSpec(config, frame, clients=tuple(self.clients)))
        if frame.before is not None:
            self._begin(frame, frame.before)

    def _box(self, kind: type[Kind], name: str, number: int = 0) -> Kind:
        """Return a box; one with a bus to memory becomes a client."""
        clients: tuple[Client, ...] = ()
        if kind.memory_bus:
            # Names of texture units' wires omit the last word.
            called, width = name.removesuffix("Unit"), getattr(self.config.memory, kind.memory_bus)
            clients = (Client(len(self.clients), called, name.rpartition("::")[2], width),)
            self.clients += clients
        return kind(name, GpuBoxSpec(self.config, self.frame, number, clients))

    def _begin(self, frame: FramePlan, before: Contents) -> None:
        """Begin with the buffers of draws without time; caches stay empty."""
        for rop, (depth, color) in enumerate(zip(self.depth, self.color, strict=True)):
            depth.state.cache.begin(frame.clear_depth, before.of(rop, before.depth))
            color.state.cache.begin(frame.clear_color, before.of(rop, before.color))
        self.hz.state.buffer.update(before.maxima)

    def __iter__(self) -> Iterator[GpuBox[GpuBoxState]]:
        """Yield every box in the order of the pipeline."""
        yield from (self.processor, self.fetch, self.cache, self.loader, self.commit, self.assembly)
        yield from (self.clipper, self.setup, self.traversal, self.hz, self.fifo, self.interpolator)
        for shader, units in zip(self.shaders, self.textures, strict=True):
            yield from (shader, *units)
        for pair in zip(self.depth, self.color, strict=True):
            yield from pair
        yield from (self.memory, self.display)

    @property
    def counts(self) -> dict[str, Counts]:
        """Present counts of each box, by suffix."""
        return {suffix: counts for box in self for suffix, counts in box.counted.items()}

    def counts_before(self, cycle: int) -> dict[str, Counts]:
        """Return copies of the counts of each box before a cycle, including those of boxes that sleep."""
        counts: dict[str, Counts] = {}
        for box in self:
            counted = {suffix: dict(each) for suffix, each in box.counted.items()}
            first = next(iter(counted.values()), {})
            for name, count in box.state.skipped.items():
                first[name] += count * (cycle - 1 - box.state.cycle)
            counts.update(counted)
        return counts

    @property
    def tags(self) -> dict[str, Tags]:
        """Tags of all caches, by suffix."""
        rops = (unit for pair in zip(self.depth, self.color, strict=True) for unit in pair)
        return dict(box.tags for box in (self.loader, *rops, *(unit for units in self.textures for unit in units)))


_QUADS = 4
"""Fragments of a quad."""
_ATTRIBUTES = 16
"""Most inputs of a fragment program."""
_LOOPS = 4
"""Most bilinear steps of a sample."""


def netlist(boxes: Boxes) -> Netlist:
    """Return the boxes with every wire between them."""
    net = Netlist("attila")
    for box in boxes:
        net.add(box)
    _commands(net, boxes)
    _vertices(net, boxes)
    _raster(net, boxes)
    _pixels(net, boxes)
    _shaders(net, boxes)
    _memory(net, boxes)
    return net


def _commands(net: Netlist, boxes: Boxes) -> None:
    """Lay the wires by which the command processor starts boxes and receives their ends."""
    command, processor = boxes.config.command, boxes.processor
    start, end = command.start_latency, command.end_latency
    starting: tuple[tuple[str, str, AnyBox], ...] = (
        ("fetch", "StreamerFetchCommand", boxes.fetch),
        ("cache", "StreamerOutputCacheCommand", boxes.cache),
        ("commit", "StreamerCommitCommand", boxes.commit),
        ("assembly", "PrimitiveAssemblyCommand", boxes.assembly),
    )
    for port, name, box in starting:
        net.connect(name, (processor, f"{port}_command"), (box, "command"), latency=start)
    ending: list[tuple[str, str, AnyBox]] = [
        ("clipper", "ClipperCommand", boxes.clipper),
        ("setup", "TriangleSetupCommand", boxes.setup),
        ("traversal", "TriangleTraversalCommand", boxes.traversal),
        ("hz", "HZCommand", boxes.hz),
        ("fifo", "FFIFOCommand", boxes.fifo),
    ]
    ending += [(f"depth{n}", f"SU{n}::ZStencilTestCommand", box) for n, box in enumerate(boxes.depth)]
    ending += [(f"color{n}", f"SU{n}::ColorWriteCommand", box) for n, box in enumerate(boxes.color)]
    for port, name, part in ending:
        latency = command.setup_latency if part is boxes.setup else start
        net.connect(name, (processor, f"{port}_command"), (part, "command"), latency=latency)
        net.connect(f"{name}State", (part, "ended"), (processor, f"{port}_ended"), latency=end)
    net.connect("DACState", (boxes.display, "ended"), (processor, "display_ended"), latency=end)
    for number, shader in enumerate(boxes.shaders):
        name = f"FS{number}::CommShaderCommand"
        net.connect(name, (processor, f"shader{number}_command"), (shader, "command"), bandwidth=2, latency=start)


def _vertices(net: Netlist, boxes: Boxes) -> None:
    """Lay the wires of the streamer, assembly and the Clipper."""
    config = boxes.config
    fetch, cache, loader, commit = boxes.fetch, boxes.cache, boxes.loader, boxes.commit
    net.connect("StreamerOutputCache", (fetch, "indices"), (cache, "indices"), bandwidth=config.streamer.indices)
    net.connect("SL0::StreamerLoaderNewIndex", (cache, "loader"), (loader, "indices"))
    net.connect("StreamerCommitNewIndex", (cache, "commit"), (commit, "indices"))
    net.connect("StreamerOCUpdate", (cache, "update"), (cache, "updated"))
    net.connect("StreamerCommitDeAlloc", (commit, "free"), (fetch, "commit_free"), bandwidth=4)
    net.connect("StreamerCommitDeAllocOC", (commit, "freed"), (cache, "freed"), bandwidth=2)
    net.connect("SL0::StreamerLoaderDeAlloc", (loader, "free"), (fetch, "loader_free"), bandwidth=2)
    fifo = boxes.fifo
    for port in range(config.gpu.vertex_ports):
        net.connect(f"VS{port}::ShaderCommand", (loader, f"vertex{port}"), (fifo, f"vertex{port}"))
        latency = config.shader.output_latency
        net.connect(f"VS{port}::ShaderOutput", (fifo, f"shaded{port}"), (commit, f"shaded{port}"), latency=latency)
    net.connect_level("VS::ShaderState", (fifo, "vertices_ready"), (loader, "ready"), True)
    assembly, clipper, setup = boxes.assembly, boxes.clipper, boxes.setup
    latency, rate = config.assembly.bus_latency + -(-16 // config.streamer.attributes_sent), config.streamer.vertices
    net.connect("PrimitiveAssemblyInput", (commit, "vertices"), (assembly, "vertices"), latency=latency, bandwidth=rate)
    net.connect("PrimitiveAssemblyRequest", (assembly, "request"), (commit, "requests"))
    net.connect("ClipperInput", (assembly, "triangles"), (clipper, "triangles"), bandwidth=config.assembly.triangles)
    net.connect("ClipperRequest", (clipper, "request"), (assembly, "requests"), bandwidth=config.clipper.units)
    execution = config.clipper.latency
    net.connect("ClipperExecution", (clipper, "clip"), (clipper, "clip_end"), latency=execution)
    net.connect("RasterizerNewTriangle", (clipper, "output"), (setup, "triangles"), latency=config.setup.input_latency)
    net.connect("ClipperRasterizerRequest", (setup, "request"), (clipper, "requests"))


def _raster(net: Netlist, boxes: Boxes) -> None:
    """Lay the wires from set-up to the fragment FIFO."""
    config = boxes.config
    setup, traversal, hz, fifo = boxes.setup, boxes.traversal, boxes.hz, boxes.fifo
    latency, units = config.setup.latency, config.setup.units
    net.connect("TriangleSetup", (setup, "setup_start"), (setup, "setup_end"), latency=latency, bandwidth=units)
    net.connect("TriangleSetupOutput", (setup, "output"), (traversal, "triangles"), latency=config.setup.output_latency)
    net.connect("TriangleSetupRequest", (traversal, "request"), (setup, "requests"))
    width = 16 * config.traversal.steps * _QUADS
    net.connect("HZInputFragment", (traversal, "steps"), (hz, "steps"), bandwidth=width, unit="fragments")
    net.connect_level("HZTestState", (hz, "ready"), (traversal, "ready"), True)
    net.connect("HZOutput", (hz, "quads"), (fifo, "quads"), bandwidth=width, unit="fragments")
    net.connect_level("FFIFOStateHZ", (fifo, "ready"), (hz, "fifo_ready"), True)
    accesses = 1 + config.gpu.rops
    net.connect("HZBuffer", (hz, "buffer"), (hz, "buffer_end"), bandwidth=accesses, latency=config.hz.access_latency)
    for rop, depth in enumerate(boxes.depth):
        net.connect(f"SU{rop}::HZUpdate", (depth, "maxima"), (hz, f"maxima{rop}"), latency=config.hz.update_latency)


def _pixels(net: Netlist, boxes: Boxes) -> None:
    """Lay the wires between fragment FIFO, interpolator, depth and colour units."""
    config, fifo, interpolator = boxes.config, boxes.fifo, boxes.interpolator
    wide, unit = _QUADS * config.gpu.rops, "fragments"
    net.connect("InterpolatorInput", (fifo, "interpolation"), (interpolator, "quads"), bandwidth=wide, unit=unit)
    ends = (interpolator, "interpolation"), (interpolator, "interpolated")
    latency = config.fifo.interpolation_latency + -(-_ATTRIBUTES // config.fifo.interpolators)
    net.connect("Interpolation", *ends, latency=latency, bandwidth=wide, unit=unit)
    net.connect("InterpolatorOutput", (interpolator, "output"), (fifo, "interpolated"), bandwidth=wide, unit=unit)
    for rop, (depth, color) in enumerate(zip(boxes.depth, boxes.color, strict=True)):
        of = f"SU{rop}::"
        for name, source, port, sink, to in (
            ("ZStencilInput", fifo, f"depth{rop}", depth, "quads"),
            ("ZStencilOutput", depth, "tested", fifo, f"tested{rop}"),
            ("ColorWriteInput", fifo, f"color{rop}", color, "quads"),
        ):
            net.connect(f"{of}{name}", (source, port), (sink, to), bandwidth=_QUADS, unit=unit)
        net.connect_level(f"{of}ZStencilState", (depth, "ready"), (fifo, f"depth_ready{rop}"), True)
        net.connect_level(f"{of}FFIFOZStencilState", (fifo, f"consumer{rop}"), (depth, "consumer"), True)
        net.connect_level(f"{of}ColorWriteFFIFOState", (color, "ready"), (fifo, f"color_ready{rop}"), True)
        latency = config.depth.alu_latency
        net.connect(f"{of}ZStencilTest", (depth, "alu_start"), (depth, "alu_end"), latency=latency)
        latency = config.color.alu_latency
        net.connect(f"{of}ColorWriteBlend", (color, "alu_start"), (color, "alu_end"), latency=latency)
        net.connect(f"{of}ColorBlockState", (color, "states"), (boxes.display, f"states{rop}"))


def _shaders(net: Netlist, boxes: Boxes) -> None:
    """Lay the wires of the shaders and their texture units."""
    config, fifo = boxes.config, boxes.fifo
    shading, texturing = config.shader, config.texture
    for number, shader in enumerate(boxes.shaders):
        name = f"FS{number}::"
        rate, latency = shading.outputs, shading.output_latency
        ends = (fifo, f"input{number}"), (shader, "groups")
        net.connect(f"{name}ShaderCommand", *ends, bandwidth=shading.inputs, unit="inputs")
        back = (shader, "output"), (fifo, f"output{number}")
        net.connect(f"{name}ShaderOutput", *back, bandwidth=rate, latency=latency, unit="outputs")
        net.connect_level(f"{name}ShaderState", (shader, "busy"), (fifo, f"busy{number}"), False)
        for which, unit in enumerate(boxes.textures[number]):
            to = f"FS{number}TU{which}::"
            rate = texturing.request_rate
            net.connect(f"{to}TextureRequest", (shader, f"request{which}"), (unit, "requests"), bandwidth=rate)
            net.connect(f"{to}TextureData", (unit, "results"), (shader, f"result{which}"))
            net.connect(f"{to}TextureUnitState", (unit, "tickets"), (shader, f"ticket{which}"))
            latency = texturing.address_latency + _LOOPS
            net.connect(f"{to}TextureAddressALU", (unit, "address"), (unit, "addressed"), latency=latency)
            latency = texturing.filter_latency + _LOOPS
            net.connect(f"{to}TextureFilter", (unit, "filter"), (unit, "filter_end"), latency=latency)


def _memory(net: Netlist, boxes: Boxes) -> None:
    """Lay the wires between memory and its clients, and to the modules."""
    memory = boxes.memory
    clients = {client: box for box in boxes if box is not memory for client in box.spec.clients}
    for client in memory.spec.clients:
        box = clients[client]
        net.connect(f"{client.name}MemoryRequest", (box, "memory_request"), (memory, client.request))
        net.connect(f"{client.name}MemoryData", (memory, client.data), (box, "memory_data"), bandwidth=2)
        net.connect_level(f"{client.name}MemoryState", (memory, client.state), (box, "memory_state"), BOTH)
    latency = max(memory.config.read_latency, memory.config.write_latency)
    for number in range(memory.config.channels):
        name = f"MemoryModule{number:02}"
        net.connect(name, (memory, f"module{number}"), (memory, f"module{number}_back"), latency=latency)
