"""A scene from its vertices on: Larrabee's front end takes each body to the screen, as the camera of all sees it.

Camera, light and texture coordinates are the host's, as they are for PixelFlow. Generated draws have no vertices but
those on the screen; they stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.frame.renderer import PRIMSET
from larrabee_bridge.pipeline.front_end import FrontEndResult, FrontEndSetting, perspective, run_front_end
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.simd.drawing import DEPTH_GUARD, FAR, SUBPIXELS, TEXEL, Frame, ScreenTriangles
from tessellation.picture import Standpoint, View, lit_corners
from tessellation.scenes import Body, texture_coordinates

__all__ = ["FromVertices", "Offset", "project_on_larrabee"]

_UNIT = 2.0**-24
"""The relative error of one operation that is rounded to nearest, in float32."""

_LEAST_SPAN = 2.0**-20
"""Depths are spread over at least this share of the nearest one: what lies at one distance is seen as flat."""


@dataclass(frozen=True, slots=True)
class Offset:
    """How far vertices on the screen are from those of the same camera in 64 bits.

    ``steps`` is the largest difference of x or y in 1/256 pixel, ``depth_steps`` that of the depth, of 2^24;
    ``moved`` counts those of ``vertices`` whose x or y is another. Counted are vertices of triangles that go to the
    bins and were not cut.
    """

    steps: int = 0
    depth_steps: int = 0
    moved: int = 0
    vertices: int = 0

    def with_other(self, other: Offset) -> Offset:
        """Return what holds for the vertices of both."""
        return Offset(
            max(self.steps, other.steps),
            max(self.depth_steps, other.depth_steps),
            self.moved + other.moved,
            self.vertices + other.vertices,
        )


@dataclass(frozen=True, slots=True, eq=False)
class FromVertices:
    """A frame whose bodies' triangles a front end has made, and what it did for each draw: None where generated."""

    frame: Frame
    fronts: tuple[FrontEndResult | None, ...]
    offset: Offset

    @property
    def results(self) -> Iterator[FrontEndResult]:
        """Those of the draws that have vertices."""
        return (front for front in self.fronts if front is not None)


def project_on_larrabee(
    frame: Frame, bodies: Sequence[Body], view: View, *, tile: int = 64, config: CoreConfig | None = None
) -> FromVertices:
    """Take the bodies of a frame's first draws from their vertices, in float32, to the screen; their states stay.

    Both sides of triangles are drawn, as on the host, and those that reach no pixel are left out. Raises InputError for
    vertices that float32 cannot hold.
    """
    if not bodies:
        return FromVertices(frame, (None,) * len(frame.draws), Offset())
    points = np.concatenate([body.points for body in bodies])
    standpoint = _widened(Standpoint.of(points, view), points)
    matrix = _matrix(standpoint)
    draws, offset = list(frame.draws), Offset()
    fronts: list[FrontEndResult | None] = [None] * len(frame.draws)
    for number, body in enumerate(bodies):
        fronts[number] = front = run_front_end(
            body.points,
            lit_corners(body.points, body.normals, body.corners, standpoint, flat=body.flat, colour=body.colour),
            body.corners,
            matrix,
            FrontEndSetting(frame.width, frame.height, tile, PRIMSET, samples=frame.samples),
            config=config,
        )
        draws[number] = replace(draws[number], triangles=_with_texels(front, body))
        offset = offset.with_other(_offset(front, body, standpoint))
    return FromVertices(replace(frame, draws=tuple(draws)), tuple(fronts), offset)


def _matrix(standpoint: Standpoint) -> NDArray[np.float64]:
    """Return the matrix from the world to clip space: float64[4, 4]."""
    camera = standpoint.camera
    placing = np.diag([1 / standpoint.extent] * 3 + [1])
    placing[:3, 3] = -standpoint.origin / standpoint.extent
    near, far = -1 / standpoint.low, -1 / standpoint.high
    return perspective(camera.eye, camera.axes, camera.focal, camera.width, camera.height, near, far) @ placing


def _widened(standpoint: Standpoint, points: NDArray[np.float64]) -> Standpoint:
    """Return the standpoint with room at both ends of the depths for what rounding may do to them.

    A sum of a row's terms is off by at most 5 u times the sum of their sizes: u for a coefficient, u for a coordinate,
    and 3 u for the sums (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). Twice the bound of z / w is
    enough: the wider the depths are spread, the smaller it is.
    """
    span = max(standpoint.high - standpoint.low, _LEAST_SPAN * -standpoint.low)
    standpoint = replace(standpoint, high=standpoint.low + span)
    rows = _matrix(standpoint)[2:]
    sizes = np.abs(points) @ np.abs(rows[:, :3]).T + np.abs(rows[:, 3])
    distance = points @ rows[1, :3] + rows[1, 3]
    bound = (5 * _UNIT * sizes.sum(axis=1) / distance).max() + 2 * _UNIT
    return standpoint.widened(2 * float(bound))


def _with_texels(front: FrontEndResult, body: Body) -> ScreenTriangles:
    """Return the triangles with the texture coordinates of their corners, where the body has a texture."""
    coordinates = texture_coordinates(body)
    if coordinates is None:
        return front.triangles
    of_corners = coordinates[body.corners[front.source]]
    texels = np.rint(np.einsum("tck,tkr->tcr", front.weights, of_corners) * TEXEL).astype(np.int64)
    return replace(front.triangles, coordinates=texels)


def _offset(front: FrontEndResult, body: Body, standpoint: Standpoint) -> Offset:
    whole = (front.weights.max(axis=2) == 1).all(axis=1)
    vertex = np.take_along_axis(body.corners[front.source], front.weights.argmax(axis=2), axis=1)[whole].reshape(-1)
    vertices, first = np.unique(vertex, return_index=True)
    if not len(vertices):
        return Offset()
    expected = standpoint.project(body.points[vertices])
    corners = front.triangles.corners[whole].reshape(-1, 2)[first]
    depths = front.triangles.depths[whole].reshape(-1)[first]
    off = np.abs(corners - np.rint(expected[:, :2] * SUBPIXELS)).astype(np.int64)
    steps = DEPTH_GUARD + np.rint(expected[:, 2] * (FAR - 2 * DEPTH_GUARD))
    return Offset(
        int(off.max()),
        int(np.abs(depths - steps).max()),
        int(np.count_nonzero(off.any(axis=1))),
        len(vertices),
    )
