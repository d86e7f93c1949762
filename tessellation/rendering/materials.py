"""Data of a frame with deferred shading, computed by the application and the GPs: planes, materials, textures.

A material determines the shading of records: its texture, and whether values are numerators. Records hold its number; 0
is the background. Divided materials are consecutive, and so are textured ones, so PEs select either with two compares:
linear colours, linear with textures, divided with textures, divided colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd import drawing
from pixelflow.simd.errors import Fault, InputError
from tessellation.microprogram.ports import ARRIVED
from tessellation.rendering.instructions import Region, regions

# The record of a sample: data of the nearest triangle, kept by a rasterizer so that it is shaded once, later.
#
# A record begins at byte 0 of PE memory and is sent over the image composition network:
#
# depth     4   its lowest byte is 0 and is not sent
# material  1   0 for the background
# colours   12  red, green, blue, 4 bytes each: numerators; or linear, with the colour in the highest byte
# divisor   4   if colours or coordinates follow perspective, or there are textures
# u, v      8   if there are textures: numerators, or linear, in 1/65536 texel
# slopes    24  if there are mipmaps, at one sample: increments of divisor, u and v to the right, and downwards
# others    36  if there are mipmaps, at four samples, whose places in a pixel differ: divisor, u and v of the
#               pixels across, below and diagonally across in the block of two by two pixels, for the same
#               triangle, whichever is nearest there
#
# in all 17, 21, 29, 53 or 65 bytes, of which all but one are sent: at most the 64 of image composition memory. The
# layout is this project's; the thesis says that shading is deferred (2.2.2), not which data are kept until then.


CHANNELS = 3
MATERIAL = Mem(4)
GROUP_BYTES = 12
"""Divisor, u and v of one pixel."""

_COLOURS = 5
_GROUPS = 17
_BLOCK_PIXELS = 4


class SampleRecord(NamedTuple):
    """Contents of a frame's records; ``block``: mipmaps, which need the coordinates of a block of pixels."""

    divisor: bool = False
    coordinates: bool = False
    block: bool = False
    slopes: bool = False
    """True if the block is kept as slopes."""

    @property
    def size(self) -> int:
        """Bytes of PE memory, starting at byte 0."""
        if self.coordinates:
            return _GROUPS + GROUP_BYTES * self.groups
        return _GROUPS + (4 if self.divisor else 0)

    @property
    def groups(self) -> int:
        """Groups of divisor, u and v: of the own pixel, and of the other pixels or slopes."""
        return 1 if not self.block else 3 if self.slopes else _BLOCK_PIXELS

    @property
    def depth(self) -> Mem:
        """Four bytes, the lowest of which is 0."""
        return Mem(0)

    @property
    def colours(self) -> tuple[Mem, ...]:
        """Four bytes each; after shading the highest holds the colour of 8 bits."""
        return tuple(Mem(_COLOURS + 4 * channel) for channel in range(CHANNELS))

    @property
    def finished(self) -> tuple[Mem, ...]:
        """Red, green and blue of 8 bits after shading."""
        return tuple(colour[3] for colour in self.colours)

    def group(self, number: int = 0) -> Mem:
        """Return the address of a group of divisor, u and v, 4 bytes each."""
        return Mem(_GROUPS + GROUP_BYTES * number)

    @property
    def sent(self) -> tuple[Mem, ...]:
        """The bytes sent over the image composition network: depth, highest byte first, then the others in order."""
        return (
            *(self.depth[index] for index in (3, 2, 1)),
            *(Mem(place) for place in range(MATERIAL.offset, self.size)),
        )


def receive_program(record: SampleRecord, composition: int) -> Program:
    """Return the program that moves records from ``composition`` memory to main memory: 2 cycles a byte, and 2."""
    builder = Builder("records received")
    builder.mark("receive")
    builder.emit("EMC_SetEnab")
    builder.emit("STI", record.depth, Imm(0))
    for index, place in enumerate(record.sent):
        builder.emit("LD", Register.R, Mem(composition + index))
        builder.emit("ST", place, Register.R)
    return builder.build()


def read_record(node: Node, record: SampleRecord) -> np.ndarray:
    """Return the bytes of records to be sent: uint8[byte, lane]."""
    return np.stack([node.read_memory(place.offset)[0] for place in record.sent])


