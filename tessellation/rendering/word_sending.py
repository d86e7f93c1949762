"""Transfer of instruction words: assembled by the PEs, sent to the GPs, read there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.config import ArrayConfig
from pixelflow.isa import MEMORY_BYTES, OUTPUT_PORT
from pixelflow.node import Node
from pixelflow.simd.drawing import Edges, Planes
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.isa.encoding import WORD_BITS
from tessellation.microprogram.ports import ARRIVED, FREE
from tessellation.plan.memory_map import AVAILABLE, AXES, FLOAT_BYTES, RESULTS, MemoryMap
from tessellation.rendering.instructions import REGION_HEIGHT, REGION_WIDTH, Region, TriangleData, region_program
from tessellation.rendering.projection import Places

# Addresses in a PE from its sample to instruction words: corners, coefficients, scratch.


CORNER_BYTES = 12
"""x and y in 1/256 pixel, depth, 3 bytes each; red, green, blue."""

RECORD_BYTES = 15
"""X, Y and W of binary32; red, green, blue."""

_MARK_BYTES = 4
_COEFFICIENT_BYTES = 79
_SETUP_SCRATCH = 98
_HERE_BYTES = 35


class WordPlaces(NamedTuple):
    """Addresses shared by the programs; points and normals of ``memory`` are preserved.

    There are four ``corners``: of the own sample and those to the east, southeast and south. ``marks`` are the sample's
    column and row in its patch, the patch's last column and row, and whether a cell begins here. Memory after ``work``
    is private to each program. If ``planes`` cut triangles, the undivided sample is kept as ``record``, and the corners
    are those of one polygon.
    """

    memory: MemoryMap
    planes: int = 0

    @classmethod
    def after(cls, memory: MemoryMap, planes: int = 0) -> WordPlaces:
        """Return the addresses past points and normals; raises InputError if they do not fit."""
        found = cls(memory, planes)
        # No transfer is active while a triangle is set up, so its scratch may extend into the ports.
        if found.region_scratch > AVAILABLE or found.end > MEMORY_BYTES:
            message = f"instruction words need {found.region_scratch} bytes of a PE, {AVAILABLE} are there"
            raise InputError(Fault(message, hint="take mantissas of 3 bytes"))
        return found

    @property
    def _first(self) -> int:
        return max(self.memory[name].end for name in RESULTS)

    @property
    def record(self) -> int:
        """X, Y and W as floats and the colour of the own sample, if triangles are cut."""
        return self._first

    @property
    def marks(self) -> int:
        return self._first + (RECORD_BYTES if self.planes else 4 * CORNER_BYTES)

    @property
    def corners(self) -> int:
        return self.marks + _MARK_BYTES if self.planes else self._first

    @property
    def slots(self) -> int:
        """Number of corners: of a cell, or of a polygon after all cuts."""
        return 3 + self.planes if self.planes else 4

    @property
    def work(self) -> int:
        return max(self.marks + _MARK_BYTES, self.corners + self.slots * CORNER_BYTES)

    @property
    def cutting(self) -> int:
        """Scratch of the cutting, past undivided polygons."""
        return self.corners + self.slots * RECORD_BYTES

    @property
    def coefficients(self) -> int:
        """Coefficients of a triangle, past its three corners."""
        return self.work + 3 * CORNER_BYTES

    @property
    def scratch(self) -> int:
        """Scratch of a triangle's set-up, later the values for one region."""
        return self.coefficients + _COEFFICIENT_BYTES

    @property
    def region_scratch(self) -> int:
        return self.scratch + _HERE_BYTES

    @property
    def end(self) -> int:
        """One past the last byte."""
        return self.scratch + _SETUP_SCRATCH

    @property
    def projection(self) -> Places:
        """Addresses for the projection of the own sample."""
        return self.projection_at(self.work)

    def projection_at(self, first: int) -> Places:
        """Return addresses for a projection whose results begin at a byte."""
        point = tuple(self.memory[f"{axis}_point"].start for axis in AXES)
        x, y, depth, fixed_x, fixed_y, constant, product, scratch = (first + FLOAT_BYTES * index for index in range(8))
        return Places((point[0], point[1], point[2]), (x, y, depth), (fixed_x, fixed_y), constant, product, scratch)

    @property
    def normal(self) -> tuple[int, ...]:
        """Addresses of the sample's normal."""
        return tuple(self.memory[f"{axis}_normal"].start for axis in AXES)

    @property
    def light(self) -> tuple[int, ...]:
        """Three floats past those of the projection."""
        first = self.projection.end
        return tuple(first + FLOAT_BYTES * index for index in range(3))


