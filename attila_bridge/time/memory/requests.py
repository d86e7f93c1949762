"""Transactions between memory and its clients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["BOTH", "NOTHING", "READS", "TRANSACTION_BYTES", "Client", "Transaction"]

TRANSACTION_BYTES = 64
"""The most that a transaction moves."""

NOTHING, READS, BOTH = 0, 1, 2
"""What the controller accepts from a client: nothing, reads, reads and writes."""

Transaction: TypeAlias = tuple[bool, int, int, int, int]
"""Whether it writes, address, bytes, number of the client, the client's ticket."""


_WRITING = ("CommandProcessor", "ZStencilTest", "ColorWrite")
"""Kinds of units that write, by what statistics call them."""


@dataclass(frozen=True, slots=True)
class Client:
    """A unit that has a bus of its own to the controller."""

    number: int
    name: str
    kind: str
    """What statistics call its kind: `ColorWrite`."""
    width: int
    """Bytes a cycle."""

    @property
    def writes(self) -> bool:
        """Whether it may send writes."""
        return self.kind in _WRITING

    @property
    def request(self) -> str:
        """The controller's port for its requests."""
        return f"{self.name}_request"

    @property
    def data(self) -> str:
        """The controller's port for answers to it."""
        return f"{self.name}_data"

    @property
    def state(self) -> str:
        """The controller's port that tells it what is accepted."""
        return f"{self.name}_state"
