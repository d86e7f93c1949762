"""Tree of boxes over triangles, built by the host: cut where the surface area heuristic is least, level after level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted

__all__ = ["LEAF", "BoxTree", "tree_of"]

LEAF = 4
"""Most triangles of a leaf."""
_BINS = 16
_EMPTY = np.array([np.inf] * 3 + [-np.inf] * 3)


@dataclass(frozen=True, slots=True, eq=False)
class BoxTree:
    """Nodes of two children each."""

    boxes: NDArray[np.float32]
    """float32[node, child, 6]: low x y z, high x y z."""
    children: NDArray[np.int64]
    """int64[node, child]: a node; negative: leaf -1 - child."""
    first: NDArray[np.int64]
    """Where the triangles of each leaf begin in ``order``."""
    count: NDArray[np.int64]
    order: NDArray[np.int64]
    """Triangles, those of a leaf one after the other."""
    depth: int
    """Nodes from the root to the deepest leaf."""


def _area(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    size = np.maximum(boxes[..., 3:] - boxes[..., :3], 0)
    return size[..., 0] * size[..., 1] + size[..., 1] * size[..., 2] + size[..., 2] * size[..., 0]


def _joined(boxes: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the boxes of runs of boxes that begin at ``starts``."""
    low = np.minimum.reduceat(boxes[:, :3], starts)
    return np.concatenate([low, np.maximum.reduceat(boxes[:, 3:], starts)], axis=1)


def _sides(
    boxes: NDArray[np.float64], centres: NDArray[np.float64], owner: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which triangles go to the second child, where each ``owner`` is cut best.

    Of each axis sixteen bins of centres; of all cuts between them the one with the least area times triangles. What
    has no extent is cut in the middle of its order.
    """
    nodes = len(starts)
    low = np.minimum.reduceat(centres, starts)
    extent = np.maximum.reduceat(centres, starts) - low
    best = np.full(nodes, np.inf)
    second = np.zeros(len(owner), bool)
    scale = np.divide(_BINS, extent, out=np.zeros_like(extent), where=extent > 0)
    for axis in range(3):
        place = (centres[:, axis] - low[owner, axis]) * scale[owner, axis]
        bins = np.minimum(place.astype(np.int64), _BINS - 1)
        key = owner * _BINS + bins
        order = np.argsort(key, kind="stable")
        runs = np.flatnonzero(np.diff(key[order], prepend=-1))
        held = np.broadcast_to(_EMPTY, (nodes * _BINS, 6)).copy()
        held[key[order][runs]] = _joined(boxes[order], runs)
        held = held.reshape(nodes, _BINS, 6)
        counts = np.bincount(key, minlength=nodes * _BINS).reshape(nodes, _BINS)
        left = np.concatenate(
            [np.minimum.accumulate(held[..., :3], 1), np.maximum.accumulate(held[..., 3:], 1)], axis=2
        )
        back = held[:, ::-1]
        right = np.concatenate(
            [np.minimum.accumulate(back[..., :3], 1), np.maximum.accumulate(back[..., 3:], 1)], axis=2
        )[:, ::-1]
        before = np.cumsum(counts, 1)[:, :-1]
        after = counts.sum(1, keepdims=True) - before
        with np.errstate(invalid="ignore"):
            costs = _area(left[:, :-1]) * before + _area(right[:, 1:]) * after
        costs = np.where((before > 0) & (after > 0), costs, np.inf)
        cut = costs.argmin(1)
        cost = costs[np.arange(nodes), cut]
        better = cost < best
        best[better] = cost[better]
        chosen = better[owner]
        second[chosen] = bins[chosen] > cut[owner[chosen]]
    stuck = np.isinf(best)[owner]
    if stuck.any():
        size = np.diff(np.append(starts, len(owner)))
        middle = starts + size // 2
        second[stuck] = (np.arange(len(owner)) >= middle[owner])[stuck]
    return second


def tree_of(corners: NDArray[np.float32]) -> BoxTree:
    """Return the tree of triangles, float32[triangle, corner, xyz]; raises InputError for fewer than two."""
    if len(corners) < 2:
        raise InputError(
            Fault(f"a tree of {counted(len(corners), 'triangle')}", hint="2 or more: each node has two children")
        )
    boxes = np.concatenate([corners.min(1), corners.max(1)], axis=1).astype(np.float64)
    centres = (boxes[:, :3] + boxes[:, 3:]) / 2
    order = np.arange(len(corners))
    node_boxes: list[NDArray[np.float64]] = []
    links: list[NDArray[np.int64]] = []
    firsts: list[NDArray[np.int64]] = []
    sizes: list[NDArray[np.int64]] = []
    made, leaves, depth = 0, 0, 0
    starts, ends = np.zeros(1, np.int64), np.array([len(corners)])
    while len(starts):
        depth += 1
        size = ends - starts
        owner = np.repeat(np.arange(len(starts)), size.astype(np.intp))
        at = np.arange(len(owner)) + np.repeat(starts - np.cumsum(size) + size, size.astype(np.intp))
        inside = np.cumsum(size) - size
        held = order[at]
        second = _sides(boxes[held], centres[held], owner, inside)
        moved = np.lexsort((second, owner))
        order[at] = held[moved]
        seconds = np.bincount(owner, second, minlength=len(starts)).astype(np.int64)
        bounds = np.stack([starts, ends - seconds, ends], axis=1)
        runs = np.stack([inside, inside + size - seconds], axis=1).reshape(-1)
        node_boxes.append(_joined(boxes[order[at]], runs).reshape(-1, 2, 6))
        child_start, child_end = bounds[:, :2].reshape(-1), bounds[:, 1:].reshape(-1)
        child_size = child_end - child_start
        is_leaf = child_size <= LEAF
        reference = np.empty(len(child_size), np.int64)
        reference[is_leaf] = -1 - (leaves + np.arange(is_leaf.sum()))
        inner = ~is_leaf
        reference[inner] = made + len(starts) + np.arange(inner.sum())
        links.append(reference.reshape(-1, 2))
        firsts.append(child_start[is_leaf])
        sizes.append(child_size[is_leaf])
        leaves += int(is_leaf.sum())
        made += len(starts)
        starts, ends = child_start[inner], child_end[inner]
    return BoxTree(
        np.concatenate(node_boxes).astype(np.float32),
        np.concatenate(links),
        np.concatenate(firsts),
        np.concatenate(sizes),
        order,
        depth,
    )
