"""A shaded picture of a mesh.

Perspective three-quarter view, framed by the mesh itself; per-pixel (Phong) shading with the machine's own normals, a
shadow map for one key light, a floor under the model. Visibility comes from `pixelflow.simd.drawing`, at four samples a
pixel. Needs pillow (extra ``image``) only to write the PNG.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pixelflow.simd.drawing import FAR, NOTHING, SAMPLES, ScreenTriangles, edges_of, nearest, snap
from pixelflow.simd.errors import Fault, InputError, MissingPackageError
from pixelflow.simd.report import RasterImage
from tessellation.picture.camera import Camera, Standpoint, View, axes_along, unit
from tessellation.picture.lighting import CLAY, FILL, KEY
from tessellation.surface.mesh import Mesh

_FLOOR = np.array([[0.80], [0.80], [0.82]], np.float32)
_TOP = np.array([[0.60], [0.65], [0.72]], np.float32)
_HORIZON = np.array([[0.93], [0.93], [0.94]], np.float32)
_SHADOW_SIZE = 768
_SHADOW_BIAS = 0.02
_SPREAD = (-3.5, -1.2, 1.2, 3.5)
"""Offsets of the lookups in the shadow map around a place, in texels, along both axes."""
_BATCH = 1 << 14
"""Pixels at a time, whose data stay in the host's cache."""


class _Shadow(NamedTuple):
    """A depth map seen from the key light, orthographic, over the whole model: float32[row, column]."""

    axes: np.ndarray
    origin: np.ndarray
    scale: float
    depth: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, corners: np.ndarray) -> _Shadow:
        axes = axes_along(KEY)
        origin = (points.min(axis=0) + points.max(axis=0)) / 2
        radius = np.linalg.norm(points - origin, axis=1).max() * 1.05
        scale = _SHADOW_SIZE / 2 / radius
        x, y, up = ((points - origin) @ axes.T).T
        screen = np.stack([_SHADOW_SIZE / 2 + x * scale, _SHADOW_SIZE / 2 - y * scale], axis=-1)
        seen = _triangles(screen, (1 - up / radius) / 2, corners)
        number, depth = nearest(seen, _SHADOW_SIZE, _SHADOW_SIZE)
        far = np.where(number == NOTHING, np.inf, (depth / FAR * 2 - 1) * radius)
        return cls(axes, origin, scale, far.astype(np.float32))

    def lit(self, points: np.ndarray, bias: float = _SHADOW_BIAS) -> np.ndarray:
        """Return the share of light that reaches points [xyz, point], 0 to 1, smoothed over a few texels.

        ``bias`` is the distance within which nothing casts a shadow: on the model that would be the surface itself.
        """
        x, y, up = self.axes.astype(np.float32) @ (points - self.origin.astype(np.float32)[:, None])
        column, row = _SHADOW_SIZE / 2 + x * self.scale, _SHADOW_SIZE / 2 - y * self.scale
        columns = [np.clip(column + dx, 0, _SHADOW_SIZE - 1).astype(np.int32) for dx in _SPREAD]
        total, depth = np.zeros_like(x), -up - np.float32(bias)
        for dy in _SPREAD:
            start = np.clip(row + dy, 0, _SHADOW_SIZE - 1).astype(np.int32) * _SHADOW_SIZE
            for each in columns:
                total += depth < self.depth.take(start + each)
        return total / len(_SPREAD) ** 2


def picture(mesh: Mesh, view: View | None = None) -> np.ndarray:
    """Return a picture of the mesh, uint8 [height, width, rgb]. Raises InputError for a mesh without extent."""
    points = mesh.points.astype(np.float64)
    if len(mesh.triangles) == 0 or not np.ptp(points, axis=0).any():
        raise InputError(Fault("there is nothing to draw: the mesh has no triangle with an area"))
    standpoint = Standpoint.of(points, view or View())
    camera, placed = standpoint.camera, standpoint.placed(points)
    screen = standpoint.project(points)
    triangles = _triangles(screen[:, :2], screen[:, 2], mesh.triangles)
    shadow = _Shadow.of(placed, mesh.triangles)
    surface = _Surface.of(mesh, placed, triangles, camera)
    colours = np.zeros((camera.height * camera.width, 3), np.float32)
    seen = [_nearest(triangles, camera, place) for place in SAMPLES]
    for number, (place, here) in enumerate(zip(SAMPLES, seen, strict=True)):
        # The samples of a pixel that one triangle covers are shaded once, at the first of them.
        new = here != NOTHING
        for before in seen[:number]:
            new &= here != before
        edges = edges_of(triangles, place)
        for part in _batches(np.flatnonzero(new)):
            row, column = np.divmod(part, camera.width)
            which = here[part]
            # Minus an edge is a corner's weight on the screen: 1 at least, as these pixels are inside.
            inside = -(edges.a[which] * column[:, None] + edges.b[which] * row[:, None] + edges.c[which])
            times = sum((later[part] == which).astype(np.float32) for later in seen[number:])
            colours[part] += (surface.shade(which, inside, shadow) * times).T
    empty = sum((each == NOTHING).astype(np.float32) for each in seen)
    floor = float(placed[:, 2].min()) - 1e-3
    for part in _batches(np.flatnonzero(empty)):
        colours[part] += empty[part, None] * _floor_and_sky(camera, part, floor, shadow)
    del seen, empty
    colours /= len(SAMPLES)
    np.clip(colours, 0.0, 1.0, out=colours)
    colours **= np.float32(1 / 2.2)
    colours *= 255
    colours += 0.5
    return colours.astype(np.uint8).reshape(camera.height, camera.width, 3)


