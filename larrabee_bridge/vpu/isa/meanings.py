"""Meanings' common part: operands read and written, signs, addresses and masks, over the algebra of lanes."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from larrabee_bridge.vpu.isa.operands import (
    LANES,
    Conversion,
    MaskRegister,
    Memory,
    Replication,
    Scalar,
    Swizzle,
    Vector,
    VectorSource,
)
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import NumberAlgebra

__all__ = [
    "BitOperation",
    "ComparisonMeaning",
    "Type",
    "WordOperation",
    "address",
    "element_addresses",
    "masked",
    "plus",
    "scalar",
    "set_mask",
    "set_signs",
    "source",
    "write",
]


class Type(Enum):
    """What a load widens to."""

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
    """Return where an operand is written: the lanes of its mask register, or None for all."""
    return None if operand.mask is None else lanes.flag(f"k{operand.mask}")


def write(lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
    """Write a vector register under its mask; the other lanes keep what they had."""
    lanes.store(dst.number, value, masked(lanes, dst))


def set_signs(lanes: NumberAlgebra[Word, Bit], dst: Vector, kdst: MaskRegister, total: Word) -> None:
    """Write a vector under its mask, and a mask register to the sign bits of what was written."""
    where = masked(lanes, dst)
    signs = lanes.less(total, lanes.word(0), signed=True)
    lanes.store(dst.number, total, where)
    lanes.set_flag(f"k{kdst.number}", signs if where is None else lanes.both(signs, where))


def set_mask(lanes: NumberAlgebra[Word, Bit], result: MaskRegister, bits: Bit) -> None:
    """Write a mask register to the result of a compare, clear where its own mask is clear."""
    where = masked(lanes, result)
    lanes.set_flag(f"k{result.number}", bits if where is None else lanes.both(bits, where))
