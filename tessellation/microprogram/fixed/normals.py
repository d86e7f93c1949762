"""Unit normals in fixed point, by a reciprocal root: no float is made before the last step.

Each derivative is shifted up as a vector, all three coordinates by as much, so that its own size sets the error, which
is what the limits of normals are counted in. The cross product is of magnitudes of 32 bits with signs apart, and is
shifted up in the same way. Its squared length w is brought to 1/4 .. 1; a line for each of six pieces gives 1 / sqrt(w)
to about 1 %, and y (3 - w y^2) / 2 twice makes that 2^-25. No division is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

from microcode import Builder, Imm, Mem, Register
from pixelflow.simd.errors import InternalError
from tessellation.microprogram.fixed.floats import KEPT, MOVED, emit_normalised, emit_packed
from tessellation.microprogram.fixed.integers import emit_high_product, emit_magnitude, emit_multiply, emit_product
from tessellation.microprogram.keeping import Chance, Keeping
from tessellation.plan.memory_map import AXES, MemoryMap
from tessellation.plan.stages import Stage

__all__ = ["emit_reciprocal_normals"]

R, S, M = Register.R, Register.S, Register.M

_CROSS = 6
"""Bytes of a coordinate of the cross product: the upper five of a product, and one for the sign."""

_PIECES = 6
"""Lines that begin the root: each misses it by 1/400 at most."""


def emit_reciprocal_normals(builder: Builder, memory: MemoryMap, size: int, keeping: Keeping) -> None:
    """Emit the unit normals of derivatives of ``size`` bytes, two's complement, in ``slopes``: u first, then v.

    What lies from ``control_points`` to the end of the weights has done its work and is written over.
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
    """Emit the shift of three unsigned numbers, by as much, until the top bit of the largest is set.

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
    """Emit result = 2^30 / sqrt(w), where w is the sum of the squares of x, y and z over 2^62, brought to 1/4 .. 1.

    The numbers have 32 bits, the largest its uppermost; they are halved once or twice, so that w fits.
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
