"""Transfers over the image composition network: which nodes each goes through, and the order in which all go.

The nodes stand in a row: rasterizers, shaders, the frame buffer. A record goes from the first rasterizer through all of
them, and is merged by depth on its way, to the shader whose region it is, or to the frame buffer where there are no
shaders. Finished pixels go from a shader to the frame buffer. Regions are dealt to the shaders in turn.

All nodes know one order of all transfers, and each takes part in them in that order: so that no two of them wait for
each other. The finished pixels of a region stand after the records of the region that its shader gets next; or before
those, where they lie in the place of a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pixelflow.simd.errors import Fault, InputError, UsageError
from pixelflow.simd.report import counted
from tessellation.commands import MOST_NODES

__all__ = ["Cargo", "RegionTransfer", "Roles", "transfers_of"]


class Cargo(Enum):
    """What a transfer carries."""

    RECORD = "records"
    """One sample of each pixel of a region."""
    PIXELS = "finished pixels"


@dataclass(frozen=True, slots=True)
class Roles:
    """How many nodes rasterize and how many shade; after them comes the frame buffer. Raises InputError for none."""

    rasterizers: int = 1
    shaders: int = 0

    def __post_init__(self) -> None:
        if self.rasterizers < 1 or self.shaders < 0:
            hint = "1 or more rasterizers, 0 or more shaders"
            raise InputError(Fault(f"{self.rasterizers} rasterizer and {self.shaders} shader nodes", hint=hint))

    @classmethod
    def told(cls, nodes: int, shaders: int) -> Roles:
        """Return the roles that a command asks for; raises UsageError for more nodes than a machine has."""
        if nodes + shaders > MOST_NODES:
            asked = f"{counted(nodes, 'node')} and {counted(shaders, 'shader')}"
            text = f"{asked}, besides the frame buffer; a machine has {MOST_NODES} nodes"
            raise UsageError("--shaders", text)
        return cls(nodes, shaders)

    @property
    def alone(self) -> bool:
        """Whether one node does everything, so that nothing goes over the network."""
        return self.rasterizers == 1 and not self.shaders

    @property
    def frame_buffer(self) -> int:
        """The place of the frame buffer in the row."""
        return self.rasterizers + self.shaders

    def shader_of(self, region: int) -> int:
        """Return which shader, from 0 on, gets a region."""
        return region % self.shaders

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes, in the order in which they stand."""
        drawing = tuple(f"rasterizer {number + 1}" for number in range(self.rasterizers))
        return (*drawing, *(f"shader {number + 1}" for number in range(self.shaders)), "frame buffer")


@dataclass(frozen=True, slots=True)
class RegionTransfer:
    """A region's records, or its finished pixels, on their way from node ``first`` to node ``last``."""

    number: int
    """In the order of all."""
    kind: Cargo
    region: int
    sample: int
    first: int
    last: int
    size: int
    """Bytes of an EMC."""

    def __str__(self) -> str:
        return f"{self.kind.value} of region {self.region + 1}, sample {self.sample + 1}"


def transfers_of(
    roles: Roles, regions: int, samples: int, record: int, pixels: int, *, shared: bool = False
) -> tuple[RegionTransfer, ...]:
    """Return all transfers of a picture in their order; an EMC has ``record`` or ``pixels`` bytes in each.

    ``shared`` says that finished pixels lie in the place of a record.
    """
    found: list[RegionTransfer] = []

    def finished(region: int) -> None:
        source = roles.rasterizers + roles.shader_of(region)
        found.append(RegionTransfer(len(found), Cargo.PIXELS, region, 0, source, roles.frame_buffer, pixels))

    for region in range(regions):
        taker = roles.rasterizers + (roles.shader_of(region) if roles.shaders else 0)
        before = region - roles.shaders if roles.shaders and region >= roles.shaders else None
        if shared and before is not None:
            finished(before)
        for sample in range(samples):
            found.append(RegionTransfer(len(found), Cargo.RECORD, region, sample, 0, taker, record))
        if not shared and before is not None:
            finished(before)
    for region in range(max(0, regions - roles.shaders), regions):
        finished(region)
    return tuple(found)
