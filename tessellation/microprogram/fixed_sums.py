"""Sums in fixed point (the schedule ``fixed-sums``): integers, points and derivatives, normals, binary32. Microcode."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple, Protocol

from microcode import Imm, Mem, Register
from pixelflow.simd.errors import InternalError
from tessellation.microprogram.method import FloatLibrary
from tessellation.microprogram.ports import Chance, Keeping
from tessellation.microprogram.stage_code import Selector, emit_exchange, emit_normals
from tessellation.plan.fixed import COUNTS, VALUE_BYTES, FixedFormat
from tessellation.plan.mapping import BLOCK_SIDE
from tessellation.plan.memory_map import AXES, MemoryMap
from tessellation.plan.schedule import SHARE_BYTES, Stage

if TYPE_CHECKING:  # a kept program is found without the assembler
    from microcode import Builder

# Integer products and sums in PE memory, low byte first as in the library, for routines called with all PEs enabled.


R, S, M = Register.R, Register.S, Register.M


def emit_multiply(builder: Builder) -> None:
    """Emit {R, S} = R + S * M, 8 cycles."""
    for _ in range(8):
        builder.emit("MSTEP")


def emit_product(
    builder: Builder, total: Mem, size: int, value: Mem, length: int, weight: Mem, weight_bytes: int, *, first: bool
) -> None:
    """Emit total += value * weight modulo 2^(8 size), unsigned; ``first`` writes the total instead of adding to it.

    With one byte of weight: 10 cycles a byte of the value for the first product, 12 for others, and 3 or 4.
    """
    filled = 0 if first else size
    for shift in range(weight_bytes):
        builder.emit("LD", M, weight[shift])
        builder.emit("LD", R, Imm(0))
        end = min(shift + length, size)
        for at in range(shift, end):
            builder.emit("LD", S, value[at - shift])
            emit_multiply(builder)
            if at < filled:
                builder.emit("ADD", S, total[at])
                if at + 1 < size:
                    builder.emit("ADC", R, Imm(0))
            builder.emit("ST", total[at], S)
        if end < size:
            _emit_carry(builder, total, end, filled)
        filled = max(filled, min(end + 1, size))


def _emit_carry(builder: Builder, total: Mem, at: int, filled: int) -> None:
    """Emit the addition of R to byte ``at`` of the total, and its carry to all filled ones above."""
    if at < filled:
        builder.emit("ADD", R, total[at])
    builder.emit("ST", total[at], R)
    for above in range(at + 1, filled):
        builder.emit("LD", R, total[above])
        builder.emit("ADC", R, Imm(0))
        builder.emit("ST", total[above], R)


def emit_high_product(
    builder: Builder, total: Mem, a: Mem, b: Sequence[Mem | Imm], size: int, *, add: bool = False
) -> None:
    """Emit the upper size + 1 bytes of a * b, both of ``size`` bytes unsigned; with ``add``, add them to the total.

    Products of bytes that end below these are left out: with 4 bytes less than 2^-28 of the largest product.
    """
    low = size - 1
    filled = size + 1 if add else 0
    for row in range(size):
        builder.emit("LD", M, b[row])
        builder.emit("LD", R, Imm(0))
        for column in range(low - row, size):
            at = row + column - low
            builder.emit("LD", S, a[column])
            emit_multiply(builder)
            if at < filled:
                builder.emit("ADD", S, total[at])
                builder.emit("ADC", R, Imm(0))
            builder.emit("ST", total[at], S)
        _emit_carry(builder, total, row + 1, filled)
        filled = max(filled, row + 2)


def emit_constant_off(builder: Builder, total: Mem, size: int, constant: int) -> None:
    """Emit total -= constant modulo 2^(8 size): 3 cycles a byte, starting at the lowest that is not 0."""
    data = constant.to_bytes(size, "little")
    lowest = next((at for at, byte in enumerate(data) if byte), size)
    for at in range(lowest, size):
        builder.emit("LD", R, total[at])
        builder.emit("SBC" if at > lowest else "SUB", R, Imm(data[at]))
        builder.emit("ST", total[at], R)


def emit_magnitude(builder: Builder, value: Mem, size: int, sign: Mem) -> None:
    """Emit value = |value| of a two's complement number in place, and its sign as 0 or 255: 4 cycles a byte and 6."""
    builder.emit("SHL", R, value[size - 1])
    builder.emit("LD", M, Imm(0))
    builder.emit("SBC", M, Imm(0))
    builder.emit("XOR", M, Imm(0xFF))
    builder.emit("ST", sign, M)
    builder.emit("SHL", R, M)
    for at in range(size):
        builder.emit("LD", R, value[at])
        builder.emit("XOR", R, M)
        builder.emit("ADC", R, Imm(0))
        builder.emit("ST", value[at], R)


