"""Kernels are native code: without what makes it there is nothing to compare."""

from __future__ import annotations

import pytest

from pixelflow.simd.lanes import choose


@pytest.fixture(scope="session", autouse=True)
def _needs_llvmlite() -> None:
    note = choose("compiled").note
    if note is not None:
        pytest.skip(note)
