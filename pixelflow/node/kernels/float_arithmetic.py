"""Operations on binary32 as the library's microcode gives them, for all operands: arithmetic, conversions, order.

All bits are those of the microcode, signs of NaNs and the patterns that operands outside an entry's contract give
included: a `finite` entry takes exponents of 255 as ordinary ones.
"""

from __future__ import annotations

from pixelflow.simd.lanes.native.function_text import LaneVector

# Binary32: fields, rounding, the ends of the range.
#
# An unrounded result has a sign, an exponent one less than the biased one, and a mantissa with its leading bit and
# eight bits below it, the lowest of which is sticky.


FLOAT_BYTES = 4
STORED = 23
"""Stored bits of the mantissa, the lowest place of the exponent."""
INFINITY = 255 << STORED
QUIET = INFINITY | 1 << (STORED - 1)
"""The only NaN."""
_SIGN = 1 << 31


def sign_of(x: LaneVector) -> LaneVector:
    """Return 1 for negative patterns, 0 for others."""
    return x >> 31


def magnitude_of(x: LaneVector) -> LaneVector:
    """Return a pattern without its sign."""
    return x & (_SIGN - 1)


def exponent_of(x: LaneVector) -> LaneVector:
    """Return the biased exponent."""
    return (x >> STORED) & 255


def fraction_of(x: LaneVector) -> LaneVector:
    """Return the stored bits of the mantissa."""
    return x & ((1 << STORED) - 1)


def mantissa_of(x: LaneVector) -> LaneVector:
    """Return the mantissa with a leading bit, which zeros get as well."""
    return fraction_of(x) | 1 << STORED


def is_nan(x: LaneVector) -> LaneVector:
    """Return where a pattern is a NaN."""
    return magnitude_of(x) >= INFINITY + 1


def normalised(x: LaneVector) -> tuple[LaneVector, LaneVector]:
    """Return a number shifted so that its top bit is set, and the distance, which is undefined for 0."""
    zeros = x.called("ctlz", "i1 false")
    return x << (zeros & 31), zeros


def packed(exponent: LaneVector, mantissa: LaneVector) -> LaneVector:
    """Return the pattern without sign, rounded to nearest even; ``mantissa`` has its leading bit at the top.

    The leading bit adds 1 to the exponent, and a carry of the rounding propagates into it, up to infinity.
    """
    kept = mantissa >> 8
    rounded = ((mantissa & 255) + (kept & 1) + 127) >> 8
    return (exponent << STORED) + kept + rounded


def signed(pattern: LaneVector, sign: LaneVector) -> LaneVector:
    """Return a pattern with a sign of 0 or 1 in front."""
    return pattern | sign << 31


# Arithmetic.


def summed(a: LaneVector, b: LaneVector, *, subtract: bool = False, finite: bool) -> LaneVector:
    """Return a + b, or a - b."""
    sign_a, sign_b = sign_of(a), sign_of(b)
    if subtract:
        sign_b = sign_b ^ 1
    above, below = magnitude_of(a), magnitude_of(b)
    swapped = above < below
    x, y = above.called("umax", below), above.called("umin", below)
    exponent, other = x >> STORED, y >> STORED
    # The leading bit of x is one place down, so that the sum has no carry.
    wide = other.equals(0).of(0, mantissa_of(y) << 7)
    distance = (exponent - other).called("umin", 31)
    aligned = wide >> distance
    fallen = (aligned << distance).differs(wide).converted("zext", "i32")
    differs = (sign_a ^ sign_b).differs(0)
    # What fell off makes y a little larger than it shows, so a difference borrows one more.
    change = differs.of(-(aligned + fallen), aligned)
    total = ((mantissa_of(x) << 7) + change) | fallen
    mantissa, shift = normalised(total)
    less = exponent - shift
    none = total.equals(0)
    nothing = none | exponent.equals(0)
    sign = nothing.of(sign_a & sign_b, swapped.of(sign_b, sign_a))
    pattern = packed(less, mantissa)
    if finite:
        gone = nothing | (less >= 255)
        pattern = gone.of(0, less.equals(254).of(INFINITY, pattern))
    else:
        gone = nothing | less.negative()
        special = exponent.equals(255)
        pattern = gone.of(0, (less >= 254).of(INFINITY, pattern))
        pattern = special.of(INFINITY, pattern)
        pattern = (special & (none | fraction_of(x).differs(0))).of(QUIET, pattern)
    return signed(pattern, sign)


def _limited(exponent: LaneVector, zero: LaneVector, pattern: LaneVector) -> LaneVector:
    """Return a pattern, or the end of the range that its exponent less 1 is beyond; ``zero`` is 0 in any case."""
    pattern = (exponent >= 254).of(INFINITY, pattern)
    return (zero | exponent.negative()).of(0, pattern)


def multiplied(a: LaneVector, b: LaneVector, *, finite: bool) -> LaneVector:
    """Return a * b."""
    exponent_a, exponent_b = exponent_of(a), exponent_of(b)
    product = _product(mantissa_of(a), mantissa_of(b))
    top = product >> (31)
    exponent = exponent_a + exponent_b + top - 128
    mantissa = product << (top ^ 1)
    no_a, no_b = exponent_a.equals(0), exponent_b.equals(0)
    pattern = _limited(exponent, no_a | no_b, packed(exponent, mantissa))
    if not finite:
        all_a, all_b = exponent_a.equals(255), exponent_b.equals(255)
        pattern = (all_a | all_b).of(INFINITY, pattern)
        none = (all_a & no_b) | (all_b & no_a) | is_nan(a) | is_nan(b)
        pattern = none.of(QUIET, pattern)
    return signed(pattern, sign_of(a ^ b))


