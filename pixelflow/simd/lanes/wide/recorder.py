"""The recorder of meanings over numbers: every operation of the algebra with numbers as a typed step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pixelflow.simd.lanes.engine import Meaning
from pixelflow.simd.lanes.form import Op, Part, record
from pixelflow.simd.lanes.form.steps import MeaningRecorder
from pixelflow.simd.lanes.wide.numbers import Pair, Rounding

__all__ = ["NumberRecorder", "record_numbers"]

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
