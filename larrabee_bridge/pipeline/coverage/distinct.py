"""Distinct values of whole numbers, by sorting: `np.unique` gathers them in a hash table, which takes far longer."""

from __future__ import annotations

import numpy as np

__all__ = ["begins_of", "distinct"]


def begins_of(*columns: np.ndarray) -> np.ndarray:
    """Return which rows of columns of one length differ from the row before; the first does: bool[row]."""
    new = np.ones(len(columns[0]), bool)
    if len(new):
        new[1:] = False
    for values in columns:
        new[1:] |= values[1:] != values[:-1]
    return new


def distinct(values: np.ndarray) -> np.ndarray:
    """Return the values that there are, each once, ascending."""
    ordered = np.sort(values, axis=None)
    return ordered[begins_of(ordered)]
