"""Instructions of the linear expression evaluator: loads, compares and its coordinate registers.

The LEE forms A*x + B*y + C (`affine` of the lanes) in every PE, one byte a cycle, low byte first; with the start-up
cycle a value of n bytes takes n + 1 cycles (fitted to table 4; the 700 GB/s of thesis 2.2.4 fit it too). The value is
taken modulo 2^(8 n) in two's complement; precision and the behaviour on overflow are invented.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pixelflow.isa.declarations import Family, Unit
from pixelflow.isa.emc import INSTRUCTIONS
from pixelflow.isa.operands import COEFFICIENT, MEMORY
from pixelflow.simd.isa.declare import Declares, Step
from pixelflow.simd.isa.operands import Count, Mem, OperandSpec
from pixelflow.simd.lanes.algebra import Algebra, Bit, Word
from pixelflow.simd.units import Standing

_START = Step("start-up")
_FIT = "n + 1 cycles for n bytes: table 4; the name family follows figure 4"

_address = OperandSpec("address", MEMORY, sized_by="bytes")
_reserved = OperandSpec("p", Count(0, 0))
_bytes = OperandSpec("bytes", Count(1, 8))
_coefficients = tuple(OperandSpec(name, COEFFICIENT) for name in "ABC")


class CoefficientMemory(Protocol):
    """The registers of the LEE by module, EMC, name and index, as instructions use them."""

    def write(self, module: int, emc: int, register: str, index: int, value: int) -> None: ...


def _tree_steps(step: Step) -> Callable[..., tuple[Step, ...]]:
    return lambda first, count, a, b, c: (_START, *[step] * count)


_EVALUATE = Step("evaluate a byte", evaluate=True)
_STORE = Step("evaluate and store a byte", memory=True, store=True, evaluate=True)
_FETCH = Step("evaluate and fetch a byte", memory=True, evaluate=True)


def _tree(mnemonic: str, opcode: int, first: OperandSpec, *, step: Step = _EVALUATE, thesis: bool = False) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        first,
        _bytes,
        *_coefficients,
        family=Family.LEE,
        steps=_tree_steps(step),
        cost="bytes + 1",
        standing=Standing.FITTED if thesis else Standing.INVENTED,
        source=_FIT,
    )


@_tree("EMC_TreeIntoMem_Li", 0x50, _address, step=_STORE, thesis=True)
def tree_into_mem(pe: Algebra[Word, Bit], address: Mem, count: int, a: int, b: int, c: int) -> None:
    """Load A*x + B*y + C into memory: the low ``bytes`` bytes of the value, low byte first, where E is set."""
    for index, value in enumerate(pe.affine(a, b, c, count)):
        pe.store(address.offset + index, value, pe.flag("E"))


_ADD = Step("evaluate, fetch and add", memory=True, evaluate=True)


def _add_steps(first: Mem, count: int, a: int, b: int, c: int) -> tuple[Step, ...]:
    return (_START, *(_ADD, Step("store", memory=True, store=True)) * count)


@INSTRUCTIONS.instruction(
    "EMC_TreeAddMem_Li",
    0x51,
    _address,
    _bytes,
    *_coefficients,
    family=Family.LEE,
    steps=_add_steps,
    cost="2 bytes + 1",
    source="one memory port: a byte is fetched in one cycle and stored in the next",
)
def tree_add_mem(pe: Algebra[Word, Bit], address: Mem, count: int, a: int, b: int, c: int) -> None:
    """Add A*x + B*y + C to the ``bytes``-byte number in memory, where E is set; C is the carry of the top byte."""
    enabled, carry = pe.flag("E"), pe.bit(False)
    for index, value in enumerate(pe.affine(a, b, c, count)):
        total, carry = pe.add(pe.load(address.offset + index), value, carry)
        pe.store(address.offset + index, total, enabled)
    pe.set_flag("C", carry, enabled)


def _negative(pe: Algebra[Word, Bit], words: list[Word]) -> Bit:
    _, sign = pe.shift_left(words[-1], pe.bit(False))
    return sign


def _not_zero(pe: Algebra[Word, Bit], words: list[Word]) -> Bit:
    any_bit = words[0]
    for word in words[1:]:
        any_bit = pe.either(any_bit, word)
    _, carry = pe.add(any_bit, pe.word(0xFF), pe.bit(False))
    return carry


def _keep(pe: Algebra[Word, Bit], condition: Bit) -> None:
    pe.set_flag("E", pe.both(pe.flag("E"), condition))


@_tree("EMC_TreeLTZero_Li", 0x52, _reserved, thesis=True)
def tree_lt_zero(pe: Algebra[Word, Bit], p: int, count: int, a: int, b: int, c: int) -> None:
    """Keep enabled where A*x + B*y + C < 0 (sign of the ``bytes``-byte value); the others are disabled.

    The thesis prints a first operand p without saying what it is (figure 4); here it must be 0. Figure 4 disables
    PEs whose result is >= 0, section 2.2.2 of the thesis those whose result is < 0: figure 4 is followed.
    """
    _keep(pe, _negative(pe, pe.affine(a, b, c, count)))


@_tree("EMC_TreeGEZero_Li", 0x53, _reserved)
def tree_ge_zero(pe: Algebra[Word, Bit], p: int, count: int, a: int, b: int, c: int) -> None:
    """Keep enabled where A*x + B*y + C >= 0 (sign of the ``bytes``-byte value); the others are disabled."""
    _keep(pe, pe.complement(_negative(pe, pe.affine(a, b, c, count))))


@_tree("EMC_TreeEQZero_Li", 0x54, _reserved)
def tree_eq_zero(pe: Algebra[Word, Bit], p: int, count: int, a: int, b: int, c: int) -> None:
    """Keep enabled where the ``bytes``-byte value of A*x + B*y + C is 0; the others are disabled."""
    _keep(pe, pe.complement(_not_zero(pe, pe.affine(a, b, c, count))))


@_tree("EMC_TreeNEZero_Li", 0x55, _reserved)
def tree_ne_zero(pe: Algebra[Word, Bit], p: int, count: int, a: int, b: int, c: int) -> None:
    """Keep enabled where the ``bytes``-byte value of A*x + B*y + C is not 0; the others are disabled."""
    _keep(pe, _not_zero(pe, pe.affine(a, b, c, count)))


def _tree_not_below(pe: Algebra[Word, Bit], address: Mem, count: int, a: int, b: int, c: int) -> Bit:
    carry = pe.bit(True)
    for index, value in enumerate(pe.affine(a, b, c, count)):
        _, carry = pe.add(value, pe.complement(pe.load(address.offset + index)), carry)
    return carry


@_tree("EMC_TreeLTMem_Li", 0x56, _address, step=_FETCH)
def tree_lt_mem(pe: Algebra[Word, Bit], address: Mem, count: int, a: int, b: int, c: int) -> None:
    """Keep enabled where the value of A*x + B*y + C is below the number in memory; both unsigned, ``bytes`` bytes.

    The depth test of a rasterizer whose nearer surfaces have smaller Z.
    """
    _keep(pe, pe.complement(_tree_not_below(pe, address, count, a, b, c)))


@_tree("EMC_TreeGEMem_Li", 0x57, _address, step=_FETCH)
def tree_ge_mem(pe: Algebra[Word, Bit], address: Mem, count: int, a: int, b: int, c: int) -> None:
    """Keep enabled where the value of A*x + B*y + C is at or above the number in memory; both unsigned."""
    _keep(pe, _tree_not_below(pe, address, count, a, b, c))


LEE_REGISTERS = ("xe", "ye", "xp", "yp", "xs", "ys")
"""The six register sets of thesis 2.2.9, in the order of their numbers in EMC_SetLEE."""


@INSTRUCTIONS.instruction(
    "EMC_SetLEE",
    0x58,
    OperandSpec("module", Count(0, 7)),
    OperandSpec("emc", Count(0, 7)),
    OperandSpec("register", Count(0, len(LEE_REGISTERS) - 1)),
    OperandSpec("index", Count(0, 15)),
    OperandSpec("value", Count(0, 255)),
    family=Family.LEE,
    unit=Unit.LEE,
    steps=lambda *operands: (Step("write a register"),),
    cost="1",
    source="the registers are thesis 2.2.9; how they are loaded is not printed",
)
def set_lee(lee: CoefficientMemory, module: int, emc: int, register: int, index: int, value: int) -> None:
    """Write one coordinate register of one EMC's linear expression evaluator.

    register: 0 xe, 1 ye (2 bits, index 0), 2 xp (8 bits, index 0..15), 3 yp (7 bits, index 0..7, the panel),
    4 xs, 5 ys (4 bits, index 0..7). A value wider than the register is a machine fault. EMCs starting at 8, which the
    thesis does not have, keep what they hold at power-up.
    """
    lee.write(module, emc, LEE_REGISTERS[register], index, value)
