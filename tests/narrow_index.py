"""numpy as it is on a host whose index integer has 32 bits, as far as files of ours ask for it by ``np.NAME``.

There whole numbers without a type have 32 bits, and `np.repeat` takes no counts of 64.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

__all__ = ["narrow_index"]


class _Narrow:
    """Stands for numpy in a file."""

    intp = np.int32

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    @staticmethod
    def arange(*limits: int, dtype: Any = np.int32) -> np.ndarray:
        return np.arange(*limits, dtype=dtype)

    @staticmethod
    def array(values: Any, dtype: Any = None) -> np.ndarray:
        made = np.array(values, dtype)
        untyped = dtype is None and not isinstance(values, np.ndarray) and made.dtype == np.int64
        return made.astype(np.int32) if untyped else made

    @staticmethod
    def full(shape: Any, value: Any, dtype: Any = None) -> np.ndarray:
        return np.full(shape, value, np.int32 if dtype is None and isinstance(value, int) else dtype)

    @staticmethod
    def cumsum(values: np.ndarray, axis: int | None = None, dtype: Any = None) -> np.ndarray:
        small = np.asarray(values).dtype.itemsize < 8
        return np.cumsum(values, axis=axis, dtype=np.int32 if dtype is None and small else dtype)

    @staticmethod
    def prod(values: Any) -> np.generic:
        return np.prod(np.asarray(values, np.int32), dtype=np.int32)

    @staticmethod
    def argsort(values: np.ndarray, *args: Any, **how: Any) -> np.ndarray:
        return np.argsort(values, *args, **how).astype(np.int32)

    @staticmethod
    def flatnonzero(values: np.ndarray) -> np.ndarray:
        return np.flatnonzero(values).astype(np.int32)

    @staticmethod
    def repeat(values: np.ndarray, counts: Any, axis: int | None = None) -> np.ndarray:
        if isinstance(counts, np.ndarray):
            counts = np.zeros(len(counts), np.int32) + counts.astype(np.int32, casting="safe")
        return np.repeat(values, counts, axis=axis)


def narrow_index(monkeypatch: pytest.MonkeyPatch, *files: ModuleType) -> None:
    """Let files see numpy as it is on such a host."""
    for each in files:
        monkeypatch.setattr(each, "np", _Narrow())
