"""PE state as tables: registers, enables, memory, and named memory ranges as bytes, words or floats."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import numpy as np

from pixelflow.cli.arguments import UsageError
from pixelflow.cli.pe_files import STATE_FLAGS, STATE_REGISTERS
from pixelflow.cli.pe_map import SHADES, flag_map, grid, pes_of_character, value_map
from pixelflow.cli.pe_selection import position
from pixelflow.cli.screen import Column, Screen
from pixelflow.isa import MemoryRange, Program
from pixelflow.node import Node
from pixelflow.simd.errors import nearest
from pixelflow.simd.records import record

__all__ = [
    "Form",
    "MapView",
    "RangeView",
    "json_value",
    "map_view",
    "range_view",
    "show_enables",
    "show_map",
    "show_memory",
    "show_ranges",
    "show_registers",
]

_LINE_BYTES = 16
_MAP_FLAGS = {"enable": "E", "carry": "C"}


class Form(Enum):
    """How the bytes of a range are read."""

    BYTES = "bytes"
    WORD = "word"
    FLOAT = "float"


@record
class RangeView:
    """A named range as one form; a range of several floats shows each."""

    range: MemoryRange
    form: Form

    def columns(self) -> list[str]:
        """Headings of the table."""
        if self.form is not Form.FLOAT or self.range.size == 4:
            return [self.range.name]
        return [f"{self.range.name}[{offset}]" for offset in range(0, self.range.size, 4)]

    def values(self, node: Node, lanes: list[int]) -> list[list[Any]]:
        """Return, for each column, the value of every chosen lane."""
        start, size = self.range.start, self.range.size
        match self.form:
            case Form.FLOAT:
                return [node.read_float(start + offset)[lanes].tolist() for offset in range(0, size, 4)]
            case Form.WORD:
                return [node.read_word(start, size)[lanes].tolist()]
            case Form.BYTES:
                rows = node.read_memory(start, size)[:, lanes]
                return [[bytes(column).hex(" ") for column in rows.T]]


def range_view(text: str, program: Program) -> RangeView:
    """Return what ``NAME`` or ``NAME:bytes|word|float`` asks for; raises UsageError for what the program lacks."""
    name, colon, form_name = text.partition(":")
    option = f"--range {text}"
    found = next((each for each in program.ranges if each.name == name), None)
    if found is None:
        names = [each.name for each in program.ranges]
        close = nearest(name, names)
        hint = f"did you mean {close}?" if close else f"ranges: {', '.join(names) or 'none'}"
        raise UsageError(option, f"the program has no memory range {name!r}", hint)
    forms = [form.value for form in Form]
    if colon and form_name not in forms:
        raise UsageError(option, f"{form_name!r} is not a form", f"allowed: {', '.join(forms)}")
    form = Form(form_name) if colon else (Form.WORD if found.size <= 8 else Form.BYTES)
    if form is Form.WORD and found.size > 8:
        raise UsageError(option, f"{name} has {found.size} bytes", "a word has 1 to 8; use :bytes or :float")
    if form is Form.FLOAT and found.size % 4:
        raise UsageError(option, f"{name} has {found.size} bytes", "binary32 numbers have 4 each; use :bytes")
    return RangeView(found, form)


def show_ranges(screen: Screen, node: Node, views: list[RangeView], lanes: list[int]) -> None:
    """Print a table of ranges, one row per PE."""
    columns = [Column("PE", numbers=True), Column("m.e.p.pe", fixed=True)]
    cells = []
    for view in views:
        columns += [Column(name, numbers=True) for name in view.columns()]
        cells += [[_cell(value) for value in values] for values in view.values(node, lanes)]
    array = node.config.array
    rows = [
        [str(lane), position(lane, array), *(column[index] for column in cells)] for index, lane in enumerate(lanes)
    ]
    screen.table(columns, rows)


def _cell(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def json_value(value: Any) -> Any:
    """Return a value that JSON has; infinities and NaN become text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def show_registers(screen: Screen, node: Node, lanes: list[int]) -> None:
    """Print registers, carry and enable of the chosen PEs, with their place in the plane."""
    x, y = node.coordinates()
    columns = [Column("PE", numbers=True), Column("m.e.p.pe", fixed=True), Column("x", numbers=True)]
    columns += [Column("y", numbers=True)]
    columns += [Column(name, numbers=True) for name in (*STATE_REGISTERS, *STATE_FLAGS)]
    registers = [node.register(name) for name in STATE_REGISTERS]
    flags = [node.flag(name) for name in STATE_FLAGS]
    rows = []
    for lane in lanes:
        row = [str(lane), position(lane, node.config.array), str(x[lane]), str(y[lane])]
        row += [f"{values[lane]:02x}" for values in registers]
        rows.append(row + [str(int(values[lane])) for values in flags])
    screen.table(columns, rows, title="registers (hexadecimal), carry, enable")


