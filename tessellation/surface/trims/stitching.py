"""Trimmed patches side by side: their triangles, and the vertices that are no samples.

Along an edge that patches share, each takes the samples of all, and the ends of the trims of all. So neighbours have
the same vertices there, whatever their numbers of samples and wherever a trim crosses the edge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tessellation.surface.trims.cells import CutCells, cut_cells
from tessellation.surface.trims.lines import TrimLines, trim_lines
from tessellation.surface.trims.nodes import CELL, Node, node
from tessellation.surface.trims.polygon import TrimPolygon

__all__ = ["SampledPart", "Stitched", "stitch"]


class SideUse(Protocol):
    """A patch's side on an edge."""

    @property
    def patch(self) -> int:
        """The number of the patch."""

    def samples(self, k: int) -> NDArray[np.int64]:
        """Return its samples i * k + j along the edge, in the edge's direction."""


class SampledPart(NamedTuple):
    """A patch as it is to be joined: samples a side, the segments of its trim, and which samples belong to it."""

    samples: int
    polygon: TrimPolygon | None
    inside: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Stitched:
    """Triangles of all patches; vertices are the samples of all, then ``places`` that are none.

    ``owners`` is the patch of each triangle. A place is one of patch ``patches`` at ``parameters``, float64[n, uv];
    ``like`` is the first vertex that is the same point, itself for most. ``open_sides`` are pairs of vertices beyond
    which there is nothing: along trims, and where one patch alone reaches an edge.
    """

    triangles: NDArray[np.int64]
    owners: NDArray[np.int64]
    patches: NDArray[np.int64]
    parameters: NDArray[np.float64]
    like: NDArray[np.int64]
    open_sides: NDArray[np.int64]
    cut_triangles: int
    """Triangles of cells that a trim runs through, or that have more vertices than samples."""


class _Along:
    """A side of a patch on an edge: between nodes of the patch and parameters of the edge, from 0 to 1."""

    def __init__(self, use: SideUse, samples: int) -> None:
        self.patch = use.patch
        self.samples = samples
        line = use.samples(samples)
        (self._i, self._j), (i, j) = (divmod(int(line[at]), samples) for at in (0, -1))
        self._along_u, self._along_v = i - self._i, j - self._j

    @property
    def regular(self) -> list[Fraction]:
        """The parameters of its samples."""
        return [Fraction(number, self.samples - 1) for number in range(self.samples)]

    def node(self, t: Fraction) -> Node:
        """Return the node at a parameter."""
        return node((self._i + self._along_u * t) * CELL, (self._j + self._along_v * t) * CELL)

    def parameter(self, at: Node) -> Fraction | None:
        """Return the parameter of a node, None where it is not on this side."""
        x, y, w = at
        if (x if self._along_u == 0 else y) != (self._i if self._along_u == 0 else self._j) * CELL * w:
            return None
        along = self._along_u or self._along_v
        start, value = (self._j, y) if self._along_u == 0 else (self._i, x)
        return (Fraction(value, w * CELL) - start) / along


def stitch(
    parts: Sequence[SampledPart],
    edges: Sequence[Sequence[SideUse]],
    collapsed: Iterable[SideUse],
    *,
    weld: bool,
) -> Stitched:
    """Return the triangles of patches, some of them trimmed, that meet along edges.

    ``collapsed`` are sides that are a single point. Without ``weld`` each patch has but its own samples and trim ends.
    """
    lines = [
        TrimLines(part.samples) if part.polygon is None else trim_lines(part.polygon, part.samples) for part in parts
    ]
    along = [[_Along(use, parts[use.patch].samples) for use in edge] for edge in edges]
    marks = [_marks(each, lines) for each in along]
    if weld:
        for each, parameters in zip(along, marks, strict=True):
            for side in each:
                lines[side.patch].put(side.node(t) for t in parameters)
    builder = _Stitching(parts, along, [_Along(use, parts[use.patch].samples) for use in collapsed])
    for patch, (part, line) in enumerate(zip(parts, lines, strict=True)):
        if part.polygon is not None or line.points:
            builder.add_cut(patch, line, cut_cells(line, part.inside.tolist()))
        else:
            builder.add_whole(patch)
    for edge, parameters in enumerate(marks):
        builder.add_sides(edge, parameters, weld=weld)
    return builder.result()


def _marks(edge: Sequence[_Along], lines: Sequence[TrimLines]) -> list[Fraction]:
    """Return where an edge has vertices: samples and ends of trims of every patch on it."""
    found: set[Fraction] = set()
    for side in edge:
        ends = (side.parameter(each) for each in lines[side.patch].on_border())
        found.update(side.regular, (t for t in ends if t is not None))
    return sorted(found)


