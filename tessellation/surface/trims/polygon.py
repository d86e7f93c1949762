"""Trim polygons: the segments that stand for trim curves, on a grid of whole numbers, and how far they are off.

A segment stands for a stretch of a curve where the picture of the chord on the surface, and the straight line between
the ends of that, are near enough. With the control points of a stretch within d of its chord, every point of one is
within d of a point of the other, because projection onto the chord is continuous. So in space the distance of curve and
straight line is at most

    |(S_u, S_v)| d + (|S_uu| du^2 + 2 |S_uv| |du dv| + |S_vv| dv^2) / 8

with the largest derivatives of the patch, which its control points bound. Ends are rounded to multiples of 2^-19, which
counts in d. All that follows, the parity of samples and the triangles, is exact for these whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError
from tessellation.surface.trims.curves import Trim, TrimCurve
from tessellation.surface.trims.nodes import GRID_BITS

__all__ = ["DEFAULT_TOLERANCE", "MOST_SEGMENTS", "TOLERANCES", "Contact", "TrimPolygon", "trim_polygon"]

_ONE = 1 << GRID_BITS
_ROUNDING = math.sqrt(2) / 2 / _ONE
"""How far rounding moves an end."""

DEFAULT_TOLERANCE = 0.001
TOLERANCES = (0.0001, 0.1)
"""What a tolerance may be: a share of the largest extent of the control points of a patch."""

MOST_SEGMENTS = 4_000
"""Of one patch: each is broadcast to the array."""

_MOST_HALVINGS = 24
_ROUNDINGS = 4
"""Tolerances below so many roundings cannot be kept."""
_REFINEMENTS = 4
"""How often a polygon that crosses itself is made anew, with a quarter of the tolerance each time."""

_PAIRS = 1 << 18
"""Pairs of segments that are compared at a time."""


@dataclass(frozen=True, slots=True)
class Contact:
    """Two stretches of trim curves that cross or touch: loop and piece of each, from 0 on, and (u, v)."""

    first: tuple[int, int]
    second: tuple[int, int]
    place: tuple[float, float]

    def __str__(self) -> str:
        (a, p), (b, q), (u, v) = self.first, self.second, self.place
        what = f"trim loop {a + 1} crosses or touches itself" if a == b else f"trim loops {a + 1} and {b + 1} meet"
        pieces = f"piece {p + 1}" if (a, p) == (b, q) else f"pieces {p + 1} and {q + 1}"
        return f"{what} near ({u:.6g}, {v:.6g}), {pieces}"


@dataclass(frozen=True, slots=True, eq=False)
class TrimPolygon:
    """The segments of a trim: ``ends`` int64[n, 4] are u0, v0, u1, v1 in multiples of 2^-19, loop after loop.

    ``loops`` and ``pieces`` say which each is of. ``bound`` is how far curve and straight lines between points of the
    surface may be from each other in space, in units of the model; ``spread`` the same in the parameter plane.
    ``contact`` is where they cross or touch each other elsewhere than on the sides of the square, if anywhere.
    """

    ends: NDArray[np.int64]
    loops: NDArray[np.int64]
    pieces: NDArray[np.int64]
    bound: float
    spread: float
    tolerance: float
    """The distance in space that was asked for, in units of the model."""
    contact: Contact | None

    def __len__(self) -> int:
        return len(self.ends)


@dataclass(frozen=True, slots=True)
class _Derivatives:
    """Bounds of the first and second derivatives of a patch."""

    first: float
    uu: float
    uv: float
    vv: float

    @classmethod
    def of(cls, net: NDArray[np.float64]) -> _Derivatives:
        m, n = net.shape[0] - 1, net.shape[1] - 1

        def largest(differences: NDArray[np.float64]) -> float:
            return float(np.linalg.norm(differences, axis=-1).max(initial=0.0))

        along_u, along_v = np.diff(net, axis=0), np.diff(net, axis=1)
        return cls(
            math.hypot(m * largest(along_u), n * largest(along_v)),
            m * (m - 1) * largest(np.diff(along_u, axis=0)),
            m * n * largest(np.diff(along_u, axis=1)),
            n * (n - 1) * largest(np.diff(along_v, axis=1)),
        )

    def bound(self, apart: float, du: float, dv: float) -> float:
        """Return how far a stretch may be from its straight line; ``apart`` is d, as above."""
        return self.first * apart + (self.uu * du * du + 2 * self.uv * du * dv + self.vv * dv * dv) / 8


def trim_polygon(net: NDArray[np.floating], trim: Trim, share: float = DEFAULT_TOLERANCE) -> TrimPolygon:
    """Return the segments of a trim of a patch with that control net, [m+1, n+1, xyz].

    ``share`` is the tolerance in space, as a share of the largest extent of the control points. Where segments cross or
    touch although they are near enough to their curves, they are made finer, before that is called a contact. Raises
    InputError where more segments would be needed than allowed.
    """
    points = net.astype(np.float64)
    extent = float((points.max(axis=(0, 1)) - points.min(axis=(0, 1))).max())
    derivatives = _Derivatives.of(points / extent if extent else points)
    found, ends, names, contact = _checked(trim, derivatives, share)
    for attempt in range(1, _REFINEMENTS + 1):
        finer = share / 4**attempt
        if contact is None or finer < _ROUNDINGS * derivatives.first * _ROUNDING:
            break
        found, ends, names, contact = _checked(trim, derivatives, finer)
    bound = max((each[2] for each in found), default=0.0) * extent
    spread = max((each[3] for each in found), default=0.0)
    return TrimPolygon(ends, names[:, 0], names[:, 1], bound, spread, share * extent, contact)


_Segment = tuple[tuple[int, int, int, int], tuple[int, int], float, float]
"""Ends, loop and piece, bound in space, bound in the parameter plane."""


def _checked(
    trim: Trim, derivatives: _Derivatives, tolerance: float
) -> tuple[list[_Segment], NDArray[np.int64], NDArray[np.int64], Contact | None]:
    """Return segments, their ends and names, and where they meet."""
    found = _followed(trim, derivatives, tolerance)
    ends = np.array([each[0] for each in found], dtype=np.int64).reshape(-1, 4)
    names = np.array([each[1] for each in found], dtype=np.int64).reshape(-1, 2)
    return found, ends, names, _without_area(trim, names) or _contact(ends, names)


def _followed(trim: Trim, derivatives: _Derivatives, tolerance: float) -> list[_Segment]:
    found: list[_Segment] = []
    for number, loop in enumerate(trim.loops):
        for index, piece in enumerate(loop.pieces):
            for ends, bound, apart in _halved(piece, derivatives, tolerance):
                if ends[:2] != ends[2:]:
                    found.append((ends, (number, index), bound, apart))
                if len(found) > MOST_SEGMENTS:
                    message = f"trim curves would need more than {MOST_SEGMENTS:,} segments"
                    raise InputError(Fault(message, hint="allow a larger tolerance"))
    return found


def _halved(
    piece: TrimCurve, derivatives: _Derivatives, tolerance: float
) -> list[tuple[tuple[int, int, int, int], float, float]]:
    """Return the segments of a piece, in order: halved until near enough."""
    found = []
    waiting = [(piece.homogeneous, 0)]
    while waiting:
        control, depth = waiting.pop()
        points = control[:, :2] / control[:, 2:]
        u0, v0, u1, v1 = (round(float(value) * _ONE) for value in (*points[0], *points[-1]))
        apart = _from_chord(points)
        on_side = apart == 0.0 and _along_side(u0, v0, u1, v1)
        apart += _ROUNDING
        bound = derivatives.bound(apart, (abs(u1 - u0) + 1) / _ONE, (abs(v1 - v0) + 1) / _ONE)
        if on_side:
            found.append(((u0, v0, u1, v1), 0.0, 0.0))  # the side itself, of whose samples the mesh is made
        elif bound <= tolerance or depth == _MOST_HALVINGS:
            found.append(((u0, v0, u1, v1), bound, apart))
        else:
            left, right = _halves(control)
            waiting += [(right, depth + 1), (left, depth + 1)]
    return found


def _along_side(u0: int, v0: int, u1: int, v1: int) -> bool:
    return (u0 == u1 and u0 in (0, _ONE)) or (v0 == v1 and v0 in (0, _ONE))


def _from_chord(points: NDArray[np.float64]) -> float:
    """Return the largest distance of control points from the chord between the first and the last."""
    chord = points[-1] - points[0]
    length = float(chord @ chord)
    share = np.clip((points - points[0]) @ chord / length, 0.0, 1.0) if length else np.zeros(len(points))
    return float(np.linalg.norm(points - points[0] - share[:, None] * chord, axis=1).max())


def _halves(control: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the control points of both halves (de Casteljau)."""
    left, right = [control[0]], [control[-1]]
    while len(control) > 1:
        control = (control[:-1] + control[1:]) / 2
        left.append(control[0])
        right.append(control[-1])
    return np.array(left), np.array(right[::-1])


