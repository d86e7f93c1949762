"""Interpreter of recorded forms: numpy calls on whole rows of state, bound once, carried out any number of times.

It needs nothing but numpy. The rows engine is this and its state; the compiled engine goes on with it, on its own
state, where native code cannot be made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.form.selection import NumpyOperation, Special, Value, select
from pixelflow.simd.lanes.form.steps import Part

__all__ = ["Calls", "Interpreter"]

Call = Callable[[], object]
Calls = tuple[Call, ...]
"""What carries a part out, in order; none needs an argument."""

Row = NDArray[np.uint8]

_COMPARES = (np.less, np.greater_equal)
_WIDTHS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def _width(bits: int) -> int:
    return next(width for width in _WIDTHS if width >= bits)


class Interpreter:
    """Binds parts to a state of bytes.

    ``state`` is uint8[place, ..., lane]: of each row all lanes, in one axis or in tiles; the last axis is whole groups
    of ``group`` lanes, a multiple of 8 and without gaps. Flags at the places ``units`` lie as 0 and 1, all others as 0
    and 255. ``coordinates`` are the four places of the bytes of each lane's x and y.
    """

    def __init__(
        self, state: NDArray[np.uint8], group: int, coordinates: Sequence[int], units: Collection[int] = ()
    ) -> None:
        self._state, self._group, self._coordinates, self._units = state, group, coordinates, units
        self._shape = shape = state.shape[1:]
        self._constants: dict[int, Row] = {}
        self._patterns: dict[tuple[int, ...], Row] = {}
        self._routes: dict[tuple[int, ...], NDArray[np.intp]] = {}
        self._one = np.full((*shape[:-1], shape[-1] // 8), 1, np.uint64)
        self._seven = np.full_like(self._one, 7)
        self._low_seven = np.full(shape, 0x7F, np.uint8).view(np.uint64)
        self._scratch: list[Row] = []
        # x and y in every width that `affine` computes in; refilled in place, so that bound calls see the change.
        self._x = {width: np.zeros(shape, kind) for width, kind in _WIDTHS.items()}
        self._y = {width: np.zeros(shape, kind) for width, kind in _WIDTHS.items()}
        self._sum = {width: np.zeros(shape, kind) for width, kind in _WIDTHS.items()}
        self._term = {width: np.zeros(shape, kind) for width, kind in _WIDTHS.items()}
        self.look_at_coordinates()

    def look_at_coordinates(self) -> None:
        """Take the coordinates of each lane from the state, where they are others now."""
        x_low, x_high, y_low, y_high = (self._state[place].astype(np.uint64) for place in self._coordinates)
        for width in _WIDTHS:
            self._x[width][...] = x_low | x_high << np.uint64(8)
            self._y[width][...] = y_low | y_high << np.uint64(8)

    def bind(self, part: Part) -> Calls:
        """Return the calls that carry a part out."""
        operations, places = select(part, self._units)
        rows = [self._state[place] for place in places]
        last_use = {value: index for index, op in enumerate(operations) for value in (*op.inputs, op.out)}
        buffers: dict[Value, Row] = {}
        free: list[int] = []
        owner: dict[Value, int] = {}
        used = 0
        calls: list[Call] = []
        for index, operation in enumerate(operations):
            out = operation.out
            if out.row is None and out not in owner:
                if not free:
                    free.append(used)
                    used += 1
                owner[out] = free.pop()
                buffers[out] = self._scratch_row(owner[out])
            inputs = [self._buffer(value, rows, buffers) for value in operation.inputs]
            calls += self._calls(operation, inputs, self._buffer(out, rows, buffers))
            for value in {*operation.inputs, out}:
                if value in owner and last_use[value] == index:
                    free.append(owner[value])
        return tuple(calls)

    def _scratch_row(self, index: int) -> Row:
        while len(self._scratch) <= index:
            self._scratch.append(np.zeros(self._shape, np.uint8))
        return self._scratch[index]

    def _buffer(self, value: Value, rows: Sequence[Row], buffers: dict[Value, Row]) -> Row:
        if value.row is not None:
            return rows[value.row]
        if value.constant is not None:
            if value.constant not in self._constants:
                self._constants[value.constant] = np.full(self._shape, value.constant, np.uint8)
            return self._constants[value.constant]
        return buffers[value]

    def _calls(self, operation: NumpyOperation, inputs: list[Row], out: Row) -> list[Call]:
        match operation.what:
            case Special.COPY:
                return [partial(np.copyto, out, inputs[0])]
            case Special.ROUTE:
                return [partial(np.take, inputs[0], self._route(operation.detail), -1, out, "clip")]
            case Special.PATTERN:
                return [partial(np.copyto, out, self._pattern(operation.detail))]
            case Special.AFFINE:
                return self._affine(*operation.detail)
            case Special.CUT:
                return [partial(np.copyto, out, self._cut(*operation.detail))]
            case Special.HALVE:
                # numpy shifts bytes one by one but 64-bit words in vectors; the mask removes the neighbour's bit.
                wide = out.view(np.uint64)
                return [
                    partial(np.right_shift, inputs[0].view(np.uint64), self._one, wide),
                    partial(np.bitwise_and, wide, self._low_seven, wide),
                ]
            case Special.TO_TOP:
                # A bit in each byte is 0 or 1, so nothing crosses into the neighbour.
                return [partial(np.left_shift, inputs[0].view(np.uint64), self._seven, out.view(np.uint64))]
            case call:
                return [partial(call, *inputs, out.view(np.bool_) if call in _COMPARES else out)]

    def _route(self, sources: tuple[int, ...]) -> NDArray[np.intp]:
        if sources not in self._routes:
            starts = np.arange(0, self._shape[-1], self._group)
            self._routes[sources] = (starts[:, None] + np.array(sources)).ravel()
        return self._routes[sources]

    def _pattern(self, bits: tuple[int, ...]) -> Row:
        if bits not in self._patterns:
            mask = np.array(bits, np.uint8) * np.uint8(0xFF)
            self._patterns[bits] = np.tile(mask, self._shape[-1] // self._group)
        return self._patterns[bits]

    def _affine(self, a: int, b: int, c: int, bits: int) -> list[Call]:
        """Compute the value in every lane, in the narrowest width that holds so many bits."""
        width = _width(bits)
        kind, total, term = _WIDTHS[width], self._sum[width], self._term[width]
        limit = 1 << width
        return [
            partial(np.multiply, self._x[width], kind(a % limit), total),
            partial(np.multiply, self._y[width], kind(b % limit), term),
            partial(np.add, total, term, total),
            partial(np.add, total, kind(c % limit), total),
        ]

    def _cut(self, bits: int, index: int) -> Row:
        """Return the view of one byte of the value of so many bits that `_affine` computed."""
        width = _width(bits)
        size = width // 8
        column = index if sys.byteorder == "little" else size - 1 - index
        return self._sum[width].view(np.uint8).reshape(*self._shape, size)[..., column]
