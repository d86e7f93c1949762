"""From a mesh to triangles on the screen: what an application and the GPs do before PixelFlow draws.

In the host's floating point; neither its time nor its rounding is part of the model.
"""

from __future__ import annotations

import numpy as np

from pixelflow.drawing import ScreenTriangles, snap
from pixelflow.errors import Fault, InputError
from tessellation.camera import View, frame, unit

__all__ = ["lit_triangles"]

_KEY = np.array([-0.50, -0.55, 1.05])
_FILL = np.array([1.0, -0.25, 0.35])
_CLAY = np.array([0.66, 0.37, 0.21])


def lit_triangles(
    points: np.ndarray, normals: np.ndarray, corners: np.ndarray, view: View, *, flat: bool = False
) -> ScreenTriangles:
    """Place a camera before a model and light its vertices, or its triangles where they are to be ``flat``.

    ``points`` and ``normals`` are float[vertex, xyz], ``corners`` int[triangle, 3]. Raises InputError for a model
    without extent, for numbers that are not finite and for corners that do not exist.
    """
    points = np.asarray(points, np.float64)
    _check(points, corners)
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0).max()
    camera = frame(points, view)
    x, y, depth = camera.project(points).T
    low, high = depth.min(), depth.max()
    depth = (depth - low) / (high - low) if high > low else np.zeros_like(depth)
    to_eye = unit(camera.eye - points)
    colours = _lit(np.asarray(normals, np.float64), to_eye)[corners]
    if flat:
        a, b, c = (points[corners[:, corner]] for corner in range(3))
        across = np.cross(b - a, c - a)
        length = np.linalg.norm(across, axis=1, keepdims=True)
        facets = across / np.where(length > 0, length, 1)
        colours = np.repeat(_lit(facets, to_eye[corners].mean(axis=1))[:, None], 3, axis=1)
    return snap(np.stack([x, y], axis=-1)[corners], depth[corners], colours)


def _check(points: np.ndarray, corners: np.ndarray) -> None:
    if len(corners) == 0 or len(points) == 0 or not np.ptp(points, axis=0).any():
        raise InputError(Fault("there is nothing to draw: no triangle with an extent"))
    wrong = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(wrong):
        raise InputError(Fault(f"vertex {wrong[0] + 1} of {len(points)} is not a finite point"))
    wrong = np.flatnonzero(((corners < 0) | (corners >= len(points))).any(axis=1))
    if len(wrong):
        raise InputError(Fault(f"triangle {wrong[0] + 1} names a vertex that does not exist; there are {len(points)}"))


def _lit(normals: np.ndarray, to_eye: np.ndarray) -> np.ndarray:
    """Return the colours of two-sided surfaces under a key and a fill light: uint8[..., rgb]."""
    facing = (normals * to_eye).sum(axis=-1, keepdims=True)
    normals = np.where(facing < 0, -normals, normals)
    key = np.clip(normals @ unit(_KEY), 0, 1)[..., None]
    fill = np.clip(normals @ unit(_FILL), 0, 1)[..., None]
    light = 0.10 + 0.85 * key + 0.20 * fill
    return np.rint(255 * np.clip(_CLAY * light, 0, 1) ** (1 / 2.2)).astype(np.uint8)