def _without_area(trim: Trim, names: NDArray[np.int64]) -> Contact | None:
    """Return a loop of which fewer than three segments are left as touching itself."""
    for number, loop in enumerate(trim.loops):
        if np.count_nonzero(names[:, 0] == number) < 3:
            return Contact((number, 0), (number, 0), loop.pieces[0].points[0])
    return None


def _contact(ends: NDArray[np.int64], names: NDArray[np.int64]) -> Contact | None:
    """Return a pair of segments that cross, or touch elsewhere than on the sides of the square."""
    total = len(ends)
    starts = np.flatnonzero(np.diff(names[:, 0], prepend=-1))
    after = np.arange(1, total + 1)
    after[np.append(starts[1:], total) - 1] = starts
    a0, a1 = ends[:, None, :2], ends[:, None, 2:]
    b0, b1 = ends[None, :, :2], ends[None, :, 2:]
    chunk = max(1, _PAIRS // total)
    for first in range(0, total, chunk):
        rows = slice(first, first + chunk)
        p, q = a0[rows], a1[rows]
        o1, o2, o3, o4 = _turn(p, q, b0), _turn(p, q, b1), _turn(b0, b1, p), _turn(b0, b1, q)
        crossing = (o1 * o2 < 0) & (o3 * o4 < 0)
        own = np.arange(total)[rows]
        follows = after[own][:, None] == np.arange(total)[None, :]
        precedes = own[:, None] == after[None, :]
        touching = np.zeros_like(crossing)
        for turn, point, s, e, same in (
            (o1, b0, p, q, follows), (o2, b1, p, q, precedes), (o3, p, b0, b1, precedes), (o4, q, b0, b1, follows),
        ):  # fmt: skip
            between = ((np.minimum(s, e) <= point) & (point <= np.maximum(s, e))).all(axis=-1)
            inside = ((point > 0) & (point < _ONE)).all(axis=-1)
            touching |= (turn == 0) & between & inside & ~same
        bad = (crossing | touching) & (own[:, None] != np.arange(total)[None, :])
        if bad.any():
            one, other = (int(index) for index in np.argwhere(bad)[0])
            one += first
            place = (ends[one, :2] + ends[one, 2:]) / 2 / _ONE
            one, other = sorted((one, other))
            return Contact(_name(names, one), _name(names, other), (float(place[0]), float(place[1])))
    return None


def _name(names: NDArray[np.int64], index: int) -> tuple[int, int]:
    return int(names[index, 0]), int(names[index, 1])


def _turn(a: NDArray[np.int64], b: NDArray[np.int64], c: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sign of the turn from a by b to c."""
    found: NDArray[np.int64] = np.sign(
        (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    )
    return found
