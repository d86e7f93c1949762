"""Memory that is handed out piece by piece and grows: where the stages of the front end find and leave their data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.unit.program import MEMORY_BYTES
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

__all__ = ["BLOCK", "Heap"]

BLOCK = 512
"""Pieces begin at multiples of this many bytes: eight cache lines, which is one block of sixteen vertices."""


class Heap:
    """A memory whose first 64 KB are the programs' own ranges; pieces follow, all zeros at first."""

    def __init__(self) -> None:
        self._memory = ByteMemory(MEMORY_BYTES)
        self._end = MEMORY_BYTES

    @property
    def memory(self) -> ByteMemory:
        """The memory as it is now, large enough for all pieces."""
        if self._end > self._memory.size:
            grown = ByteMemory(self._end)
            grown.data[:, : self._memory.size] = self._memory.data
            self._memory = grown
        return self._memory

    def take(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where pieces of these sizes in bytes begin, one after the other."""
        rounded = -(-np.asarray(sizes, np.int64) // BLOCK) * BLOCK
        begins = self._end + np.cumsum(rounded) - rounded
        self._end += int(rounded.sum())
        return begins

    def put(self, values: NDArray[np.generic]) -> int:
        """Take a piece for an array of 32-bit numbers, write it there and return where it begins."""
        begin = int(self.take(np.array([values.nbytes]))[0])
        self.words(begin, values.size)[:] = np.ascontiguousarray(values).view(np.int32).reshape(-1)
        return begin

    def words(self, begin: int, count: int) -> NDArray[np.int32]:
        """Return ``count`` words from byte ``begin`` on: a view that is valid until the next piece is taken."""
        return self.memory.data.reshape(-1)[begin : begin + 4 * count].view(np.int32)
