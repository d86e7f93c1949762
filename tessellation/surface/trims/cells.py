"""Cells between samples that a trim cuts: the parts that belong to the patch, as triangles.

Which side of a piece of the trim belongs to the patch is known from its direction. A stretch of a cell's side belongs
to it where the first piece that leaves its start, counter-clockwise, comes in there. Where no piece reaches the sides
of a cell, the sample at its lower corner decides, as the array has found it; elsewhere it must agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key

from pixelflow.simd.errors import InternalError
from tessellation.surface.trims.ears import Triangle, area, triangulate
from tessellation.surface.trims.lines import TrimLines
from tessellation.surface.trims.nodes import CELL, Node, turn

__all__ = ["CutCells", "cut_cells"]

Step = tuple[Node, Node]
"""A way from one node to the next."""


@dataclass(frozen=True, slots=True)
class CutCells:
    """The triangles of a trimmed patch: of ``whole`` cells, by their lower corner, and those of the others.

    ``sides`` are the stretches of the sides of the square that belong to the patch, counter-clockwise.
    """

    whole: tuple[tuple[int, int], ...]
    triangles: tuple[Triangle, ...]
    sides: tuple[Step, ...]


def cut_cells(lines: TrimLines, inside: Sequence[Sequence[bool]]) -> CutCells:
    """Return the triangles of k x k samples, of which ``inside`` says which belong to the patch: [i][j].

    Raises InternalError where they contradict the trim.
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
    found: list[Node] = []
    for (x, y), side in zip(corners, ((False, i, j), (True, i + 1, j), (False, i, j + 1), (True, i, j)), strict=True):
        found.append((x * CELL, y * CELL, 1))
        along = sorted(lines.points.get(side, ()), key=lambda each: Fraction(each[1 if side[0] else 0], each[2]))
        found += along if (x, y) == side[1:] else along[::-1]
    return found


def _around(border: Sequence[Node]) -> list[Step]:
    return list(zip(border, [*border[1:], border[0]], strict=True))


def _on_border(step: Step, steps: int) -> bool:
    """Return whether a step lies on a side of the square."""
    (x, y, w), (p, q, r) = step
    return any((x == line * w and p == line * r) or (y == line * w and q == line * r) for line in (0, steps * CELL))


class _Cell:
    """A cell with pieces of the trim inside, or with further nodes on its sides."""

    def __init__(self, border: Sequence[Node], chains: Sequence[Step], seed: bool) -> None:
        self._leaving: defaultdict[Node, list[Node]] = defaultdict(list)
        """Where steps that have the patch on their left lead to."""
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
                # What comes before the last way from here, and what comes after the first.
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
        waiting = {(here, after) for here, targets in self._leaving.items() for after in targets}
        for start in [(here, after) for here, targets in self._leaving.items() for after in targets]:
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
        """Return where the way goes on from ``here``: it turns left as sharply as it can."""
        targets = self._leaving.get(here, [])
        if not targets:
            raise InternalError("the border of a trimmed cell ends")
        best = targets[0]
        for each in targets[1:]:
            if _angle_class(here, before, each) > _angle_class(here, before, best) or (
                _angle_class(here, before, each) == _angle_class(here, before, best) and turn(here, best, each) > 0
            ):
                best = each
        return best


def _angle_class(here: Node, start: Node, target: Node) -> int:
    """Return in which half a target lies, counter-clockwise around ``here`` from ``start`` on: 0, 1 for opposite, 2."""
    side = turn(here, start, target)
    return 0 if side > 0 else 1 if side == 0 else 2


def _counter_clockwise(here: Node, ways: Sequence[tuple[Node, bool]]) -> list[tuple[Node, bool]]:
    """Return ways that leave a side inwards, counter-clockwise."""
    return sorted(ways, key=cmp_to_key(lambda a, b: -1 if turn(here, a[0], b[0]) > 0 else 1))


def _holds(border: Sequence[Node], ring: Sequence[Node]) -> bool:
    """Return whether a ring that does not cross a border lies inside it."""
    p = next((each for each in ring if each not in border), ring[0])
    odd = False
    for a, b in _around(border):
        low, high = (a, b) if a[1] * b[2] < b[1] * a[2] else (b, a)
        if low[1] * p[2] <= p[1] * low[2] and p[1] * high[2] < high[1] * p[2] and turn(low, high, p) > 0:
            odd = not odd
    return odd
