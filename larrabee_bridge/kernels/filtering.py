"""Bilinear texture filtering in software, sixteen samples at a time: results and cycles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import THREADS, CoresRun, run_kernel, shared_out
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory

_CHANNELS = 4


class Filtered(NamedTuple):
    """Filtered samples, float32[samples, rgba] from 0 to 1, and what they took."""

    colours: NDArray[np.float32]
    timing: CoresRun

    @property
    def cycles(self) -> float:
        """Cycles of the core for each sixteen samples, its threads taking turns."""
        return self.timing.cycles * LANES / len(self.colours)


def filter_bilinear(
    texture: ArrayLike,
    coordinates: ArrayLike,
    *,
    threads: int = THREADS,
    config: CoreConfig | None = None,
) -> Filtered:
    """Filter an RGBA8 texture, uint8[height, width, 4], at coordinates (u, v) in texels, float[samples, 2].

    Sides are powers of two, samples a multiple of 16 and at most 2^20 texels away; texel (0, 0) has its centre at
    (0.5, 0.5), and the texture repeats.
    """
    texels, places = np.asarray(texture).astype(np.uint8), np.asarray(coordinates, np.float32)
    height, width, _ = texels.shape
    turns = len(places) // LANES
    shares = shared_out(turns, threads)
    threads = len(shares)
    program = shipped("filter.mc", WIDTH_LOG=width.bit_length() - 1, HEIGHT_LOG=height.bit_length() - 1)
    first = LINE_BYTES * -(-max(each.start + each.size for each in program.ranges) // LINE_BYTES)
    inputs = first + -(-texels.size // LINE_BYTES) * LINE_BYTES
    results = inputs + turns * 2 * LINE_BYTES
    memory = ByteMemory(results + turns * _CHANNELS * LINE_BYTES)
    memory.data[0, first : first + texels.size] = texels.reshape(-1)
    words = memory.data.view(np.float32)[0]
    words[inputs // 4 : results // 4] = places.reshape(turns, LANES, 2).transpose(0, 2, 1).reshape(-1)
    begin = np.array([share[0] for share in shares])
    unit = VectorUnit(program, threads, memory)
    unit.set_scalar(1, inputs + 2 * LINE_BYTES * begin)
    unit.set_scalar(2, results + _CHANNELS * LINE_BYTES * begin)
    unit.set_scalar(3, first)
    unit.set_scalar(4, np.array([len(share) for share in shares]))
    timing = run_kernel(unit, config, gathers=True)
    found = words[results // 4 :].reshape(turns, _CHANNELS, LANES).transpose(0, 2, 1)
    return Filtered(found.reshape(-1, _CHANNELS).copy(), timing)


def aligned_coordinates(blocks: int, texels_per_pixel: float = 1.0, shift: float = 0.25) -> NDArray[np.float32]:
    """Return coordinates of this many 4x4 pixel blocks in a row, as a triangle that faces the viewer has them."""
    lane = np.arange(LANES * blocks)
    x, y = lane % 4 + lane // LANES * 4, lane % LANES // 4
    return (np.stack([x, y], axis=1) * texels_per_pixel + shift).astype(np.float32)


def scattered_coordinates(blocks: int, width: int, height: int) -> NDArray[np.float32]:
    """Return coordinates anywhere in a texture, the worst that a gather can meet."""
    rng = np.random.default_rng(1)
    return (rng.random((LANES * blocks, 2)) * (width, height)).astype(np.float32)
