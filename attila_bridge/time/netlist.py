"""Netlist of the machine: the wires of the paper's Figure 2, under the public simulator's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.work import AttilaWork
from attila_bridge.statistics import Counts, counts_of
from attila_bridge.time.command_processor import CommandProcessor, CommandProcessorSpec, CommandProcessorState, Step
from attila_bridge.time.config import AttilaConfig
from attila_bridge.time.display import Display, DisplaySpec
from attila_bridge.time.fragment_fifo import FifoSpec, FragmentFifo
from attila_bridge.time.hierarchical_z import HierarchicalZ, HierarchicalZSpec
from attila_bridge.time.memory_controller import BOTH, Client, ControllerSpec, MemoryController
from attila_bridge.time.prepare import DrawPlan
from attila_bridge.time.primitive_assembly import Clipper, ClipperSpec, PrimitiveAssembly, PrimitiveAssemblySpec
from attila_bridge.time.rop_cache import COLOR_LEVELS, DEPTH_LEVELS, RopCacheSpec
from attila_bridge.time.rop_unit import ColorUnit, DepthUnit, RopSpec
from attila_bridge.time.setup import (
    Interpolator,
    InterpolatorSpec,
    SetupSpec,
    TraversalSpec,
    TriangleSetup,
    TriangleTraversal,
)
from attila_bridge.time.shader import ShaderSpec, UnifiedShader
from attila_bridge.time.streamer import (
    StreamerCommit,
    StreamerCommitSpec,
    StreamerFetch,
    StreamerFetchSpec,
    StreamerLoader,
    StreamerLoaderSpec,
    StreamerOutputCache,
    StreamerOutputCacheSpec,
)
from attila_bridge.time.texture_unit import TexturePipeline, TexturePipelineSpec
from pixelflow.simd.boxes import AnyBox, Netlist

# Contents of the buffers that draws by function alone have left: what caches, block states and maxima begin with.
#
# Which size a line was stored in, and whether a line that is as it was cleared was written since, is not known without
# time: a line that differs from the clear counts as stored in the size that its words compress to, any other as clear.


_DEPTH = 0xFFFFFF


@dataclass(frozen=True)
class Contents:
    """Lines that are not as they were cleared, by number."""

    color: Mapping[int, list[int]]
    depth: Mapping[int, list[int]]
    maxima: Mapping[int, int]
    """The greatest depth of each of the lines of depth."""
    rops: bytes
    """The ROP of each line of a buffer."""

    def of(self, rop: int, words: Mapping[int, list[int]]) -> dict[int, list[int]]:
        """Return the lines of one ROP."""
        return {block: line for block, line in words.items() if self.rops[block] == rop}


def contents(work: AttilaWork) -> Contents | None:
    """Return what the draws before those of the work left; None where there are none."""
    before = work.before
    if before is None:
        return None
    color = _written(before.color, work.clear.color or 0)
    depth = _written(before.depth, work.clear.depth_word)
    maxima = {block: max(word & _DEPTH for word in words) for block, words in depth.items()}
    return Contents(color, depth, maxima, before.rops.tobytes())


def _written(lines: NDArray[np.uint32], cleared: int) -> dict[int, list[int]]:
    blocks = np.flatnonzero((lines != np.uint32(cleared)).any(axis=1)).tolist()
    return {block: lines[block].tolist() for block in blocks}


# Boxes of the machine, each with its part of the configuration.


@dataclass(frozen=True)
class FramePlan:
    """What the boxes are told of a frame."""

    draws: tuple[DrawPlan, ...]
    steps: tuple[Step, ...]
    blocks: int
    pixels: int
    color_address: int
    depth_address: int
    clear_color: int
    clear_depth: int
    program_address: int
    uploaded: int
    """Bytes uploaded, programs included."""
    before: Contents | None = None
    """What draws before these have left in the buffers; None where these are all."""


class Boxes:
    """The boxes of a machine; units that there are several of by number."""

    def __init__(self, config: AttilaConfig, frame: FramePlan) -> None:
        self.config = config
        self.draws = frame.draws
        self.uploaded = frame.uploaded
        self.clients: list[Client] = []
        gpu, memory, draws = config.gpu, config.memory, frame.draws
        rops, shaders, ports = range(gpu.rops), range(gpu.shaders), gpu.vertex_ports
        quads = 16 * config.traversal.steps
        self.processor = CommandProcessor(
            "CommandProcessor",
            CommandProcessorSpec(
                config.command,
                memory,
                frame.steps,
                draws,
                self._client("CommandProcessor", "CommandProcessor", memory.command_bus),
                gpu.rops,
                gpu.shaders,
                gpu.pipelined_draws,
                frame.program_address,
            ),
            CommandProcessorState(),
        )
        streamer = config.streamer
        loader_client = self._client("StreamerLoader", "StreamerLoader", memory.loader_bus)
        fetch_client = self._client("StreamerFetch", "StreamerFetch", memory.fetch_bus)
        self.fetch = StreamerFetch(
            "StreamerFetch", StreamerFetchSpec(streamer, draws, fetch_client), self._counts("StF")
        )
        self.cache = StreamerOutputCache("StreamerOutputCache", StreamerOutputCacheSpec(streamer), self._counts("StOC"))
        self.loader = StreamerLoader(
            "StreamerLoader",
            StreamerLoaderSpec(streamer, draws, ports, loader_client, memory.loader_bus),
            self._counts("SL0"),
        )
        self.commit = StreamerCommit(
            "StreamerCommit", StreamerCommitSpec(streamer, config.assembly, draws, ports), self._counts("StC")
        )
        self.assembly = PrimitiveAssembly(
            "PrimitiveAssembly", PrimitiveAssemblySpec(config.assembly, config.clipper, draws), self._counts("PA")
        )
        setup = config.setup
        self.clipper = Clipper("Clipper", ClipperSpec(config.clipper, draws, setup.start), self._counts("CLP"))
        self.setup = TriangleSetup("TriangleSetup", SetupSpec(setup, draws, frame.pixels), self._counts("TS"))
        self.traversal = TriangleTraversal(
            "TriangleTraversal", TraversalSpec(config.traversal, draws), self._counts("TT")
        )
        self.hz = HierarchicalZ(
            "HierarchicalZ", HierarchicalZSpec(config.hz, draws, quads, gpu.rops, frame.blocks), self._counts("HZ")
        )
        self.interpolator = Interpolator("Interpolator", InterpolatorSpec(config.fifo, draws))
        self.fifo = FragmentFifo(
            "FragmentFIFO",
            FifoSpec(config.fifo, draws, gpu.rops, gpu.shaders, ports, config.shader.group, quads),
            self._counts("FFU"),
        )
        # Requests of one cycle queue up in the order of the clients: ROP by ROP, its depths before its colours.
        units = [(self._depth(frame, rop), self._color(frame, rop)) for rop in rops]
        self.depth, self.color = [depth for depth, _ in units], [color for _, color in units]
        display_client = self._client("DAC", "DAC", memory.display_bus)
        self.display = Display(
            "DAC",
            DisplaySpec(config.display, display_client, gpu.rops, frame.blocks, frame.color_address),
            self._counts("DAC"),
        )
        self.shaders = [
            UnifiedShader(
                f"FS{n}::Shader",
                ShaderSpec(config.shader, config.texture, draws),
                self._counts("ShF"),
                self._counts("ShDX"),
            )
            for n in shaders
        ]
        self.textures = [[self._texture(frame, n, unit) for unit in range(config.texture.units)] for n in shaders]
        self.memory = MemoryController(
            "MemoryController",
            ControllerSpec(memory, tuple(self.clients)),
            self._counts("MC"),
        )

        if frame.before is not None:
            self._begin(frame, frame.before)

    def _begin(self, frame: FramePlan, before: Contents) -> None:
        """Put what draws by function alone have left where the boxes find it; caches stay empty."""
        for rop, (depth, color) in enumerate(zip(self.depth, self.color, strict=True)):
            depth.state.cache.begin(frame.clear_depth, before.of(rop, before.depth))
            color.state.cache.begin(frame.clear_color, before.of(rop, before.color))
        self.hz.state.buffer.update(before.maxima)

    @property
    def counts(self) -> dict[str, Counts]:
        """What each box has counted up to now, by its suffix."""
        found: dict[str, Counts] = {
            "StF": self.fetch.state.counts,
            "StOC": self.cache.state.counts,
            "SL0": self.loader.state.counts,
            "StC": self.commit.state.counts,
            "PA": self.assembly.state.counts,
            "CLP": self.clipper.state.counts,
            "TS": self.setup.state.counts,
            "TT": self.traversal.state.counts,
            "HZ": self.hz.state.counts,
            "FFU": self.fifo.state.counts,
            "MC": self.memory.state.counts,
            "DAC": self.display.state.counts,
        }
        for rop, (depth, color) in enumerate(zip(self.depth, self.color, strict=True)):
            found[f"ZST-SU{rop}"] = depth.state.counts
            found[f"CW-SU{rop}"] = color.state.counts
        for number, (shader, units) in enumerate(zip(self.shaders, self.textures, strict=True)):
            found[f"ShF-FS{number}"] = shader.state.counts
            found[f"ShDX-FS{number}"] = shader.state.executed
            found |= {f"TU-FS{number}TU{unit}": each.state.counts for unit, each in enumerate(units)}
        return found

    def _counts(self, box: str) -> Counts:
        return counts_of(box, self.config.memory.channels)

    def _client(self, name: str, kind: str, width: int) -> int:
        self.clients.append(Client(len(self.clients), name, kind, width))
        return len(self.clients) - 1

    def _depth(self, frame: FramePlan, rop: int) -> DepthUnit:
        config, width = self.config.depth, self.config.memory.depth_bus
        client = self._client(f"SU{rop}::ZStencilTest", "ZStencilTest", width)
        cache = RopCacheSpec(
            config,
            client,
            width,
            frame.depth_address,
            1 + config.extra_read_port,
            1 + config.extra_write_port,
            DEPTH_LEVELS,
        )
        spec = RopSpec(
            config,
            cache,
            rop,
            self.config.gpu.rops,
            frame.draws,
            frame.blocks,
            frame.clear_depth,
            self.config.hz.enabled,
        )
        return DepthUnit(f"SU{rop}::ZStencilTest", spec, self._counts("ZST"))

    def _color(self, frame: FramePlan, rop: int) -> ColorUnit:
        config, width = self.config.color, self.config.memory.color_bus
        client = self._client(f"SU{rop}::ColorWrite", "ColorWrite", width)
        cache = RopCacheSpec(
            config,
            client,
            width,
            frame.color_address,
            1 + config.extra_read_port,
            1 + config.extra_write_port,
            COLOR_LEVELS,
        )
        spec = RopSpec(config, cache, rop, self.config.gpu.rops, frame.draws, frame.blocks, frame.clear_color)
        return ColorUnit(f"SU{rop}::ColorWrite", spec, self._counts("CW"))

    def _texture(self, frame: FramePlan, shader: int, unit: int) -> TexturePipeline:
        width = self.config.memory.texture_bus
        name = f"FS{shader}TU{unit}"
        client = self._client(f"{name}::Texture", "TextureUnit", width)
        spec = TexturePipelineSpec(self.config.texture, frame.draws, client, width)
        return TexturePipeline(f"{name}::TextureUnit", spec, self._counts("TU"))


_QUADS = 4
"""Fragments of a quad."""
_ATTRIBUTES = 16
"""The most inputs that a fragment program has."""


def netlist(boxes: Boxes) -> Netlist:
    """Return the boxes with every wire between them."""
    net = Netlist("attila")
    parts: list[AnyBox] = [boxes.processor, boxes.fetch, boxes.cache, boxes.loader, boxes.commit, boxes.assembly]
    parts += [boxes.clipper, boxes.setup, boxes.traversal, boxes.hz, boxes.interpolator, boxes.fifo]
    parts += [*boxes.depth, *boxes.color, *boxes.shaders, *(unit for units in boxes.textures for unit in units)]
    parts += [boxes.display, boxes.memory]
    for box in parts:
        net.add(box)
    _commands(net, boxes)
    _vertices(net, boxes)
    _raster(net, boxes)
    _pixels(net, boxes)
    _shaders(net, boxes)
    _memory(net, boxes)
    return net


def _commands(net: Netlist, boxes: Boxes) -> None:
    """Lay the wires by which the command processor starts boxes and hears of their ends."""
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
        net.connect(name, (processor, f"{port}_command"), (part, "command"), latency=start)
        net.connect(f"{name}State", (part, "ended"), (processor, f"{port}_ended"), latency=end)
    net.connect("DACState", (boxes.display, "ended"), (processor, "display_ended"), latency=1)
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
    transmission = -(-16 // config.streamer.attributes_sent)
    net.connect(
        "PrimitiveAssemblyInput",
        (commit, "vertices"),
        (assembly, "vertices"),
        latency=config.assembly.bus_latency + transmission,
        bandwidth=config.streamer.vertices,
    )
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
    wide = {"bandwidth": _QUADS * config.gpu.rops}
    net.connect("InterpolatorInput", (fifo, "interpolation"), (interpolator, "quads"), unit="fragments", **wide)
    net.connect(
        "Interpolation",
        (interpolator, "interpolation"),
        (interpolator, "interpolated"),
        latency=config.fifo.interpolation_latency + -(-_ATTRIBUTES // config.fifo.interpolators),
        unit="fragments",
        **wide,
    )
    net.connect("InterpolatorOutput", (interpolator, "output"), (fifo, "interpolated"), unit="fragments", **wide)
    for rop, (depth, color) in enumerate(zip(boxes.depth, boxes.color, strict=True)):
        unit = f"SU{rop}::"
        for name, source, port, sink, to in (
            ("ZStencilInput", fifo, f"depth{rop}", depth, "quads"),
            ("ZStencilOutput", depth, "tested", fifo, f"tested{rop}"),
            ("ColorWriteInput", fifo, f"color{rop}", color, "quads"),
        ):
            net.connect(f"{unit}{name}", (source, port), (sink, to), bandwidth=_QUADS, unit="fragments")
        net.connect_level(f"{unit}ZStencilState", (depth, "ready"), (fifo, f"depth_ready{rop}"), True)
        net.connect_level(f"{unit}FFIFOZStencilState", (fifo, f"consumer{rop}"), (depth, "consumer"), True)
        net.connect_level(f"{unit}ColorWriteFFIFOState", (color, "ready"), (fifo, f"color_ready{rop}"), True)
        latency = config.depth.alu_latency
        net.connect(f"{unit}ZStencilTest", (depth, "alu_start"), (depth, "alu_end"), latency=latency)
        latency = config.color.alu_latency
        net.connect(f"{unit}ColorWriteBlend", (color, "alu_start"), (color, "alu_end"), latency=latency)
        net.connect(f"{unit}ColorBlockState", (color, "states"), (boxes.display, f"states{rop}"))


def _shaders(net: Netlist, boxes: Boxes) -> None:
    """Lay the wires of the shaders and their texture units."""
    config, fifo = boxes.config, boxes.fifo
    shading, texturing = config.shader, config.texture
    for number, shader in enumerate(boxes.shaders):
        name = f"FS{number}::"
        net.connect(
            f"{name}ShaderCommand",
            (fifo, f"input{number}"),
            (shader, "groups"),
            bandwidth=shading.inputs,
            unit="inputs",
        )
        net.connect(
            f"{name}ShaderOutput",
            (shader, "output"),
            (fifo, f"output{number}"),
            bandwidth=shading.outputs,
            latency=shading.output_latency,
            unit="outputs",
        )
        net.connect_level(f"{name}ShaderState", (shader, "busy"), (fifo, f"busy{number}"), False)
        for which, unit in enumerate(boxes.textures[number]):
            to = f"FS{number}TU{which}::"
            rate = texturing.request_rate
            net.connect(f"{to}TextureRequest", (shader, f"request{which}"), (unit, "requests"), bandwidth=rate)
            net.connect(f"{to}TextureData", (unit, "results"), (shader, f"result{which}"))
            net.connect(f"{to}TextureUnitState", (unit, "tickets"), (shader, f"ticket{which}"))
            loops = 4
            net.connect(
                f"{to}TextureAddressALU",
                (unit, "address"),
                (unit, "addressed"),
                latency=texturing.address_latency + loops,
            )
            net.connect(
                f"{to}TextureFilter", (unit, "filter"), (unit, "filter_end"), latency=texturing.filter_latency + loops
            )


def _memory(net: Netlist, boxes: Boxes) -> None:
    """Lay the wires between memory and its clients, and to the modules."""
    memory = boxes.memory
    units = [unit for units in boxes.textures for unit in units]
    clients: tuple[AnyBox, ...] = (
        boxes.processor,
        boxes.fetch,
        boxes.loader,
        *boxes.depth,
        *boxes.color,
        boxes.display,
        *units,
    )
    for client in memory.spec.clients:
        box = next(box for box in clients if box.name.startswith(client.name))
        net.connect(f"{client.name}MemoryRequest", (box, "memory_request"), (memory, client.request))
        net.connect(f"{client.name}MemoryData", (memory, client.data), (box, "memory_data"), bandwidth=2)
        net.connect_level(f"{client.name}MemoryState", (memory, client.state), (box, "memory_state"), BOTH)
    latency = max(memory.spec.config.read_latency, memory.spec.config.write_latency)
    for number in range(memory.spec.config.channels):
        name = f"MemoryModule{number:02}"
        net.connect(name, (memory, f"module{number}"), (memory, f"module{number}_back"), latency=latency)
