"""Comparison (watching): scenes of `tessellation` on Gen6, with shaded vertices, and by the size of triangles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.drawing import ShadedVertices, VertexConstants, on_the_screen, shade_vertices
from gen6_bridge.time import EuConfig
from pixelflow.simd.attendance import Telling
from pixelflow.simd.commands import Told
from pixelflow.simd.comparison.triangle_sizes import Way
from pixelflow.simd.drawing import DEPTH_GUARD, FAR, SUBPIXELS, TEXEL, Frame, Picture, draw_frame, snap
from pixelflow.simd.errors import UsageError
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Json, Report
from tessellation.picture import (
    FILL,
    GAMMA,
    KEY,
    LIGHT,
    CutTriangles,
    Offset,
    Standpoint,
    View,
    clip_matrix,
    cut_triangles,
    facets,
    lit_corners,
    unit,
    widened_for_floats,
)
from tessellation.scenes import Body, PictureOrder, PriorWork, Scene, draw_picture, draw_scene, texture_coordinates

# Gen6's two ways with triangles of one size: threads of eight channels (two subspans of 2x2 pixels) and of sixteen.


WIDTHS = (8, 16)
"""Channels of a thread."""
_ABOUT = (
    "Gen6's are channels of threads, those included that no subspan fills, and its cycles those of its shaders, as "
    "coverage and tests are fixed functions there."
)


def ways(told: Told, progress: Telling | None) -> Iterator[Way]:
    """Yield a way for each width of threads, with further arguments of the drawing function."""
    machine = machine_named("gen6")
    assert machine.draw is not None  # as its record says
    for width in WIDTHS:
        config = replace(told.get("config") or EuConfig(), channels=width)
        draw = partial(machine.draw, progress=progress, **{**told, "config": config})
        yield Way(f"{machine.title} SIMD{width}", draw, ("covered_lanes", "enabled_lanes"), _ABOUT)


# Vertices of a scene: threads take each body to clip space and light it, all with one camera.
#
# The camera's place, the normals of flat triangles and texture coordinates are the application's. Triangles that reach
# past the near plane or the guard band are cut before the division, as by the clipper; that takes no cycles here, like
# the other fixed functions. Generated draws have only vertices on the screen, and stay as they are.


class ShadeOffset(NamedTuple):
    """Differences of shaded colours and coordinates from the application's in 64 bits.

    ``steps`` is the largest difference of red, green or blue, of 256; ``moved`` of ``components`` differ. ``texels`` is
    the largest difference of texture coordinates, in 1/65536 texel.
    """

    steps: int = 0
    moved: int = 0
    components: int = 0
    texels: int = 0

    def with_other(self, other: ShadeOffset) -> ShadeOffset:
        """Return the differences of two sets of vertices together."""
        return ShadeOffset(
            max(self.steps, other.steps),
            self.moved + other.moved,
            self.components + other.components,
            max(self.texels, other.texels),
        )


class FromUnits(NamedTuple):
    """Frame with vertices shaded by threads, those of each body, and their differences from 64 bits."""

    frame: Frame
    vertices: tuple[ShadedVertices, ...]
    offset: Offset
    shade: ShadeOffset


class _Attributes(NamedTuple):
    """Attributes of a body's vertices; flat triangles share no vertices."""

    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    coordinates: NDArray[np.float64] | None
    corners: NDArray[np.int64]

    @classmethod
    def of(cls, body: Body) -> _Attributes:
        coordinates = texture_coordinates(body)
        if not body.flat:
            return cls(body.points, body.normals, coordinates, body.corners)
        apart = body.corners.reshape(-1)
        normals = np.repeat(facets(body.points, body.corners), 3, axis=0)
        return cls(
            body.points[apart],
            normals,
            None if coordinates is None else coordinates[apart],
            np.arange(len(apart)).reshape(-1, 3),
        )


def project_on_gen6(frame: Frame, bodies: Sequence[Body], view: View, *, config: EuConfig | None = None) -> FromUnits:
    """Take the bodies of a frame's first draws from their vertices, in float32, to the screen; their states stay.

    Both sides of triangles are drawn, as on the host.
    """
    if not bodies:
        return FromUnits(frame, (), Offset(), ShadeOffset())
    points = np.concatenate([body.points for body in bodies])
    standpoint = widened_for_floats(Standpoint.of(points, view), points)
    draws, done = list(frame.draws), list[ShadedVertices]()
    offset, shade = Offset(), ShadeOffset()
    for number, body in enumerate(bodies):
        given = _Attributes.of(body)
        shaded = shade_vertices(given.points, given.normals, given.coordinates, _constants(standpoint, body), config)
        cut = _Cut.of(standpoint, shaded, given, frame)
        colours = np.rint(shaded.colours.astype(np.float64) * 255).astype(np.int64)
        texels = None if given.coordinates is None else shaded.coordinates.astype(np.float64)
        places = on_the_screen(cut.clip.reshape(-1, 4), frame.width, frame.height).astype(np.float64)
        places = places.reshape(-1, 3, 3)
        if standpoint.reached_past(points):  # rounding may leave a corner in front of the plane by its last bits
            np.maximum(places[..., 2], 0, out=places[..., 2])
        triangles = snap(
            places[..., :2],
            places[..., 2],
            np.rint(cut.of_vertices(colours)),
            None if texels is None else cut.of_vertices(texels),
            None if draws[number].triangles.nearness is None else cut.nearness,
        )
        draws[number] = replace(draws[number], triangles=triangles)
        offset = offset.with_other(_offset(standpoint, shaded, given.points, cut.untouched, frame))
        shade = shade.with_other(_shade_offset(standpoint, body, given, colours, texels))
        done.append(shaded)
    return FromUnits(replace(frame, draws=tuple(draws)), tuple(done), offset, shade)


