"""A cache of sets of lines that are used one after the other, by itself: what others are tested against."""

from __future__ import annotations

from collections import OrderedDict

from larrabee_bridge.vpu.unit.program import LINE_BYTES

__all__ = ["SetAssociativeCache"]


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