# Instruction words of a triangle in one region, assembled by the PEs, and their transfer to the GPs.
#
# A PE's record is eight parts of 32 bytes, 8 words each, sent by consecutive TAS_GpWrites: a header, then exactly the
# words that `tessellation.rendering.instructions` makes for the triangle in that region. The header has the region's
# column and row, the number of the PE, 128 y + x, whether the triangle reaches into a later region, and a bit that is
# always set. Only marked PEs send, so rejected triangles take no time on the path. Each part has an area in GP memory,
# with the records in the order of their transfer (all of this is invented).


R, S = Register.R, Register.S

WORD_BYTES = WORD_BITS // 8
PART_BYTES = 32
HEADER_VALID = 1 << 15
HEADER_MORE = 1 << 14
"""Bits of the upper half of a header, which also has the number of the PE."""

WORDS_START = 1 << 24
"""Address of words in GP memory: past results and database (invented)."""


class _Sign(NamedTuple):
    """A byte that repeats the sign of another."""

    of: Mem


Source = Imm | Mem | _Sign


def form(
    left: int = 0, top: int = 0, background: tuple[int, int, int] = (0, 0, 0), composition: int | None = None
) -> tuple[Program, int, tuple[int, ...]]:
    """Return a program that draws one triangle with zero coefficients, the triangle's first word, and all its words.

    Words are given as addresses. A record holds those words; MARKs between them serve observation and are left out.
    """
    edges, planes, plain = np.zeros((1, 3), np.int64), np.zeros((1, 4), np.int64), np.zeros(1, bool)
    data = TriangleData(Edges(edges, edges, edges), Planes(planes, planes, planes), plain, None, plain)
    empty, one = (region_program(data, Region(left, top, np.arange(count)), background) for count in range(2))
    first = len(empty.words) - 1  # without HALT
    drawn = (
        one if composition is None else region_program(data, Region(left, top, np.arange(1)), background, composition)
    )
    sent = [
        at + index
        for at, instruction in zip(one.addresses, one.instructions, strict=True)
        for index in range(instruction.words)
        if first <= at < len(one.words) - 1 and instruction.declaration.mnemonic != "MARK"
    ]
    return drawn, first, tuple(sent)


@cache
def _form_words() -> tuple[int, ...]:
    program, _, sent = form()
    return tuple(program.words[at] for at in sent)


