"""A camera, at a given place or set up so that a whole model is in the picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.drawing import DEPTH_GUARD, FAR, SUBPIXELS, perspective
from pixelflow.simd.errors import Fault, InputError

_WIDE, _HIGH = 0.86, 0.80
"""Share of the picture that a model's outline may fill across and down."""
_STEPS = 12
_FILLED = 0.9
"""Part of its share that the outline fills once the steps have converged; in the limit it fills all."""
_NEAR = 0.05
"""Smallest distance of the eye, in extents of the model; the outline alone would let a wide view touch it."""


CAMERA_RANGES = {"azimuth": (-360, 360), "elevation": (-89, 89), "field_of_view": (1, 120), "zoom": (0.1, 20)}
"""Ranges of the settings of a camera, at the beginning or at a frame: degrees, and zoom."""

CAMERA_PLACES = ("eye", "look_at")
"""Settings in place of azimuth and elevation: places in the world."""

FARTHEST = 1e6
"""The largest coordinate of a place."""

NEAR_RANGE = (1e-6, FARTHEST)
"""Range of the near plane of a camera at a place, in the world's units."""

_NEAR_SHARE = 0.01
"""Default distance of that near plane, in extents of the model."""

_APART = 1e-9
"""Smallest distance between the eye and the place it looks at."""


class View(NamedTuple):
    """The place of the camera, and the picture's size in pixels.

    With ``eye`` and ``look_at`` it is at the one and looks at the other, in the model's coordinates, and cuts away
    everything nearer than ``near`` along the view, by default a hundredth of the model's extent. Otherwise it looks
    from degrees around the z axis and above the floor, from as far back as it takes to have all of the model in the
    picture. ``zoom`` magnifies the picture around its middle, from the same place.
    """

    azimuth: float = -62.0
    elevation: float = 24.0
    field_of_view: float = 28.0
    width: int = 960
    height: int = 720
    zoom: float = 1.0
    eye: tuple[float, float, float] | None = None
    look_at: tuple[float, float, float] | None = None
    near: float | None = None


