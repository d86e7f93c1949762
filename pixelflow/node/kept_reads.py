"""Reads of texture memory that come again: the same PEs, the same addresses, nothing written in between.

What such a read brings is what it brought before, so it is kept by all that it follows from. A pass that is run again
reads the same control points, and finds them here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.texture_memory import TextureMemory

__all__ = ["KeptRead", "KeptReads"]

_KEPT = 32


@dataclass(slots=True, eq=False)
class KeptRead:
    """What a read was and brought: addresses, who took part, data by EMC and round, and bytes for the input ports."""

    addresses: NDArray[np.int64]
    valid: NDArray[np.bool_]
    data: NDArray[np.uint8]
    lanes: NDArray[np.int64]
    served: NDArray[np.uint8]
    """For each of ``lanes`` the bytes of its port: uint8[n, 32]."""
    _ports: NDArray[np.uint8] | None = None
    _left: NDArray[np.uint8] | None = None

    def put(self, total: int, held: Callable[[], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Return the input ports of all ``total`` PEs after the read: uint8[32, total].

        ``held`` gives a copy of what they held before, where somebody is not served.
        """
        if self._ports is None:
            self._ports = np.zeros((self.served.shape[1], total), np.uint8)
            self._ports[:, self.lanes] = self.served.T
            left = np.full(total, 0xFF, np.uint8)
            left[self.lanes] = 0
            self._left = left if left.any() else None
        if self._left is None:
            return self._ports
        ports = held()
        np.bitwise_and(ports, self._left, out=ports)
        return np.bitwise_or(ports, self._ports, out=ports)


class KeptReads:
    """The last reads of one node."""

    def __init__(self, memories: Sequence[TextureMemory]) -> None:
        self._memories = memories
        self._found: dict[Hashable, KeptRead] = {}

    def find(self, what: Hashable) -> KeptRead | None:
        """Return the read that followed from ``what`` and from these contents of texture memory."""
        return self._found.get((what, self._versions()))

    def keep(self, what: Hashable, read: KeptRead) -> KeptRead:
        """Keep a read; return it. Reads of contents that are no more are given up."""
        versions = self._versions()
        self._found = {known: each for known, each in self._found.items() if known[1] == versions}
        if len(self._found) >= _KEPT:
            del self._found[next(iter(self._found))]
        self._found[what, versions] = read
        return read

    def _versions(self) -> tuple[int, ...]:
        return tuple(memory.version for memory in self._memories)