# Integers to binary32: normalised, scaled for points, rounded and packed.


KEPT = 4
"""Bytes of a normalised mantissa."""

MOVED = 8
"""Bytes of the longest number that can be normalised: moves of 4, 2 and 1 bytes and 4, 2 and 1 bits are 63 places."""


def emit_normalised(builder: Builder, value: Mem, size: int, *, most: int = 4) -> None:
    """Emit the shift of an unsigned number to the left until its top bit is set; M decreases by the places.

    The uppermost four bytes are right, to 29 bits at least; those below are destroyed. 0 stays 0. ``most`` are the
    bytes of the longest move: a number with more leading zeros is left without its top bit set.
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
        # Below the five uppermost bytes only those that later stages move up matter.
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
    """Emit the enable of PEs whose uppermost bits are 0, and the decrease of M: 4 cycles."""
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
"""Exponent of a derivative with its top bit set: its scale does not matter to the normal."""


def emit_slope_routine(builder: Builder, size: int, sign: Mem) -> None:
    """Emit the routine ``slope``: result = float, of any scale, of a number of ``size`` bytes, which it destroys."""
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


# Unit normals in fixed point, by a reciprocal root: no float is made before the last step.
#
# Each derivative is shifted up as a vector, all three coordinates by the same places, so that its own size sets the
# error, in which the limits of normals are counted. The cross product is of magnitudes of 32 bits with separate signs,
# and is shifted up in the same way. Its squared length w is brought to 1/4 .. 1; a line for each of six pieces gives
# 1 / sqrt(w) to about 1 %, and two steps y (3 - w y^2) / 2 improve that to 2^-25. There is no division.


_CROSS = 6
"""Bytes of a coordinate of the cross product: the upper five of a product, and one for the sign."""

_PIECES = 6
"""Lines that begin the root, each with an error of 1/400 at most."""


def emit_reciprocal_normals(builder: Builder, memory: MemoryMap, size: int, keeping: Keeping) -> None:
    """Emit the unit normals of derivatives of ``size`` bytes, two's complement, in ``slopes``: u first, then v.

    The bytes from ``control_points`` to the end of the weights are no longer needed and are overwritten.
    """
    place = iter(_places(memory))
    slopes = [memory["slopes"].start + index * size for index in range(6)]
    signs, cross, cross_signs = next(place), next(place), next(place)
    first, second, spare, root = (next(place) for _ in range(4))
    vectors = [[Mem(at) for at in slopes[half : half + 3]] for half in (0, 3)]
    normals = [cross[index * _CROSS] for index in range(3)]
    moved = min(size, MOVED)
    _emit_routines(builder, size, moved, first, second, spare)
    keeping.emit(builder, Chance.NORMALS, Stage.NORMALS)
    builder.mark(Stage.NORMALS.value)
    for half, vector in enumerate(vectors):
        for axis, number in enumerate(vector):
            builder.call("magnitude", number, signs[3 * half + axis])
        builder.call(f"level{moved}", *vector)
    uppers = [[number[moved - KEPT] for number in vector] for vector in vectors]
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        builder.call("product", first, uppers[0][a], uppers[1][b])
        builder.call("product", second, uppers[0][b], uppers[1][a])
        plus, minus = (signs[a], signs[3 + b]), (signs[b], signs[3 + a])
        builder.call("cross", normals[axis], cross_signs[axis], *plus, *minus)
    keeping.emit(builder, Chance.CROSSED, Stage.NORMALS)
    builder.call(f"level{_CROSS}", *normals)
    mantissas = [number[_CROSS - KEPT] for number in normals]
    builder.call("root", root, *mantissas)
    keeping.emit(builder, Chance.SQUARED, Stage.NORMALS)
    for axis, name in enumerate(AXES):
        builder.call("product", first, mantissas[axis], root)
        builder.call("unit", Mem(memory[f"{name}_normal"].start), cross_signs[axis])


def _places(memory: MemoryMap) -> list[Mem]:
    """Return the scratch of this stage: signs, cross product, its signs, two products, the root's own, the root."""
    at, found = memory["control_points"].start, []
    for length in (6, 3 * _CROSS, 3, KEPT + 1, KEPT + 1, 32, KEPT):
        found.append(Mem(at))
        at += length
    if at > memory["bernstein_v_difference"].end:
        raise InternalError("the scratch of the normals reaches into what they need")
    return found


