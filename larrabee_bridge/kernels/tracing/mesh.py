"""Meshes that are traced: triangles with normals at their corners, and a knot above a mirroring floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError

__all__ = ["TracedMesh", "knot_on_floor"]


@dataclass(frozen=True, slots=True, eq=False)
class TracedMesh:
    """Triangles, seen from where their corners go round against the clock."""

    corners: NDArray[np.float32]
    """float32[triangle, corner, xyz]."""
    normals: NDArray[np.float32]
    """The same of unit normals."""
    colours: NDArray[np.uint8]
    """uint8[triangle, 4]: red, green, blue, and how much of the light it reflects as a mirror."""

    def __post_init__(self) -> None:
        count = len(self.corners)
        shapes = self.corners.shape, self.normals.shape, self.colours.shape
        if not count or shapes != ((count, 3, 3), (count, 3, 3), (count, 4)):
            raise InputError(Fault(f"a mesh of shapes {shapes}", hint="corners and normals [n, 3, 3], colours [n, 4]"))
        if not np.isfinite(self.corners).all() or not np.isfinite(self.normals).all():
            raise InputError(Fault("a corner or a normal of a mesh that is not finite"))

    def __len__(self) -> int:
        return len(self.corners)

    @property
    def facing(self) -> NDArray[np.float32]:
        """Normals of the triangles themselves, of any length: float32[triangle, xyz]."""
        first = self.corners[:, 0]
        return np.cross(self.corners[:, 1] - first, self.corners[:, 2] - first)


def _grid(points: NDArray[np.float64], normals: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Return both as [triangle, corner, xyz], two triangles for each cell of a grid [row, column, xyz]."""
    found = []
    for values in (points, normals):
        a, b, c, d = values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]
        halves = np.stack([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)], axis=2)
        found.append(halves.reshape(-1, 3, 3))
    return tuple(found)


def knot_on_floor(along: int = 1284, around: int = 80) -> TracedMesh:
    """Return a (2, 3) torus knot with waves, 2 x ``along`` x ``around`` triangles, above a floor of 2 x 16 x 16.

    1,284 x 80 are 205,952 with the floor. Raises InputError for fewer than three along or around.
    """
    if along < 3 or around < 3:
        raise InputError(Fault(f"a knot of {along} x {around} cells", hint="3 or more of each"))
    t, s = np.linspace(0, 2 * np.pi, along + 1), np.linspace(0, 2 * np.pi, around + 1)

    def centre(t: NDArray[np.float64]) -> NDArray[np.float64]:
        reach = 2 + np.cos(3 * t)
        return np.stack([reach * np.cos(2 * t), np.sin(3 * t), reach * np.sin(2 * t)], axis=-1)

    def surface(t: NDArray[np.float64], s: NDArray[np.float64]) -> NDArray[np.float64]:
        step = 1e-4
        forward = centre(t + step) - centre(t - step)
        forward /= np.linalg.norm(forward, axis=-1, keepdims=True)
        out = centre(t) * (1, 0, 1)
        out -= (out * forward).sum(-1, keepdims=True) * forward
        out /= np.linalg.norm(out, axis=-1, keepdims=True)
        across = np.cross(forward, out)
        radius = 0.52 + 0.045 * np.sin(40 * t) * np.cos(5 * s)
        return centre(t) + radius[..., None] * (np.cos(s)[..., None] * out + np.sin(s)[..., None] * across)

    rows, columns = np.meshgrid(t, s, indexing="ij")
    points = surface(rows, columns)
    step = 1e-4
    normals = np.cross(
        surface(rows, columns + step) - surface(rows, columns - step),
        surface(rows + step, columns) - surface(rows - step, columns),
    )
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    # The last row and column are the first again, to the bit, so that the surface is closed.
    for values in (points, normals):
        values[-1], values[:, -1] = values[0], values[:, 0]
    # Corners against the clock, seen from outside.
    knot, knot_normals = _grid(points, normals)
    cell = np.arange(len(knot)) // 2 // around
    hue = 2 * np.pi * cell / along
    shades = [0.62 + 0.33 * np.cos(hue + turn) for turn in (0, 2.1, 4.2)]
    colours = np.rint(255 * np.stack([*shades, np.full(len(knot), 0.2)], axis=1))
    side = np.linspace(-9, 9, 17)
    z, x = np.meshgrid(side, side, indexing="ij")
    flat = np.stack([x, np.full_like(x, -1.75), z], axis=-1)
    floor, floor_normals = _grid(flat.transpose(1, 0, 2), np.broadcast_to((0.0, 1.0, 0.0), flat.shape))
    cells = np.arange(len(floor)) // 2
    light = (cells // 16 + cells % 16) % 2
    shades = [*(np.where(light, each, 70) for each in (225, 222, 210)), np.full(len(cells), 90)]
    floor_colours = np.stack(shades, axis=1)
    return TracedMesh(
        np.concatenate([knot, floor]).astype(np.float32),
        np.concatenate([knot_normals, floor_normals]).astype(np.float32),
        np.concatenate([colours, floor_colours]).astype(np.uint8),
    )
