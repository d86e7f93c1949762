"""Bodies in one world, seen by one camera: from meshes to the draws of a frame, and shadow volumes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pixelflow.simd.drawing import REACH, Draw, State
from pixelflow.simd.errors import Fault, InputError
from tessellation.picture import KEY, SceneSource, Standpoint, View, facets, unit
from tessellation.picture.lighting import CLAY, check_mesh, lit_triangles
from tessellation.sampling import SampleChoice, Sampling, SeenPatches, outline_of, outward
from tessellation.scenes.families import counting
from tessellation.surface.mesh import build_mesh
from tessellation.surface.patch import Patch
from tessellation.surface.reference import PatchSamples

if TYPE_CHECKING:
    from tessellation.host.tessellator import Tessellation
    from tessellation.microprogram.method import Method


class Placed(NamedTuple):
    """A body of a scene file, with its copies.

    ``source`` is a name or a path, ``samples`` None for a mesh and for patches sampled by view; ``rest`` are the keys
    of its appearance.
    """

    name: str
    source: str
    samples: int | None
    places: tuple[tuple[tuple[float, float, float], float], ...]
    """Position and rotation of each copy; empty for a single body left unchanged."""
    size: float | None
    rest: Mapping[str, Any]
    up: str = "z"
    """The axis of its file that is up."""
    sampling: Sampling | None = None
    one_sided: bool = False

    @property
    def patches(self) -> bool:
        """True for patches, False for a mesh."""
        return self.samples is not None or self.sampling is not None

    @property
    def colour(self) -> tuple[float, float, float]:
        """Its colour, by default clay: linear red, green, blue."""
        return tuple(self.rest.get("colour", CLAY))


class Placing(NamedTuple):
    """Transformation of a body: rotated around z, then scaled from its foot, then moved."""

    around: np.ndarray
    foot: np.ndarray
    factor: float
    place: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, place: Sequence[float], size: float | None, turn: float) -> Placing:
        """Return the transformation of `Body.placed`, for a body with these points, float64[point, xyz]."""
        angle = np.radians(turn)
        around = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        turned = points @ around.T
        low, high = turned.min(axis=0), turned.max(axis=0)
        extent = np.ptp(points, axis=0).max()
        factor = 1.0 if size is None else float(size / extent) if extent else 1.0
        return cls(around, np.array([*(low + high)[:2] / 2, low[2]]), factor, np.asarray(place, np.float64))

    def applied(self, points: np.ndarray) -> np.ndarray:
        """Return transformed points; their last axis is x, y, z."""
        return (points @ self.around.T - self.foot) * self.factor + self.place


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A mesh at its place in the world, and its appearance.

    ``points`` and ``normals`` are float64[vertex, xyz], ``corners`` int64[triangle, 3]. A texture is projected through
    the body along its y axis, or along z if it is flat, ``repeats`` times over the longer of the other extents.
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
        """Return the body rotated around z by degrees, scaled to ``size`` in its longest direction, then moved.

        It rests on its lowest point, with the middle of its box above ``place``. Without a size it is not scaled.
        """
        placing = Placing.of(self.points, place, size, turn)
        return replace(self, points=placing.applied(self.points), normals=self.normals @ placing.around.T)


def upright(values: np.ndarray) -> np.ndarray:
    """Rotate points or normals of a file whose y is up by a quarter turn around x: float64[..., xyz], z up."""
    turned: np.ndarray = values[..., [0, 2, 1]] * (1.0, -1.0, 1.0)
    return turned


def draws_of(
    bodies: Sequence[Body], view: View, standpoint: Standpoint | None = None, *, affine: bool = False
) -> list[Draw]:
    """Place a camera in front of all bodies, light them, and return one draw for each body.

    ``standpoint`` replaces the camera's position. Depths run from 0 at the nearest vertex of all to 1 at the farthest.
    Colours and texture coordinates follow perspective, or with ``affine`` are linear on the screen. Raises InputError,
    with the body's name, for bodies without extent, points that are not finite, corners that do not exist and textures
    with too many repeats.
    """
    for body in bodies:
        check_mesh(body.points, body.corners, body.name)
    points = np.concatenate([body.points for body in bodies])
    standpoint = Standpoint.of(points, view) if standpoint is None else standpoint.ranged(points)
    drawn = (
        lit_triangles(
            body.points, body.normals, body.corners, view, flat=body.flat, colour=body.colour,
            standpoint=standpoint, coordinates=texture_coordinates(body), affine=affine,
        )
        for body in bodies
    )  # fmt: skip
    return [Draw(body.name, triangles, body.state) for body, triangles in zip(bodies, drawn, strict=True)]


def texture_coordinates(body: Body) -> np.ndarray | None:
    """Return texture coordinates in texels for each vertex, or None without a texture."""
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


# Bodies of patches sampled by view: in a node's texture memory once, tessellated anew for each camera.
#
# Every copy of a body has separate patches with transformed control points, since each is seen differently; for
# projection on the EMCs the thesis also requires all patches in one coordinate system (3.1.2). All share passes. The
# camera is placed by a fixed evaluation of all surfaces in 64 bits, so that it does not move with the samples.


@dataclass(frozen=True, slots=True, eq=False)
class SampledCopy:
    """A body sampled by view, or one of its copies, with transformed patches."""

    placed: Placed
    state: State
    patches: tuple[Patch, ...]
    outline: np.ndarray = field(repr=False)
    """Points of the surface, float64[point, xyz]."""

    @property
    def sampling(self) -> Sampling:
        assert self.placed.sampling is not None
        return self.placed.sampling


def copies_of(placed: Placed, patches: Sequence[Patch], state: State) -> list[SampledCopy]:
    """Return a body's copies, or the body itself without any."""
    if placed.up == "y":
        patches = [replace(patch, points=upright(patch.points.astype(np.float64))) for patch in patches]
    outline = outline_of(patches)
    if not placed.places:
        return [SampledCopy(placed, state, tuple(patches), outline)]
    found = []
    for place, turn in placed.places:
        placing = Placing.of(outline, place, placed.size, turn)
        moved = tuple(replace(patch, points=placing.applied(patch.points.astype(np.float64))) for patch in patches)
        found.append(SampledCopy(placed, state, moved, placing.applied(outline)))
    return found


