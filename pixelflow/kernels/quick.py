"""Sums and products of binary32 on a short way, which most operands can take; it says for which lanes it cannot.

The exponent stays where it lies in the pattern, results are made with seven bits below the mantissa, and nobody asks
for infinities and NaNs: where an exponent is near the upper end, there is doubt, and `arithmetic.py` computes all lanes
that are worked on together.
"""

from __future__ import annotations

from pixelflow.kernels.vector import Choice, Vector

__all__ = ["multiplied", "product", "summed"]

_SIGN = 1 << 31
_ONE = 1 << 23
"""1 in the exponent."""
_ALL = 255 * _ONE
_STORED = _ONE - 1


def _rounded(mantissa: Vector) -> Vector:
    """Return a number of 31 bits without its seven lowest, rounded to nearest even."""
    odd = (mantissa & 128).differs(0)
    return odd.of(mantissa + 64, mantissa + 63) >> 7


def summed(a: Vector, b: Vector, *, subtract: bool) -> tuple[Vector, Choice]:
    """Return a + b or a - b, and where that may be wrong."""
    if subtract:
        b = b ^ _SIGN
    above, below = a & ~_SIGN, b & ~_SIGN
    x, y = above.most(below), above.least(below)
    exponent, other = x >> 23, y >> 23
    wide = other.equals(0).of(0, ((y << 6) & (_STORED << 6)) | _ONE << 6)
    distance = (exponent - other).least(31)
    aligned = wide >> distance
    aligned = (aligned << distance).differs(wide).of(aligned | 1, aligned)
    largest = ((x << 6) & (_STORED << 6)) | _ONE << 6
    total = (a ^ b).negative().of(largest - aligned, largest + aligned)
    shift = total.leading_zeros() - 1
    less = exponent - shift
    none = total.equals(0)
    sign = (none | exponent.equals(0)).of(a & b, (above < below).of(b, a))
    pattern = (none | less.negative()).of(0, (less << 23) + _rounded(total << shift))
    return pattern | sign & _SIGN, x >= 254 * _ONE


def multiplied(a: Vector, b: Vector, *, finite: bool) -> tuple[Vector, Choice]:
    """Return a * b, and where that may be wrong."""
    exponent_a, exponent_b = a & _ALL, b & _ALL
    high, rest = product((a << 8) | _SIGN, ((b << 7) & (_STORED << 7)) | _ONE << 7)
    high = rest.differs(0).of(high | 1, high)
    top = (high & 1 << 30).differs(0)
    mantissa = top.of(high, high + high)
    total = exponent_a + exponent_b
    total = top.of(total + _ONE, total)
    zero = exponent_a.equals(0) | exponent_b.equals(0) | (total < 128 * _ONE)
    pattern = zero.of(0, (total - 128 * _ONE) + _rounded(mantissa))
    doubt = total >= 382 * _ONE
    if not finite:
        doubt = doubt | exponent_a.equals(_ALL) | exponent_b.equals(_ALL)
    return pattern | (a ^ b) & _SIGN, doubt


def product(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Return the upper and the lower halves of products of 32-bit numbers."""
    # Even and odd lanes apart, as vector units multiply.
    wide_a, wide_b, low = a.viewed(64), b.viewed(64), (1 << 32) - 1
    even = (wide_a & low) * (wide_b & low)
    odd = (wide_a >> 32) * (wide_b >> 32)
    return (even >> 32 | odd & ~low).viewed(32), (even & low | odd << 32).viewed(32)
