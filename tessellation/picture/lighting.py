"""Light on a mesh, and its triangles on the screen: what an application and the GPs do before a machine draws.

In the host's floating point; neither its time nor its rounding is part of the model. A key and a fill light shine on
two-sided surfaces. Where the EMCs have projected the points (`rendering/projection.py`), only the camera's place, the
light and the way to integers are done here.
"""

from __future__ import annotations

import numpy as np

from pixelflow.simd.drawing import ScreenTriangles, snap
from pixelflow.simd.errors import Fault, InputError
from tessellation.picture.camera import Standpoint, View, unit
from tessellation.picture.cutting import ScreenCorners

__all__ = ["CLAY", "FILL", "GAMMA", "KEY", "LIGHT", "check_mesh", "facets", "lit", "lit_corners", "lit_triangles"]

CLAY = (0.66, 0.37, 0.21)
"""The colour of surfaces that have none of their own: linear red, green, blue."""

KEY = np.array([-0.50, -0.55, 1.05])
"""The direction towards the key light, of any length: z is up."""

FILL = np.array([1.0, -0.25, 0.35])
"""The direction towards the fill light, of any length."""

LIGHT = (0.10, 0.85, 0.20)
"""What is there without the two lights, and what each of them adds."""

GAMMA = 2.2
"""Colours are stored as light to the power of its inverse."""


def lit(normals: np.ndarray, to_eye: np.ndarray, colour: tuple[float, float, float] = CLAY) -> np.ndarray:
    """Return the colours of surfaces seen from ``to_eye``: uint8[..., rgb], gamma 2.2.

    ``normals`` and ``to_eye`` are float[..., xyz] of length 1; a normal that looks away is turned.
    """
    facing = (normals * to_eye).sum(axis=-1, keepdims=True)
    normals = np.where(facing < 0, -normals, normals)
    key = np.clip(normals @ unit(KEY), 0, 1)[..., None]
    fill = np.clip(normals @ unit(FILL), 0, 1)[..., None]
    light = LIGHT[0] + LIGHT[1] * key + LIGHT[2] * fill
    return np.rint(255 * np.clip(np.array(colour) * light, 0, 1) ** (1 / GAMMA)).astype(np.uint8)


def facets(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the normals of triangles, 0 where one has no area: float[triangle, xyz]."""
    a, b, c = (points[corners[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1, keepdims=True)
    return across / np.where(length > 0, length, 1)


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
    affine: bool = False,
) -> ScreenTriangles:
    """Place a camera before a model and light its vertices, or its triangles where they are to be ``flat``.

    ``points`` and ``normals`` are float[vertex, xyz], ``corners`` int[triangle, 3]; ``colour`` is linear red, green and
    blue. ``standpoint`` is where the camera stands already, and ``screen`` what somebody else has projected: x and y in
    pixels and depth of each vertex; else triangles are cut where they reach past the near plane or the guard band.
    ``coordinates`` are those of a texture, float[vertex, uv] in texels. Colours and coordinates follow perspective, or
    are linear on the screen where they are to be ``affine``. Raises InputError for a model without extent, for numbers
    that are not finite and for corners that do not exist.
    """
    points = np.asarray(points, np.float64)
    check_mesh(points, corners)
    standpoint = Standpoint.of(points, view) if standpoint is None else standpoint
    colours = lit_corners(points, normals, corners, standpoint, flat=flat, colour=colour)
    texels = None if coordinates is None else coordinates[corners]
    if screen is not None:
        nearness = None if affine else standpoint.nearness(standpoint.distances(points))[corners]
        return snap(screen[corners, :2], screen[corners, 2], colours, texels, nearness)
    seen = ScreenCorners.of(standpoint, points, corners)
    texels = None if texels is None else seen.of_corners(texels)
    nearness = None if affine else seen.nearness
    return snap(seen.places[..., :2], seen.places[..., 2], np.rint(seen.of_corners(colours)), texels, nearness)


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
    to_eye = standpoint.camera.eye - points
    length = np.linalg.norm(to_eye, axis=1, keepdims=True)
    to_eye = to_eye / np.where(length > 0, length, 1)  # a vertex may be where the eye is
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
