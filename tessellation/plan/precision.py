"""Floats with longer mantissas: how values are stored, and the microcode between formats (thesis appendix A).

A float of n bytes of mantissa has n + 1 bytes; 3 are binary32 and 4 to 6 have the same sign and exponent, so that a
short number becomes a long one by zeros at its low end. Two ways are offered. *Long throughout*: the database, the
Bernstein values and all arithmetic; a batch of 32 bytes brings fewer values, so there are more transfers. *Hybrid*: the
database stays binary32 and each value is made longer when it is used. Either way points and normals are rounded to
binary32 at the end, so that no more bytes go to the GPs than before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tessellation.plan.memory_map import BATCH_BYTES, FLOAT_BYTES
from tessellation.plan.schedule import value_stream
from tessellation.surface.patch import Patch

__all__ = [
    "MANTISSAS",
    "SINGLE",
    "StoredFormat",
    "float_patterns",
    "stored_patterns",
]

MANTISSAS = (3, 4, 5, 6)
"""Bytes of mantissa of table 13; 3 is binary32."""


@dataclass(frozen=True, slots=True)
class StoredFormat:
    """How control values are stored: bytes of each, packed from the first byte of a batch or of a PE's share on."""

    value_bytes: int = FLOAT_BYTES

    def fitting(self, size: int) -> int:
        """Return how many whole values so many bytes hold."""
        return size // self.value_bytes

    @property
    def batch_values(self) -> int:
        """Values of a batch: 8 of 4 bytes, 6, 5 or 4 of 5, 6 or 7."""
        return self.fitting(BATCH_BYTES)

    @property
    def _mantissa_bits(self) -> int:
        return 8 * (self.value_bytes - 1)

    def points(self, patch: Patch) -> np.ndarray:
        """Return the control points of a patch rounded to the format: float32, or float64 where that is too short."""
        if self.value_bytes == FLOAT_BYTES:
            return patch.points32
        fraction, exponent = np.frexp(patch.points.astype(np.float64))
        bits = self._mantissa_bits
        return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)

    def patterns(self, values: np.ndarray) -> np.ndarray:
        """Return the patterns of values in the precision of `points`, rounded once more: uint64 of the same shape."""
        if self.value_bytes == FLOAT_BYTES:
            return np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
        return float_patterns(values, self.value_bytes - 1)

    def packed(self, patterns: np.ndarray, run_bytes: int = BATCH_BYTES) -> np.ndarray:
        """Return patterns uint64[n] as words, uint32: run after run of so many bytes, with whole values in each."""
        each = self.fitting(run_bytes)
        if self.value_bytes == FLOAT_BYTES:  # a value is a word
            words = np.zeros(-(-len(patterns) // each) * each, np.uint32)
            words[: len(patterns)] = patterns
            return words
        data = patterns.astype("<u8").view(np.uint8).reshape(-1, 8)[:, : self.value_bytes]
        data = np.pad(data, ((0, -len(data) % each), (0, 0))).reshape(-1, each * self.value_bytes)
        padded = np.pad(data, ((0, 0), (0, run_bytes - data.shape[1])))
        return np.ascontiguousarray(padded).reshape(-1).view("<u4").astype(np.uint32)


SINGLE = StoredFormat()
"""binary32: the thesis's database."""


def stored_patterns(patch: Patch, stored: StoredFormat, *, reordered: bool) -> np.ndarray:
    """Return the control values of a patch in the order of use, as patterns of a format: uint64[value_count].

    First differences are formed from rounded points, in binary32 or in float64, and rounded once more.
    """
    return stored.patterns(value_stream(stored.points(patch), reordered=reordered))


def float_patterns(values: np.ndarray, mantissa_bytes: int) -> np.ndarray:
    """Return the patterns nearest to float64 values, ties to even: uint64.

    A magnitude below 2^-126 becomes a zero, one that is too large an infinity; the sign stays.
    """
    bits = 8 * mantissa_bytes
    fraction, exponent = np.frexp(np.abs(values))
    significand = np.rint(np.ldexp(fraction, bits)).astype(np.uint64)
    carried = significand >> np.uint64(bits)
    biased = exponent + 126 + carried.astype(np.int64)
    # A significand that rounded up to the next power of two has only zeros below its leading bit.
    low = np.where(carried == 1, np.uint64(0), significand & np.uint64((1 << bits - 1) - 1))
    pattern = low | biased.clip(0, 255).astype(np.uint64) << np.uint64(bits - 1)
    pattern = np.where(biased > 254, np.uint64(255 << bits - 1), pattern)
    pattern = np.where((biased < 1) | (significand == 0), np.uint64(0), pattern)
    return pattern | np.signbit(values).astype(np.uint64) << np.uint64(bits + 7)
