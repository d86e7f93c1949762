"""Float arithmetic, multiply-add, compares and conversions of the vector unit."""

from __future__ import annotations

from collections.abc import Callable

from larrabee_bridge.isa.declarations import (
    Family,
    Type,
    declare,
    described,
    masked,
    source,
    spec,
    write,
)
from pixelflow.simd.lanes.wide.numbers import Rounding
from pixelflow.simd.units import Standing

__all__ = ["negated"]


def negated(lanes, value):
    """Return -value; a NaN stays as it is."""
    return lanes.select(lanes.float_equal(value, value), lanes.differ(value, lanes.word(0x80000000)), value)


def _arithmetic(mnemonic: str, operation: Callable, text: str) -> None:
    def meaning(lanes, dst, a, src) -> None:
        write(lanes, dst, operation(lanes, lanes.load(a.number), source(lanes, src, Type.FLOAT)))

    declare(mnemonic, "dst", "a", "src", family=Family.FLOAT)(described(meaning, text))


_arithmetic("vaddps", lambda lanes, a, b: lanes.float_add(a, b), "Add floats: dst = a + src.")
_arithmetic("vsubps", lambda lanes, a, b: lanes.float_add(a, negated(lanes, b)), "Subtract floats: dst = a - src.")
_arithmetic(
    "vsubrps",
    lambda lanes, a, b: lanes.float_add(negated(lanes, a), b),
    "Subtract floats in reverse: dst = src - a.\n\nThe source in memory is what is subtracted from.",
)
_arithmetic("vmulps", lambda lanes, a, b: lanes.float_multiply(a, b), "Multiply floats: dst = a * src.")
_arithmetic(
    "vminps",
    lambda lanes, a, b: lanes.select(lanes.float_less(a, b), a, b),
    "Smaller float: dst = a where a < src, else src.\n\nSo a NaN in either gives src, as in the x86 family.",
)
_arithmetic(
    "vmaxps",
    lambda lanes, a, b: lanes.select(lanes.float_less(b, a), a, b),
    "Larger float: dst = a where a > src, else src.\n\nSo a NaN in either gives src, as in the x86 family.",
)


@declare("vaddsetsps", "dst", "kdst", "a", "src", family=Family.FLOAT)
def vaddsetsps(lanes, dst, kdst, a, src) -> None:
    """Add floats and set a mask to the signs: dst = a + src, kdst = sign bits of the sums.

    -0.0 counts as negative. Lanes that are not written get a clear bit in kdst (invented).
    """
    total = lanes.float_add(lanes.load(a.number), source(lanes, src, Type.FLOAT))
    set_signs(lanes, dst, kdst, total)


def set_signs(lanes, dst, kdst, total) -> None:
    """Write a vector under its mask, and a mask register to the sign bits of what was written."""
    where = masked(lanes, dst)
    signs = lanes.less(total, lanes.word(0), signed=True)
    lanes.store(dst.number, total, where)
    lanes.set_flag(f"k{kdst.number}", signs if where is None else lanes.both(signs, where))


# --- multiply-add ----------------------------------------------------------------------------------------------

_ORDERS = {
    "132": ("dst * src", "a", lambda dst, a, src: (dst, src, a)),
    "213": ("a * dst", "src", lambda dst, a, src: (a, dst, src)),
    "231": ("a * src", "dst", lambda dst, a, src: (a, src, dst)),
}
"""Which of the three operands are multiplied, and which is added."""

_SIGNS = {
    "vmadd": (False, False, "{0} + {1}"),
    "vmsub": (False, True, "{0} - {1}"),
    "vmaddn": (True, False, "-({0}) + {1}"),
    "vmsubn": (True, True, "-({0}) - {1}"),
}
"""Whether the product and the addend are negated."""


def _fused(name: str, order: str) -> None:
    product, addend, pick = _ORDERS[order]
    minus_product, minus_addend, formula = _SIGNS[name]

    def meaning(lanes, dst, a, src) -> None:
        x, y, z = pick(lanes.load(dst.number), lanes.load(a.number), source(lanes, src, Type.FLOAT))
        x = negated(lanes, x) if minus_product else x
        z = negated(lanes, z) if minus_addend else z
        write(lanes, dst, lanes.float_fuse(x, y, z))

    text = f"Multiply-add, rounded once: dst = {formula.format(product, addend)}."
    if minus_product:
        text += "\n\nThe name is published, which signs it turns is taken from the descendants (FNMADD, FNMSUB)."
    standing = Standing.INVENTED if minus_product else Standing.DERIVED
    declare(f"{name}{order}ps", "dst", "a", "src", family=Family.FUSED, standing=standing)(described(meaning, text))


