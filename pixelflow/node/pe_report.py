"""PE state as tables and maps: registers, enables, memory, and named memory ranges as bytes, words or floats.

A map shows one byte or one flag of every PE at its x, y place. Characters are about twice as high as wide, so one
character stands for s x 2s PEs. A flag is drawn in Braille dots, one dot a PE (2 x 4 in a character); a byte as the
mean over a character's PEs, in ten shades from the least value of the array to the greatest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import ArrayConfig
from pixelflow.isa import MemoryRange
from pixelflow.node.node import Node
from pixelflow.simd.report import Column, Fact, Json, Part, Table, verbatim

__all__ = [
    "FLAGS",
    "MAP_FLAGS",
    "REGISTERS",
    "ByteForm",
    "MapView",
    "RangeView",
    "dump_parts",
    "enables_table",
    "grid",
    "json_value",
    "map_parts",
    "memory_lines",
    "no_map",
    "pe_columns",
    "position",
    "ranges_table",
    "registers_table",
]

REGISTERS = ("R", "S", "M")
FLAGS = ("C", "E")
MAP_FLAGS = {"enable": "E", "carry": "C"}
"""Flags that a map shows, by what users call them."""

_LINE_BYTES = 16
_SHADES = " .:-=+*#%@"
"""From the least value of a byte's map to its greatest."""
_EMPTY_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


class ByteForm(Enum):
    """How the bytes of a range are read."""

    BYTES = "bytes"
    WORD = "word"
    FLOAT = "float"


@dataclass(frozen=True, slots=True)
class RangeView:
    """A named range as one form; a range of several floats shows each."""

    range: MemoryRange
    form: ByteForm

    def columns(self) -> list[str]:
        """Headings of the table."""
        if self.form is not ByteForm.FLOAT or self.range.size == 4:
            return [self.range.name]
        return [f"{self.range.name}[{offset}]" for offset in range(0, self.range.size, 4)]

    def values(self, node: Node, lanes: list[int]) -> list[list[Json]]:
        """Return, for each column, the value of every chosen lane."""
        start, size = self.range.start, self.range.size
        match self.form:
            case ByteForm.FLOAT:
                return [node.read_float(start + offset)[lanes].tolist() for offset in range(0, size, 4)]
            case ByteForm.WORD:
                return [node.read_word(start, size)[lanes].tolist()]
            case ByteForm.BYTES:
                rows = node.read_memory(start, size)[:, lanes]
                return [[bytes(column).hex(" ") for column in rows.T]]


@dataclass(frozen=True, slots=True)
class MapView:
    """What a map shows: a flag, a register, or one byte of memory."""

    text: str
    flag: str | None = None
    register: str | None = None
    address: int = 0

    def values(self, node: Node) -> np.ndarray:
        """Return bool[lanes] for a flag, uint8[lanes] for a byte."""
        if self.flag is not None:
            return node.flag(self.flag)
        if self.register is not None:
            return node.register(self.register)
        return node.read_memory(self.address)[0]


def position(lane: int, array: ArrayConfig) -> str:
    """Return ``module.emc.panel.pe`` of a lane."""
    return ".".join(str(part) for part in np.unravel_index(lane, array.shape))


def pe_columns(lanes: Sequence[int], array: ArrayConfig) -> tuple[list[Column], list[tuple[Json, ...]]]:
    """Return the columns that begin every table of PEs, and their cells."""
    columns = [Column("PE", verbatim, "pe"), Column("m.e.p.pe", fixed=True)]
    return columns, [(str(lane), position(lane, array)) for lane in lanes]


def ranges_table(node: Node, views: Sequence[RangeView], lanes: list[int]) -> Table:
    """Return a table of ranges, one row per PE."""
    columns, rows = pe_columns(lanes, node.config.array)
    columns += [Column(name, _cell) for view in views for name in view.columns()]
    values = [values for view in views for values in view.values(node, lanes)]
    return Table(columns, [(*row, *cells) for row, *cells in zip(rows, *values, strict=True)])


