"""Meshes of patches that one of Larrabee's cores has tessellated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from larrabee_bridge.core import CoreConfig
from larrabee_bridge.kernels.bezier import Tessellated, tessellate_on_vpu
from tessellation import Mesh, Patch, build_mesh, evaluate
from tessellation.surface.samples import measure

__all__ = ["by_degrees", "mesh_on_larrabee"]


def by_degrees(patches: Sequence[Patch]) -> list[list[int]]:
    """Return the numbers of patches in groups of one pair of degrees, which one run takes."""
    degrees = sorted({patch.degrees for patch in patches})
    return [[number for number, patch in enumerate(patches) if patch.degrees == pair] for pair in degrees]


def mesh_on_larrabee(
    patches: Sequence[Patch], samples: int, *, config: CoreConfig | None = None
) -> tuple[Mesh, tuple[Tessellated, ...]]:
    """Tessellate patches on one core and weld their samples; return the mesh, and each run: one a pair of degrees.

    Raises InputError for degrees beyond 11.
    """
    found, runs = {}, []
    for group in by_degrees(patches):
        members = [patches[number] for number in group]
        runs.append(tessellate_on_vpu(np.stack([patch.points32 for patch in members]), samples, config=config))
        reference = evaluate(np.stack([patch.points for patch in members]), samples)
        found |= zip(group, measure(members, runs[-1].points, runs[-1].normals, reference), strict=True)
    return build_mesh([found[number] for number in range(len(patches))], weld=True), tuple(runs)
