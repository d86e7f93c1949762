"""Arithmetic on integers and floats: sums, products, averages, sums of products in the accumulator."""

from __future__ import annotations

from gen6_bridge.code.isa.declarations import DST, SRC0, SRC1, EuFamily, declare
from gen6_bridge.code.isa.encoding.operands import EuDestination, Source
from gen6_bridge.code.isa.encoding.types import EuType, ExecutionType
from gen6_bridge.code.isa.meanings.execution import Execution
from gen6_bridge.code.isa.meanings.integers import Integer
from gen6_bridge.code.isa.meanings.state import ACC_FLOAT
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.units import Standing

__all__: list[str] = []


@declare("add", 64, DST, SRC0, SRC1, family=EuFamily.ARITHMETIC)
def _add(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Add: dst = src0 + src1, exact before it is converted; floats are rounded once."""
    if run.execution_type(src0, src1) is ExecutionType.F:
        run.give_float(dst, run.lanes.float_add(run.float(src0), run.float(src1)))
    else:
        run.give_integer(dst, run.integers.sum(run.integer(src0), run.integer(src1)))


def _factors(run: Execution[Word, Bit], src0: Source, src1: Source) -> tuple[Integer[Word], Integer[Word]]:
    """Return the integers that are multiplied: of two of 32 bits, the first gives its low half, without sign."""
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

    Of the accumulator it takes the elements at the destination's sub-register and stride.

    Whether the product of floats is rounded before it is added is not public; here it is, unless asked otherwise.
    """
    if run.execution_type(src0, src1) is ExecutionType.F:
        x, y, total = run.float(src0), run.float(src1), run.flushed(run.held(ACC_FLOAT, run.implied(dst)))
        run.give_float(dst, run.multiply_add(x, y, total))
    else:
        product = run.integers.product(*_factors(run, src0, src1))
        run.give_integer(dst, run.integers.sum(product, run.accumulated(dst)))


@declare(
    "mach",
    73,
    DST,
    SRC0,
    SRC1,
    family=EuFamily.ARITHMETIC,
    standing=Standing.DERIVED,
    source="Mesa: mul, mach, mov acc",
)
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


@declare(
    "sad2",
    80,
    DST,
    SRC0,
    SRC1,
    family=EuFamily.ARITHMETIC,
    standing=Standing.INVENTED,
    source="recalled: no public rule",
)
def _sad2(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Sum of absolute differences of two bytes: in even channels |a0 - b0| + |a1 - b1|; odd ones hold the same."""
    run.give_integer(dst, _differences(run, src0, src1))


@declare(
    "sada2",
    81,
    DST,
    SRC0,
    SRC1,
    family=EuFamily.ARITHMETIC,
    standing=Standing.INVENTED,
    source="recalled: no public rule",
)
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
