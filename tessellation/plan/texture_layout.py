"""The patch database in texture memory: where each patch lies, and its bytes (thesis 3.5, 4.1 and 4.3).

A patch is a run of 32-byte batches, in the order of use: the 8 words of a batch lie at the same address of the 8 SDRAMs
of a module, so that one access brings them all. Addresses here are *logical linear* ones of one module (figure 11): the
word at linear address 32 b + 4 d is in SDRAM d at byte address 4 b. A patch begins at a multiple of the next power of
two of its size, so that the address generator's offset only fills bits that are zero in the base (appendix B).

`write` puts the bytes there at once, for no cycles; `gp_traffic.load` has the node load them from GP memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pixelflow.config import SdramConfig
from pixelflow.node import AddressMap, Node
from pixelflow.simd.errors import Fault, InputError
from tessellation.plan.memory_map import BATCH_BYTES

__all__ = ["REPLICATIONS", "SENDS", "Image", "ModuleChoice", "Stored", "TextureDatabase", "slot_bytes", "write"]

REPLICATIONS = (1, 2, 4)
"""Modules that hold a patch: one, two as a compromise, or all four of a node (thesis 4.1)."""

SENDS = (16, 8, 4, 2, 1)
"""Sends per block of table 6: to how many PEs of a block the TASICs send a batch."""

Image = tuple[int, int, np.ndarray]
"""What is to be in texture memory: module, linear address, words."""


_AREA_BYTES = 4096
"""Reserved areas begin at a multiple of this."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a patch is: its linear address in each module that has it."""

    batches: int
    addresses: dict[int, int]
    map: AddressMap

    def base(self, module: int) -> int:
        """Return where the patch begins in each SDRAM of a module: what the PEs are loaded with, 21 bits."""
        return self.map.number_at(self.addresses[module])


def slot_bytes(batches: int) -> int:
    """Return the bytes that a patch of so many batches takes: 512 for the 480 of a bicubic one."""
    return BATCH_BYTES * (1 << (batches - 1).bit_length())


class ModuleChoice:
    """Deals patches out to the modules that store them: the least loaded ones, neighbours where there are several."""

    def __init__(self, modules: int, replication: int = 1) -> None:
        """Raises InputError for a replication that the thesis does not name or the node has no modules for."""
        if replication not in REPLICATIONS or replication > modules:
            allowed = ", ".join(str(number) for number in REPLICATIONS if number <= modules)
            raise InputError(Fault(f"patches stored in {replication} modules", hint=f"allowed: {allowed}"))
        firsts = range(0, modules - replication + 1, replication)
        self._groups = [tuple(range(first, first + replication)) for first in firsts]
        self._loads = [0] * len(self._groups)

    def next(self, weight: int = 1) -> tuple[int, ...]:
        """Return the modules of one more patch."""
        least = self._loads.index(min(self._loads))
        self._loads[least] += weight
        return self._groups[least]


class TextureDatabase:
    """Addresses and contents of all patches in the texture memory of a node.

    With ``both_banks`` every patch is there twice, at the same row and column of either bank, so that accesses can
    alternate between the banks (thesis 3.5); that takes twice the room.
    """

    def __init__(self, config: SdramConfig, modules: int, *, both_banks: bool = False) -> None:
        self._map = AddressMap(config)
        # The bank is the uppermost of the bits: a copy in the next one lies past all of the first (figure 11).
        self._size = 1 << self._map.bank_bit if both_banks else self._map.size
        self._copies = (0, self._size) if both_banks else (0,)
        self._free = [0] * modules
        self._images: list[tuple[Stored, np.ndarray]] = []
        self._written = 0

    def store(self, values: np.ndarray, modules: Sequence[int]) -> Stored:
        """Give a patch an address in each of ``modules``; ``values`` are its words in the order of use: uint32[n].

        Raises InputError where a module has no room left.
        """
        batches = -(-len(values) * values.itemsize // BATCH_BYTES)
        slot = slot_bytes(batches)
        addresses = {}
        for module in modules:
            start = -(-self._free[module] // slot) * slot
            if start + slot > self._size:
                raise InputError(
                    Fault(
                        f"the texture memory of module {module} is full: no {slot} bytes are left of {self._size}",
                        hint="fewer patches, or patches stored in fewer modules",
                    )
                )
            addresses[module] = start
            self._free[module] = start + slot
        image = np.zeros(batches * BATCH_BYTES // 4, np.uint32)
        image[: len(values)] = values
        stored = Stored(batches, addresses, self._map)
        self._images.append((stored, image))
        return stored

    def replace(self, stored: Stored, values: np.ndarray) -> Stored:
        """Put other values of a patch where it lies, or where they take another size in a place of their own.

        Returns where they are; the former place stays empty then. Raises InputError where a module has no room left.
        """
        if -(-len(values) * values.itemsize // BATCH_BYTES) != stored.batches:
            return self.store(values, tuple(stored.addresses))
        image = np.zeros(stored.batches * BATCH_BYTES // 4, np.uint32)
        image[: len(values)] = values
        self._images.append((stored, image))
        return stored

    def reserve(self, size: int, *, both_banks: bool = False) -> int:
        """Give ``size`` bytes of every module to something else than patches; return their linear address.

        With ``both_banks`` the same place in the next bank goes with them, and patches stay in the first. Raises
        InputError where patches have the room already.
        """
        if both_banks:
            self._size = min(self._size, 1 << self._map.bank_bit)
        start = (self._size - size) // _AREA_BYTES * _AREA_BYTES
        if start < max(self._free):
            raise InputError(
                Fault(f"texture memory is full: {size} bytes are wanted beside the patches", hint="fewer patches")
            )
        self._size = start
        return start

    @property
    def used_bytes(self) -> tuple[int, ...]:
        """Bytes taken in each module, copies in another bank included."""
        return tuple(free * len(self._copies) for free in self._free)

    def new_images(self) -> Iterator[Image]:
        """Yield (module, linear address, words) of everything stored since the last call."""
        for stored, image in self._images[self._written :]:
            for module, address in stored.addresses.items():
                for offset in self._copies:
                    yield module, address + offset, image
        self._written = len(self._images)


def write(database: TextureDatabase, node: Node) -> int:
    """Put what was stored since the last call into a node's texture memory; return the bytes written."""
    # One write for each module: a write costs more than its words do.
    of: dict[int, list[tuple[int, np.ndarray]]] = {}
    for module, address, image in database.new_images():
        of.setdefault(module, []).append((address, image))
    total = 0
    for module, images in of.items():
        memory = node.texture_memory[module]
        words = np.concatenate([image for _, image in images]).astype("<u4").view(np.uint8).reshape(-1, 4)
        addresses = np.concatenate([address + 4 * np.arange(len(image)) for address, image in images])
        memory.write(AddressMap(memory.config).to_physical(addresses), words)
        total += words.size
    return total
