"""Bernstein polynomials as the geometry processors hand them to the array: correctly rounded binary32 numbers.

Thesis 3.4: "precompute and cache the parameters on the GPs then broadcast them". The values are computed as exact
fractions and rounded once, to nearest even.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

__all__ = ["bernstein_bits", "binary32_bits"]


def binary32_bits(value: Fraction) -> int:
    """Return the binary32 pattern nearest to ``value`` (0 <= value <= 1; ties to even; below 2^-126: zero)."""
    if not 0 <= value <= 1:
        raise ValueError(f"{value} is not between 0 and 1")
    if value == 0:
        return 0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if value < Fraction(2) ** exponent:
        exponent -= 1
    if exponent < -126:
        return 0
    significand = round(value / Fraction(2) ** (exponent - 23))
    return ((exponent + 127) << 23) + significand - (1 << 23)


@cache
def bernstein_bits(degree: int, samples: int) -> tuple[tuple[int, ...], ...]:
    """Return the binary32 patterns of B_0 .. B_degree at t = i/(samples-1), one tuple per i (samples is 2 or more)."""
    if degree < 0 or samples < 2:
        raise ValueError(f"degree {degree} and {samples} samples: degree is 0 or more, samples 2 or more")
    rows = []
    for i in range(samples):
        t = Fraction(i, samples - 1)
        rows.append(tuple(binary32_bits(comb(degree, k) * t**k * (1 - t) ** (degree - k)) for k in range(degree + 1)))
    return tuple(rows)
