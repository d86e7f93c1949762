"""Clip space: where vertices go before they are cut and divided, -w <= x, y <= w and 0 <= z <= w."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["perspective"]


def perspective(
    eye: ArrayLike, axes: ArrayLike, focal: float, width: int, height: int, near: float, far: float
) -> NDArray[np.float64]:
    """Return the matrix of a camera, float64[4, 4]: from a model to -w <= x, y <= w, 0 <= z <= w.

    ``axes`` are right, up and back as rows, ``focal`` is pixels per unit at distance 1, as a camera of
    `tessellation.picture` has them. Depth is 0 at distance ``near``, 1 at ``far``, and linear in -1/distance between
    them.
    """
    local = np.concatenate([np.asarray(axes, float), -(np.asarray(axes, float) @ np.asarray(eye, float))[:, None]], 1)
    right, up, back = local
    rows = np.stack([2 * focal / width * right, 2 * focal / height * up, np.zeros(4), -back])
    rows[2] = far / (far - near) * rows[3]
    rows[2, 3] -= far * near / (far - near)
    return rows
