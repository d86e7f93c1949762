"""Textures in compressed blocks (BC1), decoded and filtered in software: results and cycles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.filtering import aligned_coordinates, filter_bilinear
from larrabee_bridge.kernels.study import CoresRun, KernelResult, run_kernel, shared_out
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import number

_FIRST = 4096
_SIDE, _BLOCKS, _THREADS = 128, 3072, 768


def decoded(blocks: ArrayLike) -> NDArray[np.float64]:
    """Return the texels of blocks, uint32[rows, columns, 2]: float64[4 rows, 4 columns, rgba], 0 to 1."""
    words = np.asarray(blocks, np.uint32).astype(np.int64)
    colours = np.stack([words[..., 0] & 0xFFFF, words[..., 0] >> 16], axis=-1)
    fields = [colours >> 11, colours >> 5 & 63, colours & 31]
    rgb = np.stack([each / (63 if place == 1 else 31) for place, each in enumerate(fields)], axis=-1)
    c0, c1 = rgb[..., 0, :], rgb[..., 1, :]
    four = np.stack([c0, c1, (2 * c0 + c1) / 3, (c0 + 2 * c1) / 3], axis=-2)
    three = np.stack([c0, c1, (c0 + c1) / 2, np.zeros_like(c0)], axis=-2)
    opaque = colours[..., 0] > colours[..., 1]
    palette = np.where(opaque[..., None, None], four, three)
    alpha = np.where(opaque[..., None] | (np.arange(4) < 3), 1.0, 0.0)
    codes = words[..., 1, None] >> 2 * np.arange(16) & 3
    texels = np.take_along_axis(np.concatenate([palette, alpha[..., None]], axis=-1), codes[..., None], axis=-2)
    rows, columns = words.shape[:2]
    return texels.reshape(rows, columns, 4, 4, 4).transpose(0, 2, 1, 3, 4).reshape(4 * rows, 4 * columns, 4)


def filter_compressed(
    blocks: ArrayLike, coordinates: ArrayLike, *, threads: int = _THREADS, config: CoreConfig | None = None
) -> tuple[NDArray[np.float32], CoresRun]:
    """Filter a texture of blocks at coordinates (u, v) in texels; return float32[samples, rgba] and the run.

    ``blocks`` is uint32[rows, columns, 2], both powers of two; samples are a multiple of 16, at most 2^20 texels away;
    the texture repeats.
    """
    words, places = np.asarray(blocks), np.asarray(coordinates, np.float32)
    height, width = (4 * side for side in words.shape[:2])
    turns = len(places) // LANES
    shares = shared_out(turns, threads)
    inputs = _FIRST + -(-4 * words.size // LINE_BYTES) * LINE_BYTES
    results = inputs + turns * 2 * LINE_BYTES
    memory = ByteMemory(results + turns * 4 * LINE_BYTES)
    floats = memory.data.view(np.float32)[0]
    memory.data.view(np.uint32)[0, _FIRST // 4 :][: words.size] = words.astype(np.uint32).reshape(-1)
    floats[inputs // 4 : results // 4] = places.reshape(turns, LANES, 2).transpose(0, 2, 1).reshape(-1)
    begin = np.array([share[0] for share in shares])
    program = shipped("compressed.mc", WIDTH_LOG=width.bit_length() - 1, HEIGHT_LOG=height.bit_length() - 1)
    unit = VectorUnit(program, len(shares), memory)
    unit.set_scalar(1, inputs + 2 * LINE_BYTES * begin)
    unit.set_scalar(2, results + 4 * LINE_BYTES * begin)
    unit.set_scalar(3, _FIRST)
    unit.set_scalar(4, np.array([len(share) for share in shares]))
    run = run_kernel(unit, config)
    found = floats[results // 4 :].reshape(turns, 4, LANES).transpose(0, 2, 1)
    return found.reshape(-1, 4).copy(), run


def bilinear(texels: NDArray[np.float64], coordinates: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return samples of a texture that repeats, in float64: float64[samples, channels]."""
    height, width = texels.shape[:2]
    x, y = coordinates.astype(np.float64).T - 0.5
    i, j = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    right, down = (x - i)[:, None], (y - j)[:, None]
    upper, lower = (
        texels[(j + row) % height, i % width] * (1 - right) + texels[(j + row) % height, (i + 1) % width] * right
        for row in (0, 1)
    )
    return upper * (1 - down) + lower * down


def compressed_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Filter 49,152 samples of a texture of 128 x 128 texels, side by side as a triangle that faces the viewer has."""
    blocks = np.random.default_rng(35).integers(0, 1 << 32, (_SIDE // 4, _SIDE // 4, 2), dtype=np.uint32)
    places = aligned_coordinates(_BLOCKS)
    found, run = filter_compressed(blocks, places, config=config)
    texels = decoded(blocks)
    plain = filter_bilinear(np.rint(texels * 255), aligned_coordinates(64), config=config).cycles
    each = run.cycles * LANES / len(found)
    return KernelResult(
        work=f"{number(len(found))} bilinear samples of {_SIDE} x {_SIDE} texels in BC1",
        reference="blocks decoded and filtered in float64",
        error=float(np.abs(found - bilinear(texels, places)).max()),
        error_of="of 1",
        unit="sixteen samples",
        units=len(found) // LANES,
        phases=(run,),
        limit=f"four texels are decoded for each sample: {each / plain:.2f} times the cycles of texels that are not "
        f"compressed ({plain:.0f}); a texture unit that filters 1 to 4 samples a cycle takes 16 to 4: "
        f"{each / 16:.1f} to {each / 4:.1f} times less (no rate is printed)",
    )
