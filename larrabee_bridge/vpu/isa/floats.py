"""Float arithmetic, multiply-add and compares of the vector unit, in both formats; sums with signs in that of 32 bits.

Each is declared once: of its two opcodes the first is that of floats (``ps``), the second that of doubles (``pd``).
"""

from __future__ import annotations

from typing import Protocol

from larrabee_bridge.vpu.isa.declarations import (
    DST,
    KDST,
    RESULT,
    SRC,
    WIDE_SRC,
    A,
    VectorFamily,
    count,
    declare,
    described,
)
from larrabee_bridge.vpu.isa.meanings import (
    FORMATS,
    SINGLES,
    Type,
    VectorFloats,
    joined,
    masked,
    pair_of,
    set_signs,
    source,
    wide_source,
    wide_write,
    write,
)
from larrabee_bridge.vpu.isa.operands import LANES, WIDE_LANES, MaskRegister, Vector, VectorSource
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra, Rounding
from pixelflow.simd.units import Standing


class _FloatOperation(Protocol):
    """A vector made of two vectors of a format."""

    def __call__(self, floats: VectorFloats, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, /) -> Word: ...


class _FloatComparison(Protocol):
    """Truth values made of two vectors of a format."""

    def __call__(self, floats: VectorFloats, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, /) -> Bit: ...


def _arithmetic(name: str, opcodes: tuple[int, int], operation: _FloatOperation, text: str) -> None:
    for floats, opcode in zip(FORMATS, opcodes, strict=True):
        _arithmetic_of(floats, name, opcode, operation, text)


def _arithmetic_of(floats: VectorFloats, name: str, opcode: int, operation: _FloatOperation, text: str) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, src: VectorSource) -> None:
        floats.write(lanes, dst, operation(floats, lanes, lanes.load(a.number), floats.source(lanes, src)))

    text = text.format(floats=floats.names, float=floats.names[:-1])
    declare(name + floats.suffix, opcode, DST, A, floats.src, family=floats.arithmetic)(described(meaning, text))


