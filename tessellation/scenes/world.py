"""Bodies in one world, seen by one camera: from meshes to the draws of a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pixelflow.simd.drawing import REACH, Draw, State
from pixelflow.simd.errors import Fault, InputError
from tessellation.picture import Standpoint, View
from tessellation.picture.lighting import CLAY, check_mesh, lit_triangles
from tessellation.sampling.choice import Sampling

__all__ = ["Body", "Placed", "Placing", "draws_of", "texture_coordinates"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A body of a scene file, with its copies.

    ``source`` is a name or a path, ``samples`` None for a mesh and for patches that are sampled by view; ``rest`` are
    the keys that say how it looks.
    """

    name: str
    source: str
    samples: int | None
    places: tuple[tuple[tuple[float, float, float], float], ...]
    """Where its copies stand, and how far each is turned; none where it is alone and stays as it is."""
    size: float | None
    rest: Mapping[str, Any]
    up: str = "z"
    """The axis of its file that is up."""
    sampling: Sampling | None = None
    """How patches are sampled by view."""
    one_sided: bool = False

    @property
    def patches(self) -> bool:
        """True where it is made of patches."""
        return self.samples is not None or self.sampling is not None

    @property
    def colour(self) -> tuple[float, float, float]:
        """The colour that it is given, or clay's: linear red, green, blue."""
        return tuple(self.rest.get("colour", CLAY))


@dataclass(frozen=True, slots=True, eq=False)
class Placing:
    """The way of a body to its place: turned around z, then made larger from its foot, then moved."""

    around: np.ndarray
    foot: np.ndarray
    factor: float
    place: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, place: Sequence[float], size: float | None, turn: float) -> Placing:
        """Return the one that `Body.placed` describes, for a body with these points, float64[point, xyz]."""
        angle = np.radians(turn)
        around = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        turned = points @ around.T
        low, high = turned.min(axis=0), turned.max(axis=0)
        extent = np.ptp(points, axis=0).max()
        factor = 1.0 if size is None else float(size / extent) if extent else 1.0
        return cls(around, np.array([*(low + high)[:2] / 2, low[2]]), factor, np.asarray(place, np.float64))

    def applied(self, points: np.ndarray) -> np.ndarray:
        """Return points at their place; their last axis is x, y, z."""
        return (points @ self.around.T - self.foot) * self.factor + self.place


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
        placing = Placing.of(self.points, place, size, turn)
        return replace(self, points=placing.applied(self.points), normals=self.normals @ placing.around.T)


def upright(values: np.ndarray) -> np.ndarray:
    """Return points or normals of a file whose y is up with z up, by a quarter turn around x: float64[..., xyz]."""
    turned: np.ndarray = values[..., [0, 2, 1]] * (1.0, -1.0, 1.0)
    return turned


def draws_of(
    bodies: Sequence[Body], view: View, standpoint: Standpoint | None = None, *, affine: bool = False
) -> list[Draw]:
    """Place a camera before all bodies together, light them, and return one draw for each body.

    ``standpoint`` is where the camera stands already. Depths run from 0 at the nearest vertex of all to 1 at the
    farthest. Colours and texture coordinates follow perspective, or are linear on the screen where they are to be
    ``affine``. Raises InputError for bodies without extent, points that are not finite, corners that do not exist and
    textures with too many repeats, with the body's name.
    """
    for body in bodies:
        check_mesh(body.points, body.corners, body.name)
    points = np.concatenate([body.points for body in bodies])
    standpoint = Standpoint.of(points, view) if standpoint is None else standpoint.ranged(points)
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
