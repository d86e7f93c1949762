"""PEs of a run at its position: the map of one value of all of them, and all values of one of them."""

from __future__ import annotations

import numpy as np

from pixelflow.isa import MemoryRange, Program
from pixelflow.node import Node
from pixelflow.node.pe_map import MAP_FLAGS, REGISTERS, MapView
from pixelflow.node.pe_report import RangeView, position
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import Json
from pixelflow.view.server.messages import Answer

__all__ = ["element_answer", "map_answer", "maps_of"]

_FLAGS = ("C", "E", "L", "MR", "MW")


def maps_of(program: Program) -> list[Json]:
    """Return the names of maps beside those of bytes by number."""
    return [*MAP_FLAGS, *REGISTERS, *(each.name for each in program.ranges)]


def map_answer(node: Node, program: Program, what: str) -> Answer:
    """Return the map of a flag, a register, a range or a byte (``byte 12``): a shade for each PE, row by row.

    Raises InputError for what there is not, and where PEs make no plane.
    """
    word = what.removeprefix("byte ")
    if word.isascii() and word.isdigit():
        view = MapView(f"byte {word}", address=int(word[:9]))
    else:
        view = MapView.named(what, program)
    drawn = view.drawn(node)
    image = drawn.picture()
    shades, caption = image.data, image.caption
    if view.flag is not None:  # white where it is set, also where it is so in every PE
        shades = (drawn.plane * np.uint8(255)).tobytes()
        caption = f"{view.text}: white where it is set, {int(drawn.plane.sum()):,} of {node.lanes:,} PEs"
    head: dict[str, Json] = {"what": view.text, "width": image.width, "height": image.height, "caption": caption}
    return Answer(head, shades)


def element_answer(node: Node, program: Program, x: int, y: int) -> Answer:
    """Return the PE at a place of the plane: registers, flags, named ranges; the body is its memory.

    Raises InputError where there is none.
    """
    across, down = node.coordinates()
    there = np.flatnonzero((across == x) & (down == y))
    if not len(there):
        raise InputError(Fault(f"there is no PE at x {x}, y {y}"))
    lane = int(there[0])
    array = node.config.array
    areas: list[Json] = [
        ["main", 0, array.main_bytes],
        ["composition", array.composition_start, array.composition_bytes],
        ["input port", array.input_port_start, array.port_bytes],
        ["output port", array.output_port_start, array.port_bytes],
    ]
    head: dict[str, Json] = {
        "lane": lane,
        "place": position(lane, array),
        "x": x,
        "y": y,
        "registers": {name: int(node.register(name)[lane]) for name in REGISTERS},
        "flags": {name: bool(node.flag(name)[lane]) for name in _FLAGS},
        "ranges": [_range(node, each, lane) for each in program.ranges],
        "areas": areas,
    }
    return Answer(head, node.memory[:, lane].tobytes())


def _range(node: Node, found: MemoryRange, lane: int) -> Json:
    view = RangeView(found, found.form)
    values = [column[0] for column in view.values(node, [lane])]
    return {"name": found.name, "start": found.start, "size": found.size, "form": found.form.value,
            "values": [_told(value) for value in values]}  # fmt: skip


def _told(value: Json) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
