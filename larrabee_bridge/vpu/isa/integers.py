"""Integer arithmetic, logic, shifts, fields, compares of the vector unit."""

from __future__ import annotations

from larrabee_bridge.vpu.isa.declarations import (
    DST,
    K1,
    K2,
    KDST,
    RESULT,
    SRC,
    WIDE_SRC,
    A,
    K,
    R,
    VectorFamily,
    count,
    declare,
    described,
)
from larrabee_bridge.vpu.isa.meanings import (
    BitOperation,
    ComparisonMeaning,
    Type,
    WordOperation,
    masked,
    plus,
    set_mask,
    set_signs,
    source,
    wide_source,
    wide_write,
    write,
)
from larrabee_bridge.vpu.isa.operands import CARRY, LESS, ZERO, MaskRegister, Scalar, Vector, VectorSource
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra
from pixelflow.simd.units import Standing


def _minus(lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
    return lanes.add(a, lanes.complement(b), lanes.bit(True))[0]


def _smaller(lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
    return lanes.select(lanes.less(a, b, signed=True), a, b)


def _larger(lanes: NumberAlgebra[Word, Bit], a: Word, b: Word) -> Word:
    return lanes.select(lanes.less(a, b, signed=True), b, a)


def _operation(mnemonic: str, opcode: int, family: VectorFamily, operation: WordOperation, text: str) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, src: VectorSource) -> None:
        write(lanes, dst, operation(lanes, lanes.load(a.number), source(lanes, src, Type.INTEGER)))

    declare(mnemonic, opcode, DST, A, SRC, family=family)(described(meaning, text))


_operation("vaddpi", 0x20, VectorFamily.INTEGER, plus, "Add integers: dst = a + src modulo 2^32.")
_operation("vsubpi", 0x21, VectorFamily.INTEGER, _minus, "Subtract integers: dst = a - src modulo 2^32.")
_operation(
    "vsubrpi",
    0x22,
    VectorFamily.INTEGER,
    lambda lanes, a, b: _minus(lanes, b, a),
    "Subtract integers in reverse: dst = src - a modulo 2^32.",
)
_operation(
    "vmullpi",
    0x23,
    VectorFamily.INTEGER,
    lambda lanes, a, b: lanes.multiply(a, b, signed=True)[0],
    "Multiply integers, low half: dst = a * src modulo 2^32.",
)
_operation(
    "vmulhpi",
    0x24,
    VectorFamily.INTEGER,
    lambda lanes, a, b: lanes.multiply(a, b, signed=True)[1],
    "Multiply signed integers, high half: dst = a * src / 2^32, rounded down.",
)
_operation("vminpi", 0x25, VectorFamily.INTEGER, _smaller, "Smaller signed integer: dst = min(a, src).")
_operation("vmaxpi", 0x26, VectorFamily.INTEGER, _larger, "Larger signed integer: dst = max(a, src).")


def _logic(name: str, opcodes: tuple[int, int], operation: WordOperation, text: str) -> None:
    _operation(f"{name}pi", opcodes[0], VectorFamily.LOGIC, operation, f"{text}.")

    def meaning(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, src: VectorSource) -> None:
        wide_write(lanes, dst, operation(lanes, lanes.load(a.number), wide_source(lanes, src)))

    text = f"{text}, in lanes of 64 bits."
    declare(f"{name}pq", opcodes[1], DST, A, WIDE_SRC, family=VectorFamily.LOGIC)(described(meaning, text))


_logic("vand", (0x27, 0x8F), lambda lanes, a, b: lanes.both(a, b), "And: dst = a & src")
_logic("vor", (0x28, 0x90), lambda lanes, a, b: lanes.either(a, b), "Or: dst = a | src")
_logic("vxor", (0x29, 0x91), lambda lanes, a, b: lanes.differ(a, b), "Exclusive or: dst = a ^ src")
_logic("vandn", (0x2A, 0x92), lambda lanes, a, b: lanes.both(lanes.complement(a), b), "And not: dst = ~a & src")
_operation(
    "vsllpi",
    0x2B,
    VectorFamily.SHIFT,
    lambda lanes, a, b: lanes.shift_up(a, b),
    "Shift left: dst = a << src, lane by lane.\n\nAmounts of 32 and more give 0.",
)
_operation(
    "vsrlpi",
    0x2C,
    VectorFamily.SHIFT,
    lambda lanes, a, b: lanes.shift_down(a, b, signed=False),
    "Shift right, zeros coming in: dst = a >> src, lane by lane.\n\nAmounts of 32 and more give 0.",
)
_operation(
    "vsrapi",
    0x2D,
    VectorFamily.SHIFT,
    lambda lanes, a, b: lanes.shift_down(a, b, signed=True),
    "Shift right, the sign coming in: dst = a >> src, lane by lane.\n\nAmounts of 32 and more leave only the sign.",
)

# --- with carries in mask registers ----------------------------------------------------------------------------


def _carrying(mnemonic: str, opcode: int, text: str, *, subtract: bool, carry_in: bool) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], dst: Vector, k: MaskRegister, src: VectorSource) -> None:
        value, carry = source(lanes, src, Type.INTEGER), lanes.bit(False)
        if carry_in:
            carry = lanes.flag(f"k{k.number}")
        if subtract:
            # A borrow is a carry that is missing.
            value, carry = lanes.complement(value), lanes.complement(carry)
        total, carry = lanes.add(lanes.load(dst.number), value, carry)
        where = masked(lanes, dst)
        lanes.store(dst.number, total, where)
        lanes.set_flag(f"k{k.number}", lanes.complement(carry) if subtract else carry, where)

    declare(mnemonic, opcode, DST, K, SRC, family=VectorFamily.INTEGER)(described(meaning, text))


