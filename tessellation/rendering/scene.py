"""From a mesh to triangles on the screen: what an application and the GPs do before PixelFlow draws.

In the host's floating point; neither its time nor its rounding is part of the model. Where the EMCs have projected the
points (`projection.py`), only the camera's place, the light and the way to integers are done here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pixelflow.simd.drawing import ScreenTriangles, snap
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.records import record
from tessellation.camera import Camera, View, frame, unit
from tessellation.lighting import CLAY, facets, lit

__all__ = ["Standpoint", "check_mesh", "lit_corners", "lit_triangles"]


@record(eq=False)
class Standpoint:
    """A camera before a model, and which depths become 0 and 1.

    The camera sees (point - ``origin``) / ``extent``; ``low`` and ``high`` are depths as it gives them, near and far.
    """

    origin: np.ndarray
    extent: float
    camera: Camera
    low: float
    high: float

    @classmethod
    def of(cls, points: np.ndarray, view: View) -> Standpoint:
        """Return the one from which all points, float64[point, xyz], are seen, with depths from 0 to 1."""
        origin, extent = points.min(axis=0), np.ptp(points, axis=0).max()
        placed = (points - origin) / extent
        camera = frame(placed, view)
        depths = camera.project(placed)[:, 2]
        return cls(origin, extent, camera, depths.min(), depths.max())

    def widened(self, share: float) -> Standpoint:
        """Return the same with depths from share / (1 + 2 share) to 1 less that."""
        margin = share * (self.high - self.low)
        return replace(self, low=self.low - margin, high=self.high + margin)

    def placed(self, points: np.ndarray) -> np.ndarray:
        """Return points as the camera sees them."""
        return (points - self.origin) / self.extent

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return x and y in pixels and the depth of points: float64[point, 3]."""
        found = self.camera.project(self.placed(points))
        depth, low, high = found[:, 2], self.low, self.high
        found[:, 2] = (depth - low) / (high - low) if high > low else np.zeros_like(depth)
        return found


def lit_triangles(
    points: np.ndarray,
    normals: np.ndarray,
    corners: np.ndarray,
    view: View,
    *,
    flat: bool = False,
    colour: tuple[float, float, float] = CLAY,
    standpoint: Standpoint | None = None,
    screen: np.ndarray | None = None,
    coordinates: np.ndarray | None = None,
) -> ScreenTriangles:
    """Place a camera before a model and light its vertices, or its triangles where they are to be ``flat``.

    ``points`` and ``normals`` are float[vertex, xyz], ``corners`` int[triangle, 3]; ``colour`` is linear red, green and
    blue. ``standpoint`` is where the camera stands already, and ``screen`` what somebody else has projected: x and y in
    pixels and depth of each vertex. ``coordinates`` are those of a texture, float[vertex, uv] in texels. Raises
    InputError for a model without extent, for numbers that are not finite and for corners that do not exist.
    """
    points = np.asarray(points, np.float64)
    check_mesh(points, corners)
    standpoint = Standpoint.of(points, view) if standpoint is None else standpoint
    screen = standpoint.project(points) if screen is None else screen
    colours = lit_corners(points, normals, corners, standpoint, flat=flat, colour=colour)
    texels = None if coordinates is None else coordinates[corners]
    return snap(screen[corners, :2], screen[corners, 2], colours, texels)


def lit_corners(
    points: np.ndarray,
    normals: np.ndarray,
    corners: np.ndarray,
    standpoint: Standpoint,
    *,
    flat: bool = False,
    colour: tuple[float, float, float] = CLAY,
) -> np.ndarray:
    """Return the colour of each corner under the light at ``standpoint``: uint8[triangle, corner, rgb]."""
    points = standpoint.placed(np.asarray(points, np.float64))
    to_eye = unit(standpoint.camera.eye - points)
    if flat:
        return np.repeat(lit(facets(points, corners), to_eye[corners].mean(axis=1), colour)[:, None], 3, axis=1)
    return lit(np.asarray(normals, np.float64), to_eye, colour)[corners]


def check_mesh(points: np.ndarray, corners: np.ndarray, name: str = "") -> None:
    """Raise InputError for a mesh that cannot be drawn; ``name`` is put before the message."""
    of = f"{name}: " if name else ""
    if len(corners) == 0 or len(points) == 0 or not np.ptp(points, axis=0).any():
        raise InputError(Fault(f"{of}there is nothing to draw: no triangle with an extent"))
    wrong = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(wrong):
        raise InputError(Fault(f"{of}vertex {wrong[0] + 1} of {len(points)} is not a finite point"))
    wrong = np.flatnonzero(((corners < 0) | (corners >= len(points))).any(axis=1))
    if len(wrong):
        message = f"triangle {wrong[0] + 1} names a vertex that does not exist; there are {len(points)}"
        raise InputError(Fault(f"{of}{message}"))