def _emit_routines(builder: Builder, size: int, moved: int, first: Mem, second: Mem, spare: Mem) -> None:
    with builder.routine("magnitude", ("number", "sign")) as (number, sign):
        emit_magnitude(builder, number, size, sign)
    for length in (moved, _CROSS):
        with builder.routine(f"level{length}", ("x", "y", "z")) as numbers:
            _emit_levelled(builder, numbers, length)
    with builder.routine("product", ("result", "a", "b")) as (result, a, b):
        emit_high_product(builder, result, a, [b[at] for at in range(KEPT)], KEPT)
    with builder.routine("cross", ("result", "sign", "a", "b", "c", "d")) as (result, sign, a, b, c, d):
        _emit_difference(builder, result, sign, (a, b, c, d), first, second)
    with builder.routine("root", ("result", "x", "y", "z")) as (result, *numbers):
        _emit_root(builder, result, numbers, spare)
    with builder.routine("unit", ("result", "sign")) as (result, sign):
        # 1.0 is bit 37 of the product; less than 2^-28 is 0.
        builder.emit("LD", M, Imm(127 + 8 * (KEPT + 1) - 37 - 2))
        emit_normalised(builder, first, KEPT + 1, most=2)
        emit_packed(builder, result, first[1], sign)


def _emit_levelled(builder: Builder, numbers: Sequence[Mem], size: int) -> None:
    """Emit the shift of three unsigned numbers, by the same places, until the top bit of the largest is set.

    The uppermost four bytes are right, to 29 bits at least.
    """
    top = size - 1

    def emit_test(count: int, limit: int) -> None:
        uppers = [number[top - at] for at in range(count) for number in numbers]
        for index, byte in enumerate(uppers):
            builder.emit("OR" if index else "LD", R, byte)
        builder.emit("CMP", R, Imm(limit))
        builder.emit("ENC")

    for count in (4, 2, 1):
        emit_test(count, 1)
        lowest = max(0, top - KEPT - (count - 1))
        for number in numbers:
            for at in range(top, lowest - 1, -1):
                if at >= count:
                    builder.emit("LD", R, number[at - count])
                    builder.emit("ST", number[at], R)
                else:
                    builder.emit("STI", number[at], Imm(0))
    emit_test(1, 0x10)
    for number in numbers:
        for at in range(KEPT):
            builder.emit("LD", R, number[top - at])
            builder.emit("LD", S, number[top - at - 1])
            for _ in range(4):
                builder.emit("SHLP")
            builder.emit("ST", number[top - at], R)
    for places in (2, 1):
        emit_test(1, 1 << 8 - places)
        for number in numbers:
            for _ in range(places):
                _emit_left(builder, number[size - KEPT], KEPT)
    builder.emit("EMC_SetEnab")


def _emit_left(builder: Builder, number: Mem, size: int) -> None:
    for at in range(size):
        builder.emit("ROL" if at else "SHL", R, number[at])
        builder.emit("ST", number[at], R)


def _emit_right(builder: Builder, number: Mem, size: int) -> None:
    for at in reversed(range(size)):
        builder.emit("SHR" if at == size - 1 else "ROR", R, number[at])
        builder.emit("ST", number[at], R)


def _emit_difference(
    builder: Builder, result: Mem, sign: Mem, signs: tuple[Mem, Mem, Mem, Mem], first: Mem, second: Mem
) -> None:
    """Emit result = |first - second|, products whose signs are those of two factors each, and its sign."""
    a, b, c, d = signs
    builder.emit("LD", M, a)
    builder.emit("XOR", M, b)
    builder.emit("ST", sign, M)
    for other in (c, d):
        builder.emit("XOR", M, other)
    builder.emit("XOR", M, Imm(0xFF))
    builder.emit("SHL", R, M)
    for at in range(KEPT + 1):
        builder.emit("LD", R, second[at])
        builder.emit("XOR", R, M)
        builder.emit("ADC", R, first[at])
        builder.emit("ST", result[at], R)
    builder.emit("LD", R, M)
    builder.emit("ADC", R, Imm(0))
    builder.emit("ST", result[KEPT + 1], R)
    emit_magnitude(builder, result, _CROSS, second)
    builder.emit("XOR", M, sign)
    builder.emit("ST", sign, M)


