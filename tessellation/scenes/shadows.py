"""Shadow volumes of bodies under the key light, whose sides count in the stencil (`families.shade` darkens by it).

The volume of a body is what its triangles that face the light sweep away from it: a lid of these, a bottom of the same
moved away, turned round, and a side for each edge that two of them do not share. So it is closed and turned outwards,
whatever the mesh is. Which sides face the eye is asked of each triangle here, as a machine with a stencil for each side
would.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tessellation.picture import KEY, facets, unit
from tessellation.scenes.families import counting
from tessellation.scenes.world import Body

__all__ = ["shadow_bodies", "shadow_volume"]


def shadow_volume(points: np.ndarray, corners: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points and triangles of what a mesh sweeps over so far away from the key light, turned outwards.

    ``points`` are float64[vertex, xyz], ``corners`` int64[triangle, 3], anticlockwise as seen from outside. Vertices at
    one place are one vertex.
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
    """Return the far and the near sides of the volumes of all casters, as seen from an eye, to be drawn after bodies.

    They are counted where they are hidden: far sides up, near sides down (Carmack's reverse), so that the eye may be in
    a shadow, and the near plane may cut.
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
