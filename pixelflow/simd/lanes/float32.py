"""IEEE binary32 on arrays of 32-bit words, the same bits on every processor.

numpy leaves open which NaN comes out of an operation, and has no fused multiply-add; both are decided here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.numbers import Elementary, Rounding

Words = NDArray[np.uint32]

QUIET = np.uint32(0x00400000)
INDEFINITE = np.uint32(0xFFC00000)
"""The NaN of an operation that has no answer."""
OUT_OF_RANGE = np.uint32(0x80000000)

_ROUND = {Rounding.NEAREST: np.rint, Rounding.DOWN: np.floor, Rounding.UP: np.ceil, Rounding.TO_ZERO: np.trunc}


def _float(words: Words) -> NDArray[np.float32]:
    return words.view(np.float32)


def _settled(result: NDArray[np.float32], *operands: Words) -> Words:
    """Return the words of a result in which each NaN is the quieted one of the first operand that is one."""
    words = result.view(np.uint32)
    nan = np.isnan(result)
    if not nan.any():
        return words
    chosen = np.full_like(words, INDEFINITE)
    for operand in reversed(operands):
        chosen = np.where(np.isnan(_float(operand)), operand | QUIET, chosen)
    return np.where(nan, chosen, words)


def add(a: Words, b: Words) -> Words:
    """Return a + b."""
    with np.errstate(all="ignore"):
        return _settled(_float(a) + _float(b), a, b)


def multiply(a: Words, b: Words) -> Words:
    """Return a * b."""
    with np.errstate(all="ignore"):
        return _settled(_float(a) * _float(b), a, b)


def divide(a: Words, b: Words) -> Words:
    """Return a / b."""
    with np.errstate(all="ignore"):
        return _settled(_float(a) / _float(b), a, b)


_FUNCTIONS: dict[Elementary, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    Elementary.SQUARE_ROOT: np.sqrt,
    Elementary.RECIPROCAL_ROOT: lambda a: 1.0 / np.sqrt(a),
    Elementary.LOGARITHM: np.log2,
    Elementary.EXPONENTIAL: np.exp2,
    Elementary.SINE: np.sin,
    Elementary.COSINE: np.cos,
}


def elementary(function: Elementary, a: Words, b: Words) -> Words:
    """Return a function of a, evaluated in binary64 and rounded; the power also of b."""
    with np.errstate(all="ignore"):
        x = _float(a).astype(np.float64)
        if function is Elementary.POWER:
            return _settled(np.power(x, _float(b).astype(np.float64)).astype(np.float32), a, b)
        return _settled(_FUNCTIONS[function](x).astype(np.float32), a)


def fuse(a: Words, b: Words, c: Words) -> Words:
    """Fused multiply-add: return a * b + c, rounded once.

    The product is exact in binary64. Where the sum is not, its last bit is made odd (Boldo and Melquiond 2008): 53 bits
    rounded to odd and then to 24 bits give what one rounding gives.
    """
    with np.errstate(all="ignore"):
        product = _float(a).astype(np.float64) * _float(b)
        addend = _float(c).astype(np.float64)
        total = product + addend
        # Knuth's two-sum: what the addition lost, exactly.
        part = total - product
        lost = (product - (total - part)) + (addend - part)
        words = total.view(np.int64)
        even_and_inexact = np.isfinite(total) & (lost != 0) & (words & 1 == 0)
        outwards = np.where((lost > 0) == (total > 0), 1, -1)
        odd = np.where(even_and_inexact, words + outwards, words).view(np.float64)
        return _settled(odd.astype(np.float32), a, b, c)


def equal(a: Words, b: Words) -> NDArray[np.bool_]:
    """Return whether a == b; never for a NaN."""
    with np.errstate(all="ignore"):
        return _float(a) == _float(b)


def less(a: Words, b: Words) -> NDArray[np.bool_]:
    """Return whether a < b; never for a NaN."""
    with np.errstate(all="ignore"):
        return _float(a) < _float(b)


def from_integer(a: Words, *, signed: bool) -> Words:
    """Return an integer as the nearest float."""
    return (a.view(np.int32) if signed else a).astype(np.float32).view(np.uint32)


def to_integer(a: Words, rounding: Rounding) -> Words:
    """Return a float as a signed integer, 0x80000000 where there is none."""
    with np.errstate(all="ignore"):
        rounded = _ROUND[rounding](_float(a)).astype(np.float64)
        fits = (rounded >= -(2.0**31)) & (rounded < 2.0**31)
        return np.where(fits, np.where(fits, rounded, 0).astype(np.int32).view(np.uint32), OUT_OF_RANGE)


def from_half(a: Words) -> Words:
    """Return the binary16 in the low 16 bits as a float; a signalling NaN comes out quiet."""
    with np.errstate(all="ignore"):
        wide = (a & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16).astype(np.float32)
    payload = (a & np.uint32(0x8000)) << np.uint32(16) | np.uint32(0x7FC00000) | (a & np.uint32(0x3FF)) << np.uint32(13)
    return np.where(np.isnan(wide), payload, wide.view(np.uint32))