_UNDER = "\n\nLanes that are not written keep their bit of k."
_carrying("vadcpi", 0x2E, f"Add with carry: dst = dst + src + k, k = the carry.{_UNDER}", subtract=False, carry_in=True)
_carrying(
    "vsbbpi", 0x2F, f"Subtract with borrow: dst = dst - src - k, k = borrow out.{_UNDER}", subtract=True, carry_in=True
)
_carrying(
    "vaddsetcpi", 0x30, f"Add and set carry: dst = dst + src, k = the carry.{_UNDER}", subtract=False, carry_in=False
)
_carrying(
    "vsubsetbpi",
    0x31,
    f"Subtract and set borrow: dst = dst - src, k = borrow out.{_UNDER}",
    subtract=True,
    carry_in=False,
)


@declare("vaddsetspi", 0x32, DST, KDST, A, SRC, family=VectorFamily.INTEGER)
def vaddsetspi(lanes: NumberAlgebra[Word, Bit], dst: Vector, kdst: MaskRegister, a: Vector, src: VectorSource) -> None:
    """Add integers and set a mask to the signs: dst = a + src, kdst = sign bits of the sums.

    Made for edge values, whose signs say which side of an edge a block is on. Lanes that are not written get a clear
    bit in kdst (invented).
    """
    set_signs(lanes, dst, kdst, plus(lanes, lanes.load(a.number), source(lanes, src, Type.INTEGER)))


# --- compares --------------------------------------------------------------------------------------------------

_COMPARES: dict[str, tuple[int, str, ComparisonMeaning]] = {
    "eq": (0x33, "a == src", lambda lanes, a, b: lanes.equal(a, b)),
    "lt": (0x34, "a < src", lambda lanes, a, b: lanes.less(a, b, signed=True)),
    "le": (0x35, "a <= src", lambda lanes, a, b: lanes.complement(lanes.less(b, a, signed=True))),
    "neq": (0x36, "a != src", lambda lanes, a, b: lanes.complement(lanes.equal(a, b))),
    "nlt": (0x37, "a >= src", lambda lanes, a, b: lanes.complement(lanes.less(a, b, signed=True))),
    "nle": (0x38, "a > src", lambda lanes, a, b: lanes.less(b, a, signed=True)),
}


def _compare(name: str) -> None:
    opcode, condition, compare = _COMPARES[name]

    def meaning(lanes: NumberAlgebra[Word, Bit], result: MaskRegister, a: Vector, src: VectorSource) -> None:
        set_mask(lanes, result, compare(lanes, lanes.load(a.number), source(lanes, src, Type.INTEGER)))

    text = f"Compare signed integers: bits of result are set where {condition}."
    text += "\n\nUnder a mask, other lanes get a clear bit."
    declare(f"vcmp{name}pi", opcode, RESULT, A, SRC, family=VectorFamily.COMPARE)(described(meaning, text))


for _name in _COMPARES:
    _compare(_name)


