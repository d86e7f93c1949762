"""Floats of 32 bits as bits, one by one: numpy's scalars where one rounding is enough, fractions elsewhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

NAN = 0xFFC00000


def number(bits: int) -> np.float32:
    return np.uint32(bits).view(np.float32)


def is_nan(bits: int) -> bool:
    return bits & 0x7FFFFFFF > 0x7F800000


def flush(bits: int) -> int:
    return bits if bits & 0x7F800000 else bits & 0x80000000


def settled(result: np.float32, *operands: int) -> int:
    if not np.isnan(result):
        return int(np.float32(result).view(np.uint32))
    return next((each | 0x400000 for each in operands if is_nan(each)), NAN)


def add(a: int, b: int) -> int:
    return settled(number(a) + number(b), a, b)


def mul(a: int, b: int) -> int:
    return settled(number(a) * number(b), a, b)


def nearest(value: Fraction | int) -> int:
    """Return the bits of the float nearest to an exact number that is not 0, ties to even."""
    exact, sign = abs(Fraction(value)), 0x80000000 if value < 0 else 0
    exponent = max(exact.numerator.bit_length() - exact.denominator.bit_length() - 1, -126)
    while exact >= Fraction(2) ** (exponent + 1):
        exponent += 1
    scaled = exact / Fraction(2) ** (exponent - 23)
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1)
    if whole >= 1 << 24:
        whole, exponent = whole >> 1, exponent + 1
    if exponent > 127:
        return sign | 0x7F800000
    if whole < 1 << 23:
        return sign | whole
    return sign | (exponent + 127) << 23 | whole & 0x7FFFFF


def fused(a: int, b: int, c: int) -> int:
    values = [number(each) for each in (a, b, c)]
    if not all(np.isfinite(each) for each in values):
        if any(is_nan(each) for each in (a, b, c)):
            return settled(np.float32(np.nan), a, b, c)
        product = float(values[0]) * float(values[1])
        return settled(np.float32(product + float(values[2])), a, b, c)
    x, y, z = (Fraction(float(each)) for each in values)
    if x * y + z == 0:
        return settled(np.float32(float(values[0]) * float(values[1]) + float(values[2])))
    return nearest(x * y + z)


def whole(bits: int, how: str) -> int:
    """Return a float rounded to a whole number, which keeps its sign."""
    if bits & 0x7FFFFFFF >= 0x4B000000:
        return bits
    found = {"up": np.ceil, "down": np.floor, "even": np.rint, "zero": np.trunc}[how](number(bits))
    return int(np.float32(found).view(np.uint32)) & 0x7FFFFFFF | bits & 0x80000000
