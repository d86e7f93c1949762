"""What travels between TASICs, GNI, GPs and the geometry network."""

from __future__ import annotations

from pixelflow.isa.registers import PORT_BYTES
from pixelflow.node.parts.texture.transfer import Load
from pixelflow.simd.records import record

__all__ = ["Grant", "LoadPart", "LoadRequest", "Parcel"]


@record
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


@record
class Grant:
    """The GNI takes a parcel from cycle ``at`` on."""

    at: int
    parcel: Parcel


@record
class LoadRequest:
    """A module asks the GNI for blocks out of the memory of a GP."""

    load: Load
    gp: int


@record
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
