"""Conversions, signs and order of floats, as the library's microcode gives them, for all operands."""

from __future__ import annotations

from pixelflow.node.kernels.vector import FloatFormat, LaneVector, VectorChoice


def _ones(form: FloatFormat) -> int:
    return (1 << form.width) - 1


def from_integer(form: FloatFormat, a: LaneVector) -> LaneVector:
    """Return a signed integer of as many bytes as a float has, as a float."""
    sign = form.sign(a)
    magnitude = (sign.differs(0).of(a ^ -1, a) + sign) & _ones(form)
    mantissa, shift = form.normalised(magnitude)
    exponent = a.filled(133 + 8 * form.mantissa_bytes) - shift
    pattern = magnitude.equals(0).of(0, form.packed(exponent, mantissa))
    return form.signed(pattern, sign)


def to_integer(form: FloatFormat, a: LaneVector) -> LaneVector:
    """Return the whole part of a float, the nearest end of the range where it is beyond, 0 for a NaN."""
    limit = 134 + 8 * form.mantissa_bytes
    exponent, sign = form.exponent(a), form.sign(a)
    beyond = exponent >= limit
    distance = a.filled(limit) - exponent
    whole = ((form.mantissa(a) << 8) >> distance.least(form.word - 1)) & _ones(form)
    whole = (distance >= form.width).of(0, whole)
    negative = sign.differs(0)
    value = negative.of(-whole, whole)
    lowest = 1 << (form.width - 1)
    value = beyond.of(sign + (lowest - 1), value)
    return form.is_nan(a).of(0, value)


def negated(form: FloatFormat, a: LaneVector) -> LaneVector:
    """Return a with the other sign."""
    return a ^ 1 << (form.width - 1)


def absolute(form: FloatFormat, a: LaneVector) -> LaneVector:
    """Return a without its sign."""
    return form.magnitude(a)


def _unordered(form: FloatFormat, a: LaneVector, b: LaneVector) -> VectorChoice:
    return form.is_nan(a) | form.is_nan(b)


def _zeros(form: FloatFormat, a: LaneVector, b: LaneVector) -> VectorChoice:
    return (form.exponent(a) | form.exponent(b)).equals(0)


def less(form: FloatFormat, a: LaneVector, b: LaneVector) -> LaneVector:
    """Return 1 where a < b, else 0."""
    found = ((a < b) & ~form.sign(b).differs(0)) | ((b < a) & form.sign(a).differs(0))
    return (found & ~_unordered(form, a, b) & ~_zeros(form, a, b)).number(a.bits)


def equal(form: FloatFormat, a: LaneVector, b: LaneVector) -> LaneVector:
    """Return 1 where a = b, else 0."""
    return ((a.equals(b) | _zeros(form, a, b)) & ~_unordered(form, a, b)).number(a.bits)
