"""From triangles to instructions of the EIGC: three compares, a depth test, depth and colour (thesis 2.2.2).

The thesis colours the pixels inside and leaves the depth test open; here the LEE's depth is compared with the stored
one first, with the compare that the LEE provides. Triangles are flat or Gouraud-shaded.

For colours in perspective, PEs keep numerators and their divisor and divide once, after the region is drawn, so only
visible pixels are divided (`pixelflow.simd.drawing.planes`). Regions without such triangles skip this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from microcode import Builder, Imm, Mem, PerRound, Program, Range, Register
from pixelflow.simd import drawing

# Regions of the screen and their triangles: the work of the GPs before a picture is drawn.


REGION_WIDTH = 128
REGION_HEIGHT = 64
"""Pixels of a region: one per PE of a node (thesis 2.2.1)."""


class Region(NamedTuple):
    """A part of the screen with first pixel (left, top), and the triangles whose bounding boxes reach into it."""

    left: int
    top: int
    triangles: np.ndarray
    """Their numbers in drawing order: int64."""

    def only(self, which: np.ndarray) -> Region:
        """Return the region with some of its triangles: bool[triangle]."""
        return Region(self.left, self.top, self.triangles[which])


def regions(
    triangles: drawing.ScreenTriangles, width: int, height: int, places: Sequence[tuple[int, int]] = (drawing.CENTRE,)
) -> Iterator[Region]:
    """Yield the regions of a screen row by row; a box that contains no sampling place of a pixel reaches nowhere."""
    # The first and last pixel with a place within the box.
    low, high = np.array(places).min(axis=0), np.array(places).max(axis=0)
    first = -((high - triangles.corners.min(axis=1)) // drawing.SUBPIXELS)
    last = (triangles.corners.max(axis=1) - low) // drawing.SUBPIXELS
    some = (first <= last).all(axis=1)
    for top in range(0, height, REGION_HEIGHT):
        in_row = some & (last[:, 1] >= top) & (first[:, 1] < min(top + REGION_HEIGHT, height))
        for left in range(0, width, REGION_WIDTH):
            found = in_row & (last[:, 0] >= left) & (first[:, 0] < min(left + REGION_WIDTH, width))
            yield Region(left, top, np.flatnonzero(found))


CHANNELS = ("red", "green", "blue")
_DEPTH_BYTES = 3 + drawing.DEPTH_FRACTION // 8
_COLOUR_BYTES = 1 + drawing.COLOUR_FRACTION // 8
_QUOTIENT_BYTES = 4

COPY_STAGE, DIVISION_STAGE = "copy for composition", "division"
"""Names of stages in cycle reports; numerators are divided by 1 / w."""

Plane = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""A, B and C of each triangle."""

SENT_BYTES = 3 + len(CHANNELS)
"""Bytes of a pixel that go over the image composition network: depth, highest byte first, then red, green, blue."""


class TriangleData(NamedTuple):
    """Data computed by the GPs for all triangles of a picture."""

    edges: drawing.Edges
    planes: drawing.Planes
    flat: NDArray[np.bool_]
    """True for triangles of one colour."""
    quotients: drawing.Quotients | None
    """Present if colours of some triangle follow perspective."""
    divided: NDArray[np.bool_]
    """True for those triangles: neither flat nor at one distance at all three corners."""

    @classmethod
    def of(cls, triangles: drawing.ScreenTriangles) -> TriangleData:
        flat = drawing.steady(triangles)
        divided = ~(flat | triangles.level)
        quotients = drawing.quotients_of(triangles) if divided.any() else None
        return cls(
            drawing.edges_of(triangles),
            drawing.planes_of(triangles),
            flat,
            quotients,
            divided,
        )


class PixelMemory(NamedTuple):
    """Addresses of a PE's pixel: a depth of 4 bytes whose lowest is 0, and colours whose highest byte counts.

    A depth with a fraction is below a stored depth without one exactly if its whole part is.
    """

    depth: Range
    colours: tuple[Range, ...]
    divisor: Range | None = None
    """For colours that may be numerators: four bytes of the divisor, and a byte that is 1 if they are, else 0."""

    @classmethod
    def declared(cls, builder: Builder, *, divided: bool = False) -> PixelMemory:
        """Declare the ranges in a program: 13 bytes; 21 where some colours are ``divided``."""
        depth = builder.range("depth", _DEPTH_BYTES)
        size = _QUOTIENT_BYTES if divided else _COLOUR_BYTES
        colours = tuple(builder.range(channel, size) for channel in CHANNELS)
        return cls(depth, colours, builder.range("divisor", _QUOTIENT_BYTES + 1) if divided else None)

    @property
    def sent(self) -> tuple[Mem, ...]:
        """The bytes sent over the image composition network, in order."""
        return (*(self.depth[index] for index in (3, 2, 1)), *(colour[colour.size - 1] for colour in self.colours))


