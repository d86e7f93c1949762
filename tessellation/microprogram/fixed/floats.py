"""Integers to binary32: normalised, scaled where a point is wanted, rounded and packed. Microcode."""

from __future__ import annotations

from fractions import Fraction

from microcode import Builder, Imm, Mem, Register
from tessellation.microprogram.fixed.integers import emit_high_product, emit_magnitude

__all__ = ["KEPT", "MOVED", "emit_normalised", "emit_packed", "emit_point_routine", "emit_slope_routine"]

R, S, M = Register.R, Register.S, Register.M

KEPT = 4
"""Bytes of a normalised mantissa."""

MOVED = 8
"""Bytes of the longest number that can be normalised: moves of 4, 2 and 1 bytes and 4, 2 and 1 bits are 63 places."""


def emit_normalised(builder: Builder, value: Mem, size: int, *, most: int = 4) -> None:
    """Emit the shift of an unsigned number to the left until its top bit is set; M becomes less by the places.

    The uppermost four bytes are right, to 29 bits at least; those below are used up. 0 stays 0. ``most`` are the bytes
    of the longest move: what has more zeros in front is left without its top bit set.
    """
    top = size - 1
    for count in (4, 2, 1):
        if count > most:
            continue
        builder.emit("LD", R, value[top])
        for at in range(1, count):
            builder.emit("OR", R, value[top - at])
        builder.emit("CMP", R, Imm(1))
        builder.emit("ENC")
        builder.emit("SUB", M, Imm(8 * count), gated=True)
        # Below the five uppermost bytes only what later stages bring up is wanted.
        lowest = max(0, top - KEPT - (count - 1))
        for at in range(top, lowest - 1, -1):
            if at >= count:
                builder.emit("LD", R, value[at - count])
                builder.emit("ST", value[at], R)
            else:
                builder.emit("STI", value[at], Imm(0))
    _emit_shift_test(builder, value[top], 4)
    for at in range(KEPT):
        builder.emit("LD", R, value[top - at])
        builder.emit("LD", S, value[top - at - 1])
        for _ in range(4):
            builder.emit("SHLP")
        builder.emit("ST", value[top - at], R)
    for places in (2, 1):
        _emit_shift_test(builder, value[top], places)
        for _ in range(places):
            emit_shifted(builder, value[top - KEPT + 1], KEPT)
    builder.emit("EMC_SetEnab")


def _emit_shift_test(builder: Builder, upper: Mem, places: int) -> None:
    """Emit the enable of PEs whose uppermost bits are 0, and what that takes off M: 4 cycles."""
    builder.emit("LD", R, upper)
    builder.emit("CMP", R, Imm(1 << 8 - places))
    builder.emit("ENC")
    builder.emit("SUB", M, Imm(places), gated=True)


def emit_shifted(builder: Builder, value: Mem, size: int) -> None:
    """Emit value <<= 1 where enabled: 2 cycles a byte."""
    for at in range(size):
        builder.emit("ROL" if at else "SHL", R, value[at])
        builder.emit("ST", value[at], R)


def emit_packed(builder: Builder, result: Mem, mantissa: Mem, sign: Mem) -> None:
    """Emit the float of a normalised mantissa of 4 bytes, rounded, with the exponent less 1 in M: 25 cycles.

    A mantissa without its top bit is 0, and so is the float.
    """
    builder.emit("SHR", M)
    builder.emit("ROR", R, Imm(0))
    builder.emit("LD", S, mantissa)
    builder.emit("ADD", S, Imm(0x80))
    for at in range(2):
        builder.emit("LD", S, mantissa[at + 1])
        builder.emit("ADC", S, Imm(0))
        builder.emit("ST", result[at], S)
    builder.emit("ADC", R, mantissa[3])
    builder.emit("ADC", M, Imm(0))
    builder.emit("ST", result[2], R)
    builder.emit("LD", S, sign)
    builder.emit("AND", S, Imm(0x80))
    builder.emit("OR", S, M)
    builder.emit("ST", result[3], S)
    builder.emit("LD", R, mantissa[3])
    builder.emit("CMP", R, Imm(0x80))
    builder.emit("ENC")
    for at in range(4):
        builder.emit("STI", result[at], Imm(0))
    builder.emit("EMC_SetEnab")


SLOPE_EXPONENT = 127 + 31
"""Exponent of a derivative whose uppermost bits are the number's own: its scale does not matter to the normal."""


def emit_slope_routine(builder: Builder, size: int, sign: Mem) -> None:
    """Emit the routine ``slope``: result = float of a number of ``size`` bytes, which it uses up, of any scale."""
    with builder.routine("slope", ("result", "number")) as (result, number):
        emit_magnitude(builder, number, size, sign)
        builder.emit("LD", M, Imm(SLOPE_EXPONENT - 1))
        moved = min(size, MOVED)
        emit_normalised(builder, number, moved)
        emit_packed(builder, result, number[moved - KEPT], sign)


def emit_point_routine(
    builder: Builder, size: int, fraction_bits: int, divisor: int, exponent: Mem, product: Mem, sign: Mem
) -> None:
    """Emit the routine ``place``: result = number / divisor * 2^(exponent - 126 - fraction_bits), as a float.

    ``exponent`` is a byte in PE memory, ``product`` 5 bytes of scratch.
    """
    power = 31 + (divisor - 1).bit_length()
    reciprocal = round(Fraction(1 << power, divisor))
    data = reciprocal.to_bytes(KEPT, "little")
    with builder.routine("place", ("result", "number")) as (result, number):
        emit_magnitude(builder, number, size, sign)
        moved = min(size, MOVED)
        builder.emit("LD", M, exponent)
        builder.emit("ADD", M, Imm((31 + 8 * moved - power - fraction_bits) & 0xFF))
        emit_normalised(builder, number, moved)
        builder.emit("ST", sign[1], M)
        emit_high_product(builder, product, number[moved - KEPT], [Imm(byte) for byte in data], KEPT)
        builder.emit("LD", M, sign[1])
        _emit_shift_test(builder, product[KEPT], 1)
        emit_shifted(builder, product, KEPT + 1)
        builder.emit("EMC_SetEnab")
        emit_packed(builder, result, product[1], sign)
