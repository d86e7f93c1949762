"""Trim curves: loops of Bezier pieces in the parameter plane of a patch, as polygons on a grid of whole numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError

# Exact points of the plane with rational coordinates: corners of trims and crossings with the lines between samples.
#
# A node (x, y, w) is the point (x / w, y / w), w positive and all three without a common factor, so that equal
# points are equal nodes. Coordinates count in 2^-G of the distance of two samples, so that samples are multiples of
# 2^G.


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
    """Return a positive number if the way from a by b to c turns left, 0 if it is straight."""
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])


def toward(a: Node, b: Node) -> tuple[int, int]:
    """Return a vector from a in the direction of b."""
    return b[0] * a[2] - a[0] * b[2], b[1] * a[2] - a[1] * b[2]


def facing(a: Node, b: Node, c: Node) -> int:
    """Return a positive number if b and c, on a line with a, are on the same side of it."""
    (x, y), (p, q) = toward(a, b), toward(a, c)
    return x * p + y * q


def between(p: Node, a: Node, b: Node) -> bool:
    """Return True if p is on the segment from a to b, ends included."""
    return turn(a, b, p) == 0 and facing(p, a, b) <= 0


def within(p: Node, a: Node, b: Node, c: Node) -> bool:
    """Return True if p is in a triangle that runs counter-clockwise, its sides included."""
    return turn(a, b, p) >= 0 and turn(b, c, p) >= 0 and turn(c, a, p) >= 0


# Trim curves: loops of Bezier pieces in the parameter plane of a patch.
#
# A sample (u, v) belongs to a trimmed patch if a ray from it crosses the loops an odd number of times. So an outermost
# loop is a border with the patch inside, a loop inside it is a hole, and so on. Loops may run along the sides of the
# parameter square; a stretch that two loops share does not count.


MAX_DEGREE = 11
"""The largest degree of a piece, the same as of a patch."""

MAX_WEIGHT = 1e6
"""The largest weight of a rational piece; the smallest is its reciprocal."""


def in_square(value: float) -> bool:
    """Return True for a parameter allowed in a trim curve: finite, and from 0 to 1."""
    return 0.0 <= value <= 1.0


def at_weight(value: float) -> bool:
    """Return True for a weight allowed in a trim curve."""
    return 1 / MAX_WEIGHT <= value <= MAX_WEIGHT


@dataclass(frozen=True, slots=True)
class TrimCurve:
    """A Bezier piece: its control points (u, v), each from 0 to 1, and the weights of a rational one.

    Raises InputError for a degree other than 1 to 11, and for control points outside the square.
    """

    points: tuple[tuple[float, float], ...]
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.degree <= MAX_DEGREE:
            raise InputError(Fault(f"a trim curve of degree {self.degree}", hint=f"allowed: 1 to {MAX_DEGREE}"))
        for u, v in self.points:
            if not (in_square(u) and in_square(v)):
                raise InputError(Fault(f"a trim curve has a control point ({u:g}, {v:g})", hint="allowed: 0 to 1"))
        if self.weights is None:
            return
        if len(self.weights) != len(self.points):
            raise InputError(Fault(f"{len(self.weights)} weights for {len(self.points)} control points"))
        for weight in self.weights:
            if not at_weight(weight):
                hint = f"allowed: {1 / MAX_WEIGHT:g} to {MAX_WEIGHT:g}"
                raise InputError(Fault(f"a trim curve has a weight of {weight:g}", hint=hint))

    @property
    def degree(self) -> int:
        """The degree of its polynomials."""
        return len(self.points) - 1

    @property
    def homogeneous(self) -> NDArray[np.float64]:
        """The control points as w u, w v, w: float64[degree + 1, 3]."""
        weights = np.ones(len(self.points)) if self.weights is None else np.array(self.weights)
        return np.concatenate([np.array(self.points) * weights[:, None], weights[:, None]], axis=1)

    def at(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (u, v) at parameters from 0 to 1: float64[len(t), 2]."""
        d = self.degree
        weights = np.stack([math.comb(d, i) * t**i * (1 - t) ** (d - i) for i in range(d + 1)], axis=1)
        points: NDArray[np.float64] = weights @ self.homogeneous
        return points[:, :2] / points[:, 2:]


