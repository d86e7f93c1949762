"""Common parts of meanings: operands read and written, signs, addresses and masks, over the algebra of lanes."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, Protocol

from larrabee_bridge.vpu.isa.declarations import SRC, WIDE_SRC, VectorFamily
from larrabee_bridge.vpu.isa.operands import (
    LANES,
    WIDE_LANES,
    Conversion,
    MaskRegister,
    Memory,
    Replication,
    Scalar,
    Swizzle,
    Vector,
    VectorSource,
)
from pixelflow.simd.isa.operands import OperandSpec
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra, Pair


class Type(Enum):
    """Result type of a widening load."""

    FLOAT = "float"
    INTEGER = "integer"


class WordOperation(Protocol):
    """A word made of two words."""

    def __call__(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, /) -> Word: ...


class ComparisonMeaning(Protocol):
    """A bit made of two words."""

    def __call__(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, /) -> Bit: ...


class BitOperation(Protocol):
    """A bit made of two bits."""

    def __call__(self, lanes: NumberAlgebra[Word, Bit], a: Bit, b: Bit, /) -> Bit: ...


def plus(lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
    """Return the sum of two words as integers, without the carry."""
    return lanes.add(a, b, lanes.bit(False))[0]


def scalar(lanes: NumberAlgebra[Word, Bit], operand: Scalar | int) -> Word:
    """Return a scalar operand as a word that is the same in all lanes of a group."""
    return lanes.read(f"r{operand.number}") if isinstance(operand, Scalar) else lanes.word(operand)


def address(lanes: NumberAlgebra[Word, Bit], memory: Memory) -> Word:
    """Return the address at which a memory operand begins."""
    if memory.base is None:
        return lanes.word(memory.offset)
    base = lanes.read(f"r{memory.base}")
    return plus(lanes, base, lanes.word(memory.offset)) if memory.offset else base


def element_addresses(lanes: NumberAlgebra[Word, Bit], memory: Memory) -> Word:
    """Return the address of each lane's element."""
    size, elements = memory.conversion.size, memory.replication.elements
    if memory.replication is Replication.ONE:
        return address(lanes, memory)
    return plus(lanes, address(lanes, memory), lanes.series([lane % elements * size for lane in range(LANES)]))


def source(lanes: NumberAlgebra[Word, Bit], operand: VectorSource, kind: Type) -> Word:
    """Return the last source: a register swizzled, or memory widened to ``kind`` and replicated."""
    if isinstance(operand, Vector):
        value = lanes.load(operand.number)
        return value if operand.swizzle is Swizzle.NONE else lanes.route(value, operand.swizzle.sources)
    raw = lanes.fetch(element_addresses(lanes, operand), operand.conversion.size)
    return _widened(lanes, raw, operand.conversion, kind)


def _widened(lanes: NumberAlgebra[Word, Bit], raw: Word, conversion: Conversion, kind: Type) -> Word:
    match conversion:
        case Conversion.NONE:
            return raw
        case Conversion.FLOAT16:
            return lanes.half_to_float(raw)
        case Conversion.UNORM8:
            return lanes.float_divide(lanes.to_float(raw, signed=True), lanes.word(0x437F0000))  # by 255.0
        case Conversion.SINT16:
            sixteen = lanes.word(16)
            raw = lanes.shift_down(lanes.shift_up(raw, sixteen), sixteen, signed=True)
    return lanes.to_float(raw, signed=True) if kind is Type.FLOAT else raw


def masked(lanes: NumberAlgebra[Word, Bit], operand: Vector | MaskRegister | Memory) -> Bit | None:
    """Return the lanes in which an operand is written: those of its mask register, or None for all."""
    return None if operand.mask is None else lanes.flag(f"k{operand.mask}")


