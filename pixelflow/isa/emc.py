"""Byte instructions, enables and start-up of the PEs: declaration and meaning, one after the other.

The thesis prints four instruction names and no ALU; registers, flags, this instruction set and its rule of time (a
microinstruction takes one cycle and makes at most one memory access, a routine one more to start up) are invented. The
rule gives 16- and 32-bit sums 7 and 13 cycles, figures quoted from memory for a later library of the machine, which is
no evidence. That routines written with these instructions come near table 1 forces none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from pixelflow.isa.declarations import ENABLE_STACK, LATCH_STACK, Family, NodeDeclaration, Unit
from pixelflow.isa.operands import BYTE, MEMORY, REGISTER, SOURCE, Register
from pixelflow.simd.isa.declare import Declares, Flow, InstructionSet, Step
from pixelflow.simd.isa.operands import Imm, Mem, OperandSpec
from pixelflow.simd.lanes.algebra import Algebra, Bit, Word
from pixelflow.simd.units import Standing

Source = Register | Mem | Imm

INSTRUCTIONS = InstructionSet("pixelflow.isa", unit=Unit.PE, gate="E", kind=NodeDeclaration)

_USED = "no ALU is published; the routines of the library `plain`, which come near table 1, are written with it"
_UNUSED = "no ALU is published; no float arithmetic of the library `plain` executes it, so it buys nothing near table 1"
_ONE = "1"

_dst = OperandSpec("dst", REGISTER)
_src = OperandSpec("src", SOURCE)
_optional_src = OperandSpec("src", SOURCE, optional=True)
_address = OperandSpec("address", MEMORY)
_register = OperandSpec("register", REGISTER)
_byte = OperandSpec("byte", BYTE)


def _one(name: str, *, store: bool = False) -> Callable[..., tuple[Step, ...]]:
    """Steps of an instruction that takes one cycle whatever its operands."""
    steps = (Step(name, memory=store, store=store),)
    return lambda *operands: steps


_FETCH = {True: (Step("fetch and operate", memory=True),), False: (Step("operate"),)}


def _operate(dst: Register, src: object) -> tuple[Step, ...]:
    return _FETCH[isinstance(src, Mem)]


def fetch(pe: Algebra[Word, Bit], src: Source) -> Word:
    """Return the value of a source operand."""
    match src:
        case Register():
            return pe.read(src.name)
        case Mem(offset, None):
            return pe.load(offset)
        case Imm(value, None):
            return pe.word(value)
    raise ValueError(f"operand {src!r} still has a parameter base")


def _alu(mnemonic: str, opcode: int, family: Family, src: OperandSpec = _src) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic, opcode, _dst, src, family=family, steps=_operate, cost=_ONE, source=_USED, gateable=True
    )


# --- move ------------------------------------------------------------------------------------------------------


@_alu("LD", 0x10, Family.MOVE)
def ld(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Load: dst = src.

    The carry is untouched, so that loads may be inside multi-byte carry chains.
    """
    pe.write(dst.name, fetch(pe, src), where)


def _store(mnemonic: str, opcode: int, *operands: OperandSpec, source: str = _USED) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        *operands,
        family=Family.MOVE,
        steps=_one("store", store=True),
        cost=_ONE,
        source=source,
    )


@_store("ST", 0x11, _address, _register)
def st(pe: Algebra[Word, Bit], address: Mem, register: Register) -> None:
    """Store where enabled: MEM[address] = register in the PEs whose E is set."""
    pe.store(address.offset, pe.read(register.name), pe.flag("E"))


@_store("STA", 0x12, _address, _register)
def sta(pe: Algebra[Word, Bit], address: Mem, register: Register) -> None:
    """Store always: MEM[address] = register in every PE that the caller enabled (latch L), whatever E is now.

    For the scratch bytes of predicated code. Outside routines L is set in all PEs.
    """
    pe.store(address.offset, pe.read(register.name), pe.flag("L"))


