"""Light on vertices: a key and a fill light on two-sided surfaces, in the host's floating point."""

from __future__ import annotations

import numpy as np

from tessellation.picture.camera import unit

__all__ = ["CLAY", "FILL", "KEY", "facets", "lit"]

CLAY = (0.66, 0.37, 0.21)
"""The colour of surfaces that have none of their own: linear red, green, blue."""

KEY = np.array([-0.50, -0.55, 1.05])
"""The direction towards the key light, of any length: z is up."""

FILL = np.array([1.0, -0.25, 0.35])
"""The direction towards the fill light, of any length."""


def lit(normals: np.ndarray, to_eye: np.ndarray, colour: tuple[float, float, float] = CLAY) -> np.ndarray:
    """Return the colours of surfaces seen from ``to_eye``: uint8[..., rgb], gamma 2.2.

    ``normals`` and ``to_eye`` are float[..., xyz] of length 1; a normal that looks away is turned.
    """
    facing = (normals * to_eye).sum(axis=-1, keepdims=True)
    normals = np.where(facing < 0, -normals, normals)
    key = np.clip(normals @ unit(KEY), 0, 1)[..., None]
    fill = np.clip(normals @ unit(FILL), 0, 1)[..., None]
    light = 0.10 + 0.85 * key + 0.20 * fill
    return np.rint(255 * np.clip(np.array(colour) * light, 0, 1) ** (1 / 2.2)).astype(np.uint8)


def facets(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the normals of triangles, 0 where one has no area: float[triangle, xyz]."""
    a, b, c = (points[corners[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1, keepdims=True)
    return across / np.where(length > 0, length, 1)
