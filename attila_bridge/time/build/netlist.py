"""Netlist of the machine: the wires of the paper's Figure 2, under the public simulator's names."""

from __future__ import annotations

from attila_bridge.time.build.boxes import Boxes
from attila_bridge.time.memory.requests import BOTH
from pixelflow.simd.boxes import Netlist
from pixelflow.simd.boxes.netlist import AnyBox

__all__ = ["netlist"]

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
