"""The two formats of floats in a vector register: sixteen of 32 bits, or eight of 64 bits, each in two lanes.

A vector is one word a lane in both. Of eight lanes of 64 bits, lane i is the words 2 i (low) and 2 i + 1 (high); a
truth value that is worked out for it stands in both, and bit i of a mask register belongs to it. So what instructions
of both formats have in common is written once, over what a format does with whole vectors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from larrabee_bridge.vpu.isa.declarations import SRC, WIDE_SRC, VectorFamily
from larrabee_bridge.vpu.isa.meanings import Type, address, masked, plus, set_mask, source, write
from larrabee_bridge.vpu.isa.operands import (
    LANES,
    WIDE_LANES,
    MaskRegister,
    Memory,
    Replication,
    Swizzle,
    Vector,
    VectorSource,
)
from pixelflow.simd.isa.operands import OperandSpec
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import NumberAlgebra, Pair

__all__ = ["FORMATS", "SINGLES", "VectorFloats", "joined", "pair_of", "wide_mask", "wide_source", "wide_write"]

_LOW = [lane & ~1 for lane in range(LANES)]
_HIGH = [lane | 1 for lane in range(LANES)]
_EVEN = [lane % 2 == 0 for lane in range(LANES)]
_OWNER = [lane // 2 for lane in range(LANES)]
_FIRST = [2 * lane % LANES for lane in range(LANES)]
_LOWER = [lane < WIDE_LANES for lane in range(LANES)]


def pair_of(lanes: NumberAlgebra[Word, Bit], value: Word) -> Pair[Word]:
    """Return a vector as numbers of 64 bits; each stands in both of its lanes."""
    return lanes.route(value, _LOW), lanes.route(value, _HIGH)


def joined(lanes: NumberAlgebra[Word, Bit], pair: Pair[Word]) -> Word:
    """Return the vector of numbers of 64 bits that stand in both of their lanes."""
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
    """Return where an operand of 64-bit lanes is written: bit i of its mask register for lane i, or None for all."""
    where = masked(lanes, operand)
    return None if where is None else lanes.route(where, _OWNER)


def wide_write(lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
    """Write a vector register under its mask, a bit for each 64 bits."""
    lanes.store(dst.number, value, wide_mask(lanes, dst))


class VectorFloats(ABC):
    """Floats of one size in a vector, and what is done with them."""

    suffix: str
    """Of mnemonics."""
    names: str
    """What they are called in the manual."""
    src: OperandSpec
    arithmetic: VectorFamily
    fused: VectorFamily

    @abstractmethod
    def source(self, lanes: NumberAlgebra[Word, Bit], operand: VectorSource) -> Word:
        """Return the last source."""

    @abstractmethod
    def write(self, lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
        """Write a vector register under its mask."""

    @abstractmethod
    def set_mask(self, lanes: NumberAlgebra[Word, Bit], result: MaskRegister, bits: Bit) -> None:
        """Write a mask register to the result of a compare, clear where its own mask is clear."""

    @abstractmethod
    def add(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
        """Return a + b."""

    @abstractmethod
    def multiply(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
        """Return a * b."""

    @abstractmethod
    def fuse(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, c: Word) -> Word:
        """Return a * b + c, rounded once."""

    @abstractmethod
    def equal(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
        """Return whether a == b, in every lane of each float."""

    @abstractmethod
    def less(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
        """Return whether a < b, in every lane of each float."""

    @abstractmethod
    def signs(self, lanes: NumberAlgebra[Word, Bit]) -> Word:
        """Return the vector of which only sign bits are set."""

    def negated(self, lanes: NumberAlgebra[Word, Bit], value: Word) -> Word:
        """Return -value; a NaN stays as it is."""
        return lanes.select(self.equal(lanes, value, value), lanes.differ(value, self.signs(lanes)), value)


class _Singles(VectorFloats):
    suffix, names, src = "ps", "floats", SRC
    arithmetic, fused = VectorFamily.FLOAT, VectorFamily.FUSED

    def source(self, lanes: NumberAlgebra[Word, Bit], operand: VectorSource) -> Word:
        return source(lanes, operand, Type.FLOAT)

    def write(self, lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
        write(lanes, dst, value)

    def set_mask(self, lanes: NumberAlgebra[Word, Bit], result: MaskRegister, bits: Bit) -> None:
        set_mask(lanes, result, bits)

    def add(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
        return lanes.float_add(a, b)

    def multiply(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
        return lanes.float_multiply(a, b)

    def fuse(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, c: Word) -> Word:
        return lanes.float_fuse(a, b, c)

    def equal(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
        return lanes.float_equal(a, b)

    def less(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Bit:
        return lanes.float_less(a, b)

    def signs(self, lanes: NumberAlgebra[Word, Bit]) -> Word:
        return lanes.word(0x80000000)


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


SINGLES = _Singles()
FORMATS: tuple[VectorFloats, VectorFloats] = (SINGLES, _Doubles())
"""Floats and doubles."""
