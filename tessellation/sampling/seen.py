"""Which patches nobody sees: those outside the picture, and of closed surfaces those that face away.

Both tests are exact but for the rounding of 64-bit floats. A patch lies in the hull of its control points, so that it
is outside where all of these are past one side of the picture. Whether the surface at (u, v) faces the eye is the
sign of

    (S - eye) . (S_u x S_v),

which is itself a Bezier polynomial of degrees 3m - 1 and 3n - 1; its coefficients are worked out from those of its
three factors, and where all of them have one sign the patch faces one way (Farin: the hull property again).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError
from tessellation.picture import Camera
from tessellation.surface.patch import Patch
from tessellation.surface.topology import find_joints, orient

__all__ = ["faces_away", "outside", "outward"]

_ROUNDING = 1e-12
"""Of the product of the sizes of the factors: what is smaller has no sign."""


def outside(nets: NDArray[np.float64], camera: Camera) -> NDArray[np.bool_]:
    """Return True for patches all of whose control points are past one side of the picture, or not before the eye.

    ``nets`` are those of `bound.seen_nets`.
    """
    right, up, distance = np.moveaxis(nets.reshape(len(nets), -1, 3), -1, 0)
    across, high = camera.width / 2 * distance, camera.height / 2 * distance
    x, y = camera.focal * right, camera.focal * up
    sides = (x < -across, x > across, y < -high, y > high, distance <= 0)
    found: NDArray[np.bool_] = np.any([side.all(axis=1) for side in sides], axis=0)
    return found


def faces_away(nets: NDArray[np.float64], outwards: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return True for patches whose outer side nobody before them can see; ``outwards`` is 1, or -1 for those turned.

    ``nets`` are those of `bound.seen_nets`; the third axis counts the other way from a right-handed system's.
    """
    coefficients, size = _facing(nets * (1.0, 1.0, -1.0))
    coefficients = coefficients * outwards[:, None, None]
    least, most = coefficients.min(axis=(1, 2)), coefficients.max(axis=(1, 2))
    found: NDArray[np.bool_] = (least >= -_ROUNDING * size) & (most > _ROUNDING * size)
    return found


def outward(patches: Sequence[Patch]) -> NDArray[np.int64]:
    """Return 1 for each patch whose dP/du x dP/dv points out of the volume that its part encloses, else -1.

    The volume of a part is a third of the integral of the polynomial above, which is the mean of its coefficients.
    Raises InputError for a surface that has one side only.
    """
    joints = find_joints(patches)
    orientation = orient(len(patches), joints)
    if orientation.refusals:
        raise InputError(
            Fault("a surface with one side only has none that faces away", hint="do not call it one-sided")
        )
    signs = np.where(orientation.turned, -1, 1)
    nets = [patch.points32.astype(np.float64) for patch in patches]
    found = np.ones(len(patches), np.int64)
    for part in set(orientation.part.tolist()):
        members = np.flatnonzero(orientation.part == part).tolist()
        centre = np.concatenate([nets[each].reshape(-1, 3) for each in members]).mean(axis=0)
        volume = sum(signs[each] * float(_facing((nets[each] - centre)[None])[0].mean()) for each in members)
        found[members] = signs[members] * (1 if volume >= 0 else -1)
    return found


@cache
def _binomials(m: int, n: int) -> NDArray[np.float64]:
    return np.outer([comb(m, i) for i in range(m + 1)], [comb(n, j) for j in range(n + 1)]).astype(np.float64)


def _facing(nets: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the coefficients of S . (S_u x S_v) for nets seen from 0, and the product of the sizes of its factors."""
    m, n = nets.shape[1] - 1, nets.shape[2] - 1
    along_u, along_v = m * np.diff(nets, axis=1), n * np.diff(nets, axis=2)
    size = np.ones(len(nets))
    scaled = []
    for factor, degrees in ((nets, (m, n)), (along_u, (m - 1, n)), (along_v, (m, n - 1))):
        size = size * np.linalg.norm(factor, axis=-1).max(axis=(1, 2))
        scaled.append(factor * _binomials(*degrees)[..., None])
    place, u, v = scaled
    # Products of polynomials in this form are sums over pairs of coefficients.
    cross = np.zeros((len(nets), 2 * m, 2 * n, 3))
    for i, j in np.ndindex(*u.shape[1:3]):
        cross[:, i : i + m + 1, j : j + n] += np.cross(u[:, i, j, None, None], v)
    found = np.zeros((len(nets), 3 * m, 3 * n))
    for i, j in np.ndindex(*place.shape[1:3]):
        found[:, i : i + 2 * m, j : j + 2 * n] += (place[:, i, j, None, None] * cross).sum(axis=-1)
    return found / _binomials(3 * m - 1, 3 * n - 1), size