@dataclass(frozen=True, slots=True)
class TrimLoop:
    """A closed curve: each piece begins where the one before ends, bit for bit, and the first where the last ends.

    Raises InputError for pieces that do not.
    """

    pieces: tuple[TrimCurve, ...]

    def __post_init__(self) -> None:
        if not self.pieces:
            raise InputError(Fault("a trim loop has no pieces", hint="allowed: 1 or more"))
        for number, piece in enumerate(self.pieces):
            before = self.pieces[number - 1]
            if before.points[-1] != piece.points[0]:
                (u, v), (p, q) = piece.points[0], before.points[-1]
                message = f"piece {number + 1} of a trim loop begins at ({u:g}, {v:g})"
                raise InputError(Fault(message, hint=f"the piece before it ends at ({p:g}, {q:g})"))

    @classmethod
    def of_points(cls, points: Sequence[tuple[float, float]]) -> TrimLoop:
        """Return the polygon through points: pieces of degree 1, the last back to the first point."""
        ends = [*points[1:], points[0]]
        return cls(tuple(TrimCurve(((*a,), (*b,))) for a, b in zip(points, ends, strict=True)))


@dataclass(frozen=True, slots=True)
class Trim:
    """All loops of a patch. Raises InputError if there are none: a whole patch has no trim."""

    loops: tuple[TrimLoop, ...]

    def __post_init__(self) -> None:
        if not self.loops:
            raise InputError(Fault("a trim has no loops", hint="a patch without a trim is whole"))

    @property
    def curves(self) -> int:
        """Pieces of all loops."""
        return sum(len(loop.pieces) for loop in self.loops)


# Trim polygons: segments in place of trim curves, on a grid of whole numbers, with a bound of their error.
#
# A segment replaces a stretch of a curve if both the image of its chord on the surface, and the straight line between
# the ends in space, are near enough. If the control points of a stretch are within d of its chord, every point of one
# is within d of a point of the other, because projection onto the chord is continuous. So in space the distance of
# curve and straight line is at most
#
# |(S_u, S_v)| d + (|S_uu| du^2 + 2 |S_uv| |du dv| + |S_vv| dv^2) / 8
#
# with the largest derivatives of the patch, which its control points bound. Ends are rounded to multiples of 2^-19,
# which is included in d. The parity of samples and the triangles are exact for these whole numbers.


_ONE = 1 << GRID_BITS
_ROUNDING = math.sqrt(2) / 2 / _ONE
"""Largest distance by which rounding moves an end."""

DEFAULT_TOLERANCE = 0.001
TOLERANCES = (0.0001, 0.1)
"""Range of a tolerance, a share of the largest extent of the control points of a patch."""

MOST_SEGMENTS = 4_000
"""Most segments of one patch: each is broadcast to the array."""

_MOST_HALVINGS = 24
_ROUNDINGS = 4
"""The smallest tolerance that can be met, in roundings."""
_REFINEMENTS = 4
"""Most attempts for a polygon that crosses itself, each with a quarter of the tolerance before."""

_PAIRS = 1 << 18
"""Pairs of segments compared at a time."""


