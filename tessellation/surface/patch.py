"""A Bezier patch: one control net, and the loops that trim it, if any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from math import comb

import numpy as np

from pixelflow.simd.errors import Fault, InputError
from tessellation.surface.trim_curves import DEFAULT_TOLERANCE, Trim, TrimPolygon, trim_polygon

# Bernstein polynomials as the geometry processors broadcast them to the array: exact fractions, rounded once to nearest
# even. Thesis 3.4: "precompute and cache the parameters on the GPs then broadcast them".


def float_bits(value: Fraction, mantissa_bytes: int = 3) -> int:
    """Return the float pattern nearest to ``value`` (0 <= value <= 1; ties to even; below 2^-126: zero).

    With 3 bytes of mantissa it is binary32; 4 to 6 are the library's longer formats.
    """
    if not 0 <= value <= 1:
        raise ValueError(f"{value} is not between 0 and 1")
    if value == 0:
        return 0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    if exponent < -126:
        return 0
    fraction_bits = 8 * mantissa_bytes - 1
    significand = round(value / Fraction(2) ** (exponent - fraction_bits))
    return ((exponent + 127) << fraction_bits) + significand - (1 << fraction_bits)


@cache
def bernstein_bits(degree: int, samples: int, mantissa_bytes: int = 3) -> tuple[tuple[int, ...], ...]:
    """Return the patterns of B_0 .. B_degree at t = i/(samples-1), one tuple per i; there are 2 samples or more."""
    if degree < 0 or samples < 2:
        raise ValueError(f"degree {degree} and {samples} samples: degree is 0 or more, samples 2 or more")
    rows = []
    for i in range(samples):
        t = Fraction(i, samples - 1)
        values = [comb(degree, k) * t**k * (1 - t) ** (degree - k) for k in range(degree + 1)]
        rows.append(tuple(float_bits(value, mantissa_bytes) for value in values))
    return tuple(rows)


MIN_COUNT = 3
"""Fewest control points along one direction of a net (thesis table 5 starts at 3)."""

MAX_COUNT = 12
"""Most control points along one direction of a net (thesis tables 7, 8 and 12 end at 12)."""

_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A tensor product Bezier patch given by its control net.

    ``points`` is float64 or float32, shape (m+1, n+1, 3), read-only, in the model's own length. The first index goes
    with the parameter u and has degree m, the second goes with v and has degree n. Every coordinate is finite and
    rounds to a finite binary32 number.
    """

    points: np.ndarray
    trim: Trim | None = None
    """The loops that bound it in the parameter square; None where it is whole."""

    def __post_init__(self) -> None:
        points = np.array(self.points)
        if points.dtype.kind not in "buif":
            raise InputError(Fault(f"a control net is an array of numbers, not {type(self.points).__name__}"))
        if points.dtype not in (np.float32, np.float64):
            points = points.astype(np.float64)
        if points.ndim != 3 or points.shape[2] != 3:
            raise InputError(Fault(f"a control net has shape (m+1, n+1, 3), not {points.shape}"))
        if min(points.shape[:2]) < 2:
            raise InputError(Fault(f"a control net needs two points or more a side, not {points.shape[:2]}"))
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = points.astype(np.float32)
        if not np.isfinite(rounded).all():
            i, j, axis = (int(index) for index in np.argwhere(~np.isfinite(rounded))[0])
            raise InputError(
                Fault(
                    f"control point ({i}, {j}) has {'xyz'[axis]} = {points[i, j, axis]}, not a finite binary32 number",
                    hint=f"allowed: numbers up to {_LARGEST:.9g}",
                )
            )
        points.setflags(write=False)
        object.__setattr__(self, "points", points)

    @property
    def degrees(self) -> tuple[int, int]:
        """Degree m in u (first index) and n in v (second index)."""
        return self.points.shape[0] - 1, self.points.shape[1] - 1

    @property
    def counts(self) -> tuple[int, int]:
        """Control points along the first and the second index, as the thesis counts them (4x4 is bicubic)."""
        return self.points.shape[0], self.points.shape[1]

    @property
    def points32(self) -> np.ndarray:
        """The control points as the machine gets them: binary32, rounded to nearest even, a fresh array."""
        return self.points.astype(np.float32)

    def __repr__(self) -> str:
        trim = "" if self.trim is None else f", {len(self.trim.loops)} trim loop{'s' * (len(self.trim.loops) != 1)}"
        return f"Patch({self.counts[0]}x{self.counts[1]} points{trim})"


def require_whole(patches: Sequence[Patch], reason: str) -> None:
    """Raise InputError for the first patch that is trimmed; ``reason`` says why it may not be."""
    for number, patch in enumerate(patches, start=1):
        if patch.trim is not None:
            raise InputError(Fault(f"patch {number} is trimmed: {reason}", hint="allowed: patches without a trim"))


@lru_cache(maxsize=1024)
def trimmed(patch: Patch, share: float = DEFAULT_TOLERANCE) -> TrimPolygon | None:
    """Return the segments of a patch's trim for a tolerance (see `trim_polygon`), None for a whole patch."""
    return None if patch.trim is None else trim_polygon(patch.points32, patch.trim, share)