def _cell(value: float | int | str) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def json_value(value: Json) -> Json:
    """Return a value that JSON has; infinities and NaN become text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def registers_table(node: Node, lanes: list[int]) -> Table:
    """Return registers, carry and enable of the chosen PEs, with their place in the plane."""
    x, y = node.coordinates()
    columns, rows = pe_columns(lanes, node.config.array)
    columns += [Column(name, _plain) for name in ("x", "y")]
    columns += [Column(name, "{:02x}".format) for name in REGISTERS] + [Column(name, _plain) for name in FLAGS]
    values = [x, y, *map(node.register, REGISTERS), *map(node.flag, FLAGS)]
    cells = [(*row, *(int(each[lane]) for each in values)) for row, lane in zip(rows, lanes, strict=True)]
    return Table(columns, cells, "registers (hexadecimal), carry, enable")


_plain = "{}".format
"""Shows a number without separators."""


def enables_table(node: Node) -> Table:
    """Return how many PEs are enabled, per module and EMC."""
    array = node.config.array
    enabled = node.flag("E").reshape(array.modules, array.emcs_per_module, -1).sum(axis=2)
    columns = [Column(name, _plain) for name in ("module", *(f"EMC {emc}" for emc in range(array.emcs_per_module)))]
    rows = [(module, *counts) for module, counts in enumerate(enabled.tolist())]
    return Table(columns, rows, f"enabled PEs: {int(enabled.sum()):,} of {node.lanes:,}")


def memory_lines(node: Node, lanes: list[int]) -> Iterator[Part]:
    """Yield the memory of the chosen PEs, 16 bytes a line; lines equal to the one before become one star."""
    memory = node.memory
    for lane in lanes:
        yield f"memory of PE {lane} ({position(lane, node.config.array)})"
        before, starred = None, False
        for start in range(0, len(memory), _LINE_BYTES):
            line = bytes(memory[start : start + _LINE_BYTES, lane]).hex(" ")
            if line != before:
                yield Fact(f"  {start:3}  {line}", wrap=False)
            elif not starred:
                yield "    *"
            starred = line == before
            before = line
        yield ""


def dump_parts(node: Node, what: str, lanes: list[int], *, few: bool) -> Iterator[Part]:
    """Yield ``registers``, ``enables`` or ``memory``; of many PEs the memory of the first one where ``few``."""
    if what == "registers":
        yield registers_table(node, lanes)
    elif what == "enables":
        yield enables_table(node)
    else:
        yield from memory_lines(node, lanes[:1] if few else lanes)


def no_map(view: MapView) -> str:
    """Return the note on a map that there is not."""
    return f"note: {view.text} has no map: several PEs share a place in the plane, or it is very sparse"


def map_parts(node: Node, view: MapView, columns: int) -> Iterator[Part]:
    """Yield the map of one flag or byte of every PE; nothing where they make no plane."""
    plane = grid(view.values(node), *node.coordinates())
    if plane is None:
        return
    heading = f"{view.text}, {plane.shape[1]} x {plane.shape[0]} PEs, y downwards"
    wide, high = _pes_of_character(plane, columns)
    scale = f"one character: {wide} x {high} PEs"
    if plane.dtype == np.bool_:
        yield f"{heading}, {scale}, a dot each"
        lines = _flag_map(plane)
    else:
        yield f"{heading}, '{_SHADES[0]}' {int(plane.min())} to '{_SHADES[-1]}' {int(plane.max())}"
        yield f"{scale}, their mean"
        lines = _value_map(plane, columns)
    yield Fact("\n".join(lines), wrap=False)


def grid(values: NDArray, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray | None:
    """Return values[y, x] with y growing downwards, or None where two PEs share a place or the plane is too wide."""
    width, height = int(x.max()) + 1, int(y.max()) + 1
    if width * height > 4 * len(values) or len(np.unique(y * width + x)) < len(values):
        return None
    plane = np.zeros((height, width), values.dtype)
    plane[y, x] = values
    return plane


def _flag_map(plane: NDArray[np.bool_]) -> list[str]:
    """Return the lines of a flag's map: one Braille dot per PE."""
    padded = _padded(plane, 4, 2)
    height, width = padded.shape
    cells = padded.reshape(height // 4, 4, width // 2, 2)
    codes = np.einsum("abcd,bd->ac", cells.astype(np.int64), _DOTS)
    return ["".join(chr(_EMPTY_BRAILLE + code) for code in row) for row in codes]


def _pes_of_character(plane: NDArray, columns: int) -> tuple[int, int]:
    """Return how many PEs along x and along y one character of a map stands for."""
    if plane.dtype == np.bool_:
        return 2, 4
    step = max(1, -(-plane.shape[1] // columns))
    return step, 2 * step


def _value_map(plane: NDArray[np.uint8], columns: int) -> list[str]:
    """Return the lines of a byte's map, at most ``columns`` wide."""
    step, _ = _pes_of_character(plane, columns)
    padded = _padded(plane, 2 * step, step)
    height, width = padded.shape
    cells = padded.reshape(height // (2 * step), 2 * step, width // step, step).mean(axis=(1, 3))
    least, span = int(plane.min()), max(1, int(plane.max()) - int(plane.min()))
    shades = np.rint((cells - least) / span * (len(_SHADES) - 1)).clip(0, len(_SHADES) - 1).astype(np.int64)
    return ["".join(_SHADES[shade] for shade in row) for row in shades]


def _padded(plane: NDArray, rows: int, columns: int) -> NDArray:
    height, width = plane.shape
    return np.pad(
        plane, ((0, -height % rows), (0, -width % columns)), mode="minimum" if plane.dtype != bool else "constant"
    )
