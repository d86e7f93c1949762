"""Changes that a user makes to what PEs hold while a run stands at a position: part of the run from then on.

A poke belongs to a position: everything that begins before its cycle has been done, then it is made, then the cycle
comes. Whoever takes the run there, from before or from a kept state, makes it again; so a position has one state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa.registers import WORDS
from pixelflow.node.node import Node
from pixelflow.simd.errors import InputError

__all__ = ["MEMORY", "Poke", "Pokes"]

MEMORY = "memory"
"""The part of a poke of bytes; others are registers and flags by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Poke:
    """A register, a flag or bytes of some PEs get values at a position."""

    cycle: int
    text: str
    """What was written to make it, for people."""
    part: str
    """``memory``, or the name of a register or flag as `Node.register` and `Node.flag` know it."""
    lanes: NDArray[np.int64]
    """The PEs that are changed."""
    values: NDArray[np.uint8]
    """uint8[bytes, changed PEs]; one row for a register or a flag."""
    start: int = 0
    """The first byte, of memory."""

    def make(self, node: Node) -> None:
        """Change the node; raises InputError for what it does not have."""
        if self.part == MEMORY:
            rows = node.read_memory(self.start, len(self.values))
            rows[:, self.lanes] = self.values
            node.write_memory(self.start, rows)
        elif self.part in WORDS:
            words = node.register(self.part).copy()
            words[self.lanes] = self.values[0]
            node.set_register(self.part, words)
        else:
            bits = node.flag(self.part).copy()
            bits[self.lanes] = self.values[0] != 0
            node.set_flag(self.part, bits)


@dataclass(slots=True)
class Pokes:
    """The pokes of a run by number, in the order in which they were made."""

    made: dict[int, Poke] = field(default_factory=dict)
    last: int = 0

    def __bool__(self) -> bool:
        return bool(self.made)

    def add(self, poke: Poke) -> int:
        """Take a poke; returns its number, which is given once."""
        self.last += 1
        self.made[self.last] = poke
        return self.last

    def forget(self, number: int) -> Poke:
        """Remove a poke and return it; raises InputError where there is none of that number."""
        if number not in self.made:
            raise InputError(f"there is no poke {number} (there is: {', '.join(map(str, self.made)) or 'none'})")
        return self.made.pop(number)

    def next_after(self, cycle: int) -> int | None:
        """Return the first position past a cycle at which there is a poke."""
        return min((each.cycle for each in self.made.values() if each.cycle > cycle), default=None)

    def until(self, first: int, last: int) -> Iterator[int]:
        """Yield the positions with pokes past ``first`` up to ``last``, in order."""
        yield from sorted({each.cycle for each in self.made.values() if first < each.cycle <= last})

    def make(self, node: Node, cycle: int) -> None:
        """Make those of a position."""
        for each in self.made.values():
            if each.cycle == cycle:
                each.make(node)
