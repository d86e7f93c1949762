"""Points, first differences and unit normals in float64: the reference for the machine's results.

The reference starts from the control points rounded to binary32, with subnormal numbers replaced by zero, because the
machine computes with these. The rest is float64, whose error is about 2^-29 of the limits that the results are held to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tessellation.surface.patch import Patch, trimmed
from tessellation.surface.trim_curves import DEFAULT_TOLERANCE, parity

# The range of binary32 as the machine has it: numbers that are too small for it count as zero.


SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)
"""The smallest normal binary32 number, 2^-126; the microcode takes smaller ones for zero."""


def flushes(points: np.ndarray) -> np.ndarray:
    """Return True for coordinates that are not zero but too small for a normal binary32 number."""
    rounded = np.abs(points.astype(np.float32))
    return (points != 0) & (rounded < np.float32(SMALLEST_NORMAL))


UNIT = 2.0**-24
"""Half a unit in the last place of 1.0 in binary32: the relative error of one correctly rounded operation."""

LIMIT = 8.0
"""Points are within LIMIT * UNIT * magnitude, and normals within LIMIT * UNIT * condition, of the reference."""


class Reference(NamedTuple):
    """Samples of patches of one degree: arrays indexed [patch, i, j] with u = i/(k-1) and v = j/(k-1).

    ``points``, ``du``, ``dv`` and ``normals`` have a last axis xyz. ``du`` and ``dv`` are the surfaces of the first
    differences, without the factor of the degree. ``normals`` is the unit vector along du x dv, NaN where the cross
    product is not a larger than its own rounding error in float64. ``magnitude`` (last axis xyz) is the sum of
    |control coordinate| times weight; ``condition`` says how much the cross product magnifies relative error.
    """

    points: np.ndarray
    du: np.ndarray
    dv: np.ndarray
    normals: np.ndarray
    magnitude: np.ndarray
    condition: np.ndarray

    @property
    def undetermined(self) -> np.ndarray:
        """True where binary32 cannot resolve the direction of the normal: its error limit is 1 or more, or infinite."""
        return ~(LIMIT * UNIT * self.condition < 1.0)

    def point_errors(self, points: np.ndarray) -> np.ndarray:
        """Return |points - reference| in units of 2^-24 magnitude, [patch, i, j, axis]; at most LIMIT is allowed."""
        return _ratio(np.abs(points.astype(np.float64) - self.points), UNIT * self.magnitude)

    def normal_errors(self, normals: np.ndarray) -> np.ndarray:
        """Return |normals - reference| in units of 2^-24 condition, [patch, i, j]; NaN where undetermined."""
        difference = np.linalg.norm(normals.astype(np.float64) - self.normals, axis=-1)
        return np.where(self.undetermined, np.nan, _ratio(difference, UNIT * self.condition))


def bernstein_weights(degree: int, samples: int) -> np.ndarray:
    """Return B_i(t) of that degree at t = 0, 1/(samples-1), .. 1 in float64, shape (samples, degree + 1)."""
    return weights_at(degree, np.arange(samples, dtype=np.float64) / (samples - 1))


def weights_at(degree: int, t: np.ndarray) -> np.ndarray:
    """Return B_i(t) of that degree at any parameters: float64[len(t), degree + 1]."""
    weights = np.ones((len(t), 1))
    for _ in range(degree):
        raised = np.zeros((len(t), weights.shape[1] + 1))
        raised[:, :-1] += weights * (1 - t)[:, None]
        raised[:, 1:] += weights * t[:, None]
        weights = raised
    return weights


def evaluate(nets: np.ndarray, samples: int, *, single: bool = True) -> Reference:
    """Return the reference of control nets [patch, m+1, n+1, 3] at ``samples`` x ``samples`` parameters (2 or more).

    ``single`` is False for a database with longer mantissas, whose points are not rounded to binary32.
    """
    nets = np.where(flushes(nets), 0.0, nets.astype(np.float32 if single else np.float64).astype(np.float64))
    m, n = nets.shape[1] - 1, nets.shape[2] - 1
    u, v = bernstein_weights(m, samples), bernstein_weights(n, samples)
    u1, v1 = bernstein_weights(m - 1, samples), bernstein_weights(n - 1, samples)
    along_u, along_v = np.diff(nets, axis=1), np.diff(nets, axis=2)

    def surface(left: np.ndarray, net: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.einsum("ia,pabc,jb->pijc", left, net, right, optimize=True)

    du, dv = surface(u1, along_u, v), surface(u, along_v, v1)
    size_u = np.linalg.norm(surface(u1, np.abs(along_u), v), axis=-1)
    size_v = np.linalg.norm(surface(u, np.abs(along_v), v1), axis=-1)
    cross = np.cross(du, dv)
    length = np.linalg.norm(cross, axis=-1)
    vanishes = length <= 1e-13 * size_u * size_v
    with np.errstate(divide="ignore", invalid="ignore"):
        normals = np.where(vanishes[..., None], np.nan, cross / length[..., None])
        condition = np.where(vanishes, np.inf, size_u * size_v / length)
    return Reference(
        points=surface(u, nets, v),
        du=du,
        dv=dv,
        normals=normals,
        magnitude=surface(u, np.abs(nets), v),
        condition=condition,
    )


def surface_at(net: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points and unit normals of one patch at any (u, v), float64[n, 2]: float64[n, xyz] each.

    The net is rounded as in `evaluate`; a normal that has no direction is NaN.
    """
    net = np.where(flushes(net), 0.0, net.astype(np.float32).astype(np.float64))
    m, n = net.shape[0] - 1, net.shape[1] - 1
    u, v = parameters.T

    def surface(left: np.ndarray, values: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.einsum("na,abc,nb->nc", left, values, right)

    along_u, along_v = weights_at(m, u), weights_at(n, v)
    du = surface(weights_at(m - 1, u), np.diff(net, axis=0), along_v)
    dv = surface(along_u, np.diff(net, axis=1), weights_at(n - 1, v))
    cross = np.cross(du, dv)
    length = np.linalg.norm(cross, axis=-1)
    size = np.linalg.norm(du, axis=-1) * np.linalg.norm(dv, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        normals = np.where((length <= 1e-13 * size)[:, None], np.nan, cross / length[:, None])
    return surface(along_u, net, along_v), normals


def _ratio(error: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Return error / unit: 0 where both are zero, infinity where only the unit is or the error is not a number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = error / unit
    return np.where(error == 0, 0.0, np.where(np.isnan(ratio), np.inf, ratio))


OUTSIDE = 0xFFFFFFFF
"""Pattern in place of the x of the normal of a sample outside a trim: a NaN that no arithmetic produces."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PatchSamples:
    """The k x k samples of one patch: arrays indexed [i, j], u = i/(k-1), v = j/(k-1).

    ``points`` and ``normals`` are float32 as the machine left them. ``degenerate`` marks samples without a usable
    normal: binary32 cannot resolve its direction, or the machine's is not a unit vector. ``point_errors`` (units of
    2^-24 magnitude, last axis xyz) and ``normal_errors`` (units of 2^-24 condition, NaN where degenerate) compare with
    the float64 reference. ``magnitude`` is the natural unit of the rounding error of ``points``.
    """

    patch: Patch
    points: np.ndarray
    normals: np.ndarray
    degenerate: np.ndarray
    undetermined: np.ndarray
    point_errors: np.ndarray
    normal_errors: np.ndarray
    magnitude: np.ndarray
    inside: np.ndarray
    """bool[k, k]: true for samples that belong to the patch, which is all of them without a trim."""
    trim_tolerance: float = DEFAULT_TOLERANCE
    """Largest distance of triangles from the trim curves, as a share of the patch's extent."""

    def __repr__(self) -> str:
        return f"PatchSamples({self.samples}x{self.samples} of {self.patch!r})"

    @property
    def samples(self) -> int:
        """Samples along u, and along v."""
        return self.points.shape[0]


def mark_outside(patch: Patch, normals: np.ndarray, share: float = DEFAULT_TOLERANCE) -> np.ndarray:
    """Return normals float32[k, k, xyz] with the machine's mark in samples outside the trim."""
    polygon = trimmed(patch, share)
    if polygon is None:
        return normals
    marked = normals.copy()
    marked.view(np.uint32)[~parity(polygon, len(normals)), 0] = OUTSIDE
    return marked


def measure(
    patches: list[Patch],
    points: np.ndarray,
    normals: np.ndarray,
    reference: Reference,
    share: float = DEFAULT_TOLERANCE,
) -> list[PatchSamples]:
    """Return the samples of patches of one degree and one k, compared with their reference; arrays are [patch, ...].

    ``share`` is the tolerance of their trims.
    """
    outside = np.ascontiguousarray(normals[..., 0], np.float32).view(np.uint32) == OUTSIDE
    outside &= np.array([patch.trim is not None for patch in patches])[:, None, None]
    with np.errstate(invalid="ignore", over="ignore"):
        length = np.linalg.norm(normals.astype(np.float64), axis=-1)
        usable = np.abs(length - 1.0) < 2.0**-10
        normal_errors = reference.normal_errors(normals)
    undetermined = reference.undetermined
    degenerate = (undetermined | ~usable) & ~outside
    point_errors = reference.point_errors(points)
    normal_errors = np.where(degenerate | outside, np.nan, normal_errors)
    return [
        PatchSamples(
            patch=patch,
            points=points[p],
            normals=normals[p],
            degenerate=degenerate[p],
            undetermined=undetermined[p],
            point_errors=point_errors[p],
            normal_errors=normal_errors[p],
            magnitude=reference.magnitude[p],
            inside=~outside[p],
            trim_tolerance=share,
        )
        for p, patch in enumerate(patches)
    ]
