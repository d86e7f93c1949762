"""Integer products and sums in PE memory: what the sums in fixed point are made of. Low byte first, as in the library.

All of it is emitted inside routines whose callers have all PEs enabled.
"""

from __future__ import annotations

from collections.abc import Sequence

from microcode import Builder, Imm, Mem, Register

__all__ = ["emit_constant_off", "emit_high_product", "emit_magnitude", "emit_product"]

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

    Of the products of bytes those that end below are left out: with 4 bytes less than 2^-28 of the largest product.
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
    """Emit total -= constant modulo 2^(8 size): 3 cycles a byte from the lowest that is not 0 on."""
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
