"""What a tessellation yields for one patch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tessellation.surface.patch import Patch, trimmed
from tessellation.surface.reference import Reference
from tessellation.surface.trims.parity import parity
from tessellation.surface.trims.polygon import DEFAULT_TOLERANCE

__all__ = ["OUTSIDE", "PatchSamples", "mark_outside", "measure"]

OUTSIDE = 0xFFFFFFFF
"""What a sample outside of the trim has in place of the x of its normal: no number, and none that arithmetic makes."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PatchSamples:
    """The k x k samples of one patch: arrays indexed [i, j], u = i/(k-1), v = j/(k-1).

    ``points`` and ``normals`` are float32 as the machine left them. ``degenerate`` marks samples without a usable
    normal: binary32 cannot tell its direction, or the machine's is no unit vector. ``point_errors`` (units of 2^-24
    magnitude, last axis xyz) and ``normal_errors`` (units of 2^-24 condition, NaN where degenerate) compare with the
    float64 reference. ``magnitude`` is the natural unit of the rounding error of ``points``.
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
    """bool[k, k]: whether the sample belongs to the patch; all do where it has no trim."""
    trim_tolerance: float = DEFAULT_TOLERANCE
    """How near to its trim curves triangles are to be, as a share of its extent."""

    def __repr__(self) -> str:
        return f"PatchSamples({self.samples}x{self.samples} of {self.patch!r})"

    @property
    def samples(self) -> int:
        """Samples along u, and along v."""
        return self.points.shape[0]


def mark_outside(patch: Patch, normals: np.ndarray, share: float = DEFAULT_TOLERANCE) -> np.ndarray:
    """Return normals float32[k, k, xyz] with the marks that the machine leaves where a sample is outside of a trim."""
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
