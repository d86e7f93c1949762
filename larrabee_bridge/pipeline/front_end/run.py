"""The front end as a whole: from vertices to triangles on the screen and bins, with what each PrimSet cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.coverage.binning import Bins
from larrabee_bridge.pipeline.front_end.inputs import FrontEndSetting, VertexMesh, checked
from larrabee_bridge.pipeline.front_end.primsets import DropReason, Found, carry_out
from larrabee_bridge.pipeline.front_end.stages import StageCost, Stages
from larrabee_bridge.vpu.core import CoreConfig, SharedCore
from larrabee_bridge.vpu.isa import VectorFamily
from pixelflow.simd.drawing import ScreenTriangles
from pixelflow.simd.lanes.choice import AUTO

__all__ = ["FrontEndResult", "run_front_end"]

_SIDE_BY_SIDE = 1 << 27
"""Bytes of memory that PrimSets which are carried out side by side may take together."""


@dataclass(frozen=True, slots=True, eq=False)
class FrontEndResult:
    """What a front end made of a mesh; triangles are those that go to the bins, in the order of drawing."""

    triangles: ScreenTriangles
    bins: Bins
    """By the box rule; less what a hierarchical depth test left out."""
    source: NDArray[np.int64]
    """Number of the mesh's triangle that each came from: several where one was cut."""
    weights: NDArray[np.float64]
    """float64[triangle, corner, 3]: the share of each corner of that triangle, for whatever else its corners have."""
    primset: NDArray[np.int64]
    """Sequence id of each triangle's PrimSet."""
    vertices: NDArray[np.int64]
    """How many vertices each PrimSet shaded."""
    distinct: int
    """How many vertices of the mesh were shaded at all; the others of ``vertices`` were shaded again."""
    costs: dict[str, StageCost]
    """By stage, of threads alone on a core: index, transform, assemble, cut where any triangle was, bin."""
    cores: dict[int, SharedCore]
    """What the core of each PrimSet did, on which its threads take turns, by sequence id."""
    dropped: dict[DropReason, int]
    cut: int
    """Triangles that were cut, because they reach where the screen's numbers end."""
    left_out: int
    """Entries that a hierarchical depth test kept out of the bins."""

    @property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles of each PrimSet on its core, all stages: int64[primset]."""
        return np.array([self.cores[number].cycles for number in range(len(self.vertices))], np.int64)

    @property
    def counts(self) -> dict[VectorFamily, int]:
        """Instructions that were carried out, by family."""
        return {family: sum(cost.counts[family] for cost in self.costs.values()) for family in VectorFamily}


def run_front_end(
    positions: NDArray[np.number],
    colours: NDArray[np.uint8],
    corners: NDArray[np.integer],
    matrix: NDArray[np.number],
    setting: FrontEndSetting,
    *,
    config: CoreConfig | None = None,
    engine: str = AUTO,
) -> FrontEndResult:
    """Shade, assemble, cull and bin a mesh on the vector unit, PrimSet after PrimSet.

    ``positions`` is float[vertex, 3], taken as float32; ``colours`` uint8[vertex, 3], or uint8[triangle, 3, 3] for each
    corner; ``corners`` int[triangle, 3]. ``matrix`` takes (x, y, z, 1) to clip space, where the view is
    -w <= x, y <= w and 0 <= z <= w; the first row of the screen is y = w. A PrimSet's
    threads take turns on its core.

    Raises InputError for meshes without triangles, corners that do not exist, numbers that are not finite or too large,
    and for settings that do not exist.
    """
    mesh = checked(positions, colours, corners, matrix, setting)
    primset = setting.primset
    count = len(mesh.corners)
    sizes = np.minimum(primset, count - np.arange(0, count, primset))
    stages = Stages(len(sizes), config, engine=engine)
    many = _side_by_side(mesh, setting)
    parts = [
        carry_out(mesh, setting, stages, number * primset, sizes[number : number + many], number)
        for number in range(0, len(sizes), many)
    ]
    return _together(mesh, setting, stages, parts)


def _side_by_side(mesh: VertexMesh, setting: FrontEndSetting) -> int:
    """Return how many PrimSets go side by side."""
    size = min(setting.primset, len(mesh.corners))
    one = 4 * len(mesh.positions) + 400 * size + setting.threads * (12 * setting.tiles + 4096)
    return max(_SIDE_BY_SIDE // one, 1)


def _together(mesh: VertexMesh, setting: FrontEndSetting, stages: Stages, parts: list[Found]) -> FrontEndResult:
    source, weights = (np.concatenate([getattr(part, name) for part in parts]) for name in ("source", "weights"))
    colours = np.rint(np.einsum("tck,tkr->tcr", weights, mesh.colours[source])).astype(np.int64)
    dropped = {reason: sum(part.dropped[reason] for part in parts) for reason in DropReason}
    triangles = ScreenTriangles(
        np.concatenate([part.corners for part in parts]),
        np.concatenate([part.depths for part in parts]),
        colours,
        dropped[DropReason.NO_AREA],
    )
    begins = np.cumsum([0] + [len(part.source) for part in parts[:-1]])
    entries = np.concatenate([part.entries + np.array([0, begin]) for part, begin in zip(parts, begins, strict=True)])
    entries = entries[np.argsort(entries[:, 0], kind="stable")]
    starts = np.searchsorted(entries[:, 0], np.arange(setting.tiles + 1))
    return FrontEndResult(
        triangles=triangles,
        bins=Bins(setting.tile, setting.columns, setting.tiles // setting.columns, starts, entries[:, 1]),
        source=source,
        weights=weights,
        primset=np.concatenate([part.primset for part in parts]),
        vertices=np.concatenate([part.vertices for part in parts]),
        distinct=len(np.unique(mesh.corners)),
        costs=stages.costs,
        cores=stages.cores,
        dropped=dropped,
        cut=sum(part.cut for part in parts),
        left_out=sum(part.left_out for part in parts),
    )
