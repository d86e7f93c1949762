"""Functions of one component: the result goes to all components of the destination.

Roots, powers of two, logarithms and angles are evaluated in float64 and rounded once; the reciprocal is a division.
"""

from __future__ import annotations

from collections.abc import Callable

from attila_bridge.code.isa.declarations import ShaderFamily, declare, described
from attila_bridge.code.isa.execution import ONE, ShaderExecution
from attila_bridge.code.isa.instructions.arithmetic import floor
from attila_bridge.code.isa.operands import SRC, ShaderDestination, ShaderSource
from attila_bridge.code.isa.registers import ShaderStage
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.wide.numbers import Elementary

__all__: list[str] = []


@declare("RCP", 0x20, SRC, latency=5, family=ShaderFamily.FUNCTION, scalar=True)
def _rcp(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource) -> None:
    """Reciprocal: ``1 / src``."""
    shader.write(dst, shader.lanes.float_divide(shader.lanes.word(ONE), shader.scalar(src)))


@declare("RSQ", 0x21, SRC, latency=5, family=ShaderFamily.FUNCTION, scalar=True, elementary=True)
def _rsq(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource) -> None:
    """Reciprocal of the root: ``sqrt(1 / |src|)``, the reciprocal rounded before the root is taken."""
    lanes = shader.lanes
    reciprocal = lanes.float_divide(lanes.word(ONE), shader.magnitude(shader.scalar(src)))
    shader.write(dst, lanes.float_function(Elementary.SQUARE_ROOT, reciprocal, reciprocal))


def _function(function: Elementary) -> Callable[..., None]:
    def meaning(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource) -> None:
        value = shader.scalar(src)
        shader.write(dst, shader.lanes.float_function(function, value, value))

    return meaning


def _declare_function(
    mnemonic: str,
    opcode: int,
    latency: int,
    function: Elementary,
    text: str,
    stages: tuple[ShaderStage, ...] = (ShaderStage.VERTEX, ShaderStage.FRAGMENT),
) -> None:
    declares = declare(
        mnemonic,
        opcode,
        SRC,
        latency=latency,
        family=ShaderFamily.FUNCTION,
        scalar=True,
        elementary=True,
        stages=stages,
    )
    declares(described(_function(function), text))


_declare_function("EX2", 0x22, 5, Elementary.EXPONENTIAL, "Power of two: ``2^src``.")
_declare_function("LG2", 0x23, 5, Elementary.LOGARITHM, "Logarithm to the base two of ``src``.")
_declare_function("SIN", 0x24, 12, Elementary.SINE, "Sine of ``src`` in radians.", (ShaderStage.FRAGMENT,))
_declare_function("COS", 0x25, 12, Elementary.COSINE, "Cosine of ``src`` in radians.", (ShaderStage.FRAGMENT,))


@declare(
    "EXP",
    0x26,
    SRC,
    latency=9,
    family=ShaderFamily.FUNCTION,
    scalar=True,
    elementary=True,
    stages=(ShaderStage.VERTEX,),
)
def _exp(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource) -> None:
    """Parts of a power of two: ``2^floor(src)``, ``src - floor(src)``, ``2^src``, 1."""
    lanes = shader.lanes
    value = shader.scalar(src)
    whole = floor(shader, value)
    shader.write(
        dst,
        shader.gathered(
            lanes.float_function(Elementary.EXPONENTIAL, whole, whole),
            lanes.float_add(value, shader.negated(whole)),
            lanes.float_function(Elementary.EXPONENTIAL, value, value),
            lanes.word(ONE),
        ),
    )


@declare(
    "LOG",
    0x27,
    SRC,
    latency=9,
    family=ShaderFamily.FUNCTION,
    scalar=True,
    elementary=True,
    stages=(ShaderStage.VERTEX,),
)
def _log(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource) -> None:
    """Parts of a logarithm of ``m = |src|``: ``floor(log2 m)``, ``m / 2^floor(log2 m)``, ``log2 m``, 1."""
    lanes = shader.lanes
    value = shader.magnitude(shader.scalar(src))
    logarithm = lanes.float_function(Elementary.LOGARITHM, value, value)
    whole = floor(shader, logarithm)
    power = lanes.float_function(Elementary.EXPONENTIAL, whole, whole)
    shader.write(dst, shader.gathered(whole, lanes.float_divide(value, power), logarithm, lanes.word(ONE)))
