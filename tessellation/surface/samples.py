"""What a tessellation yields for one patch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tessellation.surface.patch import Patch
from tessellation.surface.reference import Reference

__all__ = ["PatchSamples", "measure"]


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

    def __repr__(self) -> str:
        return f"PatchSamples({self.samples}x{self.samples} of {self.patch!r})"

    @property
    def samples(self) -> int:
        """Samples along u, and along v."""
        return self.points.shape[0]


def measure(patches: list[Patch], points: np.ndarray, normals: np.ndarray, reference: Reference) -> list[PatchSamples]:
    """Return the samples of patches of one degree and one k, compared with their reference; arrays are [patch, ...]."""
    with np.errstate(invalid="ignore", over="ignore"):
        length = np.linalg.norm(normals.astype(np.float64), axis=-1)
        usable = np.abs(length - 1.0) < 2.0**-10
        normal_errors = reference.normal_errors(normals)
    undetermined = reference.undetermined
    degenerate = undetermined | ~usable
    point_errors = reference.point_errors(points)
    normal_errors = np.where(degenerate, np.nan, normal_errors)
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
        )
        for p, patch in enumerate(patches)
    ]