def _smaller(floats: VectorFloats, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
    return lanes.select(floats.less(lanes, a, b), a, b)


def _larger(floats: VectorFloats, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
    return lanes.select(floats.less(lanes, b, a), a, b)


_arithmetic("vadd", (0x01, 0x6C), lambda floats, lanes, a, b: floats.add(lanes, a, b), "Add {floats}: dst = a + src.")
_arithmetic(
    "vsub",
    (0x02, 0x6D),
    lambda floats, lanes, a, b: floats.add(lanes, a, floats.negated(lanes, b)),
    "Subtract {floats}: dst = a - src.",
)
_arithmetic(
    "vsubr",
    (0x03, 0x6E),
    lambda floats, lanes, a, b: floats.add(lanes, floats.negated(lanes, a), b),
    "Subtract {floats} in reverse: dst = src - a.\n\nThe source in memory is what is subtracted from.",
)
_arithmetic(
    "vmul",
    (0x04, 0x6F),
    lambda floats, lanes, a, b: floats.multiply(lanes, a, b),
    "Multiply {floats}: dst = a * src.",
)
_arithmetic(
    "vmin",
    (0x05, 0x70),
    _smaller,
    "Smaller {float}: dst = a where a < src, else src.\n\nSo a NaN in either gives src, as in the x86 family.",
)
_arithmetic(
    "vmax",
    (0x06, 0x71),
    _larger,
    "Larger {float}: dst = a where a > src, else src.\n\nSo a NaN in either gives src, as in the x86 family.",
)


@declare("vaddsetsps", 0x07, DST, KDST, A, SRC, family=VectorFamily.FLOAT)
def vaddsetsps(lanes: NumberAlgebra[Word, Bit], dst: Vector, kdst: MaskRegister, a: Vector, src: VectorSource) -> None:
    """Add floats and set a mask to the signs: dst = a + src, kdst = sign bits of the sums.

    -0.0 counts as negative. Lanes that are not written get a clear bit in kdst (invented).
    """
    set_signs(lanes, dst, kdst, SINGLES.add(lanes, lanes.load(a.number), SINGLES.source(lanes, src)))


# --- multiply-add ----------------------------------------------------------------------------------------------

_ORDERS = {"132": (0, "dst * src", "a"), "213": (1, "a * dst", "src"), "231": (2, "a * src", "dst")}
"""Offset of an order's opcode; the operands that are multiplied, and the one that is added."""

_SIGNS = {
    "vmadd": ((0x08, 0x72), False, False, "{0} + {1}"),
    "vmsub": ((0x0B, 0x75), False, True, "{0} - {1}"),
    "vmaddn": ((0x0E, 0x78), True, False, "-({0}) + {1}"),
    "vmsubn": ((0x11, 0x7B), True, True, "-({0}) - {1}"),
}
"""First of three opcodes in each format; negation of the product and of the addend."""


def _fused(floats: VectorFloats, format_number: int, name: str, order: str) -> None:
    place, product, addend = _ORDERS[order]
    opcodes, minus_product, minus_addend, formula = _SIGNS[name]

    def meaning(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, src: VectorSource) -> None:
        words = lanes.load(dst.number), lanes.load(a.number), floats.source(lanes, src)
        x, y, z = (words[int(number) - 1] for number in order)
        x = floats.negated(lanes, x) if minus_product else x
        z = floats.negated(lanes, z) if minus_addend else z
        floats.write(lanes, dst, floats.fuse(lanes, x, y, z))

    text = f"Multiply-add{' doubles' if format_number else ''}, rounded once: dst = {formula.format(product, addend)}."
    if minus_product:
        text += "\n\nThe name is published, its signs are those of the descendants (FNMADD, FNMSUB)."
    standing = Standing.INVENTED if minus_product else Standing.DERIVED
    opcode, mnemonic = opcodes[format_number] + place, f"{name}{order}{floats.suffix}"
    declare(mnemonic, opcode, DST, A, floats.src, family=floats.fused, standing=standing)(described(meaning, text))


for _number, _format in enumerate(FORMATS):
    for _name in _SIGNS:
        for _order in _ORDERS:
            _fused(_format, _number, _name, _order)


@declare("vmadd233ps", 0x14, DST, A, SRC, family=VectorFamily.FUSED, standing=Standing.INVENTED)
def vmadd233ps(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, src: VectorSource) -> None:
    """Scale and bias: dst = a * scale + bias, rounded once.

    Within each four lanes the scale is lane 1 and the bias lane 0 of src. The order exists in the published list; which
    lanes it takes is recalled from the descendant.
    """
    both = SINGLES.source(lanes, src)
    scale, bias = (lanes.route(both, [lane & ~3 | at for lane in range(16)]) for at in (1, 0))
    SINGLES.write(lanes, dst, SINGLES.fuse(lanes, lanes.load(a.number), scale, bias))


# --- compares --------------------------------------------------------------------------------------------------


def _ordered(floats: VectorFloats, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
    return lanes.both(floats.equal(lanes, a, a), floats.equal(lanes, b, b))


def _less_or_equal(floats: VectorFloats, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
    return lanes.either(floats.less(lanes, a, b), floats.equal(lanes, a, b))


_COMPARES: dict[str, tuple[tuple[int, int], str, _FloatComparison]] = {
    "eq": ((0x15, 0x7E), "a == src", lambda floats, lanes, a, b: floats.equal(lanes, a, b)),
    "lt": ((0x16, 0x7F), "a < src", lambda floats, lanes, a, b: floats.less(lanes, a, b)),
    "le": ((0x17, 0x80), "a <= src", _less_or_equal),
    "unord": (
        (0x18, 0x81), "a or src is a NaN", lambda floats, lanes, a, b: lanes.complement(_ordered(floats, lanes, a, b)),
    ),
    "neq": (
        (0x19, 0x82), "not a == src", lambda floats, lanes, a, b: lanes.complement(floats.equal(lanes, a, b)),
    ),
    "nlt": ((0x1A, 0x83), "not a < src", lambda floats, lanes, a, b: lanes.complement(floats.less(lanes, a, b))),
    "nle": (
        (0x1B, 0x84), "not a <= src", lambda floats, lanes, a, b: lanes.complement(_less_or_equal(floats, lanes, a, b)),
    ),
    "ord": ((0x1C, 0x85), "neither a nor src is a NaN", _ordered),
}  # fmt: skip


def _compare(floats: VectorFloats, format_number: int, name: str) -> None:
    opcodes, condition, compare = _COMPARES[name]

    def meaning(lanes: NumberAlgebra[Word, Bit], result: MaskRegister, a: Vector, src: VectorSource) -> None:
        bits = compare(floats, lanes, lanes.load(a.number), floats.source(lanes, src))
        floats.set_mask(lanes, result, bits)

    text = f"Compare {floats.names}: bits of result are set where {condition}.\n\n"
    text += f"Under a mask, other lanes get a clear bit{'; so do the upper eight' if format_number else ''}."
    declare(f"vcmp{name}{floats.suffix}", opcodes[format_number], RESULT, A, floats.src, family=VectorFamily.COMPARE)(
        described(meaning, text)
    )


for _number, _format in enumerate(FORMATS):
    for _name in _COMPARES:
        _compare(_format, _number, _name)


# Conversions between integers, floats and doubles.
#
# Those with doubles convert to and from the lower eight lanes, as in the published names of the prototype library, and
# leave the upper half unchanged.


_PROTOTYPE = "Larrabee new instructions C++ prototype library (Intel 2009)"
_LOWER = [lane < WIDE_LANES for lane in range(LANES)]
_EACH_TWICE = [lane // 2 for lane in range(LANES)]
_LOW_WORDS = [2 * lane % LANES for lane in range(LANES)]


@declare("vcvtpi2ps", 0x1D, DST, SRC, family=VectorFamily.CONVERT)
def vcvtpi2ps(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert signed integers to the nearest floats."""
    write(lanes, dst, lanes.to_float(source(lanes, src, Type.INTEGER), signed=True))


@declare("vcvtpu2ps", 0x1E, DST, SRC, family=VectorFamily.CONVERT)
def vcvtpu2ps(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert unsigned integers to the nearest floats."""
    write(lanes, dst, lanes.to_float(source(lanes, src, Type.INTEGER), signed=False))


@declare("vcvtps2pi", 0x1F, DST, SRC, count("rounding", 0, 3), family=VectorFamily.CONVERT)
def vcvtps2pi(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource, rounding: int) -> None:
    """Convert floats to signed integers; rounding 0 is to nearest even, 1 down, 2 up, 3 towards zero.

    A NaN and what is out of range give 0x80000000.
    """
    write(lanes, dst, lanes.to_integer(source(lanes, src, Type.FLOAT), Rounding(rounding)))


def _lower(lanes: NumberAlgebra[Word, Bit], operand: VectorSource, kind: Type) -> Word:
    """Return each of the lower eight of a source in both lanes of 64 bits."""
    return lanes.route(source(lanes, operand, kind), _EACH_TWICE)


def _write_lower(lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
    """Write what is in both lanes of 64 bits to the lower eight lanes, under the mask."""
    where, lower = masked(lanes, dst), lanes.pattern(_LOWER)
    where = lower if where is None else lanes.both(where, lower)
    lanes.store(dst.number, lanes.route(value, _LOW_WORDS), where)


@declare("vcvtpi2pd", 0x86, DST, SRC, family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtpi2pd(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert the lower eight signed integers to doubles, which is exact."""
    wide_write(lanes, dst, joined(lanes, lanes.to_double(_lower(lanes, src, Type.INTEGER), signed=True)))


@declare("vcvtpu2pd", 0x87, DST, SRC, family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtpu2pd(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert the lower eight unsigned integers to doubles, which is exact."""
    wide_write(lanes, dst, joined(lanes, lanes.to_double(_lower(lanes, src, Type.INTEGER), signed=False)))


@declare("vcvtpd2pi", 0x88, DST, WIDE_SRC, count("rounding", 0, 3), family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtpd2pi(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource, rounding: int) -> None:
    """Convert doubles to signed integers in the lower eight lanes, rounded as by vcvtps2pi; the others stay.

    A NaN and what is out of range give 0x80000000.
    """
    _write_lower(lanes, dst, lanes.double_to_integer(pair_of(lanes, wide_source(lanes, src)), Rounding(rounding)))


@declare("vcvtps2pd", 0x89, DST, SRC, family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtps2pd(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert the lower eight floats to doubles, which is exact."""
    wide_write(lanes, dst, joined(lanes, lanes.float_to_double(_lower(lanes, src, Type.FLOAT))))


@declare("vcvtpd2ps", 0x8A, DST, WIDE_SRC, family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtpd2ps(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert doubles to the nearest floats, in the lower eight lanes; the others stay."""
    _write_lower(lanes, dst, lanes.double_to_float(pair_of(lanes, wide_source(lanes, src))))
