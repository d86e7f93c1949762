"""Logic, shifts and leading zeros."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from gen6_bridge.code.isa.declarations import DST, SRC0, SRC1, EuFamily, declare, described
from gen6_bridge.code.isa.encoding.operands import EuDestination, Source, SourceRegion
from gen6_bridge.code.isa.encoding.types import ExecutionType
from gen6_bridge.code.isa.meanings.execution import Execution
from gen6_bridge.code.isa.meanings.integers import Integer
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import NumberAlgebra
from pixelflow.simd.units import Standing

__all__: list[str] = []

_RECALLED = "the manual as recalled: five bits of a count"


def _integers_only(run: Execution[Word, Bit], *sources: Source) -> None:
    if run.execution_type(*sources) is ExecutionType.F:
        raise MachineFault("logic and shifts are of integers: a source is F")


def _plain_integers(run: Execution[Word, Bit], *sources: Source) -> None:
    """Refuse what logic operations have not: floats, and modifiers, which no source gives a meaning there."""
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
    """A word made of two words."""

    def __call__(self, lanes: NumberAlgebra[Word, Bit], a: Word, b: Word, /) -> Word: ...


def _bitwise(
    mnemonic: str,
    opcode: int,
    operation: _Operation,
    text: str,
) -> None:
    def meaning(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
        _plain_integers(run, src0, src1)
        combined = run.integers.bitwise(partial(operation, run.lanes), run.integer(src0), run.integer(src1))
        run.give_integer(dst, combined)

    declare(mnemonic, opcode, DST, SRC0, SRC1, family=EuFamily.LOGIC)(described(meaning, text))


_bitwise("and", 5, lambda lanes, a, b: lanes.both(a, b), "And: dst = src0 & src1, of integers as wide as both need.")
_bitwise("or", 6, lambda lanes, a, b: lanes.either(a, b), "Or: dst = src0 | src1, of integers as wide as both need.")
_bitwise(
    "xor",
    7,
    lambda lanes, a, b: lanes.differ(a, b),
    "Exclusive or: dst = src0 ^ src1, of integers as wide as needed.",
)


def _count(run: Execution[Word, Bit], source: Source) -> Word:
    return run.lanes.both(run.integer(source).low, run.lanes.word(31))


@declare("shr", 8, DST, SRC0, SRC1, family=EuFamily.LOGIC, standing=Standing.DERIVED, source=_RECALLED)
def _shr(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Shift down, zeros coming in: dst = src0 >> src1, of the bits that src0 has.

    The low five bits of the count are taken. What is negative is shifted as 32 bits, or 16 of smaller types.
    """
    _integers_only(run, src0, src1)
    value = run.integer(src0)
    if value.range[0] < 0:
        bits = 0xFFFFFFFF if src0.type.size == 4 else 0xFFFF
        value = Integer(run.lanes.both(value.low, run.lanes.word(bits)), (0, bits))
    run.give_integer(dst, run.integers.shifted_down(value, _count(run, src1)))


@declare("shl", 9, DST, SRC0, SRC1, family=EuFamily.LOGIC, standing=Standing.DERIVED, source=_RECALLED)
def _shl(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Shift up: dst = src0 << src1, exact before it is converted. The low five bits of the count are taken."""
    _integers_only(run, src0, src1)
    run.give_integer(dst, run.integers.shifted_up(run.integer(src0), _count(run, src1)))


@declare("asr", 12, DST, SRC0, SRC1, family=EuFamily.LOGIC, standing=Standing.DERIVED, source=_RECALLED)
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
