"""Meaning: the instructions, each declared once with what it does."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Protocol

from gen6_bridge.isa.assembly_text import TextShape
from gen6_bridge.isa.declarations import DST, MESSAGE, SRC0, SRC1, THREE, EuFamily, EuUnit, declare, described
from gen6_bridge.isa.execution import ACC_FLOAT, CHANNELS, Execution, elements
from gen6_bridge.isa.integers import Integer
from gen6_bridge.isa.operands import (
    REGISTER_BYTES,
    Controls,
    EuDestination,
    EuMessage,
    EuType,
    ExecutionType,
    File,
    IndirectAddress,
    Source,
    SourceRegion,
)
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import Elementary, NumberAlgebra, Rounding
from pixelflow.simd.units import Standing

# Arithmetic on integers and floats: sums, products, averages, sums of products in the accumulator.


_NO_RULE = "recalled: no public rule"


@declare("add", 64, DST, SRC0, SRC1, family=EuFamily.ARITHMETIC)
def _add(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Add: dst = src0 + src1, exact before it is converted; floats are rounded once."""
    if run.execution_type(src0, src1) is ExecutionType.F:
        run.give_float(dst, run.lanes.float_add(run.float(src0), run.float(src1)))
    else:
        run.give_integer(dst, run.integers.sum(run.integer(src0), run.integer(src1)))


def _factors(run: Execution[Word, Bit], src0: Source, src1: Source) -> tuple[Integer[Word], Integer[Word]]:
    """Return the factors as integers: of two of 32 bits, the first is its low half without sign."""
    a, b = run.integer(src0), run.integer(src1)
    if src0.type.size == 4 and src1.type.size == 4:
        low = run.lanes.both(a.low, run.lanes.word(0xFFFF))
        a = Integer(low, (0, 0xFFFF))
    return a, b


