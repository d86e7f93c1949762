"""Twenty-one trims, with borders, holes and islands, lines to degree 5, rational pieces, and sides of the square."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tessellation.surface.trim_curves import Trim, TrimCurve, TrimLoop

__all__ = ["SHAPES", "circle", "ellipse", "polygon", "square"]

Point = tuple[float, float]
_KAPPA = 4 / 3 * (math.sqrt(2) - 1)
"""Of four cubics for a circle."""


def polygon(*points: Point) -> TrimLoop:
    return TrimLoop.of_points(points)


def square(low: float = 0.0, high: float = 1.0) -> TrimLoop:
    return polygon((low, low), (high, low), (high, high), (low, high))


def ellipse(u: float, v: float, a: float, b: float) -> TrimLoop:
    """Four cubics, off the true ellipse by 0.03 %."""
    c, d = a * _KAPPA, b * _KAPPA
    east, north, west, south = (u + a, v), (u, v + b), (u - a, v), (u, v - b)
    return TrimLoop(
        (
            TrimCurve((east, (u + a, v + d), (u + c, v + b), north)),
            TrimCurve((north, (u - c, v + b), (u - a, v + d), west)),
            TrimCurve((west, (u - a, v - d), (u - c, v - b), south)),
            TrimCurve((south, (u + c, v - b), (u + a, v - d), east)),
        )
    )


def circle(u: float, v: float, radius: float) -> TrimLoop:
    """Four rational quadratics: a true circle."""
    corners = [(u + radius, v), (u, v + radius), (u - radius, v), (u, v - radius)]
    bends = [(u + radius, v + radius), (u - radius, v + radius), (u - radius, v - radius), (u + radius, v - radius)]
    weights = (1.0, math.sqrt(0.5), 1.0)
    ends = [*corners[1:], corners[0]]
    return TrimLoop(tuple(TrimCurve((a, bend, b), weights) for a, bend, b in zip(corners, bends, ends, strict=True)))


def _star(points: int, u: float, v: float, outer: float, inner: float) -> TrimLoop:
    radii = [outer if index % 2 == 0 else inner for index in range(2 * points)]
    angles = [0.3 + math.pi * index / points for index in range(2 * points)]
    return polygon(*((u + r * math.cos(t), v + r * math.sin(t)) for r, t in zip(radii, angles, strict=True)))


def _closed(*curves: Sequence[Point]) -> TrimLoop:
    return TrimLoop(tuple(TrimCurve(tuple(points)) for points in curves))


SHAPES: dict[str, Trim] = {
    "square": Trim((square(),)),
    "inner square": Trim((square(0.2, 0.7),)),
    "square on samples": Trim((square(0.25, 0.75),)),
    "triangle": Trim((polygon((0.1, 0.15), (0.9, 0.3), (0.4, 0.95)),)),
    "diagonal": Trim((polygon((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)),)),
    "star": Trim((_star(5, 0.5, 0.5, 0.47, 0.2),)),
    "comb": Trim((polygon((0.05, 0.1), (0.95, 0.1), (0.95, 0.9), (0.8, 0.2), (0.6, 0.9), (0.5, 0.2), (0.3, 0.9)),)),
    "circle": Trim((circle(0.5, 0.5, 0.4),)),
    "touching circle": Trim((circle(0.5, 0.5, 0.5),)),
    "ellipse": Trim((ellipse(0.45, 0.55, 0.4, 0.2),)),
    "hole": Trim((square(), circle(0.5, 0.5, 0.3))),
    "ring": Trim((circle(0.5, 0.5, 0.45), circle(0.5, 0.5, 0.2))),
    "island": Trim((square(), circle(0.5, 0.5, 0.4), ellipse(0.5, 0.5, 0.2, 0.1))),
    "two holes": Trim((square(), circle(0.3, 0.3, 0.15), ellipse(0.7, 0.6, 0.2, 0.3))),
    "tiny hole": Trim((square(), circle(0.52, 0.47, 0.012))),
    "bite": Trim((square(), _closed([(1.0, 0.2), (1.0, 0.8)], [(1.0, 0.8), (0.3, 0.9), (0.3, 0.1), (1.0, 0.2)]))),
    "half below": Trim((polygon((0.0, 0.0), (1.0, 0.0), (1.0, 0.5), (0.0, 0.5)),)),
    "wave": Trim(
        (_closed([(0.0, 0.0), (1.0, 0.0)], [(1.0, 0.0), (1.0, 0.4)], [(1.0, 0.4), (0.6, 1.0), (0.4, 0.0), (0.0, 0.6)],
                 [(0.0, 0.6), (0.0, 0.0)]),)
    ),
    "drop": Trim((_closed([(0.5, 0.05), (1.0, 1.0), (0.0, 1.0), (0.5, 0.05)]),)),
    "parabola": Trim((_closed([(0.1, 0.9), (0.5, 0.0), (0.9, 0.9)], [(0.9, 0.9), (0.5, 0.7), (0.1, 0.9)]),)),
    "quintic": Trim(
        (_closed([(0.1, 0.1), (0.5, 0.4), (0.3, 0.0), (0.7, 0.0), (0.6, 0.5), (0.9, 0.1)], [(0.9, 0.1), (0.8, 0.9)],
                 [(0.8, 0.9), (0.1, 0.1)]),)
    ),
    "corners": Trim((polygon((0.0, 0.0), (0.3, 0.0), (0.0, 0.4)), polygon((1.0, 1.0), (0.6, 1.0), (1.0, 0.55)))),
}  # fmt: skip
