"""A shaded picture of a mesh, so that a person sees what the numbers are.

Perspective three-quarter view, framed by the mesh itself; per-pixel (Phong) shading with the machine's own normals, a
shadow map for one key light, a floor under the model. Needs pillow (extra ``image``) only to write the PNG.
"""

from __future__ import annotations

import io

import numpy as np

from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.records import record
from tessellation.camera import Camera, View, axes_along, frame, unit
from tessellation.lighting import CLAY, FILL, KEY
from tessellation.mesh import Mesh
from tessellation.raster import Coverage, rasterize

__all__ = ["View", "picture", "png", "require_pillow"]

_FLOOR = np.array([0.80, 0.80, 0.82])
_TOP = np.array([0.60, 0.65, 0.72])
_HORIZON = np.array([0.93, 0.93, 0.94])
_OVERSAMPLE = 2
_SHADOW_SIZE = 768


@record(eq=False)
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
    camera = frame(points, view, _OVERSAMPLE)
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
        raise InputError(Fault("writing a PNG needs Pillow, which is not installed", hint=hint)) from None


def _shadow_map(points: np.ndarray, corners: np.ndarray) -> _Shadow:
    axes = axes_along(KEY)
    origin = (points.min(axis=0) + points.max(axis=0)) / 2
    radius = np.linalg.norm(points - origin, axis=1).max()
    scale = _SHADOW_SIZE / 2 / (radius * 1.05)
    local = (corners - origin) @ axes.T
    half = _SHADOW_SIZE / 2
    screen = np.stack([half + local[..., 0] * scale, half - local[..., 1] * scale, -local[..., 2]], axis=-1)
    return _Shadow(axes, origin, scale, 0.02, rasterize(screen, _SHADOW_SIZE, _SHADOW_SIZE).depth)


def _floor_and_sky(camera: Camera, points: np.ndarray, shadow: _Shadow) -> np.ndarray:
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
    mesh: Mesh, points: np.ndarray, seen: Coverage, hit: np.ndarray, camera: Camera, shadow: _Shadow
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
    to_eye = unit(camera.eye - place)
    facing = (normal * to_eye).sum(axis=1, keepdims=True)
    normal = np.where(facing < 0, -normal, normal)
    facing = np.abs(facing)

    key, fill = unit(KEY), unit(FILL)
    slope = (normal @ key)[:, None]
    lit = shadow.lit(place + 0.015 * normal)[:, None] * np.clip(slope * 4, 0, 1)
    diffuse = np.clip(slope, 0, 1) * lit
    half = unit(key + to_eye)
    highlight = np.clip((normal * half).sum(axis=1, keepdims=True), 0, 1) ** 60 * lit
    sky = 0.5 + 0.5 * normal[:, 2:]
    ambient = 0.13 + 0.17 * sky
    soft = 0.16 * np.clip((normal @ fill)[:, None], 0, 1)
    rim = 0.18 * (1 - facing) ** 3
    return np.array(CLAY) * (ambient + soft + 0.75 * diffuse) + 0.40 * highlight + rim * _TOP
