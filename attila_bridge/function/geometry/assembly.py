"""Assembly of triangles from vertices, and what the Clipper does to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attila_bridge.scene.model import Primitive

__all__ = ["assembled", "is_outside", "names_twice"]

_QUAD = ((0, 1, 3), (1, 2, 3))
_STRIP_QUAD = ((0, 1, 3), (2, 0, 3))


def assembled(primitive: Primitive, count: int) -> NDArray[np.int32]:
    """Return the triangles of so many vertices, int32[n, 3] positions in the stream; vertices left over are dropped."""
    match primitive:
        case Primitive.TRIANGLES:
            found = np.arange(count // 3 * 3).reshape(-1, 3)
        case Primitive.TRIANGLE_STRIP:
            found = np.arange(max(0, count - 2))[:, None] + np.arange(3)
            found[1::2, :2] = found[1::2, 1::-1]
        case Primitive.TRIANGLE_FAN:
            last = np.arange(2, count)
            found = np.stack([np.zeros_like(last), last - 1, last], axis=-1)
        case Primitive.QUADS:
            found = (4 * np.arange(count // 4)[:, None, None] + np.array(_QUAD)).reshape(-1, 3)
        case Primitive.QUAD_STRIP:
            quads = max(0, count // 2 - 1)
            found = (2 * np.arange(quads)[:, None, None] + np.array(_STRIP_QUAD)).reshape(-1, 3)
    return found.astype(np.int32).reshape(-1, 3)


def names_twice(corners: NDArray[np.int32], indices: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which triangles name an index twice."""
    a, b, c = indices[corners].T
    return (a == b) | (b == c) | (a == c)


def is_outside(positions: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which triangles have all corners outside of one plane of the frustum; float32[n, 3, 4] clip positions."""
    w = positions[..., 3]
    outside = np.zeros(len(positions), np.bool_)
    for axis in range(3):
        outside |= (positions[..., axis] < -w).all(axis=1) | (positions[..., axis] > w).all(axis=1)
    return outside