# Textures in texture memory: the layout of their levels, and loading from GP memory.
#
# One read brings a PE four bytes from each of the eight SDRAMs of its module, each from a separate address: the four
# texels around a place in one level of detail, and the four in the next. So the lowest bits of column and row select
# the SDRAM of a texel, as in thesis 4.3, and levels alternate between the lower and the upper four SDRAMs. The rest of
# column and row is the address: inside an SDRAM a word is at 512 row + column, texture space being 512 words wide, and
# every level is a rectangle there at multiples of its sides, so that PEs need masks and no sums. A level of one row or
# column is stored twice, as it repeats, to have both neighbours.
#
# Every module holds a copy of every texture, since its PEs read no other module's memory. All are loaded at once.


LOADING_STAGE = "textures"
_DEVICES = 8
_HALF = _DEVICES // 2
_WORD_BYTES = 4
_COLUMNS = 512
"""Words of a row of texture space in an SDRAM, which holds every other of up to 1024 texels."""
_MOST_BLOCKS = (1 << 16) - 1
_GP_START = 1 << 25
"""Address of textures in GP memory before loading: past results, database and words (invented)."""


class LevelPlace(NamedTuple):
    """Place of a level in texture space, in words of each of its four SDRAMs; sides are powers of two."""

    half: int
    """0 for the lower four SDRAMs, 1 for the upper four."""
    row: int
    column: int
    rows: int
    columns: int


class TextureLayout(NamedTuple):
    """Textures with the places of their levels, and the contents of a module's SDRAMs."""

    textures: tuple[drawing.Texture, ...]
    levels: tuple[tuple[LevelPlace, ...], ...]
    words: np.ndarray
    """uint8[word, SDRAM, byte], up to the last used word."""
    used: np.ndarray
    """bool[word]."""

    @classmethod
    def of(cls, textures: Sequence[drawing.Texture], config: NodeConfig) -> TextureLayout:
        """Allocate textures, the largest first; raises InputError if they do not fit."""
        sdram = config.sdram
        rows = sdram.banks * sdram.rows * sdram.columns // _WORD_BYTES // _COLUMNS
        if sdram.devices_per_module != _DEVICES:
            raise InputError(Fault(f"textures are laid out for {_DEVICES} SDRAMs, not {sdram.devices_per_module}"))
        taken = np.zeros((2, rows, _COLUMNS), bool)
        words = np.zeros((rows * _COLUMNS, _DEVICES, _WORD_BYTES), np.uint8)
        places: dict[int, tuple[LevelPlace, ...]] = {}
        for number in sorted(range(len(textures)), key=lambda each: -textures[each].texels.size):
            texture = textures[number]
            found = next((levels for half in range(2) if (levels := _placed(texture, taken, half))), None)
            if found is None:
                sizes = sum(level.size for each in textures for level in each.levels)
                held = rows * _COLUMNS * _DEVICES * _WORD_BYTES
                hint = f"texture memory of a module has {held:,} bytes, in which levels are rectangles"
                raise InputError(Fault(f"{len(textures)} textures of {sizes:,} bytes find no room", hint=hint))
            places[number] = found
            for level, texels in zip(found, texture.levels, strict=True):
                _store(words, level, texels)
        used = taken.any(axis=0).reshape(-1)
        last = int(np.flatnonzero(used)[-1]) + 1 if used.any() else 0
        return cls(tuple(textures), tuple(places[number] for number in range(len(textures))), words[:last], used[:last])

    @property
    def bytes_held(self) -> int:
        """Bytes used in each module, as blocks of all of its SDRAMs."""
        return int(self.used.sum()) * _DEVICES * _WORD_BYTES

    @property
    def runs(self) -> list[tuple[int, int]]:
        """First word and number of words of each run of used words."""
        edges = np.flatnonzero(np.diff(self.used.astype(np.int8), prepend=0, append=0))
        return [(int(first), int(end - first)) for first, end in edges.reshape(-1, 2)]


