"""Agreement: a frame's work was made for some units and tiles; a machine with others cannot take it.

Values that are each in range may stop the machine together: a unit that never says it is ready never gets anything.
"""

from __future__ import annotations

from attila_bridge.function.layout import SCAN_TILE, TILE
from attila_bridge.function.work import AttilaWork
from attila_bridge.time.config import AttilaConfig
from pixelflow.simd.errors import Fault, InputError

__all__ = ["check_agreement"]

_SINGLE = 4
"""Clients of memory that there is one of: command processor, fetch of indices, loader of vertices, display."""


def check_agreement(work: AttilaWork, config: AttilaConfig) -> None:
    """Raise InputError where work and configuration do not fit each other."""
    quads = [draw.quads for draw in work.draws if len(draw.quads.triangle)]
    rops = 1 + max((int(each.rop.max()) for each in quads), default=0)
    shaders = 1 + max((int(each.shader.max()) for each in quads), default=0)
    tile = config.traversal.generation_tile
    pairs = (
        ("gpu.rops", config.gpu.rops, rops, config.gpu.rops >= rops),
        ("gpu.shaders", config.gpu.shaders, shaders, config.gpu.shaders >= shaders),
        ("traversal.scan_tile", config.traversal.scan_tile, SCAN_TILE, config.traversal.scan_tile == SCAN_TILE),
        ("traversal.generation_tile", tile, TILE, tile == TILE),
        ("hz.block_quads", config.hz.block_quads, TILE * TILE // 4, config.hz.block_quads == TILE * TILE // 4),
        ("hz.blocks", config.hz.blocks, work.blocks, config.hz.blocks >= work.blocks),
    )
    for key, ours, needed, fits in pairs:
        if not fits:
            raise InputError(f"{key} is {ours}; the frame was drawn for {needed}")
    clients = _SINGLE + 2 * config.gpu.rops + config.gpu.shaders * config.texture.units
    writers = 1 + 2 * config.gpu.rops
    for key, held, needed in (
        ("memory.request_queue", config.memory.request_queue, config.memory.reserve * clients),
        ("memory.write_buffers", config.memory.write_buffers, config.memory.reserve * writers),
    ):
        if held <= needed:
            raise InputError(f"{key} is {held}; memory.reserve keeps {needed} free, so that nothing would be accepted")
    _check_progress(work, config)
    together = config.traversal.at_once
    if any(len(each.batches) != -(-len(each.triangles.drawn) // together) for each in work.draws):
        recursive = config.traversal.recursive
        raise InputError(f"traversal.recursive is {recursive}; the frame was drawn for {not recursive}")


def _check_progress(work: AttilaWork, config: AttilaConfig) -> None:
    """Raise InputError where a unit would never be ready, with the value that is too small and why."""
    fifo, gpu, shader = config.fifo, config.gpu, config.shader
    quads = 32 * config.traversal.steps
    taken = max(
        (each.registers for draw in work.draws for each in (draw.vertex_program, draw.fragment_program)), default=1
    )
    steps = f"traversal.steps is {config.traversal.steps}"
    for key, held, needed, because in (
        (
            "depth.op_queue",
            config.depth.op_queue,
            config.depth.alu_latency,
            f"depth.alu_latency is {config.depth.alu_latency}",
        ),
        (
            "color.op_queue",
            config.color.op_queue,
            config.color.alu_latency,
            f"color.alu_latency is {config.color.alu_latency}",
        ),
        ("fifo.vertex_inputs", fifo.vertex_inputs, 2 * gpu.vertex_ports, f"gpu.vertex_ports is {gpu.vertex_ports}"),
        ("hz.queue", config.hz.queue, quads + 1, steps),
        ("fifo.generated", fifo.generated, quads, steps),
        (
            "shader.registers",
            shader.registers,
            2 * shader.group * taken,
            f"two groups of a program take {taken} a thread",
        ),
        ("shader.threads + shader.buffers", shader.threads + shader.buffers, 2 * shader.group, "two groups must fit"),
    ):
        if held < needed:
            raise InputError(
                Fault(f"{key} is {held}; the machine would stand still, as {because}", hint=f"at least {needed}")
            )
