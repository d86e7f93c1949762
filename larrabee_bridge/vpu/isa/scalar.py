"""The scalar instructions that vector programs need: arithmetic, bit scans, memory, branches.

Scalar registers have 32 bits here. Arithmetic sets three flags: zero, carry (of an unsigned result), and less (the
exact signed result is negative).
"""

from __future__ import annotations

from typing import Protocol

from larrabee_bridge.vpu.isa.declarations import INDEX, TARGET, WHERE, Pipe, R, S, VectorFamily, declare, described
from larrabee_bridge.vpu.isa.meanings import WordOperation, address, plus, scalar
from larrabee_bridge.vpu.isa.operands import CARRY, LESS, NEXT, STOPPED, ZERO, Memory, Scalar
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra
from pixelflow.simd.units import Standing

_X86 = "Seiler et al. 2008, 3.2: the Pentium's scalar instructions"


class _FlaggedOperation(Protocol):
    """A word made of two words, with the flags for carry and less."""

    def __call__(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, /) -> tuple[Word, Bit, Bit]: ...


class _Search(Protocol):
    """Remaining ``bits`` past ``index``, and the nearest set bit of them alone."""

    def __call__(self, lanes: NumberAlgebra[Word, Bit], index: Word, bits: Word, /) -> tuple[Word, Word]: ...


def _put(lanes: NumberAlgebra[Word, Bit], r: Scalar, value: Word) -> None:
    lanes.write(f"r{r.number}", value)


def _flags(lanes: NumberAlgebra[Word, Bit], value: Word, carry: Bit, less: Bit) -> None:
    lanes.set_flag(ZERO, lanes.equal(value, lanes.word(0)))
    lanes.set_flag(CARRY, carry)
    lanes.set_flag(LESS, less)


def _negative(lanes: NumberAlgebra[Word, Bit], value: Word) -> Bit:
    return lanes.less(value, lanes.word(0), signed=True)


def _sum(lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> tuple[Word, Bit, Bit]:
    total, carry = lanes.add(a, b, lanes.bit(False))
    overflow = lanes.both(lanes.complement(lanes.differ(a, b)), lanes.differ(a, total))
    return total, carry, lanes.differ(_negative(lanes, total), _negative(lanes, overflow))


def _difference(lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> tuple[Word, Bit, Bit]:
    total = lanes.add(a, lanes.complement(b), lanes.bit(True))[0]
    return total, lanes.less(a, b, signed=False), lanes.less(a, b, signed=True)


def _plain(operation: WordOperation) -> _FlaggedOperation:
    def result(lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> tuple[Word, Bit, Bit]:
        value = operation(lanes, a, b)
        return value, lanes.bit(False), _negative(lanes, value)

    return result


def _arithmetic(
    mnemonic: str, opcode: int, operation: _FlaggedOperation, text: str, *, kept: bool = True, pipe: Pipe = Pipe.EITHER
) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], r: Scalar, s: Scalar | int) -> None:
        value, carry, less = operation(lanes, lanes.read(f"r{r.number}"), scalar(lanes, s))
        _flags(lanes, value, carry, less)
        if kept:
            _put(lanes, r, value)

    declare(mnemonic, opcode, R, S, family=VectorFamily.SCALAR, pipe=pipe, source=_X86)(described(meaning, text))


@declare("mov", 0x3D, R, S, family=VectorFamily.SCALAR, pipe=Pipe.EITHER, source=_X86)
def mov(lanes: NumberAlgebra[Word, Bit], r: Scalar, s: Scalar | int) -> None:
    """Copy: r = s. No flag changes."""
    _put(lanes, r, scalar(lanes, s))


_arithmetic("add", 0x3E, _sum, "Add: r = r + s.")
_arithmetic("sub", 0x3F, _difference, "Subtract: r = r - s; carry is a borrow.")
_arithmetic("cmp", 0x40, _difference, "Compare: sets the flags of r - s.", kept=False)
_arithmetic("and", 0x41, _plain(lambda lanes, a, b: lanes.both(a, b)), "And: r = r & s.")
_arithmetic("or", 0x42, _plain(lambda lanes, a, b: lanes.either(a, b)), "Or: r = r | s.")
_arithmetic("xor", 0x43, _plain(lambda lanes, a, b: lanes.differ(a, b)), "Exclusive or: r = r ^ s.")
_arithmetic(
    "test", 0x44, _plain(lambda lanes, a, b: lanes.both(a, b)), "Test bits: sets the flags of r & s.", kept=False
)
_arithmetic(
    "shl",
    0x45,
    _plain(lambda lanes, a, b: lanes.shift_up(a, lanes.both(b, lanes.word(31)))),
    "Shift left by the low five bits of s: r = r << s. The carry is cleared.",
)
_arithmetic(
    "shr",
    0x46,
    _plain(lambda lanes, a, b: lanes.shift_down(a, lanes.both(b, lanes.word(31)), signed=False)),
    "Shift right, zeros coming in, by the low five bits of s: r = r >> s. The carry is cleared.",
)
_arithmetic(
    "sar",
    0x47,
    _plain(lambda lanes, a, b: lanes.shift_down(a, lanes.both(b, lanes.word(31)), signed=True)),
    "Shift right, the sign coming in, by the low five bits of s: r = r >> s. The carry is cleared.",
)
_arithmetic(
    "imul",
    0x48,
    _plain(lambda lanes, a, b: lanes.multiply(a, b, signed=True)[0]),
    "Multiply: r = r * s modulo 2^32. The carry is cleared.",
    pipe=Pipe.PRIMARY,
)


@declare("load", 0x49, R, WHERE, family=VectorFamily.SCALAR, pipe=Pipe.EITHER, source=_X86)
def load(lanes: NumberAlgebra[Word, Bit], r: Scalar, where: Memory) -> None:
    """Load the word at [where] into a scalar register."""
    _put(lanes, r, lanes.fetch(address(lanes, where), 4))


@declare("store", 0x4A, WHERE, R, family=VectorFamily.SCALAR, pipe=Pipe.EITHER, source=_X86)
def store(lanes: NumberAlgebra[Word, Bit], where: Memory, r: Scalar) -> None:
    """Store a scalar register in the word at [where]."""
    lanes.put(address(lanes, where), lanes.read(f"r{r.number}"), 4)


# --- bits ------------------------------------------------------------------------------------------------------


def _bit_number(lanes: NumberAlgebra[Word, Bit], single: Word) -> Word:
    """Return the number of the only set bit, by way of the exponent of a float, which is exact."""
    exponent = lanes.shift_down(lanes.to_float(single, signed=False), lanes.word(23), signed=False)
    return lanes.both(plus(lanes, exponent, lanes.word(-127)), lanes.word(0xFF))


def _less_one(lanes: NumberAlgebra[Word, Bit], value: Word) -> Word:
    return plus(lanes, value, lanes.word(-1))


def _next_up(lanes: NumberAlgebra[Word, Bit], index: Word, bits: Word) -> tuple[Word, Word]:
    below = _less_one(lanes, lanes.shift_up(lanes.word(1), plus(lanes, index, lanes.word(1))))
    left = lanes.both(bits, lanes.complement(below))
    return left, lanes.both(left, lanes.add(lanes.complement(left), lanes.word(0), lanes.bit(True))[0])


def _next_down(lanes: NumberAlgebra[Word, Bit], index: Word, bits: Word) -> tuple[Word, Word]:
    left = lanes.both(bits, _less_one(lanes, lanes.shift_up(lanes.word(1), index)))
    smeared = left
    for step in (1, 2, 4, 8, 16):
        smeared = lanes.either(smeared, lanes.shift_down(smeared, lanes.word(step), signed=False))
    return left, lanes.differ(smeared, lanes.shift_down(smeared, lanes.word(1), signed=False))


def _scan(mnemonic: str, opcode: int, find: _Search, text: str) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], index: Scalar, s: Scalar | int) -> None:
        name = f"r{index.number}"
        before = lanes.read(name)
        left, single = find(lanes, before, scalar(lanes, s))
        none = lanes.equal(left, lanes.word(0))
        lanes.write(name, lanes.select(none, before, _bit_number(lanes, single)))
        lanes.set_flag(ZERO, none)

    declare(mnemonic, opcode, INDEX, S, family=VectorFamily.SCALAR, pipe=Pipe.PRIMARY, standing=Standing.INVENTED)(
        described(meaning, text)
    )