def _emit_root(builder: Builder, result: Mem, numbers: Sequence[Mem], spare: Mem) -> None:
    """Emit result = 2^30 / sqrt(w), w the sum of the squares of x, y and z over 2^62, brought to 1/4 .. 1.

    The numbers have 32 bits, the largest has its top bit set; they are halved once or twice, so that w fits.
    """
    for number in numbers:
        _emit_right(builder, number, KEPT)
    square = spare
    for index, number in enumerate(numbers):
        emit_high_product(builder, square, number, [number[at] for at in range(KEPT)], KEPT, add=index > 0)
    builder.emit("LD", R, square[KEPT])
    builder.emit("CMP", R, Imm(0x40))
    builder.emit("EC")
    for number in numbers:
        _emit_right(builder, number, KEPT)
    builder.emit("ENOT")
    for _ in range(2):
        _emit_left(builder, square, KEPT + 1)
    builder.emit("EMC_SetEnab")
    w = square[1]  # w 2^32, 4 bytes
    begun, wide, narrow, better = (spare[at] for at in (5, 6, 11, 16))
    _emit_begin(builder, begun, w[3])
    _emit_coarse_step(builder, w, begun, wide, narrow, better)
    _emit_fine_step(builder, result, w, better, wide, narrow, spare[18])


def _emit_begin(builder: Builder, begun: Mem, upper: Mem) -> None:
    """Emit 128 / sqrt(w) from the uppermost byte of w, by a line for each piece: 5 cycles a piece and 17."""
    ends = [0.25 * 4 ** (index / _PIECES) for index in range(_PIECES + 1)]
    builder.emit("LD", S, upper)
    high, low = begun, begun[1]
    for index, (start, end) in enumerate(pairwise(ends)):
        slope = (1 / sqrt(start) - 1 / sqrt(end)) / (end - start)
        touches = (2 * slope) ** (-2 / 3)
        constant = (1 / sqrt(start) + slope * start + 1 / sqrt(touches) + slope * touches) / 2
        # Bytes of w are cut off: half of one is its mean.
        data = round((constant - slope / 512) * (1 << 14)).to_bytes(2, "little")
        if index:
            builder.emit("CMP", S, Imm(round(start * 256)))
            builder.emit("EC")
        builder.emit("LD", M, Imm(min(255, round(slope * 64))), gated=index > 0)
        builder.emit("STI", low, Imm(data[0]))
        builder.emit("STI", high, Imm(data[1]))
    builder.emit("EMC_SetEnab")
    builder.emit("LD", R, Imm(0))
    emit_multiply(builder)
    builder.emit("XOR", S, Imm(0xFF))
    builder.emit("XOR", R, Imm(0xFF))
    builder.emit("ADD", S, low)
    builder.emit("ADC", R, high)
    builder.emit("SHL", S)
    builder.emit("ROL", R)
    builder.emit("ST", begun, R)


def _emit_coarse_step(builder: Builder, w: Mem, begun: Mem, wide: Mem, narrow: Mem, better: Mem) -> None:
    """Emit the first step: better = 2^15 y, 2 bytes, from y 2^7 in a byte."""
    emit_product(builder, narrow, 4, w[1], 3, begun, 1, first=True)
    emit_product(builder, wide, 4, narrow[1], 3, begun, 1, first=True)
    # 2^31 (3 - w y^2) / 2, and a little less, so that the result is never above the root.
    data = ((3 << 30) - (1 << 9)).to_bytes(4, "little")
    for at in range(4):
        builder.emit("LD", R, Imm(data[at]))
        builder.emit("SBC" if at else "SUB", R, wide[at])
        builder.emit("ST", wide[at], R)
    emit_product(builder, narrow, 5, wide, 4, begun, 1, first=True)
    builder.emit("SHL", R, narrow[2])
    for at in range(2):
        builder.emit("ROL", R, narrow[3 + at])
        builder.emit("ST", better[at], R)


