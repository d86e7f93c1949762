"""Bodies in one world, seen by one camera: from meshes to the draws of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pixelflow.simd.drawing import REACH, Draw, State
from pixelflow.simd.errors import Fault, InputError
from tessellation.picture import Standpoint, View
from tessellation.picture.lighting import CLAY, check_mesh, lit_triangles

__all__ = ["Body", "draws_of", "texture_coordinates"]


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A mesh at its place in the world, and how it is drawn.

    ``points`` and ``normals`` are float64[vertex, xyz], ``corners`` int64[triangle, 3]. A texture is laid through the
    body along its y axis, or along z where it has no height, ``repeats`` times over the longer of the other extents.
    """

    name: str
    points: np.ndarray
    normals: np.ndarray
    corners: np.ndarray
    colour: tuple[float, float, float] = CLAY
    flat: bool = False
    state: State = field(default_factory=State)
    repeats: float = 4.0

    def placed(self, place: Sequence[float], size: float | None, turn: float) -> Body:
        """Return the body turned around z by degrees, then ``size`` long in its longest direction, then moved.

        It stands on its lowest point, with the middle of its box above ``place``. Without a size it keeps its own.
        """
        angle = np.radians(turn)
        around = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        points, normals = self.points @ around.T, self.normals @ around.T
        low, high = points.min(axis=0), points.max(axis=0)
        extent = np.ptp(self.points, axis=0).max()
        factor = 1.0 if size is None else size / extent if extent else 1.0
        foot = np.array([*(low + high)[:2] / 2, low[2]])
        points = (points - foot) * factor + np.asarray(place, np.float64)
        return Body(self.name, points, normals, self.corners, self.colour, self.flat, self.state, self.repeats)


def draws_of(bodies: Sequence[Body], view: View, *, affine: bool = False) -> list[Draw]:
    """Place a camera before all bodies together, light them, and return one draw for each body.

    Depths run from 0 at the nearest vertex of all to 1 at the farthest. Colours and texture coordinates follow
    perspective, or are linear on the screen where they are to be ``affine``. Raises InputError for bodies without
    extent, points that are not finite, corners that do not exist and textures with too many repeats, with the body's
    name.
    """
    for body in bodies:
        check_mesh(body.points, body.corners, body.name)
    standpoint = Standpoint.of(np.concatenate([body.points for body in bodies]), view)
    return [
        Draw(
            body.name,
            lit_triangles(
                body.points,
                body.normals,
                body.corners,
                view,
                flat=body.flat,
                colour=body.colour,
                standpoint=standpoint,
                coordinates=texture_coordinates(body),
                affine=affine,
            ),
            body.state,
        )
        for body in bodies
    ]


def texture_coordinates(body: Body) -> np.ndarray | None:
    """Return texture coordinates in texels for each vertex, or None where there is no texture."""
    texture = body.state.texture
    if texture is None:
        return None
    axes = [0, 2] if np.ptp(body.points[:, 2]) else [0, 1]
    across = body.points[:, axes] - body.points[:, axes].min(axis=0)
    share = across / max(across.max(), 1e-30) * body.repeats
    share[:, 1] = -share[:, 1]
    height, width = texture.texels.shape[:2]
    found = share * (width, height)
    if np.abs(found).max() >= REACH - 1:
        hint = f"repeats times the texture's width, and times its height, stay below {REACH - 1}"
        raise InputError(Fault(f"{body.name}: {body.repeats:g} repeats of {width}x{height} texels", hint=hint))
    return found
