"""Collisions of a round: EMCs of one module that write different data to one place of texture memory at once.

The last EMC of the round stays, without a fault. Where all write the same, nothing is lost and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pixelflow.config import THESIS, ArrayConfig
from pixelflow.isa import Program
from pixelflow.isa.declaration import Transfers
from pixelflow.node import BlockAccess, Node
from pixelflow.observe import TransferBegan
from pixelflow.simd.errors import SimulatorError

__all__ = ["Collision", "certain_collisions", "collisions"]

_STEPS = 2_000_000
"""Cycles of a program that are walked to find collisions before it is run."""


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


def collisions(access: BlockAccess, array: ArrayConfig, *, data: bool = True) -> Iterator[Collision]:
    """Yield the first collision of each module; none for reads, and none where addresses are not known.

    Without ``data`` they are not known, and two writes to one place collide whatever they write.
    """
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
        if len(pairs) and data:
            held = access.data[own]
            before = held[emc[pairs], turn[pairs], device[pairs]]
            after = held[emc[pairs + 1], turn[pairs + 1], device[pairs + 1]]
            pairs = pairs[(before != after).any(axis=1)]
        if len(pairs):
            at = int(pairs[0])
            who = [int(access.served[own][emc[at + side], turn[at + side], 0]) for side in (0, 1)]
            place = int(turn[at]), device_of + int(device[at]), int(address[at])
            yield Collision(module, *place, *who, len(pairs) - 1)


def certain_collisions(program: Program) -> Iterator[tuple[int, Collision]]:
    """Yield transfers by number of their instruction, and a collision of each that comes whatever the PEs hold.

    The program is walked on the thesis machine as a timing-only run walks it: marks that follow from the program and
    addresses of the generator are known, and nothing else is. Where the walk cannot go on, it ends.
    """
    if len(program.entries) < 2 or not any(
        each.declaration.transfers is Transfers.WRITE for each in program.instructions
    ):
        return
    node, found = Node(THESIS, "rows"), dict[int, Collision]()

    def look(event: TransferBegan[BlockAccess]) -> None:
        for each in collisions(event.access, THESIS.array, data=False):
            found.setdefault(event.index, each)

    node.bus.subscribe(look, TransferBegan)
    with suppress(SimulatorError):  # what stops the program is told where it runs
        node.run(program, function=False, max_cycles=_STEPS)
    yield from found.items()
