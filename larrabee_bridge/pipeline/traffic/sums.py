"""Sums of bytes by what they are for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Traffic"]

_TARGETS = ("colour", "depth")


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes from memory and to memory, by what they are: colour, depth, texture, bins, vertices."""

    read: Mapping[str, int]
    written: Mapping[str, int]

    @property
    def total(self) -> int:
        """All bytes."""
        return sum(self.read.values()) + sum(self.written.values())

    @property
    def targets(self) -> int:
        """Bytes of colours and depths alone."""
        return sum(values.get(name, 0) for values in (self.read, self.written) for name in _TARGETS)

    def rows(self) -> list[tuple[str, int, int]]:
        """Return (what, bytes read, bytes written) for each that has any."""
        names = dict.fromkeys([*self.read, *self.written])
        found = [(name, self.read.get(name, 0), self.written.get(name, 0)) for name in names]
        return [row for row in found if row[1] or row[2]]