class Contact(NamedTuple):
    """Two stretches of trim curves that cross or touch: loop and piece of each, starting at 0, and (u, v)."""

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

    ``loops`` and ``pieces`` are the origin of each segment. ``bound`` is the largest distance between curve and
    straight lines in space, in units of the model, and ``spread`` that in the parameter plane. ``contact`` is a place
    where segments cross or touch, other than on the sides of the square, or None.
    """

    ends: NDArray[np.int64]
    loops: NDArray[np.int64]
    pieces: NDArray[np.int64]
    bound: float
    spread: float
    tolerance: float
    """The wanted distance in space, in units of the model."""
    contact: Contact | None

    def __len__(self) -> int:
        return len(self.ends)


class _Derivatives(NamedTuple):
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
        """Return the largest distance of a stretch from its straight line; ``apart`` is d, as above."""
        return self.first * apart + (self.uu * du * du + 2 * self.uv * du * dv + self.vv * dv * dv) / 8


def trim_polygon(net: NDArray[np.floating], trim: Trim, share: float = DEFAULT_TOLERANCE) -> TrimPolygon:
    """Return the segments of a trim of a patch with that control net, [m+1, n+1, xyz].

    ``share`` is the tolerance in space, as a share of the largest extent of the control points. Segments that cross or
    touch are refined before that counts as a contact. Raises InputError if more segments are needed than allowed.
    """
    points = net.astype(np.float64)
    extent = float((points.max(axis=(0, 1)) - points.min(axis=(0, 1))).max())
    derivatives = _Derivatives.of(points / extent if extent else points)
    segments, ends, names, contact = _checked(trim, derivatives, share)
    for attempt in range(1, _REFINEMENTS + 1):
        finer = share / 4**attempt
        if contact is None or finer < _ROUNDINGS * derivatives.first * _ROUNDING:
            break
        segments, ends, names, contact = _checked(trim, derivatives, finer)
    bound = max((each[2] for each in segments), default=0.0) * extent
    spread = max((each[3] for each in segments), default=0.0)
    return TrimPolygon(ends, names[:, 0], names[:, 1], bound, spread, share * extent, contact)


_Segment = tuple[tuple[int, int, int, int], tuple[int, int], float, float]
"""Ends, loop and piece, bound in space, bound in the parameter plane."""


def _checked(
    trim: Trim, derivatives: _Derivatives, tolerance: float
) -> tuple[list[_Segment], NDArray[np.int64], NDArray[np.int64], Contact | None]:
    """Return segments, their ends and names, and where they meet."""
    segments: list[_Segment] = []
    for number, loop in enumerate(trim.loops):
        for index, piece in enumerate(loop.pieces):
            for line, bound, apart in _halved(piece, derivatives, tolerance):
                if line[:2] != line[2:]:
                    segments.append((line, (number, index), bound, apart))
                if len(segments) > MOST_SEGMENTS:
                    message = f"trim curves would need more than {MOST_SEGMENTS:,} segments"
                    raise InputError(Fault(message, hint="allow a larger tolerance"))
    ends = np.array([each[0] for each in segments], dtype=np.int64).reshape(-1, 4)
    names = np.array([each[1] for each in segments], dtype=np.int64).reshape(-1, 2)
    return segments, ends, names, _without_area(trim, names) or _contact(ends, names)


def _halved(
    piece: TrimCurve, derivatives: _Derivatives, tolerance: float
) -> list[tuple[tuple[int, int, int, int], float, float]]:
    """Return the segments of a piece, in order: halved until near enough."""
    segments = []
    waiting = [(piece.homogeneous, 0)]
    while waiting:
        control, depth = waiting.pop()
        points = control[:, :2] / control[:, 2:]
        u0, v0, u1, v1 = (round(float(value) * _ONE) for value in (*points[0], *points[-1]))
        apart = _from_chord(points)
        on_side = apart == 0.0 and ((u0 == u1 and u0 in (0, _ONE)) or (v0 == v1 and v0 in (0, _ONE)))
        apart += _ROUNDING
        bound = derivatives.bound(apart, (abs(u1 - u0) + 1) / _ONE, (abs(v1 - v0) + 1) / _ONE)
        if on_side:
            segments.append(((u0, v0, u1, v1), 0.0, 0.0))  # the side itself, where the mesh has its samples
        elif bound <= tolerance or depth == _MOST_HALVINGS:
            segments.append(((u0, v0, u1, v1), bound, apart))
        else:
            left, right = _halves(control)
            waiting += [(right, depth + 1), (left, depth + 1)]
    return segments


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
    """Return a loop with fewer than three segments, as touching itself."""
    for number, loop in enumerate(trim.loops):
        if np.count_nonzero(names[:, 0] == number) < 3:
            return Contact((number, 0), (number, 0), loop.pieces[0].points[0])
    return None


def _contact(ends: NDArray[np.int64], names: NDArray[np.int64]) -> Contact | None:
    """Return a pair of segments that cross, or touch other than on the sides of the square."""
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
    return np.sign(
        (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])
    )


# Trim segments cut by the lines between samples, each with the patch on its left.


CellSide = tuple[bool, int, int]
"""A side of a cell: True if it is upright, and the sample at its lower end, (i, j)."""


@dataclass(slots=True)
class TrimLines:
    """Trim segments in the cells between k x k samples; cell (i, j) has sample (i, j) as its lower corner.

    ``cuts`` are all pieces of segments, ``chains`` those inside each cell, ``points`` the nodes on the sides of cells
    that are not samples.
    """

    samples: int
    cuts: list[tuple[Node, Node]] = field(default_factory=list)
    chains: defaultdict[tuple[int, int], list[tuple[Node, Node]]] = field(default_factory=lambda: defaultdict(list))
    points: defaultdict[CellSide, set[Node]] = field(default_factory=lambda: defaultdict(set))

    def put(self, nodes: Iterable[Node]) -> None:
        """Note nodes on sides of cells; others, and samples, are skipped."""
        for x, y, w in nodes:
            i, on_upright = divmod(x, CELL * w)
            j, on_level = divmod(y, CELL * w)
            if (on_upright == 0) != (on_level == 0):
                self.points[on_upright == 0, i, j].add((x, y, w))

    def on_border(self) -> Iterable[Node]:
        """Yield the nodes on the sides of the parameter square that are not samples."""
        steps = self.samples - 1
        for (upright, i, j), nodes in self.points.items():
            if (i if upright else j) in (0, steps):
                yield from nodes


def trim_lines(polygon: TrimPolygon, samples: int) -> TrimLines:
    """Return the segments of a polygon that run inside the parameter square, cut by the lines between samples."""
    lines = TrimLines(samples)
    steps = samples - 1
    for u0, v0, u1, v1 in _directed(polygon):
        ends = _cut(u0 * steps, v0 * steps, u1 * steps, v1 * steps)
        lines.put(ends)
        for a, b in pairwise(ends):
            lines.cuts.append((a, b))
            cell = _cell(a, b)
            if cell is not None:
                lines.chains[cell].append((a, b))
    return lines


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
    """Return True if the patch is on the left of a segment: by a ray from its middle, which is exact."""
    upright = ends[index, 1] != ends[index, 3]
    order = [0, 1, 2, 3] if upright else [1, 0, 3, 2]  # the ray of a level segment goes upwards, not to the right
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
    """Return the cell that a piece is inside, None for a piece along a side."""
    size = 2 * a[2] * b[2] * CELL
    i, level_x = divmod(a[0] * b[2] + b[0] * a[2], size)
    j, level_y = divmod(a[1] * b[2] + b[1] * a[2], size)
    return (i, j) if level_x and level_y else None


# Crossings of samples' rays with trim segments, as edge functions of whole numbers that the array evaluates.
#
# The ray of sample (i, j) of k x k runs towards larger u. A segment from (u0, v0) up to (u1, v1), in multiples of 2^-G,
# is crossed if the sample's row is in v0 <= v < v1 and the sample is to the left of the segment: with T = k - 1, if
#
# T (u1 - u0)(j 2^G - T v0) - T (v1 - v0)(i 2^G - T u0) > 0
#
# or, since i and j are whole, (u1 - u0) j - (v1 - v0) i + floor((T ((v1 - v0) u0 - (u1 - u0) v0) - 1) / 2^G) >= 0.
# Its size is at most T 2^G + 1: 23 bits and a sign. So a sample on a curve counts as the place to its right and above
# it, and a sample on the sides u = 1 and v = 1 as the place next to it inside the square.


class RayCrossing(NamedTuple):
    """Samples whose ray crosses one segment: rows ``first`` to ``last`` where a i + b j + c >= 0.

    With ``only_last`` they are those of the last column, u = 1, regardless of the edge function.
    """

    first: int
    last: int
    a: int = 0
    b: int = 0
    c: int = 0
    only_last: bool = False


def crossings(polygon: TrimPolygon, samples: int) -> Iterator[RayCrossing]:
    """Yield the crossings to be counted for k x k samples; segments that no row of samples meets are left out."""
    steps = samples - 1
    for u0, v0, u1, v1 in polygon.ends.tolist():
        if v0 > v1:
            u0, v0, u1, v1 = u1, v1, u0, v0
        first = -(-steps * v0 // _ONE)
        last = steps if v1 == _ONE else -(-steps * v1 // _ONE) - 1
        if v0 == v1 or first > last:
            continue
        du, dv = u1 - u0, v1 - v0
        yield RayCrossing(first, last, -dv, du, (steps * (dv * u0 - du * v0) - 1) // _ONE)
        if max(u0, u1) < _ONE:
            continue
        # On u = 1 the edge function is not positive; samples there count as the place to their left.
        on_side = [
            j for j in range(first, last + 1) if u0 * dv * steps + du * (j * _ONE - steps * v0) == _ONE * dv * steps
        ]
        if on_side:
            yield RayCrossing(on_side[0], on_side[-1], only_last=True)


def parity(polygon: TrimPolygon, samples: int) -> NDArray[np.bool_]:
    """Return True for each sample of the patch, by the array's rule: bool[k, k], the first index along u."""
    i, j = np.meshgrid(np.arange(samples), np.arange(samples), indexing="ij")
    odd = np.zeros((samples, samples), bool)
    for each in crossings(polygon, samples):
        rows = (each.first <= j) & (j <= each.last)
        odd ^= rows & ((i == samples - 1) if each.only_last else (each.a * i + each.b * j + each.c >= 0))
    return odd


def require_simple(polygon: TrimPolygon, patch: int) -> TrimPolygon:
    """Return the polygon; raise InputError if its loops cross or touch. ``patch`` is the number of the patch."""
    if polygon.contact is not None:
        hint = "allowed: loops that neither cross nor touch, but along the sides of the square"
        raise InputError(Fault(f"patch {patch + 1}: {polygon.contact}", hint=hint))
    return polygon
