"""Pictures of meshes and of files of patches, as a notebook shows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pixelflow.simd.errors import InputError, must_be
from pixelflow.simd.report import RasterImage, counted
from tessellation.surface import bpt
from tessellation.surface.mesh import Mesh, build_mesh
from tessellation.surface.reference import evaluate
from tessellation.surface.samples import PatchSamples, mark_outside, measure

if TYPE_CHECKING:
    from tessellation.surface.patch import Patch

__all__ = ["load", "shaded"]

_WIDTH, _HEIGHT = 176, 132
"""Small: a saved notebook holds it as text."""
_SAMPLES = 8
"""Along u and along v, for a picture of patches that nobody has tessellated."""
_MOST_PATCHES = 2_000
"""A picture of more would take seconds."""


def shaded(mesh: Mesh) -> RasterImage:
    """Return a small shaded picture of a mesh; raises InputError where no triangle has an area."""
    from tessellation.picture.preview import View, pixels

    return pixels(mesh, View(width=_WIDTH, height=_HEIGHT), counted(len(mesh.triangles), "triangle"))


def load(name: str | Path) -> bpt.PatchFile:
    """Return the built-in model of that name (``teapot``, ``enneper``), or else the patches of that file."""
    must_be(name, (str, Path), "the name of a model or of a file")
    return replace(bpt.load(name), drawer=_drawn)


def _drawn(file: bpt.PatchFile) -> RasterImage | None:
    """Return a picture of the exact surfaces, which the host evaluates; none of very many, or without an area."""
    if len(file.patches) > _MOST_PATCHES:
        return None
    try:
        return replace(shaded(build_mesh(_exact(file.patches), weld=False)), caption=f"{file.name}, drawn by the host")
    except InputError:
        return None


def _exact(patches: tuple[Patch, ...]) -> list[PatchSamples]:
    """Return samples of the exact surfaces, rounded to binary32."""
    found = []
    for patch in patches:
        exact = evaluate(patch.points[None], _SAMPLES)
        normals = mark_outside(patch, exact.normals[0].astype(np.float32))
        found += measure([patch], exact.points.astype(np.float32), normals[None], exact)
    return found
