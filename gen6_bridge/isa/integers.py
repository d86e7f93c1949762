"""Integers as the EU computes them: exact, with a static range that says which words are needed.

A number is its low 32 bits and, where its range needs them, 32 more, computed on demand. Products of 32 by 32 bits and
sums in the accumulator are wide; most numbers are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from gen6_bridge.isa.operands import EuType, float_bits
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra, Rounding

_SIGN = 0x80000000
_ALL = 0xFFFFFFFF
_MAGNITUDE, _INFINITY = 0x7FFFFFFF, 0x7F800000
_BELOW_D = -2147483904.0
"""The largest float below -2^31."""
WIDEST = (-(1 << 63), (1 << 63) - 1)
"""The range of the accumulator."""


@dataclass(frozen=True, slots=True)
class Integer(Generic[Word]):
    """An exact integer in each lane, in two's complement of 64 bits."""

    low: Word
    range: tuple[int, int]
    """Bounds of the values of all lanes."""
    upper: Callable[[], Word] | None = None
    """Where the range needs more than 32 bits: the upper word."""

    @property
    def signed(self) -> bool:
        """True if every value fits 32 bits with a sign."""
        return self.range[0] >= -(1 << 31) and self.range[1] < 1 << 31

    @property
    def unsigned(self) -> bool:
        """True if every value fits 32 bits without a sign."""
        return self.range[0] >= 0 and self.range[1] <= _ALL


