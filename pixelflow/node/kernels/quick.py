"""Operations on binary32 by the host's arithmetic, and the lanes in which the microcode gives other bits.

Both round to nearest even. The microcode treats numbers below the least normal one as 0, as operand and as result, and
has different rules for infinities and NaNs. A kernel of one operation therefore flushes such operands to 0; where a
result is not 0 and at most the least normal number, or has the exponent 255, there is doubt, and `float_arithmetic.py`
computes all 64 lanes. Where many operations follow each other, `Doubts` checks once. It makes no difference whether
the host flushes subnormal numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from pixelflow.simd.lanes.native.function_text import LaneVector

_SIGN = 1 << 31
_ONE = 1 << 23
"""1 in the exponent: the least normal number."""
_ALL = 255 * _ONE


def flushed(x: LaneVector) -> LaneVector:
    """Return 0 with the same sign in place of numbers below the normal ones."""
    return (x & _ALL).equals(0).of(x & _SIGN, x)


def computed(step: str, a: LaneVector, *b: LaneVector) -> LaneVector:
    """Return the result of a step on patterns.

    A quotient is 0 where b has the exponent 255, as for the entries that handle infinities.
    """
    x, *y = (each.viewed("float") for each in (a, *b))
    return (x.step(step, *y) if y else x.called(step)).viewed("i32")


def doubtful(x: LaneVector) -> LaneVector:
    """Return where a result may not be the microcode's."""
    # Without its sign a result is doubled and moved up, so that the largest patterns come round to the least ones.
    moved = x + x + 2 * _ONE
    return (moved < 4 * _ONE + 1) & moved.differs(2 * _ONE)


def infinite(x: LaneVector) -> LaneVector:
    """Return where the exponent is 255."""
    return (x + x) >= 2 * _ALL


_COARSE = 25 * _ONE
"""2^-102, whose last bit is worth 2^-125."""


@dataclass(slots=True)
class Doubts:
    """One check for many results, in fewer steps than one check each, whether any may differ from the microcode's.

    Operands from elsewhere, products, quotients and roots are in doubt between 0 and 2^-102: then all others are
    multiples of 2^-125, and so are their sums and differences, which need no check. Infinities and NaNs are checked
    where they end up: a sum, difference, product, root, and a quotient by a number are infinite or NaN where an operand
    is.
    """

    _least: LaneVector | None = None
    """The least of the numbers without sign, doubled, less 1; 0 counts as the largest."""
    _open: dict[str, LaneVector] = field(default_factory=dict)
    """Results that have not been used as operands."""

    def look_at(self, number: LaneVector) -> None:
        """Put a number in doubt that is small but not 0."""
        size = number + number - 1
        self._least = size if self._least is None else self._least.called("umin", size)

    def add(self, result: LaneVector, passed_on: Sequence[LaneVector]) -> None:
        """Note a result, and the operands whose infinities and NaNs it passes on."""
        for each in passed_on:
            self._open.pop(each.name, None)
        self._open[result.name] = result

    def keep_open(self, number: LaneVector) -> None:
        """Note an operand whose infinities no result passes on."""
        self._open[number.name] = number

    def anywhere(self) -> LaneVector | None:
        """Return where there is doubt; None where there is no result."""
        if self._least is None:
            return None
        return reduce(or_, map(infinite, self._open.values()), self._least < 2 * _COARSE - 1)