class Around(Protocol):
    """Work that overlaps the drawing of a region."""

    def emit_before(self, builder: Builder) -> None:
        """Emit its start before anything is drawn; the stream is the EIGC's before and after."""

    def emit_after(self, builder: Builder) -> None:
        """Emit the wait for its end."""


def region_program(
    data: TriangleData,
    region: Region,
    background: tuple[int, int, int],
    composition: int | None = None,
    during: Around | None = None,
) -> Program:
    """Return the program that clears a region and draws its triangles, overlapped with the work ``during`` it.

    With ``composition``, an address in image composition memory, it then copies the pixels there to be sent.
    """
    builder = Builder(f"region {region.left},{region.top}")
    if during is not None:
        during.emit_before(builder)
    numbers = region.triangles
    memory = PixelMemory.declared(builder, divided=bool(data.divided[numbers].any()))
    builder.mark("clear")
    builder.emit("EMC_SetEnab")
    builder.emit("EMC_TreeIntoMem_Li", memory.depth, _DEPTH_BYTES, 0, 0, drawing.FAR << drawing.DEPTH_FRACTION)
    _emit_constant(builder, memory, background)
    if len(numbers):
        _emit_triangles(builder, memory, data, numbers, region)
    if memory.divisor is not None:
        _emit_division(builder, memory, memory.divisor)
    if composition is not None:
        builder.mark(COPY_STAGE)
        builder.emit("EMC_SetEnab")
        for index, byte in enumerate(memory.sent):
            builder.emit("LD", Register.R, byte)
            builder.emit("ST", Mem(composition + index), Register.R)
    if during is not None:
        during.emit_after(builder)
    return builder.build()


def _emit_triangles(
    builder: Builder, memory: PixelMemory, data: TriangleData, numbers: NDArray[np.int64], region: Region
) -> None:
    """Emit one round for each triangle, in order."""
    flat, divided = data.flat[numbers], data.divided[numbers]
    shaded = ~(flat | divided)
    rounds, edges = builder.rounds(len(numbers)), data.edges
    rounds.emit("MARK", "edges")
    rounds.emit("EMC_SetEnab")
    for a, b, c in zip(edges.a[numbers].T, edges.b[numbers].T, edges.c[numbers].T, strict=True):
        here = c + a * region.left + b * region.top
        rounds.emit("EMC_TreeLTZero_Li", 0, PerRound(signed_bytes(a, b, here)), *_per_round(a, b, here))
    depth, *colours = _planes(data.planes, numbers, region)
    rounds.emit("MARK", "depth")
    rounds.emit("EMC_TreeLTMem_Li", memory.depth, _DEPTH_BYTES, *_per_round(*depth))
    rounds.emit("EMC_TreeIntoMem_Li", memory.depth, _DEPTH_BYTES, *_per_round(*depth))
    rounds.emit("STI", memory.depth[0], Imm(0))
    rounds.emit("MARK", "colour")
    for place, (a, b, c) in zip(memory.colours, colours, strict=True):
        rounds.emit("STI", place[place.size - 1], PerRound(c >> drawing.COLOUR_FRACTION, Imm), where=flat)
        first = place[place.size - _COLOUR_BYTES]
        rounds.emit("EMC_TreeIntoMem_Li", first, _COLOUR_BYTES, *_per_round(a, b, c), where=shaded)
    if data.quotients is not None and memory.divisor is not None:
        places = (memory.divisor, *memory.colours)
        for place, numerator in zip(places, _numerators(data.quotients, numbers, region), strict=True):
            rounds.emit("EMC_TreeIntoMem_Li", place[0], _QUOTIENT_BYTES, *_per_round(*numerator), where=divided)
        rounds.emit("STI", memory.divisor[_QUOTIENT_BYTES], PerRound(divided.astype(np.int64), Imm))


def _per_round(*numbers: NDArray[np.int64]) -> tuple[PerRound, ...]:
    return tuple([PerRound(each) for each in numbers])


def _numerators(quotients: drawing.Quotients, numbers: NDArray[np.int64], region: Region) -> list[Plane]:
    """Return the divisor and the numerators of each triangle's colours, in the coordinates of a region."""
    a, b, c = (each[numbers] for each in (quotients.a, quotients.b, quotients.c))
    here = (c + a * region.left + b * region.top) % (1 << 8 * _QUOTIENT_BYTES)
    order = [drawing.DIVISOR, *range(drawing.NUMERATORS.start, drawing.NUMERATORS.stop)]
    return [(a[:, plane], b[:, plane], here[:, plane]) for plane in order]


