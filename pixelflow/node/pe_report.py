"""PE state as tables and maps: registers, enables, memory, and named memory ranges as bytes, words or floats."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import ArrayConfig
from pixelflow.isa import MemoryRange, RangeForm
from pixelflow.node.named_ranges import numbers_of
from pixelflow.node.node import Node
from pixelflow.node.pe_map import REGISTERS, MapView, PeValue
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import Column, Fact, Json, Part, Table, verbatim

FLAGS = ("C", "E")

_FORMS = "forms: 5 | 32-39 | all | module.emc.panel.pe, where each part may be a number, a-b or *"

_LINE_BYTES = 16


def lanes_named(text: str, array: ArrayConfig) -> list[int]:
    """Return the lanes of a choice of PEs in the order written, each once; raises InputError for one that is none."""
    lanes: dict[int, None] = {}
    for item in text.split(","):
        parts = item.strip().split(".")
        if parts == ["all"]:
            lanes.update(dict.fromkeys(range(array.lanes)))
        elif len(parts) == 1:
            lanes.update(dict.fromkeys(_numbers(parts[0], array.lanes, "PE")))
        elif len(parts) == 4:
            names = ("module", "EMC", "panel", "PE")
            axes = [_numbers(*each) for each in zip(parts, array.shape, names, strict=True)]
            lanes.update((int(np.ravel_multi_index(place, array.shape)), None) for place in product(*axes))
        else:
            raise InputError(Fault(f"{item!r} is not a choice of PEs", hint=_FORMS))
    return list(lanes)


def _numbers(part: str, size: int, name: str) -> range:
    if part == "*":
        return range(size)
    first, dash, last = part.partition("-")
    if not first.isascii() or not first.isdigit() or (dash and not (last.isascii() and last.isdigit())):
        raise InputError(Fault(f"{part!r} is not a number or a range of numbers", hint=_FORMS))
    low = int(first[:9])
    high = int(last[:9]) if dash else low
    if high < low:
        raise InputError(Fault(f"{part}: the upper end is below the lower", hint=f"write: {high}-{low}"))
    if high >= size:
        raise InputError(Fault(f"{part} does not exist", hint=f"allowed: {name} 0 to {size - 1}"))
    return range(low, high + 1)


class RangeView(NamedTuple):
    """A named range as one form; a range of several floats shows each."""

    range: MemoryRange
    form: RangeForm

    def columns(self) -> list[str]:
        """Headings of the table."""
        if self.form is not RangeForm.FLOAT or self.range.size == 4:
            return [self.range.name]
        return [f"{self.range.name}[{offset}]" for offset in range(0, self.range.size, 4)]

    def values(self, node: Node, lanes: list[int]) -> list[list[Json]]:
        """Return, for each column, the value of every chosen lane."""
        rows = node.read_memory(self.range.start, self.range.size)[:, lanes]
        if self.form is RangeForm.BYTES:
            return [[bytes(column).hex(" ") for column in rows.T]]
        return np.atleast_2d(numbers_of(rows, self.form)).tolist()


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
    values: list[NDArray[PeValue]] = [x, y, *map(node.register, REGISTERS), *map(node.flag, FLAGS)]
    cells = [(*row, *(int(each[lane]) for each in values)) for row, lane in zip(rows, lanes, strict=True)]
    return Table(columns, cells, "registers (hexadecimal), carry, enable")


_plain = "{}".format
"""Shows a number without separators."""


def enables_table(node: Node) -> Table:
    """Return the number of enabled PEs, per module and EMC."""
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
    """Return the note on a map that cannot be drawn."""
    return f"note: {view.text} has no map: several PEs share a place in the plane, or it is very sparse"


def map_parts(node: Node, view: MapView, columns: int) -> Iterator[Part]:
    """Yield the map of one flag or number of every PE; nothing where they make no plane."""
    with suppress(InputError):
        yield from view.drawn(node).parts(columns)
