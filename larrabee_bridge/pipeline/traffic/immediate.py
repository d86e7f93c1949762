"""Immediate mode: triangles in their order, targets and textures through caches, compressed in memory (5.3)."""

from __future__ import annotations

import numpy as np

from larrabee_bridge.pipeline.traffic.accesses import Accesses
from larrabee_bridge.pipeline.traffic.settings import LINE_BYTES, TrafficConfig
from larrabee_bridge.pipeline.traffic.sums import Traffic
from larrabee_bridge.vpu.memory.reuse import found_again, line_moves

__all__ = ["immediate_traffic"]


def immediate_traffic(accesses: Accesses, config: TrafficConfig | None = None) -> Traffic:
    """Return the bytes of a frame on cleared targets; all that was written goes to memory at its end.

    A block is kept and moved as a whole, with all samples; a write of a part of it needs no read. Clearing is free.
    Texture bytes stand beside those of `binned_traffic`, not of a run.
    """
    config = config or TrafficConfig()
    block_bytes = LINE_BYTES * accesses.samples
    smaller_colour, smaller_depth = config.compression(accesses.samples)
    colour_read, colour_written = _target(
        accesses.block, accesses.colour_read, accesses.colour_written, config.colour_cache // block_bytes, config
    )
    depth_read, depth_written = _target(
        accesses.block, accesses.depth_read, accesses.depth_written, config.depth_cache // block_bytes, config
    )
    texels = int(np.count_nonzero(~found_again(accesses.lines, config.texture_cache // LINE_BYTES)))
    return Traffic(
        read={
            "colour": colour_read * block_bytes // smaller_colour,
            "depth": depth_read * block_bytes // smaller_depth,
            "texture": texels * LINE_BYTES,
        },
        written={
            "colour": colour_written * block_bytes // smaller_colour,
            "depth": depth_written * block_bytes // smaller_depth,
        },
    )


def _target(
    blocks: np.ndarray, reads: np.ndarray, writes: np.ndarray, lines: int, config: TrafficConfig
) -> tuple[int, int]:
    """Return how many blocks of a target come from memory and go there; a cache has room for ``lines`` of them."""
    used = reads | writes
    blocks, reads, writes = blocks[used], reads[used], writes[used]
    if config.fast_clear and len(blocks):
        # Until a block is written it is known, and what is written at once is not read before.
        first = np.full(int(blocks.max()) + 1, len(blocks))
        np.minimum.at(first, blocks[writes], np.flatnonzero(writes))
        reads = reads & (np.arange(len(blocks)) > first[blocks])
    return line_moves(blocks, reads, writes, lines)
