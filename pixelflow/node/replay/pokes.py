"""Changes that a user makes to what PEs hold while a run stands at a position: part of the run from then on.

A poke belongs to a position: everything that begins before its cycle has been done, then it is made, then the cycle
comes. Whoever takes the run there, from before or from a kept state, makes it again; so a position has one state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import ArrayConfig
from pixelflow.isa.registers import WORDS
from pixelflow.node.node import Node
from pixelflow.simd.errors import InputError
from pixelflow.simd.report import Json

__all__ = ["MEMORY", "Poke", "Pokes"]

_FLAGS = ("C", "E", "L", "MR", "MW")
_LONGEST_TEXT = 10_000

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

    def as_object(self) -> dict[str, Json]:
        """Return it for JSON."""
        lanes: list[Json] = [*self.lanes.tolist()]
        values: list[Json] = [row.tobytes().hex() for row in np.ascontiguousarray(self.values, np.uint8)]
        about: dict[str, Json] = {"cycle": self.cycle, "text": self.text, "part": self.part, "start": self.start}
        return about | {"lanes": lanes, "values": values}

    @classmethod
    def from_object(cls, found: Mapping[str, object], config: ArrayConfig) -> Poke:
        """Return the poke of an object of JSON on an array; raises ValueError for what no poke is."""
        lanes, values, text = found["lanes"], found["values"], found["text"]
        if not (isinstance(lanes, list) and lanes and isinstance(values, list) and values and isinstance(text, str)):
            raise ValueError("a part is missing")
        cycle, start = (number if type(number) is int else -1 for number in (found["cycle"], found["start"]))
        whole = all(type(lane) is int and 0 <= lane < config.lanes for lane in lanes) and len(set(lanes)) == len(lanes)
        rows = np.array([np.frombuffer(bytes.fromhex(row), np.uint8) for row in values])  # of one length, or an error
        part = found["part"]
        fits = part in (*WORDS, *_FLAGS) and (start, len(rows)) == (0, 1)
        fits |= part == MEMORY and 0 <= start <= config.memory_bytes - len(rows)
        if not (whole and fits and cycle >= 0 and rows.shape[1:] == (len(lanes),)):
            raise ValueError("a number is outside of what there is")
        if not text.isprintable() or len(text) > _LONGEST_TEXT:
            raise ValueError("its text is none")
        return cls(cycle, text, str(part), np.array(lanes, np.int64), rows, start)

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

    def begin(self, node: Node, pokes: Iterable[Poke]) -> None:
        """Take the pokes of a run that begins, and make those of its first position."""
        for each in pokes:
            self.add(each)
        self.make(node, 0)

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