_RULE = "\n\nThat the scan continues from the destination is published; that it excludes the bit itself is recalled."
_scan(
    "bsfi",
    0x4B,
    _next_up,
    "Next set bit upwards: index = lowest set bit of s above index; -1 begins. Zero flag where there is none." + _RULE,
)
_scan(
    "bsri",
    0x4C,
    _next_down,
    "Next set bit downwards: index = highest set bit of s below index; 32 begins. Zero flag where there is none."
    + _RULE,
)


@declare("popcnt", 0x4D, R, S, family=VectorFamily.SCALAR, pipe=Pipe.PRIMARY)
def popcnt(lanes: NumberAlgebra[Word, Bit], r: Scalar, s: Scalar | int) -> None:
    """Count bits: r = how many bits of s are set."""
    value = scalar(lanes, s)
    for step, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        shifted = lanes.shift_down(value, lanes.word(step), signed=False)
        value = plus(lanes, lanes.both(value, lanes.word(mask)), lanes.both(shifted, lanes.word(mask)))
    _put(lanes, r, value)


# --- branches --------------------------------------------------------------------------------------------------


def _branch(mnemonic: str, opcode: int, flag: str, wanted: bool, text: str) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], target: int) -> None:
        where = lanes.flag(flag)
        lanes.write(NEXT, lanes.word(target), where if wanted else lanes.complement(where))

    declare(mnemonic, opcode, TARGET, family=VectorFamily.BRANCH, pipe=Pipe.EITHER, source=_X86)(
        described(meaning, text)
    )


@declare("jmp", 0x4E, TARGET, family=VectorFamily.BRANCH, pipe=Pipe.EITHER, source=_X86)
def jmp(lanes: NumberAlgebra[Word, Bit], target: int) -> None:
    """Continue at the target."""
    lanes.write(NEXT, lanes.word(target))


_branch("jz", 0x4F, ZERO, True, "Continue at the target where the zero flag is set.")
_branch("jnz", 0x50, ZERO, False, "Continue at the target where the zero flag is clear.")
_branch("jc", 0x51, CARRY, True, "Continue at the target where the carry flag is set: below, or a mask of all ones.")
_branch("jnc", 0x52, CARRY, False, "Continue at the target where the carry flag is clear.")
_branch("jl", 0x53, LESS, True, "Continue at the target where the result was negative: r < s after cmp.")
_branch("jge", 0x54, LESS, False, "Continue at the target where the result was not negative: r >= s after cmp.")


@declare("halt", 0x55, family=VectorFamily.BRANCH, pipe=Pipe.EITHER, source="invented", standing=Standing.INVENTED)
def halt(lanes: NumberAlgebra[Word, Bit]) -> None:
    """End the thread."""
    lanes.write(NEXT, lanes.word(STOPPED))
