"""A picture by execution units: from vertices on the screen, or from those of bodies on (projection ``eus``)."""

from __future__ import annotations

import numpy as np

from gen6_bridge.compare.vertices import FromUnits, project_on_gen6
from pixelflow.simd.drawing import Frame, Picture, draw_frame
from pixelflow.simd.errors import UsageError
from pixelflow.simd.report import Json, Report
from tessellation.scenes import PictureOrder, PriorWork, Scene, draw_picture, draw_scene

__all__ = ["picture_by_units"]


def picture_by_units(order: PictureOrder[Scene]) -> tuple[Picture, Report]:
    """Draw what was ordered; with the projection ``eus`` threads shade the vertices.

    Raises UsageError for a scene without vertices that was to be projected.
    """
    if order.projection != "eus":
        return draw_scene(order)
    scene = order.load()
    if not scene.bodies:
        raise UsageError("--projection", "the scene has no vertices: its triangles are made on the screen")
    found = project_on_gen6(scene.frame, scene.bodies, scene.view, config=order.told["config"])
    different = _different(scene.frame, found.frame)
    pixels = scene.frame.width * scene.frame.height
    before = PriorWork(
        PriorWork.of(scene).tessellation,
        _projection(found, different, pixels),
        _facts(found, different, pixels),
    )
    return draw_picture(order, found.frame, before, {"vertices": found.vertices})


def _different(host: Frame, units: Frame) -> tuple[int, int]:
    """Return how many pixels have another colour than with vertices of 64 bits, and by how much at most, of 255."""
    one, other = (draw_frame(frame).colours.astype(np.int64) for frame in (host, units))
    off = np.abs(one - other).max(axis=2)
    return int(np.count_nonzero(off)), int(off.max())


def _facts(found: FromUnits, different: tuple[int, int], pixels: int) -> list[tuple[str, str]]:
    off, shade, (count, most) = found.offset, found.shade, different
    texels = f", texture of 1/65536 texel {shade.texels}" if shade.texels else ""
    places = f"within {off.steps} of 1/256 pixel of 64 bits, depths of 2^24 within {off.depth_steps}"
    return [
        ("projection", places + texels),
        ("", f"{off.moved:,} of {off.vertices:,} vertices on another 1/256 pixel: sums and quotients are float32"),
        ("", f"{shade.moved:,} of {shade.components:,} colours of vertices differ, by {shade.steps} of 255 at most"),
        (
            "",
            f"{count:,} of {pixels:,} pixels differ from those with vertices of 64 bits, by {most} of 255 at most",
        ),
    ]


def _projection(found: FromUnits, different: tuple[int, int], pixels: int) -> dict[str, Json]:
    off, shade = found.offset, found.shade
    return {
        "vertices": sum(len(each.clip) for each in found.vertices),
        "threads": sum(len(each.steps) for each in found.vertices),
        "largest_difference": {
            "steps": off.steps,
            "depth_steps": off.depth_steps,
            "colour": shade.steps,
            "texel_steps": shade.texels,
        },
        "compared": off.vertices,
        "on_another_step": off.moved,
        "colours": {"compared": shade.components, "different": shade.moved},
        "pixels": {"compared": pixels, "different": different[0], "by_at_most": different[1]},
    }
