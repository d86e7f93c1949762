"""Bernstein polynomials as the geometry processors hand them to the array: correctly rounded binary32 numbers.

Thesis 3.4: "precompute and cache the parameters on the GPs then broadcast them". The values are computed as exact
fractions and rounded once, to nearest even.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb

__all__ = ["bernstein_bits", "float_bits"]


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
