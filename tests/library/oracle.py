"""Expected results of float routines: written from the numerics contract with numpy float32 and with Python integers.

The contract: subnormal operands are zeros of their sign, results below the smallest normal before rounding are zeros of
their sign, everything else is IEEE, rounded to nearest even; NaNs are all alike.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from microcode.catalogue import Operation

Bits = NDArray[np.uint32]
QUIET = np.uint32(0x7FC00000)
SIGN = np.uint32(0x80000000)
SMALLEST_NORMAL = 2.0**-126
ARITHMETIC: dict[Operation, Callable] = {
    Operation.ADD: np.add,
    Operation.SUBTRACT: np.subtract,
    Operation.MULTIPLY: np.multiply,
    Operation.DIVIDE: np.divide,
    Operation.SQUARE_ROOT: lambda a, b: np.sqrt(a),
}


def one_nan(bits: Bits) -> Bits:
    """Return patterns with every NaN replaced by one."""
    return np.where((bits & ~SIGN) > 0x7F800000, QUIET, bits)


def flushed(bits: Bits) -> Bits:
    """Return patterns with subnormal numbers replaced by zeros of their sign."""
    return np.where((bits & 0x7F800000) == 0, bits & SIGN, bits)


def binary32(operation: Operation, a: Bits, b: Bits | None = None) -> Bits:
    """Return the results of an operation on binary32 patterns; for FROM_INTEGER ``a`` is an int32 pattern."""
    if operation is Operation.FROM_INTEGER:
        return a.view(np.int32).astype(np.float32).view(np.uint32)
    x = flushed(a).view(np.float32)
    y = x if b is None else flushed(b).view(np.float32)
    with np.errstate(all="ignore"):
        result = ARITHMETIC[operation](x, y).view(np.uint32)
        # Exact in binary64 for sums and products this small, and close enough for quotients never to cross 2^-126.
        exact = ARITHMETIC[operation](x.astype(np.float64), y.astype(np.float64))
        return one_nan(np.where(np.abs(exact) < SMALLEST_NORMAL, result & SIGN, result))


# --- any mantissa size, one number at a time ---------------------------------------------------------------------


class Float:
    """A float of n mantissa bytes as an integer pattern of n + 1 bytes, and its parts."""

    def __init__(self, bits: int, n: int) -> None:
        stored = 8 * n - 1
        self.negative = bits >> (8 * n + 7) & 1
        self.exponent = bits >> stored & 0xFF
        self.fraction = bits & ((1 << stored) - 1)
        self.nan = self.exponent == 255 and self.fraction != 0
        self.infinite = self.exponent == 255 and self.fraction == 0
        self.zero = self.exponent == 0
        self.mantissa = 0 if self.zero else self.fraction | 1 << stored
        self.power = self.exponent - 127 - stored
        """The value is mantissa * 2^power."""


def assemble(negative: int, exponent: int, fraction: int, n: int) -> int:
    return negative << (8 * n + 7) | exponent << (8 * n - 1) | fraction


def nan(n: int) -> int:
    return assemble(0, 255, 1 << (8 * n - 2), n)


def rounded(negative: int, magnitude: int, power: int, n: int, *, inexact: bool = False) -> int:
    """Return the float nearest to magnitude * 2^power, and a little more where ``inexact``."""
    if magnitude == 0:
        return assemble(negative, 0, 0, n)
    magnitude, power = magnitude << 8 * n + 2 | inexact, power - 8 * n - 2
    drop = magnitude.bit_length() - 8 * n
    exponent = power + magnitude.bit_length() - 1 + 127
    if exponent < 1:
        return assemble(negative, 0, 0, n)
    kept, rest = magnitude >> drop, magnitude & ((1 << drop) - 1)
    half = 1 << (drop - 1)
    kept += rest > half or (rest == half and kept & 1)
    if kept >> 8 * n:
        kept, exponent = kept >> 1, exponent + 1
    if exponent > 254:
        return assemble(negative, 255, 0, n)
    return assemble(negative, exponent, kept & ((1 << (8 * n - 1)) - 1), n)


def _sum(a: Float, b: Float, n: int) -> int:
    if a.nan or b.nan or (a.infinite and b.infinite and a.negative != b.negative):
        return nan(n)
    if a.infinite or b.infinite:
        return assemble(a.negative if a.infinite else b.negative, 255, 0, n)
    if a.zero or b.zero:
        if a.zero and b.zero:
            return assemble(a.negative & b.negative, 0, 0, n)
        kept = b if a.zero else a
        return assemble(kept.negative, kept.exponent, kept.fraction, n)
    power = min(a.power, b.power)
    total = sum((-1) ** x.negative * (x.mantissa << (x.power - power)) for x in (a, b))
    return rounded(int(total < 0), abs(total), power, n)


def _product(a: Float, b: Float, n: int) -> int:
    negative = a.negative ^ b.negative
    if a.nan or b.nan or (a.infinite and b.zero) or (a.zero and b.infinite):
        return nan(n)
    if a.infinite or b.infinite:
        return assemble(negative, 255, 0, n)
    return rounded(negative, a.mantissa * b.mantissa, a.power + b.power, n)


def _quotient(a: Float, b: Float, n: int) -> int:
    negative = a.negative ^ b.negative
    if a.nan or b.nan or (a.infinite and b.infinite) or (a.zero and b.zero):
        return nan(n)
    if a.infinite or b.zero:
        return assemble(negative, 255, 0, n)
    if b.infinite:
        return assemble(negative, 0, 0, n)
    more = 8 * n + 2
    quotient, remainder = divmod(a.mantissa << more, b.mantissa)
    return rounded(negative, quotient, a.power - b.power - more, n, inexact=remainder != 0)


def _root(a: Float, n: int) -> int:
    if a.zero:
        return assemble(a.negative, 0, 0, n)
    if a.nan or a.negative:
        return nan(n)
    if a.infinite:
        return assemble(0, 255, 0, n)
    more = 8 * n + 4 + (a.power & 1)
    root = isqrt(a.mantissa << more)
    return rounded(0, root, (a.power - more) // 2, n, inexact=root * root != a.mantissa << more)


def exact(operation: Operation, a: int, b: int, n: int) -> int:
    """Return the result of an operation on patterns of n + 1 bytes; ``b`` is ignored by one-operand operations."""
    x, y = Float(a, n), Float(b, n)
    match operation:
        case Operation.FROM_INTEGER:
            value = a - (1 << (8 * n + 8)) if a >> (8 * n + 7) else a
            return rounded(int(value < 0), abs(value), 0, n)
        case Operation.ADD:
            return _sum(x, y, n)
        case Operation.SUBTRACT:
            return _sum(x, Float(b ^ 1 << (8 * n + 7), n), n)
        case Operation.MULTIPLY:
            return _product(x, y, n)
        case Operation.DIVIDE:
            return _quotient(x, y, n)
        case Operation.SQUARE_ROOT:
            return _root(x, n)
    raise ValueError(operation)


def same(found: int, expected: int, n: int) -> bool:
    """Return whether two patterns are the same number; the sign of a NaN is free, its pattern is not."""
    if expected == nan(n):
        return found & ~(1 << (8 * n + 7)) == nan(n)
    return found == expected
