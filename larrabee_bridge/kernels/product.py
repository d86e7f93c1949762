"""Matrix product in float32, blocks of 24 rows by sixteen columns: results and cycles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import CoresRun, KernelResult, carry_out
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.program import shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.words import ByteMemory

_ROWS = 24
_SIDE = 576


def matrix_product(
    a: ArrayLike, b: ArrayLike, config: CoreConfig | None = None, *, blocks: int = 1
) -> tuple[NDArray[np.float32], CoresRun]:
    """Return a b, float32[n, n], and what it took; a thread has ``blocks`` blocks of 24 x 16 side by side.

    Raises InputError where they are not square and of the same side, a multiple of 48, or ``blocks`` does not divide
    the blocks of a row.
    """
    left, right = np.asarray(a, np.float32), np.asarray(b, np.float32)
    side = left.shape[0] if left.ndim == 2 else 0
    if left.shape != right.shape or left.shape != (side, side) or not side or side % 48:
        raise InputError(Fault(f"matrices of shapes {left.shape} and {right.shape}", hint="n x n, n a multiple of 48"))
    if blocks < 1 or side // LANES % blocks:
        raise InputError(Fault(f"{blocks} blocks a thread of {side // LANES} in a row", hint="a divisor"))
    size = 4 * side * side
    memory = ByteMemory(3 * size)
    words = memory.data.view(np.float32)[0]
    words[: side * side], words[side * side : 2 * side * side] = left.reshape(-1), right.reshape(-1)
    rows, columns = np.meshgrid(np.arange(side // _ROWS), np.arange(side // LANES // blocks), indexing="ij")
    row, column = rows.reshape(-1) * _ROWS * 4 * side, columns.reshape(-1) * blocks * 4 * LANES
    unit = VectorUnit(shipped("dense/product.mc", N=side), len(row), memory)
    unit.set_scalar(1, row)
    unit.set_scalar(2, size + column)
    unit.set_scalar(3, 2 * size + row + column)
    unit.set_scalar(4, blocks)
    run = carry_out(unit, config)
    return words[2 * side * side :].reshape(side, side).copy(), run


def product_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Multiply matrices of 576 x 576."""
    rng = np.random.default_rng(20)
    a, b = (rng.uniform(-1, 1, (_SIDE, _SIDE)).astype(np.float32) for _ in range(2))
    found, run = matrix_product(a, b, config)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    share = run.counts[VectorFamily.FUSED] / run.cycles
    return KernelResult(
        work=f"{_SIDE} x {_SIDE}, float32",
        reference="numpy's product in float64",
        error=float(np.abs(found - exact).max()),
        error_of="of sums of 576 products",
        unit="sixteen multiply-adds",
        units=_SIDE**3 // LANES,
        phases=(run,),
        limit=f"a multiply-add in {share:.1%} of the cycles; the rest are loads of B, zeros, and what the loop's "
        f"end does not pair; {len(run.pieces)} pieces of four blocks do not divide evenly among cores",
    )
