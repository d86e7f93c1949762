"""Trim segments cut by the lines between samples, each with the patch on its left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tessellation.surface.trims.nodes import CELL, GRID_BITS, Node, node
from tessellation.surface.trims.polygon import TrimPolygon

__all__ = ["CellSide", "TrimLines", "trim_lines"]

_ONE = 1 << GRID_BITS

CellSide = tuple[bool, int, int]
"""A side of a cell: whether it is upright, and the sample at its lower end, (i, j)."""


@dataclass(slots=True)
class TrimLines:
    """What lies in the cells between k x k samples, cell (i, j) having sample (i, j) as its lower corner.

    ``cuts`` are all pieces of trim segments, ``chains`` those that run through the inside of a cell, ``points`` the
    nodes on the sides of cells that are no samples.
    """

    samples: int
    cuts: list[tuple[Node, Node]] = field(default_factory=list)
    chains: defaultdict[tuple[int, int], list[tuple[Node, Node]]] = field(default_factory=lambda: defaultdict(list))
    points: defaultdict[CellSide, set[Node]] = field(default_factory=lambda: defaultdict(set))

    def put(self, nodes: Iterable[Node]) -> None:
        """Note nodes that lie on sides of cells; others, and samples, are passed over."""
        for x, y, w in nodes:
            i, on_upright = divmod(x, CELL * w)
            j, on_level = divmod(y, CELL * w)
            if (on_upright == 0) != (on_level == 0):
                self.points[on_upright == 0, i, j].add((x, y, w))

    def on_border(self) -> Iterable[Node]:
        """Yield the nodes on the sides of the parameter square that are no samples."""
        steps = self.samples - 1
        for (upright, i, j), nodes in self.points.items():
            if (i if upright else j) in (0, steps):
                yield from nodes


def trim_lines(polygon: TrimPolygon, samples: int) -> TrimLines:
    """Return the segments of a polygon that run inside the parameter square, cut by the lines between samples."""
    found = TrimLines(samples)
    steps = samples - 1
    for u0, v0, u1, v1 in _directed(polygon):
        ends = _cut(u0 * steps, v0 * steps, u1 * steps, v1 * steps)
        found.put(ends)
        for a, b in pairwise(ends):
            found.cuts.append((a, b))
            cell = _cell(a, b)
            if cell is not None:
                found.chains[cell].append((a, b))
    return found


def _directed(polygon: TrimPolygon) -> Iterable[tuple[int, int, int, int]]:
    """Yield the segments inside the square, the patch on the left of each."""
    ends = polygon.ends
    start, end = ends[:, :2], ends[:, 2:]
    on_side = ((start == end) & ((start == 0) | (start == _ONE))).any(axis=1)
    from_border = ((start == 0) | (start == _ONE)).any(axis=1)
    forward, before = True, -2
    for index in np.flatnonzero(~on_side).tolist():
        # Along a stretch from side to side, the patch stays on the same side.
        if index != before + 1 or from_border[index] or polygon.loops[index] != polygon.loops[before]:
            forward = _odd_on_left(ends, index)
        before = index
        u0, v0, u1, v1 = ends[index].tolist()
        yield (u0, v0, u1, v1) if forward else (u1, v1, u0, v0)


def _odd_on_left(ends: NDArray[np.int64], index: int) -> bool:
    """Return whether the patch lies on the left of a segment: by a ray from its middle, which is exact."""
    upright = ends[index, 1] != ends[index, 3]
    order = [0, 1, 2, 3] if upright else [1, 0, 3, 2]  # a level segment looks upwards instead of to the right
    turned = 2 * ends[:, order]
    x, y = (turned[index, :2] + turned[index, 2:]) // 2
    low = np.where((turned[:, 1] <= turned[:, 3])[:, None], turned, turned[:, [2, 3, 0, 1]])
    x0, y0, x1, y1 = low.T
    right = (y0 <= y) & (y < y1) & ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 0)
    right[index] = False
    # To the left of an upward segment the ray crosses the segment too; with the axes exchanged left and right are.
    up = bool(turned[index, 1] < turned[index, 3])
    return bool((np.count_nonzero(right) + (up == upright)) % 2)


def _cut(x0: int, y0: int, x1: int, y1: int) -> list[Node]:
    """Return the ends of a segment, and the nodes where it crosses lines between samples, in order."""
    dx, dy = x1 - x0, y1 - y0
    at = {Fraction(0), Fraction(1)}
    for origin, length in ((x0, dx), (y0, dy)):
        low, high = sorted((origin, origin + length))
        at |= {Fraction(line * CELL - origin, length) for line in range(low // CELL + 1, -(-high // CELL))}
    return [node(x0 + dx * t, y0 + dy * t) for t in sorted(at)]


def _cell(a: Node, b: Node) -> tuple[int, int] | None:
    """Return the cell through whose inside a piece runs, None for one along a side."""
    size = 2 * a[2] * b[2] * CELL
    i, level_x = divmod(a[0] * b[2] + b[0] * a[2], size)
    j, level_y = divmod(a[1] * b[2] + b[1] * a[2], size)
    return (i, j) if level_x and level_y else None