@_store("STI", 0x13, _address, _byte, source=_UNUSED)
def sti(pe: Algebra[Word, Bit], address: Mem, byte: Imm) -> None:
    """Store immediate where enabled: MEM[address] = byte in the PEs whose E is set."""
    pe.store(address.offset, pe.word(byte.value), pe.flag("E"))


@_store("STE", 0x14, _address, source=_UNUSED)
def ste(pe: Algebra[Word, Bit], address: Mem) -> None:
    """Store the enable: MEM[address] = 1 where E is set, 0 elsewhere, in every PE that the caller enabled (L)."""
    pe.store(address.offset, pe.select(pe.flag("E"), pe.word(1), pe.word(0)), pe.flag("L"))


# --- arithmetic ------------------------------------------------------------------------------------------------


@_alu("ADD", 0x20, Family.ARITHMETIC)
def add(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Add: {C, dst} = dst + src."""
    total, carry = pe.add(pe.read(dst.name), fetch(pe, src), pe.bit(False))
    pe.write(dst.name, total, where)
    pe.set_flag("C", carry, where)


@_alu("ADC", 0x21, Family.ARITHMETIC)
def adc(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Add with carry: {C, dst} = dst + src + C."""
    total, carry = pe.add(pe.read(dst.name), fetch(pe, src), pe.flag("C"))
    pe.write(dst.name, total, where)
    pe.set_flag("C", carry, where)


@_alu("SUB", 0x22, Family.ARITHMETIC)
def sub(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Subtract: {C, dst} = dst + not src + 1; C = 1 means that there was no borrow (dst >= src)."""
    total, carry = pe.add(pe.read(dst.name), pe.complement(fetch(pe, src)), pe.bit(True))
    pe.write(dst.name, total, where)
    pe.set_flag("C", carry, where)


@_alu("SBC", 0x23, Family.ARITHMETIC)
def sbc(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Subtract with carry: {C, dst} = dst + not src + C; C = 0 coming in means a borrow from the byte below."""
    total, carry = pe.add(pe.read(dst.name), pe.complement(fetch(pe, src)), pe.flag("C"))
    pe.write(dst.name, total, where)
    pe.set_flag("C", carry, where)


@_alu("CMP", 0x24, Family.ARITHMETIC)
def cmp(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Compare: C as SUB leaves it (dst >= src), dst is kept. ``CMP r, #1`` tests for not zero."""
    _, carry = pe.add(pe.read(dst.name), pe.complement(fetch(pe, src)), pe.bit(True))
    pe.set_flag("C", carry, where)


@_alu("CMPC", 0x25, Family.ARITHMETIC)
def cmpc(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Compare with carry: C as SBC leaves it, dst is kept; continues a CMP on the next higher byte."""
    _, carry = pe.add(pe.read(dst.name), pe.complement(fetch(pe, src)), pe.flag("C"))
    pe.set_flag("C", carry, where)


# --- logic -----------------------------------------------------------------------------------------------------


@_alu("AND", 0x28, Family.LOGIC)
def and_(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """And: dst = dst and src; the carry is untouched."""
    pe.write(dst.name, pe.both(pe.read(dst.name), fetch(pe, src)), where)


@_alu("OR", 0x29, Family.LOGIC)
def or_(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Or: dst = dst or src; the carry is untouched."""
    pe.write(dst.name, pe.either(pe.read(dst.name), fetch(pe, src)), where)


@_alu("XOR", 0x2A, Family.LOGIC)
def xor(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Exclusive or: dst = dst xor src; the carry is untouched."""
    pe.write(dst.name, pe.differ(pe.read(dst.name), fetch(pe, src)), where)


# --- shift -----------------------------------------------------------------------------------------------------


@_alu("SHL", 0x30, Family.SHIFT, _optional_src)
def shl(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Shift left: dst = src << 1 with 0 at the bottom, the top bit of src goes to C.

    The shifter sits after the operand multiplexer, so loading and shifting a memory byte is one cycle.
    """
    value, out = pe.shift_left(fetch(pe, src), pe.bit(False))
    pe.write(dst.name, value, where)
    pe.set_flag("C", out, where)


@_alu("SHR", 0x31, Family.SHIFT, _optional_src)
def shr(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Shift right: dst = src >> 1 with 0 at the top, the bottom bit of src goes to C."""
    value, out = pe.shift_right(fetch(pe, src), pe.bit(False))
    pe.write(dst.name, value, where)
    pe.set_flag("C", out, where)


@_alu("ROL", 0x32, Family.SHIFT, _optional_src)
def rol(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Rotate left through carry: dst = src << 1 with C at the bottom, the top bit of src goes to C."""
    value, out = pe.shift_left(fetch(pe, src), pe.flag("C"))
    pe.write(dst.name, value, where)
    pe.set_flag("C", out, where)


@_alu("ROR", 0x33, Family.SHIFT, _optional_src)
def ror(pe: Algebra[Word, Bit], dst: Register, src: Source, *, where: Bit | None) -> None:
    """Rotate right through carry: dst = src >> 1 with C at the top, the bottom bit of src goes to C."""
    value, out = pe.shift_right(fetch(pe, src), pe.flag("C"))
    pe.write(dst.name, value, where)
    pe.set_flag("C", out, where)


def _pair(mnemonic: str, opcode: int, family: Family, source: str = _UNUSED) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic, opcode, family=family, steps=_one("shift pair"), cost=_ONE, source=source, gateable=True
    )


@_pair("SHLP", 0x34, Family.SHIFT)
def shlp(pe: Algebra[Word, Bit], *, where: Bit | None) -> None:
    """Shift pair left: the 16-bit pair {R, S} moves up by one with 0 at the bottom, the top bit of R goes to C."""
    low, middle = pe.shift_left(pe.read("S"), pe.bit(False))
    high, out = pe.shift_left(pe.read("R"), middle)
    pe.write("S", low, where)
    pe.write("R", high, where)
    pe.set_flag("C", out, where)


@_pair("SHRP", 0x35, Family.SHIFT)
def shrp(pe: Algebra[Word, Bit], *, where: Bit | None) -> None:
    """Shift pair right: the 16-bit pair {R, S} moves down by one with 0 at the top, the bottom bit of S goes to C."""
    high, middle = pe.shift_right(pe.read("R"), pe.bit(False))
    low, out = pe.shift_right(pe.read("S"), middle)
    pe.write("R", high, where)
    pe.write("S", low, where)
    pe.set_flag("C", out, where)


@_pair("MSTEP", 0x36, Family.MULTIPLY, _USED)
def mstep(pe: Algebra[Word, Bit], *, where: Bit | None) -> None:
    """Multiply step: t = R + (bottom bit of S ? M : 0), 9 bits; then {R, S} = {t, S} >> 1. The carry is untouched.

    Eight of them give {R, S} = R + S * M of the values before, which never overflows 16 bits.
    """
    multiplier, low = pe.shift_right(pe.read("S"), pe.bit(False))
    total, carry = pe.add(pe.read("R"), pe.select(low, pe.read("M"), pe.word(0)), pe.bit(False))
    high, middle = pe.shift_right(total, carry)
    pe.write("R", high, where)
    pe.write("S", pe.either(multiplier, pe.select(middle, pe.word(0x80), pe.word(0))), where)


# --- enable ----------------------------------------------------------------------------------------------------


def _enable(
    mnemonic: str, opcode: int, standing: Standing = Standing.INVENTED, source: str = _USED, pushes: int = 0
) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        family=Family.ENABLE,
        steps=_one("enable"),
        cost=_ONE,
        standing=standing,
        source=source,
        pushes=pushes,
    )


@_enable(
    "EMC_SetEnab",
    0x40,
    Standing.THESIS,
    "figure 4; that it executes in its start-up cycle is invented, as one way to tables 3 and 4",
)
def set_enab(pe: Algebra[Word, Bit]) -> None:
    """Enable all PEs: E = L.

    Outside routines L is set everywhere, so this enables the whole array; inside a routine it enables exactly the
    PEs that the caller had enabled.
    """
    pe.set_flag("E", pe.flag("L"))


@_enable("EC", 0x41)
def ec(pe: Algebra[Word, Bit]) -> None:
    """Enable on carry: E = C, within L."""
    pe.set_flag("E", pe.both(pe.flag("L"), pe.flag("C")))


@_enable("ENC", 0x42)
def enc(pe: Algebra[Word, Bit]) -> None:
    """Enable on no carry: E = not C, within L."""
    pe.set_flag("E", pe.both(pe.flag("L"), pe.complement(pe.flag("C"))))


@_enable("EANDC", 0x43)
def eandc(pe: Algebra[Word, Bit]) -> None:
    """Keep enabled on carry: E = E and C."""
    pe.set_flag("E", pe.both(pe.flag("E"), pe.flag("C")))


@_enable("EANDNC", 0x44)
def eandnc(pe: Algebra[Word, Bit]) -> None:
    """Keep enabled on no carry: E = E and not C."""
    pe.set_flag("E", pe.both(pe.flag("E"), pe.complement(pe.flag("C"))))


@_enable("EORC", 0x45)
def eorc(pe: Algebra[Word, Bit]) -> None:
    """Enable more on carry: E = E or C, within L."""
    pe.set_flag("E", pe.both(pe.flag("L"), pe.either(pe.flag("E"), pe.flag("C"))))


@_enable("EORNC", 0x46)
def eornc(pe: Algebra[Word, Bit]) -> None:
    """Enable more on no carry: E = E or not C, within L."""
    pe.set_flag("E", pe.both(pe.flag("L"), pe.either(pe.flag("E"), pe.complement(pe.flag("C")))))


@_enable("ENOT", 0x47)
def enot(pe: Algebra[Word, Bit]) -> None:
    """Enable the others: E = not E, within L."""
    pe.set_flag("E", pe.both(pe.flag("L"), pe.complement(pe.flag("E"))))


def _push(pe: Algebra[Word, Bit], stack: tuple[str, ...], value: str) -> None:
    for deeper, upper in pairwise(reversed(stack)):
        pe.set_flag(deeper, pe.flag(upper))
    pe.set_flag(stack[0], pe.flag(value))


def _drop(pe: Algebra[Word, Bit], stack: tuple[str, ...]) -> None:
    for upper, deeper in pairwise(stack):
        pe.set_flag(upper, pe.flag(deeper))


@_enable("EPUSH", 0x48, pushes=1)
def epush(pe: Algebra[Word, Bit]) -> None:
    """Save the enable on the enable stack (4 deep; a fifth push is a machine fault). E is kept."""
    _push(pe, ENABLE_STACK, "E")


@_enable("EPOP", 0x49, pushes=-1)
def epop(pe: Algebra[Word, Bit]) -> None:
    """Restore the enable from the stack, within L: E = popped and L. Popping an empty stack is a machine fault."""
    pe.set_flag("E", pe.both(pe.flag("L"), pe.flag(ENABLE_STACK[0])))
    _drop(pe, ENABLE_STACK)


# --- start-up --------------------------------------------------------------------------------------------------


@INSTRUCTIONS.instruction(
    "START",
    0x08,
    family=Family.STARTUP,
    flow=Flow.START,
    steps=_one("start-up"),
    cost=_ONE,
    source="a cycle to start up a routine, as table 4 can be read for the LEE; of routines nothing is printed",
)
def start(pe: Algebra[Word, Bit]) -> None:
    """Start an EMC instruction: the first microinstruction of every routine.

    Latches the caller's enable: L is saved on the latch stack and becomes E. Until the routine returns, STA and all
    enable instructions act only within L, so that a PE which the caller disabled keeps all its bytes.
    """
    _push(pe, LATCH_STACK, "L")
    pe.set_flag("L", pe.flag("E"))


def unlatch(pe: Algebra[Word, Bit]) -> None:
    """Return from a started routine: L is the caller's latch again (part of RET, no cycle)."""
    pe.set_flag("L", pe.flag(LATCH_STACK[0]))
    _drop(pe, LATCH_STACK)
