"""What lies inside a trim by other ways than the machine's: exact fractions upwards, and a library of polygons."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import shapely

from tessellation.surface.trim_curves import Trim, TrimCurve, TrimLoop, TrimPolygon

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


_HALVINGS = 11

FLOAT = 1e4 * 2.0**-53
"""What a sum of at most ten thousand products of numbers from 0 to 1 is off in float64."""


@dataclass(frozen=True, slots=True)
class Chords:
    """How far the chords of `dense` are from the curves of a trim: the largest distance, and the most in areas.

    Between a chord and its stretch of curve there is at most the distance times the length of the stretch. Control
    points bound both: the curve lies in their hull, and is no longer than the line through them.
    """

    distance: float
    area: float
    length: float
    """Of the curves, at most."""

    @classmethod
    def of(cls, trim: Trim) -> Chords:
        parts = [_bounds(piece) for loop in trim.loops for piece in loop.pieces]
        distances, lengths = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
        return cls(float(distances.max()), float((distances * lengths).sum()), float(lengths.sum()))


def _bounds(piece: TrimCurve) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance from its chord, and the length, of each stretch of a piece, halved so many times."""
    rows = piece.homogeneous[None]
    for _ in range(_HALVINGS if piece.degree > 1 else 0):
        left, right, level = [rows[:, 0]], [rows[:, -1]], rows
        while level.shape[1] > 1:
            level = (level[:, :-1] + level[:, 1:]) / 2
            left.append(level[:, 0])
            right.append(level[:, -1])
        rows = np.stack([np.stack(left, axis=1), np.stack(right[::-1], axis=1)], axis=1).reshape(-1, *rows.shape[1:])
    points = rows[..., :2] / rows[..., 2:]
    chord = (points[:, -1] - points[:, 0])[:, None]
    away = points - points[:, :1]
    share = np.clip((away * chord).sum(axis=-1) / (chord**2).sum(axis=-1), 0, 1)[..., None]
    distances = np.linalg.norm(away - share * chord, axis=-1).max(axis=1)
    return distances, np.linalg.norm(np.diff(points, axis=1), axis=-1).sum(axis=1)


def dense(piece: TrimCurve, count: int = 1 << _HALVINGS) -> np.ndarray:
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
