"""Instruction caches: one for each row of units, one for all, lines of 64 bytes, least recently used goes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from gen6_bridge.time.config import EuConfig

__all__ = ["LINE_INSTRUCTIONS", "InstructionCaches"]

LINE_BYTES = 64
LINE_INSTRUCTIONS = 4
"""Instructions in a line, which is also what a thread's fetch buffer holds."""


class _Level:
    """One cache: sets of lines in the order of their use."""

    def __init__(self, size: int, ways: int) -> None:
        lines = size // LINE_BYTES
        self._sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(max(1, lines // ways))]
        self._ways = ways
        self.hits = self.misses = 0

    def look(self, line: int) -> bool:
        """Return whether a line is there; it is from now on, as the one that was used last."""
        held = self._sets[line % len(self._sets)]
        found = line in held
        if found:
            held.move_to_end(line)
            self.hits += 1
        else:
            self.misses += 1
            held[line] = None
            if len(held) > self._ways:
                held.popitem(last=False)
        return found


@dataclass(slots=True)
class InstructionCaches:
    """The caches of some units; each row has one port, which serves one fetch a cycle, in turn."""

    config: EuConfig
    rows: int
    _first: list[_Level] = field(init=False)
    _second: _Level = field(init=False)
    _ports: list[int] = field(init=False)
    _coming: dict[tuple[int, int], int] = field(init=False)

    def __post_init__(self) -> None:
        self._first = [_Level(self.config.l1_bytes, self.config.ways) for _ in range(self.rows)]
        self._second = _Level(self.config.l2_bytes, self.config.ways)
        self._ports = [0] * self.rows
        self._coming = {}

    def fetch(self, row: int, line: int, cycle: int) -> int:
        """Return the cycle from which on a line is in a thread's buffer that asks for it in ``cycle``."""
        start = max(cycle, self._ports[row])
        self._ports[row] = start + 1
        coming = self._coming.get((row, line), 0)
        if self._first[row].look(line):
            return max(start + 1, coming)
        wait = self.config.l1_miss_cycles
        if not self._second.look(line):
            wait = self.config.l2_miss_cycles
        self._coming[row, line] = start + wait
        return start + wait

    @property
    def l1_misses(self) -> int:
        """Lines that a row's cache did not have."""
        return sum(each.misses for each in self._first)

    @property
    def l1_hits(self) -> int:
        """Lines that a row's cache had, or had asked for already."""
        return sum(each.hits for each in self._first)

    @property
    def l2_misses(self) -> int:
        """Lines that the second level did not have."""
        return self._second.misses
