"""Merging of records by depth: what the image composition network does with the bytes that it carries (thesis 2.2.2).

A record begins with its depth, highest byte first, so that a node that compares two of them byte by byte knows the
nearer one as soon as they differ. Of equal depths the record of the node that comes first in the row stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["DEPTH_BYTES", "depths_of", "merge", "shares"]

DEPTH_BYTES = 3


def merge(records: Sequence[np.ndarray]) -> np.ndarray:
    """Return the nearest record at each PE, of those of the nodes in their order: uint8[byte, lane] each."""
    found = records[0]
    for other in records[1:]:
        nearer = depths_of(other) < depths_of(found)
        found = np.where(nearer, other, found)
    return found


def depths_of(record: np.ndarray) -> np.ndarray:
    """Return the depths that records begin with: int64[lane]."""
    high, middle, low = record[:DEPTH_BYTES].astype(np.int64)
    return high << 16 | middle << 8 | low


def shares(triangles: int, nodes: int) -> list[range]:
    """Deal numbers of triangles to nodes in consecutive shares, so that the first of equal depths stays the first."""
    each = np.array_split(np.arange(triangles), nodes)
    ends = np.cumsum([len(part) for part in each]).tolist()
    return [range(end - len(part), end) for end, part in zip(ends, each, strict=True)]
