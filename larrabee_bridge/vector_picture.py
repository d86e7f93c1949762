"""A picture by Larrabee's programs (watching): of triangles on the screen, or of control points and vertices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.simd.drawing import Picture
from pixelflow.simd.errors import UsageError
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.report import Json, Report, plural
from tessellation import scenes

if TYPE_CHECKING:
    from larrabee_bridge.compare import FromVertices
    from larrabee_bridge.kernels.bezier import Tessellated
    from tessellation import Mesh, Patch


def vector_picture(order: scenes.PictureOrder[scenes.Scene]) -> tuple[Picture, Report]:
    """Draw the ordered picture; with the projection ``vpu`` the vector unit also tessellates and projects.

    Raises UsageError for a scene without vertices to project.
    """
    if order.projection != "vpu":
        return scenes.draw_scene(order)
    return _by_vector_unit(order)


def _by_vector_unit(order: scenes.PictureOrder[scenes.Scene]) -> tuple[Picture, Report]:
    from larrabee_bridge.compare import mesh_on_larrabee, project_on_larrabee

    runs: list[Tessellated] = []
    config, progress = order.told["config"], order.source.progress
    caches = not order.told.get("ideal_memory", False)
    engine = str(order.told.get("engine", AUTO))

    def mesher(patches: Sequence[Patch], samples: int) -> Mesh:
        if progress is not None:
            progress(f"larrabee: {plural(len(patches), 'patch')} of {samples}x{samples} samples")
        mesh, found = mesh_on_larrabee(patches, samples, config=config, engine=engine)
        runs.extend(found)
        return mesh

    scene = order.load(mesher)
    if not scene.bodies:
        raise UsageError("--projection", "the scene has no vertices: its triangles are made on the screen")
    vertices = project_on_larrabee(
        scene.frame,
        scene.bodies,
        scene.view,
        tile=order.told["tile"],
        config=replace(config or CoreConfig(), caches=caches),
        engine=engine,
    )
    cycles = sum(run.timing.cycles for run in runs)
    before = scenes.PriorWork.of(scene)
    by = (cycles, "one core of Larrabee") if runs else before.tessellation
    before = scenes.PriorWork(by, before.tessellations, _projection(vertices), _facts(vertices))
    return scenes.draw_picture(order, vertices.frame, before, {"fronts": vertices.fronts})


def _facts(vertices: FromVertices) -> list[tuple[str, str]]:
    off = vertices.offset
    return [
        ("projection", f"within {off.steps} of 1/256 pixel of 64 bits, depths within {off.depth_steps} of 2^24"),
        ("", f"{off.moved:,} of {off.vertices:,} vertices in bins on another 1/256 pixel"),
    ]


def _projection(vertices: FromVertices) -> dict[str, Json]:
    off, fronts = vertices.offset, list(vertices.results)
    dropped: Counter[str] = Counter()
    for front in fronts:
        dropped.update({reason.name.lower(): count for reason, count in front.dropped.items()})
    return {
        "cycles": sum(int(front.cycles.sum()) for front in fronts),
        "primsets": sum(len(front.vertices) for front in fronts),
        "vertices": sum(int(front.vertices.sum()) for front in fronts),
        "distinct_vertices": sum(front.distinct for front in fronts),
        "dropped": dict(dropped),
        "cut": sum(front.cut for front in fronts),
        "largest_difference": {"steps": off.steps, "depth_steps": off.depth_steps},
        "compared": off.vertices,
        "on_another_step": off.moved,
    }
