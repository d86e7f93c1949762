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

# Most instructions compute a word from one to three words and write it: `computed` fetches sources and writes the
# destination. The meaning of a scalar instruction gets the one component that its source names, in all four.


_SOURCES = {1: (SRC,), 2: (SRC0, SRC1), 3: (SRC0, SRC1, SRC2)}
_VERTEX, _FRAGMENT = (ShaderStage.VERTEX,), (ShaderStage.FRAGMENT,)
_BOTH = (*_VERTEX, *_FRAGMENT)
_SIMPLE = 3


def computed(
    mnemonic: str,
    opcode: int,
    sources: int,
    family: ShaderFamily,
    *,
    latency: int = _SIMPLE,
    stages: tuple[ShaderStage, ...] = _BOTH,
    scalar: bool = False,
    elementary: bool = False,
) -> Callable[[Callable[..., Word]], Callable[..., Word]]:
    """Declare the decorated function, from words to the word written, as an instruction of 1 to 3 ``sources``."""

    def declares(result: Callable[..., Word]) -> Callable[..., Word]:
        def meaning(shader: ShaderExecution[Word, Bit], dst: ShaderDestination, *operands: ShaderSource) -> None:
            fetch = shader.scalar if scalar else shader.source
            shader.write(dst, result(shader, *map(fetch, operands)))

        declare(
            mnemonic,
            opcode,
            *_SOURCES[sources],
            latency=latency,
            family=family,
            stages=stages,
            scalar=scalar,
            elementary=elementary,
        )(described(meaning, result.__doc__ or ""))
        return result

    return declares


# Moves, arithmetic, dot products and compares, component by component. Every operation rounds once, to float32.


_EXACT_FROM = 0x4B000000
"""2^23: greater floats have no fraction."""


@computed("MOV", 0x01, 1, ShaderFamily.MOVE)
def _mov(shader: ShaderExecution[Word, Bit], src: Word) -> Word:
    """Copy ``src``."""
    return src


@computed("ARL", 0x02, 1, ShaderFamily.MOVE, stages=_VERTEX, scalar=True)
def _arl(shader: ShaderExecution[Word, Bit], src: Word) -> Word:
    """Load the address register with ``src`` rounded down to an integer."""
    return shader.lanes.to_integer(src, Rounding.DOWN)


