"""Patches to be trimmed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from tessellation import Patch, Tessellation, load, tessellate
from tests.trimming.shapes import SHAPES


@pytest.fixture(scope="session")
def plane() -> Patch:
    """A bicubic patch whose points are (u, v, 0)."""
    at = np.arange(4) / 3
    return Patch(np.stack([*np.meshgrid(at, at, indexing="ij"), np.zeros((4, 4))], axis=-1))


@pytest.fixture(scope="session")
def shaped(plane: Patch) -> Callable[[int], Tessellation]:
    """The plane with each trim, on the array, at so many samples a side."""
    patches = [Patch(plane.points, trim) for trim in SHAPES.values()]
    return cache(lambda k: tessellate(patches, k))


@pytest.fixture(scope="session")
def rosette() -> tuple[Patch, ...]:
    """Four trimmed patches that ship with the package; two trims cross each edge that they share."""
    return load("rosette").patches


@pytest.fixture(scope="session")
def enneper() -> tuple[Patch, ...]:
    return load("enneper").patches


@pytest.fixture(scope="session")
def teapot() -> tuple[Patch, ...]:
    return load("teapot").patches
