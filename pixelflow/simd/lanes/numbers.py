"""The algebra with numbers: additional operations where a word has 32 bits and lanes share a memory of bytes.

A word is then also a signed or unsigned integer, or an IEEE binary32, and a pair of words an IEEE binary64. The seams
stay five: `series`, `fetch` and `put` belong to **fetch**, `spread`, `collect` and `rank` to **mask**, everything else
to **operation**. Lane i of a group is bit i of the number that `spread` takes and `collect` gives.

Float results are rounded once, to nearest even, with denormals; a NaN comes out quiet, and is that of the first operand
that has one, or 0xFFC00000 where none has (of pairs 0xFFF8000000000000).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol, TypeAlias, overload

from pixelflow.simd.lanes.algebra import Algebra, Bit, Word
from pixelflow.simd.lanes.engine import Meaning
from pixelflow.simd.lanes.form import MeaningRecorder, Op, Part, record

Pair: TypeAlias = tuple[Word, Word]
"""A number of 64 bits in each lane: its low and its high word."""


class Rounding(Enum):
    """Where a float goes that is not a whole number."""

    NEAREST = 0
    DOWN = 1
    UP = 2
    TO_ZERO = 3


class Elementary(Enum):
    """A function that no short sequence of operations gives exactly: it is evaluated in binary64 and rounded once."""

    SQUARE_ROOT = "sqrt"
    RECIPROCAL_ROOT = "rsqrt"
    LOGARITHM = "log2"
    EXPONENTIAL = "exp2"
    SINE = "sin"
    COSINE = "cos"
    POWER = "pow"


class NumberAlgebra(Algebra[Word, Bit], Protocol[Word, Bit]):
    """Operations of a meaning on lanes of 32-bit words."""

    # --- fetch ----------------------------------------------------------------------------------------------

    def series(self, values: Sequence[int]) -> Word:
        """Return a word that is the same in every group: ``values[i]`` in lane i."""

    def fetch(self, address: Word, size: int, where: Bit | None = None) -> Word:
        """Return ``size`` bytes (1, 2 or 4) from each lane's address on, low byte first; 0 where the bit is clear."""

    def put(self, address: Word, value: Word, size: int, where: Bit | None = None) -> None:
        """Write the low ``size`` bytes of each lane's word to its address; of equal addresses the last lane wins."""

    # --- mask -----------------------------------------------------------------------------------------------

    def spread(self, number: Word) -> Bit:
        """Return, in lane i of each group, bit i of that lane's word."""

    def collect(self, bits: Bit) -> Word:
        """Return, in every lane of a group, the number whose bit i is lane i's bit."""

    def rank(self, bits: Bit) -> Word:
        """Return, in each lane, how many lanes before it in its group have the bit set."""

    # --- route ----------------------------------------------------------------------------------------------

    @overload
    def route(self, value: Word, sources: Sequence[int]) -> Word: ...
    @overload
    def route(self, value: Bit, sources: Sequence[int]) -> Bit:
        """Return a word or bit in which lane i of every group takes the value of lane ``sources[i]`` of that group."""

    # --- operation on integers ------------------------------------------------------------------------------

    def equal(self, a: Word, b: Word) -> Bit:
        """Return whether two words are the same."""

    def less(self, a: Word, b: Word, *, signed: bool) -> Bit:
        """Return whether a < b, as signed or unsigned integers."""

    def multiply(self, a: Word, b: Word, *, signed: bool) -> tuple[Word, Word]:
        """Return the low and the high word of the product."""

    def shift_up(self, a: Word, by: Word) -> Word:
        """Return a shifted up, zeros coming in; 0 for 32 and more."""

    def shift_down(self, a: Word, by: Word, *, signed: bool) -> Word:
        """Return a shifted down, zeros or copies of the sign coming in; 32 and more leave nothing else."""

    # --- operation on floats --------------------------------------------------------------------------------

    def float_add(self, a: Word, b: Word) -> Word:
        """Return a + b."""

    def float_multiply(self, a: Word, b: Word) -> Word:
        """Return a * b."""

    def float_divide(self, a: Word, b: Word) -> Word:
        """Return a / b."""

    def float_fuse(self, a: Word, b: Word, c: Word) -> Word:
        """Return a * b + c, rounded once."""

    def float_function(self, function: Elementary, a: Word, b: Word) -> Word:
        """Return a function of a, or a to the power of b; functions of one argument leave b out."""

    def float_equal(self, a: Word, b: Word) -> Bit:
        """Return whether a == b; a NaN equals nothing, and 0.0 equals -0.0."""

    def float_less(self, a: Word, b: Word) -> Bit:
        """Return whether a < b; never for a NaN."""

    # --- operation: conversions -----------------------------------------------------------------------------

    def to_float(self, a: Word, *, signed: bool) -> Word:
        """Return an integer as the nearest float."""

    def to_integer(self, a: Word, rounding: Rounding) -> Word:
        """Return a float as a signed integer; 0x80000000 where that is out of range or the float is a NaN."""

    def half_to_float(self, a: Word) -> Word:
        """Return the IEEE binary16 in the low 16 bits as a float."""

    # --- operation on pairs ---------------------------------------------------------------------------------

    def double_add(self, a: Pair[Word], b: Pair[Word]) -> Pair[Word]:
        """Return a + b."""

    def double_multiply(self, a: Pair[Word], b: Pair[Word]) -> Pair[Word]:
        """Return a * b."""

    def double_fuse(self, a: Pair[Word], b: Pair[Word], c: Pair[Word]) -> Pair[Word]:
        """Return a * b + c, rounded once."""

    def double_equal(self, a: Pair[Word], b: Pair[Word]) -> Bit:
        """Return whether a == b; a NaN equals nothing, and 0.0 equals -0.0."""

    def double_less(self, a: Pair[Word], b: Pair[Word]) -> Bit:
        """Return whether a < b; never for a NaN."""

    def to_double(self, a: Word, *, signed: bool) -> Pair[Word]:
        """Return an integer as a double, which is exact."""

    def double_to_integer(self, a: Pair[Word], rounding: Rounding) -> Word:
        """Return a double as a signed integer; 0x80000000 where that is out of range or the double is a NaN."""

    def float_to_double(self, a: Word) -> Pair[Word]:
        """Return a float as a double, which is exact."""

    def double_to_float(self, a: Pair[Word]) -> Word:
        """Return a double as the nearest float; of a NaN the high bits stay."""


