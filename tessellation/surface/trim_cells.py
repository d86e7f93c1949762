"""Cells that a trim cuts: their triangles, and trimmed patches side by side."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import InternalError
from tessellation.surface.trim_curves import CELL, Node, TrimLines, TrimPolygon, between, node, trim_lines, turn, within

# Triangles of polygons with holes, by cutting ears. Every corner of the polygon becomes a corner of triangles, also
# those on straight sides, so that neighbours meet without cracks. A library would not do: of 1,000 cells with a hole
# and corners on straight sides, mapbox_earcut dropped corners in 994, and it takes no fractions. Holes are first joined
# to the border by bridges. A polygon may touch itself at corners. All decisions are exact; the ear with the best shape
# is cut first.


Triangle = tuple[Node, Node, Node]


def area(border: Sequence[Node]) -> Fraction:
    """Return twice the area of a polygon, exactly; positive where it runs counter-clockwise."""
    points = [(Fraction(x, w), Fraction(y, w)) for x, y, w in border]
    return sum((x * q - p * y for (x, y), (p, q) in pairwise([*points, points[0]])), Fraction(0))


def triangulate(border: Sequence[Node], holes: Sequence[Sequence[Node]] = ()) -> list[Triangle]:
    """Return the triangles of a polygon, counter-clockwise like ``border``; ``holes`` run the other way."""
    polygon = list(border)
    waiting = [list(hole) for hole in holes]
    while waiting:
        polygon = _bridged(polygon, waiting)
    return _cut(polygon)


def _bridged(polygon: list[Node], waiting: list[list[Node]]) -> list[Node]:
    """Return the polygon with one of the holes joined to it, which is removed from those waiting."""
    rings = [polygon, *waiting]
    sides = [(ring[i - 1], ring[i]) for ring in rings for i in range(len(ring))]
    ways = [
        (_distance(p, q), number, at, start)
        for number, hole in enumerate(waiting)
        for at, p in enumerate(hole)
        for start, q in enumerate(polygon)
    ]
    for _, number, at, start in sorted(ways):
        hole = waiting[number]
        p, q = hole[at], polygon[start]
        if not (_in_corner(polygon, start, p) and _in_corner(hole, at, q)):
            continue
        if all(_apart(p, q, a, b) for a, b in sides):
            del waiting[number]
            return [*polygon[: start + 1], *hole[at:], *hole[: at + 1], *polygon[start:]]
    raise InternalError("a hole of a trimmed cell sees no corner of its border")


def _distance(a: Node, b: Node) -> float:
    return math.hypot(a[0] / a[2] - b[0] / b[2], a[1] / a[2] - b[1] / b[2])


def _apart(p: Node, q: Node, a: Node, b: Node) -> bool:
    """Return True if the segment p q meets the side a b only in common ends."""
    ends = {p, q}
    if a not in ends and between(a, p, q):
        return False
    if b not in ends and between(b, p, q):
        return False
    if a in ends or b in ends:
        return {a, b} != ends
    return not (turn(p, q, a) * turn(p, q, b) < 0 and turn(a, b, p) * turn(a, b, q) < 0) and not (
        between(p, a, b) or between(q, a, b)
    )


def _in_corner(ring: Sequence[Node], at: int, target: Node) -> bool:
    """Return True if the way from a corner to a target begins inside, left of the ring."""
    before, here, after = ring[at - 1], ring[at], ring[(at + 1) % len(ring)]
    left, right = turn(here, after, target), turn(before, here, target)
    if turn(before, here, after) > 0:
        return left > 0 and right > 0
    if turn(before, here, after) == 0 and before != after:
        return left > 0
    return left > 0 or right > 0


def _cut(polygon: list[Node]) -> list[Triangle]:
    """Cut one ear after the other, the one with the best shape first."""
    triangles: list[Triangle] = []
    ring = _without_spikes(polygon)
    while len(ring) > 2:
        ears = (at for at in sorted(range(len(ring)), key=lambda at: -_shape(ring, at)) if _is_ear(ring, at))
        at = next(ears, None)
        if at is None:
            raise InternalError("a trimmed cell has no ear that could be cut off")
        triangles.append((ring[at - 1], ring[at], ring[(at + 1) % len(ring)]))
        ring = _without_spikes(ring[:at] + ring[at + 1 :])
    return triangles


def _without_spikes(ring: list[Node]) -> list[Node]:
    """Return a polygon without corners at which it turns back on itself."""
    ring = list(ring)
    at = 0
    while len(ring) > 2 and at < len(ring):
        following = (at + 1) % len(ring)
        if ring[at - 1] == ring[following]:
            ring = [each for index, each in enumerate(ring) if index not in (at, following)]
            at = 0
        else:
            at += 1
    return ring


def _shape(ring: Sequence[Node], at: int) -> float:
    """Return a measure of an ear that grows as its sides become equal."""
    a, b, c = ring[at - 1], ring[at], ring[(at + 1) % len(ring)]
    longest = max(_distance(a, b), _distance(b, c), _distance(c, a))
    return turn(a, b, c) / (a[2] * b[2] * c[2]) / longest**2 if longest else 0.0


def _is_ear(ring: Sequence[Node], at: int) -> bool:
    a, b, c = ring[at - 1], ring[at], ring[(at + 1) % len(ring)]
    if turn(a, b, c) <= 0:
        return False
    corners = {a, b, c}
    low_x, high_x = min(x / w for x, _, w in corners), max(x / w for x, _, w in corners)
    low_y, high_y = min(y / w for _, y, w in corners), max(y / w for _, y, w in corners)
    for x, y, w in ring:
        # With a margin, as these are rounded.
        if not (low_x - 1 <= x / w <= high_x + 1 and low_y - 1 <= y / w <= high_y + 1):
            continue
        if (x, y, w) not in corners and within((x, y, w), a, b, c):
            return False
    return True


# Cells between samples that a trim cuts: the parts that belong to the patch, as triangles.
#
# The patch is on the left of each piece of the trim. A stretch of a cell's side belongs to the patch if the first piece
# that leaves its start, counter-clockwise, comes in there. If no piece reaches the sides of a cell, the array's result
# for the sample at its lower corner decides; otherwise it must agree.


Step = tuple[Node, Node]
"""A way from one node to the next."""


class CutCells(NamedTuple):
    """Cells of a trimmed patch: ``whole`` ones by their lower corner, and the triangles of the others.

    ``sides`` are the stretches of the sides of the square that belong to the patch, counter-clockwise.
    """

    whole: tuple[tuple[int, int], ...]
    triangles: tuple[Triangle, ...]
    sides: tuple[Step, ...]


def cut_cells(lines: TrimLines, inside: Sequence[Sequence[bool]]) -> CutCells:
    """Return the triangles of k x k samples; ``inside`` [i][j] is True for those of the patch.

    Raises InternalError if they contradict the trim.
    """
    whole: list[tuple[int, int]] = []
    triangles: list[Triangle] = []
    sides: list[Step] = []
    steps = lines.samples - 1
    for i in range(steps):
        for j in range(steps):
            seed = bool(inside[i][j])
            border = _border(lines, i, j)
            chains = lines.chains.get((i, j), [])
            if chains or len(border) > 4:
                cell = _Cell(border, chains, seed)
                triangles += cell.triangles()
                owned = cell.sides
            elif seed:
                whole.append((i, j))
                owned = _around(border)
            else:
                continue
            if i in (0, steps - 1) or j in (0, steps - 1):
                sides += [step for step in owned if _on_border(step, steps)]
    return CutCells(tuple(whole), tuple(triangles), tuple(sides))


def _border(lines: TrimLines, i: int, j: int) -> list[Node]:
    """Return the nodes around a cell, counter-clockwise from its lower corner."""
    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
    nodes: list[Node] = []
    for (x, y), side in zip(corners, ((False, i, j), (True, i + 1, j), (False, i, j + 1), (True, i, j)), strict=True):
        nodes.append((x * CELL, y * CELL, 1))
        along = sorted(lines.points.get(side, ()), key=lambda each: Fraction(each[1 if side[0] else 0], each[2]))
        nodes += along if (x, y) == side[1:] else along[::-1]
    return nodes


def _around(border: Sequence[Node]) -> list[Step]:
    return list(zip(border, [*border[1:], border[0]], strict=True))


def _on_border(step: Step, steps: int) -> bool:
    """Return True for a step on a side of the square."""
    (x, y, w), (p, q, r) = step
    return any((x == line * w and p == line * r) or (y == line * w and q == line * r) for line in (0, steps * CELL))


class _Cell:
    """A cell with pieces of the trim inside, or with further nodes on its sides."""

    def __init__(self, border: Sequence[Node], chains: Sequence[Step], seed: bool) -> None:
        self._leaving: defaultdict[Node, list[Node]] = defaultdict(list)
        """Ends of the steps that have the patch on their left, by start."""
        for a, b in chains:
            self._leaving[a].append(b)
        self.sides = self._owned(border, chains, seed)
        for a, b in self.sides:
            self._leaving[a].append(b)

    def _owned(self, border: Sequence[Node], chains: Sequence[Step], seed: bool) -> list[Step]:
        """Return the stretches of its sides that belong to the patch."""
        ways: defaultdict[Node, list[tuple[Node, bool]]] = defaultdict(list)
        for a, b in chains:
            ways[a].append((b, True))
            ways[b].append((a, False))
        steps = _around(border)
        known: dict[int, tuple[bool, bool]] = {}
        for index, (here, _) in enumerate(steps):
            if here in ways:
                ordered = _counter_clockwise(here, ways[here])
                # True if the patch comes before the last way from here, and after the first.
                known[index] = ordered[-1][1], not ordered[0][1]
        first = next(iter(known), None)
        state = seed if first is None else known[first][1]
        owned = {}
        for offset in range(len(steps)):
            index = ((first or 0) + offset) % len(steps)
            if index in known:
                before, after = known[index]
                if offset and before != state:
                    raise InternalError("a trim has the patch on both sides")
                state = after
            owned[index] = state
        if owned[0] != seed:
            raise InternalError("the array's count of crossings contradicts the trim")
        return [step for index, step in enumerate(steps) if owned[index]]

    def triangles(self) -> Iterator[Triangle]:
        """Yield its triangles."""
        rings = [(area(ring), ring) for ring in self._rings()]
        borders = sorted((each for each in rings if each[0] > 0), key=lambda each: each[0])
        holes: defaultdict[int, list[Sequence[Node]]] = defaultdict(list)
        for size, ring in rings:
            if size < 0:
                holes[next(at for at, (_, border) in enumerate(borders) if _holds(border, ring))].append(ring)
        for at, (_, border) in enumerate(borders):
            yield from triangulate(border, holes[at])

    def _rings(self) -> Iterator[list[Node]]:
        """Yield the closed ways that have the patch on their left."""
        steps = [(here, after) for here, targets in self._leaving.items() for after in targets]
        waiting = set(steps)
        for start in steps:
            if start not in waiting:
                continue
            ring, step = [], start
            while step in waiting:
                waiting.remove(step)
                ring.append(step[0])
                step = step[1], self._after(*step)
            if step != start:
                raise InternalError("the border of a trimmed cell is not closed")
            yield ring

    def _after(self, before: Node, here: Node) -> Node:
        """Return the next node after ``here``: the way turns left as sharply as it can."""
        targets = self._leaving.get(here, [])
        if not targets:
            raise InternalError("the border of a trimmed cell ends")

        def half(target: Node) -> int:
            """Return the half plane, counter-clockwise around ``here`` starting at ``before``: 0, 1 for opposite, 2."""
            side = turn(here, before, target)
            return 0 if side > 0 else 1 if side == 0 else 2

        best = targets[0]
        for each in targets[1:]:
            if half(each) > half(best) or (half(each) == half(best) and turn(here, best, each) > 0):
                best = each
        return best


def _counter_clockwise(here: Node, ways: Sequence[tuple[Node, bool]]) -> list[tuple[Node, bool]]:
    """Return ways that leave a side inwards, counter-clockwise."""

    def compared(a: tuple[Node, bool], b: tuple[Node, bool]) -> int:
        return -1 if turn(here, a[0], b[0]) > 0 else 1

    return sorted(ways, key=cmp_to_key(compared))


def _holds(border: Sequence[Node], ring: Sequence[Node]) -> bool:
    """Return True if a ring that does not cross a border is inside it."""
    p = next((each for each in ring if each not in border), ring[0])
    odd = False
    for a, b in _around(border):
        low, high = (a, b) if a[1] * b[2] < b[1] * a[2] else (b, a)
        if low[1] * p[2] <= p[1] * low[2] and p[1] * high[2] < high[1] * p[2] and turn(low, high, p) > 0:
            odd = not odd
    return odd


# Trimmed patches side by side: their triangles, and the vertices that are not samples.
#
# Along a shared edge, each patch takes the samples and the trim ends of all. So neighbours have the same vertices
# there, regardless of their numbers of samples and of where a trim crosses the edge.


class SideUse(Protocol):
    """A patch's side on an edge."""

    @property
    def patch(self) -> int:
        """The number of the patch."""

    def samples(self, k: int) -> NDArray[np.int64]:
        """Return its samples i * k + j along the edge, in the edge's direction."""


