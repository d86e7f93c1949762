"""A tessellation whose samples the EMCs project as soon as each pass has made them (`projection.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from microcode import Program
from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import Node, Run, stages_of
from pixelflow.simd.drawing import REACH, SUBPIXELS
from pixelflow.simd.errors import Fault, InputError
from tessellation.host.session import PassBegins, Session
from tessellation.host.tessellator import Tessellation, tessellate
from tessellation.microprogram.passes import Method, Plan
from tessellation.picture import Standpoint, View
from tessellation.rendering.projection import Places, Projection, ProjectionStage, projection_program
from tessellation.surface.patch import Patch, require_whole
from tessellation.surface.reference import evaluate

__all__ = [
    "Projected",
    "ProjectionDifference",
    "project_samples",
    "sampled_points",
    "standpoint_for",
    "standpoint_of",
]


@dataclass(frozen=True, slots=True)
class ProjectionDifference:
    """How far the machine's x, y and depth are from those of the camera in 64 bits, for the same points.

    ``pixels`` and ``depth`` are the largest; ``share`` is the largest part of the bound that rounding to binary32 has,
    over all three; ``moved`` counts the samples that were rounded to another 1/256 pixel.
    """

    pixels: float
    depth: float
    share: float
    moved: int


@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """All samples on the screen, one patch after the other in the caller's order, and what that took.

    ``screen`` is float32[sample, 3] as PEs have it: x and y in pixels, and depth. ``fixed`` is int32[sample, 2], x and
    y in 1/256 pixel; it means something only where x and y lie within 2^14 pixels. ``points`` float32[sample, xyz] are
    those that were projected.
    """

    standpoint: Standpoint
    projection: Projection
    points: np.ndarray
    screen: np.ndarray
    fixed: np.ndarray
    runs: tuple[Run, ...]

    @property
    def cycles(self) -> int:
        """EMC cycles of the projections after all passes."""
        return sum(run.cycles for run in self.runs)

    @property
    def cycles_by_stage(self) -> dict[str, int]:
        """Cycles of each stage over all passes, in their order."""
        total = stages_of(self.runs)
        return {stage.value: total.get(stage.value, 0) for stage in ProjectionStage}

    @property
    def vertices(self) -> np.ndarray:
        """x and y in pixels, rounded to 1/256 by the PEs, and depth: float64[sample, 3], for `lit_triangles`.

        Where x or y was too large to be rounded it is left as it is, which `pixelflow.simd.drawing.snap` refuses.
        """
        found = self.screen.astype(np.float64)
        place = found[:, :2]
        inside = (place >= -REACH) & (place < REACH)
        found[:, :2] = np.where(inside, self.fixed / SUBPIXELS, place)
        return found

    @property
    def difference(self) -> ProjectionDifference:
        """How far all that is from the camera in 64 bits."""
        expected = self.standpoint.project(self.points.astype(np.float64))
        off = np.abs(self.screen - expected)
        share = off / self.projection.error_bounds(self.points)
        moved = (np.rint(expected[:, :2] * SUBPIXELS) != self.fixed).any(axis=1)
        return ProjectionDifference(
            float(off[:, :2].max()), float(off[:, 2].max()), float(np.nanmax(share)), int(np.count_nonzero(moved))
        )


def project_samples(
    patches: Sequence[Patch],
    samples: int | Sequence[int],
    view: View,
    *,
    library: str | None = None,
    engine: str = "auto",
    config: NodeConfig = THESIS,
    method: Method | None = None,
    progress: Callable[[PassBegins], None] | None = None,
    watch: Callable[[Node], None] | None = None,
) -> tuple[Tessellation, Projected]:
    """Tessellate patches and project every sample on the EMCs, pass by pass.

    The camera must stand before the first pass runs, so the application places it by its own evaluation of the patches
    in 64 bits; depths keep clear of 0 and 1 by what rounding may do to them. Arguments are those of `tessellate`.
    Raises InputError as it does, for patches without extent, and where a triangle would have to be cut.
    """
    method = Method() if method is None else method
    standpoint = standpoint_for(patches, samples, view, single=method.single_database)
    projector = _Projector(Projection.of(standpoint))
    tessellation = tessellate(
        patches, samples, library=library, engine=engine, config=config, method=method, progress=progress, watch=watch,
        after=projector,
    )  # fmt: skip
    return tessellation, projector.result(standpoint)


def standpoint_for(patches: Sequence[Patch], samples: int | Sequence[int], view: View, *, single: bool) -> Standpoint:
    """Return where the camera stands: as before the model's own points, its depths widened by twice their bound.

    ``single`` says that control points are those of binary32. Raises InputError for patches without extent, and for
    what reaches past the near plane: no triangle is cut.
    """
    points = sampled_points(patches, samples, single=single)
    standpoint = standpoint_of(points, view)
    nearer = int(np.count_nonzero(standpoint.distances(points) < standpoint.near))
    if nearer:
        hint = (
            "move the eye back or near closer to it; on the way to instruction words (emc-words) the EMCs cut triangles"
        )
        raise InputError(Fault(f"{nearer:,} of {len(points):,} samples lie before the near plane", hint=hint))
    bound = Projection.of(standpoint).error_bounds(points)[:, 2].max()
    return standpoint.widened(2 * bound)


def standpoint_of(points: np.ndarray, view: View) -> Standpoint:
    """Return where the camera stands for samples, float64[sample, xyz]; raises InputError where they are one point."""
    if not np.ptp(points, axis=0).any():
        raise InputError(Fault("there is nothing to draw: all samples are one point"))
    return Standpoint.of(points, view)


def sampled_points(patches: Sequence[Patch], samples: int | Sequence[int], *, single: bool) -> np.ndarray:
    """Return the samples of patches by the application's own evaluation: float64[sample, xyz], in any order.

    Raises InputError for trimmed patches.
    """
    require_whole(patches, "its border has points that are no samples, and EMCs project samples")
    counts = [samples] * len(patches) if isinstance(samples, int) else [int(k) for k in samples]
    groups: dict[tuple[tuple[int, int], int], list[Patch]] = {}
    for patch, k in zip(patches, counts, strict=True):
        groups.setdefault((patch.counts, k), []).append(patch)
    return np.concatenate([
        evaluate(np.stack([patch.points for patch in members]), k, single=single).points.reshape(-1, 3)
        for (_, k), members in groups.items()
    ])  # fmt: skip


class _Projector:
    """Runs the projection after each pass and collects what it leaves."""

    def __init__(self, projection: Projection) -> None:
        self._projection = projection
        self._programs: dict[Places, Program] = {}
        self._runs: list[Run] = []
        self._found: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def __call__(self, session: Session, plan: Plan) -> None:
        places = Places.after(plan.memory)
        node = session.node
        if places not in self._programs:
            self._programs[places] = projection_program(places, self._projection, session.library)
        self._runs.append(node.run(self._programs[places]))
        point, screen = (
            np.stack([node.read_float(address) for address in addresses], axis=-1)
            for addresses in (places.point, places.screen)
        )
        words = [node.read_word(address, 4).astype(np.uint32).view(np.int32) for address in places.fixed]
        fixed = np.stack(words, axis=-1)
        for placement in plan.work.placements:
            lanes = placement.lanes(session.config.array).reshape(-1)
            self._found[placement.patch] = (point[lanes], screen[lanes], fixed[lanes])

    def result(self, standpoint: Standpoint) -> Projected:
        points, screen, fixed = (
            np.concatenate(parts) for parts in zip(*(self._found[n] for n in sorted(self._found)), strict=True)
        )
        return Projected(standpoint, self._projection, points, screen, fixed, tuple(self._runs))
