"""Events that only a node has: its semaphores, its TASICs, its paths out of the GNI, its enables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from pixelflow.simd.observe.events import Event

__all__ = [
    "TRANSFER",
    "Accessed",
    "Blocked",
    "EnablesChanged",
    "MemoryGiven",
    "PathUsed",
    "Signalled",
    "Taken",
    "TransferBegan",
]

TRANSFER = "transfer"
"""The reason of `Waited` while a stream's own transfer is under way."""

Access = TypeVar("Access")
"""What a machine knows of the blocks that a transfer reads or writes."""


@dataclass(frozen=True, slots=True)
class Blocked(Event):
    """A WAIT has found its semaphore empty."""

    stream: str
    index: int
    semaphore: int


@dataclass(frozen=True, slots=True)
class Signalled(Event):
    """A SIGNAL was executed."""

    stream: str
    index: int
    semaphore: int


@dataclass(frozen=True, slots=True)
class Taken(Event):
    """A WAIT has got its signal: the n-th that is taken from a semaphore is the n-th that was sent to it."""

    stream: str
    index: int
    semaphore: int


@dataclass(frozen=True, slots=True)
class Accessed(Event):
    """The TASICs of a module were busy from ``cycle`` up to ``end``."""

    module: int
    end: int
    what: str
    """The direction of the transfer, in words."""
    rounds: int
    accesses: int
    """Accesses to each of the module's SDRAMs."""
    devices: int = 8
    """SDRAMs that take part in each of them."""
    size: int = 4
    """Bytes of one access to one SDRAM."""
    slots: int = 0
    """Places for an access, one of each EMC in each round: an EMC that has no PE left does not use its own."""


@dataclass(frozen=True, slots=True)
class PathUsed(Event):
    """A path out of the GNI was busy from ``cycle`` up to ``end``; paths are named as in `Run.gni_cycles`."""

    path: str
    end: int
    amount: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class EnablesChanged(Event):
    """From this cycle on so many PEs of each module are enabled. Only a run with PE data can tell."""

    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TransferBegan(Event, Generic[Access]):
    """A transfer to or from texture memory has begun, and its addresses are known."""

    stream: str
    index: int
    access: Access
    """Who is served and what is accessed, EMC by EMC and round by round."""


@dataclass(frozen=True, slots=True)
class MemoryGiven(Event):
    """Somebody outside of the program has written bytes of all PEs; ``cycle`` says nothing."""

    start: int
    size: int
