"""Statistics under ATTILA's names."""

from __future__ import annotations


class Counts(dict[str, int]):
    def __missing__(self, key: str) -> int:
        return 0


def counts_of(suffix: str) -> Counts:
    return Counts()
