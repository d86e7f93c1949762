"""Agreement: a frame's work was made for some units and tiles; a machine with others cannot take it."""

from __future__ import annotations

from attila_bridge.function.layout import SCAN_TILE, TILE
from attila_bridge.function.work import AttilaWork
from attila_bridge.time.config import AttilaConfig
from pixelflow.simd.errors import InputError

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
    together = config.traversal.at_once
    if any(len(each.batches) != -(-len(each.triangles.drawn) // together) for each in work.draws):
        recursive = config.traversal.recursive
        raise InputError(f"traversal.recursive is {recursive}; the frame was drawn for {not recursive}")
