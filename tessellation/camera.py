"""A camera, and how it is set up so that a whole model is in the picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Camera", "View", "axes_along", "frame", "unit"]


@dataclass(frozen=True, slots=True)
class View:
    """Where the camera stands: degrees around the z axis and above the floor, and the picture's size in pixels."""

    azimuth: float = -62.0
    elevation: float = 24.0
    field_of_view: float = 28.0
    width: int = 960
    height: int = 720


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """Eye, the three axes (right, up, back) as rows, and pixels per unit at distance 1."""

    eye: np.ndarray
    axes: np.ndarray
    focal: float
    width: int
    height: int

    def coarser(self, factor: int) -> Camera:
        """Return the same view with pixels that are ``factor`` times as large."""
        return Camera(self.eye, self.axes, self.focal / factor, self.width // factor, self.height // factor)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return (x, y) in pixels and -1/distance along the view, a depth that grows with distance."""
        local = (points - self.eye) @ self.axes.T
        distance = -local[..., 2]
        x = self.width / 2 + self.focal * local[..., 0] / distance
        y = self.height / 2 - self.focal * local[..., 1] / distance
        return np.stack([x, y, -1.0 / distance], axis=-1)

    def rays(self) -> np.ndarray:
        """Return the direction through each pixel centre, not normalised."""
        x = (np.arange(self.width) + 0.5 - self.width / 2) / self.focal
        y = (self.height / 2 - np.arange(self.height) - 0.5) / self.focal
        right, up, back = self.axes
        return x[None, :, None] * right + y[:, None, None] * up - back


def unit(vector: np.ndarray) -> np.ndarray:
    """Return vectors of length 1: the last axis is x, y, z."""
    return vector / np.linalg.norm(vector, axis=-1, keepdims=True)


def axes_along(back: np.ndarray) -> np.ndarray:
    """Return right, up, back as rows, with z upwards in the picture."""
    back = unit(back)
    right = np.cross((0.0, 0.0, 1.0), back)
    right = unit(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.stack([right, np.cross(back, right), back])


def frame(points: np.ndarray, view: View, oversample: int = 1) -> Camera:
    """Return a camera that sees the whole model with a margin, moved so that its outline is in the middle."""
    azimuth, elevation = np.radians(view.azimuth), np.radians(view.elevation)
    back = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    axes = axes_along(back)
    width, height = view.width * oversample, view.height * oversample
    focal = height / 2 / np.tan(np.radians(view.field_of_view) / 2)
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    eye = centre + 4.0 * axes[2]
    for _ in range(12):
        camera = Camera(eye, axes, focal, width, height)
        x, y, depth = camera.project(points).T
        distance = -1.0 / depth.min()
        middle = np.array([(x.min() + x.max() - width) / 2, (height - y.min() - y.max()) / 2]) * distance / focal
        eye = eye + middle[0] * axes[0] + middle[1] * axes[1]
        share = max((x.max() - x.min()) / (0.86 * width), (y.max() - y.min()) / (0.80 * height))
        eye = eye + (share - 1.0) * np.dot(eye - centre, axes[2]) * 0.9 * axes[2]
    return Camera(eye, axes, focal, width, height)
