"""Values of flags in all lanes, by number, and what the instructions of a program make of them.

Lanes are touched once for each value and instruction that meet, in however many runs they do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa.registers import MASKS
from pixelflow.node.parts.array.lee import LinearExpressionEvaluator
from pixelflow.node.run.marks.known_lanes import KnownLanes
from pixelflow.simd.lanes.engine import Meaning

__all__ = ["FlagValues", "State"]

_KEPT_STATES = 100_000
_KEPT_VALUES = 20_000
_UNPACKED = 64

T = TypeVar("T")

State = tuple[int, ...]
"""For each flag of MASKS the number of its value, or -1 - the position of the instruction that made it unknown."""


@dataclass(frozen=True, slots=True)
class _Deferred:
    """The value that a meaning gives to one flag, from the numbered values of others; not evaluated yet."""

    meaning: Meaning
    algebra: KnownLanes
    flag: int
    sources: dict[int, int]


class FlagValues:
    """What runs of one program on arrays of ``lanes`` PEs have found out about flags."""

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._values: list[bytes | _Deferred] = []
        self._number_of: dict[bytes, int] = {}
        self._unpacked: dict[int, NDArray[np.bool_]] = {}
        self._place_of: dict[bytes, int] = {}
        self._algebras: list[KnownLanes] = []
        self._after: dict[tuple[int, int, int, State], State] = {}
        self._derived: dict[tuple[Hashable, ...], Any] = {}

    def derived(self, number: int, what: Hashable, make: Callable[[], T]) -> T:
        """Return what ``make`` makes of the value with a number: made once for each ``what``."""
        key = (number, what)
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    @property
    def full(self) -> bool:
        """Whether the next run should begin with none."""
        return len(self._values) > _KEPT_VALUES

    def place(self, lee: LinearExpressionEvaluator) -> int:
        """Return a number for the coordinates that the LEE gives to the lanes."""
        contents = b"".join(register.tobytes() for register in lee.registers.values())
        place = self._place_of.setdefault(contents, len(self._algebras))
        if place == len(self._algebras):
            x, y = lee.coordinates()
            self._algebras.append(KnownLanes(x.astype(np.uint64), y.astype(np.uint64)))
        return place

    def after(self, first: int, end: int, place: int, state: State) -> State | None:
        """Return the state after instructions ``first`` to ``end - 1``, None where that was not found before."""
        return self._after.get((first, end, place, state))

    def note(self, first: int, end: int, place: int, before: State, after: State) -> State:
        """Keep the state after instructions; return it."""
        if len(self._after) >= _KEPT_STATES:
            self._after.clear()
        self._after[first, end, place, before] = after
        return after

    def made(self, meaning: Meaning, place: int, flag: int, sources: dict[int, int], *, at_once: bool) -> int:
        """Return the number of the value that a meaning gives to a flag; ``sources`` numbers those it is made from.

        Without ``at_once`` it is not evaluated before someone asks.
        """
        deferred = _Deferred(meaning, self._algebras[place], flag, sources)
        if at_once:
            return self.number(self._evaluate(deferred))
        self._values.append(deferred)
        return len(self._values) - 1

    def number(self, value: NDArray[np.bool_]) -> int:
        """Return the number of a value, a new one where it never occurred."""
        packed = np.packbits(value).tobytes()
        number = self._number_of.setdefault(packed, len(self._values))
        if number == len(self._values):
            self._values.append(packed)
        return number

    def value(self, number: int) -> NDArray[np.bool_]:
        """Return a value: bool[lanes]."""
        found = self._unpacked.get(number)
        if found is None:
            if len(self._unpacked) >= _UNPACKED:
                self._unpacked.clear()
            value = self._values[number]
            if isinstance(value, _Deferred):
                value = self._values[number] = np.packbits(self._evaluate(value)).tobytes()
            packed = np.frombuffer(value, np.uint8)
            found = self._unpacked[number] = np.unpackbits(packed, count=self._lanes).view(bool)
        return found

    def _evaluate(self, deferred: _Deferred) -> NDArray[np.bool_]:
        algebra = deferred.algebra
        algebra.begin({MASKS[source]: self.value(number) for source, number in deferred.sources.items()})
        deferred.meaning(algebra)
        return algebra.written[MASKS[deferred.flag]]