def _constants(standpoint: Standpoint, body: Body) -> VertexConstants:
    eye = standpoint.origin + standpoint.extent * standpoint.camera.eye
    return VertexConstants(clip_matrix(standpoint), eye, body.colour, unit(KEY), unit(FILL), LIGHT, GAMMA)


class _Cut(NamedTuple):
    """Triangles in clip space past the clipper: ``clip`` is float32[triangle, corner, xyzw]."""

    clip: NDArray[np.float32]
    nearness: NDArray[np.float64]
    corners: NDArray[np.int64]
    pieces: CutTriangles | None

    @classmethod
    def of(cls, standpoint: Standpoint, shaded: ShadedVertices, given: _Attributes, frame: Frame) -> _Cut:
        clip = shaded.clip[given.corners]
        # X and Y in pixels; w is the distance along the view.
        half = np.array([frame.width / 2, frame.height / 2, 1])
        pieces = cut_triangles(clip[..., [0, 1, 3]] * half, frame.width, frame.height, standpoint.near)
        distances = standpoint.distances(given.points)[given.corners]
        if pieces is not None:
            clip = pieces.of_corners(clip).astype(np.float32)
            distances = pieces.of_corners(distances)
        return cls(clip, standpoint.nearness(distances), given.corners, pieces)

    def of_vertices(self, values: NDArray[np.number]) -> NDArray[np.number]:
        """Return values of vertices for the corners."""
        corners = values[self.corners]
        return corners if self.pieces is None else self.pieces.of_corners(corners)

    @property
    def untouched(self) -> NDArray[np.int64]:
        """Vertices of triangles that were not cut."""
        if self.pieces is None:
            return np.unique(self.corners)
        whole = (self.pieces.weights.max(axis=2) == 1).all(axis=1)
        return np.unique(self.corners[self.pieces.source[whole]])


def _offset(
    standpoint: Standpoint,
    shaded: ShadedVertices,
    points: NDArray[np.float64],
    used: NDArray[np.int64],
    frame: Frame,
) -> Offset:
    screen = on_the_screen(shaded.clip[used], frame.width, frame.height).astype(np.float64)
    places = np.rint(screen[:, :2] * SUBPIXELS).astype(np.int64)
    depths = DEPTH_GUARD + np.rint(screen[:, 2] * (FAR - 2 * DEPTH_GUARD)).astype(np.int64)
    return Offset.of(standpoint, points[used], places, depths)


def _shade_offset(
    standpoint: Standpoint,
    body: Body,
    given: _Attributes,
    colours: NDArray[np.int64],
    texels: NDArray[np.float64] | None,
) -> ShadeOffset:
    used, first = np.unique(given.corners, return_index=True)
    expected = lit_corners(
        body.points, body.normals, body.corners, standpoint, flat=body.flat, colour=body.colour
    ).reshape(-1, 3)[first]
    off = np.abs(colours[used] - expected)
    moved_texels = 0
    if texels is not None and given.coordinates is not None:
        moved_texels = int(np.abs(np.rint(texels * TEXEL) - np.rint(given.coordinates * TEXEL)).max())
    return ShadeOffset(int(off.max()), int(np.count_nonzero(off)), off.size, moved_texels)


# A picture by execution units, with vertices projected by the host or, with ``eus``, by threads.


def picture_by_units(order: PictureOrder[Scene]) -> tuple[Picture, Report]:
    """Draw an ordered picture; with the projection ``eus`` threads shade the vertices.

    Raises UsageError for a scene without vertices to project.
    """
    if order.projection != "eus":
        return draw_scene(order)
    scene = order.load()
    if not scene.bodies:
        raise UsageError("--projection", "the scene has no vertices: its triangles are made on the screen")
    projected = project_on_gen6(scene.frame, scene.bodies, scene.view, config=order.told["config"])
    different = _different(scene.frame, projected.frame)
    pixels = scene.frame.width * scene.frame.height
    before = PriorWork.of(scene)
    before = PriorWork(
        before.tessellation,
        before.tessellations,
        _projection(projected, different, pixels),
        _facts(projected, different, pixels),
    )
    return draw_picture(order, projected.frame, before, {"vertices": projected.vertices})


def _different(host: Frame, units: Frame) -> tuple[int, int]:
    """Return the count of pixels that differ from those with vertices of 64 bits, and the largest difference of 255."""
    one, other = (draw_frame(frame).colours.astype(np.int64) for frame in (host, units))
    off = np.abs(one - other).max(axis=2)
    return int(np.count_nonzero(off)), int(off.max())


def _facts(projected: FromUnits, different: tuple[int, int], pixels: int) -> list[tuple[str, str]]:
    off, shade, (count, most) = projected.offset, projected.shade, different
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


def _projection(projected: FromUnits, different: tuple[int, int], pixels: int) -> dict[str, Json]:
    off, shade = projected.offset, projected.shade
    return {
        "vertices": sum(len(each.clip) for each in projected.vertices),
        "threads": sum(len(each.steps) for each in projected.vertices),
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
