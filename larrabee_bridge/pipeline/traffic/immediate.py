"""Immediate mode: triangles in their order, targets and textures through caches, compressed in memory (5.3)."""

from __future__ import annotations

from larrabee_bridge.pipeline.traffic.accesses import Accesses
from larrabee_bridge.pipeline.traffic.settings import LINE_BYTES, TrafficConfig
from larrabee_bridge.pipeline.traffic.sums import Traffic
from larrabee_bridge.vpu.memory.caches import LineCache

__all__ = ["immediate_traffic"]


def immediate_traffic(accesses: Accesses, config: TrafficConfig | None = None) -> Traffic:
    """Return the bytes of a frame on cleared targets; all that was written goes to memory at its end.

    A block is kept and moved as a whole, with all samples; a write of a part of it needs no read. Clearing is free.
    Texture bytes stand beside those of `binned_traffic`, not of a run.
    """
    config = config or TrafficConfig()
    block_bytes = LINE_BYTES * accesses.samples
    smaller_colour, smaller_depth = config.compression(accesses.samples)
    colour = _target(
        accesses.block.tolist(),
        accesses.colour_read.tolist(),
        accesses.colour_written.tolist(),
        LineCache(config.colour_cache // block_bytes),
        config.fast_clear,
    )
    depth = _target(
        accesses.block.tolist(),
        accesses.depth_read.tolist(),
        accesses.depth_written.tolist(),
        LineCache(config.depth_cache // block_bytes),
        config.fast_clear,
    )
    texture = LineCache(config.texture_cache // LINE_BYTES)
    for line in accesses.lines.tolist():
        texture.touch(line, reads=True, writes=False)
    return Traffic(
        read={
            "colour": colour.read * block_bytes // smaller_colour,
            "depth": depth.read * block_bytes // smaller_depth,
            "texture": texture.read * LINE_BYTES,
        },
        written={
            "colour": colour.written * block_bytes // smaller_colour,
            "depth": depth.written * block_bytes // smaller_depth,
        },
    )


def _target(blocks: list[int], reads: list[bool], writes: list[bool], cache: LineCache, fast_clear: bool) -> LineCache:
    clear = set(blocks) if fast_clear else set()
    for block, read, write in zip(blocks, reads, writes, strict=True):
        if read or write:
            cache.touch(block, reads=read and block not in clear, writes=write)
            if write:
                clear.discard(block)
    cache.flush()
    return cache
