"""A camera, and how it is set up so that a whole model is in the picture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pixelflow.simd.errors import Fault, InputError

__all__ = ["CAMERA_RANGES", "Camera", "Standpoint", "View", "axes_along", "frame", "unit"]

_WIDE, _HIGH = 0.86, 0.80
"""The share of the picture that a model's outline may fill across and down."""
_STEPS = 12
_FILLED = 0.9
"""The steps have come to an end where the outline fills this much of its share; when they converge, it fills all."""
_NEAR = 0.05
"""The least distance of the eye, in extents of the model, where its outline alone would let the eye touch it."""


CAMERA_RANGES = {"azimuth": (-360, 360), "elevation": (-89, 89), "field_of_view": (1, 120), "zoom": (0.1, 20)}
"""What is said of a camera, at the beginning or at a frame, and from where to where: degrees, and zoom."""


@dataclass(frozen=True, slots=True)
class View:
    """Where the camera stands: degrees around the z axis and above the floor, and the picture's size in pixels.

    ``zoom`` magnifies the picture around its middle, from the place where all of the model is in it.
    """

    azimuth: float = -62.0
    elevation: float = 24.0
    field_of_view: float = 28.0
    width: int = 960
    height: int = 720
    zoom: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """Eye, the three axes (right, up, back) as rows, and pixels per unit at distance 1."""

    eye: np.ndarray
    axes: np.ndarray
    focal: float
    width: int
    height: int

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return (x, y) in pixels and -1/distance along the view, a depth that grows with distance."""
        local = (points - self.eye) @ self.axes.T
        distance = -local[..., 2]
        x = self.width / 2 + self.focal * local[..., 0] / distance
        y = self.height / 2 - self.focal * local[..., 1] / distance
        return np.stack([x, y, -1.0 / distance], axis=-1)

    def rays(self, column: np.ndarray, row: np.ndarray) -> np.ndarray:
        """Return the direction through the centres of pixels, not normalised: float64[xyz, pixel]."""
        x = (column + 0.5 - self.width / 2) / self.focal
        y = (self.height / 2 - row - 0.5) / self.focal
        return self.axes.T @ np.stack([x, y, np.full(x.shape, -1.0)])


@dataclass(frozen=True, slots=True, eq=False)
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

    def ranged(self, points: np.ndarray) -> Standpoint:
        """Return the same with depths from 0 at the nearest of points to 1 at the farthest: float64[point, xyz]."""
        depths = self.camera.project(self.placed(points))[:, 2]
        return replace(self, low=depths.min(), high=depths.max())

    def widened(self, share: float) -> Standpoint:
        """Return the same with depths from share / (1 + 2 share) to 1 less that."""
        margin = share * (self.high - self.low)
        return replace(self, low=self.low - margin, high=self.high + margin)

    def placed(self, points: np.ndarray) -> np.ndarray:
        """Return points as the camera sees them."""
        return (points - self.origin) / self.extent

    def nearness(self, points: np.ndarray) -> np.ndarray:
        """Return 1 / distance of points along the view, in shares of the nearest one's: float64[point]."""
        return np.minimum(self.camera.project(self.placed(points))[:, 2] / self.low, 1)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return x and y in pixels and the depth of points: float64[point, 3]."""
        found = self.camera.project(self.placed(points))
        depth, low, high = found[:, 2], self.low, self.high
        found[:, 2] = (depth - low) / (high - low) if high > low else np.zeros_like(depth)
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


def frame(points: np.ndarray, view: View) -> Camera:
    """Return a camera that has all points, float[point, xyz], before it and in its picture, with a margin.

    A few steps move it so that the outline is in the middle and fills its share of the picture. Where they do not lead
    there, which they do not for wide fields of view and long pictures, the place is computed: the nearest one from
    which all points lie within the margins. Raises InputError where no such place is found: for points that are not
    finite.
    """
    azimuth, elevation = np.radians(view.azimuth), np.radians(view.elevation)
    back = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    axes = axes_along(back)
    width, height = view.width, view.height
    focal = height / 2 / np.tan(np.radians(view.field_of_view) / 2)
    with np.errstate(all="ignore"):  # steps that lead past a point are judged by where they end
        camera = _stepped(points, axes, focal, width, height)
        if _filled(camera, points) < _FILLED:
            camera = _fitted(points, axes, focal, width, height)
            if not _filled(camera, points) >= 0:
                raise InputError(Fault("there is no place from which a camera sees all points"))
    return replace(camera, focal=camera.focal * view.zoom)


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
    """Return how much of its share of the picture the outline fills, or -1 where a point is not seen."""
    x, y, depth = camera.project(points).T
    seen = (depth < 0) & (x >= 0) & (x <= camera.width) & (y >= 0) & (y <= camera.height)
    if not seen.all():
        return -1.0
    return max(np.ptp(x) / (_WIDE * camera.width), np.ptp(y) / (_HIGH * camera.height))


def _fitted(points: np.ndarray, axes: np.ndarray, focal: float, width: int, height: int) -> Camera:
    """Return the nearest camera that has all points within the margins.

    With t the tangent of the angle between the view and a margin, a point (x, z) lies between both margins of an eye at
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
