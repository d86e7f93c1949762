"""IEEE binary64 on arrays of pairs of 32-bit words, low and high, the same bits on every processor.

numpy leaves open which NaN comes out of an operation, and has no fused multiply-add; both are decided here.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.numbers import Rounding

Words: TypeAlias = NDArray[np.uint32]
Doubles: TypeAlias = tuple[Words, Words]
Numbers: TypeAlias = NDArray[np.float64]

_LOW, _THIRTY_TWO = np.uint64(0xFFFFFFFF), np.uint64(32)
_QUIET = np.uint64(1 << 51)
_INDEFINITE = np.uint64(0xFFF8 << 48)
"""The NaN of an operation that has no answer."""
_OUT_OF_RANGE = np.uint32(0x80000000)
_QUIET_FLOAT = np.uint32(0x7FC00000)
_SIGN = np.uint32(0x80000000)
_ROUND = {Rounding.NEAREST: np.rint, Rounding.DOWN: np.floor, Rounding.UP: np.ceil, Rounding.TO_ZERO: np.trunc}
_SPLIT = 2.0**27 + 1
_LEAST, _MOST = 2.0**-900, 2.0**900
"""Between these nothing that a fused multiply-add works out on its way overflows, or loses a bit to denormals."""


def _joined(pair: Doubles) -> Numbers:
    low, high = pair
    return (high.astype(np.uint64) << _THIRTY_TWO | low).view(np.float64)


def _cut(bits: NDArray[np.uint64]) -> Doubles:
    return (bits & _LOW).astype(np.uint32), (bits >> _THIRTY_TWO).astype(np.uint32)


def _settled(result: Numbers, *operands: Numbers) -> Doubles:
    """Return the words of a result in which each NaN is the quieted one of the first operand that is one."""
    bits, nan = result.view(np.uint64), np.isnan(result)
    if nan.any():
        chosen = np.full_like(bits, _INDEFINITE)
        for operand in reversed(operands):
            chosen = np.where(np.isnan(operand), operand.view(np.uint64) | _QUIET, chosen)
        bits = np.where(nan, chosen, bits)
    return _cut(bits)


def add(a: Doubles, b: Doubles) -> Doubles:
    """Return a + b."""
    x, y = _joined(a), _joined(b)
    with np.errstate(all="ignore"):
        return _settled(x + y, x, y)


def multiply(a: Doubles, b: Doubles) -> Doubles:
    """Return a * b."""
    x, y = _joined(a), _joined(b)
    with np.errstate(all="ignore"):
        return _settled(x * y, x, y)


def fuse(a: Doubles, b: Doubles, c: Doubles) -> Doubles:
    """Fused multiply-add: return a * b + c, rounded once.

    By sums that lose nothing, and by fractions where numbers are huge or tiny.
    """
    x, y, z = (np.ascontiguousarray(each) for each in np.broadcast_arrays(_joined(a), _joined(b), _joined(c)))
    with np.errstate(all="ignore"):
        product = x * y
        found = _fused(x, y, z, product)
        finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
        plain = ~finite | (x == 0) | (y == 0)
        # An infinite addend stays, also where the product of finite numbers is infinite in binary64.
        found = np.where(plain, np.where(np.isfinite(x) & np.isfinite(y) & np.isinf(z), z, product + z), found)
        far = ~plain & ~(_ordinary(x) & _ordinary(y) & _ordinary(product) & (_ordinary(z) | (z == 0)))
        for at in zip(*np.nonzero(far), strict=True):
            found[at] = _exact(float(x[at]), float(y[at]), float(z[at]))
        return _settled(found, x, y, z)


def _ordinary(a: Numbers) -> NDArray[np.bool_]:
    size = np.abs(a)
    return (size >= _LEAST) & (size <= _MOST)


def _two_sum(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """Return a + b, and what the addition lost, exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _fused(x: Numbers, y: Numbers, z: Numbers, product: Numbers) -> Numbers:
    """Return x * y + z by Dekker's product and a sum that is rounded to odd (Boldo and Melquiond 2008)."""
    x_high, y_high = (_SPLIT * each - (_SPLIT * each - each) for each in (x, y))
    x_low, y_low = x - x_high, y - y_high
    lost = x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)
    sum_high, sum_low = _two_sum(z, lost)
    high, low = _two_sum(product, sum_high)
    rest, rest_lost = _two_sum(sum_low, low)
    bits = rest.view(np.int64)
    outwards = np.where((rest_lost > 0) == (rest > 0), 1, -1)
    odd = np.where((rest_lost != 0) & (bits & 1 == 0), bits + outwards, bits).view(np.float64)
    return high + odd


def _exact(x: float, y: float, z: float) -> float:
    total = Fraction(x) * Fraction(y) + Fraction(z)
    if total == 0:
        return x * y + z
    try:
        return total.numerator / total.denominator
    except OverflowError:
        return inf if total > 0 else -inf


def equal(a: Doubles, b: Doubles) -> NDArray[np.bool_]:
    """Return whether a == b; never for a NaN."""
    with np.errstate(all="ignore"):
        return _joined(a) == _joined(b)


def less(a: Doubles, b: Doubles) -> NDArray[np.bool_]:
    """Return whether a < b; never for a NaN."""
    with np.errstate(all="ignore"):
        return _joined(a) < _joined(b)


def from_integer(a: Words, *, signed: bool) -> Doubles:
    """Return an integer as a double."""
    return _cut((a.view(np.int32) if signed else a).astype(np.float64).view(np.uint64))


def to_integer(a: Doubles, rounding: Rounding) -> Words:
    """Return a double as a signed integer, 0x80000000 where there is none."""
    with np.errstate(all="ignore"):
        rounded = _ROUND[rounding](_joined(a))
        fits = (rounded >= -(2.0**31)) & (rounded < 2.0**31)
        return np.where(fits, np.where(fits, rounded, 0).astype(np.int32).view(np.uint32), _OUT_OF_RANGE)


def from_float(a: Words) -> Doubles:
    """Return a float as a double; a signalling NaN comes out quiet."""
    with np.errstate(all="ignore"):
        number = a.view(np.float32).astype(np.float64)
    bits = a.astype(np.uint64)
    payload = (bits & np.uint64(0x80000000)) << _THIRTY_TWO | (bits & np.uint64(0x7FFFFF)) << np.uint64(29)
    return _cut(np.where(np.isnan(number), payload | np.uint64(0x7FF8 << 48), number.view(np.uint64)))


def to_float(a: Doubles) -> Words:
    """Return a double as the nearest float; a NaN keeps its sign and the upper bits of its fraction, and is quiet."""
    number = _joined(a)
    with np.errstate(all="ignore"):
        nearest = number.astype(np.float32).view(np.uint32)
    payload = (number.view(np.uint64) >> np.uint64(29)).astype(np.uint32) & np.uint32(0x3FFFFF)
    return np.where(np.isnan(number), a[1] & _SIGN | _QUIET_FLOAT | payload, nearest)
