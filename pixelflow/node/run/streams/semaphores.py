"""Counting semaphores, which the two instruction streams of a node share (thesis 1, 2.2.1)."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Semaphores"]


class Semaphores:
    """A bank of counters; all start at zero."""

    def __init__(self, count: int) -> None:
        self._counts = [0] * count

    @property
    def counts(self) -> list[int]:
        """A copy of all counters."""
        return list(self._counts)

    def restore(self, counts: Sequence[int]) -> None:
        """Set all counters."""
        self._counts[:] = counts

    def count(self, semaphore: int) -> int:
        """Return how often the semaphore can be taken now."""
        return self._counts[semaphore]

    def signal(self, semaphore: int) -> None:
        """Add one."""
        self._counts[semaphore] += 1

    def take(self, semaphore: int) -> bool:
        """Take one if there is one; returns whether there was."""
        if self._counts[semaphore] == 0:
            return False
        self._counts[semaphore] -= 1
        return True
