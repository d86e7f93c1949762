"""Vertices that a machine takes to the screen in float32: the camera as a matrix, and how far from 64 bits they end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.drawing import DEPTH_GUARD, FAR, SUBPIXELS, perspective
from tessellation.picture.camera import Standpoint

__all__ = ["Offset", "clip_matrix", "widened_for_floats"]

_UNIT = 2.0**-24
"""The relative error of one operation that is rounded to nearest, in float32."""

_LEAST_SPAN = 2.0**-20
"""Depths are spread over at least this share of the nearest one: what lies at one distance is seen as flat."""


@dataclass(frozen=True, slots=True)
class Offset:
    """How far vertices on the screen are from those of the same camera in 64 bits.

    ``steps`` is the largest difference of x or y in 1/256 pixel, ``depth_steps`` that of the depth, of 2^24;
    ``moved`` counts those of ``vertices`` whose x or y is another. Counted are vertices of triangles that are drawn and
    were not cut.
    """

    steps: int = 0
    depth_steps: int = 0
    moved: int = 0
    vertices: int = 0

    @classmethod
    def of(
        cls,
        standpoint: Standpoint,
        points: NDArray[np.float64],
        corners: NDArray[np.int64],
        depths: NDArray[np.int64],
    ) -> Offset:
        """Return it for vertices: where they are, float64[vertex, 3], and where they have come to on the screen.

        ``corners`` are int64[vertex, xy] in 1/256 pixel, ``depths`` int64[vertex].
        """
        if not len(points):
            return cls()
        expected = standpoint.project(points)
        off = np.abs(corners - np.rint(expected[:, :2] * SUBPIXELS)).astype(np.int64)
        steps = DEPTH_GUARD + np.rint(expected[:, 2] * (FAR - 2 * DEPTH_GUARD))
        moved = int(np.count_nonzero(off.any(axis=1)))
        return cls(int(off.max()), int(np.abs(depths - steps).max()), moved, len(points))

    def with_other(self, other: Offset) -> Offset:
        """Return what holds for the vertices of both."""
        return Offset(
            max(self.steps, other.steps),
            max(self.depth_steps, other.depth_steps),
            self.moved + other.moved,
            self.vertices + other.vertices,
        )


def clip_matrix(standpoint: Standpoint) -> NDArray[np.float64]:
    """Return the matrix from the world to clip space: float64[4, 4]."""
    camera = standpoint.camera
    placing = np.diag([1 / standpoint.extent] * 3 + [1])
    placing[:3, 3] = -standpoint.origin / standpoint.extent
    near, far = -1 / standpoint.low, -1 / standpoint.high
    return perspective(camera.eye, camera.axes, camera.focal, camera.width, camera.height, near, far) @ placing


def widened_for_floats(standpoint: Standpoint, points: NDArray[np.float64]) -> Standpoint:
    """Return the standpoint with room at the ends of the depths for what rounding may do to them.

    A sum of a row's terms is off by at most 5 u times the sum of their sizes: u for a coefficient, u for a coordinate,
    and 3 u for the sums (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). Twice the bound of z / w is
    enough: the wider the depths are spread, the smaller it is. Where points are nearer than the near plane there is no
    room at that end: triangles are cut where the depth is 0.
    """
    span = max(standpoint.high - standpoint.low, _LEAST_SPAN * -standpoint.low)
    standpoint = replace(standpoint, high=standpoint.low + span)
    rows = clip_matrix(standpoint)[2:]
    sizes = np.abs(points) @ np.abs(rows[:, :3]).T + np.abs(rows[:, 3])
    distance = np.maximum(points @ rows[1, :3] + rows[1, 3], standpoint.near)
    bound = (5 * _UNIT * sizes.sum(axis=1) / distance).max() + 2 * _UNIT
    return standpoint.widened(2 * float(bound), nearest=not standpoint.reached_past(points))
