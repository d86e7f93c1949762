"""Reads of texture memory that are made anew: at the same addresses, for the same PEs, of other contents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa.registers import PORT_BYTES
from pixelflow.node.parts.texture.access import TextureAccess
from pixelflow.node.parts.texture.addresses import Physical
from pixelflow.node.parts.texture.memory import FixedWords, TextureMemory
from pixelflow.node.parts.texture.read_cache import KeptRead

__all__ = ["Rereading"]


class Rereading:
    """The reads of a run, all made at once: where every word stands is found out once."""

    def __init__(self, reads: Sequence[KeptRead], access: TextureAccess, memories: Sequence[TextureMemory]) -> None:
        ends = np.cumsum([len(read.blocks) for read in reads])
        self._blocks = np.zeros((ends[-1], PORT_BYTES // 4), np.uint32)
        self._parts = np.split(self._blocks, ends[:-1])
        self._found: list[tuple[NDArray[np.int64], FixedWords]] = []
        for module, memory in enumerate(memories):
            numbers, places = [], []
            for read, end in zip(reads, ends, strict=True):
                number, where = _places(read, access, module, len(memories))
                numbers.append(end - len(read.blocks) + number)
                places.append(where)
            where = Physical(*(np.concatenate(fields) for fields in zip(*places, strict=True)))
            self._found.append((np.concatenate(numbers), memory.fixed(where)))

    def blocks(self) -> list[NDArray[np.uint8]]:
        """Return for every read what it brings now, as `KeptRead.blocks`: uint8[block, 32]."""
        for numbers, words in self._found:
            self._blocks[numbers] = words.read()
        return [part.view(np.uint8) for part in self._parts]


def _places(read: KeptRead, access: TextureAccess, module: int, modules: int) -> tuple[NDArray[np.int64], Physical]:
    """Return which blocks of a read come from a module, and where their eight words stand: int64[n, 8] each."""
    halves = read.halves
    emcs = len(read.valid) // modules
    own = np.zeros_like(read.valid)
    own[module * emcs : (module + 1) * emcs] = read.valid[module * emcs : (module + 1) * emcs]
    where = access.physical(read.addresses[own])
    later = 4 * np.arange(halves)[:, None]
    fields = [np.repeat(np.asarray(field)[:, None], halves, axis=1) for field in where]
    fields[3] = fields[3] + later
    number = halves * np.flatnonzero(own)[:, None] + np.arange(halves, dtype=np.int64)
    return number.reshape(-1), Physical(*(field.reshape(-1, field.shape[-1]) for field in fields))
