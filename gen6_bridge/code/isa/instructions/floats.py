"""Rounding of floats, and instructions with three sources."""

from __future__ import annotations

from gen6_bridge.code.isa.declarations import DST, SRC0, THREE, EuFamily, declare, described
from gen6_bridge.code.isa.encoding.operands import EuDestination, Source, SourceRegion
from gen6_bridge.code.isa.encoding.text import TextShape
from gen6_bridge.code.isa.meanings.execution import Execution
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import Rounding
from pixelflow.simd.units import Standing

__all__: list[str] = []

_SIGN, _WHOLE, _ONE = 0x80000000, 0x4B000000, 0x3F800000


def rounded(run: Execution[Word, Bit], x: Word, rounding: Rounding) -> Word:
    """Return a float as a whole number with its sign; from 2^23 on every float is one."""
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
        # Earlier generations rounded down and said in the flag where 1 was to be added.
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
