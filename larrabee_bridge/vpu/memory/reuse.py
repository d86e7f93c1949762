"""Reuse in caches worked out for whole arrays of accesses: which of them a least-recently-used cache holds.

A cache of n lines that gives up the least recently used one holds a line if and only if fewer than n others were used
since its last use (Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9, 1970). So
what a run of accesses finds does not need the cache, only for each access how many lines stand between it and the one
before of the same line. A line stands between if its last use before the access does.
"""

from __future__ import annotations

import numpy as np

__all__ = ["found_again", "line_moves"]

_STRETCH = 512
"""Accesses that are looked at together."""
_MOST = 1 << 22
"""Places that are compared at a time, which bounds what is in memory."""


def found_again(lines: np.ndarray, capacity: int) -> np.ndarray:
    """Return which accesses find their line in a cache of ``capacity`` lines that is empty before them: bool[access].

    ``lines`` are int64[access], in their order. Accesses to caches of their own may stand after one another, if each
    names lines that no other does.
    """
    previous, following = _neighbours(lines)
    times = np.arange(len(lines))
    found: np.ndarray = (previous >= 0) & (times - previous <= capacity)
    far = np.flatnonzero((previous >= 0) & ~found)
    if capacity < 1 or not len(far):
        return found & (capacity > 0)
    # The last use so far of each of the ``capacity`` lines that were used last, ascending.
    last_uses = np.zeros(0, np.int64)
    done = 0
    cuts = np.flatnonzero(np.diff(far // _STRETCH)) + 1
    for these in np.split(far, cuts):
        start = int(these[0]) // _STRETCH * _STRETCH
        so_far = np.concatenate([last_uses, times[done:start]])
        last_uses, done = so_far[following[so_far] >= start][-capacity:], start
        before = previous[these]
        # Lines between as the stretch begins; within it each access adds one at most.
        least = len(last_uses) - np.searchsorted(last_uses, before, side="right")
        found[these] = here = (before < start) & (least + (these - start) < capacity)
        open_ones = np.flatnonzero(~here & (least < capacity))
        places = np.concatenate([last_uses, times[start : start + _STRETCH]])
        for part in np.array_split(open_ones, -(-len(open_ones) * len(places) // _MOST) or 1):
            at, since = these[part, None], before[part, None]
            between = ((places > since) & (places < at) & (following[places] >= at)).sum(axis=1)
            found[these[part]] = between < capacity
    return found


def line_moves(lines: np.ndarray, reads: np.ndarray, writes: np.ndarray, capacity: int) -> tuple[int, int]:
    """Return how many lines come from memory and go to memory, where a cache writes back and is empty in the end.

    A line comes where it is not there and something of it is read: ``reads`` and ``writes`` are bool[access]. What was
    written goes once for each stay in the cache.
    """
    found = found_again(lines, capacity)
    order = np.argsort(lines, kind="stable")
    stays = np.flatnonzero(~found[order])
    written = np.logical_or.reduceat(writes[order], stays) if len(stays) else np.zeros(0, bool)
    return int(np.count_nonzero(reads & ~found)), int(np.count_nonzero(written))


def _neighbours(lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the access before of the same line, or -1, and the next one, or as many as there are: int64[access]."""
    count = len(lines)
    previous, following = np.full(count, -1), np.full(count, count)
    order = np.argsort(lines, kind="stable")
    same = np.flatnonzero(lines[order[1:]] == lines[order[:-1]])
    previous[order[same + 1]] = order[same]
    following[order[same]] = order[same + 1]
    return previous, following
