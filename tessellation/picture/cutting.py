"""Triangles cut by the near plane and the guard band on the host, before the division, in 64-bit floats.

Sutherland and Hodgman 1974, plane after plane. An edge is always cut from its inner end, so that both triangles that
share it get the same corner; what a polygon of more corners becomes is a fan around its first one. A triangle that need
not be cut keeps every bit that it would have without. The guard band lies beside the picture where the screen's numbers
end: triangles that reach out of the picture, but not so far, are left whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.drawing import REACH
from tessellation.picture.camera import Standpoint

__all__ = ["CutTriangles", "ScreenCorners", "cut_triangles"]

_BESIDE = 2
"""Pixels between the guard band and what the screen's numbers can hold: more than rounding moves a corner."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CutTriangles:
    """What is left of triangles, in their order, the pieces of each where it was.

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
    """Cut triangles to where the distance is at least ``near`` and X and Y lie within the guard band of the screen.

    ``corners`` are float64[triangle, corner, 3]: X and Y in pixels times distance, from the middle of a screen of
    ``width`` times ``height``, and the distance along the view. Returns None where no triangle need be cut.
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
    """Return what gives the distance of corners from each plane, in no particular unit: below 0 outside."""
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
    """Return what of a convex polygon lies on the inner side; ``near`` is the distance of a plane of one distance."""
    away = [float(plane(corner)) for corner, _ in polygon]
    found = []
    for at, here in enumerate(away):
        following = (at + 1) % len(polygon)
        if here >= 0:
            found.append(polygon[at])
        if (here < 0) != (away[following] < 0):
            inner, outer = (at, following) if here >= 0 else (following, at)
            share = away[inner] / (away[inner] - away[outer])
            (a, c), (b, d) = polygon[inner], polygon[outer]
            corner = a + (b - a) * share
            if near is not None:
                corner[2] = near
            found.append((corner, c + (d - c) * share))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class ScreenCorners:
    """Corners of triangles on the screen: ``places`` float64[triangle, corner, 3], x and y in pixels and the depth.

    ``nearness`` float64[triangle, corner] is 1 / distance in shares of the nearest one's; ``cut`` None where no
    triangle had to be cut.
    """

    places: Floats
    nearness: Floats
    cut: CutTriangles | None

    @classmethod
    def of(cls, standpoint: Standpoint, points: Floats, corners: NDArray[np.integer]) -> ScreenCorners:
        """Return those of triangles of a mesh, cut where they reach past the near plane or the guard band."""
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
