"""What an instruction's meaning reads to form what it writes: found by carrying it out on names instead of lanes.

A value of this algebra is the set of names of state that it was made from: registers, flags, and MEMORY for any row
of lane memory. What the LEE forms from a lane's place is made from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from pixelflow.isa import Instruction
from pixelflow.simd.lanes.engine import Meaning

__all__ = ["MEMORY", "influences", "influences_of"]

MEMORY = "memory"

Names = frozenset[str]
_NOTHING: Names = frozenset()


class _Influence:
    """The algebra; see :class:`pixelflow.simd.lanes.algebra.Algebra` for what the operations mean."""

    def __init__(self) -> None:
        self.written: dict[str, Names] = {}

    def word(self, value: int) -> Names:
        return _NOTHING

    def bit(self, value: bool) -> Names:
        return _NOTHING

    def load(self, row: int) -> Names:
        return frozenset({MEMORY})

    def read(self, name: str) -> Names:
        return self.written.get(name, frozenset({name}))

    def flag(self, name: str) -> Names:
        return self.written.get(name, frozenset({name}))

    def affine(self, a: int, b: int, c: int, words: int) -> list[Names]:
        return [_NOTHING] * words

    def add(self, a: Names, b: Names, carry: Names) -> tuple[Names, Names]:
        return a | b | carry, a | b | carry

    def both(self, a: Names, b: Names) -> Names:
        return a | b

    either = differ = both

    def complement(self, a: Names) -> Names:
        return a

    def shift_left(self, a: Names, into: Names) -> tuple[Names, Names]:
        return a | into, a

    shift_right = shift_left

    def select(self, where: Names, a: Names, b: Names) -> Names:
        return where | a | b

    def store(self, row: int, value: Names, where: Names | None = None) -> None:
        pass

    def write(self, name: str, value: Names, where: Names | None = None) -> None:
        kept = _NOTHING if where is None else where | self.flag(name)
        self.written[name] = value | kept

    set_flag = write

    def route(self, value: Names, sources: Sequence[int]) -> Names:
        return value

    def pattern(self, bits: Sequence[bool]) -> Names:
        return _NOTHING


def influences(instruction: Instruction) -> dict[str, Names]:
    """Return, for every register and flag that a PE instruction writes, the names of what its new value is made from.

    Which parameters an operand refers to does not matter; all of them are taken as 0.
    """
    if instruction.bases:
        instruction = instruction.resolve([0] * (max(instruction.bases) + 1))
    return influences_of(instruction.apply)


def influences_of(meaning: Meaning) -> dict[str, Names]:
    """Return the same for any meaning."""
    names = _Influence()
    meaning(names)
    return names.written
