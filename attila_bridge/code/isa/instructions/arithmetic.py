"""Moves, arithmetic, dot products and compares, component by component. Every operation rounds once, to float32."""

from __future__ import annotations

from attila_bridge.code.isa.declarations import ShaderFamily, declare
from attila_bridge.code.isa.execution import ShaderExecution
from attila_bridge.code.isa.operands import SRC, SRC0, SRC1, SRC2, ShaderDestination, ShaderSource
from attila_bridge.code.isa.registers import ShaderStage
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import Rounding

__all__ = ["floor"]

_SIMPLE = 3
_EXACT_FROM = 0x4B000000
"""2^23: floats from here on have no fraction."""


@declare("MOV", 0x01, SRC, latency=_SIMPLE, family=ShaderFamily.MOVE)
def _mov(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource) -> None:
    """Copy ``src``."""
    shader.write(dst, shader.source(src))


@declare("ARL", 0x02, SRC, latency=_SIMPLE, family=ShaderFamily.MOVE, stages=(ShaderStage.VERTEX,), scalar=True)
def _arl(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource) -> None:
    """Load the address register with ``src`` rounded down to an integer."""
    shader.write(dst, shader.lanes.to_integer(shader.scalar(src), Rounding.DOWN))


@declare("ADD", 0x03, SRC0, SRC1, latency=_SIMPLE, family=ShaderFamily.ARITHMETIC)
def _add(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Add: ``src0 + src1``."""
    shader.write(dst, shader.lanes.float_add(shader.source(src0), shader.source(src1)))


@declare("MUL", 0x05, SRC0, SRC1, latency=_SIMPLE, family=ShaderFamily.ARITHMETIC)
def _mul(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Multiply: ``src0 src1``."""
    shader.write(dst, shader.lanes.float_multiply(shader.source(src0), shader.source(src1)))


@declare("MAD", 0x06, SRC0, SRC1, SRC2, latency=_SIMPLE, family=ShaderFamily.ARITHMETIC)
def _mad(
    shader: ShaderExecution[Word, Bit],
    dst: ShaderDestination,
    src0: ShaderSource,
    src1: ShaderSource,
    src2: ShaderSource,
) -> None:
    """Multiply, round, add, round: ``src0 src1 + src2``."""
    lanes = shader.lanes
    product = lanes.float_multiply(shader.source(src0), shader.source(src1))
    shader.write(dst, lanes.float_add(product, shader.source(src2)))


def _dot(shader: ShaderExecution[Word, Bit], a: Word, b: Word, terms: int) -> Word:
    """Return the sum of the first products from the left to the right, each operation rounded."""
    lanes = shader.lanes
    products = lanes.float_multiply(a, b)
    total = shader.component(products, 0)
    for at in range(1, terms):
        total = lanes.float_add(total, shader.component(products, at))
    return total


@declare("DP3", 0x07, SRC0, SRC1, latency=_SIMPLE, family=ShaderFamily.PRODUCT)
def _dp3(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Dot product of three components: ``(xx + yy) + zz``, in all components."""
    shader.write(dst, _dot(shader, shader.source(src0), shader.source(src1), 3))


@declare("DP4", 0x08, SRC0, SRC1, latency=_SIMPLE, family=ShaderFamily.PRODUCT)
def _dp4(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Dot product of four components: ``((xx + yy) + zz) + ww``, in all components."""
    shader.write(dst, _dot(shader, shader.source(src0), shader.source(src1), 4))


@declare("DPH", 0x09, SRC0, SRC1, latency=_SIMPLE, family=ShaderFamily.PRODUCT)
def _dph(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Homogeneous dot product: ``((xx + yy) + zz) + w`` of ``src1``, in all components."""
    second = shader.source(src1)
    total = _dot(shader, shader.source(src0), second, 3)
    shader.write(dst, shader.lanes.float_add(total, shader.component(second, 3)))


@declare("MIN", 0x0A, SRC0, SRC1, latency=_SIMPLE, family=ShaderFamily.COMPARE)
def _min(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Take the smaller one: ``src0`` where it is less than ``src1``."""
    a, b = shader.source(src0), shader.source(src1)
    shader.write(dst, shader.lanes.select(shader.lanes.float_less(a, b), a, b))


@declare("MAX", 0x0B, SRC0, SRC1, latency=_SIMPLE, family=ShaderFamily.COMPARE)
def _max(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Take the greater one: ``src0`` where it is greater than ``src1``."""
    a, b = shader.source(src0), shader.source(src1)
    shader.write(dst, shader.lanes.select(shader.lanes.float_less(b, a), a, b))


@declare("SLT", 0x0C, SRC0, SRC1, latency=_SIMPLE, family=ShaderFamily.COMPARE)
def _slt(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Set 1.0 where ``src0 < src1``, else 0.0."""
    shader.write(dst, shader.number(shader.lanes.float_less(shader.source(src0), shader.source(src1))))


@declare("SGE", 0x0D, SRC0, SRC1, latency=_SIMPLE, family=ShaderFamily.COMPARE)
def _sge(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Set 1.0 where ``src0 >= src1``, else 0.0."""
    lanes = shader.lanes
    a, b = shader.source(src0), shader.source(src1)
    shader.write(dst, shader.number(lanes.either(lanes.float_less(b, a), lanes.float_equal(a, b))))


@declare("CMP", 0x0E, SRC0, SRC1, SRC2, latency=_SIMPLE, family=ShaderFamily.COMPARE, stages=(ShaderStage.FRAGMENT,))
def _cmp(
    shader: ShaderExecution[Word, Bit],
    dst: ShaderDestination,
    src0: ShaderSource,
    src1: ShaderSource,
    src2: ShaderSource,
) -> None:
    """Select ``src1`` where ``src0 < 0``, else ``src2``."""
    lanes = shader.lanes
    negative = lanes.float_less(shader.source(src0), lanes.word(0))
    shader.write(dst, lanes.select(negative, shader.source(src1), shader.source(src2)))


def floor(shader: ShaderExecution[Word, Bit], value: Word) -> Word:
    """Return the greatest whole number that is not above the value."""
    lanes = shader.lanes
    small = lanes.less(shader.magnitude(value), lanes.word(_EXACT_FROM), signed=False)
    whole = lanes.to_float(lanes.to_integer(value, Rounding.DOWN), signed=True)
    return lanes.select(small, whole, value)


@declare("FRC", 0x0F, SRC, latency=_SIMPLE, family=ShaderFamily.ARITHMETIC)
def _frc(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource) -> None:
    """Fraction: ``src - floor(src)``."""
    value = shader.source(src)
    shader.write(dst, shader.lanes.float_add(value, shader.negated(floor(shader, value))))
