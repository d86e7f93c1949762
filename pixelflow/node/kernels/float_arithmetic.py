"""Sums, products, quotients and roots of floats, as the library's microcode gives them, for all operands.

All bits are those of the microcode, signs of NaNs and the patterns that operands outside an entry's contract give
included: a `finite` entry takes exponents of 255 as ordinary ones.
"""

from __future__ import annotations

from pixelflow.node.kernels.vector import FloatFormat, LaneVector, VectorChoice


def summed(form: FloatFormat, a: LaneVector, b: LaneVector, *, subtract: bool, finite: bool) -> LaneVector:
    """Return a + b, or a - b."""
    sign_a, sign_b = form.sign(a), form.sign(b)
    if subtract:
        sign_b = sign_b ^ 1
    above, below = form.magnitude(a), form.magnitude(b)
    swapped = above < below
    x, y = above.most(below), above.least(below)
    exponent, other = x >> form.stored, y >> form.stored
    # The leading bit of x is one place down, so that the sum has no carry.
    wide = other.equals(0).of(0, form.mantissa(y) << 7)
    distance = (exponent - other).least(form.width - 1)
    aligned = wide >> distance
    fallen = (aligned << distance).differs(wide).number(x.bits)
    differs = (sign_a ^ sign_b).differs(0)
    # What fell off makes y a little larger than it shows, so a difference borrows one more.
    change = differs.of(-(aligned + fallen), aligned)
    total = ((form.mantissa(x) << 7) + change) | fallen
    mantissa, shift = form.normalised(total)
    less = exponent - shift
    none = total.equals(0)
    nothing = none | exponent.equals(0)
    sign = nothing.of(sign_a & sign_b, swapped.of(sign_b, sign_a))
    pattern = form.packed(less, mantissa)
    if finite:
        gone = nothing | (less >= 255)
        pattern = gone.of(0, less.equals(254).of(form.infinity, pattern))
    else:
        gone = nothing | less.negative()
        special = exponent.equals(255)
        pattern = gone.of(0, (less >= 254).of(form.infinity, pattern))
        pattern = special.of(form.infinity, pattern)
        pattern = (special & (none | form.fraction(x).differs(0))).of(form.quiet, pattern)
    return form.signed(pattern, sign)


def _limited(form: FloatFormat, exponent: LaneVector, zero: VectorChoice, pattern: LaneVector) -> LaneVector:
    """Return a pattern, or the end of the range that its exponent less 1 is beyond; ``zero`` is 0 in any case."""
    pattern = (exponent >= 254).of(form.infinity, pattern)
    return (zero | exponent.negative()).of(0, pattern)


def multiplied(form: FloatFormat, a: LaneVector, b: LaneVector, *, finite: bool) -> LaneVector:
    """Return a * b."""
    exponent_a, exponent_b = form.exponent(a), form.exponent(b)
    product = _product(form, form.mantissa(a), form.mantissa(b))
    top = product >> (form.width - 1)
    exponent = exponent_a + exponent_b + top - 128
    mantissa = product << (top ^ 1)
    no_a, no_b = exponent_a.equals(0), exponent_b.equals(0)
    pattern = _limited(form, exponent, no_a | no_b, form.packed(exponent, mantissa))
    if not finite:
        all_a, all_b = exponent_a.equals(255), exponent_b.equals(255)
        pattern = (all_a | all_b).of(form.infinity, pattern)
        none = (all_a & no_b) | (all_b & no_a) | form.is_nan(a) | form.is_nan(b)
        pattern = none.of(form.quiet, pattern)
    return form.signed(pattern, form.sign(a ^ b))


def _product(form: FloatFormat, a: LaneVector, b: LaneVector) -> LaneVector:
    """Return the top width bits of a product of mantissas; the lowest is set where any bit below is."""
    if form.word == 32:
        high, low = _product_of_32(a << 8, b << 8)
        return high | low.differs(0).number(32)
    room = 64 - 8 * form.mantissa_bytes
    high, low = _product_of_64(a << room, b << room)
    cut = 64 - form.width
    rest = low | high & ((1 << cut) - 1)
    return high >> cut | rest.differs(0).number(64)


def _product_of_32(a: LaneVector, b: LaneVector) -> tuple[LaneVector, LaneVector]:
    """Return the upper and the lower halves of products of 32-bit numbers."""
    # Even and odd lanes apart, as vector units multiply.
    wide_a, wide_b, low = a.viewed(64), b.viewed(64), (1 << 32) - 1
    even = (wide_a & low) * (wide_b & low)
    odd = (wide_a >> 32) * (wide_b >> 32)
    return (even >> 32 | odd & ~low).viewed(32), (even & low | odd << 32).viewed(32)


