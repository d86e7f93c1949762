"""The same patches tessellated by PixelFlow's microcode and by a program for Larrabee's vector unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from larrabee_bridge.kernels.bezier import Tessellated, tessellate_on_vpu
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.config import THESIS, NodeConfig
from pixelflow.simd.lanes import AUTO
from tessellation import Mesh, Patch, Tessellation, build_mesh, evaluate, tessellate
from tessellation.host.session import PassBegins
from tessellation.surface.patch import require_whole
from tessellation.surface.samples import PatchSamples, measure

__all__ = ["NO_TRIMS", "BezierComparison", "mesh_on_larrabee", "tessellate_on_both"]

NO_TRIMS = "trims are counted by PixelFlow's array, and the vector unit has no program for that"
"""Why trimmed patches are refused."""


@dataclass(frozen=True, slots=True, eq=False)
class BezierComparison:
    """Points and normals of the same samples by both machines, and what they took.

    PixelFlow's is one node, which reads the patches from texture memory; Larrabee's one core whose threads take turns,
    with the patches in its memory. Neither counts how patches came there, nor the transport of results.
    """

    patches: int
    samples: int
    pixelflow: Tessellation
    larrabee: tuple[Tessellated, ...]
    """One for each pair of degrees."""
    pixelflow_error: float
    """Largest distance of a coordinate from float64's, as a share of the model's extent."""
    larrabee_error: float

    @property
    def larrabee_cycles(self) -> int:
        """Cycles of one core for all patches."""
        return sum(each.timing.core for each in self.larrabee)

    @property
    def larrabee_mix(self) -> dict[str, int]:
        """Instructions by family."""
        found: dict[str, int] = {}
        for each in self.larrabee:
            for family, count in each.timing.counts.items():
                found[family.value] = found.get(family.value, 0) + count
        return found


def tessellate_on_both(
    patches: Sequence[Patch],
    samples: int,
    *,
    config: NodeConfig = THESIS,
    core: CoreConfig | None = None,
    engine: str = AUTO,
    progress: Callable[[PassBegins], None] | None = None,
) -> BezierComparison:
    """Tessellate patches at ``samples`` x ``samples`` parameters on a node and on a core.

    Raises InputError for trimmed patches.
    """
    require_whole(patches, NO_TRIMS)
    by_node = tessellate(patches, samples, engine=engine, config=config, progress=progress)
    groups = by_degrees(patches)
    by_core = tuple(
        tessellate_on_vpu(np.stack([patches[number].points32 for number in group]), samples, config=core)
        for group in groups
    )
    exact = {
        number: points
        for group in groups
        for number, points in zip(group, _exact(patches, group, samples), strict=True)
    }
    extent = float(np.ptp(np.concatenate([points.reshape(-1, 3) for points in exact.values()]), axis=0).max())
    node_error = max(float(np.abs(found.points - exact[k]).max()) for k, found in enumerate(by_node.patches))
    core_error = max(
        float(np.abs(run.points[place] - exact[number]).max())
        for run, group in zip(by_core, groups, strict=True)
        for place, number in enumerate(group)
    )
    return BezierComparison(len(patches), samples, by_node, by_core, node_error / extent, core_error / extent)


def _exact(patches: Sequence[Patch], group: list[int], samples: int) -> np.ndarray:
    """Return float64 points [patch, i, j, xyz] of control points that were rounded to binary32, as both machines do."""
    return evaluate(np.stack([patches[number].points for number in group]), samples).points


def by_degrees(patches: Sequence[Patch]) -> list[list[int]]:
    """Return the numbers of patches in groups of one pair of degrees, which one run takes."""
    degrees = sorted({patch.degrees for patch in patches})
    return [[number for number, patch in enumerate(patches) if patch.degrees == pair] for pair in degrees]


def mesh_on_larrabee(
    patches: Sequence[Patch], samples: int, *, config: CoreConfig | None = None, engine: str = AUTO
) -> tuple[Mesh, tuple[Tessellated, ...]]:
    """Tessellate patches on one core and weld their samples; return the mesh, and each run: one a pair of degrees.

    Raises InputError for degrees beyond 11, and for trimmed patches.
    """
    require_whole(patches, NO_TRIMS)
    found: dict[int, PatchSamples] = {}
    runs = []
    for group in by_degrees(patches):
        members = [patches[number] for number in group]
        nets = np.stack([patch.points32 for patch in members])
        run = tessellate_on_vpu(nets, samples, config=config, engine=engine)
        assert run.normals is not None  # unless one asks for none
        runs.append(run)
        reference = evaluate(np.stack([patch.points for patch in members]), samples)
        found |= zip(group, measure(members, run.points, run.normals, reference), strict=True)
    return build_mesh([found[number] for number in range(len(patches))], weld=True), tuple(runs)
