"""State of the texture unit of a node: what changes while a program runs, the texture memories left out (2.2.7)."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.isa.registers import PORT_BYTES
from pixelflow.isa.tas import ADDRESS_BITS, COUNTER_BITS
from pixelflow.node.parts.texture.transfer import WAYS, Destination, Transfer

__all__ = ["DEVICES", "NO_ADDRESS", "AddressGenerator", "Moving", "TextureState"]

DEVICES = PORT_BYTES // 4
"""SDRAMs of a module: 8, one for each 4-byte word of a port (thesis 2.2.7)."""

T = TypeVar("T")

NO_ADDRESS = -1
"""What an address corner turner holds before it has held one."""


@dataclass
class AddressGenerator:
    """The TASICs' address generator, the same in all modules: a counter and a crossbar, in which all bits start as 0.

    The crossbar picks a counter bit for each address bit (2.2.7).
    """

    counter: int = 0
    step: int = 0
    """What the counter grows by after each round of a transfer."""
    crossbar: list[int | None] = field(default_factory=lambda: [None] * ADDRESS_BITS)
    """For each address bit, the counter bit that it takes; None is 0."""

    def __post_init__(self) -> None:
        if any(source is not None and source not in range(COUNTER_BITS) for source in self.crossbar):
            raise ValueError(f"the counter has bits 0 to {COUNTER_BITS - 1}")

    def connect(self, bit: int, source: int | None) -> None:
        """Let address bit ``bit`` take counter bit ``source``, or 0."""
        self.crossbar[bit] = source

    def advance(self, delta: int) -> None:
        """Add to the counter, modulo 2^16."""
        self.counter = (self.counter + delta) % (1 << COUNTER_BITS)

    def address(self, rounds_ahead: int = 0) -> int:
        """Return the address for the counter as it will be after ``rounds_ahead`` more rounds."""
        counter = self.counter + rounds_ahead * self.step
        return sum(1 << bit for bit, source in enumerate(self.crossbar) if source is not None and counter >> source & 1)


@dataclass
class Moving:
    """What a transfer holds between its two halves: bytes for input ports, and whose; bytes for each GP memory."""

    lanes: NDArray[np.int64] | None = None
    data: NDArray[np.uint8] | None = None
    returned: tuple[tuple[Destination, NDArray[np.uint8]], ...] = ()


@dataclass(eq=False)
class TextureState:
    """Registers and corner turners of the TASICs of all modules, and the transfer under way; a checkpoint holds it."""

    destinations: list[Destination]
    """Where each module sends bytes for GPs."""
    act: NDArray[np.int64]
    """The address corner turners (ACT): addresses of the last round, int64[emc, device]; -1 before there are any."""
    dct: NDArray[np.uint8] | None = None
    """The data corner turners (DCT): data of the last round, uint8[emc, device, byte]; None before there are any."""
    generator: AddressGenerator = field(default_factory=AddressGenerator)
    panel_minor: bool = False
    alternate: bool = False
    """Whether alternate banks are promised."""
    transfer: Transfer | None = None
    """The transfer that the last texture instruction asked for."""
    moving: Moving = field(default_factory=Moving)
    moved: dict[str, int] = field(default_factory=lambda: dict.fromkeys(WAYS, 0))
    """Bytes of data that went each way since the start, by way; addresses and idle places are not counted."""

    @classmethod
    def of(cls, config: NodeConfig) -> TextureState:
        """Return the state in which the TASICs of a node start."""
        held = np.full((config.array.emcs, DEVICES), NO_ADDRESS, np.int64)
        return cls([Destination() for _ in range(config.array.modules)], held)

    def snapshot(self) -> TextureState:
        """Return a copy of the state for somebody else, who may change it."""
        return TextureState(**{each.name: _copied(getattr(self, each.name)) for each in fields(TextureState)})

    def restore(self, state: TextureState) -> None:
        """Take over a state, as a copy."""
        for each in fields(TextureState):
            setattr(self, each.name, _copied(getattr(state, each.name)))

    @property
    def is_idle(self) -> bool:
        """Whether no transfer has begun that has not ended."""
        return self.moving.lanes is None and not self.moving.returned

    def is_as(self, other: TextureState, *, dct: bool = True) -> bool:
        """Return whether nothing is under way and all registers are those of another state.

        What has been moved so far is not compared, and the data corner turners only where ``dct`` is true.
        """
        return (
            self.is_idle
            and other.is_idle
            and self.registers == other.registers
            and self.alternate == other.alternate
            and self.transfer == other.transfer
            and np.array_equal(self.act, other.act)
            and (not dct or ((self.dct is None) == (other.dct is None) and np.array_equal(self.dct, other.dct)))
        )

    @property
    def registers(self) -> tuple[object, ...]:
        """What a read follows from besides its transfer, the PEs and texture memory; as it is now, not a copy."""
        generator = self.generator
        return (self.panel_minor, generator.counter, generator.step, generator.crossbar, self.destinations)


def _copied(value: T) -> T:
    """Return a copy of a part of the state; most are cheaper to copy than `deepcopy` finds out."""
    match value:
        case None | bool() | Transfer():
            return value
        case np.ndarray() | dict() | list():
            return value.copy()
        case AddressGenerator():
            return replace(value, crossbar=list(value.crossbar))
    return copy.deepcopy(value)
