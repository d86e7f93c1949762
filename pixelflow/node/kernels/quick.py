"""Operations on binary32 as the host's own arithmetic does them, and for which lanes the microcode gives other bits.

Both round to nearest even. The microcode takes what is below the least normal number for 0, as operand and as result,
and has ways of its own with infinities and NaNs. A kernel of one operation therefore makes operands 0 where they are
below (`flushed`); where a result is not 0 and at most the least normal number, or has the exponent 255, there is doubt,
and `arithmetic.py` computes all lanes that are worked on together. Where many operations follow each other, `Doubts`
asks once. Nothing depends on whether the host keeps or flushes what is below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from pixelflow.node.kernels.vector import LaneVector, VectorChoice

_SIGN = 1 << 31
_ONE = 1 << 23
"""1 in the exponent: the least normal number."""
_ALL = 255 * _ONE


def flushed(x: LaneVector) -> LaneVector:
    """Return 0 with the same sign in place of numbers below the normal ones."""
    return (x & _ALL).equals(0).of(x & _SIGN, x)


def summed(a: LaneVector, b: LaneVector, *, subtract: bool) -> LaneVector:
    """Return a + b or a - b."""
    return a.in_floats("fsub" if subtract else "fadd", b)


def multiplied(a: LaneVector, b: LaneVector) -> LaneVector:
    """Return a * b."""
    return a.in_floats("fmul", b)


def divided(a: LaneVector, b: LaneVector) -> LaneVector:
    """Return a / b. Where b has the exponent 255 that is 0, as it is for the entries that know infinities."""
    return a.in_floats("fdiv", b)


def root(a: LaneVector) -> LaneVector:
    """Return the square root of a."""
    return a.root_of_floats()


def doubtful(x: LaneVector) -> VectorChoice:
    """Return where a result may not be the microcode's."""
    # Without its sign a result is doubled and moved up, so that the largest patterns come round to the least ones.
    moved = x + x + 2 * _ONE
    return (moved < 4 * _ONE + 1) & moved.differs(2 * _ONE)


def infinite(x: LaneVector) -> VectorChoice:
    """Return where the exponent is 255."""
    return (x + x) >= 2 * _ALL


_COARSE = 25 * _ONE
"""2^-102, whose last bit is worth 2^-125."""


@dataclass(slots=True)
class Doubts:
    """Whether any of many results may not be the microcode's, asked once, in fewer steps than one by one.

    Operands from elsewhere, products, quotients and roots are doubtful between 0 and 2^-102: then all others are
    multiples of 2^-125, and so are sums and differences of them, which need no look as they cannot be less. Infinities
    and NaNs are looked for where they end up: a sum, a difference, a product, a root and a quotient by a number are
    infinite or no number themselves where an operand is.
    """

    _least: LaneVector | None = None
    """The least of the numbers without sign, doubled, less 1; 0 counts as the largest."""
    _open: dict[str, LaneVector] = field(default_factory=dict)
    """Results that nobody has computed with."""

    def look_at(self, number: LaneVector) -> None:
        """Doubt a number that is small but not 0."""
        size = number + number - 1
        self._least = size if self._least is None else self._least.least(size)

    def add(self, result: LaneVector, passed_on: Sequence[LaneVector]) -> None:
        """Note a result, and the operands that it is infinite or no number with."""
        for each in passed_on:
            self._open.pop(each.name, None)
        self._open[result.name] = result

    def keep_open(self, number: LaneVector) -> None:
        """Note a number whose infinities no result passes on."""
        self._open[number.name] = number

    def anywhere(self) -> VectorChoice | None:
        """Return where there is doubt; None where there is no result."""
        if self._least is None:
            return None
        return reduce(or_, map(infinite, self._open.values()), self._least < 2 * _COARSE - 1)
