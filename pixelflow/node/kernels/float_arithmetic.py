"""Operations on binary32 as the library's microcode gives them, for all operands: arithmetic, conversions, order.

All bits are those of the microcode, signs of NaNs and the patterns that operands outside an entry's contract give
included: a `finite` entry takes exponents of 255 as ordinary ones.
"""

from __future__ import annotations

from pixelflow.node.kernels.vector import (
    INFINITY,
    QUIET,
    STORED,
    LaneVector,
    VectorChoice,
    exponent_of,
    fraction_of,
    is_nan,
    magnitude_of,
    mantissa_of,
    normalised,
    packed,
    sign_of,
    signed,
)  # fmt: skip


def summed(a: LaneVector, b: LaneVector, *, subtract: bool, finite: bool) -> LaneVector:
    """Return a + b, or a - b."""
    sign_a, sign_b = sign_of(a), sign_of(b)
    if subtract:
        sign_b = sign_b ^ 1
    above, below = magnitude_of(a), magnitude_of(b)
    swapped = above < below
    x, y = above.most(below), above.least(below)
    exponent, other = x >> STORED, y >> STORED
    # The leading bit of x is one place down, so that the sum has no carry.
    wide = other.equals(0).of(0, mantissa_of(y) << 7)
    distance = (exponent - other).least(31)
    aligned = wide >> distance
    fallen = (aligned << distance).differs(wide).number(x.bits)
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


def _limited(exponent: LaneVector, zero: VectorChoice, pattern: LaneVector) -> LaneVector:
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
    return high | low.differs(0).number(32)


def _product_of_32(a: LaneVector, b: LaneVector) -> tuple[LaneVector, LaneVector]:
    """Return the upper and the lower halves of products of 32-bit numbers."""
    # Even and odd lanes apart, as vector units multiply.
    wide_a, wide_b, low = a.viewed(64), b.viewed(64), (1 << 32) - 1
    even = (wide_a & low) * (wide_b & low)
    odd = (wide_a >> 32) * (wide_b >> 32)
    return (even >> 32 | odd & ~low).viewed(32), (even & low | odd << 32).viewed(32)


def divided(a: LaneVector, b: LaneVector, *, finite: bool) -> LaneVector:
    """Return a / b."""
    exponent_a, exponent_b = exponent_of(a), exponent_of(b)
    dividend, divisor = mantissa_of(a), mantissa_of(b)
    smaller = (dividend < divisor).number(a.bits)
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
    text = a.text
    # Both are exact in binary64, and a quotient that is not a whole number is at least 1 / b away from one: the
    # rounding of the division cannot reach that far.
    names = [each.through_double("sitofp") for each in (a, b)]
    scaled = text.line(f"fmul <{a.size} x double> {names[0]}, splat (double 1.677721600e+07)")
    ratio = text.line(f"fdiv <{a.size} x double> {scaled}, {names[1]}")
    quotient = LaneVector(text, text.line(f"fptosi <{a.size} x double> {ratio} to {a.kind}"), a.size, a.bits)
    return quotient << 7 | (a << 24).differs(quotient * b).number(32)


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


def _root(a: LaneVector, odd: VectorChoice) -> LaneVector:
    """Return the root of a mantissa, doubled where the exponent is not odd; as `_quotient` returns its result."""
    text = a.text
    doubled = odd.of(a, a << 1)
    name = doubled.through_double("sitofp")
    intrinsic = f"llvm.sqrt.v{a.size}f64"
    kind = f"<{a.size} x double>"
    text.declared.add(f"declare {kind} @{intrinsic}({kind})")
    # At most 50 bits, and binary64 separates every root of 25 bits from the nearest whole number.
    scaled = text.line(f"fmul {kind} {name}, splat (double 3.355443200e+07)")
    found = text.line(f"call {kind} @{intrinsic}({kind} {scaled})")
    whole = LaneVector(text, text.line(f"fptosi {kind} {found} to {a.kind}"), a.size, a.bits)
    return whole << 7 | (doubled << 25).differs(whole * whole).number(32)


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
    whole = (mantissa_of(a) << 8) >> distance.least(31)
    whole = (distance >= 32).of(0, whole)
    negative = sign.differs(0)
    value = negative.of(-whole, whole)
    lowest = 1 << 31
    value = beyond.of(sign + (lowest - 1), value)
    return is_nan(a).of(0, value)


def negated(a: LaneVector) -> LaneVector:
    """Return a with the other sign."""
    return a ^ 1 << 31


def absolute(a: LaneVector) -> LaneVector:
    """Return a without its sign."""
    return magnitude_of(a)


def _unordered(a: LaneVector, b: LaneVector) -> VectorChoice:
    return is_nan(a) | is_nan(b)


def _zeros(a: LaneVector, b: LaneVector) -> VectorChoice:
    return (exponent_of(a) | exponent_of(b)).equals(0)


def less(a: LaneVector, b: LaneVector) -> LaneVector:
    """Return 1 where a < b, else 0."""
    found = ((a < b) & ~sign_of(b).differs(0)) | ((b < a) & sign_of(a).differs(0))
    return (found & ~_unordered(a, b) & ~_zeros(a, b)).number(a.bits)


def equal(a: LaneVector, b: LaneVector) -> LaneVector:
    """Return 1 where a = b, else 0."""
    return ((a.equals(b) | _zeros(a, b)) & ~_unordered(a, b)).number(a.bits)
