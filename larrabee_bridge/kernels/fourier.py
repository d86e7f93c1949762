"""Fourier transforms of squares of complex numbers: all columns, then all rows; results and cycles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import CoresRun, KernelResult, carry_out
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.words import ByteMemory

_FIRST = 4096
_SIDES = {64: 3, 256: 4}
"""Sides, and how many times four they are."""


def _reversed(log: int) -> NDArray[np.int64]:
    """Return the numbers 0 to 4^log - 1 with their digits to the base 4 reversed."""
    numbers, found = np.arange(4**log), np.zeros(4**log, np.int64)
    for _ in range(log):
        found, numbers = 4 * found + numbers % 4, numbers // 4
    return found


def _twiddles(log: int) -> NDArray[np.float32]:
    parts = []
    for step in range(log):
        span = 4**step
        roots = np.exp(-2j * np.pi * np.outer(np.arange(span), (1, 2, 3)) / (4 * span))
        parts.append(np.stack([roots.real, roots.imag], axis=-1).reshape(-1))
    return np.concatenate(parts).astype(np.float32)


def transform(
    values: ArrayLike, config: CoreConfig | None = None
) -> tuple[NDArray[np.complex64], tuple[CoresRun, ...]]:
    """Return the transforms of complex[squares, n, n], n 64 or 256, and what columns and rows took.

    Raises InputError for another shape.
    """
    given = np.asarray(values, np.complex64)
    count, side = given.shape[:2] if given.ndim == 3 else (0, 0)
    if given.shape != (count, side, side) or not count or side not in _SIDES:
        raise InputError(Fault(f"values of shape {given.shape}", hint="squares x 64 x 64 or squares x 256 x 256"))
    log, plane, threads = _SIDES[side], 4 * side * side * count, count * side // LANES
    tables = _twiddles(log)
    order = _FIRST + -(-4 * len(tables) // LINE_BYTES) * LINE_BYTES
    data = order + 2 * 4 * side
    own = data + 2 * plane
    memory = ByteMemory(own + threads * 2 * LINE_BYTES * side)
    words, floats = memory.data.view(np.uint32)[0], memory.data.view(np.float32)[0]
    floats[_FIRST // 4 :][: len(tables)] = tables
    for place, step in enumerate((4 * side, 4)):
        words[order // 4 + place * side :][:side] = _reversed(log) * step
    floats[data // 4 :][: given.size] = given.real.reshape(-1)
    floats[(data + plane) // 4 :][: given.size] = given.imag.reshape(-1)
    runs = []
    for place, (step, each) in enumerate(((4 * side, 4), (4, 4 * side))):
        program = shipped("dense/fourier.mc", LOG=log, OUT=step, GATHER=place, EACH=each)
        unit = VectorUnit(program, threads, memory)
        square, group = np.divmod(np.arange(threads), side // LANES)
        first = data + 4 * side * side * square + LANES * each * group
        for register, value in ((1, first), (2, first + plane), (3, _FIRST), (5, first), (6, first + plane)):
            unit.set_scalar(register, value)
        unit.set_scalar(4, order + place * 4 * side)
        unit.set_scalar(14, own + 2 * LINE_BYTES * side * np.arange(threads))
        runs.append(carry_out(unit, config))
    parts = floats[data // 4 :][: 2 * given.size].reshape(2, *given.shape)
    return (parts[0] + 1j * parts[1]).astype(np.complex64), tuple(runs)


def fourier_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Transform twelve squares of 256 x 256 complex numbers."""
    count, side = 12, 256
    rng = np.random.default_rng(4)
    values = (rng.uniform(-1, 1, (count, side, side)) + 1j * rng.uniform(-1, 1, (count, side, side))).astype(
        np.complex64
    )
    found, phases = transform(values, config)
    exact = np.fft.fft2(values.astype(np.complex128))
    columns, rows = (each.cycles for each in phases)
    return KernelResult(
        work=f"{count} squares of {side} x {side} complex numbers, radix 4, columns then rows",
        reference="numpy's transform in float64",
        error=float(np.abs(found - exact).max() / np.sqrt((np.abs(exact) ** 2).mean())),
        error_of="of the root of the mean square",
        unit="point",
        units=count * side * side,
        phases=phases,
        limit=f"rows are gathered and scattered a line a lane: {rows / columns:.2f} times the cycles of columns; each "
        f"butterfly loads and stores all it works on, no sum is fused; {len(phases[0].pieces)} pieces a phase",
    )
