"""Sweep and prune: pairs of boxes that overlap, and the cycles of the search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import THREADS, CoresRun, KernelResult, run_kernel
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import number

_FIRST = 4096
_EACH = 12
"""Boxes of a thread."""
_BOXES = 10_000


def overlaps(low: ArrayLike, high: ArrayLike, config: CoreConfig | None = None) -> tuple[NDArray[np.int64], CoresRun]:
    """Return the pairs of boxes, float[n, xyz] low and high corners, that overlap or touch, and the run.

    int64[pairs, 2], the lesser number first, in ascending order. The host sorts boxes by their low x.
    """
    lows, highs = np.asarray(low, np.float32), np.asarray(high, np.float32)
    count = len(lows)
    order = np.argsort(lows[:, 0], kind="stable")
    plane = 4 * -(-(count + 2 * LANES) // LANES) * LANES
    threads = -(-count // _EACH)
    # A box meets at most all that begin before its end.
    reach = np.searchsorted(lows[order, 0], highs[order, 0], side="right") - np.arange(count) - 1
    begin = _EACH * np.arange(threads)
    room = 4 * np.add.reduceat(reach, begin) + 4 * LINE_BYTES
    room += -room % LINE_BYTES
    first = _FIRST + 6 * plane + 2 * np.concatenate([[0], np.cumsum(room)])
    memory = ByteMemory(int(first[-1]))
    words = memory.data.view(np.uint32)[0]
    planes = words[_FIRST // 4 :][: 6 * plane // 4].view(np.float32).reshape(6, -1)
    planes[:] = np.inf
    for axis in range(3):
        planes[2 * axis, :count], planes[2 * axis + 1, :count] = lows[order, axis], highs[order, axis]
    unit = VectorUnit(shipped("physics/sweep.mc", PLANE=plane, FIRST=_FIRST), threads, memory)
    unit.set_scalar(1, 4 * begin)
    unit.set_scalar(2, 4 * np.minimum(begin + _EACH, count))
    unit.set_scalar(3, first[:-1])
    unit.set_scalar(4, first[:-1] + room - LINE_BYTES)
    run = run_kernel(unit, config)
    sizes = (unit.scalar(3) - first[:-1]) // 4
    pairs = [
        np.stack([words[at // 4 :][:size], words[(at + space) // 4 :][:size]], axis=1)
        for at, space, size in zip(first[:-1], room, sizes, strict=True)
    ]
    found = np.sort(order[np.concatenate(pairs).astype(np.int64)], axis=1)
    return found[np.lexsort((found[:, 1], found[:, 0]))], run


def _brute(low: NDArray[np.float32], high: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the pairs by comparing every box with every other one."""
    found = []
    for first in range(0, len(low), 500):
        part = slice(first, first + 500)
        meets = np.ones((len(low[part]), len(low)), bool)
        for axis in range(3):
            meets &= (low[part, None, axis] <= high[None, :, axis]) & (low[None, :, axis] <= high[part, None, axis])
        one, other = np.nonzero(meets)
        found.append(np.stack([one + first, other], axis=1))
    pairs = np.concatenate(found)
    return pairs[pairs[:, 0] < pairs[:, 1]]


def sweep_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Find the pairs of 10,000 boxes of a heap."""
    rng = np.random.default_rng(17)
    low = (rng.uniform(0, 1, (_BOXES, 3)) * (60, 20, 60)).astype(np.float32)
    high = low + rng.uniform(0.4, 1.2, (_BOXES, 3)).astype(np.float32)
    found, run = overlaps(low, high, config)
    wanted = _brute(low, high)
    differing = len({*map(tuple, found.tolist())} ^ {*map(tuple, wanted.tolist())})
    return KernelResult(
        work=f"{number(_BOXES)} boxes, {number(len(found))} pairs; the host sorts them along x, which is not counted",
        reference="every box compared with every other one",
        error=differing,
        error_of="pairs differing",
        unit="box",
        units=_BOXES,
        phases=(run,),
        limit=f"only compares, which are not flops, and loads across two lines; {len(run.pieces)} pieces of "
        f"{_EACH * THREADS} boxes",
    )
