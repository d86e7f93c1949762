"""Accesses of a transfer to the texture memories of all modules, in the order in which the TASICs make them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.isa.tas import ADDRESS_BITS
from pixelflow.node.parts.texture.addresses import AddressMap, Physical
from pixelflow.node.parts.texture.memory import TextureMemory
from pixelflow.node.parts.texture.transfer import Direction, RoundAddresses, Transfer
from pixelflow.simd.errors import MachineFault

__all__ = ["TextureAccess"]


class TextureAccess:
    """The texture memories of a node, addressed by the number of a cell inside each device (see `addresses`)."""

    def __init__(self, config: NodeConfig, memories: Sequence[TextureMemory]) -> None:
        self._array = config.array
        self._sdram = config.sdram
        self._map = AddressMap(config.sdram)
        self._memories = memories

    def carry_out(
        self,
        transfer: Transfer,
        addresses: NDArray[np.int64],
        valid: NDArray[np.bool_],
        givers: NDArray[np.int64],
        data: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.uint8]:
        """Write ``data``, or read: uint8[emcs, rounds, devices, size], for addresses int64[emcs, rounds, devices].

        ``givers`` are the PEs whose turn it is, int64[emcs, rounds], which a fault names.

        Round by round, within a round EMC by EMC: the last write to an address stays. Raises MachineFault for an
        address that no device has, or where alternate banks were promised and do not come.
        """
        self.check(transfer, addresses, valid, givers)
        modules = self._array.modules
        rounds, devices = addresses.shape[1:]
        shape = (modules, self._array.emcs_per_module, rounds)
        found = np.zeros((*shape, devices, transfer.size), np.uint8)
        for module, memory in enumerate(self._memories):
            taken = valid.reshape(shape)[module].T
            where = addresses.reshape(*shape, devices)[module].swapaxes(0, 1)[taken]
            physical = self.physical(where, first=4 * (transfer.half or 0))
            if data is not None:
                memory.write(physical, data.reshape(found.shape)[module].swapaxes(0, 1)[taken])
            else:
                found[module].swapaxes(0, 1)[taken] = memory.read(physical, transfer.size)
        return data if data is not None else found.reshape(valid.shape[0], rounds, devices, transfer.size)

    def physical(self, addresses: NDArray[np.int64], *, first: int = 0) -> Physical:
        """Return bank, row and column of addresses inside the devices from ``first`` on: int64[n, devices] each."""
        devices = np.broadcast_to(first + np.arange(addresses.shape[-1], dtype=np.int64), addresses.shape)
        return Physical(devices, *self._map.cell(addresses))

    def check(
        self,
        transfer: Transfer,
        addresses: NDArray[np.int64],
        valid: NDArray[np.bool_],
        givers: NDArray[np.int64] | None = None,
    ) -> None:
        """Raise MachineFault where an address is none, or where a promise about the banks is broken."""
        limit = min(1 << ADDRESS_BITS, self._map.cells)
        wrong = ((addresses < 0) | (addresses >= limit) | (addresses % transfer.size != 0)) & valid[:, :, None]
        if wrong.any():
            emc, place, device = (int(each[0]) for each in np.nonzero(wrong))
            raise MachineFault(
                f"texture address {int(addresses[emc, place, device]):#x} is no multiple of {transfer.size} below "
                f"{limit:#x}{'' if givers is None else self._whose(givers, emc, place)}"
            )
        if transfer.alternate:
            self._check_promise(transfer, addresses, valid)

    def _whose(self, givers: NDArray[np.int64], emc: int, place: int) -> str:
        """Return which PE's turn it is: module, EMC, round."""
        lane = int(givers[emc, place])
        module, index = divmod(emc, self._array.emcs_per_module)
        position = ".".join(map(str, np.unravel_index(lane, self._array.shape)))
        return f": module {module}, EMC {index}, PE {lane} ({position}), round {place}"

    def _check_promise(self, transfer: Transfer, addresses: NDArray[np.int64], valid: NDArray[np.bool_]) -> None:
        """Neighbouring accesses must be in different banks; between the rounds of a read there is time enough."""
        emcs = self._array.emcs_per_module
        by_round = (self._array.modules, emcs, addresses.shape[1])
        banks = self._map.cell(addresses).bank.reshape(*by_round, addresses.shape[2]).swapaxes(1, 2)
        there = valid.reshape(by_round).swapaxes(1, 2)
        if transfer.direction is Direction.WRITE:
            accesses = there.shape[1] * there.shape[2]
            banks = banks.reshape(len(banks), 1, accesses, banks.shape[-1])
            there = there.reshape(len(there), 1, accesses)
        same = (banks[:, :, 1:] == banks[:, :, :-1]).any(axis=-1) & there[:, :, 1:] & there[:, :, :-1]
        if not same.any():
            return
        module, row, index = (int(each[0]) for each in np.nonzero(same))
        place, emc = divmod(row * emcs + index + 1, emcs)
        raise MachineFault(
            f"alternate banks were promised, but module {module}, EMC {emc} accesses bank "
            f"{int(banks[module, row, index + 1, 0])} in round {place}, as the access before it did"
        )

    def by_round(
        self, transfer: Transfer, addresses: NDArray[np.int64], valid: NDArray[np.bool_]
    ) -> list[tuple[RoundAddresses, ...]]:
        """Return the addresses module by module and round by round, for a run that schedules each access."""
        emcs, rounds, devices = addresses.shape
        first = 4 * (transfer.half or 0)
        alike = (addresses == addresses[:, :, :1]).all(axis=2) & (devices == self._sdram.devices_per_module)
        lists, same, there = addresses.tolist(), alike.tolist(), valid.tolist()
        left_out = self._sdram.devices_per_module - first - devices

        def one(emc: int, index: int) -> tuple[int | None, ...] | None:
            if not there[emc][index]:
                return None
            if same[emc][index]:
                return (lists[emc][index][0],)
            return (*[None] * first, *lists[emc][index], *[None] * left_out)

        each = self._array.emcs_per_module
        return [
            tuple(tuple(one(emc, index) for emc in range(start, start + each)) for index in range(rounds))
            for start in range(0, emcs, each)
        ]