def _emit_division(builder: Builder, memory: PixelMemory, divisor: Range) -> None:
    """Emit the division of the pixels whose colours are numerators."""
    rest, quotient = builder.range("rest", _QUOTIENT_BYTES), builder.range("quotient", 1)
    builder.mark(DIVISION_STAGE)
    builder.emit("EMC_SetEnab")
    builder.emit("LD", Register.R, divisor[_QUOTIENT_BYTES])
    builder.emit("CMP", Register.R, Imm(1))
    builder.emit("EC")
    emit_division(builder, [colour[0] for colour in memory.colours], divisor, rest, quotient)


def emit_division(builder: Builder, colours: Sequence[Mem], divisor: Mem | Range, rest: Range, quotient: Range) -> None:
    """Emit the bitwise division of numerators, where enabled; the quotient, a colour, goes to their highest byte.

    Numerators, the divisor and the scratch ``rest`` have 4 bytes, ``quotient`` has 1.
    """
    builder.add_routine(_division(divisor, rest, quotient))
    for colour in colours:
        builder.call("divide", colour)


@cache
def _division(divisor: Mem | Range, rest: Range, quotient: Range) -> Builder:
    """Return the routine that divides a numerator."""
    builder, register, every = Builder("division"), Register.R, range(_QUOTIENT_BYTES)

    def less(numerator: Mem, to: Range | None = None) -> None:
        """Emit numerator - divisor, or their compare; carry if the numerator is not smaller."""
        for at in every:
            builder.emit("LD", register, numerator[at])
            operation = ("CMP", "CMPC") if to is None else ("SUB", "SBC")
            builder.emit(operation[at > 0], register, divisor[at])
            if to is not None:
                builder.emit("ST", to[at], register)

    with builder.routine("divide", ("numerator",), uses=(rest, quotient)) as (numerator,):
        # Rounding may make a numerator negative or equal to the divisor: then the colour is 0, or 255.
        builder.emit("SHL", register, numerator[_QUOTIENT_BYTES - 1])
        builder.emit("EC")
        for at in every:
            builder.emit("STI", numerator[at], Imm(0))
        builder.emit("EMC_SetEnab")
        less(numerator)
        builder.emit("EC")
        for at in every:
            builder.emit("LD", register, divisor[at])
            builder.emit("SBC" if at else "SUB", register, Imm(0 if at else 1))
            builder.emit("ST", numerator[at], register)
        builder.emit("EMC_SetEnab")
        with builder.loop(drawing.COLOUR_STEPS):
            for at in every:
                builder.emit("ROL" if at else "SHL", register, numerator[at])
                builder.emit("ST", numerator[at], register)
            less(numerator, rest)
            builder.emit("EC")
            for at in every:
                builder.emit("LD", register, rest[at])
                builder.emit("ST", numerator[at], register)
            builder.emit("ROL", register, quotient[0])
            builder.emit("STA", quotient[0], register)
            builder.emit("EMC_SetEnab")
        builder.emit("LD", register, quotient[0])
        builder.emit("ST", numerator[_QUOTIENT_BYTES - 1], register)
    return builder


def _emit_constant(builder: Builder, memory: PixelMemory, colour: tuple[int, ...]) -> None:
    for place, value in zip(memory.colours, colour, strict=True):
        builder.emit("STI", place[place.size - 1], Imm(value))
    if memory.divisor is not None:
        builder.emit("STI", memory.divisor[_QUOTIENT_BYTES], Imm(0))


def _planes(planes: drawing.Planes, numbers: NDArray[np.int64], region: Region) -> list[Plane]:
    """Return the planes of triangles in the coordinates of a region."""
    found = []
    for index, bits in enumerate(planes.bits):
        a, b, c = (values[numbers, index] for values in (planes.a, planes.b, planes.c))
        found.append((a, b, (c + a * region.left + b * region.top) & (1 << bits) - 1))
    return found


def signed_bytes(a: NDArray[np.int64], b: NDArray[np.int64], c: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of bytes that hold the sign of A x + B y + C at every pixel of a region."""
    right, bottom = REGION_WIDTH - 1, REGION_HEIGHT - 1
    low = c + np.minimum(0, a * right) + np.minimum(0, b * bottom)
    high = c + np.maximum(0, a * right) + np.maximum(0, b * bottom)
    most = np.maximum(np.maximum(low, ~low), np.maximum(high, ~high))
    limits = 1 << np.arange(7, 63, 8, dtype=np.int64)
    return 1 + (most[..., None] >= limits).sum(axis=-1)
