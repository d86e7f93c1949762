"""A transfer between PEs, texture memory and GP memory, as a texture instruction asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa.declarations import PORT_BYTES
from pixelflow.isa.tas import Addressing

WAYS = (
    "texture memory to TASICs",
    "TASICs to texture memory",
    "TASICs to PEs",
    "PEs to TASICs",
    "PEs to PEs",
    "PEs to GPs",
    "GPs to TASICs",
    "TASICs to TASICs",
)
"""The ways of data; a read that sends repeatedly gives the PEs more than it takes from texture memory."""

BASE_BYTES = 4
"""Bytes of a base address in a port (24 bits are used)."""

RoundAddresses = tuple[tuple[int | None, ...] | None, ...]
"""The addresses of a round, EMC by EMC: None where the EMC has no PE left, one address for all devices, or one for each
device, None for a device that is left out."""


class Direction(Enum):
    """The direction of data."""

    READ = "texture memory to PEs"
    WRITE = "PEs to texture memory"
    LOOP_BACK = "PEs to PEs"
    RETURN = "PEs to GP memory"
    LOAD = "GP memory to texture memory"


class Return(NamedTuple):
    """Bytes that PEs marked for writing send to GP memory: a part of the output port, of some modules."""

    modules: int
    """One bit for each module."""
    start: int
    size: int

    def includes(self, module: int) -> bool:
        return bool(self.modules >> module & 1)


class Load(NamedTuple):
    """Blocks of 32 bytes that go from GP memory to texture memory of the modules, to consecutive words."""

    modules: int
    """One bit for each module."""
    address: int
    blocks: int

    def includes(self, module: int) -> bool:
        return bool(self.modules >> module & 1)


class Transfer(NamedTuple):
    """A transfer to be made. Sizes in bytes: ``size`` from or to each SDRAM."""

    direction: Direction
    size: int = 4
    sends: int = 1
    addressing: Addressing = Addressing.EXPLICIT
    held: bool = False
    alternate: bool = False
    group: int = 0
    """Of a write with base addresses: the accesses after each PE that gives a base; 0 elsewhere."""
    half: int | None = None
    """Of a write with explicit addresses: 0 for the lower four SDRAMs, 1 for the upper four."""
    returned: Return | None = None
    load: Load | None = None
    over: int = 0
    """Of a write: by how many modules the SDRAMs are further on than the PEs."""

    @property
    def accesses(self) -> bool:
        """True if the transfer reads or writes texture memory for PEs."""
        return self.direction in (Direction.READ, Direction.WRITE)

    @property
    def mark(self) -> str:
        """The mark of the PEs that determine the number of rounds."""
        return "MR" if self.direction is Direction.READ else "MW"

    @property
    def what(self) -> str:
        """The direction in words, for events."""
        return "PEs to texture memory of another module" if self.over else self.direction.value

    @property
    def uses_ports(self) -> bool:
        """True if local ports and marks of PEs take part."""
        return self.direction is not Direction.LOAD

    @property
    def pes_per_round(self) -> int:
        """PEs of an EMC that one round serves, without a PE that only gives a base."""
        return self.sends * self.size // 4

    @property
    def pes_per_group(self) -> int:
        """PEs of an EMC that belong together: those of a round, or the giver of a base and the PEs that use it."""
        return 1 + self.group * self.pes_per_round if self.group else self.pes_per_round

    def rounds(self, marked: int) -> int:
        """Return the rounds of an EMC with this many marked PEs."""
        if not self.group:
            return -(-marked // self.pes_per_round)
        whole, rest = divmod(marked, self.pes_per_group)
        return whole * self.group + max(0, -(-(rest - 1) // self.pes_per_round))

    def inbound_bytes(self, index: int) -> int:
        """Return the bytes that each EMC sends to the TASICs for round ``index``: addresses, data to be written."""
        match self.direction:
            case Direction.RETURN | Direction.LOAD:
                return 0
            case Direction.LOOP_BACK:
                return PORT_BYTES
            case Direction.WRITE if self.half is not None:
                return PORT_BYTES
            case Direction.WRITE if self.group:
                data = PORT_BYTES * self.pes_per_round
                return data + (BASE_BYTES if index % self.group == 0 else 0)
        addresses = {Addressing.EXPLICIT: PORT_BYTES, Addressing.BASE: BASE_BYTES}.get(self.addressing, 0)
        data = 0 if self.direction is Direction.READ or self.held else PORT_BYTES * self.pes_per_round
        return addresses + data

    def inbound_total(self, rounds: int) -> int:
        """Return the bytes that each EMC sends to the TASICs in this many rounds."""
        if self.group:
            return sum(self.inbound_bytes(index) for index in range(rounds))
        return rounds * self.inbound_bytes(0)

    def given_bytes(self, marked: int) -> int:
        """Return the bytes that an EMC with this many marked PEs gives in all its rounds: addresses, data."""
        if not self.group:
            return self._given_in(self.rounds(marked), marked)
        rounds = self.rounds(marked)
        bases = -(-rounds // self.group)
        return PORT_BYTES * (marked - -(-marked // self.pes_per_group)) + BASE_BYTES * bases

    def _given_in(self, rounds: int, marked: int) -> int:
        """Return the same where all rounds are alike: addresses come once a round."""
        if self.direction in (Direction.RETURN, Direction.LOAD):
            return 0
        if self.direction is Direction.LOOP_BACK or self.half is not None:
            return rounds * PORT_BYTES
        data = 0 if self.direction is Direction.READ or self.held else PORT_BYTES
        return rounds * (self.inbound_bytes(0) - data * self.pes_per_round) + marked * data

    def taken_bytes(self, marked: int) -> int:
        """Return the bytes that an EMC with this many marked PEs takes in all its rounds: data."""
        return PORT_BYTES * marked if self.outbound_bytes else 0

    @property
    def outbound_bytes(self) -> int:
        """Bytes that the TASICs send to each EMC in a round."""
        to_pes = self.direction in (Direction.READ, Direction.LOOP_BACK)
        return PORT_BYTES * self.pes_per_round if to_pes else 0


class Destination(NamedTuple):
    """The destination of bytes from a module to GP memory."""

    node: int = 0
    """The distance along the geometry network; 0 is the same node."""
    gp: int = 0
    address: int = 0


class TransferCommand(NamedTuple):
    """The command of the TIGC for the TASICs of one module. Only the addresses in it depend on data."""

    transfer: Transfer
    rounds: int = 0
    """Rounds of accesses, or of loop-back."""
    parcels: tuple[int, ...] = ()
    """Bytes for GP memory, round by round."""
    destination: Destination = Destination()
    addresses: tuple[RoundAddresses, ...] | None = None
    """Round by round, in a run that schedules every access; else None."""
    used: int = 0
    """Slots (one of each EMC in each round) whose EMC has a PE left."""
    given: int = 0
    """Bytes from the EMCs to the TASICs in these, addresses and data."""
    taken: int = 0
    """Bytes from the TASICs to PEs in these."""

    @property
    def inbound_bytes(self) -> int:
        """Bytes for which each EMC has slots on the way to the TASICs in all rounds."""
        return self.transfer.inbound_total(self.rounds)

    @property
    def outbound_bytes(self) -> int:
        """Bytes for which each EMC has slots on the way from the TASICs in all rounds."""
        return self.transfer.outbound_bytes * self.rounds


@dataclass(frozen=True, slots=True, eq=False)
class BlockAccess:
    """The accesses of a transfer to texture memory, EMC by EMC and round by round."""

    transfer: Transfer
    givers: NDArray[np.int64]
    """The lanes that give the addresses: int64[emcs, rounds], -1 where an EMC has no PE left."""
    served: NDArray[np.int64]
    """The lanes whose ports take part: int64[emcs, rounds, PEs of a round], -1 for none."""
    addresses: NDArray[np.int64]
    """int64[emcs, rounds, devices]; negative where a timing-only run does not know them."""
    valid: NDArray[np.bool_]
    """The EMCs that take part in each round: bool[emcs, rounds]."""
    data: NDArray[np.uint8] | None = None
    """The data to write: uint8[emcs, rounds, devices, bytes]."""