class Integers(Generic[Word, Bit]):
    """Arithmetic on exact integers over an algebra."""

    def __init__(self, lanes: NumberAlgebra[Word, Bit]) -> None:
        self._lanes = lanes

    # --- making ---------------------------------------------------------------------------------------------------

    def of(self, bits: Word, kind: EuType) -> Integer[Word]:
        """Return integers of a type from their low bits; bits above its size are ignored."""
        return Integer(self.extended(bits, kind), (kind.lowest, kind.highest))

    def constant(self, value: int) -> Integer[Word]:
        """Return the same integer in every lane."""
        return Integer(self._lanes.word(value & _ALL), (value, value), lambda: self._lanes.word(value >> 32 & _ALL))

    def wide(self, low: Word, high: Word) -> Integer[Word]:
        """Return integers of 64 bits."""
        return Integer(low, WIDEST, lambda: high)

    def extended(self, bits: Word, kind: EuType) -> Word:
        """Return the low bits of a type as 32: with copies of its sign, or zeros."""
        lanes, width = self._lanes, 8 * kind.size
        if width == 32:
            return bits
        low = lanes.both(bits, lanes.word((1 << width) - 1))
        if not kind.signed:
            return low
        sign = 1 << width - 1
        return lanes.add(lanes.differ(low, lanes.word(sign)), lanes.word(-sign & _ALL), lanes.bit(False))[0]

    def upper(self, a: Integer[Word]) -> Word:
        """Return the upper 32 of 64 bits."""
        if a.unsigned:
            return self._lanes.word(0)
        if a.signed or a.upper is None:
            return self._lanes.shift_down(a.low, self._lanes.word(31), signed=True)
        return a.upper()

    # --- signs ----------------------------------------------------------------------------------------------------

    def negative(self, a: Integer[Word]) -> Bit:
        """Return whether a < 0."""
        if a.range[0] >= 0:
            return self._lanes.bit(False)
        return self._lanes.less(a.low if a.signed else self.upper(a), self._lanes.word(0), signed=True)

    def negated(self, a: Integer[Word]) -> Integer[Word]:
        """Return -a."""
        return self.sum(self.constant(0), a, subtract=True)

    def absolute(self, a: Integer[Word]) -> Integer[Word]:
        """Return the magnitude of a."""
        if a.range[0] >= 0:
            return a
        lanes, minus, below = self._lanes, self.negated(a), self.negative(a)
        return Integer(
            lanes.select(below, minus.low, a.low),
            (0, max(-a.range[0], a.range[1])),
            lambda: lanes.select(below, self.upper(minus), self.upper(a)),
        )

    # --- arithmetic -----------------------------------------------------------------------------------------------

    def sum(self, a: Integer[Word], b: Integer[Word], *, subtract: bool = False) -> Integer[Word]:
        """Return a + b, or a - b."""
        lanes, carry_in = self._lanes, self._lanes.bit(subtract)
        low, carry = lanes.add(a.low, lanes.complement(b.low) if subtract else b.low, carry_in)

        def upper() -> Word:
            high = self.upper(b)
            return lanes.add(self.upper(a), lanes.complement(high) if subtract else high, carry)[0]

        least, most = (-b.range[1], -b.range[0]) if subtract else b.range
        return Integer(low, self._bounded(a.range[0] + least, a.range[1] + most), upper)

    def product(self, a: Integer[Word], b: Integer[Word]) -> Integer[Word]:
        """Return a * b."""
        lanes = self._lanes
        corners = [x * y for x in a.range for y in b.range]
        bounds = self._bounded(min(corners), max(corners))
        if a.signed and b.signed:
            low, high = lanes.multiply(a.low, b.low, signed=True)
            return Integer(low, bounds, lambda: high)
        low, partial = lanes.multiply(a.low, b.low, signed=False)

        def upper() -> Word:
            total = partial
            for x, y in ((a, b), (b, a)):
                cross = lanes.multiply(self.upper(x), y.low, signed=False)[0]
                total = lanes.add(total, cross, lanes.bit(False))[0]
            return total

        return Integer(low, bounds, upper)

    def shifted_up(self, a: Integer[Word], by: Word) -> Integer[Word]:
        """Return a * 2^by for counts below 32."""
        lanes = self._lanes

        def upper() -> Word:
            rest = lanes.add(lanes.word(32), lanes.complement(by), lanes.bit(True))[0]
            return lanes.either(lanes.shift_up(self.upper(a), by), lanes.shift_down(a.low, rest, signed=False))

        return Integer(lanes.shift_up(a.low, by), self._bounded(a.range[0] << 31, a.range[1] << 31), upper)

    def shifted_down(self, a: Integer[Word], by: Word) -> Integer[Word]:
        """Return a / 2^by, rounded down, for counts below 32."""
        lanes = self._lanes
        if a.signed or a.unsigned:
            low = lanes.shift_down(a.low, by, signed=a.signed)
            return Integer(low, (min(a.range[0], 0), max(a.range[1], 0)))
        rest = lanes.add(lanes.word(32), lanes.complement(by), lanes.bit(True))[0]
        high = self.upper(a)
        low = lanes.either(lanes.shift_down(a.low, by, signed=False), lanes.shift_up(high, rest))
        return Integer(low, a.range, lambda: lanes.shift_down(high, by, signed=True))

    def bitwise(self, operation: Callable[[Word, Word], Word], a: Integer[Word], b: Integer[Word]) -> Integer[Word]:
        """Return an operation on all bits of both."""
        low = operation(a.low, b.low)
        if a.range[0] >= 0 and b.range[0] >= 0 and a.unsigned and b.unsigned:
            return Integer(low, (0, (1 << max(a.range[1], b.range[1]).bit_length()) - 1))
        if a.signed and b.signed:
            return Integer(low, (-(1 << 31), (1 << 31) - 1))
        return Integer(low, WIDEST, lambda: operation(self.upper(a), self.upper(b)))

    @staticmethod
    def _bounded(low: int, high: int) -> tuple[int, int]:
        """Return a range; sums that the accumulator's 64 bits cannot hold wrap."""
        return (max(low, WIDEST[0]), min(high, WIDEST[1]))

    # --- comparing ------------------------------------------------------------------------------------------------

    def equal(self, a: Integer[Word], b: Integer[Word]) -> Bit:
        """Return whether a == b."""
        lanes = self._lanes
        if (a.signed and b.signed) or (a.unsigned and b.unsigned):
            return lanes.equal(a.low, b.low)
        return lanes.both(lanes.equal(a.low, b.low), lanes.equal(self.upper(a), self.upper(b)))

    def less(self, a: Integer[Word], b: Integer[Word]) -> Bit:
        """Return whether a < b."""
        lanes = self._lanes
        if a.signed and b.signed:
            return lanes.less(a.low, b.low, signed=True)
        if a.unsigned and b.unsigned:
            return lanes.less(a.low, b.low, signed=False)
        high, other = self.upper(a), self.upper(b)
        within = lanes.both(lanes.equal(high, other), lanes.less(a.low, b.low, signed=False))
        return lanes.either(lanes.less(high, other, signed=True), within)

    def chosen(self, where: Bit, a: Integer[Word], b: Integer[Word]) -> Integer[Word]:
        """Return a where the bit is set, else b."""
        lanes = self._lanes
        bounds = (min(a.range[0], b.range[0]), max(a.range[1], b.range[1]))
        low = lanes.select(where, a.low, b.low)
        return Integer(low, bounds, lambda: lanes.select(where, self.upper(a), self.upper(b)))

    def clamped(self, a: Integer[Word], kind: EuType) -> Integer[Word]:
        """Return the nearest value of a type."""
        lanes, low, bounds = self._lanes, a.low, a.range
        if bounds[0] < kind.lowest:
            low = lanes.select(self.less(a, self.constant(kind.lowest)), lanes.word(kind.lowest & _ALL), low)
        if bounds[1] > kind.highest:
            low = lanes.select(self.less(self.constant(kind.highest), a), lanes.word(kind.highest), low)
        return Integer(low, (kind.lowest, kind.highest))

    def outside(self, a: Integer[Word], kind: EuType) -> Bit:
        """Return whether a value is outside of a type's range."""
        below, above = self.less(a, self.constant(kind.lowest)), self.less(self.constant(kind.highest), a)
        return self._lanes.either(below, above)

    # --- floats ---------------------------------------------------------------------------------------------------

    def to_float(self, a: Integer[Word]) -> Word:
        """Return the nearest float, ties to even."""
        lanes = self._lanes
        if a.signed or a.unsigned:
            return lanes.to_float(a.low, signed=a.signed)
        magnitude = self.absolute(a)
        low, high = magnitude.low, self.upper(magnitude)
        # Shift down to 32 bits; lost bits become one sticky bit, so that ties are rounded rightly.
        count = lanes.word(0)
        for step in (16, 8, 4, 2, 1):
            large = lanes.less(lanes.word((1 << step) - 1), high, signed=False)
            high = lanes.select(large, lanes.shift_down(high, lanes.word(step), signed=False), high)
            count = lanes.select(large, lanes.add(count, lanes.word(step), lanes.bit(False))[0], count)
        some = lanes.less(lanes.word(0), high, signed=False)
        count = lanes.select(some, lanes.add(count, lanes.word(1), lanes.bit(False))[0], count)
        rest = lanes.add(lanes.word(32), lanes.complement(count), lanes.bit(True))[0]
        lost = lanes.shift_up(low, rest)
        head = lanes.either(lanes.shift_down(low, count, signed=False), lanes.shift_up(self.upper(magnitude), rest))
        head = lanes.either(head, lanes.select(lanes.equal(lost, lanes.word(0)), lanes.word(0), lanes.word(1)))
        exponent = lanes.shift_up(lanes.add(count, lanes.word(127), lanes.bit(False))[0], lanes.word(23))
        scaled = lanes.float_multiply(lanes.to_float(head, signed=False), exponent)
        return lanes.either(scaled, lanes.select(self.negative(a), lanes.word(_SIGN), lanes.word(0)))

    def overflows(self, a: Word, kind: EuType) -> Bit:
        """Return whether a float overflows a type: an infinity, a NaN or a value outside of an integer type."""
        lanes = self._lanes
        if kind.floats:
            return lanes.equal(lanes.both(a, lanes.word(_MAGNITUDE)), lanes.word(_INFINITY))
        below = _BELOW_D if kind is EuType.D else float(kind.lowest - 1)
        low, past = lanes.word(float_bits(below)), lanes.word(float_bits(kind.highest + 1.0))
        return lanes.complement(lanes.both(lanes.float_less(low, a), lanes.float_less(a, past)))

    def from_float(self, a: Word, kind: EuType) -> Integer[Word]:
        """Return floats as integers of a type: toward zero, clamped at its ends, 0 for a NaN."""
        return self.clamped(_truncated(self._lanes, a), kind)