def show_enables(screen: Screen, node: Node) -> None:
    """Print how many PEs are enabled, per module and EMC."""
    array = node.config.array
    enabled = node.flag("E").reshape(array.modules, array.emcs_per_module, -1).sum(axis=2)
    columns = [Column("module", numbers=True)]
    columns += [Column(f"EMC {emc}", numbers=True) for emc in range(array.emcs_per_module)]
    rows = [[str(module), *(str(count) for count in counts)] for module, counts in enumerate(enabled.tolist())]
    title = f"enabled PEs: {int(enabled.sum()):,} of {node.lanes:,}"
    screen.table(columns, rows, title=title)


def show_memory(screen: Screen, node: Node, lanes: list[int]) -> None:
    """Print the memory of the chosen PEs, 16 bytes a line; lines equal to the one before become one star."""
    memory = node.memory
    for lane in lanes:
        screen.text(f"memory of PE {lane} ({position(lane, node.config.array)})")
        before, starred = None, False
        for start in range(0, len(memory), _LINE_BYTES):
            line = bytes(memory[start : start + _LINE_BYTES, lane]).hex(" ")
            if line != before:
                screen.text(f"  {start:3}  {line}")
            elif not starred:
                screen.text("    *")
            starred = line == before
            before = line
        screen.text()


@record
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


def map_view(text: str, program: Program, option: str = "--show-map") -> MapView:
    """Return what ``enable``, ``carry``, a register, ``NAME`` or ``NAME[i]`` asks for; raises UsageError."""
    flag = _MAP_FLAGS.get(text)
    if flag is not None or text in STATE_REGISTERS:
        return MapView(text, flag=flag, register=None if flag else text)
    name, bracket, index = text.partition("[")
    found = next((each for each in program.ranges if each.name == name), None)
    if found is None:
        names = [*_MAP_FLAGS, *STATE_REGISTERS, *(each.name for each in program.ranges)]
        close = nearest(name, names)
        hint = f"did you mean {close}?" if close else f"allowed: {', '.join(names)}"
        raise UsageError(f"{option} {text}", f"{name!r} is neither a flag nor a register nor a memory range", hint)
    digits = index.removesuffix("]")
    offset = int(digits[:9]) if digits.isascii() and digits.isdigit() else 0
    if (bracket and index != f"{offset}]") or offset >= found.size:
        raise UsageError(f"{option} {text}", "no such byte", f"allowed: {name}[0] to {name}[{found.size - 1}]")
    return MapView(text, address=found.start + offset)


def show_map(screen: Screen, node: Node, view: MapView) -> None:
    """Print the map of one flag or byte of every PE."""
    plane = grid(view.values(node), *node.coordinates())
    if plane is None:
        screen.note(f"note: {view.text} has no map: several PEs share a place in the plane, or it is very sparse")
        return
    heading = f"{view.text}, {plane.shape[1]} x {plane.shape[0]} PEs, y downwards"
    wide, high = pes_of_character(plane, screen.width)
    scale = f"one character: {wide} x {high} PEs"
    if plane.dtype == np.bool_:
        screen.text(f"{heading}, {scale}, a dot each")
        screen.text("\n".join(flag_map(plane)))
        return
    screen.text(f"{heading}, '{SHADES[0]}' {int(plane.min())} to '{SHADES[-1]}' {int(plane.max())}")
    screen.text(f"{scale}, their mean")
    screen.text("\n".join(value_map(plane, screen.width)))
