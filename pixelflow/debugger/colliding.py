"""Collisions of a round: EMCs of one module that write different data to one place of texture memory at once.

The last EMC of the round stays, without a fault. Where all write the same, nothing is lost and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pixelflow.config import ArrayConfig
from pixelflow.node import BlockAccess

__all__ = ["Collision", "collisions"]


@dataclass(frozen=True, slots=True)
class Collision:
    """The first collision of a transfer in one module."""

    module: int
    round: int
    """From 0 on."""
    device: int
    """The SDRAM of the module."""
    address: int
    first: int
    """The lane whose data are lost."""
    second: int
    """The lane whose data replace them."""
    more: int
    """Further writes of the transfer in this module whose data are lost in the same way."""


def collisions(access: BlockAccess, array: ArrayConfig) -> Iterator[Collision]:
    """Yield the first collision of each module; none for reads, and none where addresses are not known."""
    if access.data is None or access.addresses.size == 0:
        return
    each, device_of = array.emcs_per_module, 4 * (access.transfer.half or 0)
    rounds, devices = access.addresses.shape[1:]
    for module in range(array.modules):
        own = slice(module * each, (module + 1) * each)
        # By round, device, address and EMC: whoever writes to a place in a round stands beside who did before.
        emc, turn, device = np.broadcast_arrays(*np.ix_(range(each), range(rounds), range(devices)))
        there = access.valid[own][:, :, None] & (access.addresses[own] >= 0)
        emc, turn, device = (values[there] for values in (emc, turn, device))
        address = access.addresses[own][there]
        order = np.lexsort((emc, address, device, turn))
        emc, turn, device, address = (values[order] for values in (emc, turn, device, address))
        same = (np.diff(turn) == 0) & (np.diff(device) == 0) & (np.diff(address) == 0)
        pairs = np.flatnonzero(same)
        if len(pairs):
            data = access.data[own]
            before = data[emc[pairs], turn[pairs], device[pairs]]
            after = data[emc[pairs + 1], turn[pairs + 1], device[pairs + 1]]
            pairs = pairs[(before != after).any(axis=1)]
        if len(pairs):
            at = int(pairs[0])
            who = [int(access.served[own][emc[at + side], turn[at + side], 0]) for side in (0, 1)]
            place = int(turn[at]), device_of + int(device[at]), int(address[at])
            yield Collision(module, *place, *who, len(pairs) - 1)