class _Stitching:
    """Numbers vertices and collects triangles."""

    def __init__(
        self, parts: Sequence[SampledPart], edges: Sequence[Sequence[_Along]], collapsed: Sequence[_Along]
    ) -> None:
        self._parts, self._edges = parts, edges
        self._starts = [0]
        for part in parts:
            self._starts.append(self._starts[-1] + part.samples**2)
        self._triangles: list[tuple[int, int, int]] = []
        self._owners: list[int] = []
        self._open: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, Node], int] = {}
        self._places: list[tuple[int, float, float]] = []
        self._like: list[int] = []
        self._first: dict[tuple[int, Fraction], int] = {}
        self._cut = 0
        self._sides: dict[int, list[tuple[Node, Node]]] = {}
        self._on: list[list[tuple[int, _Along]]] = [[] for _ in parts]
        for number, edge in enumerate(edges):
            for side in edge:
                self._on[side.patch].append((number, side))
        self._collapsed: list[list[_Along]] = [[] for _ in parts]
        for side in collapsed:
            self._collapsed[side.patch].append(side)

    def add_whole(self, patch: int) -> None:
        """Add a patch that has no vertices but its samples."""
        steps = self._parts[patch].samples - 1
        self._add_cells(patch, ((i, j) for i in range(steps) for j in range(steps)))

    def add_cut(self, patch: int, lines: TrimLines, cut: CutCells) -> None:
        """Add a patch with cut cells, and what lies along its trim as open."""
        self._add_cells(patch, cut.whole)
        for a, b, c in cut.triangles:
            self._triangles.append((self._number(patch, a), self._number(patch, b), self._number(patch, c)))
            self._owners.append(patch)
        self._cut += len(cut.triangles)
        self._open += [(self._number(patch, a), self._number(patch, b)) for a, b in lines.cuts]
        self._sides[patch] = list(cut.sides)

    def _add_cells(self, patch: int, cells: Iterable[tuple[int, int]]) -> None:
        k, start = self._parts[patch].samples, self._starts[patch]
        for i, j in cells:
            a = start + i * k + j
            self._triangles += [(a, a + k, a + k + 1), (a, a + k + 1, a + 1)]
            self._owners += [patch, patch]

    def add_sides(self, edge: int, parameters: Sequence[Fraction], *, weld: bool) -> None:
        """Add the stretches of an edge that one patch alone reaches as open."""
        sides = self._edges[edge]
        if len(sides) > 1 and not weld:
            return
        owned = Counter(stretch for side in sides for stretch in self._stretches(side))
        for a, b in pairwise(parameters):
            if owned[a, b] == 1:
                side = next(each for each in sides if (a, b) in self._stretches(each))
                self._open.append((self._number(side.patch, side.node(a)), self._number(side.patch, side.node(b))))

    def _stretches(self, side: _Along) -> set[tuple[Fraction, Fraction]]:
        """Return the stretches of an edge that belong to a patch, in the edge's direction."""
        if side.patch not in self._sides:
            return set(pairwise(side.regular))
        found = set()
        for a, b in self._sides[side.patch]:
            s, t = side.parameter(a), side.parameter(b)
            if s is not None and t is not None:
                found.add((min(s, t), max(s, t)))
        return found

    def _number(self, patch: int, at: Node) -> int:
        """Return the vertex at a node of a patch."""
        x, y, w = at
        k = self._parts[patch].samples
        (i, off_u), (j, off_v) = divmod(x, CELL * w), divmod(y, CELL * w)
        if not off_u and not off_v:
            return self._starts[patch] + i * k + j
        known = self._numbers.get((patch, at))
        if known is not None:
            return known
        number = self._numbers[patch, at] = self._starts[-1] + len(self._places)
        length = w * CELL * (k - 1)
        self._places.append((patch, x / length, y / length))
        self._like.append(self._same(patch, at, number))
        return number

    def _same(self, patch: int, at: Node, number: int) -> int:
        """Return the first vertex that is the same point as a new one."""
        for side in self._collapsed[patch]:
            if side.parameter(at) is not None:
                return self._number(patch, side.node(Fraction(0)))
        for edge, side in self._on[patch]:
            t = side.parameter(at)
            if t is None:
                continue
            for other in self._edges[edge]:
                if (t * (other.samples - 1)).denominator == 1:
                    return self._number(other.patch, other.node(t))
            return self._first.setdefault((edge, t), number)
        return number

    def result(self) -> Stitched:
        """Return all of it."""
        return Stitched(
            np.array(self._triangles, np.int64).reshape(-1, 3),
            np.array(self._owners, np.int64),
            np.array([patch for patch, _, _ in self._places], np.int64),
            np.array([at for _, *at in self._places], np.float64).reshape(-1, 2),
            np.array(self._like, np.int64),
            np.array(self._open, np.int64).reshape(-1, 2),
            self._cut,
        )
