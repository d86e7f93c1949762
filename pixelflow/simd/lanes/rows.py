"""The default engine: one numpy row of bytes per memory byte, register and flag; all lanes in one call.

Each meaning is recorded once (:mod:`pixelflow.simd.lanes.tape`), cleaned, and bound to buffers as a tuple of calls that
need no further arguments. Carrying out an action is calling them in order.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.engine import Engine, Meaning
from pixelflow.simd.lanes.shape import Shape
from pixelflow.simd.lanes.tape import Form, Operation, Recorder, Value, clean

__all__ = ["RowsEngine"]

Calls = tuple[partial, ...]

_UFUNCS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "less": np.less,
    "greater_equal": np.greater_equal,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "invert": np.invert,
    "negative": np.negative,
}
_COMPARES = {"less", "greater_equal"}
_WIDTHS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def _width(words: int) -> int:
    return next(width for width in _WIDTHS if width >= words)


class RowsEngine(Engine):
    """The algebra recorded once per meaning and replayed by numpy."""

    name = "rows"

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        named = (*shape.words, *shape.carries, *shape.masks)
        self._place = {name: shape.rows + index for index, name in enumerate(named)}
        self._form = dict.fromkeys(shape.carries, Form.UNIT) | dict.fromkeys(shape.masks, Form.MASK)
        self._state = np.zeros((shape.rows + len(named), shape.lanes), np.uint8)
        self._constants: dict[int, NDArray[np.uint8]] = {}
        self._patterns: dict[tuple[bool, ...], NDArray[np.uint8]] = {}
        self._routes: dict[tuple[int, ...], NDArray[np.intp]] = {}
        self._one = np.full(shape.lanes // 8, 1, np.uint64)
        self._seven = np.full(shape.lanes // 8, 7, np.uint64)
        self._low_seven = np.full(shape.lanes, 0x7F, np.uint8).view(np.uint64)
        self._scratch: list[NDArray[np.uint8]] = []
        # x and y in every width that `affine` computes in; refilled in place, so that bound calls see the change.
        self._x = {width: np.zeros(shape.lanes, kind) for width, kind in _WIDTHS.items()}
        self._y = {width: np.zeros(shape.lanes, kind) for width, kind in _WIDTHS.items()}
        self._sum = {width: np.zeros(shape.lanes, kind) for width, kind in _WIDTHS.items()}
        self._term = {width: np.zeros(shape.lanes, kind) for width, kind in _WIDTHS.items()}

    def prepare(self, meaning: Meaning) -> Calls:
        recorder = Recorder(self._place, self._form)
        meaning(recorder)
        return self._bind(clean(recorder.operations))

    def chain(self, actions: Iterable[Calls]) -> Calls:
        return tuple(chain.from_iterable(actions))

    def run(self, actions: Iterable[Calls]) -> None:
        for call in chain.from_iterable(actions):
            call()

    # --- binding --------------------------------------------------------------------------------------------

    def _bind(self, operations: list[Operation]) -> Calls:
        last_use = {value: index for index, op in enumerate(operations) for value in (*op.inputs, op.out)}
        buffers: dict[Value, NDArray[np.uint8]] = {}
        free: list[int] = []
        owner: dict[Value, int] = {}
        used = 0
        calls: list[partial] = []
        for index, operation in enumerate(operations):
            out = operation.out
            if out.place is None and out not in owner:
                if not free:
                    free.append(used)
                    used += 1
                owner[out] = free.pop()
                buffers[out] = self._scratch_row(owner[out])
            inputs = [self._buffer(value, buffers) for value in operation.inputs]
            calls += self._calls(operation, inputs, self._buffer(out, buffers))
            for value in {*operation.inputs, out}:
                if value in owner and last_use[value] == index:
                    free.append(owner[value])
        return tuple(calls)

    def _scratch_row(self, index: int) -> NDArray[np.uint8]:
        while len(self._scratch) <= index:
            self._scratch.append(np.zeros(self.shape.lanes, np.uint8))
        return self._scratch[index]

    def _buffer(self, value: Value, buffers: dict[Value, NDArray[np.uint8]]) -> NDArray[np.uint8]:
        if value.place is not None:
            return self._state[value.place]
        if value.constant is not None:
            if value.constant not in self._constants:
                self._constants[value.constant] = np.full(self.shape.lanes, value.constant, np.uint8)
            return self._constants[value.constant]
        return buffers[value]

    def _calls(self, operation: Operation, inputs: list[NDArray[np.uint8]], out: NDArray[np.uint8]) -> list[partial]:
        match operation.name:
            case "copy":
                return [partial(np.copyto, out, inputs[0])]
            case "route":
                return [partial(np.take, inputs[0], self._route(operation.detail), out=out, mode="clip")]
            case "pattern":
                return [partial(np.copyto, out, self._pattern(operation.detail))]
            case "affine":
                return self._affine(*operation.detail)
            case "cut":
                return [partial(np.copyto, out, self._cut(*operation.detail))]
            case "halve":
                # numpy shifts bytes one by one but 64-bit words in vectors; the mask removes the neighbour's bit.
                wide = out.view(np.uint64)
                return [
                    partial(np.right_shift, inputs[0].view(np.uint64), self._one, wide),
                    partial(np.bitwise_and, wide, self._low_seven, wide),
                ]
            case "to_top":
                # A bit in each byte is 0 or 1, so nothing crosses into the neighbour.
                return [partial(np.left_shift, inputs[0].view(np.uint64), self._seven, out.view(np.uint64))]
            case name:
                target = out.view(np.bool_) if name in _COMPARES else out
                return [partial(_UFUNCS[name], *inputs, target)]

    def _route(self, sources: tuple[int, ...]) -> NDArray[np.intp]:
        if sources not in self._routes:
            starts = np.arange(0, self.shape.lanes, self.shape.group)
            self._routes[sources] = (starts[:, None] + np.array(sources)).ravel()
        return self._routes[sources]

    def _pattern(self, bits: tuple[bool, ...]) -> NDArray[np.uint8]:
        if bits not in self._patterns:
            mask = np.array(bits, np.uint8) * np.uint8(0xFF)
            self._patterns[bits] = np.tile(mask, self.shape.lanes // self.shape.group)
        return self._patterns[bits]

    def _affine(self, a: int, b: int, c: int, words: int) -> list[partial]:
        """Compute the value in every lane, in the narrowest width that holds ``words`` words."""
        width = _width(words)
        kind, total, term = _WIDTHS[width], self._sum[width], self._term[width]
        limit = 1 << 8 * width
        return [
            partial(np.multiply, self._x[width], kind(a % limit), total),
            partial(np.multiply, self._y[width], kind(b % limit), term),
            partial(np.add, total, term, total),
            partial(np.add, total, kind(c % limit), total),
        ]

    def _cut(self, words: int, index: int) -> NDArray[np.uint8]:
        """Return the view of one word of the value that `_affine` computed."""
        width = _width(words)
        column = index if sys.byteorder == "little" else width - 1 - index
        return self._sum[width].view(np.uint8).reshape(self.shape.lanes, width)[:, column]

    # --- state ----------------------------------------------------------------------------------------------

    def get_rows(self, start: int, count: int) -> NDArray[np.uint8]:
        return self._state[: self.shape.rows][start : start + count].copy()

    def set_rows(self, start: int, values: NDArray[np.uint8]) -> None:
        values = np.asarray(values, np.uint8)
        self._state[: self.shape.rows][start : start + len(values)] = values

    def get_word(self, name: str) -> NDArray[np.uint8]:
        return self._state[self._place[name]].copy()

    def set_word(self, name: str, values: NDArray[np.uint8]) -> None:
        self._state[self._place[name]] = values

    def get_bit(self, name: str) -> NDArray[np.bool_]:
        return self._state[self._place[name]] != 0

    def set_bit(self, name: str, values: NDArray[np.bool_]) -> None:
        true = 1 if self._form[name] is Form.UNIT else 0xFF
        self._state[self._place[name]] = np.where(values, np.uint8(true), np.uint8(0))

    def set_coordinates(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
        for width in _WIDTHS:
            self._x[width][:] = x
            self._y[width][:] = y
