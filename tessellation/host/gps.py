"""Tessellation on the GPs: of patches that find no room on the array (thesis 4.1), at the rate of chapter 1.

A GP is no part of the simulated machine here: its samples are those of 64-bit floats, rounded once, and its time is a
*formula*, the operations of section 5 at 240 million a second, the peak of chapter 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pixelflow.config import NodeConfig
from tessellation.plan.schedule import surface_order
from tessellation.surface.patch import Patch
from tessellation.surface.reference import evaluate
from tessellation.surface.samples import PatchSamples, mark_outside, measure
from tessellation.surface.trims.polygon import DEFAULT_TOLERANCE

__all__ = ["GP_FLOPS", "cycles_of_gps", "gp_cycles", "operations", "sampled_by_gps"]

GP_FLOPS = 240e6
"""Operations of one GP in a second, at its peak (thesis, chapter 1)."""

_NORMAL = 9 + 5 + 1 + 3
"""Multiplications, additions, root and divisions of a unit normal (4.1.3)."""


def operations(rows: int, columns: int) -> int:
    """Return the float operations of a sample with its normal, as the thesis counts them: 282 for a bicubic patch."""
    sums = ((each.rows, each.columns) for each in surface_order(rows, columns))
    return sum(m * n + n + n * (m - 1) + n - 1 for m, n in sums) + _NORMAL


def gp_cycles(patches: Sequence[Patch], marked: Mapping[int, int], config: NodeConfig) -> int:
    """Return, by formula, the node's cycles in which its GPs tessellate patches by number, shared alike."""
    total = sum(k * k * operations(*patches[number].counts) for number, k in marked.items())
    return math.ceil(cycles_of_gps(total, config))


def cycles_of_gps(operations: int, config: NodeConfig) -> float:
    """Return, by formula, the node's cycles in which its GPs do so many float operations, shared alike."""
    return operations / (GP_FLOPS * config.gni.gp_count) * config.clock_mhz * 1e6


def sampled_by_gps(
    patches: Sequence[Patch], marked: Mapping[int, int], *, single: bool = True, share: float = DEFAULT_TOLERANCE
) -> dict[int, PatchSamples]:
    """Return the samples of patches by number; ``single`` says whether control points are binary32.

    ``share`` is the tolerance of trims.
    """
    found = {}
    for number, k in marked.items():
        patch = patches[number]
        exact = evaluate(patch.points[None], k, single=single)
        normals = np.nan_to_num(exact.normals).astype(np.float32)
        normals[0] = mark_outside(patch, normals[0], share)
        (found[number],) = measure([patch], exact.points.astype(np.float32), normals, exact, share)
    return found