def write(lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
    """Write a vector register under its mask; the other lanes keep their values."""
    lanes.store(dst.number, value, masked(lanes, dst))


def set_signs(lanes: NumberAlgebra[Word, Bit], dst: Vector, kdst: MaskRegister, total: Word) -> None:
    """Write a vector under its mask, and a mask register to the sign bits of the written lanes."""
    where = masked(lanes, dst)
    signs = lanes.less(total, lanes.word(0), signed=True)
    lanes.store(dst.number, total, where)
    lanes.set_flag(f"k{kdst.number}", signs if where is None else lanes.both(signs, where))


def set_mask(lanes: NumberAlgebra[Word, Bit], result: MaskRegister, bits: Bit) -> None:
    """Write a mask register to the result of a compare, clear where its own mask is clear."""
    where = masked(lanes, result)
    lanes.set_flag(f"k{result.number}", bits if where is None else lanes.both(bits, where))


# The two formats of floats in a vector register: sixteen of 32 bits, or eight of 64 bits, each in two lanes.
#
# A vector has one word a lane in both. Of eight lanes of 64 bits, lane i is the words 2 i (low) and 2 i + 1 (high); its
# truth values are in both, and bit i of a mask register belongs to it. So the common part of instructions is written
# once, over a format's operations on whole vectors.


_LOW = [lane & ~1 for lane in range(LANES)]
_HIGH = [lane | 1 for lane in range(LANES)]
_EVEN = [lane % 2 == 0 for lane in range(LANES)]
_OWNER = [lane // 2 for lane in range(LANES)]
_FIRST = [2 * lane % LANES for lane in range(LANES)]
_LOWER = [lane < WIDE_LANES for lane in range(LANES)]


def pair_of(lanes: NumberAlgebra[Word, Bit], value: Word) -> Pair[Word]:
    """Return a vector as numbers of 64 bits; each is in both of its lanes."""
    return lanes.route(value, _LOW), lanes.route(value, _HIGH)


def joined(lanes: NumberAlgebra[Word, Bit], pair: Pair[Word]) -> Word:
    """Return the vector of numbers of 64 bits that are in both of their lanes."""
    low, high = pair
    return lanes.select(lanes.pattern(_EVEN), low, high)


def wide_source(lanes: NumberAlgebra[Word, Bit], operand: VectorSource) -> Word:
    """Return the last source in lanes of 64 bits: a register swizzled, or memory replicated."""
    if isinstance(operand, Vector):
        value = lanes.load(operand.number)
        if operand.swizzle is Swizzle.NONE:
            return value
        return lanes.route(value, [2 * operand.swizzle.sources[lane // 2] + lane % 2 for lane in range(LANES)])
    words = {Replication.NONE: LANES, Replication.ONE: 2, Replication.FOUR: 8}[operand.replication]
    places = lanes.series([4 * (lane % words) for lane in range(LANES)])
    return lanes.fetch(plus(lanes, address(lanes, operand), places), 4)


def wide_mask(lanes: NumberAlgebra[Word, Bit], operand: Vector | Memory) -> Bit | None:
    """Return the 64-bit lanes in which an operand is written: bit i of its mask for lane i, or None for all."""
    where = masked(lanes, operand)
    return None if where is None else lanes.route(where, _OWNER)


def wide_write(lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
    """Write a vector register under its mask, a bit for each 64 bits."""
    lanes.store(dst.number, value, wide_mask(lanes, dst))


class VectorFloats:
    """Floats of 32 bits, sixteen in a vector, and the operations on them; the base of those of 64 bits."""

    suffix: ClassVar[str] = "ps"
    """Of mnemonics."""
    names: ClassVar[str] = "floats"
    """In the manual."""
    src: ClassVar[OperandSpec] = SRC
    arithmetic: ClassVar[VectorFamily] = VectorFamily.FLOAT
    fused: ClassVar[VectorFamily] = VectorFamily.FUSED

    def source(self, lanes: NumberAlgebra[Word, Bit], operand: VectorSource) -> Word:
        """Return the last source."""
        return source(lanes, operand, Type.FLOAT)

    def write(self, lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
        """Write a vector register under its mask."""
        write(lanes, dst, value)

    def set_mask(self, lanes: NumberAlgebra[Word, Bit], result: MaskRegister, bits: Bit) -> None:
        """Write a mask register to the result of a compare, clear where its own mask is clear."""
        set_mask(lanes, result, bits)

    def add(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
        """Return a + b."""
        return lanes.float_add(a, b)

    def multiply(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
        """Return a * b."""
        return lanes.float_multiply(a, b)

    def fuse(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, c: Word) -> Word:
        """Return a * b + c, rounded once."""
        return lanes.float_fuse(a, b, c)

    def equal(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
        """Return a == b in every lane of each float."""
        return lanes.float_equal(a, b)

    def less(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
        """Return a < b in every lane of each float."""
        return lanes.float_less(a, b)

    def signs(self, lanes: NumberAlgebra[Word, Bit]) -> Word:
        """Return the vector of which only sign bits are set."""
        return lanes.word(0x80000000)

    def negated(self, lanes: NumberAlgebra[Word, Bit], value: Word) -> Word:
        """Return -value; a NaN stays as it is."""
        return lanes.select(self.equal(lanes, value, value), lanes.differ(value, self.signs(lanes)), value)


class _Doubles(VectorFloats):
    suffix, names, src = "pd", "doubles", WIDE_SRC
    arithmetic, fused = VectorFamily.DOUBLE, VectorFamily.DOUBLE_FUSED

    def source(self, lanes: NumberAlgebra[Word, Bit], operand: VectorSource) -> Word:
        return wide_source(lanes, operand)

    def write(self, lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
        wide_write(lanes, dst, value)

    def set_mask(self, lanes: NumberAlgebra[Word, Bit], result: MaskRegister, bits: Bit) -> None:
        set_mask(lanes, result, lanes.both(lanes.route(bits, _FIRST), lanes.pattern(_LOWER)))

    def add(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
        return joined(lanes, lanes.double_add(pair_of(lanes, a), pair_of(lanes, b)))

    def multiply(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
        return joined(lanes, lanes.double_multiply(pair_of(lanes, a), pair_of(lanes, b)))

    def fuse(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, c: Word) -> Word:
        return joined(lanes, lanes.double_fuse(pair_of(lanes, a), pair_of(lanes, b), pair_of(lanes, c)))

    def equal(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
        return lanes.double_equal(pair_of(lanes, a), pair_of(lanes, b))

    def less(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
        return lanes.double_less(pair_of(lanes, a), pair_of(lanes, b))

    def signs(self, lanes: NumberAlgebra[Word, Bit]) -> Word:
        return lanes.series([0, 0x80000000] * WIDE_LANES)


SINGLES = VectorFloats()
FORMATS: tuple[VectorFloats, VectorFloats] = (SINGLES, _Doubles())
"""Floats and doubles."""
