"""Particles with neighbours: densities of smoothed particle hydrodynamics, and what they took."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import KernelResult
from larrabee_bridge.kernels.timing import CoresRun, carry_out
from larrabee_bridge.vpu.core import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.unit.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.wide.bytememory import ByteMemory
from pixelflow.simd.report import number

__all__ = ["densities_of", "particles_study"]

_FIRST = 4096
_EACH = 16
"""Particles of a thread."""
_PARTICLES = 12_288
_FARTHEST = 1000.0


def _runs(cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the order of particles by cell, nine runs of numbers for each cell, and the cell of each in that order."""
    size = cells.max(0) + 3
    key = ((cells[:, 2] + 1) * size[1] + cells[:, 1] + 1) * size[0] + cells[:, 0] + 1
    order = np.argsort(key, kind="stable")
    held = key[order]
    keys, cell = np.unique(held, return_inverse=True)
    around = (np.arange(-1, 2)[:, None] * size[1] + np.arange(-1, 2)).reshape(-1) * size[0]
    middle = keys[:, None] + around
    runs = np.stack([np.searchsorted(held, middle - 1), np.searchsorted(held, middle + 2)], axis=-1)
    return order, runs, cell


def densities_of(
    points: ArrayLike, config: CoreConfig | None = None
) -> tuple[NDArray[np.float32], NDArray[np.int64], CoresRun]:
    """Return the density at each point, the sum of (1 - d^2)^3 over all within 1, itself too, how many, what it took.

    ``points`` is float[n, xyz], from 0 to 1,000. The host sorts them by cells. Raises InputError for anything else.
    """
    given = np.asarray(points, np.float32)
    if given.ndim != 2 or given.shape[1] != 3 or not len(given):
        raise InputError(Fault(f"points of shape {given.shape}", hint="n x 3"))
    if not ((given >= 0) & (given <= _FARTHEST)).all():
        raise InputError(Fault("a coordinate that is no number or out of range", hint=f"0 to {_FARTHEST:g}"))
    count = len(given)
    order, runs, cell = _runs(np.floor(given).astype(np.int64))
    plane = 4 * -(-(count + 2 * LANES) // LANES) * LANES
    cells = _FIRST + 5 * plane
    table = cells + plane
    memory = ByteMemory(table + -(-runs.size * 4 // LINE_BYTES) * LINE_BYTES)
    words = memory.data.view(np.uint32)[0]
    planes = words[_FIRST // 4 : cells // 4].view(np.float32).reshape(5, -1)
    planes[:3, :count] = given[order].T
    words[cells // 4 :][:count] = table + 72 * cell
    words[table // 4 :][: runs.size] = 4 * runs.reshape(-1)
    begin = np.arange(0, count, _EACH)
    unit = VectorUnit(shipped("physics/density.mc", PLANE=plane, FIRST=_FIRST, CELLS=cells), len(begin), memory)
    unit.set_scalar(1, 4 * begin)
    unit.set_scalar(2, 4 * np.minimum(begin + _EACH, count))
    run = carry_out(unit, config)
    found = np.empty((2, count), np.float32)
    found[:, order] = planes[3:, :count]
    return found[0], found[1].astype(np.int64), run


def _brute(points: NDArray[np.float32]) -> NDArray[np.float64]:
    exact = points.astype(np.float64)
    sums = np.empty(len(exact))
    for first in range(0, len(exact), 256):
        part = exact[first : first + 256]
        square = sum((part[:, None, axis] - exact[None, :, axis]) ** 2 for axis in range(3))
        sums[first : first + 256] = (np.maximum(1 - square, 0) ** 3).sum(1)
    return sums


def particles_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Find the densities of 12,288 particles of a dam of water."""
    points = (np.random.default_rng(12).uniform(0, 1, (_PARTICLES, 3)) * (8, 6, 8)).astype(np.float32)
    density, near, run = densities_of(points, config)
    wanted = _brute(points)
    return KernelResult(
        work=f"{number(_PARTICLES)} particles, {near.mean():.0f} neighbours each; the host sorts them by cells, which "
        "is not counted; densities alone, no forces",
        reference="every particle with every other one in float64",
        error=float(np.abs(density - wanted).max() / wanted.max()),
        error_of="of the largest density",
        unit="particle",
        units=_PARTICLES,
        phases=(run,),
        limit="cells are cubes and neighbours a ball: at most 4.19 of 27 looked at are near; runs end within sixteen; "
        f"loads lie across two lines; {len(run.pieces)} pieces",
    )
