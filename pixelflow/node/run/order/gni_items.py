"""What travels between TASICs, GNI, GPs and the geometry network."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.isa.registers import PORT_BYTES
from pixelflow.node.parts.texture.transfer import Load

__all__ = ["Grant", "LoadPart", "LoadRequest", "Parcel"]


@dataclass(frozen=True, slots=True)
class Parcel:
    """The bytes that the EMCs of a module send in one round, on their way to a GP."""

    source: int
    """The node that they come from."""
    module: int
    index: int
    node: int
    gp: int
    size: int

    def __str__(self) -> str:
        return f"parcel {self.index} of module {self.module}, node {self.source} ({self.size} bytes)"


@dataclass(frozen=True, slots=True)
class Grant:
    """The GNI takes a parcel from cycle ``at`` on."""

    at: int
    parcel: Parcel


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """A module asks the GNI for blocks out of the memory of a GP."""

    load: Load
    gp: int


@dataclass(frozen=True, slots=True)
class LoadPart:
    """Some of the blocks of a load, from the block numbered ``first`` on."""

    modules: int
    gp: int
    first: int
    blocks: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.blocks * PORT_BYTES
