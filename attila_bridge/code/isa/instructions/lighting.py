"""Lighting coefficients and distance vectors, each put together component by component."""

from __future__ import annotations

from attila_bridge.code.isa.declarations import ShaderFamily, declare
from attila_bridge.code.isa.execution import ONE, ShaderExecution
from attila_bridge.code.isa.operands import SRC, SRC0, SRC1, ShaderDestination, ShaderSource
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import Elementary

__all__: list[str] = []

_LARGEST_POWER = 0x43000000
"""128.0, which powers of highlights are clamped to."""


@declare("DST", 0x30, SRC0, SRC1, latency=4, family=ShaderFamily.LIGHTING)
def _dst(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src0: ShaderSource, src1: ShaderSource) -> None:
    """Distance vector: ``(1, src0.y src1.y, src0.z, src1.w)``."""
    lanes = shader.lanes
    a, b = shader.source(src0), shader.source(src1)
    shader.write(dst, shader.gathered(lanes.word(ONE), lanes.float_multiply(a, b), a, b))


@declare("LIT", 0x31, SRC, latency=4, family=ShaderFamily.LIGHTING, elementary=True)
def _lit(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource) -> None:
    """Lighting: ``(1, max(x, 0), y^w where x > 0, 1)`` with y at least 0, w within -128..128."""
    lanes = shader.lanes
    zero, one = lanes.word(0), lanes.word(ONE)
    value = shader.source(src)
    x, y, w = (shader.component(value, at) for at in (0, 1, 3))
    lit = lanes.float_less(zero, x)
    base = lanes.select(lanes.float_less(y, zero), zero, y)
    most = lanes.word(_LARGEST_POWER)
    least = shader.negated(most)
    power = lanes.select(lanes.float_less(w, least), least, lanes.select(lanes.float_less(most, w), most, w))
    highlight = lanes.float_function(Elementary.POWER, base, power)
    shader.write(dst, shader.gathered(one, lanes.select(lit, x, zero), lanes.select(lit, highlight, zero), one))
