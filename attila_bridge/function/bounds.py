"""Bounds of values, and what becomes of one that is no number."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["clamped"]

Real = TypeVar("Real", np.float32, np.float64)


def clamped(values: NDArray[Real], low: float | NDArray[Real] = 0, high: float | NDArray[Real] = 1) -> NDArray[Real]:
    """Return values within bounds. As in the recorded machine the upper one is asked first: a NaN becomes ``high``."""
    return np.where(values < high, np.where(values > low, values, low), high).astype(values.dtype, copy=False)
