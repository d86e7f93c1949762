"""A memory of bytes beside the lanes: one for all groups, or one for each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import MachineFault

__all__ = ["ByteMemory", "Watcher"]

_KINDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}

Words = NDArray[np.uint32]
Bits = NDArray[np.bool_]
"""Arrays [group, lane], or with one column where all lanes of a group have the same."""

Watcher = Callable[[Words, int, Bits], None]
"""Called with addresses, size and enabled lanes of each access."""


class ByteMemory:
    """``sets`` memories of ``size`` bytes each, addressed from 0, low byte first; all zero at the start.

    ``sets`` is 1 (all groups see the same bytes) or the number of groups. ``size`` is a multiple of 4.
    """

    def __init__(self, size: int, sets: int = 1) -> None:
        if size <= 0 or size % 4:
            raise ValueError(f"a memory of {size} bytes is not a whole number of words")
        self.size, self.sets = size, sets
        self.data = np.zeros((sets, size), np.uint8)
        self._flat = self.data.reshape(-1)
        self._copy: NDArray[np.uint8] | None = None
        self._origins = (np.arange(sets) * size)[:, None]

    def copied(self) -> NDArray[np.uint8]:
        """Return a copy of ``data``, which the next one overwrites: pages of the host that are new take longer."""
        if self._copy is None:
            self._copy = self.data.copy()
        else:
            np.copyto(self._copy, self.data)
        return self._copy

    def _places(self, address: Words, size: int, where: Bits) -> NDArray[np.int64]:
        """Return where each lane's bytes begin in all sets laid end to end; lanes that take no part begin at 0."""
        beyond = where & (address > np.uint32(self.size - size))
        if beyond.any():
            group, lane = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
            reached = int(np.broadcast_to(address, beyond.shape)[group, lane])
            raise MachineFault(f"lane {lane} reaches byte {reached:#x}, the memory has {self.size:#x} bytes")
        places = np.where(where, address, 0).astype(np.int64)
        return places + self._origins if self.sets > 1 else places

    def fetch(self, address: Words, size: int, where: Bits) -> Words:
        """Return what stands at each lane's address, 0 in lanes that take no part.

        Raises MachineFault where an enabled lane reaches beyond the end.
        """
        places = self._places(address, size, where)
        if not (places % size).any():
            value = self._flat.view(_KINDS[size])[places // size].astype(np.uint32)
        else:
            value = np.zeros(places.shape, np.uint32)
            for byte in range(size):
                value |= self._flat[places + byte].astype(np.uint32) << np.uint32(8 * byte)
        return value if where.all() else np.where(where, value, np.uint32(0))

    def put(self, address: Words, value: Words, size: int, where: Bits) -> None:
        """Write to each lane's address; of lanes that overlap the last wins. Raises MachineFault beyond the end."""
        places, kept, taking = np.broadcast_arrays(self._places(address, size, where), value, where)
        if not taking.all():
            places, kept = places[taking], kept[taking]
        if not (places % size).any():
            # numpy assigns in order, so that the last of equal places stays.
            self._flat.view(_KINDS[size])[places // size] = kept.astype(_KINDS[size])
            return
        # Byte after byte within a lane, lane after lane: the order in which overlapping words are written.
        every = places[..., None] + np.arange(size)
        self._flat[every] = (kept[..., None] >> (8 * np.arange(size, dtype=np.uint32)) & np.uint32(0xFF)).astype(
            np.uint8
        )
