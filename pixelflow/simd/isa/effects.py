"""Effects of a meaning: what it reads and writes, found by carrying it out on names of state instead of lanes.

State is a register or flag, by its name, or a row of lane memory, by its number. A value of this algebra is the set of
the state that it was made from, as that was before; what comes from a lane's place is made from nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from pixelflow.simd.lanes.algebra import Algebra

__all__ = ["Effects", "State", "effects"]

State = str | int
Sources = frozenset[State]
_NOTHING: Sources = frozenset()


class Effects:
    """The algebra, and what was done on it; see :class:`pixelflow.simd.lanes.algebra.Algebra` for the operations."""

    def __init__(self) -> None:
        self.reads: set[State] = set()
        self.writes: dict[State, Sources] = {}
        """What is written, and what its new value is made from."""
        self.kept: set[State] = set()
        """What is written in some lanes only, so that its old value counts in the others."""
        self.everywhere: set[State] = set()
        """What is written in all lanes."""
        self.loads: list[int] = []
        """The rows that are read, once for each time."""
        self.stores: list[int] = []
        """The rows that are written, once for each time."""
        self.evaluated = 0
        """Words of linear expressions."""
        self.memory = False
        """Whether memory beyond the rows is touched, by addresses in lanes."""
        self.values: dict[State, Sources] = {}
        """What the values are made from that are written, leaving out what decides where, and what was there before."""
        self.where: dict[State, Sources] = {}
        """What decides where something is written, for what is written in some lanes only."""
        self.patterns: list[tuple[bool, ...]] = []
        """Which lanes of a group may be written at all, where that is a pattern."""
        self.routes: list[tuple[Sources, tuple[int, ...]]] = []
        """What comes from other lanes of a group: what it is made from, and for each lane of the group from which."""

    def __getattr__(self, name: str) -> Callable[..., Sources]:
        return _joined  # every operation that gives one value and touches no state

    def read(self, name: State) -> Sources:
        self.reads.add(name)
        return self.writes.get(name, frozenset((name,)))

    flag = read

    def load(self, row: int) -> Sources:
        self.loads.append(row)
        return self.read(row)

    def write(self, name: State, value: Sources, where: Sources | None = None) -> None:
        self.values[name] = value | (self.values.get(name, _NOTHING) if where is not None else _NOTHING)
        if where is not None:
            self.kept.add(name)
            self.where[name] = where | self.where.get(name, _NOTHING)
            value = value | where | self.writes.get(name, frozenset((name,)))
        else:
            self.everywhere.add(name)
        self.writes[name] = value

    set_flag = write

    def store(self, row: int, value: Sources, where: Sources | None = None) -> None:
        self.stores.append(row)
        self.write(row, value, where)

    def fetch(self, address: Sources, size: int, where: Sources | None = None) -> Sources:
        self.memory = True
        return _joined(address, where)

    def put(self, address: Sources, value: Sources, size: int, where: Sources | None = None) -> None:
        self.memory = True

    def affine(self, a: int, b: int, c: int, words: int) -> list[Sources]:
        self.evaluated += words
        return [_NOTHING] * words

    def pattern(self, bits: Sequence[bool]) -> Sources:
        self.patterns.append(tuple(bits))
        return _NOTHING

    def add(self, a: Sources, b: Sources, carry: Sources) -> tuple[Sources, Sources]:
        return a | b | carry, a | b | carry

    def multiply(self, a: Sources, b: Sources, *, signed: bool) -> tuple[Sources, Sources]:
        return a | b, a | b

    def shift_left(self, a: Sources, into: Sources) -> tuple[Sources, Sources]:
        return a | into, a

    shift_right = shift_left

    def double_add(self, *values: object, **known: object) -> tuple[Sources, Sources]:
        made = _joined(*values)
        return made, made

    double_multiply = double_fuse = to_double = float_to_double = double_add

    def route(self, value: Sources, sources: Sequence[int]) -> Sources:
        self.routes.append((value, tuple(sources)))
        return value


def _joined(*values: object, **known: object) -> Sources:
    """Return what values, or pairs of them, are made from together; numbers and the like are made from nothing."""
    every = [each for value in values for each in (value if isinstance(value, tuple) else (value,))]
    return _NOTHING.union(*(each for each in every if isinstance(each, frozenset)))


def effects(meaning: Callable[[Algebra[Sources, Sources]], None]) -> Effects:
    """Return what a meaning reads and writes: that of an instruction without parameters is its ``apply``."""
    found = Effects()
    meaning(cast("Algebra[Sources, Sources]", found))
    return found
