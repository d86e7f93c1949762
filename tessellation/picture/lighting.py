"""Light on a mesh, and its triangles on the screen: the work of an application and the GPs before a machine draws.

In the host's floating point; neither its time nor its rounding is part of the model. A key and a fill light shine on
two-sided surfaces. If the EMCs have projected the points (`rendering/projection.py`), only the camera's place, the
light and the conversion to integers are done here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.drawing import REACH, ScreenTriangles, snap
from pixelflow.simd.errors import Fault, InputError
from tessellation.picture.camera import Standpoint, View, unit

# Triangles cut by the near plane and the guard band on the host, before the division, in 64-bit floats.
#
# Sutherland and Hodgman 1974, plane after plane. An edge is always cut from its inner end, so that both triangles that
# share it get the same corner; a polygon of more corners becomes a fan around its first one. A triangle that need not
# be cut keeps every bit. The guard band ends at the range of the screen's numbers: triangles that reach out of the
# picture, but stay inside the band, are left whole.


_BESIDE = 2
"""Pixels between the guard band and the range of the screen's numbers: more than rounding moves a corner."""

Floats = NDArray[np.float64]


class CutTriangles(NamedTuple):
    """Triangles after a cut, in their order, each replaced by its pieces.

    ``corners`` is float64[triangle, corner, 3], X, Y and distance; ``source`` int64[triangle] the number of the
    triangle that each comes from; ``weights`` float64[triangle, corner, 3] the share that each corner of that one has.
    """

    corners: Floats
    source: NDArray[np.int64]
    weights: Floats

    def of_corners(self, values: NDArray[np.number]) -> Floats:
        """Return values of corners, [triangle, corner, ...] of those before the cut, for those after it."""
        found: Floats = np.einsum("tck,tk...->tc...", self.weights, values[self.source].astype(np.float64))
        return found


def cut_triangles(corners: Floats, width: int, height: int, near: float) -> CutTriangles | None:
    """Cut triangles to distances of at least ``near`` and to the guard band of the screen.

    ``corners`` are float64[triangle, corner, 3]: X and Y in pixels times distance, from the middle of a screen of
    ``width`` times ``height``, and the distance along the view. Returns None if no triangle need be cut.
    """
    planes = _planes(REACH - max(width, height) / 2 - _BESIDE, near)
    outside = np.stack([plane(corners) < 0 for plane in planes])  # [plane, triangle, corner]
    reaching, gone = outside.any(axis=(0, 2)), outside.all(axis=2).any(axis=0)
    if not reaching.any():
        return None
    whole = np.flatnonzero(~reaching)
    kept, source, weights = [corners[whole]], [whole], [np.broadcast_to(np.eye(3), (len(whole), 3, 3))]
    for number in np.flatnonzero(reaching & ~gone).tolist():
        polygon = [(corner, share) for corner, share in zip(corners[number], np.eye(3), strict=True)]
        for at, plane in enumerate(planes):
            polygon = _cut(polygon, plane, near if at == 0 else None)
        pieces = [(polygon[0], *polygon[at : at + 2]) for at in range(1, len(polygon) - 1)]
        if pieces:
            kept.append(np.array([[place for place, _ in piece] for piece in pieces]))
            weights.append(np.array([[share for _, share in piece] for piece in pieces]))
            source.append(np.full(len(pieces), number))
    origin = np.concatenate(source)
    order = np.argsort(origin, kind="stable")
    return CutTriangles(np.concatenate(kept)[order], origin[order], np.concatenate(weights)[order])


def _planes(reach: float, near: float) -> tuple[Callable[[Floats], Floats], ...]:
    """Return functions of a corner that give its distance from each plane, in no particular unit: below 0 outside."""
    return (
        lambda corner: corner[..., 2] - near,
        lambda corner: reach * corner[..., 2] + corner[..., 0],
        lambda corner: reach * corner[..., 2] - corner[..., 0],
        lambda corner: reach * corner[..., 2] + corner[..., 1],
        lambda corner: reach * corner[..., 2] - corner[..., 1],
    )


def _cut(
    polygon: list[tuple[Floats, Floats]], plane: Callable[[Floats], Floats], near: float | None
) -> list[tuple[Floats, Floats]]:
    """Return the part of a convex polygon on the inner side; ``near`` is the distance of the near plane."""
    away = [float(plane(corner)) for corner, _ in polygon]
    inside = []
    for at, here in enumerate(away):
        following = (at + 1) % len(polygon)
        if here >= 0:
            inside.append(polygon[at])
        if (here < 0) != (away[following] < 0):
            inner, outer = (at, following) if here >= 0 else (following, at)
            share = away[inner] / (away[inner] - away[outer])
            (a, c), (b, d) = polygon[inner], polygon[outer]
            corner = a + (b - a) * share
            if near is not None:
                corner[2] = near
            inside.append((corner, c + (d - c) * share))
    return inside


class ScreenCorners(NamedTuple):
    """Corners of triangles on the screen: ``places`` float64[triangle, corner, 3], x and y in pixels and the depth.

    ``nearness`` float64[triangle, corner] is 1 / distance in shares of the nearest one's; ``cut`` is None if no
    triangle had to be cut.
    """

    places: Floats
    nearness: Floats
    cut: CutTriangles | None

    @classmethod
    def of(cls, standpoint: Standpoint, points: Floats, corners: NDArray[np.integer]) -> ScreenCorners:
        """Return the corners of triangles of a mesh, cut where they reach past the near plane or the guard band."""
        undivided = standpoint.undivided(points)[corners]
        camera = standpoint.camera
        cut = cut_triangles(undivided, camera.width, camera.height, standpoint.near)
        found = undivided if cut is None else cut.corners
        places = standpoint.divided(found)
        if cut is not None:
            np.clip(places[..., 2], 0, 1, out=places[..., 2])
        return cls(places, standpoint.nearness(found[..., 2]), cut)

    def of_corners(self, values: NDArray[np.number]) -> NDArray[np.number]:
        """Return values of corners before the cut, [triangle, corner, ...], for those after it."""
        return values if self.cut is None else self.cut.of_corners(values)