for _name in _SIGNS:
    for _order in _ORDERS:
        _fused(_name, _order)


@declare("vmadd233ps", "dst", "a", "src", family=Family.FUSED, standing=Standing.INVENTED)
def vmadd233ps(lanes, dst, a, src) -> None:
    """Scale and bias: dst = a * scale + bias, rounded once.

    Within each four lanes the scale is lane 1 and the bias lane 0 of src. The order exists in the published list; which
    lanes it takes is recalled from the descendant.
    """
    both = source(lanes, src, Type.FLOAT)
    scale, bias = (lanes.route(both, [lane & ~3 | at for lane in range(16)]) for at in (1, 0))
    write(lanes, dst, lanes.float_fuse(lanes.load(a.number), scale, bias))


# --- compares --------------------------------------------------------------------------------------------------


def _ordered(lanes, a, b):
    return lanes.both(lanes.float_equal(a, a), lanes.float_equal(b, b))


def _less_or_equal(lanes, a, b):
    return lanes.either(lanes.float_less(a, b), lanes.float_equal(a, b))


_COMPARES = {
    "eq": ("a == src", lambda lanes, a, b: lanes.float_equal(a, b)),
    "lt": ("a < src", lambda lanes, a, b: lanes.float_less(a, b)),
    "le": ("a <= src", _less_or_equal),
    "unord": ("a or src is a NaN", lambda lanes, a, b: lanes.complement(_ordered(lanes, a, b))),
    "neq": ("not a == src", lambda lanes, a, b: lanes.complement(lanes.float_equal(a, b))),
    "nlt": ("not a < src", lambda lanes, a, b: lanes.complement(lanes.float_less(a, b))),
    "nle": ("not a <= src", lambda lanes, a, b: lanes.complement(_less_or_equal(lanes, a, b))),
    "ord": ("neither a nor src is a NaN", _ordered),
}


def _compare(name: str) -> None:
    condition, compare = _COMPARES[name]

    def meaning(lanes, result, a, src) -> None:
        set_mask(lanes, result, compare(lanes, lanes.load(a.number), source(lanes, src, Type.FLOAT)))

    text = f"Compare floats: bits of result are set where {condition}.\n\nUnder a mask, other lanes get a clear bit."
    declare(f"vcmp{name}ps", "result", "a", "src", family=Family.COMPARE)(described(meaning, text))


def set_mask(lanes, result, bits) -> None:
    """Write a mask register to the result of a compare, clear where its own mask is clear."""
    where = masked(lanes, result)
    lanes.set_flag(f"k{result.number}", bits if where is None else lanes.both(bits, where))


for _name in _COMPARES:
    _compare(_name)

# --- conversions -----------------------------------------------------------------------------------------------


@declare("vcvtpi2ps", "dst", "src", family=Family.CONVERT)
def vcvtpi2ps(lanes, dst, src) -> None:
    """Convert signed integers to the nearest floats."""
    write(lanes, dst, lanes.to_float(source(lanes, src, Type.INTEGER), signed=True))


@declare("vcvtpu2ps", "dst", "src", family=Family.CONVERT)
def vcvtpu2ps(lanes, dst, src) -> None:
    """Convert unsigned integers to the nearest floats."""
    write(lanes, dst, lanes.to_float(source(lanes, src, Type.INTEGER), signed=False))


@declare("vcvtps2pi", "dst", "src", spec("rounding", 0, 3), family=Family.CONVERT)
def vcvtps2pi(lanes, dst, src, rounding: int) -> None:
    """Convert floats to signed integers; rounding 0 is to nearest even, 1 down, 2 up, 3 towards zero.

    A NaN and what is out of range give 0x80000000.
    """
    write(lanes, dst, lanes.to_integer(source(lanes, src, Type.FLOAT), Rounding(rounding)))
