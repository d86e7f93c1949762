"""Cache of texture-memory reads: the same PEs, the same addresses, nothing written in between.

What such a read brings is what it brought before, so it is kept by all that it follows from. A pass that is run again
reads the same control points, and finds them here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.parts.texture.memory import TextureMemory

__all__ = ["Asked", "KeptRead", "LastRound", "ReadCache"]

_KEPT = 32


class Asked(NamedTuple):
    """What a read follows from besides texture memory: ``all`` of it, and of that the marks and the ports' bytes."""

    all: Hashable
    marks: NDArray[np.bool_]
    given: NDArray[np.uint8]


class LastRound(NamedTuple):
    """What the corner turners hold after a transfer: of each EMC that took part its addresses and its data."""

    emcs: NDArray[np.int64] | slice
    addresses: NDArray[np.int64]
    data: NDArray[np.uint8]

    @classmethod
    def of(cls, addresses: NDArray[np.int64], valid: NDArray[np.bool_], data: NDArray[np.uint8]) -> LastRound:
        """Return the last rounds of all that are given by EMC and round."""
        emcs = np.flatnonzero(valid.any(axis=1))
        last = valid.sum(axis=1)[emcs] - 1
        return cls(emcs if len(emcs) < len(valid) else slice(None), addresses[emcs, last], data[emcs, last])


@dataclass(eq=False)
class KeptRead:
    """What a read was and brought: addresses, who took part, data by EMC and round, and who gets which."""

    addresses: NDArray[np.int64]
    valid: NDArray[np.bool_]
    data: NDArray[np.uint8]
    lanes: NDArray[np.int64]
    source: NDArray[np.int64]
    """For each of ``lanes`` the block that it gets (`blocks`)."""
    marks: NDArray[np.bool_] | None = None
    """Which PEs were marked, where the read is kept."""
    came_again: bool = False
    given: NDArray[np.uint8] | None = None
    """The first bytes of all output ports, as far as they matter: uint8[byte, lane]."""
    _ports: NDArray[np.uint8] | None = None
    _left: NDArray[np.uint8] | None = None

    @cached_property
    def accesses(self) -> int:
        """How many rounds of EMCs access texture memory."""
        return int(self.valid.sum())

    @cached_property
    def last(self) -> LastRound:
        """What the corner turners hold after the read."""
        return LastRound.of(self.addresses, self.valid, self.data)

    @cached_property
    def served(self) -> NDArray[np.uint8]:
        """For each of ``lanes`` the bytes of its port: uint8[n, 32]."""
        return self.blocks[self.source]

    @property
    def halves(self) -> int:
        """Blocks of a round: one of the first 4 bytes of every SDRAM, and one of the other 4 where they give 8."""
        return self.data.shape[3] // 4

    @cached_property
    def blocks(self) -> NDArray[np.uint8]:
        """What PEs get, round by round, EMC by EMC: uint8[block, 32]."""
        emcs, rounds, devices, _ = self.data.shape
        words = self.data.reshape(emcs, rounds, devices, self.halves, 4)
        return words.swapaxes(2, 3).reshape(-1, 4 * devices)

    def data_of(self, blocks: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return other blocks as ``data`` has them."""
        emcs, rounds, devices, size = self.data.shape
        words = blocks.reshape(emcs, rounds, self.halves, devices, 4)
        return words.swapaxes(2, 3).reshape(emcs, rounds, devices, size)

    def source_of(self, total: int) -> NDArray[np.int64]:
        """Return for all ``total`` PEs the block that they get, -1 for those that get none."""
        found = np.full(total, -1, np.int64)
        found[self.lanes] = self.source
        return found

    @cached_property
    def marks_row(self) -> NDArray[np.uint8]:
        """The marks as engines compare them: uint8[1, lane] of 0 and 255."""
        return np.where(self.marks, np.uint8(0xFF), np.uint8(0))[None]

    def ports(self, total: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return the input ports of all ``total`` PEs, uint8[32, total], and who is served: bool[total]."""
        ports = np.zeros((self.served.shape[1], total), np.uint8)
        ports[:, self.lanes] = self.served.T
        served = np.zeros(total, bool)
        served[self.lanes] = True
        return ports, served

    def put(self, total: int, held: Callable[[], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Return the input ports of all ``total`` PEs after the read: uint8[32, total].

        ``held`` gives a copy of what they held before, where somebody is not served.
        """
        if self._ports is None:
            self._ports, served = self.ports(total)
            self._left = None if served.all() else np.where(served, np.uint8(0), np.uint8(0xFF))
        if self._left is None:
            return self._ports
        ports = held()
        np.bitwise_and(ports, self._left, out=ports)
        return np.bitwise_or(ports, self._ports, out=ports)


class ReadCache:
    """The last reads of one node, by all that they follow from."""

    def __init__(self, memories: Sequence[TextureMemory]) -> None:
        self._memories = memories
        self._found: dict[Hashable, KeptRead] = {}

    def find(self, what: Hashable) -> KeptRead | None:
        """Return the read that followed from ``what`` and from these contents of texture memory."""
        return self._found.get((what, self.versions()))

    def keep(self, what: Hashable, read: KeptRead) -> KeptRead:
        """Keep a read; return it. Reads of contents that are no more are given up."""
        versions = self.versions()
        self._found = {known: each for known, each in self._found.items() if known[1] == versions}
        if len(self._found) >= _KEPT:
            del self._found[next(iter(self._found))]
        self._found[what, versions] = read
        return read

    def versions(self) -> tuple[int, ...]:
        """Return what tells contents of texture memory from other ones."""
        return tuple(memory.version for memory in self._memories)
