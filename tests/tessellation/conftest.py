"""The models that ship with the package."""

from __future__ import annotations

import pytest

from tessellation import Patch, load


@pytest.fixture(scope="session")
def teapot() -> tuple[Patch, ...]:
    return load("teapot").patches


@pytest.fixture(scope="session")
def enneper() -> tuple[Patch, ...]:
    return load("enneper").patches
