"""The choice of k for patches that a camera has before it, and the points by which that camera is placed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pixelflow.simd.errors import Fault, InputError
from tessellation.picture import Standpoint, View
from tessellation.sampling.bound import by_counts
from tessellation.sampling.choice import SampleChoice, Sampling, choose
from tessellation.sampling.seen import outward
from tessellation.surface.patch import Patch
from tessellation.surface.reference import evaluate

__all__ = ["choose_before", "outline_of"]

_OUTLINE = 16
"""Samples along a side of the evaluation that a camera is placed by."""


def choose_before(patches: Sequence[Patch], view: View, sampling: Sampling, *, one_sided: bool = False) -> SampleChoice:
    """Return the choice for patches before a camera that has all of them in its picture, but for its zoom.

    Raises InputError for patches without extent, for a ``one_sided`` surface with one side only, and where nothing is
    seen.
    """
    outline = outline_of(patches)
    if not np.ptp(outline, axis=0).any():
        raise InputError(Fault("there is nothing to see: all samples are one point"))
    choice = choose(patches, Standpoint.of(outline, view), sampling, outward(patches) if one_sided else None)
    if not choice.kept:
        raise InputError(Fault("no patch is seen: all are outside or face away", hint="take another camera"))
    return choice


def outline_of(patches: Sequence[Patch]) -> np.ndarray:
    """Return points of the surfaces of patches by which a camera is placed: float64[point, xyz]."""
    return np.concatenate([
        evaluate(np.stack([patches[number].points for number in numbers]), _OUTLINE).points.reshape(-1, 3)
        for numbers in by_counts(patches).values()
    ])  # fmt: skip