RECORD_WORDS = len(_form_words())
PARTS = -(-(1 + RECORD_WORDS) * WORD_BYTES // PART_BYTES)


@cache
def size_step() -> int:
    """Return the increment of the third byte of an edge's first instruction word for one more byte."""
    words = []
    for size in (1, 2):
        builder = Builder("size")
        builder.emit("EMC_TreeLTZero_Li", 0, size, 0, 0, 0)
        words.append(builder.build().words[0])
    return words[1] - words[0] >> 16


class Areas(NamedTuple):
    """Addresses of the parts of records in the memory of ``gps`` GPs; modules are dealt to the GPs in turn."""

    array: ArrayConfig
    gps: int

    @property
    def _each(self) -> int:
        array = self.array
        return array.emcs_per_module * array.panels_per_emc * array.pes_per_panel * PART_BYTES

    def gp(self, module: int) -> int:
        return module % self.gps

    def start(self, module: int, part: int) -> int:
        return WORDS_START + (module * PARTS + part) * self._each

    @property
    def records(self) -> int:
        """Most records that a module can send."""
        return self._each // PART_BYTES


def _words(places: WordPlaces) -> list[Source]:
    """Return the bytes of a record, low byte of each word first."""
    here, reach = places.scratch, places.coefficients + 72
    words = [[Imm(word >> 8 * byte & 0xFF) for byte in range(WORD_BYTES)] for word in _form_words()]
    found: list[list[Source]] = [[Mem(reach + 4), Mem(reach + 5), Mem(OUTPUT_PORT + 2), Mem(OUTPUT_PORT + 3)]]
    found += [list(word) for word in words]
    at = 2  # past the header and the enable
    for number in range(3):
        edge, constant = places.coefficients + 11 * number, here + 7 * number
        found[at][2] = Mem(constant + 6)
        found[at + 1 : at + 7] = [
            *_signed(edge, 3), *_signed(edge + 3, 3), *_signed(constant, 6),
        ]  # fmt: skip
        at += 7
    planes = places.coefficients + 33
    for _ in ("compare", "store"):
        found[at + 1 : at + 7] = [*_plain(planes, 4), *_plain(planes + 4, 4), *_plain(here + 21, 4)]
        at += 7
    at = len(found) - 21
    for channel in range(3):
        plane, constant = planes + 12 + 9 * channel, here + 25 + 3 * channel
        found[at + 1 : at + 7] = [*_plain(plane, 3), *_plain(plane + 3, 3), *_plain(constant, 3)]
        at += 7
    return [byte for word in found for byte in word]


def _signed(place: int, size: int) -> list[list[Source]]:
    """Return the two words of a coefficient, the upper one first."""
    sign = _Sign(Mem(place + size - 1))
    return _halves([Mem(place + index) if index < size else sign for index in range(8)])


def _plain(place: int, size: int) -> list[list[Source]]:
    return _halves([Mem(place + index) if index < size else Imm(0) for index in range(8)])


def _halves(data: Sequence[Source]) -> list[list[Source]]:
    return [list(data[4:]), list(data[:4])]


def emit_records(builder: Builder, places: WordPlaces, areas: Areas, stage: str) -> None:
    """Emit the transfer of the records of marked PEs, part by part, in both streams."""
    data = _words(places)
    builder.mark(stage)
    builder.emit("LD", R, Mem(places.coefficients + 78))
    builder.emit("CMP", R, Imm(1))
    builder.emit("EC")
    builder.emit("EMC_MarkWrite")
    builder.emit("EMC_SetEnab")
    for part in range(PARTS):
        _emit_part(builder, places, data[PART_BYTES * part : PART_BYTES * (part + 1)], first=part == 0)
        builder.emit("SIGNAL", FREE)
        builder.emit("WAIT", ARRIVED)
    builder.stream("tigc")
    builder.mark(stage)
    builder.emit("TAS_SetOrder", 0)
    modules = range(areas.array.modules)
    for gp in range(areas.gps):
        senders = sum(1 << module for module in modules if areas.gp(module) == gp)
        if senders:
            builder.emit("TAS_SetGp", senders, 0, gp)
    for part in range(PARTS):
        for module in modules:
            builder.emit("TAS_SetGpAddress", 1 << module, areas.start(module, part))
        builder.emit("WAIT", FREE)
        builder.emit("TAS_GpWrite", (1 << areas.array.modules) - 1, 0, PART_BYTES)
        builder.emit("SIGNAL", ARRIVED)
    builder.stream("eigc")


def _emit_part(builder: Builder, places: WordPlaces, data: Sequence[Source], *, first: bool) -> None:
    """Emit the bytes of a part into the output port: 1 cycle for a constant, 2 for others, 4 more for each sign."""
    signs: dict[int, list[int]] = {}
    for index, source in enumerate(data):
        target = Mem(OUTPUT_PORT + index)
        if isinstance(source, _Sign):
            signs.setdefault(source.of.offset, []).append(index)
        elif isinstance(source, Imm):
            builder.emit("STI", target, source)
        elif not (first and index in (2, 3)):
            builder.emit("LD", R, source)
            builder.emit("ST", target, R)
    for place, indices in signs.items():
        builder.emit("SHL", R, Mem(place))
        builder.emit("LD", R, Imm(0))
        builder.emit("SBC", R, Imm(0))
        builder.emit("XOR", R, Imm(0xFF))
        for index in indices:
            builder.emit("ST", Mem(OUTPUT_PORT + index), R)
    if first:
        _emit_number(builder, places)


def _emit_number(builder: Builder, places: WordPlaces) -> None:
    """Emit the upper half of the header: the number of the PE and both bits."""
    number, more = Mem(OUTPUT_PORT + 2), Mem(places.scratch + 34)
    builder.emit("EMC_TreeIntoMem_Li", number, 2, 1, 128, HEADER_VALID)
    builder.emit("LD", R, more)
    builder.emit("CMP", R, Imm(1))
    builder.emit("EC")
    builder.emit("LD", R, number[1])
    builder.emit("OR", R, Imm(HEADER_MORE >> 8))
    builder.emit("ST", number[1], R)
    builder.emit("EMC_SetEnab")


# Instruction words in GP memory: records read, sorted by region, and turned into programs.


PART_WORDS = PART_BYTES // 4


class Record(NamedTuple):
    """Words of one triangle for one region, sent by one PE.

    ``number`` is the PE's, 128 y + x; ``more``: the triangle reaches into a later region.
    """

    left: int
    top: int
    number: int
    more: bool
    words: tuple[int, ...]


def clear_areas(node: Node, areas: Areas) -> None:
    """Clear the headers of records: a zero header ends those of a module."""
    for module in range(node.config.array.modules):
        size = areas.records * PART_BYTES
        node.gp_memory[areas.gp(module)].write(areas.start(module, 0), np.zeros(size, np.uint8))


def read_records(node: Node, areas: Areas) -> list[Record]:
    """Return the records received, module by module."""
    found = []
    for module in range(node.config.array.modules):
        memory = node.gp_memory[areas.gp(module)]
        first = memory.read(areas.start(module, 0), areas.records * PART_BYTES).view("<u4").reshape(areas.records, -1)
        there = (first[:, 0] >> 16 & HEADER_VALID) != 0
        count = len(there) if there.all() else int(there.argmin())
        parts = [memory.read(areas.start(module, part), count * PART_BYTES) for part in range(PARTS)]
        words = np.concatenate([part.view("<u4").reshape(count, PART_WORDS) for part in parts], axis=1)
        found += [_record(row) for row in words.tolist()]
    return found


def _record(row: Sequence[int]) -> Record:
    header, words = row[0], tuple(row[1 : 1 + RECORD_WORDS])
    column, line, upper = header & 0xFF, header >> 8 & 0xFF, header >> 16
    number = upper & (HEADER_MORE - 1)
    return Record(REGION_WIDTH * column, REGION_HEIGHT * line, number, bool(upper & HEADER_MORE), words)


def program_of(
    records: Iterable[Sequence[int]],
    left: int,
    top: int,
    background: tuple[int, int, int],
    composition: int | None = None,
) -> Program:
    """Return the program that clears a region and executes the words of triangles in order.

    MARKs are inserted as `region_program` does; they were not sent.
    """
    drawn, first, sent = form(left, top, background, composition)
    triangle = list(drawn.words[first : sent[-1] + 1])
    words = list(drawn.words[:first])
    for record in records:
        for at, word in zip(sent, record, strict=True):
            triangle[at - first] = word
        words += triangle
    words += drawn.words[sent[-1] + 1 :]
    return replace(drawn, words=tuple(words), lines=(), line_of=(), entries={})
