"""Triangles of one patch: the sides of its square, a regular grid, or one whose border follows foreign vertices."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache

import numpy as np

__all__ = ["Side", "distinct", "grid", "ring"]


class Side(Enum):
    """A side of the parameter square, in the order of a walk around it that keeps the patch on its left."""

    V0 = 0
    U1 = 1
    V1 = 2
    U0 = 3

    @property
    def forward(self) -> bool:
        """True where the walk runs the way the side's own parameter grows."""
        return self in (Side.V0, Side.U1)

    def samples(self, k: int) -> np.ndarray:
        """Return the numbers i * k + j of the samples along this side, its parameter growing; not to be changed."""
        return _along(self, k)

    def of(self, net: np.ndarray) -> np.ndarray:
        """Return the control points along this side, its parameter growing."""
        match self:
            case Side.U0:
                return net[0]
            case Side.U1:
                return net[-1]
            case Side.V0:
                return net[:, 0]
            case Side.V1:
                return net[:, -1]


@cache
def _along(side: Side, k: int) -> np.ndarray:
    numbers = side.of(np.arange(k * k).reshape(k, k)).copy()
    numbers.setflags(write=False)
    return numbers


def grid(ids: np.ndarray, k: int) -> np.ndarray:
    """Return two triangles per cell of a k x k patch, counter-clockwise in (u, v); ``ids[i * k + j]`` are vertices."""
    square = ids.reshape(k, k)
    a, b, c, d = square[:-1, :-1], square[1:, :-1], square[1:, 1:], square[:-1, 1:]
    lower = np.stack([a, b, c], axis=-1).reshape(-1, 3)
    upper = np.stack([a, c, d], axis=-1).reshape(-1, 3)
    return np.concatenate([lower, upper])


def ring(ids: np.ndarray, k: int, foreign: Mapping[Side, np.ndarray]) -> np.ndarray:
    """Return the triangles of a patch some of whose sides follow a finer neighbour's vertices.

    ``foreign`` gives such a side's vertices, evenly spaced in its growing parameter, corners included. The samples
    inside form a grid as ever; each side is joined to the outermost of them by a strip.
    """
    borders = {side: np.asarray(foreign.get(side, ids[side.samples(k)])) for side in Side}
    if k == 2:
        return _used(_two_chains(borders))
    square = ids.reshape(k, k)[1:-1, 1:-1]
    inner_ids = square.reshape(-1)
    inner = k - 2
    found = [grid(inner_ids, inner)] if inner > 1 else []
    for side in Side:
        outer = borders[side]
        outer_at = np.linspace(0.0, 1.0, len(outer))
        near = inner_ids[side.samples(inner)]
        near_at = np.arange(1, k - 1) / (k - 1)
        if not side.forward:
            outer, near = outer[::-1], near[::-1]
        found.append(_zip(outer, outer_at, near, near_at))
    return _used(np.concatenate(found))


def _two_chains(borders: Mapping[Side, np.ndarray]) -> np.ndarray:
    """Return the triangles of a patch without inner samples: its border from (0, 0) to (1, 1), right chain and left."""

    def chain(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = np.concatenate([np.linspace(0.0, 1.0, len(first)), np.linspace(1.0, 2.0, len(second))[1:]])
        return np.concatenate([first, second[1:]]), at

    right, right_at = chain(borders[Side.V0], borders[Side.U1])
    left, left_at = chain(borders[Side.U0], borders[Side.V1])
    return _zip(right, right_at, left, left_at)


def _zip(right: np.ndarray, right_at: np.ndarray, left: np.ndarray, left_at: np.ndarray) -> np.ndarray:
    """Return the triangles between two chains that run side by side; the second is on the left of the first."""
    a = b = 0
    found = []
    while a < len(right) - 1 or b < len(left) - 1:
        step_right = b == len(left) - 1 or (a < len(right) - 1 and right_at[a + 1] <= left_at[b + 1])
        if step_right:
            found.append((right[a], right[a + 1], left[b]))
            a += 1
        else:
            found.append((right[a], left[b + 1], left[b]))
            b += 1
    return np.array(found, dtype=np.int64)


def distinct(triangles: np.ndarray) -> np.ndarray:
    """Return True for each triangle with three different vertices."""
    a, b, c = triangles.T
    return (a != b) & (b != c) & (c != a)


def _used(triangles: np.ndarray) -> np.ndarray:
    return triangles[distinct(triangles)]