class SampledBodies:
    """The bodies of a scene sampled by view, and the manager of their patches."""

    def __init__(self, copies: Sequence[SampledCopy], how: SceneSource, method: Method | None = None) -> None:
        """Raise InputError for patches that a manager refuses, and for a one-sided body that is not orientable."""
        from tessellation.host.manager import PatchManager

        self.copies = tuple(copies)
        patches = [patch for copy in copies for patch in copy.patches]
        self._sampling = [copy.sampling for copy in copies for _ in copy.patches]
        self._owners = np.repeat(np.arange(len(copies)), [len(copy.patches) for copy in copies])
        signs = [
            outward(copy.patches) if copy.placed.one_sided else np.zeros(len(copy.patches), np.int64)
            for copy in copies
        ]  # fmt: skip
        self._outwards = np.concatenate(signs)
        self._how = how
        self.manager = PatchManager(
            Counter(patch.degrees for patch in patches), config=how.config, engine=how.engine, method=method
        )
        for patch in patches:
            self.manager.add(patch)
        if how.watch is not None:
            how.watch(self.manager.session.node)

    def seen(self, standpoint: Standpoint) -> SeenPatches:
        """Return the patches of all copies as seen by a camera."""
        patches = tuple(handle.patch for handle in self.manager.handles)
        return SeenPatches(patches, standpoint, tuple(self._sampling), self._outwards)

    def before(self, standpoint: Standpoint) -> tuple[list[Body | None], Tessellation, SampleChoice]:
        """Tessellate for a camera; return the copies, None for those out of sight, with tessellation and samples."""
        choice = self.seen(standpoint).choice()
        self.manager.mark_all(choice.samples)
        self.manager.tessellate(self._how.progress)
        done = self.manager.last
        owners = self._owners[list(choice.kept)]
        bodies: list[Body | None] = []
        for number, copy in enumerate(self.copies):
            mine = [done.patches[at] for at in np.flatnonzero(owners == number)]
            bodies.append(_body(copy, mine) if mine else None)
        return bodies, done, choice


def _body(copy: SampledCopy, samples: Sequence[PatchSamples]) -> Body:
    mesh, rest = build_mesh(samples, weld=True), copy.placed.rest
    points, normals, corners = mesh.points.astype(np.float64), mesh.normals.astype(np.float64), mesh.triangles
    flat = rest.get("flat", False)
    return Body(copy.placed.name, points, normals, corners.astype(np.int64), copy.placed.colour, flat, copy.state)


# Shadow volumes of bodies under the key light, whose sides count in the stencil (`families.shade` darkens by it).
#
# The volume of a body is swept by its lit triangles away from the light: a lid of these, a reversed copy of them as the
# bottom, and a side for each edge that two of them do not share. So it is closed and oriented outwards, whatever the
# mesh is. Each triangle is tested for facing the eye, as by a machine with a stencil for each side.


def shadow_volume(points: np.ndarray, corners: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points and triangles, oriented outwards, of the shadow volume of a mesh of this ``length``.

    ``points`` are float64[vertex, xyz], ``corners`` int64[triangle, 3], anticlockwise as seen from outside. Coincident
    vertices are merged.
    """
    welded, which = np.unique(points, axis=0, return_inverse=True)
    corners = which.reshape(-1)[corners]
    lid = corners[facets(welded, corners) @ unit(KEY) > 0]
    edges = np.concatenate([lid[:, [k, (k + 1) % 3]] for k in range(3)])
    forwards = edges[:, 0] < edges[:, 1]
    lines, line = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    net = np.bincount(line.reshape(-1), np.where(forwards, 1, -1), len(lines)).astype(np.intp)
    sides = np.repeat(np.where(net[:, None] > 0, lines, lines[:, ::-1]), np.abs(net), axis=0)
    a, b = sides.T
    below = len(welded)
    around = np.concatenate([np.stack([b, a, a + below], axis=1), np.stack([b, a + below, b + below], axis=1)])
    found = np.concatenate([lid, lid[:, ::-1] + below, around])
    return np.concatenate([welded, welded - length * unit(KEY)]), found


def shadow_bodies(casters: Sequence[Body], eye: Sequence[float], length: float) -> list[Body]:
    """Return the far and the near sides of all casters' volumes, as seen from an eye, to be drawn after bodies.

    Hidden far sides count up, hidden near sides down (Carmack's reverse), so that the eye may be in a shadow and the
    near plane may cut.
    """
    volumes = [shadow_volume(caster.points, caster.corners, length) for caster in casters]
    begins = np.cumsum([0] + [len(points) for points, _ in volumes[:-1]])
    points = np.concatenate([points for points, _ in volumes])
    corners = np.concatenate([found + begin for (_, found), begin in zip(volumes, begins, strict=True)])
    near = (facets(points, corners) * (np.asarray(eye) - points[corners[:, 0]])).sum(axis=1) > 0
    found = []
    for (name, state), which in zip(counting(f"{len(volumes)} shadows"), (~near, near), strict=True):
        used, part = np.unique(corners[which], return_inverse=True)
        found.append(Body(name, points[used], np.zeros((len(used), 3)), part.reshape(-1, 3), state=state))
    return found
