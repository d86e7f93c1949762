"""Ranks: quads that share a place on the screen are carried out one after the other, all others side by side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["in_turn"]

Places = NDArray[np.int64]


def in_turn(places: Places) -> Iterator[Places]:
    """Yield positions such that no place comes twice in a turn, and equal places come in order."""
    if not len(places):
        return
    order = np.argsort(places, kind="stable")
    found = places[order]
    starts = np.flatnonzero(np.concatenate([[True], found[1:] != found[:-1]]))
    rank = np.arange(len(found)) - np.repeat(starts, np.diff(np.append(starts, len(found))))
    if not rank.any():
        yield np.arange(len(places))
        return
    by_rank = np.argsort(rank, kind="stable")
    past = np.cumsum(np.bincount(rank))
    for number, end in enumerate(past):
        yield order[by_rank[past[number - 1] if number else 0 : end]]
