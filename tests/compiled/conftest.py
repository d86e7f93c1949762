"""Separate native functions for every test, kept in a separate folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from pixelflow.simd.lanes import Shape, choose
from pixelflow.simd.lanes.engine import Engine


@pytest.fixture(scope="session", autouse=True)
def _needs_llvmlite() -> None:
    note = choose("compiled").note
    if note is not None:
        pytest.skip(note)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where native code is kept."""
    return tmp_path / "native"


class Maker:
    """Makes compiled engines that share nothing with other tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._native: dict[int | None, object] = {}

    def native(self, width: int | None = None):
        from pixelflow.simd.lanes.native.compiled_engine import Native
        from pixelflow.simd.lanes.native.toolchain import toolchain
        from pixelflow.simd.store import Store

        if width not in self._native:
            self._native[width] = Native(toolchain(width), Store(self._folder))
        return self._native[width]

    def forget(self) -> None:
        """Let the next engine find nothing but what is on disk, as in a new process."""
        self._native.clear()

    def __call__(self, shape: Shape, width: int | None = None, threads: int | None = 1) -> Engine:
        from pixelflow.simd.lanes.native.compiled_engine import CompiledEngine

        return CompiledEngine(shape, width, threads)


@pytest.fixture
def make(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    maker = Maker(folder)
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine.native", maker.native)
    return maker
