"""Points of the plane with rational coordinates, exactly: what trims and the lines between samples make.

A node (x, y, w) is the point (x / w, y / w), w positive and all three without a common factor, so that equal points are
equal nodes. Coordinates count in 2^-G of the distance of two samples, so that samples lie at multiples of 2^G.
"""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["CELL", "GRID_BITS", "Node", "between", "facing", "node", "toward", "turn", "within"]

GRID_BITS = 19
"""Parameters are multiples of 2^-19: an edge function of 16 samples a side then fits into three bytes."""

CELL = 1 << GRID_BITS
"""The distance of two samples."""

Node = tuple[int, int, int]


def node(x: Fraction, y: Fraction) -> Node:
    """Return the node at a point."""
    w = math.lcm(x.denominator, y.denominator)
    return int(x * w), int(y * w), w


def turn(a: Node, b: Node, c: Node) -> int:
    """Return a number that is positive where the way from a by b to c turns left, 0 where it goes straight on."""
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])


def toward(a: Node, b: Node) -> tuple[int, int]:
    """Return a vector from a in the direction of b."""
    return b[0] * a[2] - a[0] * b[2], b[1] * a[2] - a[1] * b[2]


def facing(a: Node, b: Node, c: Node) -> int:
    """Return a number that is positive where b and c lie on the same side of a, of three on a line."""
    (x, y), (p, q) = toward(a, b), toward(a, c)
    return x * p + y * q


def between(p: Node, a: Node, b: Node) -> bool:
    """Return whether p lies on the segment from a to b, ends included."""
    return turn(a, b, p) == 0 and facing(p, a, b) <= 0


def within(p: Node, a: Node, b: Node, c: Node) -> bool:
    """Return whether p lies in a triangle that runs counter-clockwise, its sides included."""
    return turn(a, b, p) >= 0 and turn(b, c, p) >= 0 and turn(c, a, p) >= 0
