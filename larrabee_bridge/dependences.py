"""What an instruction reads and writes: found by running its meaning on an algebra that only looks."""

from __future__ import annotations

from typing import Any

from pixelflow.simd.isa.declare import Instruction
from pixelflow.simd.records import record

__all__ = ["Dependences", "dependences"]

_ANYTHING = (None, None)
"""Stands for a value, and for the two values that some operations return."""


@record
class Dependences:
    """Registers and flags by name (vector registers as ``v3``), and whether memory is touched."""

    reads: frozenset[str]
    writes: frozenset[str]
    memory: bool


class _Looking:
    """The algebra as far as it names state; every other operation gives anything."""

    def __init__(self) -> None:
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.memory = False

    def __getattr__(self, name: str) -> Any:
        return lambda *values, **known: _ANYTHING

    def load(self, row: int) -> Any:
        self.reads.add(f"v{row}")
        return _ANYTHING

    def read(self, name: str) -> Any:
        self.reads.add(name)
        return _ANYTHING

    flag = read

    def _written(self, name: str, where: Any) -> None:
        self.writes.add(name)
        if where is not None:
            self.reads.add(name)  # what is not written there stays

    def store(self, row: int, value: Any, where: Any = None) -> None:
        self._written(f"v{row}", where)

    def write(self, name: str, value: Any, where: Any = None) -> None:
        self._written(name, where)

    set_flag = write

    def fetch(self, address: Any, size: int, where: Any = None) -> Any:
        self.memory = True
        return _ANYTHING

    def put(self, address: Any, value: Any, size: int, where: Any = None) -> None:
        self.memory = True


def dependences(instruction: Instruction) -> Dependences:
    """Return what an instruction reads and writes."""
    looking = _Looking()
    instruction.apply(looking)
    return Dependences(frozenset(looking.reads), frozenset(looking.writes), looking.memory)
