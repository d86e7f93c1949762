"""Two-dimensional filters: five by five weights, and the median of three by three; results and cycles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import CoresRun, KernelResult, carry_out
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.words import ByteMemory

_FIRST = 4096
_BORDER = 2
_WIDTH = 5
_ROWS = 32
"""Rows of a strip of sixteen pixels, which is a thread's."""
_SIZE = 768


def filter_linear(
    picture: ArrayLike, weights: ArrayLike, config: CoreConfig | None = None
) -> tuple[NDArray[np.float32], CoresRun]:
    """Return a picture, float[rows, columns], correlated with 5 x 5 weights, and what it took; edges are repeated.

    Raises InputError for a picture whose columns are no multiple of 16 or whose rows none of 32, or other weights.
    """
    held = np.asarray(weights, np.float32)
    if held.shape != (_WIDTH, _WIDTH):
        raise InputError(Fault(f"weights of shape {held.shape}", hint="5 x 5"))
    return _filtered(picture, held, config)


def filter_median(picture: ArrayLike, config: CoreConfig | None = None) -> tuple[NDArray[np.float32], CoresRun]:
    """Return the medians of 3 x 3 pixels of a picture, and what it took; as `filter_linear`."""
    return _filtered(picture, None, config)


def _filtered(
    picture: ArrayLike, weights: NDArray[np.float32] | None, config: CoreConfig | None
) -> tuple[NDArray[np.float32], CoresRun]:
    given = np.asarray(picture, np.float32)
    if given.ndim != 2 or not given.size or given.shape[0] % _ROWS or given.shape[1] % LANES:
        raise InputError(Fault(f"a picture of shape {given.shape}", hint=f"rows times {_ROWS}, columns times {LANES}"))
    rows, columns = given.shape
    wide = np.pad(given, ((_BORDER, _BORDER), (LANES, LANES)), mode="edge")
    stride, out = 4 * wide.shape[1], 4 * columns
    results = _FIRST + -(-4 * wide.size // LINE_BYTES) * LINE_BYTES
    memory = ByteMemory(results + 4 * given.size)
    words = memory.data.view(np.float32)[0]
    words[_FIRST // 4 :][: wide.size] = wide.reshape(-1)
    program = shipped("dense/filters.mc", STRIDE=stride, OUT=out, MEDIAN=int(weights is None))
    top, left = (each.reshape(-1) for each in np.mgrid[0:rows:_ROWS, 0:columns:LANES])
    unit = VectorUnit(program, len(top), memory)
    if weights is not None:
        words[program.ranges[0].start // 4 :][: weights.size] = weights.reshape(-1)
    unit.set_scalar(1, _FIRST + (top + _BORDER) * stride + 4 * (left + LANES))
    unit.set_scalar(2, results + top * out + 4 * left)
    unit.set_scalar(3, _ROWS // 4)
    run = carry_out(unit, config)
    return words[results // 4 :].reshape(rows, columns).copy(), run


def _picture() -> NDArray[np.float32]:
    return np.random.default_rng(6).uniform(0, 255, (_SIZE, _SIZE)).astype(np.float32)


def _windows(picture: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    return sliding_window_view(np.pad(picture, width // 2, mode="edge"), (width, width))


def linear_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Filter 768 x 768 pixels by 5 x 5 weights."""
    picture = _picture()
    weights = np.outer(*[np.array([1, 4, 6, 4, 1]) / 16] * 2).astype(np.float32)
    found, run = filter_linear(picture, weights, config)
    exact = np.einsum("abij,ij->ab", _windows(picture, _WIDTH).astype(np.float64), weights.astype(np.float64))
    fused = run.counts[VectorFamily.FUSED] / run.cycles
    return KernelResult(
        work=f"{_SIZE} x {_SIZE} pixels, 5 x 5 weights",
        reference="sums of windows in float64",
        error=float(np.abs(found - exact).max()),
        error_of="of 255",
        unit="pixel",
        units=_SIZE * _SIZE,
        phases=(run,),
        limit=f"a multiply-add in {fused:.0%} of the cycles: 40 loads serve 100 of them, and 32 of the 40 lie across "
        f"two lines; {len(run.pieces)} pieces",
    )


def median_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Filter 768 x 768 pixels by medians."""
    picture = _picture()
    found, run = filter_median(picture, config)
    exact = np.median(_windows(picture, 3), axis=(2, 3))
    return KernelResult(
        work=f"{_SIZE} x {_SIZE} pixels, median of 3 x 3",
        reference="numpy's medians",
        error=float(np.abs(found - exact).max()),
        error_of="of 255",
        unit="pixel",
        units=_SIZE * _SIZE,
        phases=(run,),
        limit="minima and maxima are counted as one flop a lane, none is fused; an exchange is three instructions; six "
        f"of nine loads lie across two lines; {len(run.pieces)} pieces",
    )