@computed("ADD", 0x03, 2, ShaderFamily.ARITHMETIC)
def _add(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Add: ``src0 + src1``."""
    return shader.lanes.float_add(a, b)


@computed("MUL", 0x05, 2, ShaderFamily.ARITHMETIC)
def _mul(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Multiply: ``src0 src1``."""
    return shader.lanes.float_multiply(a, b)


@computed("MAD", 0x06, 3, ShaderFamily.ARITHMETIC)
def _mad(shader: ShaderExecution[Word, Bit], a: Word, b: Word, c: Word) -> Word:
    """Multiply, round, add, round: ``src0 src1 + src2``."""
    return shader.lanes.float_add(shader.lanes.float_multiply(a, b), c)


def _dot(shader: ShaderExecution[Word, Bit], a: Word, b: Word, terms: int) -> Word:
    """Return the sum of the first products from left to right, each operation rounded."""
    lanes = shader.lanes
    products = lanes.float_multiply(a, b)
    total = shader.component(products, 0)
    for at in range(1, terms):
        total = lanes.float_add(total, shader.component(products, at))
    return total


@computed("DP3", 0x07, 2, ShaderFamily.PRODUCT)
def _dp3(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Dot product of three components: ``(xx + yy) + zz``, in all components."""
    return _dot(shader, a, b, 3)


@computed("DP4", 0x08, 2, ShaderFamily.PRODUCT)
def _dp4(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Dot product of four components: ``((xx + yy) + zz) + ww``, in all components."""
    return _dot(shader, a, b, 4)


@computed("DPH", 0x09, 2, ShaderFamily.PRODUCT)
def _dph(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Homogeneous dot product: ``((xx + yy) + zz) + w`` of ``src1``, in all components."""
    return shader.lanes.float_add(_dot(shader, a, b, 3), shader.component(b, 3))


@computed("MIN", 0x0A, 2, ShaderFamily.COMPARE)
def _min(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Take the smaller one: ``src0`` where it is less than ``src1``."""
    return shader.lanes.select(shader.lanes.float_less(a, b), a, b)


@computed("MAX", 0x0B, 2, ShaderFamily.COMPARE)
def _max(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Take the greater one: ``src0`` where it is greater than ``src1``."""
    return shader.lanes.select(shader.lanes.float_less(b, a), a, b)


@computed("SLT", 0x0C, 2, ShaderFamily.COMPARE)
def _slt(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Set 1.0 where ``src0 < src1``, else 0.0."""
    return shader.number(shader.lanes.float_less(a, b))


@computed("SGE", 0x0D, 2, ShaderFamily.COMPARE)
def _sge(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Set 1.0 where ``src0 >= src1``, else 0.0."""
    lanes = shader.lanes
    return shader.number(lanes.either(lanes.float_less(b, a), lanes.float_equal(a, b)))


@computed("CMP", 0x0E, 3, ShaderFamily.COMPARE, stages=_FRAGMENT)
def _cmp(shader: ShaderExecution[Word, Bit], a: Word, b: Word, c: Word) -> Word:
    """Select ``src1`` where ``src0 < 0``, else ``src2``."""
    return shader.lanes.select(shader.lanes.float_less(a, shader.lanes.word(0)), b, c)


def floor(shader: ShaderExecution[Word, Bit], value: Word) -> Word:
    """Return the greatest whole number that is not above the value."""
    lanes = shader.lanes
    small = lanes.less(shader.magnitude(value), lanes.word(_EXACT_FROM), signed=False)
    whole = lanes.to_float(lanes.to_integer(value, Rounding.DOWN), signed=True)
    return lanes.select(small, whole, value)


@computed("FRC", 0x0F, 1, ShaderFamily.ARITHMETIC)
def _frc(shader: ShaderExecution[Word, Bit], src: Word) -> Word:
    """Fraction: ``src - floor(src)``."""
    return shader.lanes.float_add(src, shader.negated(floor(shader, src)))


# Instructions that end inputs.


@declare("KIL", 0x50, SRC, latency=3, family=ShaderFamily.FLOW, stages=_FRAGMENT, writes=False)
def _kil(shader: ShaderExecution[Word, Bit], src: ShaderSource) -> None:
    """Kill the fragment where a component of ``src`` is less than 0: no colour is written, depth may have been."""
    shader.kill(shader.lanes.float_less(shader.source(src), shader.lanes.word(0)))


# Functions of one component: the result goes to all components of the destination. Roots, powers of two, logarithms and
# angles are evaluated in float64 and rounded once; the reciprocal is a division.


@computed("RCP", 0x20, 1, ShaderFamily.FUNCTION, latency=5, scalar=True)
def _rcp(shader: ShaderExecution[Word, Bit], src: Word) -> Word:
    """Reciprocal: ``1 / src``."""
    return shader.lanes.float_divide(shader.lanes.word(ONE), src)


@computed("RSQ", 0x21, 1, ShaderFamily.FUNCTION, latency=5, scalar=True, elementary=True)
def _rsq(shader: ShaderExecution[Word, Bit], src: Word) -> Word:
    """Reciprocal of the root: ``sqrt(1 / |src|)``, the reciprocal rounded before the root is taken."""
    lanes = shader.lanes
    reciprocal = lanes.float_divide(lanes.word(ONE), shader.magnitude(src))
    return lanes.float_function(Elementary.SQUARE_ROOT, reciprocal, reciprocal)


def _declare_function(
    mnemonic: str, opcode: int, latency: int, function: Elementary, text: str, stages: tuple[ShaderStage, ...] = _BOTH
) -> None:
    def result(shader: ShaderExecution[Word, Bit], src: Word) -> Word:
        return shader.lanes.float_function(function, src, src)

    declares = computed(
        mnemonic, opcode, 1, ShaderFamily.FUNCTION, latency=latency, stages=stages, scalar=True, elementary=True
    )
    declares(described(result, text))


_declare_function("EX2", 0x22, 5, Elementary.EXPONENTIAL, "Power of two: ``2^src``.")
_declare_function("LG2", 0x23, 5, Elementary.LOGARITHM, "Logarithm to the base two of ``src``.")
_declare_function("SIN", 0x24, 12, Elementary.SINE, "Sine of ``src`` in radians.", _FRAGMENT)
_declare_function("COS", 0x25, 12, Elementary.COSINE, "Cosine of ``src`` in radians.", _FRAGMENT)


@computed("EXP", 0x26, 1, ShaderFamily.FUNCTION, latency=9, stages=_VERTEX, scalar=True, elementary=True)
def _exp(shader: ShaderExecution[Word, Bit], src: Word) -> Word:
    """Parts of a power of two: ``2^floor(src)``, ``src - floor(src)``, ``2^src``, 1."""
    lanes = shader.lanes
    whole = floor(shader, src)
    return shader.gathered(
        lanes.float_function(Elementary.EXPONENTIAL, whole, whole),
        lanes.float_add(src, shader.negated(whole)),
        lanes.float_function(Elementary.EXPONENTIAL, src, src),
        lanes.word(ONE),
    )


@computed("LOG", 0x27, 1, ShaderFamily.FUNCTION, latency=9, stages=_VERTEX, scalar=True, elementary=True)
def _log(shader: ShaderExecution[Word, Bit], src: Word) -> Word:
    """Parts of a logarithm of ``m = |src|``: ``floor(log2 m)``, ``m / 2^floor(log2 m)``, ``log2 m``, 1."""
    lanes = shader.lanes
    value = shader.magnitude(src)
    logarithm = lanes.float_function(Elementary.LOGARITHM, value, value)
    whole = floor(shader, logarithm)
    power = lanes.float_function(Elementary.EXPONENTIAL, whole, whole)
    return shader.gathered(whole, lanes.float_divide(value, power), logarithm, lanes.word(ONE))


# Lighting coefficients and distance vectors, put together component by component.


_LARGEST_POWER = 0x43000000
"""128.0, which powers of highlights are clamped to."""


@computed("DST", 0x30, 2, ShaderFamily.LIGHTING, latency=4)
def _dst(shader: ShaderExecution[Word, Bit], a: Word, b: Word) -> Word:
    """Distance vector: ``(1, src0.y src1.y, src0.z, src1.w)``."""
    return shader.gathered(shader.lanes.word(ONE), shader.lanes.float_multiply(a, b), a, b)


@computed("LIT", 0x31, 1, ShaderFamily.LIGHTING, latency=4, elementary=True)
def _lit(shader: ShaderExecution[Word, Bit], src: Word) -> Word:
    """Lighting: ``(1, max(x, 0), y^w where x > 0, 1)`` with y at least 0, w within -128..128."""
    lanes = shader.lanes
    zero, one = lanes.word(0), lanes.word(ONE)
    x, y, w = (shader.component(src, at) for at in (0, 1, 3))
    lit = lanes.float_less(zero, x)
    base = lanes.select(lanes.float_less(y, zero), zero, y)
    most = lanes.word(_LARGEST_POWER)
    least = shader.negated(most)
    power = lanes.select(lanes.float_less(w, least), least, lanes.select(lanes.float_less(most, w), most, w))
    highlight = lanes.float_function(Elementary.POWER, base, power)
    return shader.gathered(one, lanes.select(lit, x, zero), lanes.select(lit, highlight, zero), one)


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
        stages=_FRAGMENT,
    )
    declares(described(_read(lookup), f"Read a texture at ``{lookup.value}`` of ``src``."))


_declare_read("TEX", 0x40, 1, Lookup.PLAIN)
_declare_read("TXB", 0x41, 1, Lookup.BIASED)
_declare_read("TXP", 0x42, 5, Lookup.PROJECTED)
