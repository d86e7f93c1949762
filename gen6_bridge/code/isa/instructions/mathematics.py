"""Extended math: roots, logarithms, powers, angles of floats, and division of integers."""

from __future__ import annotations

from dataclasses import replace

from gen6_bridge.code.isa.declarations import DST, SRC0, SRC1, EuFamily, EuUnit, declare
from gen6_bridge.code.isa.encoding.operands import (
    REGISTER_BYTES,
    EuDestination,
    IndirectAddress,
    Source,
    SourceRegion,
)
from gen6_bridge.code.isa.encoding.text import TextShape
from gen6_bridge.code.isa.encoding.types import EuType
from gen6_bridge.code.isa.meanings.execution import Execution
from gen6_bridge.code.isa.meanings.integers import Integer
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import Elementary
from pixelflow.simd.units import Standing

__all__: list[str] = []

_ONE = 0x3F800000
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
        run.give_function(dst, result)
        run.give_function(_next(dst), cosine)
        return
    else:
        raise MachineFault(f"math function {function}: there is no such one")
    run.give_function(dst, result)


def _next(dst: EuDestination) -> EuDestination:
    """Return where the second of two results goes; its order is recalled, as Mesa asks for two registers."""
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
