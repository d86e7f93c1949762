"""A shaded picture of a mesh, so that a person sees what the numbers are.

Perspective three-quarter view, framed by the mesh itself; per-pixel (Phong) shading with the machine's own normals, a
shadow map for one key light, a floor under the model. Needs pillow (extra ``image``) only to write the PNG.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np

from pixelflow.errors import Fault, InputError
from tessellation.mesh import Mesh
from tessellation.raster import Coverage, rasterize

__all__ = ["View", "picture", "png", "require_pillow"]

_KEY = np.array([-0.50, -0.55, 1.05])
_FILL = np.array([1.0, -0.25, 0.35])
_CLAY = np.array([0.66, 0.37, 0.21])
_FLOOR = np.array([0.80, 0.80, 0.82])
_TOP = np.array([0.60, 0.65, 0.72])
_HORIZON = np.array([0.93, 0.93, 0.94])
_OVERSAMPLE = 2
_SHADOW_SIZE = 768


@dataclass(frozen=True, slots=True)
class View:
    """Where the camera stands: degrees around the z axis and above the floor, and the picture's size in pixels."""

    azimuth: float = -62.0
    elevation: float = 24.0
    field_of_view: float = 28.0
    width: int = 960
    height: int = 720


@dataclass(frozen=True, slots=True, eq=False)
class _Camera:
    """Eye, the three axes (right, up, back) as rows, and pixels per unit at distance 1."""

    eye: np.ndarray
    axes: np.ndarray
    focal: float
    width: int
    height: int

    def coarser(self, factor: int) -> _Camera:
        """Return the same view with pixels that are ``factor`` times as large."""
        return _Camera(self.eye, self.axes, self.focal / factor, self.width // factor, self.height // factor)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return (x, y) in pixels and 1/distance along the view as a depth that grows with distance."""
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


@dataclass(frozen=True, slots=True, eq=False)
class _Shadow:
    """A depth map seen from the key light, orthographic, over the whole model."""

    axes: np.ndarray
    origin: np.ndarray
    scale: float
    bias: float
    depth: np.ndarray

    def lit(self, points: np.ndarray) -> np.ndarray:
        """Return the share of light that reaches each point, 0 to 1, smoothed over a few texels."""
        local = (points - self.origin) @ self.axes.T
        x, y, depth = local[:, 0] * self.scale, local[:, 1] * self.scale, -local[:, 2] - self.bias
        half = _SHADOW_SIZE / 2
        total = np.zeros(len(points))
        spread = (-3.5, -1.2, 1.2, 3.5)
        for dx in spread:
            for dy in spread:
                column = np.clip((half + x + dx).astype(int), 0, _SHADOW_SIZE - 1)
                row = np.clip((half - y + dy).astype(int), 0, _SHADOW_SIZE - 1)
                total += depth < self.depth[row, column]
        return total / len(spread) ** 2


def picture(mesh: Mesh, view: View | None = None) -> np.ndarray:
    """Return a picture of the mesh, uint8 [height, width, rgb]. Raises InputError for a mesh without extent."""
    view = view or View()
    points = mesh.points.astype(np.float64)
    if len(mesh.triangles) == 0 or not np.ptp(points, axis=0).any():
        raise InputError(Fault("there is nothing to draw: the mesh has no triangle with an area"))
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0).max()
    camera = _frame(points, view)
    corners = points[mesh.triangles]
    seen = rasterize(camera.project(corners), camera.width, camera.height)
    shadow = _shadow_map(points, corners)
    n = _OVERSAMPLE
    # The background is smooth, so that it is computed once for each pixel of the picture.
    image = _floor_and_sky(camera.coarser(n), points, shadow).repeat(n, axis=0).repeat(n, axis=1)
    hit = seen.triangle >= 0
    image[hit] = _shade(mesh, points, seen, hit, camera, shadow)
    image = image.reshape(view.height, n, view.width, n, 3).mean(axis=(1, 3))
    return (np.clip(image, 0.0, 1.0) ** (1 / 2.2) * 255 + 0.5).astype(np.uint8)


def png(mesh: Mesh, view: View | None = None) -> bytes:
    """Return a PNG file of picture(); raises InputError where pillow is not installed."""
    require_pillow()
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(picture(mesh, view), "RGB").save(buffer, format="PNG")
    return buffer.getvalue()


