"""The order of the control values in the schedule of shared columns: each of four PEs gets those of its own columns.

For each evaluation and each group of four columns, PE y = 0 .. 3 of a block takes column y of the group, row by row.
One transfer brings 16 bytes to each of the four, with as many whole values as fit: 4 of binary32, 3, 2 and 2 of 5, 6
and 7 bytes.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate

import numpy as np

from tessellation.plan.mapping import BLOCK_SIDE
from tessellation.plan.memory_map import AXES, MemoryMap
from tessellation.plan.precision import SINGLE, StoredFormat
from tessellation.plan.schedule import surface_order, surface_places, surface_values
from tessellation.surface.patch import Patch

__all__ = ["SHARE_BYTES", "column_values", "extra_memory", "groups_of", "point_reads", "reads_of", "share_values"]

SHARE_BYTES = 16
"""Bytes that one transfer brings to a PE."""

_BATCHES = 2
"""Units of 32 bytes in texture memory that one transfer reads."""


def extra_memory(value_bytes: int) -> tuple[tuple[str, int], ...]:
    """Return the PE memory beyond table 9: the inner sums of four columns."""
    return (("columns", BLOCK_SIDE * value_bytes),)


def groups_of(columns: int) -> int:
    """Return into how many groups of four so many columns are cut."""
    return -(-columns // BLOCK_SIDE)


def reads_of(batches: int) -> int:
    """Return the transfers of a pass whose patches take so many units of 32 bytes."""
    return batches // _BATCHES


def _ends(memory: MemoryMap) -> list[int]:
    """Return how many values each PE has used when each surface is complete."""
    surfaces = surface_order(memory.rows, memory.columns, reordered=memory.reordered)
    return list(accumulate(work.rows * groups_of(work.columns) for work in surfaces))


def share_values(memory: MemoryMap) -> int:
    """Return the values that each PE gets: 33 for a bicubic net."""
    return _ends(memory)[-1]


def point_reads(memory: MemoryMap, stored: StoredFormat = SINGLE) -> tuple[int, ...]:
    """Return the transfer, from 0 on, after whose arithmetic each coordinate of the points is complete."""
    return tuple((end - 1) // stored.fitting(SHARE_BYTES) for end in _ends(memory)[: len(AXES)])


def column_values(patch: Patch, stored: StoredFormat = SINGLE, *, reordered: bool = False) -> np.ndarray:
    """Return the words of a patch in the order of this schedule: uint32[16 n], 16 for each transfer.

    The share of PE y = 0 comes first; columns that the net does not have are zeros.
    """
    order = _column_order(*patch.counts, stored.fitting(SHARE_BYTES), reordered)
    return stored.packed(stored.patterns(surface_values(stored.points(patch))[order]), SHARE_BYTES)


@cache
def _column_order(rows: int, columns: int, each: int, reordered: bool) -> np.ndarray:
    """Return this order as places in `surface_values`; its last place is a zero. A share has ``each`` whole values."""
    places = surface_places(rows, columns)
    zero = 1 + max(int(of.max()) for of in places.values())
    pieces = []
    for work in surface_order(rows, columns, reordered=reordered):
        net = places[work.surface][..., work.axis]
        padded = np.pad(net, ((0, 0), (0, -work.columns % BLOCK_SIDE)), constant_values=zero)
        pieces += np.split(padded, groups_of(work.columns), axis=1)
    stream = np.concatenate(pieces)
    stream = np.pad(stream, ((0, -len(stream) % each), (0, 0)), constant_values=zero)
    return stream.reshape(-1, each, BLOCK_SIDE).swapaxes(1, 2).reshape(-1)
