"""The same picture in float64, ray against every triangle: no tree, no packets, no program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.tracing.mesh import TracedMesh
from larrabee_bridge.kernels.tracing.scene import TracedView

__all__ = ["Nearest", "against_all", "shaded"]

Floats = NDArray[np.float64]
Hits = tuple[NDArray[np.int64], Floats, Floats, Floats]
"""Triangle (-1: none), distance in lengths of the direction, and both shares of the place within it."""
Nearest = Callable[[Floats, Floats], Hits]
"""What finds the nearest front that rays, origins and directions float64[n, xyz], hit."""
_AT_A_TIME = 1 << 21


def against_all(mesh: TracedMesh) -> Nearest:
    """Return the search that tries every triangle: the volumes of Moeller and Trumbore, in float64."""
    corners = mesh.corners.astype(np.float64)
    p0, e1, e2 = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(e1, e2)

    def some(origin: Floats, direction: Floats) -> Hits:
        det = -direction @ normal.T
        # Distances from p0 along the normal; u and v from products with o x d.
        height = origin @ normal.T - (p0 * normal).sum(1)
        moment = np.cross(direction, origin)
        u = -(moment @ e2.T) - direction @ np.cross(e2, p0).T
        v = moment @ e1.T + direction @ np.cross(e1, p0).T
        hit = (det > 0) & (u >= 0) & (v >= 0) & (u + v <= det) & (height > 0)
        far = np.where(hit, height / np.where(hit, det, 1), np.inf)
        which = far.argmin(1)
        rows = np.arange(len(origin))
        distance = far[rows, which]
        scale = np.where(np.isfinite(distance), det[rows, which], 1)
        found = np.where(np.isfinite(distance), which, -1)
        return found, distance, u[rows, which] / scale, v[rows, which] / scale

    def nearest(origin: Floats, direction: Floats) -> Hits:
        rows = max(_AT_A_TIME // len(mesh), 1)
        if not len(origin):
            nothing = np.zeros(0)
            return np.zeros(0, np.int64), nothing, nothing, nothing
        parts = [some(origin[at : at + rows], direction[at : at + rows]) for at in range(0, len(origin), rows)]
        found, distance, u, v = (np.concatenate(each) for each in zip(*parts, strict=True))
        return found, distance, u, v

    return nearest


def shaded(
    mesh: TracedMesh, view: TracedView, size: int, pixels: NDArray[np.int64], nearest: Nearest | None = None
) -> Floats:
    """Return the colours of pixels (x, y), int64[n, 2], of a picture of ``size`` x ``size``: float64[n, rgb], 0 to 1.

    What ``nearest`` finds is shaded as in `trace.mc`: light from everywhere, one light with shadows, one reflection.
    """
    nearest = nearest or against_all(mesh)
    corner, right, down = view.rays(size).astype(np.float64)
    direction = corner + pixels[:, :1] * right + pixels[:, 1:] * down
    origin = np.broadcast_to(np.array(view.eye, np.float32).astype(np.float64), direction.shape)
    colours = np.zeros((len(pixels), 3))
    _gather(mesh, view, nearest, origin, direction, np.ones(len(pixels)), np.arange(len(pixels)), colours, 1)
    return np.minimum(colours, 1)


def _gather(
    mesh: TracedMesh,
    view: TracedView,
    nearest: Nearest,
    origin: Floats,
    direction: Floats,
    weight: Floats,
    pixel: NDArray[np.int64],
    colours: Floats,
    bounces: int,
) -> None:
    found, distance, u, v = nearest(origin, direction)
    sky = found < 0
    colours[pixel[sky]] += weight[sky, None] * np.array(view.sky)
    hit = ~sky
    if not hit.any():
        return
    found, direction, weight, pixel = found[hit], direction[hit], weight[hit], pixel[hit]
    place = origin[hit] + distance[hit, None] * direction
    shares = np.stack([1 - u[hit] - v[hit], u[hit], v[hit]], axis=1)
    normal = (shares[..., None] * mesh.normals[found].astype(np.float64)).sum(1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    paint = mesh.colours[found] / 255
    facing = mesh.facing[found].astype(np.float64)
    light = np.array(view.light) - place
    cosine = (normal * light).sum(1) / np.linalg.norm(light, axis=1)
    reflected = direction - 2 * (direction * normal).sum(1, keepdims=True) * normal
    leaves = (facing * reflected).sum(1) > 0
    share = paint[:, 3] * weight * leaves if bounces else np.zeros(len(weight))
    kept = (weight - share)[:, None] * paint[:, :3]
    colours[pixel] += view.ambient * kept
    faces = (cosine > 0) & ((facing * light).sum(1) > 0)
    blocked = np.zeros(len(weight), bool)
    blocker, far, _, _ = nearest(place[faces], light[faces])
    blocked[faces] = (blocker >= 0) & (far < 1)
    lit = faces & ~blocked
    colours[pixel[lit]] += view.diffuse * cosine[lit, None] * kept[lit]
    mirrored = share > 0
    if bounces:
        _gather(
            mesh,
            view,
            nearest,
            *(place[mirrored], reflected[mirrored], share[mirrored], pixel[mirrored]),
            colours,
            bounces - 1,
        )