@declare("vtestpi", 0x39, RESULT, A, SRC, family=VectorFamily.COMPARE)
def vtestpi(lanes: NumberAlgebra[Word, Bit], result: MaskRegister, a: Vector, src: VectorSource) -> None:
    """Test bits: bits of result are set where a & src is not 0. Under a mask, other lanes get a clear bit."""
    common = lanes.both(lanes.load(a.number), source(lanes, src, Type.INTEGER))
    set_mask(lanes, result, lanes.complement(lanes.equal(common, lanes.word(0))))


# --- fields ----------------------------------------------------------------------------------------------------

_RECALLED = Standing.INVENTED


@declare(
    "vinsertfieldpi",
    0x3A,
    *(DST, SRC, count("rotate", 0, 31), count("first", 0, 31), count("last", 0, 31)),
    family=VectorFamily.SHIFT,
    standing=_RECALLED,
)
def vinsertfieldpi(
    lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource, rotate: int, first: int, last: int
) -> None:
    """Rotate and insert: src rotated left by ``rotate`` replaces bits first to last of dst.

    That it rotates and inserts a field is published; how its constants are counted is invented.
    """
    value = source(lanes, src, Type.INTEGER)
    down = lanes.shift_down(value, lanes.word(32 - rotate), signed=False)
    rotated = lanes.either(lanes.shift_up(value, lanes.word(rotate)), down)
    field = sum(1 << bit for bit in range(first, last + 1))
    kept = lanes.both(lanes.load(dst.number), lanes.word(~field))
    write(lanes, dst, lanes.either(kept, lanes.both(rotated, lanes.word(field))))


def _interleave(mnemonic: str, opcode: int, from_a: int, text: str) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, src: VectorSource) -> None:
        words = {"a": lanes.load(a.number), "src": source(lanes, src, Type.INTEGER)}
        taken = dict.fromkeys(words, 0)
        out = lanes.word(0)
        for bit in range(32):
            name = "src" if bit % (from_a + 1) == 0 else "a"
            moved = lanes.shift_up(words[name], lanes.word(bit - taken[name]))
            out = lanes.either(out, lanes.both(moved, lanes.word(1 << bit)))
            taken[name] += 1
        write(lanes, dst, out)

    declare(mnemonic, opcode, DST, A, SRC, family=VectorFamily.SHIFT, standing=_RECALLED)(described(meaning, text))


_interleave(
    "vbitinterleave11pi",
    0x3B,
    1,
    "Interleave bits one and one: starting at the lowest, one bit of src, one of a.\n\nWhich comes first is invented.",
)
_interleave(
    "vbitinterleave21pi",
    0x3C,
    2,
    "Interleave bits two and one: starting at the lowest, one bit of src, two of a.\n\nWhich comes first is invented.",
)


# Mask registers: logic, moves from and to scalar registers, and the test for branches.


def _bits(lanes: NumberAlgebra[Word, Bit], operand: MaskRegister) -> Bit:
    return lanes.flag(f"k{operand.number}")


def _mask_logic(mnemonic: str, opcode: int, operation: BitOperation, text: str) -> None:
    def meaning(lanes: NumberAlgebra[Word, Bit], kdst: MaskRegister, k: MaskRegister) -> None:
        lanes.set_flag(f"k{kdst.number}", operation(lanes, _bits(lanes, kdst), _bits(lanes, k)))

    declare(mnemonic, opcode, KDST, K, family=VectorFamily.MASK)(described(meaning, text))


_mask_logic("kand", 0x56, lambda lanes, a, b: lanes.both(a, b), "And: kdst = kdst & k.")
_mask_logic("kandn", 0x57, lambda lanes, a, b: lanes.both(lanes.complement(a), b), "And not: kdst = ~kdst & k.")
_mask_logic(
    "kandnr", 0x58, lambda lanes, a, b: lanes.both(a, lanes.complement(b)), "And not, reversed: kdst = kdst & ~k."
)
_mask_logic("kor", 0x59, lambda lanes, a, b: lanes.either(a, b), "Or: kdst = kdst | k.")
_mask_logic("kxor", 0x5A, lambda lanes, a, b: lanes.differ(a, b), "Exclusive or: kdst = kdst ^ k.")
_mask_logic("kxnor", 0x5B, lambda lanes, a, b: lanes.complement(lanes.differ(a, b)), "Equal: kdst = ~(kdst ^ k).")
_mask_logic("knot", 0x5C, lambda lanes, a, b: lanes.complement(b), "Not: kdst = ~k.")
_mask_logic("kmov", 0x5D, lambda lanes, a, b: b, "Copy a mask register: kdst = k.")


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
