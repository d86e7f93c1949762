"""Conversions of the vector unit between integers, floats and doubles, which meet in the lower eight lanes of sixteen.

The published names of the prototype library convert to and from the lower half, and what is written there leaves the
upper half as it was.
"""

from __future__ import annotations

from larrabee_bridge.vpu.isa.declarations import DST, SRC, WIDE_SRC, VectorFamily, count, declare
from larrabee_bridge.vpu.isa.formats import joined, pair_of, wide_source, wide_write
from larrabee_bridge.vpu.isa.meanings import Type, masked, source, write
from larrabee_bridge.vpu.isa.operands import LANES, WIDE_LANES, Vector, VectorSource
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import NumberAlgebra, Rounding

_PROTOTYPE = "Larrabee new instructions C++ prototype library (Intel 2009)"
_LOWER = [lane < WIDE_LANES for lane in range(LANES)]
_EACH_TWICE = [lane // 2 for lane in range(LANES)]
_LOW_WORDS = [2 * lane % LANES for lane in range(LANES)]


@declare("vcvtpi2ps", 0x1D, DST, SRC, family=VectorFamily.CONVERT)
def vcvtpi2ps(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert signed integers to the nearest floats."""
    write(lanes, dst, lanes.to_float(source(lanes, src, Type.INTEGER), signed=True))


@declare("vcvtpu2ps", 0x1E, DST, SRC, family=VectorFamily.CONVERT)
def vcvtpu2ps(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert unsigned integers to the nearest floats."""
    write(lanes, dst, lanes.to_float(source(lanes, src, Type.INTEGER), signed=False))


@declare("vcvtps2pi", 0x1F, DST, SRC, count("rounding", 0, 3), family=VectorFamily.CONVERT)
def vcvtps2pi(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource, rounding: int) -> None:
    """Convert floats to signed integers; rounding 0 is to nearest even, 1 down, 2 up, 3 towards zero.

    A NaN and what is out of range give 0x80000000.
    """
    write(lanes, dst, lanes.to_integer(source(lanes, src, Type.FLOAT), Rounding(rounding)))


def _lower(lanes: NumberAlgebra[Word, Bit], operand: VectorSource, kind: Type) -> Word:
    """Return each of the lower eight of a source in both lanes of 64 bits."""
    return lanes.route(source(lanes, operand, kind), _EACH_TWICE)


def _write_lower(lanes: NumberAlgebra[Word, Bit], dst: Vector, value: Word) -> None:
    """Write what stands in both lanes of 64 bits to the lower eight lanes, under the mask."""
    where, lower = masked(lanes, dst), lanes.pattern(_LOWER)
    where = lower if where is None else lanes.both(where, lower)
    lanes.store(dst.number, lanes.route(value, _LOW_WORDS), where)


@declare("vcvtpi2pd", 0x86, DST, SRC, family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtpi2pd(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert the lower eight signed integers to doubles, which is exact."""
    wide_write(lanes, dst, joined(lanes, lanes.to_double(_lower(lanes, src, Type.INTEGER), signed=True)))


@declare("vcvtpu2pd", 0x87, DST, SRC, family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtpu2pd(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert the lower eight unsigned integers to doubles, which is exact."""
    wide_write(lanes, dst, joined(lanes, lanes.to_double(_lower(lanes, src, Type.INTEGER), signed=False)))


@declare("vcvtpd2pi", 0x88, DST, WIDE_SRC, count("rounding", 0, 3), family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtpd2pi(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource, rounding: int) -> None:
    """Convert doubles to signed integers in the lower eight lanes, rounded as by vcvtps2pi; the others stay.

    A NaN and what is out of range give 0x80000000.
    """
    _write_lower(lanes, dst, lanes.double_to_integer(pair_of(lanes, wide_source(lanes, src)), Rounding(rounding)))


@declare("vcvtps2pd", 0x89, DST, SRC, family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtps2pd(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert the lower eight floats to doubles, which is exact."""
    wide_write(lanes, dst, joined(lanes, lanes.float_to_double(_lower(lanes, src, Type.FLOAT))))


@declare("vcvtpd2ps", 0x8A, DST, WIDE_SRC, family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vcvtpd2ps(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Convert doubles to the nearest floats, in the lower eight lanes; the others stay."""
    _write_lower(lanes, dst, lanes.double_to_float(pair_of(lanes, wide_source(lanes, src))))