def _product(a: LaneVector, b: LaneVector) -> LaneVector:
    """Return the top width bits of a product of mantissas; the lowest is set where any bit below is."""
    high, low = _product_of_32(a << 8, b << 8)
    return high | low.differs(0).converted("zext", "i32")


def _product_of_32(a: LaneVector, b: LaneVector) -> tuple[LaneVector, LaneVector]:
    """Return the upper and the lower halves of products of 32-bit numbers."""
    # Even and odd lanes apart, as vector units multiply.
    wide_a, wide_b, low = a.viewed("i64"), b.viewed("i64"), (1 << 32) - 1
    even = (wide_a & low) * (wide_b & low)
    odd = (wide_a >> 32) * (wide_b >> 32)
    return (even >> 32 | odd & ~low).viewed("i32"), (even & low | odd << 32).viewed("i32")


def divided(a: LaneVector, b: LaneVector, *, finite: bool) -> LaneVector:
    """Return a / b."""
    exponent_a, exponent_b = exponent_of(a), exponent_of(b)
    dividend, divisor = mantissa_of(a), mantissa_of(b)
    smaller = (dividend < divisor).converted("zext", "i32")
    # Doubled where it is smaller, so that the first bit of the quotient is 1.
    quotient = _quotient(dividend << smaller, divisor)
    exponent = exponent_a - exponent_b + 126 - smaller
    no_a, no_b = exponent_a.equals(0), exponent_b.equals(0)
    pattern = no_b.of(INFINITY, _limited(exponent, no_a, packed(exponent, quotient)))
    if not finite:
        all_a, all_b = exponent_a.equals(255), exponent_b.equals(255)
        pattern = all_a.of(INFINITY, pattern)
        pattern = all_b.of(0, pattern)
        none = (all_a & all_b) | (no_a & no_b) | is_nan(a) | is_nan(b)
        pattern = none.of(QUIET, pattern)
    return signed(pattern, sign_of(a ^ b))


def _quotient(a: LaneVector, b: LaneVector) -> LaneVector:
    """Return a / b with the leading bit at the top, one bit more than a mantissa, and one for the rest."""
    # Both are exact in binary64, and a quotient that is not a whole number is at least 1 / b away from one: the
    # rounding of the division cannot reach that far.
    dividend, divisor = (each.converted("sitofp", "double") for each in (a, b))
    quotient = dividend.step("fmul", "1.677721600e+07").step("fdiv", divisor).converted("fptosi", "i32")
    return quotient << 7 | (a << 24).differs(quotient * b).converted("zext", "i32")


def root(a: LaneVector, *, finite: bool) -> LaneVector:
    """Return the square root of a."""
    exponent = exponent_of(a)
    odd = (exponent & 1).differs(0)
    mantissa = _root(mantissa_of(a), odd)
    pattern = packed((exponent + 125) >> 1, mantissa)
    if not finite:
        pattern = exponent.equals(255).of(INFINITY, pattern)
        pattern = is_nan(a).of(QUIET, pattern)
    pattern = sign_of(a).differs(0).of(QUIET, pattern)
    pattern = exponent.equals(0).of(0, pattern)
    return signed(pattern, sign_of(a))


def _root(a: LaneVector, odd: LaneVector) -> LaneVector:
    """Return the root of a mantissa, doubled where the exponent is not odd; as `_quotient` returns its result."""
    doubled = odd.of(a, a << 1)
    # At most 50 bits, and binary64 separates every root of 25 bits from the nearest whole number.
    scaled = doubled.converted("sitofp", "double").step("fmul", "3.355443200e+07")
    whole = scaled.called("sqrt").converted("fptosi", "i32")
    return whole << 7 | (doubled << 25).differs(whole * whole).converted("zext", "i32")


# Conversions, signs and order.


def from_integer(a: LaneVector) -> LaneVector:
    """Return a signed integer of as many bytes as a float has, as a float."""
    sign = sign_of(a)
    magnitude = sign.differs(0).of(a ^ -1, a) + sign
    mantissa, shift = normalised(magnitude)
    exponent = a.filled(157) - shift
    pattern = magnitude.equals(0).of(0, packed(exponent, mantissa))
    return signed(pattern, sign)


def to_integer(a: LaneVector) -> LaneVector:
    """Return the whole part of a float, the nearest end of the range where it is beyond, 0 for a NaN."""
    limit = 158
    exponent, sign = exponent_of(a), sign_of(a)
    beyond = exponent >= limit
    distance = a.filled(limit) - exponent
    whole = (mantissa_of(a) << 8) >> distance.called("umin", 31)
    whole = (distance >= 32).of(0, whole)
    negative = sign.differs(0)
    value = negative.of(-whole, whole)
    lowest = 1 << 31
    value = beyond.of(sign + (lowest - 1), value)
    return is_nan(a).of(0, value)


def negated(a: LaneVector) -> LaneVector:
    """Return a with the other sign."""
    return a ^ 1 << 31


def _unordered(a: LaneVector, b: LaneVector) -> LaneVector:
    return is_nan(a) | is_nan(b)


def _zeros(a: LaneVector, b: LaneVector) -> LaneVector:
    return (exponent_of(a) | exponent_of(b)).equals(0)


def less(a: LaneVector, b: LaneVector) -> LaneVector:
    """Return 1 where a < b, else 0."""
    found = ((a < b) & ~sign_of(b).differs(0)) | ((b < a) & sign_of(a).differs(0))
    return (found & ~_unordered(a, b) & ~_zeros(a, b)).converted("zext", "i32")


def equal(a: LaneVector, b: LaneVector) -> LaneVector:
    """Return 1 where a = b, else 0."""
    return ((a.equals(b) | _zeros(a, b)) & ~_unordered(a, b)).converted("zext", "i32")
