"""Contents of the buffers that draws by function alone have left: what caches, block states and maxima begin with.

Which size a line was stored in, and whether a line that is as it was cleared was written since, is not known without
time: a line that differs from the clear counts as stored in the size that its words compress to, any other as clear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.work import AttilaWork

__all__ = ["Contents", "contents"]

_DEPTH = 0xFFFFFF


@dataclass(frozen=True)
class Contents:
    """Lines that are not as they were cleared, by number."""

    color: Mapping[int, list[int]]
    depth: Mapping[int, list[int]]
    maxima: Mapping[int, int]
    """The greatest depth of each of the lines of depth."""
    rops: bytes
    """The ROP of each line of a buffer."""

    def of(self, rop: int, words: Mapping[int, list[int]]) -> dict[int, list[int]]:
        """Return the lines of one ROP."""
        return {block: line for block, line in words.items() if self.rops[block] == rop}


def contents(work: AttilaWork) -> Contents | None:
    """Return what the draws before those of the work left; None where there are none."""
    before = work.before
    if before is None:
        return None
    color = _written(before.color, work.clear.color or 0)
    depth = _written(before.depth, work.clear.depth_word)
    maxima = {block: max(word & _DEPTH for word in words) for block, words in depth.items()}
    return Contents(color, depth, maxima, before.rops.tobytes())


def _written(lines: NDArray[np.uint32], cleared: int) -> dict[int, list[int]]:
    blocks = np.flatnonzero((lines != np.uint32(cleared)).any(axis=1)).tolist()
    return {block: lines[block].tolist() for block in blocks}
