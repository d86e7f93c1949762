"""Triangles of polygons with holes, whose corners are all used and are the only ones: ears are cut off.

Holes are joined to the border by bridges first. A polygon may touch itself at corners, and corners may lie on straight
sides. All decisions are exact, so that no case is left to rounding; which ear comes first goes by its shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from pixelflow.simd.errors import InternalError
from tessellation.surface.trims.nodes import Node, between, turn, within

__all__ = ["area", "triangulate"]

Triangle = tuple[Node, Node, Node]


def area(border: Sequence[Node]) -> Fraction:
    """Return twice the area of a polygon, exactly; positive where it runs counter-clockwise."""
    points = [(Fraction(x, w), Fraction(y, w)) for x, y, w in border]
    return sum((x * q - p * y for (x, y), (p, q) in pairwise([*points, points[0]])), Fraction(0))


def triangulate(border: Sequence[Node], holes: Sequence[Sequence[Node]] = ()) -> list[Triangle]:
    """Return the triangles of a polygon, counter-clockwise; ``border`` runs so, and ``holes`` the other way."""
    polygon = list(border)
    waiting = [list(hole) for hole in holes]
    while waiting:
        polygon = _bridged(polygon, waiting)
    return _cut(polygon)


def _bridged(polygon: list[Node], waiting: list[list[Node]]) -> list[Node]:
    """Return the polygon with one of the holes joined to it, which is taken from those that wait."""
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
    """Return whether the segment p q meets the side a b in nothing but common ends."""
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
    """Return whether the way from a corner to a target begins inside, left of the ring."""
    before, here, after = ring[at - 1], ring[at], ring[(at + 1) % len(ring)]
    left, right = turn(here, after, target), turn(before, here, target)
    if turn(before, here, after) > 0:
        return left > 0 and right > 0
    if turn(before, here, after) == 0 and before != after:
        return left > 0
    return left > 0 or right > 0


def _cut(polygon: list[Node]) -> list[Triangle]:
    """Cut one ear after the other; the best of those that are possible first."""
    found: list[Triangle] = []
    ring = _without_spikes(polygon)
    while len(ring) > 2:
        ears = sorted(range(len(ring)), key=lambda at: -_shape(ring, at))
        for at in ears:
            if _is_ear(ring, at):
                break
        else:
            raise InternalError("a trimmed cell has no ear that could be cut off")
        found.append((ring[at - 1], ring[at], ring[(at + 1) % len(ring)]))
        ring = _without_spikes(ring[:at] + ring[at + 1 :])
    return found


def _without_spikes(ring: list[Node]) -> list[Node]:
    """Return a polygon without corners at which it goes back where it came from."""
    ring = list(ring)
    at = 0
    while len(ring) > 2 and at < len(ring):
        before, after = ring[at - 1], ring[(at + 1) % len(ring)]
        if before == after:
            taken = {at, (at + 1) % len(ring)}
            ring = [each for index, each in enumerate(ring) if index not in taken]
            at = 0
        else:
            at += 1
    return ring


def _shape(ring: Sequence[Node], at: int) -> float:
    """Return a measure of an ear that is larger the nearer it is to three equal sides."""
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
