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

from microcode import Builder, Imm, Mem, Register
from tessellation.memory_map import AXES, BATCH_BYTES, FLOAT_BYTES, MemoryMap
from tessellation.patch import Patch
from tessellation.schedule import surface_order
from tessellation.stages import Stage

__all__ = ["MANTISSAS", "SINGLE", "StoredFormat", "emit_conversions", "emit_results", "float_patterns", "long_values"]

MANTISSAS = (3, 4, 5, 6)
"""Bytes of mantissa of table 13; 3 is binary32."""


@dataclass(frozen=True, slots=True)
class StoredFormat:
    """How control values lie in a batch: bytes of each, packed from the batch's first byte on."""

    value_bytes: int = FLOAT_BYTES

    @property
    def batch_values(self) -> int:
        """Values of a batch: 8 of 4 bytes, 6, 5 or 4 of 5, 6 or 7."""
        return BATCH_BYTES // self.value_bytes


SINGLE = StoredFormat()
"""binary32: the thesis's database."""


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


def long_values(patch: Patch, mantissa_bytes: int, *, reordered: bool) -> np.ndarray:
    """Return the control values of a patch with long mantissas, packed into batches, as words: uint32[8 * batches].

    First differences are formed in float64 from points rounded to the format, and rounded once more.
    """
    bits = 8 * mantissa_bytes
    fraction, exponent = np.frexp(patch.points.astype(np.float64))
    points = np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)
    order = surface_order(*patch.counts, reordered=reordered)
    values = np.concatenate([work.surface.net(points)[..., work.axis].T.reshape(-1) for work in order])
    stored = StoredFormat(mantissa_bytes + 1)
    each = float_patterns(values, mantissa_bytes).astype("<u8").view(np.uint8).reshape(-1, 8)[:, : stored.value_bytes]
    each = np.pad(each, ((0, -len(each) % stored.batch_values), (0, 0)))
    batches = each.reshape(-1, stored.batch_values * stored.value_bytes)
    padded = np.pad(batches, ((0, 0), (0, BATCH_BYTES - batches.shape[1])))
    return np.ascontiguousarray(padded).reshape(-1).view("<u4").astype(np.uint32)


def emit_conversions(builder: Builder, mantissa_bytes: int) -> None:
    """Emit the routines ``widen`` (binary32 to the long format) and ``narrow`` (back, rounded to nearest even).

    ``narrow`` may write over its operand; a mantissa that rounds up carries into the exponent, up to infinity.
    """
    dropped = mantissa_bytes - 3
    with builder.routine("widen", ("long", "short")) as (long, short):
        for index in range(dropped):
            builder.emit("STI", long[index], Imm(0))
        for index in range(FLOAT_BYTES):
            builder.emit("LD", Register.R, short[index])
            builder.emit("ST", long[dropped + index], Register.R)
    with builder.routine("narrow", ("short", "long")) as (short, long):
        builder.emit("LD", Register.S, long[dropped])
        builder.emit("AND", Register.S, Imm(1))
        for index in range(dropped - 1):
            builder.emit("OR", Register.S, long[index])
        builder.emit("CMP", Register.S, Imm(1))
        builder.emit("LD", Register.S, long[dropped - 1])
        # Carries above half, and at half where the kept part is odd or anything lies below.
        builder.emit("ADC", Register.S, Imm(0x7F))
        for index in range(FLOAT_BYTES):
            builder.emit("LD", Register.R, long[dropped + index])
            builder.emit("ADC", Register.R, Imm(0))
            builder.emit("ST", short[index], Register.R)


def emit_results(builder: Builder, memory: MemoryMap) -> None:
    """Emit the rounding of points and normals to binary32, in place."""
    builder.mark(Stage.ROUNDING.value)
    for what in ("point", "normal"):
        for axis in AXES:
            place = Mem(memory[f"{axis}_{what}"].start)
            builder.call("narrow", place, place)
