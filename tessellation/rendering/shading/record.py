"""The record of a sample: what a rasterizer keeps of the triangle that is nearest, so that it is shaded once, later.

A record lies from byte 0 of PE memory on, and is what goes over the image composition network:

    depth     4   its lowest byte is 0 and is not sent
    material  1   0 for the background
    colours   12  red, green, blue, 4 bytes each: numerators; or linear, and then the highest byte is the colour
    divisor   4   where colours or coordinates follow perspective, or there are textures
    u, v      8   where there are textures: numerators, or linear, in 1/65536 texel
    slopes    24  where there are mipmaps, at one sample: by how much divisor, u and v grow to the right, and downwards
    others    36  where there are mipmaps, at four, whose places in a pixel differ: divisor, u and v of the pixels
                  across, below and diagonally across in the block of two by two pixels, for the same triangle,
                  whoever is nearest there

that is 17, 21, 29, 53 or 65 bytes, of which all but one are sent: at most the 64 of image composition memory. The
layout is this project's; the thesis says that shading is deferred (2.2.2) and not what is kept until then.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.node import Node

__all__ = ["CHANNELS", "GROUP_BYTES", "MATERIAL", "SampleRecord", "read_record", "receive_program"]

CHANNELS = 3
MATERIAL = Mem(4)
GROUP_BYTES = 12
"""Divisor, u and v of one pixel."""

_COLOURS = 5
_GROUPS = 17
_BLOCK_PIXELS = 4


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """What the records of a frame hold; ``block`` is of mipmaps, whose coordinates come for a block of pixels."""

    divisor: bool = False
    coordinates: bool = False
    block: bool = False
    slopes: bool = False
    """Whether what is kept of the block are slopes."""

    @property
    def size(self) -> int:
        """Bytes of PE memory, from byte 0 on."""
        if self.coordinates:
            return _GROUPS + GROUP_BYTES * self.groups
        return _GROUPS + (4 if self.divisor else 0)

    @property
    def groups(self) -> int:
        """Groups of divisor, u and v: of the own pixel, and either of those around it or of slopes."""
        return 1 if not self.block else 3 if self.slopes else _BLOCK_PIXELS

    @property
    def depth(self) -> Mem:
        """Four bytes, of which the lowest is 0."""
        return Mem(0)

    @property
    def colours(self) -> tuple[Mem, ...]:
        """Four bytes each; once a region is shaded the colour of 8 bits is in the highest."""
        return tuple(Mem(_COLOURS + 4 * channel) for channel in range(CHANNELS))

    @property
    def finished(self) -> tuple[Mem, ...]:
        """Where red, green and blue of 8 bits are once the region is shaded."""
        return tuple(colour[3] for colour in self.colours)

    def group(self, number: int = 0) -> Mem:
        """Return where a group of divisor, u and v is, 4 bytes each."""
        return Mem(_GROUPS + GROUP_BYTES * number)

    @property
    def sent(self) -> tuple[Mem, ...]:
        """The bytes that the image composition network gets: depth, highest byte first, then the others in order."""
        return (
            *(self.depth[index] for index in (3, 2, 1)),
            *(Mem(place) for place in range(MATERIAL.offset, self.size)),
        )


def receive_program(record: SampleRecord, composition: int) -> Program:
    """Return the program of a shader that takes records out of ``composition`` memory: 2 cycles a byte, and 2."""
    builder = Builder("records received")
    builder.mark("receive")
    builder.emit("EMC_SetEnab")
    builder.emit("STI", record.depth, Imm(0))
    for index, place in enumerate(record.sent):
        builder.emit("LD", Register.R, Mem(composition + index))
        builder.emit("ST", place, Register.R)
    return builder.build()


def read_record(node: Node, record: SampleRecord) -> np.ndarray:
    """Return the bytes of PE memory that would be sent: uint8[byte, lane]."""
    return np.stack([node.read_memory(place.offset)[0] for place in record.sent])