CLAY = (0.66, 0.37, 0.21)
"""The default colour of surfaces: linear red, green, blue."""

KEY = np.array([-0.50, -0.55, 1.05])
"""The direction towards the key light, of any length: z is up."""

FILL = np.array([1.0, -0.25, 0.35])
"""The direction towards the fill light, of any length."""

LIGHT = (0.10, 0.85, 0.20)
"""Ambient light, and the share of each of the two lights."""

GAMMA = 2.2
"""Colours are stored as light to the power of its inverse."""


def lit(normals: np.ndarray, to_eye: np.ndarray, colour: tuple[float, float, float] = CLAY) -> np.ndarray:
    """Return the colours of surfaces seen from ``to_eye``: uint8[..., rgb], gamma 2.2.

    ``normals`` and ``to_eye`` are float[..., xyz] of length 1; a normal that looks away is turned.
    """
    facing = (normals * to_eye).sum(axis=-1, keepdims=True)
    normals = np.where(facing < 0, -normals, normals)
    key = np.clip(normals @ unit(KEY), 0, 1)[..., None]
    fill = np.clip(normals @ unit(FILL), 0, 1)[..., None]
    light = LIGHT[0] + LIGHT[1] * key + LIGHT[2] * fill
    return np.rint(255 * np.clip(np.array(colour) * light, 0, 1) ** (1 / GAMMA)).astype(np.uint8)


def facets(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the normals of triangles, 0 for one without area: float[triangle, xyz]."""
    a, b, c = (points[corners[:, corner]] for corner in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1, keepdims=True)
    return across / np.where(length > 0, length, 1)


def lit_triangles(
    points: np.ndarray,
    normals: np.ndarray,
    corners: np.ndarray,
    view: View,
    *,
    flat: bool = False,
    colour: tuple[float, float, float] = CLAY,
    standpoint: Standpoint | None = None,
    screen: np.ndarray | None = None,
    coordinates: np.ndarray | None = None,
    affine: bool = False,
) -> ScreenTriangles:
    """Place a camera before a model and light its vertices, or with ``flat`` its triangles.

    ``points`` and ``normals`` are float[vertex, xyz], ``corners`` int[triangle, 3]; ``colour`` is linear red, green and
    blue. ``standpoint`` is a camera already placed, and ``screen`` points already projected: x and y in pixels and
    depth of each vertex; otherwise triangles are cut where they reach past the near plane or the guard band.
    ``coordinates`` are those of a texture, float[vertex, uv] in texels. Colours and coordinates follow perspective, or
    with ``affine`` are linear on the screen. Raises InputError for a model without extent, for numbers that are not
    finite and for corners that do not exist.
    """
    points = np.asarray(points, np.float64)
    check_mesh(points, corners)
    standpoint = Standpoint.of(points, view) if standpoint is None else standpoint
    colours = lit_corners(points, normals, corners, standpoint, flat=flat, colour=colour)
    texels = None if coordinates is None else coordinates[corners]
    if screen is not None:
        nearness = None if affine else standpoint.nearness(standpoint.distances(points))[corners]
        return snap(screen[corners, :2], screen[corners, 2], colours, texels, nearness)
    seen = ScreenCorners.of(standpoint, points, corners)
    texels = None if texels is None else seen.of_corners(texels)
    nearness = None if affine else seen.nearness
    return snap(seen.places[..., :2], seen.places[..., 2], np.rint(seen.of_corners(colours)), texels, nearness)


def lit_corners(
    points: np.ndarray,
    normals: np.ndarray,
    corners: np.ndarray,
    standpoint: Standpoint,
    *,
    flat: bool = False,
    colour: tuple[float, float, float] = CLAY,
) -> np.ndarray:
    """Return the colour of each corner under the light at ``standpoint``: uint8[triangle, corner, rgb]."""
    points = standpoint.placed(np.asarray(points, np.float64))
    to_eye = standpoint.camera.eye - points
    length = np.linalg.norm(to_eye, axis=1, keepdims=True)
    to_eye = to_eye / np.where(length > 0, length, 1)  # a vertex may be where the eye is
    if flat:
        return np.repeat(lit(facets(points, corners), to_eye[corners].mean(axis=1), colour)[:, None], 3, axis=1)
    return lit(np.asarray(normals, np.float64), to_eye, colour)[corners]


def check_mesh(points: np.ndarray, corners: np.ndarray, name: str = "") -> None:
    """Raise InputError for a mesh that cannot be drawn; ``name`` is put before the message."""
    of = f"{name}: " if name else ""
    if len(corners) == 0 or len(points) == 0 or not np.ptp(points, axis=0).any():
        raise InputError(Fault(f"{of}there is nothing to draw: no triangle with an extent"))
    wrong = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(wrong):
        raise InputError(Fault(f"{of}vertex {wrong[0] + 1} of {len(points)} is not a finite point"))
    wrong = np.flatnonzero(((corners < 0) | (corners >= len(points))).any(axis=1))
    if len(wrong):
        message = f"triangle {wrong[0] + 1} names a vertex that does not exist; there are {len(points)}"
        raise InputError(Fault(f"{of}{message}"))