def png(mesh: Mesh, view: View | None = None) -> bytes:
    """Return a PNG file of picture(); raises InputError if pillow is not installed."""
    return pixels(mesh, view).png()


def pixels(mesh: Mesh, view: View | None = None, caption: str = "") -> RasterImage:
    """Return picture() as an image for a notebook."""
    drawn = picture(mesh, view)
    return RasterImage(drawn.shape[1], drawn.shape[0], 3, drawn.tobytes(), caption)


def require_pillow() -> None:
    """Raise MissingPackageError if pillow is not installed."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise MissingPackageError("writing a PNG needs Pillow, which is not installed", "image") from None


def _triangles(screen: np.ndarray, depth: np.ndarray, corners: np.ndarray) -> ScreenTriangles:
    """Return triangles without colours, which are computed only for visible pixels."""
    return snap(screen[corners], depth[corners], np.zeros((*corners.shape, 3), np.uint8))


def _nearest(triangles: ScreenTriangles, camera: Camera, place: tuple[int, int]) -> np.ndarray:
    """Return which triangle is seen in each pixel, or NOTHING: uint32[pixel]."""
    return nearest(triangles, camera.width, camera.height, place)[0].reshape(-1).astype(np.uint32)


def _batches(pixels: np.ndarray) -> list[np.ndarray]:
    return np.split(pixels, range(_BATCH, len(pixels), _BATCH))


class _Surface(NamedTuple):
    """Data for shading, for triangles in their order on the screen: float32 [..., vertex].

    ``corners`` int64[corner, triangle] are vertices, ``places`` and ``normals`` [xyz, vertex], ``inverse`` 1/distance
    from the eye.
    """

    corners: np.ndarray
    places: np.ndarray
    normals: np.ndarray
    inverse: np.ndarray
    eye: np.ndarray

    @classmethod
    def of(cls, mesh: Mesh, placed: np.ndarray, triangles: ScreenTriangles, camera: Camera) -> _Surface:
        # An edge goes from a corner to the next: it is the weight of the third.
        assert triangles.given is not None  # as they come from corners of the mesh
        corners = mesh.triangles.reshape(-1)[triangles.given[:, (2, 0, 1)].T]
        values = (placed.T, mesh.normals.T, -camera.project(placed)[:, 2], camera.eye[:, None])
        return cls(corners, *(np.ascontiguousarray(each, np.float32) for each in values))

    def shade(self, triangle: np.ndarray, inside: np.ndarray, shadow: _Shadow) -> np.ndarray:
        """Return colours, float32[rgb, pixel]: two-sided, key light with shadow, fill light, rim, highlight."""
        corners = self.corners[:, triangle]
        # Weights on the screen times 1/distance are those on the surface itself, up to their sum.
        weights = inside.T.astype(np.float32) * self.inverse[corners]
        weights /= weights.sum(axis=0)
        place, normal = (
            sum(weight * values[:, corner] for weight, corner in zip(weights, corners, strict=True))
            for values in (self.places, self.normals)
        )
        to_eye = _unit(self.eye - place)
        facing = _dot(_unit(normal), to_eye)
        normal, facing = np.copysign(1, facing) * _unit(normal), np.abs(facing)
        key, fill = unit(KEY).astype(np.float32), unit(FILL).astype(np.float32)
        slope = key @ normal
        lit = shadow.lit(place + np.float32(0.015) * normal) * np.clip(slope * 4, 0, 1)
        highlight = 0.40 * lit * np.clip(_dot(normal, _unit(key[:, None] + to_eye)), 0, 1) ** 60
        light = 0.13 + 0.17 * (0.5 + 0.5 * normal[2]) + 0.16 * np.clip(fill @ normal, 0, 1)
        light += 0.75 * np.clip(slope, 0, 1) * lit
        clay, rim = np.array(CLAY, np.float32)[:, None], 0.18 * (1 - facing) ** 3
        return clay * light + highlight + rim * _TOP


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors [xyz, pixel] scaled to length 1, except those of length 0."""
    return vectors / np.sqrt(np.maximum(_dot(vectors, vectors), np.float32(1e-24)))


def _floor_and_sky(camera: Camera, pixels: np.ndarray, level: float, shadow: _Shadow) -> np.ndarray:
    """Return the background, float32[pixel, rgb]: a floor that fades into the horizon's colour, and the sky above."""
    row, column = np.divmod(pixels, camera.width)
    rays = camera.rays(column, row).astype(np.float32)
    rise = (1 - row / max(camera.height - 1, 1)).astype(np.float32)
    image = _HORIZON + (_TOP - _HORIZON) * rise ** np.float32(1.5)
    down = rays[2] < -1e-6
    eye = camera.eye.astype(np.float32)[:, None]
    where = eye + (level - eye[2]) / rays[2, down] * rays[:, down]
    x, y = where[:2] - shadow.origin[:2, None].astype(np.float32)
    fade = np.exp((x * x + y * y) / np.float32(-(1.6**2)))
    floor = _FLOOR * (np.float32(0.45) + np.float32(0.55) * shadow.lit(where, 0.0))
    image[:, down] += fade * (floor - image[:, down])
    return image.T