def require_pillow() -> None:
    """Raise InputError where pillow is not installed."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        hint = "pip install 'pixelflow-sim[image]'"
        raise InputError(Fault("a preview needs pillow, which is not installed", hint=hint)) from None


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector, axis=-1, keepdims=True)


def _axes(back: np.ndarray) -> np.ndarray:
    """Return right, up, back as rows, with z upwards in the picture."""
    back = _unit(back)
    right = np.cross((0.0, 0.0, 1.0), back)
    right = _unit(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.stack([right, np.cross(back, right), back])


def _frame(points: np.ndarray, view: View) -> _Camera:
    """Return a camera that sees the whole model with a margin, moved so that its outline is in the middle."""
    azimuth, elevation = np.radians(view.azimuth), np.radians(view.elevation)
    back = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    axes = _axes(back)
    width, height = view.width * _OVERSAMPLE, view.height * _OVERSAMPLE
    focal = height / 2 / np.tan(np.radians(view.field_of_view) / 2)
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    eye = centre + 4.0 * axes[2]
    for _ in range(12):
        camera = _Camera(eye, axes, focal, width, height)
        x, y, depth = camera.project(points).T
        distance = -1.0 / depth.min()
        middle = np.array([(x.min() + x.max() - width) / 2, (height - y.min() - y.max()) / 2]) * distance / focal
        eye = eye + middle[0] * axes[0] + middle[1] * axes[1]
        share = max((x.max() - x.min()) / (0.86 * width), (y.max() - y.min()) / (0.80 * height))
        eye = eye + (share - 1.0) * np.dot(eye - centre, axes[2]) * 0.9 * axes[2]
    return _Camera(eye, axes, focal, width, height)


def _shadow_map(points: np.ndarray, corners: np.ndarray) -> _Shadow:
    axes = _axes(_KEY)
    origin = (points.min(axis=0) + points.max(axis=0)) / 2
    radius = np.linalg.norm(points - origin, axis=1).max()
    scale = _SHADOW_SIZE / 2 / (radius * 1.05)
    local = (corners - origin) @ axes.T
    half = _SHADOW_SIZE / 2
    screen = np.stack([half + local[..., 0] * scale, half - local[..., 1] * scale, -local[..., 2]], axis=-1)
    return _Shadow(axes, origin, scale, 0.02, rasterize(screen, _SHADOW_SIZE, _SHADOW_SIZE).depth)


def _floor_and_sky(camera: _Camera, points: np.ndarray, shadow: _Shadow) -> np.ndarray:
    """Return the background: a floor under the model that fades into the horizon's colour, and the sky above it."""
    rays = camera.rays()
    level = points[:, 2].min() - 1e-3
    rise = np.linspace(1.0, 0.0, camera.height)[:, None, None]
    sky = _HORIZON + (_TOP - _HORIZON) * rise**1.5
    image = np.broadcast_to(sky, rays.shape).copy()
    down = rays[..., 2] < -1e-6
    distance = (level - camera.eye[2]) / rays[down][:, 2]
    where = camera.eye + distance[:, None] * rays[down]
    reach = np.linalg.norm(where[:, :2] - shadow.origin[:2], axis=1)
    fade = np.exp(-((reach / 1.6) ** 2))[:, None]
    lit = shadow.lit(where)[:, None]
    floor = _FLOOR * (0.45 + 0.55 * lit)
    image[down] = image[down] * (1 - fade) + floor * fade
    return image


def _shade(
    mesh: Mesh, points: np.ndarray, seen: Coverage, hit: np.ndarray, camera: _Camera, shadow: _Shadow
) -> np.ndarray:
    """Return the colour of the pixels in ``hit``: two-sided, key light with shadow, fill light, rim, highlight."""
    corners = mesh.triangles[seen.triangle[hit]]
    # Screen weights times 1/distance, normalised again, are the weights on the surface itself.
    inverse = -camera.project(points)[:, 2][corners]
    weights = seen.weights[hit] * inverse
    weights = (weights / weights.sum(axis=1, keepdims=True))[..., None]
    place = (points[corners] * weights).sum(axis=1)
    normal = (mesh.normals.astype(np.float64)[corners] * weights).sum(axis=1)
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    to_eye = _unit(camera.eye - place)
    facing = (normal * to_eye).sum(axis=1, keepdims=True)
    normal = np.where(facing < 0, -normal, normal)
    facing = np.abs(facing)

    key, fill = _unit(_KEY), _unit(_FILL)
    slope = (normal @ key)[:, None]
    lit = shadow.lit(place + 0.015 * normal)[:, None] * np.clip(slope * 4, 0, 1)
    diffuse = np.clip(slope, 0, 1) * lit
    half = _unit(key + to_eye)
    highlight = np.clip((normal * half).sum(axis=1, keepdims=True), 0, 1) ** 60 * lit
    sky = 0.5 + 0.5 * normal[:, 2:]
    ambient = 0.13 + 0.17 * sky
    soft = 0.16 * np.clip((normal @ fill)[:, None], 0, 1)
    rim = 0.18 * (1 - facing) ** 3
    return _CLAY * (ambient + soft + 0.75 * diffuse) + 0.40 * highlight + rim * _TOP
