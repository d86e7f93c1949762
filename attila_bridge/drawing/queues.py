"""Queues of every box: what lies in them at a cycle, and how much there is room for."""

from __future__ import annotations

from collections.abc import Iterator

from attila_bridge.time.build.boxes import Boxes
from attila_bridge.time.rops.unit import RopUnit
from attila_bridge.time.shading.shader import UnifiedShader
from attila_bridge.time.shading.texture_unit import TexturePipeline
from pixelflow.simd.dashboard.state import QueueFill

__all__ = ["fills"]

Fills = Iterator[tuple[str, tuple[QueueFill, ...]]]
"""Boxes by their names in the netlist, with their queues."""


def fills(boxes: Boxes) -> Fills:
    """Yield each box in the order of the pipeline, and what lies in its queues."""
    yield boxes.processor.name, ()
    yield from _streamer(boxes)
    yield from _raster(boxes)
    yield boxes.fifo.name, _fifo(boxes)
    yield boxes.interpolator.name, ()
    for shader, units in zip(boxes.shaders, boxes.textures, strict=True):
        yield shader.name, _shader(shader)
        for unit in units:
            yield unit.name, _texture(unit)
    for depth, color in zip(boxes.depth, boxes.color, strict=True):
        yield depth.name, _rop(depth)
        yield color.name, _rop(color)
    yield boxes.memory.name, _memory(boxes)
    yield boxes.display.name, (QueueFill("blocks", len(boxes.display.state.held), boxes.config.display.queue),)


def _streamer(boxes: Boxes) -> Fills:
    """Yield fetch, cache of shaded vertices, loader, commit and assembly, Clipper."""
    config, fetch, assembly = boxes.config, boxes.fetch.state, boxes.assembly.state
    streamer = config.streamer
    begun = fetch.draw >= 0
    yield (
        boxes.fetch.name,
        (
            QueueFill("out", begun * (streamer.output_queue - fetch.free_entries), streamer.output_queue),
            QueueFill("mem", begun * (streamer.output_memory - fetch.free_lines), streamer.output_memory),
            QueueFill("req", begun * (streamer.request_queue - fetch.free_requests), streamer.request_queue),
        ),
    )
    yield boxes.cache.name, (QueueFill("lines", len(boxes.cache.state.line_of), streamer.output_memory),)
    loader = boxes.loader.state
    vertices = len(loader.fetching) + len(loader.reading) + len(loader.loaded)
    yield boxes.loader.name, (QueueFill("vertices", vertices, streamer.request_queue),)
    yield boxes.commit.name, (QueueFill("vertices", len(boxes.commit.state.entries), streamer.output_queue),)
    held = assembly.received - assembly.freed if assembly.drawing else 0
    yield boxes.assembly.name, (QueueFill("vertices", held, config.assembly.queue),)
    yield boxes.clipper.name, (QueueFill("triangles", len(boxes.clipper.state.clipped), config.clipper.buffer),)


def _raster(boxes: Boxes) -> Fills:
    """Yield set-up, traversal and hierarchical Z."""
    config, traversal, hz = boxes.config, boxes.traversal.state, boxes.hz.state
    yield boxes.setup.name, (QueueFill("triangles", len(boxes.setup.state.done), config.setup.fifo),)
    scans = traversal.known - traversal.scan if traversal.batch >= 0 else 0
    yield (
        boxes.traversal.name,
        (
            QueueFill("triangles", len(traversal.queue), config.traversal.queue),
            QueueFill("tiles", scans, config.traversal.scan_queue),
        ),
    )
    quads = len(hz.found) + len(hz.looked) + len(hz.sending)
    yield boxes.hz.name, (QueueFill("quads", quads, config.hz.queue),)


def _fifo(boxes: Boxes) -> tuple[QueueFill, ...]:
    """Return the queues of each ROP, of vertices and before each shader."""
    state, config = boxes.fifo.state, boxes.config.fifo
    found = []
    for rop, queues in enumerate(state.rops):
        found += [
            QueueFill(f"gen{rop}", len(queues.generated), config.generated),
            QueueFill(f"test{rop}", len(queues.tested), config.tested),
            QueueFill(f"int{rop}", len(queues.interpolated), config.interpolated),
            QueueFill(f"shad{rop}", len(queues.shaded), config.shaded),
        ]
    group = boxes.config.shader.group
    found += [
        QueueFill(f"to{number}", group * len(each), config.shader_inputs) for number, each in enumerate(state.waiting)
    ]
    found.append(QueueFill("vin", len(state.vertices), config.vertex_inputs))
    found.append(QueueFill("vout", state.vertices_shading, config.vertex_outputs))
    return tuple(found)


def _shader(shader: UnifiedShader) -> tuple[QueueFill, ...]:
    state, config = shader.state, shader.spec.config
    threads = config.group * (len(state.slots) - len(state.free))
    return (
        QueueFill("threads", threads, config.threads + config.buffers),
        QueueFill("regs", config.registers - state.free_registers, config.registers),
    )


def _texture(unit: TexturePipeline) -> tuple[QueueFill, ...]:
    state, config = unit.state, unit.spec.config
    return (
        QueueFill("req", len(state.requests), config.request_queue),
        QueueFill("acc", len(state.accesses), config.access_queue),
        QueueFill("wait", len(state.waiting), config.wait_window),
        QueueFill("res", len(state.results), config.result_queue),
    )


def _rop(unit: RopUnit) -> tuple[QueueFill, ...]:
    state, config = unit.state, unit.spec.config
    return (
        QueueFill("in", len(state.input), config.input_queue),
        QueueFill("fetch", len(state.fetched), config.fetch_queue),
        QueueFill("read", len(state.read), config.read_queue),
        QueueFill("op", len(state.operated), config.op_queue),
        QueueFill("write", len(state.written), config.write_queue),
    )


def _memory(boxes: Boxes) -> tuple[QueueFill, ...]:
    state, config = boxes.memory.state, boxes.config.memory
    return (
        QueueFill("req", config.request_queue - state.free_requests, config.request_queue),
        QueueFill("serve", len(state.services), config.service_queue),
        QueueFill("rbuf", config.read_buffers - state.free_reads, config.read_buffers),
        QueueFill("wbuf", config.write_buffers - state.free_writes, config.write_buffers),
    )
