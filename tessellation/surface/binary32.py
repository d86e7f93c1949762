"""The range of binary32 as the machine has it: numbers that are too small for it count as zero."""

from __future__ import annotations

import numpy as np

__all__ = ["SMALLEST_NORMAL", "flushes"]

SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)
"""The smallest normal binary32 number, 2^-126; what is smaller and not zero, the machine's microcode takes for zero."""


def flushes(points: np.ndarray) -> np.ndarray:
    """Return True where a coordinate is not zero but too small for a normal binary32 number.

    The float microcode takes such an operand for a zero of its sign.
    """
    rounded = np.abs(points.astype(np.float32))
    return (points != 0) & (rounded < np.float32(SMALLEST_NORMAL))
