"""A scene from its vertices on: Larrabee's front end takes each body to the screen, as the camera of all sees it.

Camera, light and texture coordinates are the host's, as they are for PixelFlow. Generated draws have no vertices but
those on the screen; they stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from larrabee_bridge.pipeline.frame.renderer import PRIMSET
from larrabee_bridge.pipeline.front_end import FrontEndResult, FrontEndSetting, run_front_end
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.simd.drawing import LEAST_NEARNESS, NEAREST, TEXEL, Frame, ScreenTriangles
from pixelflow.simd.lanes.choice import AUTO
from tessellation.picture import Offset, Standpoint, View, clip_matrix, lit_corners, widened_for_floats
from tessellation.scenes import Body, texture_coordinates

__all__ = ["FromVertices", "project_on_larrabee"]


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
    frame: Frame,
    bodies: Sequence[Body],
    view: View,
    *,
    tile: int = 64,
    config: CoreConfig | None = None,
    engine: str = AUTO,
) -> FromVertices:
    """Take the bodies of a frame's first draws from their vertices, in float32, to the screen; their states stay.

    Both sides of triangles are drawn, as on the host, and those that reach no pixel are left out. Raises InputError for
    vertices that float32 cannot hold.
    """
    if not bodies:
        return FromVertices(frame, (None,) * len(frame.draws), Offset())
    points = np.concatenate([body.points for body in bodies])
    standpoint = widened_for_floats(Standpoint.of(points, view), points)
    matrix = clip_matrix(standpoint)
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
            engine=engine,
        )
        triangles = _with_texels(front, body)
        if draws[number].triangles.nearness is not None:
            triangles = replace(triangles, nearness=_nearness(front, body, standpoint))
        draws[number] = replace(draws[number], triangles=triangles)
        offset = offset.with_other(_offset(front, body, standpoint))
    return FromVertices(replace(frame, draws=tuple(draws)), tuple(fronts), offset)


def _with_texels(front: FrontEndResult, body: Body) -> ScreenTriangles:
    """Return the triangles with the texture coordinates of their corners, where the body has a texture."""
    coordinates = texture_coordinates(body)
    if coordinates is None:
        return front.triangles
    of_corners = coordinates[body.corners[front.source]]
    texels = np.rint(np.einsum("tck,tkr->tcr", front.weights, of_corners) * TEXEL).astype(np.int64)
    return replace(front.triangles, coordinates=texels)


def _nearness(front: FrontEndResult, body: Body, standpoint: Standpoint) -> np.ndarray:
    """Return the nearness of the triangles' corners; along an edge that was cut distances are linear."""
    distances = standpoint.distances(body.points)[body.corners[front.source]]
    shares = standpoint.nearness(np.einsum("tck,tk->tc", front.weights, distances))
    return np.clip(np.rint(shares * NEAREST).astype(np.int64), LEAST_NEARNESS, NEAREST - 1)


def _offset(front: FrontEndResult, body: Body, standpoint: Standpoint) -> Offset:
    whole = (front.weights.max(axis=2) == 1).all(axis=1)
    vertex = np.take_along_axis(body.corners[front.source], front.weights.argmax(axis=2), axis=1)[whole].reshape(-1)
    vertices, first = np.unique(vertex, return_index=True)
    corners = front.triangles.corners[whole].reshape(-1, 2)[first]
    depths = front.triangles.depths[whole].reshape(-1)[first]
    return Offset.of(standpoint, body.points[vertices], corners, depths)
