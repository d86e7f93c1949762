"""From triangles to instructions of the EIGC: three compares, a depth test, depth and colour (thesis 2.2.2).

The thesis colours the pixels inside and leaves the depth test open; here the LEE's depth is compared with the one in
memory before anything is stored, with the compare that the LEE offers for that. Flat and Gouraud-shaded triangles.
"""

from __future__ import annotations

from dataclasses import dataclass

from microcode import Builder, Imm, Mem, Program, Range, Register
from pixelflow.simd.drawing import COLOUR_FRACTION, DEPTH_FRACTION, FAR, Edges, Planes
from tessellation.rendering.regions import REGION_HEIGHT, REGION_WIDTH, Region

__all__ = [
    "CHANNELS",
    "COPY_STAGE",
    "SENT_BYTES",
    "PixelMemory",
    "TriangleData",
    "emit_triangle",
    "region_program",
    "signed_bytes",
]

CHANNELS = ("red", "green", "blue")
_DEPTH_BYTES = 3 + DEPTH_FRACTION // 8
_COLOUR_BYTES = 1 + COLOUR_FRACTION // 8

COPY_STAGE = "copy for composition"
"""Name of the stage in cycle reports."""

SENT_BYTES = 3 + len(CHANNELS)
"""Bytes of a pixel that go over the image composition network: depth, highest byte first, then red, green, blue."""


@dataclass(frozen=True, slots=True, eq=False)
class TriangleData:
    """What the GPs have worked out for all triangles of a picture."""

    edges: Edges
    planes: Planes
    flat: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class PixelMemory:
    """Where a PE keeps its pixel: a depth of 4 bytes whose lowest is 0, and colours whose highest byte counts.

    A depth with a fraction is below a stored depth without one exactly where its whole part is.
    """

    depth: Range
    colours: tuple[Range, ...]

    @classmethod
    def declared(cls, builder: Builder) -> PixelMemory:
        """Declare the ranges in a program: 13 bytes."""
        depth = builder.range("depth", _DEPTH_BYTES)
        return cls(depth, tuple(builder.range(channel, _COLOUR_BYTES) for channel in CHANNELS))

    @property
    def sent(self) -> tuple[Mem, ...]:
        """The bytes that the image composition network gets, in their order."""
        return (*(self.depth[index] for index in (3, 2, 1)), *(colour[_COLOUR_BYTES - 1] for colour in self.colours))


def region_program(
    data: TriangleData, region: Region, background: tuple[int, int, int], composition: int | None = None
) -> Program:
    """Return the program that clears a region and draws its triangles.

    With ``composition``, the address of image composition memory, it then copies what the other nodes are to get there.
    """
    builder = Builder(f"region {region.left},{region.top}")
    memory = PixelMemory.declared(builder)
    builder.mark("clear")
    builder.emit("EMC_SetEnab")
    builder.emit("EMC_TreeIntoMem_Li", memory.depth, _DEPTH_BYTES, 0, 0, FAR << DEPTH_FRACTION)
    _emit_constant(builder, memory, background)
    for number in region.triangles.tolist():
        emit_triangle(builder, memory, data, number, region)
    if composition is not None:
        builder.mark(COPY_STAGE)
        builder.emit("EMC_SetEnab")
        for index, byte in enumerate(memory.sent):
            builder.emit("LD", Register.R, byte)
            builder.emit("ST", Mem(composition + index), Register.R)
    return builder.build()


def emit_triangle(builder: Builder, memory: PixelMemory, data: TriangleData, number: int, region: Region) -> None:
    """Emit the instructions of triangle ``number`` in a region, a stage each for edges, depth and colour."""
    builder.mark("edges")
    builder.emit("EMC_SetEnab")
    edges = data.edges
    for a, b, c in zip(edges.a[number].tolist(), edges.b[number].tolist(), edges.c[number].tolist(), strict=True):
        here = c + a * region.left + b * region.top
        builder.emit("EMC_TreeLTZero_Li", 0, signed_bytes(a, b, here), a, b, here)
    depth, *colours = _planes(data.planes, number, region)
    builder.mark("depth")
    builder.emit("EMC_TreeLTMem_Li", memory.depth, _DEPTH_BYTES, *depth)
    builder.emit("EMC_TreeIntoMem_Li", memory.depth, _DEPTH_BYTES, *depth)
    builder.emit("STI", memory.depth[0], Imm(0))
    builder.mark("colour")
    if data.flat[number]:
        _emit_constant(builder, memory, [c >> COLOUR_FRACTION for _, _, c in colours])
        return
    for place, colour in zip(memory.colours, colours, strict=True):
        builder.emit("EMC_TreeIntoMem_Li", place, _COLOUR_BYTES, *colour)


def _emit_constant(builder: Builder, memory: PixelMemory, colour: tuple[int, ...] | list[int]) -> None:
    for place, value in zip(memory.colours, colour, strict=True):
        builder.emit("STI", place[_COLOUR_BYTES - 1], Imm(value))


def _planes(planes: Planes, number: int, region: Region) -> list[tuple[int, int, int]]:
    """Return the planes of a triangle as they are in the coordinates of a region."""
    found = []
    for index, bits in enumerate(planes.bits):
        a, b, c = (int(values[number, index]) for values in (planes.a, planes.b, planes.c))
        found.append((a, b, (c + a * region.left + b * region.top) % (1 << bits)))
    return found


def signed_bytes(a: int, b: int, c: int) -> int:
    """Return how many bytes hold the sign of A x + B y + C at every pixel of a region."""
    right, bottom = REGION_WIDTH - 1, REGION_HEIGHT - 1
    low = c + min(0, a * right) + min(0, b * bottom)
    high = c + max(0, a * right) + max(0, b * bottom)
    return max((low if low >= 0 else ~low).bit_length(), (high if high >= 0 else ~high).bit_length()) // 8 + 1
