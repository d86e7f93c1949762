"""What lies inside a trim by other ways than the machine's: exact fractions upwards, and a library of polygons."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import shapely

from tessellation.surface.trims.curves import Trim, TrimCurve, TrimLoop
from tessellation.surface.trims.polygon import TrimPolygon

ONE = 1 << 19


def upward(polygon: TrimPolygon, k: int) -> np.ndarray:
    """Return what is inside by a ray towards larger v, in fractions.

    A sample stands for the place a little to its right, and much less above it; on u = 1 to its left, on v = 1 below.
    """
    found = np.zeros((k, k), bool)
    segments = [tuple(Fraction(value, ONE) for value in ends) for ends in polygon.ends.tolist()]
    for i in range(k):
        u, right = Fraction(i, k - 1), i < k - 1
        spanning = []
        for u0, v0, u1, v1 in segments:
            low, high = min(u0, u1), max(u0, u1)
            if (low <= u < high) if right else (low < u <= high):
                slope = (v1 - v0) / (u1 - u0)
                spanning.append((v0 + (u - u0) * slope, slope if right else -slope))
        for j in range(k):
            v, above = Fraction(j, k - 1), j < k - 1
            crossed = sum(at > v or (at == v and (rise > 0 or (rise == 0 and not above))) for at, rise in spanning)
            found[i, j] = crossed % 2 == 1
    return found


def dense(piece: TrimCurve, count: int = 2000) -> np.ndarray:
    """Return (u, v) along a piece, both ends included."""
    return piece.at(np.linspace(0.0, 1.0, count + 1))


def region(trim: Trim) -> shapely.Geometry:
    """Return the inside of a trim: loops one upon the other, where an even number covers the place taken away."""
    whole = shapely.Polygon()
    for loop in trim.loops:
        points = np.concatenate([dense(piece)[:-1] for piece in loop.pieces])
        whole = whole.symmetric_difference(shapely.Polygon(points))
    return whole


def outline(trim: Trim) -> shapely.Geometry:
    """Return all curves."""
    return shapely.MultiLineString([dense(piece) for loop in trim.loops for piece in loop.pieces])


def green(loop: TrimLoop) -> float:
    """Return the area in a loop by Green's theorem, |sum of the integrals of u dv|, by Gauss's rule with 64 places.

    For the polynomials of a piece of degree d, 2 d places are exact; rational ones are smooth.
    """
    at, weights = np.polynomial.legendre.leggauss(64)
    t = (at + 1) / 2
    total = 0.0
    for piece in loop.pieces:
        homogeneous = piece.homogeneous
        degree = piece.degree
        value = _bernstein(homogeneous, degree, t)
        slope = _bernstein(degree * np.diff(homogeneous, axis=0), degree - 1, t)
        u, w = value[:, 0] / value[:, 2], value[:, 2]
        dv = (slope[:, 1] * w - value[:, 1] * slope[:, 2]) / w**2
        total += float((weights * u * dv).sum()) / 2
    return abs(total)


def _bernstein(control: np.ndarray, degree: int, t: np.ndarray) -> np.ndarray:
    """Return a polynomial in Bernstein form by de Casteljau's algorithm, [t, 3]."""
    rows = np.repeat(control[None], len(t), axis=0)
    for _ in range(degree):
        rows = rows[:, :-1] * (1 - t)[:, None, None] + rows[:, 1:] * t[:, None, None]
    return rows[:, 0]
