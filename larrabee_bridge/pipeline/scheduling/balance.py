"""Bin balance: how long bins take beside the mean of their RTset (5.3, figure 11).

What a bin is decides much of it. Tiles in which nothing is to be done are no bins in a `FrameWork`: they are never
taken from a list. Their zeros would lower the mean, and move the longest bins away from it; `balance_of` can count
them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted

__all__ = ["Balance", "balance_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Balance:
    """Cycles of bins, each over the mean of its own RTset, from the least to the greatest: float64[bin]."""

    ratios: np.ndarray

    @property
    def within(self) -> float:
        """Share of bins from half to twice the mean, both included."""
        return float(((self.ratios >= 0.5) & (self.ratios <= 2)).mean())

    @property
    def above(self) -> float:
        """Share of bins above three times the mean."""
        return float((self.ratios > 3).mean())

    @property
    def greatest(self) -> float:
        """The longest bin over its mean."""
        return float(self.ratios[-1])

    def histogram(self, width: float = 0.25) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower ends of steps of a width from 0 on, and the bins in each: float64, int64."""
        steps = np.floor(self.ratios / width).astype(np.int64)
        counts = np.bincount(steps)
        return width * np.arange(len(counts)), counts


def balance_of(backs: Sequence[np.ndarray], tiles: int = 0) -> Balance:
    """Return the balance of bins from the cycles of each bin of each RTset; RTsets without any cycles do not count.

    With ``tiles``, how many tiles the screen has, those of which no bin is given count as bins of 0 cycles; else bins
    without entries do not count. Raises InputError where no bin has any cycles, and for more bins than tiles.
    """
    if tiles and max(map(len, backs), default=0) > tiles:
        raise InputError(Fault(f"{max(map(len, backs))} bins on {counted(tiles, 'tile')}"))
    ratios = []
    for cycles in backs:
        if cycles.sum():
            every = np.concatenate([cycles, np.zeros(max(tiles - len(cycles), 0), np.int64)])
            ratios.append(every * len(every) / every.sum())
    if not ratios:
        raise InputError(Fault("bins without any cycles have no balance"))
    return Balance(np.sort(np.concatenate(ratios)))
