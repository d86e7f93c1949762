"""Trim curves: loops of Bezier pieces in the parameter plane of a patch.

A sample (u, v) belongs to a trimmed patch where a ray from it crosses the loops an odd number of times. So a loop in
no other one is a border with the patch inside, a loop in that one is a hole, and so on. Loops may run along the sides
of the parameter square, also two of them along the same stretch, which then does not count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError

__all__ = ["MAX_DEGREE", "MAX_WEIGHT", "Trim", "TrimCurve", "TrimLoop", "at_weight", "in_square"]

MAX_DEGREE = 11
"""The largest degree of a piece, as of a patch."""

MAX_WEIGHT = 1e6
"""The largest weight of a rational piece; the smallest is one over it."""


def in_square(value: float) -> bool:
    """Return whether a parameter may stand in a trim curve: finite, and from 0 to 1."""
    return 0.0 <= value <= 1.0


def at_weight(value: float) -> bool:
    """Return whether a weight may stand in a trim curve."""
    return 1 / MAX_WEIGHT <= value <= MAX_WEIGHT


@dataclass(frozen=True, slots=True)
class TrimCurve:
    """A Bezier piece: its control points (u, v), each from 0 to 1, and their weights where it is rational.

    Raises InputError for another degree than 1 to 11, and for what leaves the square, so that the curve cannot.
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
        found = weights @ self.homogeneous
        result: NDArray[np.float64] = found[:, :2] / found[:, 2:]
        return result


@dataclass(frozen=True, slots=True)
class TrimLoop:
    """A closed curve: each piece begins where the one before ends, the first one where the last ends.

    Raises InputError where they do not; the numbers must be the same, bit for bit.
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
        return cls(tuple(TrimCurve((tuple(a), tuple(b))) for a, b in zip(points, ends, strict=True)))


@dataclass(frozen=True, slots=True)
class Trim:
    """All loops of a patch. Raises InputError where there are none; the patch is whole without a trim."""

    loops: tuple[TrimLoop, ...]

    def __post_init__(self) -> None:
        if not self.loops:
            raise InputError(Fault("a trim has no loops", hint="a patch without a trim is whole"))

    @property
    def curves(self) -> int:
        """Pieces of all loops."""
        return sum(len(loop.pieces) for loop in self.loops)