class SampledPart(NamedTuple):
    """A patch to be joined: samples a side, the segments of its trim, and which samples belong to it."""

    samples: int
    polygon: TrimPolygon | None
    inside: NDArray[np.bool_]


class Stitched(NamedTuple):
    """Triangles of all patches; vertices are the samples of all, then other places.

    ``owners`` is the patch of each triangle. A place is one of patch ``patches`` at ``parameters``, float64[n, uv];
    ``like`` is the first vertex that is the same point, itself for most. ``open_sides`` are pairs of vertices on the
    border of the surface: along trims, and along edges that one patch alone reaches.
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
    """A side of a patch on an edge: converts between nodes of the patch and parameters of the edge, from 0 to 1."""

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
        """Return the parameter of a node, None if it is not on this side."""
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

    ``collapsed`` are sides that are a single point. Without ``weld`` each patch has only its own samples and trim ends.
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
    """Return the parameters of an edge's vertices: samples and ends of trims of every patch on it."""
    marks: set[Fraction] = set()
    for side in edge:
        ends = (side.parameter(each) for each in lines[side.patch].on_border())
        marks.update(side.regular, (t for t in ends if t is not None))
    return sorted(marks)


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
        """Add a patch whose only vertices are its samples."""
        steps = self._parts[patch].samples - 1
        self._add_cells(patch, ((i, j) for i in range(steps) for j in range(steps)))

    def add_cut(self, patch: int, lines: TrimLines, cut: CutCells) -> None:
        """Add a patch with cut cells, and its trim as open sides."""
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
        """Add the stretches of an edge that one patch alone reaches, as open sides."""
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
        ends = ((side.parameter(a), side.parameter(b)) for a, b in self._sides[side.patch])
        return {(min(s, t), max(s, t)) for s, t in ends if s is not None and t is not None}

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
        """Return the triangles and vertices so far."""
        return Stitched(
            np.array(self._triangles, np.int64).reshape(-1, 3),
            np.array(self._owners, np.int64),
            np.array([patch for patch, _, _ in self._places], np.int64),
            np.array([at for _, *at in self._places], np.float64).reshape(-1, 2),
            np.array(self._like, np.int64),
            np.array(self._open, np.int64).reshape(-1, 2),
            self._cut,
        )
