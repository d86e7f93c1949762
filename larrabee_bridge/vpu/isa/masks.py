"""Mask registers: logic among them, the way from and to scalar registers, and the test that branches look at."""

from __future__ import annotations

from larrabee_bridge.vpu.isa.declarations import K1, K2, KDST, K, R, VectorFamily, declare, described
from larrabee_bridge.vpu.isa.meanings import BitOperation
from larrabee_bridge.vpu.isa.operands import CARRY, LESS, ZERO, MaskRegister, Scalar
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import NumberAlgebra
from pixelflow.simd.units import Standing


def _bits(lanes: NumberAlgebra[Word, Bit], operand: MaskRegister) -> Bit:
    return lanes.flag(f"k{operand.number}")


def _logic(mnemonic: str, opcode: int, operation: BitOperation, text: str) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], kdst: MaskRegister, k: MaskRegister) -> None:
        lanes.set_flag(f"k{kdst.number}", operation(lanes, _bits(lanes, kdst), _bits(lanes, k)))

    declare(mnemonic, opcode, KDST, K, family=VectorFamily.MASK)(described(meaning, text))


_logic("kand", 0x56, lambda lanes, a, b: lanes.both(a, b), "And: kdst = kdst & k.")
_logic("kandn", 0x57, lambda lanes, a, b: lanes.both(lanes.complement(a), b), "And not: kdst = ~kdst & k.")
_logic("kandnr", 0x58, lambda lanes, a, b: lanes.both(a, lanes.complement(b)), "And not, reversed: kdst = kdst & ~k.")
_logic("kor", 0x59, lambda lanes, a, b: lanes.either(a, b), "Or: kdst = kdst | k.")
_logic("kxor", 0x5A, lambda lanes, a, b: lanes.differ(a, b), "Exclusive or: kdst = kdst ^ k.")
_logic("kxnor", 0x5B, lambda lanes, a, b: lanes.complement(lanes.differ(a, b)), "Equal: kdst = ~(kdst ^ k).")
_logic("knot", 0x5C, lambda lanes, a, b: lanes.complement(b), "Not: kdst = ~k.")
_logic("kmov", 0x5D, lambda lanes, a, b: b, "Copy a mask register: kdst = k.")


@declare("kortest", 0x5E, K1, K2, family=VectorFamily.MASK)
def kortest(lanes: NumberAlgebra[Word, Bit], k1: MaskRegister, k2: MaskRegister) -> None:
    """Test two masks: zero flag where k1 | k2 is all zeros, carry flag where it is all ones.

    The only instruction of the vector unit that sets the scalar flags.
    """
    number = lanes.collect(lanes.either(_bits(lanes, k1), _bits(lanes, k2)))
    lanes.set_flag(ZERO, lanes.equal(number, lanes.word(0)))
    lanes.set_flag(CARRY, lanes.equal(number, lanes.word(0xFFFF)))
    lanes.set_flag(LESS, lanes.bit(False))


@declare("kmovkr", 0x5F, R, K, family=VectorFamily.MASK, standing=Standing.INVENTED)
def kmovkr(lanes: NumberAlgebra[Word, Bit], r: Scalar, k: MaskRegister) -> None:
    """Copy a mask register into a scalar register: r = k, lane 0 in bit 0.

    That masks move to and from scalar registers directly is published, these two names are not.
    """
    lanes.write(f"r{r.number}", lanes.collect(_bits(lanes, k)))


@declare("kmovrk", 0x60, KDST, R, family=VectorFamily.MASK, standing=Standing.INVENTED)
def kmovrk(lanes: NumberAlgebra[Word, Bit], kdst: MaskRegister, r: Scalar) -> None:
    """Copy the low 16 bits of a scalar register into a mask register: kdst = r."""
    lanes.set_flag(f"k{kdst.number}", lanes.spread(lanes.read(f"r{r.number}")))