# The recorder of meanings over numbers: every operation of the algebra with numbers as a typed step.


_BITS = 32


class NumberRecorder(MeaningRecorder):
    """The algebra with numbers that records."""

    __slots__ = ()

    def __init__(self, places: Mapping[str, int]) -> None:
        super().__init__(places, _BITS)

    # --- fetch ----------------------------------------------------------------------------------------------

    def series(self, values: Sequence[int]) -> int:
        self.steps.append((Op.SERIES, _BITS, (), 0, tuple([value & self._all for value in values])))
        return len(self.steps) - 1

    def fetch(self, address: int, size: int, where: int | None = None) -> int:
        return self._do(Op.FETCH, _BITS, (address,) if where is None else (address, where), size)

    def put(self, address: int, value: int, size: int, where: int | None = None) -> None:
        self._do(Op.PUT, _BITS, (address, value) if where is None else (address, value, where), size)

    # --- mask -----------------------------------------------------------------------------------------------

    def spread(self, number: int) -> int:
        return self._do(Op.SPREAD, 1, (number,))

    def collect(self, bits: int) -> int:
        return self._do(Op.COLLECT, _BITS, (bits,))

    def rank(self, bits: int) -> int:
        return self._do(Op.RANK, _BITS, (bits,))

    # --- operation on integers ------------------------------------------------------------------------------

    def equal(self, a: int, b: int) -> int:
        return self._do(Op.EQUAL, 1, (a, b))

    def less(self, a: int, b: int, *, signed: bool) -> int:
        return self._do(Op.LESS, 1, (a, b), int(signed))

    def multiply(self, a: int, b: int, *, signed: bool) -> tuple[int, int]:
        return self._do(Op.MULTIPLY, _BITS, (a, b)), self._do(Op.MULTIPLY_HIGH, _BITS, (a, b), int(signed))

    def shift_up(self, a: int, by: int) -> int:
        return self._do(Op.SHIFT_UP, _BITS, (a, by))

    def shift_down(self, a: int, by: int, *, signed: bool) -> int:
        return self._do(Op.SHIFT_DOWN, _BITS, (a, by), int(signed))

    # --- operation on floats --------------------------------------------------------------------------------

    def float_add(self, a: int, b: int) -> int:
        return self._do(Op.FLOAT_ADD, _BITS, (a, b))

    def float_multiply(self, a: int, b: int) -> int:
        return self._do(Op.FLOAT_MULTIPLY, _BITS, (a, b))

    def float_divide(self, a: int, b: int) -> int:
        return self._do(Op.FLOAT_DIVIDE, _BITS, (a, b))

    def float_fuse(self, a: int, b: int, c: int) -> int:
        return self._do(Op.FLOAT_FUSE, _BITS, (a, b, c))

    def float_equal(self, a: int, b: int) -> int:
        return self._do(Op.FLOAT_EQUAL, 1, (a, b))

    def float_less(self, a: int, b: int) -> int:
        return self._do(Op.FLOAT_LESS, 1, (a, b))

    # --- operation: conversions -----------------------------------------------------------------------------

    def to_float(self, a: int, *, signed: bool) -> int:
        return self._do(Op.TO_FLOAT, _BITS, (a,), int(signed))

    def to_integer(self, a: int, rounding: Rounding) -> int:
        return self._do(Op.TO_INTEGER, _BITS, (a,), rounding.value)

    def half_to_float(self, a: int) -> int:
        return self._do(Op.HALF_TO_FLOAT, _BITS, (a,))

    # --- operation on pairs ---------------------------------------------------------------------------------

    def _pair(self, op: Op, inputs: tuple[int, ...], detail: int = 0) -> Pair[int]:
        wide = self._do(op, 2 * _BITS, inputs, detail)
        return self._do(Op.CUT, _BITS, (wide,), 0), self._do(Op.CUT, _BITS, (wide,), 1)

    def double_add(self, a: Pair[int], b: Pair[int]) -> Pair[int]:
        return self._pair(Op.DOUBLE_ADD, (*a, *b))

    def double_multiply(self, a: Pair[int], b: Pair[int]) -> Pair[int]:
        return self._pair(Op.DOUBLE_MULTIPLY, (*a, *b))

    def double_fuse(self, a: Pair[int], b: Pair[int], c: Pair[int]) -> Pair[int]:
        return self._pair(Op.DOUBLE_FUSE, (*a, *b, *c))

    def double_equal(self, a: Pair[int], b: Pair[int]) -> int:
        return self._do(Op.DOUBLE_EQUAL, 1, (*a, *b))

    def double_less(self, a: Pair[int], b: Pair[int]) -> int:
        return self._do(Op.DOUBLE_LESS, 1, (*a, *b))

    def to_double(self, a: int, *, signed: bool) -> Pair[int]:
        return self._pair(Op.TO_DOUBLE, (a,), int(signed))

    def double_to_integer(self, a: Pair[int], rounding: Rounding) -> int:
        return self._do(Op.DOUBLE_TO_INTEGER, _BITS, a, rounding.value)

    def float_to_double(self, a: int) -> Pair[int]:
        return self._pair(Op.FLOAT_TO_DOUBLE, (a,))

    def double_to_float(self, a: Pair[int]) -> int:
        return self._do(Op.DOUBLE_TO_FLOAT, _BITS, a)


def record_numbers(meaning: Meaning, places: Mapping[str, int]) -> Part:
    """Return the form and the operands of a meaning over numbers; ``places`` are those of registers and flags."""
    return record(meaning, places, NumberRecorder(places))
