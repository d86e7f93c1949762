"""What was busy over time, kept in a fixed number of intervals that grow with the run."""

from __future__ import annotations

from pixelflow.simd.errors import InternalError

__all__ = ["History"]

_INTERVALS = 256
"""At most so many are kept; beyond that, two become one of double length."""


class History:
    """Sums of amounts over time, by track; every amount is so much in each cycle from ``begin`` up to ``end``.

    Nothing of what happened is lost by time passing but the place within an interval.
    """

    def __init__(self, begin: int = 0) -> None:
        self.begin = begin
        """The first cycle that there is."""
        self.cycles = 1
        """Length of an interval; a power of two."""
        self._sums: dict[str, list[int]] = {}
        self._totals: dict[str, int] = {}
        self._coming: dict[str, list[tuple[int, int, int]]] = {}

    def add(self, track: str, begin: int, end: int, amount: int = 1) -> None:
        """Note that a track had an amount in each cycle from ``begin`` up to ``end``, which may lie ahead.

        What was before the first cycle does not count.
        """
        if end < begin:
            raise InternalError(f"{track}: busy from cycle {begin} to cycle {end}")
        self._coming.setdefault(track, []).append((max(begin, self.begin), end, amount))

    def total(self, track: str, at: int) -> int:
        """Return the sum of a track's amounts up to a cycle, which may not go back."""
        self._settle(track, at)
        coming = sum((min(end, at) - begin) * amount for begin, end, amount in self._coming[track] if begin < at)
        return self._totals[track] + coming

    def sums(self, track: str, at: int) -> list[int]:
        """Return the sum of a track's amounts in each interval up to a cycle, which may not go back."""
        self._settle(track, at)
        sums = list(self._sums[track])
        sums += [0] * (self.intervals(at) - len(sums))
        for begin, end, amount in self._coming[track]:
            if begin < at:
                self._spread(sums, begin, min(end, at), amount)
        return sums

    def intervals(self, at: int) -> int:
        """Return how many intervals there are up to a cycle, the last of them perhaps not full."""
        return -(-(at - self.begin) // self.cycles)

    def _settle(self, track: str, at: int) -> None:
        """Take what has ended before a cycle into the intervals."""
        sums, coming = self._sums.setdefault(track, []), self._coming.setdefault(track, [])
        self._totals.setdefault(track, 0)
        while self.intervals(at) > _INTERVALS:
            self._double()
        sums = self._sums[track]
        sums += [0] * (self.intervals(at) - len(sums))
        for begin, end, amount in coming:
            if end <= at:
                self._spread(sums, begin, end, amount)
                self._totals[track] += (end - begin) * amount
        coming[:] = [each for each in coming if each[1] > at]

    def _double(self) -> None:
        self.cycles *= 2
        for track, sums in self._sums.items():
            sums += [0] * (len(sums) % 2)
            self._sums[track] = [a + b for a, b in zip(sums[::2], sums[1::2], strict=True)]

    def _spread(self, sums: list[int], begin: int, end: int, amount: int) -> None:
        while begin < end:
            index, inside = divmod(begin - self.begin, self.cycles)
            step = min(end - begin, self.cycles - inside)
            sums[index] += step * amount
            begin += step
