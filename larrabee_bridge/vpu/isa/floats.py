"""Float arithmetic, multiply-add, compares and conversions of the vector unit."""

from __future__ import annotations

from larrabee_bridge.vpu.isa.declarations import DST, KDST, RESULT, SRC, A, VectorFamily, count, declare, described
from larrabee_bridge.vpu.isa.meanings import (
    ComparisonMeaning,
    Type,
    WordOperation,
    negated,
    set_mask,
    set_signs,
    source,
    write,
)
from larrabee_bridge.vpu.isa.operands import MaskRegister, Vector, VectorSource
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import NumberAlgebra, Rounding
from pixelflow.simd.units import Standing


def _arithmetic(mnemonic: str, opcode: int, operation: WordOperation, text: str) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, src: VectorSource) -> None:
        write(lanes, dst, operation(lanes, lanes.load(a.number), source(lanes, src, Type.FLOAT)))

    declare(mnemonic, opcode, DST, A, SRC, family=VectorFamily.FLOAT)(described(meaning, text))


_arithmetic("vaddps", 0x01, lambda lanes, a, b: lanes.float_add(a, b), "Add floats: dst = a + src.")
_arithmetic(
    "vsubps", 0x02, lambda lanes, a, b: lanes.float_add(a, negated(lanes, b)), "Subtract floats: dst = a - src."
)
_arithmetic(
    "vsubrps",
    0x03,
    lambda lanes, a, b: lanes.float_add(negated(lanes, a), b),
    "Subtract floats in reverse: dst = src - a.\n\nThe source in memory is what is subtracted from.",
)
_arithmetic("vmulps", 0x04, lambda lanes, a, b: lanes.float_multiply(a, b), "Multiply floats: dst = a * src.")
_arithmetic(
    "vminps",
    0x05,
    lambda lanes, a, b: lanes.select(lanes.float_less(a, b), a, b),
    "Smaller float: dst = a where a < src, else src.\n\nSo a NaN in either gives src, as in the x86 family.",
)
_arithmetic(
    "vmaxps",
    0x06,
    lambda lanes, a, b: lanes.select(lanes.float_less(b, a), a, b),
    "Larger float: dst = a where a > src, else src.\n\nSo a NaN in either gives src, as in the x86 family.",
)


@declare("vaddsetsps", 0x07, DST, KDST, A, SRC, family=VectorFamily.FLOAT)
def vaddsetsps(lanes: NumberAlgebra[Word, Bit], dst: Vector, kdst: MaskRegister, a: Vector, src: VectorSource) -> None:
    """Add floats and set a mask to the signs: dst = a + src, kdst = sign bits of the sums.

    -0.0 counts as negative. Lanes that are not written get a clear bit in kdst (invented).
    """
    total = lanes.float_add(lanes.load(a.number), source(lanes, src, Type.FLOAT))
    set_signs(lanes, dst, kdst, total)


# --- multiply-add ----------------------------------------------------------------------------------------------

_ORDERS = {"132": (0, "dst * src", "a"), "213": (1, "a * dst", "src"), "231": (2, "a * src", "dst")}
"""What an order adds to the opcode; which of the three operands are multiplied, and which is added."""

_SIGNS = {
    "vmadd": (0x08, False, False, "{0} + {1}"),
    "vmsub": (0x0B, False, True, "{0} - {1}"),
    "vmaddn": (0x0E, True, False, "-({0}) + {1}"),
    "vmsubn": (0x11, True, True, "-({0}) - {1}"),
}
"""The first of three opcodes; whether the product and the addend are negated."""


def _fused(name: str, order: str) -> None:
    place, product, addend = _ORDERS[order]
    first, minus_product, minus_addend, formula = _SIGNS[name]

    def meaning(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, src: VectorSource) -> None:
        words = lanes.load(dst.number), lanes.load(a.number), source(lanes, src, Type.FLOAT)
        x, y, z = (words[int(number) - 1] for number in order)
        x = negated(lanes, x) if minus_product else x
        z = negated(lanes, z) if minus_addend else z
        write(lanes, dst, lanes.float_fuse(x, y, z))

    text = f"Multiply-add, rounded once: dst = {formula.format(product, addend)}."
    if minus_product:
        text += "\n\nThe name is published, which signs it turns is taken from the descendants (FNMADD, FNMSUB)."
    standing = Standing.INVENTED if minus_product else Standing.DERIVED
    declare(f"{name}{order}ps", first + place, DST, A, SRC, family=VectorFamily.FUSED, standing=standing)(
        described(meaning, text)
    )


for _name in _SIGNS:
    for _order in _ORDERS:
        _fused(_name, _order)


@declare("vmadd233ps", 0x14, DST, A, SRC, family=VectorFamily.FUSED, standing=Standing.INVENTED)
def vmadd233ps(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, src: VectorSource) -> None:
    """Scale and bias: dst = a * scale + bias, rounded once.

    Within each four lanes the scale is lane 1 and the bias lane 0 of src. The order exists in the published list; which
    lanes it takes is recalled from the descendant.
    """
    both = source(lanes, src, Type.FLOAT)
    scale, bias = (lanes.route(both, [lane & ~3 | at for lane in range(16)]) for at in (1, 0))
    write(lanes, dst, lanes.float_fuse(lanes.load(a.number), scale, bias))


# --- compares --------------------------------------------------------------------------------------------------


def _ordered(lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
    return lanes.both(lanes.float_equal(a, a), lanes.float_equal(b, b))


def _less_or_equal(lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
    return lanes.either(lanes.float_less(a, b), lanes.float_equal(a, b))


_COMPARES: dict[str, tuple[int, str, ComparisonMeaning]] = {
    "eq": (0x15, "a == src", lambda lanes, a, b: lanes.float_equal(a, b)),
    "lt": (0x16, "a < src", lambda lanes, a, b: lanes.float_less(a, b)),
    "le": (0x17, "a <= src", _less_or_equal),
    "unord": (0x18, "a or src is a NaN", lambda lanes, a, b: lanes.complement(_ordered(lanes, a, b))),
    "neq": (0x19, "not a == src", lambda lanes, a, b: lanes.complement(lanes.float_equal(a, b))),
    "nlt": (0x1A, "not a < src", lambda lanes, a, b: lanes.complement(lanes.float_less(a, b))),
    "nle": (0x1B, "not a <= src", lambda lanes, a, b: lanes.complement(_less_or_equal(lanes, a, b))),
    "ord": (0x1C, "neither a nor src is a NaN", _ordered),
}


def _compare(name: str) -> None:
    opcode, condition, compare = _COMPARES[name]

    def meaning(lanes: NumberAlgebra[Word, Bit], result: MaskRegister, a: Vector, src: VectorSource) -> None:
        set_mask(lanes, result, compare(lanes, lanes.load(a.number), source(lanes, src, Type.FLOAT)))

    text = f"Compare floats: bits of result are set where {condition}.\n\nUnder a mask, other lanes get a clear bit."
    declare(f"vcmp{name}ps", opcode, RESULT, A, SRC, family=VectorFamily.COMPARE)(described(meaning, text))


for _name in _COMPARES:
    _compare(_name)

# --- conversions -----------------------------------------------------------------------------------------------


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
