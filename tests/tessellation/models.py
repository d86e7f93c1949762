"""Models beside a checkout (a test that needs one is skipped without it), and samples without a machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tessellation import Patch, PatchSamples, evaluate
from tessellation.surface.reference import mark_outside, measure

_DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "patches"


def shared_model(name: str) -> Path:
    """Return a file of the reference data, or skip the test."""
    path = _DATA / name
    if not path.exists():
        pytest.skip(f"reference data ../shared/data/patches/{name} is not here")
    return path


def ideal_samples(patches: list[Patch], counts: list[int]) -> list[PatchSamples]:
    """Return samples as a perfect machine would leave them: the float64 reference rounded to binary32."""
    found = []
    for patch, k in zip(patches, counts, strict=True):
        reference = evaluate(patch.points[None], k)
        normals = np.nan_to_num(reference.normals).astype(np.float32)
        normals[0] = mark_outside(patch, normals[0])
        found += measure([patch], reference.points.astype(np.float32), normals, reference)
    return found