def _product_of_64(a: LaneVector, b: LaneVector) -> tuple[LaneVector, LaneVector]:
    """Return the upper halves of products of 64-bit numbers, and a value that is 0 exactly where the lower ones are."""
    low = (1 << 32) - 1
    a_low, a_high, b_low, b_high = a & low, a >> 32, b & low, b >> 32
    first, second, third = a_low * b_low, a_high * b_low, a_low * b_high
    middle = (first >> 32) + (second & low) + (third & low)
    high = a_high * b_high + (second >> 32) + (third >> 32) + (middle >> 32)
    return high, (first | middle) & low


def divided(form: FloatFormat, a: LaneVector, b: LaneVector, *, finite: bool) -> LaneVector:
    """Return a / b."""
    exponent_a, exponent_b = form.exponent(a), form.exponent(b)
    dividend, divisor = form.mantissa(a), form.mantissa(b)
    smaller = (dividend < divisor).number(a.bits)
    # Doubled where it is smaller, so that the first bit of the quotient is 1.
    quotient = _quotient(form, dividend << smaller, divisor)
    exponent = exponent_a - exponent_b + 126 - smaller
    no_a, no_b = exponent_a.equals(0), exponent_b.equals(0)
    pattern = no_b.of(form.infinity, _limited(form, exponent, no_a, form.packed(exponent, quotient)))
    if not finite:
        all_a, all_b = exponent_a.equals(255), exponent_b.equals(255)
        pattern = all_a.of(form.infinity, pattern)
        pattern = all_b.of(0, pattern)
        none = (all_a & all_b) | (no_a & no_b) | form.is_nan(a) | form.is_nan(b)
        pattern = none.of(form.quiet, pattern)
    return form.signed(pattern, form.sign(a ^ b))


def _quotient(form: FloatFormat, a: LaneVector, b: LaneVector) -> LaneVector:
    """Return a / b with the leading bit at the top, one bit more than a mantissa, and one for the rest."""
    if form.word == 32:
        text = a.text
        # Both are exact in binary64, and a quotient that is not a whole number is at least 1 / b away from one: the
        # rounding of the division cannot reach that far.
        names = [each.through_double("sitofp") for each in (a, b)]
        scaled = text.line(f"fmul <{a.size} x double> {names[0]}, splat (double 1.677721600e+07)")
        ratio = text.line(f"fdiv <{a.size} x double> {scaled}, {names[1]}")
        quotient = LaneVector(text, text.line(f"fptosi <{a.size} x double> {ratio} to {a.kind}"), a.size, a.bits)
        return quotient << 7 | (a << 24).differs(quotient * b).number(32)
    rest = a - b
    found: LaneVector | None = None
    for _ in range(8 * form.mantissa_bytes):
        rest = rest << 1
        fits = rest >= b
        rest = rest - fits.of(b, b.filled(0))
        bit = fits.number(a.bits)
        found = (bit | 2) if found is None else found << 1 | bit
    assert found is not None  # a mantissa has a byte at least
    return found << 7 | rest.differs(0).number(a.bits)


def root(form: FloatFormat, a: LaneVector, *, finite: bool) -> LaneVector:
    """Return the square root of a."""
    exponent = form.exponent(a)
    odd = (exponent & 1).differs(0)
    mantissa = _root(form, form.mantissa(a), odd)
    pattern = form.packed((exponent + 125) >> 1, mantissa)
    if not finite:
        pattern = exponent.equals(255).of(form.infinity, pattern)
        pattern = form.is_nan(a).of(form.quiet, pattern)
    pattern = form.sign(a).differs(0).of(form.quiet, pattern)
    pattern = exponent.equals(0).of(0, pattern)
    return form.signed(pattern, form.sign(a))


def _root(form: FloatFormat, a: LaneVector, odd: VectorChoice) -> LaneVector:
    """Return the root of a mantissa, doubled where the exponent is not odd; as `_quotient` returns its result."""
    if form.word == 32:
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
    # Fixed point with 1.0 = 2^one: rest = 2^k * (radicand - root^2), twice = 2 * root.
    one = 8 * form.mantissa_bytes + 5
    rest = odd.of(a << 6, a << 7) - (1 << one)
    twice = a.text.constant(1 << (one + 1), a.size, a.bits)
    for k in range(1, 8 * form.mantissa_bytes + 1):
        weight = 1 << (one - k)
        rest = rest << 1
        trial = twice | weight
        fits = rest >= trial
        rest = rest - fits.of(trial, trial.filled(0))
        twice = twice | fits.of(2 * weight, twice)
    return twice << 1 | rest.differs(0).number(a.bits)
