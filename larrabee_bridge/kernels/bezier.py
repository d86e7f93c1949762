"""Bezier patches on the vector unit: points and unit normals in float32, sixteen samples at a time, and cycles."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import THREADS, CoresRun, run_kernel, shared_out
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.lanes.words import ByteMemory

LARGEST_DEGREE = 11
_WORDS = LINE_BYTES // 4
_RESULTS = 1 << 16
"""Start of the threads' memory, past what the assembler places."""


class Tessellated(NamedTuple):
    """Samples [patch, i, j, xyz] in float32, u = i/(k-1) and v = j/(k-1), and the run.

    The normal is dP/du x dP/dv, of unit length; it is zero where that product is, and wrong where the square of its
    length leaves binary32.
    """

    points: NDArray[np.float32]
    normals: NDArray[np.float32] | None
    timing: CoresRun

    @property
    def patches(self) -> int:
        """Number of patches."""
        return len(self.points)


def bernstein(degree: int, parameters: ArrayLike) -> NDArray[np.float64]:
    """Return B_0 .. B_degree of each parameter, [degree + 1, parameters], in float64."""
    t = np.asarray(parameters, np.float64)
    return np.stack([comb(degree, k) * t**k * (1 - t) ** (degree - k) for k in range(degree + 1)])


def tessellate_on_vpu(
    patches: ArrayLike,
    samples: int,
    *,
    normals: bool = True,
    threads: int = THREADS,
    config: CoreConfig | None = None,
    engine: str = AUTO,
) -> Tessellated:
    """Evaluate control nets [patch, m+1, n+1, xyz] at ``samples`` x ``samples`` parameters on the threads of a core.

    Threads get equal shares of the patches, the first ones one more where that does not divide evenly. Raises
    InputError for degrees beyond 11.
    """
    nets = np.asarray(patches, np.float32)
    _check(nets)
    count, m, n = len(nets), nets.shape[1] - 1, nets.shape[2] - 1
    groups = -(-(samples**2) // LANES)
    parts = shared_out(count, threads)
    threads = len(parts)
    program = shipped("bezier.mc", M=m, N=n, GROUPS=groups, NORMALS=int(normals))

    weights = _weights(m, n, samples, groups)
    lines = -(-((m + 1) * (n + 1)) // _WORDS)
    net_words, result_words = 3 * lines * _WORDS, groups * 3 * (1 + normals) * _WORDS
    # Each thread: nets, a line past them that the last packed load reaches into, differences, results.
    most = len(parts[0])
    room = most * net_words + _WORDS * lines + 2 * net_words + most * result_words
    start = _RESULTS // 4
    memory = ByteMemory(4 * (start + weights.size + threads * room))
    words = memory.data.view(np.float32).reshape(-1)
    words[start : start + weights.size] = weights.reshape(-1)
    unit = VectorUnit(program, threads, memory, engine)
    origins = start + weights.size + room * np.arange(threads)
    for origin, part in zip(origins, parts, strict=True):
        words[origin : origin + len(part) * net_words] = _packed(nets[part], lines).reshape(-1)
    differences = origins + most * net_words + _WORDS * lines
    results = differences + 2 * net_words
    unit.set_scalar(1, 4 * origins)
    unit.set_scalar(2, 4 * results)
    unit.set_scalar(3, 4 * start)
    unit.set_scalar(4, np.array([len(part) for part in parts]))
    unit.set_scalar(5, 4 * differences)
    timing = run_kernel(unit, config)

    found = [words[at : at + len(part) * result_words] for at, part in zip(results, parts, strict=True)]
    lanes = np.concatenate(found).reshape(count, groups, 1 + normals, 3, LANES)
    # [what, patch, group, lane, xyz]
    by_sample = lanes.transpose(2, 0, 1, 4, 3).reshape(1 + normals, count, groups * LANES, 3)[:, :, : samples**2]
    shaped = by_sample.reshape(1 + normals, count, samples, samples, 3).copy()
    return Tessellated(shaped[0], shaped[1] if normals else None, timing)


def _check(nets: NDArray[np.float32]) -> None:
    degrees = (nets.shape[1] - 1, nets.shape[2] - 1)
    if not all(1 <= degree <= LARGEST_DEGREE for degree in degrees):
        raise InputError(Fault(f"degrees {degrees[0]} and {degrees[1]}", hint=f"1 to {LARGEST_DEGREE}"))


def _weights(m: int, n: int, samples: int, groups: int) -> NDArray[np.float32]:
    """Return the weights of each sixteen samples as the program reads them; lanes left over repeat the last sample."""
    number = np.minimum(np.arange(groups * LANES), samples**2 - 1)
    u, v = (at / (samples - 1) for at in np.divmod(number, samples))
    rows = [bernstein(degree, at) for degree, at in ((m, u), (n, v), (m - 1, u), (n - 1, v))]
    return np.concatenate(rows).astype(np.float32).reshape(-1, groups, LANES).transpose(1, 0, 2).copy()


def _packed(nets: NDArray[np.float32], lines: int) -> NDArray[np.float32]:
    """Return nets as the program reads them: [patch, xyz, words], filled up to whole lines."""
    flat = nets.transpose(0, 3, 1, 2).reshape(len(nets), 3, -1)
    return np.pad(flat, ((0, 0), (0, 0), (0, lines * _WORDS - flat.shape[2])))
