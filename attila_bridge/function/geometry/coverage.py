"""Coverage: the steps of traversal as quads, which of their fragments a triangle covers, and how deep they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.geometry.setup import Setup
from attila_bridge.function.layout import TILE
from attila_bridge.function.work import BatchWork

__all__ = ["DEPTH_MOST", "QUADS", "Cover", "Steps", "cover", "steps_of"]

QUADS = 16
"""Quads of a step."""
DEPTH_MOST = (1 << 24) - 1
_TINY = 1e-12
Integers = NDArray[np.int64]

_QUAD = np.arange(QUADS)
_FRAGMENT = np.arange(4)
_X = (2 * (_QUAD % 4)[:, None] + _FRAGMENT % 2).ravel()
_Y = (2 * (_QUAD // 4)[:, None] + _FRAGMENT // 2).ravel()
"""Positions of the 64 fragments of a tile, quad by quad."""


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Steps of traversal: a triangle and an 8x8 tile each."""

    triangle: NDArray[np.int32]
    """[steps] position among the drawn triangles."""
    x: Integers
    y: Integers
    batch: Integers
    """[batches + 1] first step of each batch."""


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """Coverage of steps."""

    inside: NDArray[np.bool_]
    """[quads, 4] within the triangle and the depth range."""
    covered: NDArray[np.bool_]
    """[quads, 4] these, within the window."""
    depth: NDArray[np.uint32]
    """[quads, 4] 24 bits; anything where a fragment is not covered."""
    weights: NDArray[np.float64]
    """[3, 4, quads] values of the three edges at each fragment."""

    def only(self, kept: Integers) -> Cover:
        """Return the coverage of some of the quads."""
        return Cover(self.inside[kept], self.covered[kept], self.depth[kept], self.weights[:, :, kept])


def steps_of(batches: tuple[BatchWork, ...]) -> Steps:
    """Return the steps of all batches, and set the first step of each scan tile.

    A scan tile is opened into its four 8x8 tiles, row by row; each is one step for each triangle marked.
    """
    if not batches:
        nothing = np.zeros(0, np.int64)
        return Steps(np.zeros(0, np.int32), nothing, nothing, np.zeros(1, np.int64))
    scans = np.concatenate([each.scans for each in batches]).astype(np.int64)
    counts = np.array([len(each.scans) for each in batches])
    begins = np.cumsum([0, *(len(each.triangles) for each in batches[:-1])])
    batch = np.repeat(np.arange(len(batches)), counts)
    marked = (scans[:, 2, None] >> np.arange(4) & 1).astype(np.bool_)
    each_tile = marked.sum(axis=1)
    firsts = np.concatenate([[0], np.cumsum(4 * each_tile)])
    scan, tile, triangle = np.nonzero(np.repeat(marked[:, None], 4, axis=1))
    past = np.concatenate([[0], np.cumsum(counts)])
    for number, each in enumerate(batches):
        each.scans[:, 3] = firsts[past[number] : past[number + 1]]
    return Steps(
        (begins[batch[scan]] + triangle).astype(np.int32),
        scans[scan, 0] + TILE * (tile % 2),
        scans[scan, 1] + TILE * (tile // 2),
        firsts[past],
    )


def cover(
    setup: Setup, triangle: NDArray[np.int32], x: Integers, y: Integers, window: tuple[int, int, int, int]
) -> Cover:
    """Return the coverage of steps within a window of the screen (x, y, width, height).

    A fragment is inside where each edge is positive, or nothing while the edge is a left one, or a lower one that is
    level; its depth lies within -1..1.
    """
    px, py = (x[:, None] + _X).astype(np.float64), (y[:, None] + _Y).astype(np.float64)
    left, low, width, height = window
    seen = (px >= left) & (px < left + width) & (py >= low) & (py < low + height)
    inside = np.ones(px.shape, np.bool_)
    edges = setup.edges[triangle]
    weights = np.empty((3, *px.shape))
    for at in range(3):
        a, b, c = (edges[:, at, which, None] for which in range(3))
        value = a * px + b * py + c
        owned = (a > 0) | ((a == 0) & (b >= 0))
        inside &= (value > _TINY) | ((np.abs(value) < _TINY) & owned)
        weights[at] = value
    a, b, c = (setup.depth[triangle, which, None] for which in range(3))
    z = a * px + b * py + c
    inside &= np.abs(z) <= 1 + _TINY
    with np.errstate(all="ignore"):
        depth = np.trunc((z * 0.5 + 0.5) * DEPTH_MOST)
    depth = np.where(inside, np.clip(depth, 0, DEPTH_MOST), 0).astype(np.uint32)
    return Cover(
        inside.reshape(-1, 4),
        (inside & seen).reshape(-1, 4),
        depth.reshape(-1, 4),
        weights.reshape(3, -1, 4).transpose(0, 2, 1),
    )
