"""Caches: L1 and L2 slice of a core, sets of lines that are used one after the other."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from larrabee_bridge.vpu.unit.program import LINE_BYTES

__all__ = ["CacheHierarchy", "SetAssociativeCache"]


class SetAssociativeCache:
    """Lines in sets of ``ways``, the least recently used given up first."""

    def __init__(self, size: int, ways: int) -> None:
        if size % (LINE_BYTES * ways):
            raise ValueError(f"{size} bytes are not a whole number of sets of {ways} lines")
        self.ways = ways
        self.sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(size // (LINE_BYTES * ways))]
        self.hits = self.misses = 0

    def touch(self, line: int) -> bool:
        """Use a line; return whether it was there. It is afterwards."""
        kept = self.sets[line % len(self.sets)]
        there = line in kept
        if there:
            self.hits += 1
            kept.move_to_end(line)
        else:
            self.misses += 1
            kept[line] = None
            if len(kept) > self.ways:
                kept.popitem(last=False)
        return there


@dataclass
class CacheHierarchy:
    """L1 data cache and L2 slice of one core; all its threads share them. Writes bring lines in as reads do."""

    l1: SetAssociativeCache
    l2: SetAssociativeCache
    l2_cycles: int
    memory_cycles: int

    def wait(self, lines: Iterable[int]) -> int:
        """Use lines; return for how many cycles a thread waits: for the slowest, since misses overlap."""
        longest = 0
        for line in lines:
            if not self.l1.touch(line):
                longest = max(longest, self.l2_cycles if self.l2.touch(line) else self.memory_cycles)
        return longest