def camera_contradictions(told: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield settings of a camera that contradict others or have no effect, each with a hint."""
    places = [name for name in CAMERA_PLACES if name in told]
    if len(places) == 1:
        missing = next(name for name in CAMERA_PLACES if name not in told)
        yield f"{places[0]} without {missing}", "eye is the camera's place, look_at the middle of the picture"
    for name in ("azimuth", "elevation"):
        if places and name in told:
            yield f"{name} with {places[0]}", "a camera is at its eye or steps back: leave one of the two out"
    if "near" in told and not places:
        yield "near without eye", "a camera that steps back cuts nothing: give it an eye, or leave near out"
    if len(places) == 2 and not apart(*(told[name] for name in CAMERA_PLACES)):
        yield "eye is look_at", "it must look at another place than its own"


def apart(eye: object, look_at: object) -> bool:
    """Return True if two places are far enough from each other for a direction."""
    assert isinstance(eye, list | tuple) and isinstance(look_at, list | tuple)
    return math.dist(eye, look_at) >= _APART


class Camera(NamedTuple):
    """Eye, the three axes (right, up, back) as rows, and pixels per unit at distance 1."""

    eye: np.ndarray
    axes: np.ndarray
    focal: float
    width: int
    height: int

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return (x, y) in pixels and -1/distance along the view, a depth that grows with distance."""
        return self.divided(self.undivided(points))

    def undivided(self, points: np.ndarray) -> np.ndarray:
        """Return X and Y, pixels times distance from the middle to the right and up, and the distance along the view.

        Unlike those of `project`, these are finite for points level with the eye or behind it as well.
        """
        local = (points - self.eye) @ self.axes.T
        return np.stack([self.focal * local[..., 0], self.focal * local[..., 1], -local[..., 2]], axis=-1)

    def divided(self, found: np.ndarray) -> np.ndarray:
        """Return the result of `project` from X, Y and distances other than 0."""
        distance = found[..., 2]
        x = self.width / 2 + found[..., 0] / distance
        y = self.height / 2 - found[..., 1] / distance
        return np.stack([x, y, -1.0 / distance], axis=-1)

    def rays(self, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return the direction through the centres of pixels, not normalised: float64[xyz, pixel]."""
        x = (column + 0.5 - self.width / 2) / self.focal
        y = (self.height / 2 - row - 0.5) / self.focal
        return self.axes.T @ np.stack([x, y, np.full(x.shape, -1.0)])


class Standpoint(NamedTuple):
    """A camera before a model, or in the midst of it, and the depths that become 0 and 1.

    The camera sees (point - ``origin``) / ``extent``; ``low`` and ``high`` are its depths of the nearest and farthest
    point. Nothing nearer than ``near``, a distance as the camera sees it, is drawn; 0 if all points are before the eye.
    """

    origin: np.ndarray
    extent: float
    camera: Camera
    low: float
    high: float
    near: float = 0.0

    @classmethod
    def of(cls, points: np.ndarray, view: View) -> Standpoint:
        """Return the standpoint of a view of all points, float64[point, xyz], with depths from 0 to 1."""
        origin, extent = points.min(axis=0), np.ptp(points, axis=0).max()
        if view.eye is None:
            return cls(origin, extent, frame((points - origin) / extent, view), -1.0, -1.0).ranged(points)
        camera = _standing(view, origin, extent)
        near = _NEAR_SHARE if view.near is None else view.near / extent
        return cls(origin, extent, camera, -1.0, -1.0, near).ranged(points)

    def ranged(self, points: np.ndarray) -> Standpoint:
        """Return the same with depths from 0 at the nearest of points to 1 at the farthest: float64[point, xyz].

        Points nearer than the near plane count as on it.
        """
        distances = self.distances(points)
        nearest = max(distances.min(), self.near)
        return self._replace(low=-1.0 / nearest, high=-1.0 / max(distances.max(), nearest))

    def reached_past(self, points: np.ndarray) -> bool:
        """Return True if any of the points, float64[point, xyz], is nearer than the near plane, so that its depth is
        0.
        """
        return bool((self.distances(points) < self.near).any())

    def widened(self, share: float, *, nearest: bool = True) -> Standpoint:
        """Return the same with depths from share / (1 + 2 share) to 1 less that; from 0 without ``nearest``."""
        margin = share * (self.high - self.low)
        return self._replace(low=self.low - margin * nearest, high=self.high + margin)

    def placed(self, points: np.ndarray) -> np.ndarray:
        """Return points as the camera sees them."""
        return (points - self.origin) / self.extent

    def undivided(self, points: np.ndarray) -> np.ndarray:
        """Return X, Y and the distance of points from `Camera.undivided`: float64[point, 3]."""
        return self.camera.undivided(self.placed(points))

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Return distances of points along the view, as the camera sees them: float64[point]."""
        return np.asarray(self.undivided(points)[..., 2])

    def nearness(self, distances: np.ndarray) -> np.ndarray:
        """Return 1 / distance for distances along the view, in shares of the nearest one's: float64[...]."""
        return np.minimum(-1.0 / distances / self.low, 1)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return x and y in pixels and the depth of points, all before the eye: float64[point, 3]."""
        return self.divided(self.undivided(points))

    def divided(self, found: np.ndarray) -> np.ndarray:
        """Return the result of `project` from X, Y and distances other than 0."""
        found = self.camera.divided(found)
        depth, low, high = found[..., 2], self.low, self.high
        found[..., 2] = (depth - low) / (high - low) if high > low else np.zeros_like(depth)
        return found


def unit(vector: np.ndarray) -> np.ndarray:
    """Return vectors of length 1: the last axis is x, y, z."""
    return vector / np.linalg.norm(vector, axis=-1, keepdims=True)


def axes_along(back: np.ndarray) -> np.ndarray:
    """Return right, up, back as rows, with z upwards in the picture."""
    back = unit(back)
    right = np.cross((0.0, 0.0, 1.0), back)
    right = unit(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.stack([right, np.cross(back, right), back])


def _standing(view: View, origin: np.ndarray, extent: float) -> Camera:
    """Return the camera at the place of a view; raises InputError if eye and look_at give no direction."""
    eye, look_at = view.eye, view.look_at
    if eye is None or look_at is None or not apart(eye, look_at):
        hint = "eye is the camera's place, look_at another one, in the middle of the picture"
        raise InputError(Fault("a camera that looks nowhere", hint=hint))
    axes = axes_along(np.subtract(eye, look_at))
    return Camera((np.asarray(eye) - origin) / extent, axes, _focal(view) * view.zoom, view.width, view.height)


def _focal(view: View) -> float:
    return float(view.height / 2 / np.tan(np.radians(view.field_of_view) / 2))


def frame(points: np.ndarray, view: View) -> Camera:
    """Return a camera that has all points, float[point, xyz], before it and in its picture, with a margin.

    A few steps move it so that the outline is in the middle and fills its share of the picture. If they do not
    converge, as for wide fields of view and long pictures, the place is computed as the nearest one from which all
    points are within the margins. Raises InputError if there is no such place, as for points that are not finite.
    """
    azimuth, elevation = np.radians(view.azimuth), np.radians(view.elevation)
    back = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    axes = axes_along(back)
    width, height = view.width, view.height
    focal = _focal(view)
    with np.errstate(all="ignore"):  # steps may lead past a point; their result is checked
        camera = _stepped(points, axes, focal, width, height)
        if _filled(camera, points) < _FILLED:
            camera = _fitted(points, axes, focal, width, height)
            if not _filled(camera, points) >= 0:
                raise InputError(Fault("there is no place from which a camera sees all points"))
    return camera._replace(focal=camera.focal * view.zoom)


def _stepped(points: np.ndarray, axes: np.ndarray, focal: float, width: int, height: int) -> Camera:
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    eye = centre + 4.0 * axes[2]
    for _ in range(_STEPS):
        camera = Camera(eye, axes, focal, width, height)
        x, y, depth = camera.project(points).T
        distance = -1.0 / depth.min()
        middle = np.array([(x.min() + x.max() - width) / 2, (height - y.min() - y.max()) / 2]) * distance / focal
        eye = eye + middle[0] * axes[0] + middle[1] * axes[1]
        share = max((x.max() - x.min()) / (_WIDE * width), (y.max() - y.min()) / (_HIGH * height))
        eye = eye + (share - 1.0) * np.dot(eye - centre, axes[2]) * 0.9 * axes[2]
    return Camera(eye, axes, focal, width, height)


def _filled(camera: Camera, points: np.ndarray) -> float:
    """Return the part of its share of the picture that the outline fills, or -1 if a point is not visible."""
    x, y, depth = camera.project(points).T
    seen = (depth < 0) & (x >= 0) & (x <= camera.width) & (y >= 0) & (y <= camera.height)
    if not seen.all():
        return -1.0
    return max(np.ptp(x) / (_WIDE * camera.width), np.ptp(y) / (_HIGH * camera.height))


def _fitted(points: np.ndarray, axes: np.ndarray, focal: float, width: int, height: int) -> Camera:
    """Return the nearest camera that has all points within the margins.

    With t the tangent of the angle between the view and a margin, a point (x, z) is between both margins of an eye at
    (u, w) where x - u and u - x are at most t (w - z). So w is at least (max(x + t z) + max(t z - x)) / 2t, and of the
    places u that are left the middle one is taken.
    """
    x, y, z = (points @ axes.T).T
    sides, least = [], z.max() + _NEAR * (np.ptp(points, axis=0).max() or 1.0)
    for values, tangent in ((x, _WIDE * width / 2 / focal), (y, _HIGH * height / 2 / focal)):
        high, low = (values + tangent * z).max(), (tangent * z - values).max()
        sides.append((high - low) / 2)
        least = max(least, (high + low) / 2 / tangent)
    return Camera(np.array([*sides, least]) @ axes, axes, focal, width, height)


# Vertices that a machine takes to the screen in float32: the camera as a matrix, and their distance from 64 bits.


_UNIT = 2.0**-24
"""The relative error of one operation that is rounded to nearest, in float32."""

_LEAST_SPAN = 2.0**-20
"""Depths are spread over at least this share of the nearest one: what is at one distance is seen as flat."""


class Offset(NamedTuple):
    """Difference of vertices on the screen from those of the same camera in 64 bits.

    ``steps`` is the largest difference of x or y in 1/256 pixel, ``depth_steps`` that of the depth in steps of 2^-24;
    ``moved`` counts those of ``vertices`` whose x or y differs. Only vertices of uncut triangles that are drawn count.
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
        """Return the difference for vertices at ``points``, float64[vertex, 3], whose places on the screen are given.

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
        """Return the difference over the vertices of both."""
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
    """Return the standpoint with room at the ends of the depths for rounding errors.

    A sum of a row's terms is off by at most 5 u times the sum of their sizes: u for a coefficient, u for a coordinate,
    and 3 u for the sums (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). Twice the bound of z / w is
    enough, as it shrinks when the depths are spread wider. If points are nearer than the near plane there is no room at
    that end: triangles are cut where the depth is 0.
    """
    span = max(standpoint.high - standpoint.low, _LEAST_SPAN * -standpoint.low)
    standpoint = standpoint._replace(high=standpoint.low + span)
    rows = clip_matrix(standpoint)[2:]
    sizes = np.abs(points) @ np.abs(rows[:, :3]).T + np.abs(rows[:, 3])
    distance = np.maximum(points @ rows[1, :3] + rows[1, 3], standpoint.near)
    bound = (5 * _UNIT * sizes.sum(axis=1) / distance).max() + 2 * _UNIT
    return standpoint.widened(2 * float(bound), nearest=not standpoint.reached_past(points))