@declare("mul", 65, DST, SRC0, SRC1, family=EuFamily.ARITHMETIC)
def _mul(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Multiply: dst = src0 * src1.

    Of two integers of 32 bits only the low 16 bits of src0 count, without sign; `mach` adds the rest.
    """
    if run.execution_type(src0, src1) is ExecutionType.F:
        run.give_float(dst, run.lanes.float_multiply(run.float(src0), run.float(src1)))
    else:
        run.give_integer(dst, run.integers.product(*_factors(run, src0, src1)))


@declare("avg", 66, DST, SRC0, SRC1, family=EuFamily.ARITHMETIC)
def _avg(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Average integers: dst = (src0 + src1 + 1) >> 1."""
    total = run.integers.sum(run.integer(src0), run.integer(src1))
    total = run.integers.sum(total, run.integers.constant(1))
    run.give_integer(dst, run.integers.shifted_down(total, run.lanes.word(1)))


@declare("mac", 72, DST, SRC0, SRC1, family=EuFamily.ARITHMETIC)
def _mac(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Multiply and add to the accumulator: dst = src0 * src1 + acc; the accumulator is its implied third source.

    It takes the accumulator's elements at the destination's sub-register and stride.

    Whether the product of floats is rounded before the addition is not public; here it is, unless ``fused`` is set.
    """
    if run.execution_type(src0, src1) is ExecutionType.F:
        x, y, total = run.float(src0), run.float(src1), run.flushed(run.held(ACC_FLOAT, run.implied(dst)))
        run.give_float(dst, run.multiply_add(x, y, total))
    else:
        product = run.integers.product(*_factors(run, src0, src1))
        run.give_integer(dst, run.integers.sum(product, run.accumulated(dst)))


@declare("mach", 73, DST, SRC0, SRC1, family=EuFamily.ARITHMETIC, source="Mesa: mul, mach, mov acc")
def _mach(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Multiply high: acc + (src0 with its low 16 bits clear) * src1; dst takes the upper 32 bits, acc keeps the lower.

    After ``mul acc0, a, b`` this completes the product of 64 bits.
    """
    lanes, a, b = run.lanes, run.integer(src0), run.integer(src1)
    upper = Integer(lanes.both(a.low, lanes.word(0xFFFF0000)), a.range, lambda: run.integers.upper(a))
    total = run.integers.sum(run.integers.product(upper, b), run.accumulated(dst))
    signed = src0.type.signed or src1.type.signed
    kept = Integer(total.low, (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1))
    run.accumulate(EuType.D if signed else EuType.UD, total.low, kept, run.implied(dst))
    high = run.integers.upper(total)
    run.give_integer(dst, Integer(high, kept.range), accumulates=False)


@declare("sad2", 80, DST, SRC0, SRC1, family=EuFamily.ARITHMETIC, standing=Standing.INVENTED, source=_NO_RULE)
def _sad2(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Sum of absolute differences of two bytes: in even channels |a0 - b0| + |a1 - b1|; odd ones hold the same."""
    run.give_integer(dst, _differences(run, src0, src1))


@declare("sada2", 81, DST, SRC0, SRC1, family=EuFamily.ARITHMETIC, standing=Standing.INVENTED, source=_NO_RULE)
def _sada2(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """As `sad2`, added to the accumulator."""
    run.give_integer(dst, run.integers.sum(_differences(run, src0, src1), run.accumulated(dst)))


def _differences(run: Execution[Word, Bit], src0: Source, src1: Source) -> Integer[Word]:
    difference = run.integers.absolute(run.integers.sum(run.integer(src0), run.integer(src1), subtract=True))
    even, odd = ([lane & ~1 | half for lane in range(16)] for half in (0, 1))
    low = run.lanes.add(
        run.lanes.route(difference.low, even), run.lanes.route(difference.low, odd), run.lanes.bit(False)
    )
    return Integer(low[0], (0, 2 * difference.range[1]))


# Compares.


_TEXT = """Compare: the flags of enabled channels say whether the condition holds between src0 and src1.

Nothing overflows. With a NaN every condition but ``ne`` and ``u`` is false. A destination that is not null takes
all ones where the condition holds, else 0."""


def _compare(mnemonic: str, opcode: int, text: str) -> None:
    def meaning(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
        run.give_condition(dst, run.compared(src0, src1))

    declare(mnemonic, opcode, DST, SRC0, SRC1, family=EuFamily.COMPARE)(described(meaning, text))


_compare("cmp", 16, _TEXT)
_compare("cmpn", 17, _TEXT + "\n\nIts rule for NaNs is not public; here it is that of ``cmp``.")


# Rounding of floats, and instructions with three sources.


_SIGN, _WHOLE, _ONE = 0x80000000, 0x4B000000, 0x3F800000


def rounded(run: Execution[Word, Bit], x: Word, rounding: Rounding) -> Word:
    """Return a float rounded to a whole number with its sign; every float of at least 2^23 is one."""
    lanes = run.lanes
    sign = lanes.both(x, lanes.word(_SIGN))
    size = lanes.differ(x, sign)
    whole = lanes.to_float(lanes.to_integer(x, rounding), signed=True)
    # Zero keeps the sign of what was rounded.
    whole = lanes.either(whole, sign)
    small = lanes.less(size, lanes.word(_WHOLE), signed=False)
    return lanes.select(small, whole, x)


def _rounding(mnemonic: str, opcode: int, rounding: Rounding, text: str) -> None:
    def meaning(run: Execution[Word, Bit], dst: EuDestination, src0: Source) -> None:
        x = run.float(src0)
        whole = rounded(run, x, rounding)
        # Earlier generations rounded down and set the flag where 1 was to be added.
        run.give_float(dst, whole, increment=run.lanes.float_less(rounded(run, x, Rounding.DOWN), whole))

    declare(mnemonic, opcode, DST, SRC0, family=EuFamily.ARITHMETIC, floats=True)(described(meaning, text))


@declare("frc", 67, DST, SRC0, family=EuFamily.ARITHMETIC, floats=True)
def _frc(run: Execution[Word, Bit], dst: EuDestination, src0: Source) -> None:
    """Fraction: dst = src0 - floor(src0)."""
    lanes, x = run.lanes, run.float(src0)
    floor = rounded(run, x, Rounding.DOWN)
    run.give_float(dst, lanes.float_add(x, lanes.differ(floor, lanes.word(_SIGN))))


_FINAL = " The result is final on this generation: earlier ones added 1 where a condition said so."
_rounding("rndu", 68, Rounding.UP, "Round up: dst = the smallest whole number not below src0." + _FINAL)
_rounding("rndd", 69, Rounding.DOWN, "Round down: dst = the largest whole number not above src0." + _FINAL)
_rounding("rnde", 70, Rounding.NEAREST, "Round to the nearest whole number, ties to even." + _FINAL)
_rounding("rndz", 71, Rounding.TO_ZERO, "Round toward zero." + _FINAL)


@declare(
    "mad", 91, *THREE, family=EuFamily.PRODUCT, floats=True, standing=Standing.INVENTED,
    source="Mesa for the order of sources; whether the product is rounded is not public",
)  # fmt: skip
def _mad(
    run: Execution[Word, Bit], dst: EuDestination, src0: SourceRegion, src1: SourceRegion, src2: SourceRegion
) -> None:
    """Multiply and add: dst = src1 * src2 + src0, rounded once; 16-byte mode only."""
    run.give_float(dst, run.lanes.float_fuse(run.float(src1), run.float(src2), run.float(src0)))


@declare(
    "lrp", 92, *THREE, family=EuFamily.PRODUCT, floats=True, standing=Standing.INVENTED,
    source="Mesa for the order of sources; how it rounds is not public",
    shape=TextShape("*** invalid opcode value 92 ", False, 0),
)  # fmt: skip
def _lrp(
    run: Execution[Word, Bit], dst: EuDestination, src0: SourceRegion, src1: SourceRegion, src2: SourceRegion
) -> None:
    """Interpolate: dst = src0 * src1 + (1 - src0) * src2; 16-byte mode only."""
    lanes, x = run.lanes, run.float(src0)
    rest = lanes.float_add(lanes.word(_ONE), lanes.differ(x, lanes.word(_SIGN)))
    far = lanes.float_multiply(rest, run.float(src2))
    run.give_float(dst, run.multiply_add(x, run.float(src1), far))


# Logic, shifts and leading zeros.


_RECALLED = "the manual as recalled: five bits of a count"


def _integers_only(run: Execution[Word, Bit], *sources: Source) -> None:
    if run.execution_type(*sources) is ExecutionType.F:
        raise MachineFault("logic and shifts are of integers: a source is F")


def _plain_integers(run: Execution[Word, Bit], *sources: Source) -> None:
    """Refuse floats, and modifiers, to which no source gives a meaning in logic operations."""
    _integers_only(run, *sources)
    if any(isinstance(each, SourceRegion) and each.modified for each in sources):
        raise MachineFault("logic operations have no modifiers of sources: no minus, no (abs)")


@declare("not", 4, DST, SRC0, family=EuFamily.LOGIC)
def _not(run: Execution[Word, Bit], dst: EuDestination, src0: Source) -> None:
    """Complement: dst = ~src0."""
    _plain_integers(run, src0)
    ones = run.integers.constant(-1)
    run.give_integer(dst, run.integers.bitwise(run.lanes.differ, run.integer(src0), ones))


class _Operation(Protocol):
    """Bitwise operation of two words."""

    def __call__(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, /) -> Word: ...


def _bitwise(mnemonic: str, opcode: int, operation: _Operation, text: str) -> None:
    def meaning(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
        _plain_integers(run, src0, src1)
        combined = run.integers.bitwise(partial(operation, run.lanes), run.integer(src0), run.integer(src1))
        run.give_integer(dst, combined)

    declare(mnemonic, opcode, DST, SRC0, SRC1, family=EuFamily.LOGIC)(described(meaning, text))


_bitwise("and", 5, lambda lanes, a, b: lanes.both(a, b), "And: dst = src0 & src1, of integers as wide as both need.")
_bitwise("or", 6, lambda lanes, a, b: lanes.either(a, b), "Or: dst = src0 | src1, of integers as wide as both need.")
_bitwise("xor", 7, lambda lanes, a, b: lanes.differ(a, b), "Exclusive or: dst = src0 ^ src1, as wide as both need.")


def _count(run: Execution[Word, Bit], source: Source) -> Word:
    return run.lanes.both(run.integer(source).low, run.lanes.word(31))


@declare("shr", 8, DST, SRC0, SRC1, family=EuFamily.LOGIC, source=_RECALLED)
def _shr(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Shift down, zeros coming in: dst = src0 >> src1, of the bits that src0 has.

    The low five bits of the count are taken. A negative source is shifted as 32 bits, or 16 of smaller types.
    """
    _integers_only(run, src0, src1)
    value = run.integer(src0)
    if value.range[0] < 0:
        bits = 0xFFFFFFFF if src0.type.size == 4 else 0xFFFF
        value = Integer(run.lanes.both(value.low, run.lanes.word(bits)), (0, bits))
    run.give_integer(dst, run.integers.shifted_down(value, _count(run, src1)))


@declare("shl", 9, DST, SRC0, SRC1, family=EuFamily.LOGIC, source=_RECALLED)
def _shl(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Shift up: dst = src0 << src1, exact before it is converted. The low five bits of the count are taken."""
    _integers_only(run, src0, src1)
    run.give_integer(dst, run.integers.shifted_up(run.integer(src0), _count(run, src1)))


@declare("asr", 12, DST, SRC0, SRC1, family=EuFamily.LOGIC, source=_RECALLED)
def _asr(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Shift down, the sign coming in: dst = src0 / 2^src1, rounded down. The low five bits of the count are taken."""
    _integers_only(run, src0, src1)
    run.give_integer(dst, run.integers.shifted_down(run.integer(src0), _count(run, src1)))


@declare("lzd", 74, DST, SRC0, family=EuFamily.LOGIC)
def _lzd(run: Execution[Word, Bit], dst: EuDestination, src0: Source) -> None:
    """Leading zeros of 32 bits: 32 for 0."""
    _integers_only(run, src0)
    lanes, value, count = run.lanes, run.integer(src0).low, run.lanes.word(0)
    some = run.as_bit(value)
    for step in (16, 8, 4, 2, 1):
        small = lanes.equal(lanes.shift_down(value, lanes.word(32 - step), signed=False), lanes.word(0))
        value = lanes.select(small, lanes.shift_up(value, lanes.word(step)), value)
        count = lanes.select(small, lanes.either(count, lanes.word(step)), count)
    run.give_integer(dst, Integer(lanes.select(some, count, lanes.word(32)), (0, 32)))


# Extended math: roots, logarithms, powers, angles of floats, and division of integers.


_INVERSE, _DIVIDE, _SINE_AND_COSINE, _POWER = 1, 9, 8, 10
_BOTH, _QUOTIENT, _REMAINDER = 11, 12, 13
_FUNCTIONS = {
    2: Elementary.LOGARITHM, 3: Elementary.EXPONENTIAL, 4: Elementary.SQUARE_ROOT, 5: Elementary.RECIPROCAL_ROOT,
    6: Elementary.SINE, 7: Elementary.COSINE,
}  # fmt: skip


@declare(
    "math", 56, DST, SRC0, SRC1, family=EuFamily.MATH, unit=EuUnit.MATH, standing=Standing.INVENTED,
    source="Mesa for functions and operands; the hardware's precision is not public, so results are rounded correctly",
    shape=TextShape("math", True, 2, form="math"),
)  # fmt: skip
def _math(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Extended math: inv, log (of 2), exp (of 2), sqrt, rsq, sin, cos, sincos, fdiv, pow; intdiv, intmod, intdivmod.

    Modifiers of sources do not count. Floats are evaluated in binary64 and rounded once. Integers are divided toward
    zero; intdivmod writes the quotient, and the remainder to the next register; sincos the sine, and the cosine there.
    """
    function = run.controls.selector
    if function in (_BOTH, _QUOTIENT, _REMAINDER):
        _divide(run, function, dst, src0, src1)
        return
    lanes, x = run.lanes, run.flushed(run.raw(src0))
    one = lanes.word(_ONE)
    if function == _INVERSE:
        result = lanes.float_divide(one, x)
    elif function == _DIVIDE:
        result = lanes.float_divide(x, run.flushed(run.raw(src1)))
    elif function == _POWER:
        result = lanes.float_function(Elementary.POWER, x, run.flushed(run.raw(src1)))
    elif function in _FUNCTIONS:
        result = lanes.float_function(_FUNCTIONS[function], x, x)
    elif function == _SINE_AND_COSINE:
        result = lanes.float_function(Elementary.SINE, x, x)
        cosine = lanes.float_function(Elementary.COSINE, x, x)
        run.give_float(dst, result, conditions=False)
        run.give_float(_next(dst), cosine, conditions=False)
        return
    else:
        raise MachineFault(f"math function {function}: there is no such one")
    run.give_float(dst, result, conditions=False)


def _next(dst: EuDestination) -> EuDestination:
    """Return the destination of the second of two results; Mesa reserves two registers, their order is recalled."""
    if dst.address is not None:
        return replace(dst, address=IndirectAddress(dst.address.index, dst.address.offset + REGISTER_BYTES))
    return dst if dst.null else replace(dst, number=dst.number + 1)


def _divide(run: Execution[Word, Bit], function: int, dst: EuDestination, src0: Source, src1: Source) -> None:
    lanes = run.lanes
    signed = src0.type is EuType.D or src1.type is EuType.D
    plain = [_unmodified(each) for each in (src0, src1)]
    a, b = (run.integers.of(run.raw(each), each.type) for each in plain)
    quotient, remainder = _long_division(run, run.integers.absolute(a).low, run.integers.absolute(b).low)
    if signed:
        minus = run.integers.negative(a)
        apart = lanes.differ(run.as_word(minus), run.as_word(run.integers.negative(b)))
        quotient = lanes.select(run.as_bit(apart), _negated(run, quotient), quotient)
        remainder = lanes.select(minus, _negated(run, remainder), remainder)
    bounds = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)
    if function != _REMAINDER:
        run.give_integer(dst, Integer(quotient, bounds), conditions=False)
    if function == _REMAINDER:
        run.give_integer(dst, Integer(remainder, bounds), conditions=False)
    elif function == _BOTH:
        run.give_integer(_next(dst), Integer(remainder, bounds), conditions=False)


def _unmodified(source: Source) -> Source:
    if isinstance(source, SourceRegion) and source.type.size != 4:
        raise MachineFault(f"integers of {REGISTER_BYTES // 8} bytes are divided, not {source.type.name}")
    return source


def _negated(run: Execution[Word, Bit], word: Word) -> Word:
    return run.lanes.add(run.lanes.complement(word), run.lanes.word(0), run.lanes.bit(True))[0]


def _long_division(run: Execution[Word, Bit], a: Word, b: Word) -> tuple[Word, Word]:
    """Return quotient and remainder, bit by bit; a division by 0 gives all ones and the dividend."""
    lanes = run.lanes
    quotient, rest, false = lanes.word(0), lanes.word(0), lanes.bit(False)
    for _ in range(32):
        a, out = lanes.shift_left(a, false)
        rest, past = lanes.shift_left(rest, out)
        fits = lanes.either(past, lanes.complement(lanes.less(rest, b, signed=False)))
        rest = lanes.select(fits, lanes.add(rest, lanes.complement(b), lanes.bit(True))[0], rest)
        quotient = lanes.shift_left(quotient, fits)[0]
    return quotient, rest


# Messages, notification and nothing.


class MessagePath(Protocol):
    """Path of a `send` from message registers to the functions that answer."""

    def send(self, controls: Controls, dst: EuDestination, first: SourceRegion, message: EuMessage) -> None:
        """Deliver a message and write its answer to the general registers."""


def _send(mnemonic: str, opcode: int, text: str) -> None:
    def meaning(
        path: MessagePath, controls: Controls, dst: EuDestination, src0: SourceRegion, message: EuMessage
    ) -> None:
        path.send(controls, dst, src0, message)

    declare(
        mnemonic, opcode, DST, SRC0, MESSAGE, family=EuFamily.MESSAGE, unit=EuUnit.SEND,
        shape=TextShape(mnemonic, True, 1, form="send"),
    )(described(meaning, text))  # fmt: skip


_SENDING = """Send a message of ``mlen`` message registers, starting at src0, to a target; the answer is
``rlen`` registers, starting at dst.

The target is in the field of other instructions' condition. With EOT the thread ends."""
_send("send", 49, _SENDING)
_send("sendc", 50, _SENDING + "\n\nIt first waits for earlier pixels of the same place.")


@declare("wait", 48, DST, SRC0, family=EuFamily.MESSAGE, unit=EuUnit.BRANCH, shape=TextShape("wait", False, 1))
def _wait(run: Execution[Word, Bit], dst: EuDestination, src0: SourceRegion) -> None:
    """Wait for a notification. No gateway is modelled, so it does not wait."""


@declare("nop", 126, family=EuFamily.FLOW, unit=EuUnit.BRANCH, shape=TextShape("nop", False, 0, form="nothing"))
def _nop(run: Execution[Word, Bit]) -> None:
    """Nothing."""


# Moves and selection.


@declare("mov", 1, DST, SRC0, family=EuFamily.MOVE)
def _mov(run: Execution[Word, Bit], dst: EuDestination, src0: Source) -> None:
    """Move, converting: dst = src0.

    A float moved to a float without modifier and saturation keeps every bit; denormals of others become zeros.
    """
    if run.execution_type(src0) is ExecutionType.F:
        modified = isinstance(src0, SourceRegion) and src0.modified
        raw = dst.type.floats and not modified and not run.controls.saturates
        run.give_float(dst, run.float(src0, raw=raw), raw=raw)
    else:
        run.give_integer(dst, run.integer(src0))


@declare("sel", 2, DST, SRC0, SRC1, family=EuFamily.MOVE, shape=TextShape("sel", True, 2, shows_flag=False))
def _sel(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Select: dst = src0 where the predicate holds, else src1; with a condition, where it holds between the sources.

    ``sel.l`` is the smaller of two, ``sel.ge`` the larger. Flags stay. A predicate that chooses disables nothing.
    """
    lanes, floats = run.lanes, run.execution_type(src0, src1) is ExecutionType.F
    condition = run.controls.selector
    run.chooses = not condition
    if floats:
        x, y = run.float(src0), run.float(src1)
        if condition:
            # With a NaN on one side minimum and maximum give the other.
            equal, less = lanes.float_equal(x, y), lanes.float_less(x, y)
            first_nan, second_nan = (lanes.complement(lanes.float_equal(each, each)) for each in (x, y))
            chosen = run.condition(equal, less, lanes.either(first_nan, second_nan))
            chosen = lanes.both(lanes.either(chosen, second_nan), lanes.complement(first_nan))
        else:
            chosen = run.predicate
        run.give_selected(dst, *run.from_float(dst, lanes.select(chosen, x, y)))
        return
    a, b = run.integer(src0), run.integer(src1)
    if condition:
        chosen = run.condition(run.integers.equal(a, b), run.integers.less(a, b), lanes.bit(False))
    else:
        chosen = run.predicate
    run.give_selected(dst, *run.from_integer(dst, run.integers.chosen(chosen, a, b)))


# Planes, lines and dot products of floats.


_ORDER = "Mesa; the order of additions and whether products are rounded are not public"


def _coefficient(run: Execution[Word, Bit], src0: Source, component: int) -> Word:
    return _float_at(run, src0, (4 * component,) * CHANNELS)


def _float_at(run: Execution[Word, Bit], source: Source, places: tuple[int, ...]) -> Word:
    if not isinstance(source, SourceRegion) or source.file is not File.GENERAL or source.address is not None:
        raise MachineFault("planes and coordinates are in general registers")
    return run.flushed(run.signs(run.at(source, places), source))


@declare("line", 89, DST, SRC0, SRC1, family=EuFamily.PRODUCT, floats=True, standing=Standing.INVENTED, source=_ORDER)
def _line(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Line: dst = s.x * src1 + s.w, where s are the four floats that start at src0."""
    slope, origin = _coefficient(run, src0, 0), _coefficient(run, src0, 3)
    run.give_float(dst, run.multiply_add(slope, run.float(src1), origin))


@declare(
    "pln", 90, DST, SRC0, SRC1, family=EuFamily.PRODUCT, floats=True, pairs=True, standing=Standing.INVENTED,
    source=_ORDER,
)  # fmt: skip
def _pln(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Plane: dst = s.x * u + s.y * v + s.w, where s are the four floats that start at src0.

    Pairs of registers, starting at src1, hold u of channels 0 to 7, their v, then u and v of channels 8 to 15.
    """
    starts = [max(each, 0) // 8 * 2 * REGISTER_BYTES + max(each, 0) % 8 * 4 for each in elements(run.span)]
    u, v = (_float_at(run, src1, tuple(each + half * REGISTER_BYTES for each in starts)) for half in (0, 1))
    first = run.multiply_add(_coefficient(run, src0, 0), u, _coefficient(run, src0, 3))
    run.give_float(dst, run.multiply_add(_coefficient(run, src0, 1), v, first))


def _dot(mnemonic: str, opcode: int, terms: int, text: str, *, homogeneous: bool = False) -> None:
    def meaning(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
        lanes, x, y = run.lanes, run.float(src0), run.float(src1)
        total = None
        for term in range(terms):
            sources = [channel // 4 * 4 + term for channel in range(CHANNELS)]
            a, b = lanes.route(x, sources), lanes.route(y, sources)
            if total is None:
                total = run.product(a, b)
            elif homogeneous and term == 3:
                total = run.flushed(lanes.float_add(b, total))
            else:
                total = run.multiply_add(a, b, total)
        assert total is not None
        run.give_float(dst, total)

    declare(
        mnemonic, opcode, DST, SRC0, SRC1, family=EuFamily.PRODUCT, floats=True, standing=Standing.INVENTED,
        source=_ORDER,
    )(described(meaning, text))  # fmt: skip


_GROUPS = " of each group of four channels, to all four of them."
_dot("dp4", 84, 4, "Dot product of four" + _GROUPS)
_dot("dph", 85, 4, "Dot product of four, the last of src0 taken as 1," + _GROUPS, homogeneous=True)
_dot("dp3", 86, 3, "Dot product of the first three" + _GROUPS)
_dot("dp2", 87, 2, "Dot product of the first two" + _GROUPS)