def _placed(texture: drawing.Texture, taken: np.ndarray, half: int) -> tuple[LevelPlace, ...] | None:
    """Allocate the levels of a texture, the first in ``half``; returns None if they do not fit."""
    after, found = taken.copy(), []
    for number, texels in enumerate(texture.levels):
        rows, columns = (max(side // 2, 1) for side in texels.shape[:2])
        side = (half + number) % 2
        if rows > taken.shape[1] or columns > taken.shape[2]:
            return None
        # Places that are multiples of the sides.
        free = ~after[side].reshape(taken.shape[1] // rows, rows, taken.shape[2] // columns, columns).any(axis=(1, 3))
        if not free.any():
            return None
        row, column = (int(each) for each in np.unravel_index(int(free.argmax()), free.shape))
        level = LevelPlace(side, row * rows, column * columns, rows, columns)
        after[side, level.row : level.row + rows, level.column : level.column + columns] = True
        found.append(level)
    taken[:] = after
    return tuple(found)


def _store(words: np.ndarray, level: LevelPlace, texels: np.ndarray) -> None:
    """Store the texels of a level at its place."""
    rows, columns = texels.shape[:2]
    whole = np.tile(texels, (2 * level.rows // rows, 2 * level.columns // columns, 1))
    space = words.reshape(-1, _COLUMNS, _DEVICES, _WORD_BYTES)
    for below in range(2):
        for right in range(2):
            at = _HALF * level.half + 2 * below + right
            place = (slice(level.row, level.row + level.rows), slice(level.column, level.column + level.columns), at)
            space[place] = whole[below::2, right::2]


def loading_program(layout: TextureLayout, modules: int) -> Program:
    """Return the program that loads textures from the memory of the first GP into all modules at once."""
    builder = Builder("textures")
    every = (1 << modules) - 1
    builder.mark(LOADING_STAGE)
    builder.emit("WAIT", ARRIVED)
    builder.stream("tigc")
    builder.mark(LOADING_STAGE)
    builder.emit("TAS_SetGp", every, 0, 0)
    builder.emit("TAS_SetGpAddress", every, _GP_START)
    for first, count in layout.runs:
        for start in range(first, first + count, _MOST_BLOCKS):
            blocks = min(_MOST_BLOCKS, first + count - start)
            builder.emit("TAS_MemLoad", every, blocks, _WORD_BYTES * start)
    builder.emit("SIGNAL", ARRIVED)
    return builder.build()


def load_textures(node: Node, layout: TextureLayout) -> Run:
    """Load textures into the texture memory of a node; storing them in GP memory before takes no cycles."""
    if len(layout.words):
        node.gp_memory[0].write(_GP_START, layout.words[layout.used].reshape(-1))
    return node.run(loading_program(layout, node.config.array.modules))


_MOST_MATERIALS = 255
_LOST = "blending in the order of drawing, stencil or other tests"
MOST_SORTED = (1 << 16) - 1
"""Most triangles of sorted draws: their numbers, starting at 1, have two bytes in a key."""


class Material(NamedTuple):
    """Shading of a record."""

    texture: int | None
    """Number of the texture, if any."""
    divided: bool
    """True if colours and coordinates are numerators."""
    bits: int
    """Left shift of coordinate numerators before division: K of the reference."""
    alpha: int | None = None
    """Opacity of a sorted draw; None if opaque."""
    cutout: int = 0
    """Least opacity of a visible texel of a sorted draw."""

    @property
    def order(self) -> tuple[int, ...]:
        """Sort key of materials."""
        return (
            2 * self.divided + (self.divided == (self.texture is None)),
            -1 if self.texture is None else self.texture,
            self.bits,
            self.alpha or 0,
            self.cutout,
        )


@dataclass(frozen=True, slots=True, eq=False)
class DrawData:
    """GP data of a draw, at each sampling place in a pixel."""

    edges: tuple[drawing.Edges, ...]
    values: tuple[drawing.Interpolation, ...]
    flat: np.ndarray
    """True for triangles of one colour: bool[triangle]; in perspective only if their quotients have it as well."""
    materials: tuple[Material, ...]
    """One per triangle."""
    state: drawing.State

    @property
    def cutout(self) -> int:
        """Least opacity of a visible texel; 0 without cutouts."""
        return self.state.cutout


@dataclass(frozen=True, eq=False)
class ShadedFrame:
    """A frame ready to be drawn region by region; triangles are numbered across all draws."""

    frame: drawing.Frame
    draws: tuple[DrawData, ...]
    materials: tuple[Material, ...]
    """In the order of their numbers, which start at 1."""
    textures: TextureLayout
    record: SampleRecord
    triangles: drawing.ScreenTriangles

    @classmethod
    def of(cls, frame: drawing.Frame, config: NodeConfig = THESIS) -> ShadedFrame:
        """Prepare a frame; raises InputError for draws that cannot be shaded later."""
        require_deferred((draw.name, draw.state) for draw in frame.draws)
        places = drawing.places_of(frame.samples)
        textures: list[drawing.Texture] = []
        for draw in frame.draws:
            if draw.state.texture is not None and not any(draw.state.texture is each for each in textures):
                textures.append(draw.state.texture)
        draws = tuple(_data(draw, places, textures) for draw in frame.draws if len(draw.triangles))
        materials = tuple(sorted({each for draw in draws for each in draw.materials}, key=lambda each: each.order))
        if len(materials) > _MOST_MATERIALS:
            hint = f"at most {_MOST_MATERIALS}: a texture, and how its coordinates are interpolated"
            raise InputError(Fault(f"{len(materials)} materials", hint=hint))
        used = [each for each in materials if each.texture is not None]
        record = SampleRecord(
            divisor=any(each.divided for each in materials),
            coordinates=bool(used),
            block=any(textures[each.texture].mipmaps for each in used if each.texture is not None),
            slopes=frame.samples == 1,
        )
        count = sum(len(draw.triangles) for draw in frame.draws if draw.state.blend is drawing.Blend.SORTED)
        if count > MOST_SORTED:
            hint = f"at most {MOST_SORTED:,}, whose numbers the PEs compare in two bytes"
            raise InputError(Fault(f"{count:,} triangles of draws sorted by depth", hint=hint))
        joined = drawing.ScreenTriangles.joined([draw.triangles for draw in frame.draws])
        return cls(frame, draws, materials, TextureLayout.of(textures, config), record, joined)

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Sampling places in a pixel."""
        return drawing.places_of(self.frame.samples)

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum([0, *(len(draw.materials) for draw in self.draws)])

    def start_of(self, draw: DrawData) -> int:
        """Return the number of the first triangle of a draw."""
        return int(self._starts[self.draws.index(draw)])

    def places_of(self, numbers: NDArray[np.int64]) -> Iterator[tuple[DrawData, NDArray[np.int64]]]:
        """Yield the draws of triangles in the order of drawing, each with their numbers there."""
        bounds = np.searchsorted(numbers, self._starts).tolist()
        for draw, start, (first, past) in zip(self.draws, self._starts, pairwise(bounds), strict=False):
            if first < past:
                yield draw, numbers[first:past] - start

    def regions(self) -> list[Region]:
        """Return the regions of the screen, the same for all samples."""
        return list(regions(self.triangles, self.frame.width, self.frame.height, self.places))

    def number(self, material: Material) -> int:
        return self.materials.index(material) + 1

    @cached_property
    def opaque(self) -> int:
        """Number of opaque triangles; sorted ones follow them."""
        return sum(len(draw.materials) for draw in self.draws if draw.state.blend is not drawing.Blend.SORTED)

    def present(self, triangles: Iterable[int]) -> tuple[Material, ...]:
        """Return the materials of the opaque triangles among those given, in the order of their numbers."""
        return self.materials_of(number for number in triangles if number < self.opaque)

    def materials_of(self, triangles: Iterable[int]) -> tuple[Material, ...]:
        """Return the materials of triangles, in the order of their numbers."""
        places = self.places_of(np.array([*triangles], np.int64))
        found = {draw.materials[each] for draw, index in places for each in index.tolist()}
        return tuple(each for each in self.materials if each in found)

    @cached_property
    def bits(self) -> int:
        """Largest K of all materials: the fraction bits of coordinate quotients."""
        return max((each.bits for each in self.materials), default=0)


def _data(draw: drawing.Draw, places: Sequence[tuple[int, int]], textures: Sequence[drawing.Texture]) -> DrawData:
    triangles, texture = draw.triangles, draw.state.texture
    number = next((index for index, each in enumerate(textures) if each is texture), None)
    values = tuple(drawing.Interpolation.of(triangles, place, textured=texture is not None) for place in places)
    flat, quotients = drawing.steady(triangles), values[0].quotients
    layer = (draw.state.alpha, draw.state.cutout) if draw.state.blend is drawing.Blend.SORTED else (None, 0)
    if texture is not None:
        bits = 0 if quotients is None else quotients.bits
        materials = [Material(number, quotients is not None, bits, *layer)] * len(triangles)
    else:
        # As without textures: colours of triangles that are flat or at one distance are linear.
        divided = ~(flat | triangles.level)
        materials = [Material(None, bool(each), 0, *layer) for each in divided]
    return DrawData(
        tuple(drawing.edges_of(triangles, place) for place in places), values, flat, tuple(materials), draw.state
    )


def deferred(state: drawing.State) -> bool:
    """Return whether draws in a state can be shaded later: only the nearest fragment is visible, or they are sorted."""
    opaque = drawing.State(texture=state.texture, cutout=state.cutout, alpha=state.alpha)
    return state in (opaque, replace(opaque, blend=drawing.Blend.SORTED, depth_write=False))


def require_deferred(draws: Iterable[tuple[str, drawing.State]]) -> None:
    """Raise InputError, naming the draws, for states in which more than the nearest fragment is visible."""
    others = [name for name, state in draws if not deferred(state)]
    if others:
        hint = "nodes keep the nearest of each sample and lose the order of draws"
        raise InputError(Fault(f"not drawn on PixelFlow here: {', '.join(others)}: {_LOST}", hint=hint))
