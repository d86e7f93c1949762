"""A scene from its vertices on: threads take each body to clip space and light it, as the camera of all sees it.

The camera's place, the normals of flat triangles and texture coordinates are the application's. Generated draws have no
vertices but those on the screen; they stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.drawing import ShadedVertices, VertexConstants, on_the_screen, shade_vertices
from gen6_bridge.time import EuConfig
from pixelflow.simd.drawing import DEPTH_GUARD, FAR, SUBPIXELS, TEXEL, Frame, snap
from tessellation.picture import (
    FILL,
    GAMMA,
    KEY,
    LIGHT,
    Offset,
    Standpoint,
    View,
    clip_matrix,
    facets,
    lit_corners,
    unit,
    widened_for_floats,
)
from tessellation.scenes import Body, texture_coordinates

__all__ = ["FromUnits", "ShadeOffset", "project_on_gen6"]


@dataclass(frozen=True, slots=True)
class ShadeOffset:
    """How far what else vertices have is from the application's in 64 bits.

    ``steps`` is the largest difference of red, green or blue, of 256, ``moved`` of how many of ``components`` it is not
    0; ``texels`` the largest difference of texture coordinates, in 1/65536 texel.
    """

    steps: int = 0
    moved: int = 0
    components: int = 0
    texels: int = 0

    def with_other(self, other: ShadeOffset) -> ShadeOffset:
        """Return what holds for the vertices of both."""
        return ShadeOffset(
            max(self.steps, other.steps),
            self.moved + other.moved,
            self.components + other.components,
            max(self.texels, other.texels),
        )


@dataclass(frozen=True, slots=True, eq=False)
class FromUnits:
    """A frame whose bodies' vertices threads have shaded, what these did for each body, and how far off they are."""

    frame: Frame
    vertices: tuple[ShadedVertices, ...]
    offset: Offset
    shade: ShadeOffset


@dataclass(frozen=True, slots=True, eq=False)
class _Attributes:
    """A body as the fixed functions before the shader read it; flat triangles share no vertices."""

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

    Both sides of triangles are drawn, as on the host. Raises InputError for what reaches too far beyond the picture.
    """
    if not bodies:
        return FromUnits(frame, (), Offset(), ShadeOffset())
    points = np.concatenate([body.points for body in bodies])
    standpoint = widened_for_floats(Standpoint.of(points, view), points)
    draws, done = list(frame.draws), list[ShadedVertices]()
    offset, shade = Offset(), ShadeOffset()
    for number, body in enumerate(bodies):
        given = _Attributes.of(body)
        found = shade_vertices(given.points, given.normals, given.coordinates, _constants(standpoint, body), config)
        screen = on_the_screen(found.clip, frame.width, frame.height).astype(np.float64)
        colours = np.rint(found.colours.astype(np.float64) * 255).astype(np.int64)
        corners = given.corners
        texels = None if given.coordinates is None else found.coordinates.astype(np.float64)
        triangles = snap(
            screen[corners, :2],
            screen[corners, 2],
            colours[corners],
            None if texels is None else texels[corners],
            None if draws[number].triangles.nearness is None else standpoint.nearness(given.points)[corners],
        )
        draws[number] = replace(draws[number], triangles=triangles)
        offset = offset.with_other(_offset(standpoint, given, screen))
        shade = shade.with_other(_shade_offset(standpoint, body, given, colours, texels))
        done.append(found)
    return FromUnits(replace(frame, draws=tuple(draws)), tuple(done), offset, shade)


def _constants(standpoint: Standpoint, body: Body) -> VertexConstants:
    eye = standpoint.origin + standpoint.extent * standpoint.camera.eye
    return VertexConstants(clip_matrix(standpoint), eye, body.colour, unit(KEY), unit(FILL), LIGHT, GAMMA)


def _offset(standpoint: Standpoint, given: _Attributes, screen: NDArray[np.float64]) -> Offset:
    used = np.unique(given.corners)
    places = np.rint(screen[used, :2] * SUBPIXELS).astype(np.int64)
    depths = DEPTH_GUARD + np.rint(screen[used, 2] * (FAR - 2 * DEPTH_GUARD)).astype(np.int64)
    return Offset.of(standpoint, given.points[used], places, depths)


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
