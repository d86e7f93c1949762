"""An account of trims for reports: what the array counted, and what is left to the GPs and charged for no cycles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from pixelflow.config import NodeConfig
from pixelflow.simd.report import Json, counted, number, plural, six_digits
from tessellation.host.gps import cycles_of_gps, operations
from tessellation.surface.patch import trimmed
from tessellation.surface.trims.parity import crossings

if TYPE_CHECKING:
    from tessellation import Mesh, PatchSamples, Tessellation

__all__ = ["TrimAccount", "together", "trim_account", "trims_of"]


@dataclass(frozen=True, slots=True)
class TrimAccount:
    """The trims of a tessellation and of its mesh.

    ``segments`` stand for ``curves`` Bezier pieces; ``broadcast`` counts those that a row of samples meets, and those
    of samples on u = 1. ``outside`` of ``samples`` are no part of a trimmed patch. ``points`` are vertices that are no
    samples, which GPs evaluate in ``gp_cycles`` by formula. ``bound`` is how far the triangles' sides may be from the
    trim curves, in units of the model.
    """

    patches: int
    loops: int
    curves: int
    segments: int
    broadcast: int
    samples: int
    outside: int
    cut_triangles: int
    points: int
    gp_cycles: int
    bound: float
    tolerance: float

    @property
    def not_counted(self) -> tuple[str, ...]:
        """What GPs do for no cycles, with its size."""
        return (
            f"trims on the GPs: {counted(self.curves, 'curve')} into {counted(self.segments, 'segment')}, "
            f"{counted(self.cut_triangles, 'triangle')} at them, "
            f"and {counted(self.points, 'point')} of these evaluated, {number(self.gp_cycles)} cycles by formula",
        )

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each fact; without a name it goes on from the one before."""
        trims = f"{counted(self.loops, 'loop')} of {plural(self.patches, 'patch')}"
        outside = f"{number(self.outside)} of {counted(self.samples, 'sample')} outside"
        return (
            ("trims", f"{trims}; {outside}, by {counted(self.broadcast, 'segment')} broadcast"),
            ("", f"sides of triangles within {six_digits(self.bound)} units of their curves"),
        )  # fmt: skip

    def as_object(self) -> dict[str, Json]:
        """Return everything for JSON."""
        return {
            "patches": self.patches,
            "loops": self.loops,
            "curves": self.curves,
            "segments": self.segments,
            "broadcast": self.broadcast,
            "samples": self.samples,
            "samples_outside": self.outside,
            "triangles_of_cut_cells": self.cut_triangles,
            "points_on_gps": self.points,
            "gp_cycles_by_formula": self.gp_cycles,
            "tolerance": self.tolerance,
            "bound": self.bound,
        }


def trim_account(patches: Sequence[PatchSamples], mesh: Mesh, config: NodeConfig) -> TrimAccount | None:
    """Return the account of a tessellation's patches and their mesh; None where no patch is trimmed."""
    found = [(each, trimmed(each.patch, each.trim_tolerance)) for each in patches]
    polygons = [(each, polygon) for each, polygon in found if polygon is not None]
    trims = [each.patch.trim for each, _ in polygons if each.patch.trim is not None]
    if not trims:
        return None
    spent = sum(
        count * operations(*each.patch.counts) for each, count in zip(patches, mesh.built.border_points, strict=True)
    )
    return TrimAccount(
        patches=len(trims),
        loops=sum(len(trim.loops) for trim in trims),
        curves=sum(trim.curves for trim in trims),
        segments=sum(len(polygon) for _, polygon in polygons),
        broadcast=sum(1 for each, polygon in polygons for _ in crossings(polygon, each.samples)),
        samples=sum(each.samples**2 for each, _ in polygons),
        outside=sum(int((~each.inside).sum()) for each, _ in polygons),
        cut_triangles=mesh.built.cut_triangles,
        points=sum(mesh.built.border_points),
        gp_cycles=math.ceil(cycles_of_gps(spent, config)),
        bound=max(polygon.bound for _, polygon in polygons),
        tolerance=polygons[0][0].trim_tolerance,
    )


def trims_of(done: Tessellation) -> TrimAccount | None:
    """Return the account of a tessellation, with its mesh made for it; None where no patch is trimmed."""
    if all(each.patch.trim is None for each in done.patches):
        return None
    return trim_account(done.patches, done.mesh(weld=True), done.config)


def together(accounts: Sequence[TrimAccount]) -> TrimAccount | None:
    """Return the account of several tessellations one after the other; None where there is none."""
    if not accounts:
        return None
    names = [each.name for each in fields(TrimAccount) if each.name not in ("bound", "tolerance")]
    sums = {name: sum(getattr(each, name) for each in accounts) for name in names}
    return replace(accounts[0], **sums, bound=max(each.bound for each in accounts))
