"""The engine that needs only numpy: one row of bytes per memory byte, register and flag; all lanes in one call.

Each meaning is recorded once and bound to its rows by the interpreter of forms. Executing an action is calling what
was bound, in order.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.engine import Engine, Meaning, Shape
from pixelflow.simd.lanes.form import COORDINATES, Calls, Interpreter, coordinate_bytes, places_of, record


class RowsEngine(Engine):
    """The algebra recorded once per meaning and replayed by numpy."""

    name = "rows"

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self._place = places_of(shape)
        self._state = np.zeros((shape.rows + len(self._place), shape.lanes), np.uint8)
        self._units = frozenset(self._place[name] for name in shape.carries)
        """Places of flags that are 0 and 1, as additions take them; the others are 0 and 255."""
        self._coordinates = [self._place[name] for name in COORDINATES]
        self._interpreter = Interpreter(self._state, shape.group, self._coordinates, self._units)

    def prepare(self, meaning: Meaning) -> Calls:
        return self._interpreter.bind(record(meaning, self._place))

    def chain(self, actions: Iterable[Calls]) -> Calls:
        return tuple(chain.from_iterable(actions))

    def run(self, actions: Iterable[Calls]) -> None:
        for call in chain.from_iterable(actions):
            call()

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
        place = self._place[name]
        true = 1 if place in self._units else 0xFF
        self._state[place] = np.where(values, np.uint8(true), np.uint8(0))

    def set_coordinates(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
        self._state[self._coordinates] = coordinate_bytes(x, y)
        self._interpreter.look_at_coordinates()