def _emit_fine_step(builder: Builder, result: Mem, w: Mem, better: Mem, wide: Mem, narrow: Mem, rest: Mem) -> None:
    """Emit the second step: result = 2^30 y, 4 bytes."""
    emit_product(builder, narrow, 4, better, 2, better, 2, first=True)
    emit_high_product(builder, wide, w, [narrow[at] for at in range(KEPT)], KEPT)
    builder.emit("LD", R, Imm(0))
    builder.emit("SUB", R, wide)
    for at in range(3):
        builder.emit("LD", R, Imm(0))
        builder.emit("SBC", R, wide[at + 1])
        builder.emit("ST", rest[at], R)
    emit_product(builder, narrow, 5, rest, 3, better, 2, first=True)
    builder.emit("SHR", R, better[1])
    builder.emit("ST", result[3], R)
    builder.emit("ROR", R, better)
    builder.emit("ST", result[2], R)
    builder.emit("ROR", R, Imm(0))
    builder.emit("ADD", R, narrow[3])
    builder.emit("ST", result[1], R)
    for at in (2, 3):
        builder.emit("LD", R, result[at])
        builder.emit("ADC", R, narrow[4] if at == 2 else Imm(0))
        builder.emit("ST", result[at], R)
    builder.emit("LD", R, narrow[2])
    builder.emit("ST", result, R)


# Points and derivatives as sums in fixed point, columns shared: the pass of the schedule ``fixed-sums``.
#
# The columns are shared as in `shared_columns.py`. In contrast to it, control values are integers of 40 bits with one
# exponent a patch (`plan/fixed.py`), and weights are the integers s^d B_i(a / s), so that every sum is exact and
# needs neither alignment nor rounding. First differences are formed on the array, so that a PE gets 61 bytes and not
# 132. A number becomes a float once, when it is complete. Signed numbers have an offset, which a sum turns into a
# constant.


_SLOTS = (0, 2, 1, 3)
"""Slot of each of four columns after the exchange."""


class _Sums(NamedTuple):
    """The routines of a pass: inner sums of a column, and outer sums of all."""

    memory: MemoryMap
    form: FixedFormat

    def _place(self, name: str) -> Mem:
        return Mem(self.memory[name].start)

    def emit_routines(self, builder: Builder) -> None:
        """Emit ``inner`` (values of a column of a coordinate) and ``outer``; all PEs are enabled then."""
        with builder.routine("inner", ("values",)) as (values,):
            self._emit_inner(builder, values)
        with builder.routine("outer", ("along_u", "along_v")) as (along_u, along_v):
            self._emit_outer(builder, along_u, along_v)
        scratch, form = self._place("scratch"), self.form
        emit_slope_routine(builder, form.outer_bytes, scratch[8])
        divisor, bits = form.steps**6, 8 * VALUE_BYTES - 1
        emit_point_routine(builder, form.outer_bytes, bits, divisor, self._place("control_points"), scratch, scratch[8])

    def _emit_inner(self, builder: Builder, values: Mem) -> None:
        """Emit the sums of a column for the point and for the derivative along u, each in the first of four slots."""
        form, total = self.form, self._place("columns")
        size, each = form.inner_bytes, form.weight_bytes
        weights, slopes = self._place("bernstein_u"), self._place("bernstein_u_difference")
        for i in range(COUNTS[0]):
            value, weight = values[i * VALUE_BYTES], weights[i * each]
            emit_product(builder, total, size, value, VALUE_BYTES, weight, each, first=i == 0)
        slope, step = total[BLOCK_SIDE * size], self._place("difference")
        for i in range(COUNTS[0] - 1):
            _emit_subtraction(builder, step, values[(i + 1) * VALUE_BYTES], values[i * VALUE_BYTES], VALUE_BYTES)
            for at in range(VALUE_BYTES, size):
                builder.emit("LD", R, Imm(0))
                builder.emit("SBC", R, Imm(0))
                builder.emit("ST", step[at], R)
            emit_product(builder, slope, size, step, size, slopes[i * each], each, first=i == 0)
        _emit_offset(builder, slope, size)

    def _emit_outer(self, builder: Builder, along_u: Mem, along_v: Mem) -> None:
        """Emit point and derivatives: sums over the columns, as two's complement numbers without their offsets."""
        form = self.form
        inner, outer, each, steps = form.inner_bytes, form.outer_bytes, form.weight_bytes, form.steps
        point = self._place("sums")
        weights, slopes = self._place("bernstein_v"), self._place("bernstein_v_difference")
        columns = [self._place("columns")[slot * inner] for slot in _SLOTS]
        for j, column in enumerate(columns):
            weight = weights[j * each]
            emit_product(builder, point, outer, column, inner, weight, each, first=j == 0)
            emit_product(builder, along_u, outer, column[BLOCK_SIDE * inner], inner, weight, each, first=j == 0)
        step = self._place("difference")
        for j in range(COUNTS[1] - 1):
            _emit_subtraction(builder, step, columns[j + 1], columns[j], inner)
            _emit_offset(builder, step, inner)
            emit_product(builder, along_v, outer, step, inner, slopes[j * each], each, first=j == 0)
        emit_constant_off(builder, point, outer, steps**6 << 8 * VALUE_BYTES - 1)
        emit_constant_off(builder, along_u, outer, steps**3 << 8 * inner - 1)
        emit_constant_off(builder, along_v, outer, steps**2 << 8 * inner - 1)