def _truncated(lanes: NumberAlgebra[Word, Bit], a: Word) -> Integer[Word]:
    """Return floats truncated to integers of -2^31 to 2^32 - 1, clamped there; 0 for a NaN."""
    two31, two32, minus31 = (lanes.word(bits) for bits in (0x4F000000, 0x4F800000, 0xCF000000))
    small = lanes.float_less(a, two31)
    reduced = lanes.select(small, a, lanes.float_add(a, minus31))
    whole = lanes.to_integer(reduced, Rounding.TO_ZERO)
    low = lanes.select(small, whole, lanes.differ(whole, lanes.word(_SIGN)))
    low = lanes.select(lanes.complement(lanes.float_less(a, two32)), lanes.word(_ALL), low)
    low = lanes.select(lanes.float_less(a, minus31), lanes.word(_SIGN), low)
    nan = lanes.complement(lanes.float_equal(a, a))
    low = lanes.select(nan, lanes.word(0), low)
    negative = lanes.both(lanes.float_less(a, lanes.word(0)), lanes.complement(nan))
    high = lanes.select(negative, lanes.word(_ALL), lanes.word(0))
    # Between -1 and 0 nothing is left.
    high = lanes.select(lanes.equal(low, lanes.word(0)), lanes.word(0), high)
    return Integer(low, (-(1 << 31), _ALL), lambda: high)
