"""Textures in texture memory: where each level lies, and how it comes there from GP memory.

One read brings a PE four bytes from each of the eight SDRAMs of its module, each from an address of its own: the four
texels around a place in one level of detail, and the four in the next. So the column's lowest bit and the row's choose
the SDRAM of a texel, as in thesis 4.3, and levels lie in turn in the lower and in the upper four SDRAMs. What is left
of column and row is the address: inside an SDRAM a word is at row 512 + column, texture space being 512 words wide,
and every level is a rectangle there whose place is a multiple of its sides, so that PEs need masks and no sums.
A level of one row or column is stored twice, as it repeats; so it has both neighbours.

Every module holds a copy of every texture, since its PEs read no other module's memory. They are loaded at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microcode import Builder, Program
from pixelflow.config import NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import Texture
from pixelflow.simd.errors import Fault, InputError
from tessellation.microprogram.ports import ARRIVED

__all__ = ["LOADING_STAGE", "LevelPlace", "TextureLayout", "load_textures"]

LOADING_STAGE = "textures"
_DEVICES = 8
_HALF = _DEVICES // 2
_WORD_BYTES = 4
_COLUMNS = 512
"""Words of a row of texture space in an SDRAM: it has every other texel of a row, of which there are up to 1024."""
_MOST_BLOCKS = (1 << 16) - 1
_GP_START = 1 << 25
"""Where in GP memory textures lie until they are loaded: past results, database and words (invented)."""


@dataclass(frozen=True, slots=True)
class LevelPlace:
    """Where a level lies in texture space, in words of each of its four SDRAMs; sides are powers of two."""

    half: int
    """0 for the lower four SDRAMs, 1 for the upper four."""
    row: int
    column: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True, eq=False)
class TextureLayout:
    """Textures that were found room for, level by level, and what each of the modules' SDRAMs holds."""

    textures: tuple[Texture, ...]
    levels: tuple[tuple[LevelPlace, ...], ...]
    words: np.ndarray
    """uint8[word, SDRAM, byte], from the first word on to the last that is used."""
    used: np.ndarray
    """Which words are: bool[word]."""

    @classmethod
    def of(cls, textures: Sequence[Texture], config: NodeConfig) -> TextureLayout:
        """Find room for textures, the largest first; raises InputError where there is none."""
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
        """Bytes that each module holds, as blocks of all of its SDRAMs."""
        return int(self.used.sum()) * _DEVICES * _WORD_BYTES

    @property
    def runs(self) -> list[tuple[int, int]]:
        """First word and number of words of each run of used words."""
        edges = np.flatnonzero(np.diff(self.used.astype(np.int8), prepend=0, append=0))
        return [(int(first), int(end - first)) for first, end in edges.reshape(-1, 2)]


def _placed(texture: Texture, taken: np.ndarray, half: int) -> tuple[LevelPlace, ...] | None:
    """Return where the levels of a texture lie whose first is in a half, and take that; None where there is no room."""
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
    """Put the texels of a level where they lie."""
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
    """Load textures into the texture memory of a node: the application has put them into GP memory, for no cycles."""
    if len(layout.words):
        node.gp_memory[0].write(_GP_START, layout.words[layout.used].reshape(-1))
    return node.run(loading_program(layout, node.config.array.modules))
