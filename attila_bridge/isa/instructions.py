"""Meaning: the ARB instructions, each declared with its meaning."""

from __future__ import annotations

from collections.abc import Callable

from attila_bridge.isa.declarations import ShaderFamily, ShaderUnit, declare, described
from attila_bridge.isa.execution import ONE, Lookup, ShaderExecution
from attila_bridge.isa.operands import (
    SAMPLER,
    SRC,
    SRC0,
    SRC1,
    SRC2,
    ShaderDestination,
    ShaderSource,
    ShaderStage,
    TextureOperand,
)
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import Elementary, Rounding

# Moves, arithmetic, dot products and compares, component by component. Every operation rounds once, to float32.


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


# Instructions that end inputs.


@declare("KIL", 0x50, SRC, latency=3, family=ShaderFamily.FLOW, stages=(ShaderStage.FRAGMENT,), writes=False)
def _kil(shader: ShaderExecution[Word, Bit], src: ShaderSource) -> None:
    """Kill the fragment where a component of ``src`` is less than 0: no colour is written, depth may have been."""
    shader.kill(shader.lanes.float_less(shader.source(src), shader.lanes.word(0)))


# Functions of one component: the result goes to all components of the destination.
#
# Roots, powers of two, logarithms and angles are evaluated in float64 and rounded once; the reciprocal is a division.


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


# Lighting coefficients and distance vectors, each put together component by component.


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


# Texture reads: the coordinates go to a texture unit, the colour comes back.


def _read(lookup: Lookup) -> Callable[..., None]:
    def meaning(
        shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource, unit: TextureOperand
    ) -> None:
        shader.write(dst, shader.sample(unit.number, shader.source(src), lookup))

    return meaning


def _declare_read(mnemonic: str, opcode: int, latency: int, lookup: Lookup) -> None:
    declares = declare(
        *(mnemonic, opcode, SRC, SAMPLER),
        latency=latency,
        family=ShaderFamily.TEXTURE,
        unit=ShaderUnit.TEXTURE,
        stages=(ShaderStage.FRAGMENT,),
    )
    declares(described(_read(lookup), f"Read a texture at ``{lookup.value}`` of ``src``."))


_declare_read("TEX", 0x40, 1, Lookup.PLAIN)
_declare_read("TXB", 0x41, 1, Lookup.BIASED)
_declare_read("TXP", 0x42, 5, Lookup.PROJECTED)