def _emit_subtraction(builder: Builder, result: Mem, a: Mem, b: Mem, size: int) -> None:
    """Emit result = a - b; C is 0 where it is negative: 3 cycles a byte."""
    for at in range(size):
        builder.emit("LD", R, a[at])
        builder.emit("SBC" if at else "SUB", R, b[at])
        builder.emit("ST", result[at], R)


def _emit_offset(builder: Builder, number: Mem, size: int) -> None:
    """Emit the addition of half the range to a two's complement number, which makes it unsigned: 3 cycles."""
    builder.emit("LD", R, number[size - 1])
    builder.emit("XOR", R, Imm(0x80))
    builder.emit("ST", number[size - 1], R)


def _emit_weights(builder: Builder, memory: MemoryMap, form: FixedFormat, select: Selector) -> None:
    """Emit the load of integer Bernstein values, for each direction and column or row, 1 + their bytes each."""
    builder.mark(Stage.BERNSTEIN.value)
    for direction, name in enumerate(("bernstein_u", "bernstein_v")):
        degree = COUNTS[direction] - 1
        tables = (form.weights(degree), form.weights(degree - 1))
        for index in range(form.samples):
            select(direction, form.samples, index)
            at = memory[name].start
            for value in (value for table in tables for value in table[index]):
                builder.emit("EMC_TreeIntoMem_Li", Mem(at), form.weight_bytes, 0, 0, value)
                at += form.weight_bytes


class ShareWay(Protocol):
    """Brings 16 bytes after the other to each PE, into ``control_points``."""

    def emit_start(self, builder: Builder) -> None:
        """Emit the start of the first transfer."""

    def emit_next(self, builder: Builder, number: int) -> None:
        """Emit the wait for a transfer and its copy to its place; all PEs are enabled after."""


def emit_fixed_sums(
    builder: Builder,
    memory: MemoryMap,
    samples: int,
    library: FloatLibrary | None,
    select: Selector,
    transfers: ShareWay,
    keeping: Keeping,
) -> None:
    """Emit a pass of bicubic patches at k samples a side, without its addresses.

    Normals are made by the floats of a library, or without one by a reciprocal root in fixed point.
    """
    form = FixedFormat(samples)
    place = memory["control_points"].start
    transfers.emit_start(builder)
    _emit_weights(builder, memory, form, select)
    sums = _Sums(memory, form)
    sums.emit_routines(builder)
    arrived = 0
    for index, axis in enumerate(AXES):
        begin = 1 + index * COUNTS[0] * VALUE_BYTES
        while arrived * SHARE_BYTES < begin + COUNTS[0] * VALUE_BYTES:
            transfers.emit_next(builder, arrived)
            arrived += 1
        builder.mark(Stage.INNER.value)
        builder.call("inner", Mem(place + begin))
        for half in range(2):
            start = memory["columns"].start + half * BLOCK_SIDE * form.inner_bytes
            emit_exchange(builder, start, form.inner_bytes, BLOCK_SIDE)
        if axis == AXES[-1]:
            keeping.emit(builder, Chance.AMIDST, Stage.EXCHANGE)
        builder.mark(Stage.OUTER.value)
        slopes = [Mem(memory["slopes"].start + at * form.outer_bytes) for at in (index, 3 + index)]
        builder.call("outer", *slopes)
        builder.mark(Stage.FLOATS.value)
        builder.call("place", Mem(memory[f"{axis}_point"].start), Mem(memory["sums"].start))
        if library is not None:
            for name, slope in zip(("du", "dv"), slopes, strict=True):
                builder.call("slope", Mem(memory[f"{axis}_{name}"].start), slope)
    if library is None:
        emit_reciprocal_normals(builder, memory, form.outer_bytes, keeping)
    else:
        emit_normals(builder, memory, library, keeping)
