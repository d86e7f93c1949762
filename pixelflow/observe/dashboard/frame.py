"""One frame of the dashboard. Live and still pictures share it; it knows no terminal, only a width and a height."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from rich.console import Group
from rich.text import Text

from pixelflow.observe.dashboard.overview import overview
from pixelflow.observe.dashboard.panels import STYLES, array, header, part_text, semaphores, stages, stream, texture
from pixelflow.observe.dashboard.pe_plane import sizes
from pixelflow.observe.dashboard.state import DashboardState
from pixelflow.simd.dashboard.cells import MORE, CellField, beside, clean, count, cut, flow, time_text
from pixelflow.simd.dashboard.drawing import FrameDrawing
from pixelflow.simd.dashboard.over_time import utilisation

__all__ = ["LEAST_WIDTH", "drawing_of", "frame", "text_frame"]

LEAST_WIDTH = 40
"""Below this width a frame is plain lines of text."""

_TWO_COLUMNS = 80
_HEADER = 2
_STREAM_LINES = 6
_LEAST_BOTTOM = 10
_LEAST_MAP = 35
_SMALL_MAP = 4
_LEAST_STAGES = 4
_LEAST_RIGHT = 40
_LEAST_BESIDE_ALL = 28
"""Columns beside a map that shows each PE by itself, which is worth a narrow column."""
_BETWEEN = " │ "


def drawing_of(state: DashboardState) -> FrameDrawing:
    """Return what displays and pictures need of a state."""
    return FrameDrawing(state.program, partial(frame, state), partial(text_frame, state))


def frame(state: DashboardState, width: int, height: int) -> Group:
    """Return a frame of at most ``height`` lines, none of them wider than ``width`` cells.

    What does not fit is left out as a whole, and an ellipsis says so: no number is ever shown in part.
    """
    if width < LEAST_WIDTH:
        return Group(*_text_lines(state, width, height))
    lines = _wide(state, width, height) if width >= _TWO_COLUMNS else _narrow(state, width, height)
    return Group(*lines[:height])


def text_frame(state: DashboardState, width: int) -> str:
    """Return everything as plain lines, for terminals that know nothing but lines."""
    return "\n".join(text.plain.rstrip() for text in _text_lines(state, width, 10_000))


# --- two columns ---------------------------------------------------------------------------------------------------


def _wide(state: DashboardState, width: int, height: int) -> list[Text]:
    top = overview(state, width, 12)
    left = max(0, height - _HEADER - len(top))
    bottom = _bottom_lines(state, width, left)
    middle = _streams_beside(state, width, left - bottom)
    below, missing = _bottom(state, width, left - len(middle))
    return [*header(state, width, missing), *top, *middle, *below]


def _bottom_lines(state: DashboardState, width: int, lines: int) -> int:
    """Return how many lines the lower half gets: what its map needs, as long as the streams keep theirs."""
    room = max(0, lines - _STREAM_LINES)
    fits = [min(high + 2, room) for _, high in _map_sizes(state, width) if high + 1 <= room]
    return min(room, max(fits[0] if fits else _LEAST_BOTTOM, lines * 3 // 5))


def _map_sizes(state: DashboardState, width: int) -> list[tuple[int, int]]:
    """Return the sizes of the map, the largest first, that leave room for the column beside it."""
    found = sizes(state.array) if state.array else []
    beside = [_LEAST_BESIDE_ALL] + [_LEAST_RIGHT] * len(found)
    return [size for size, least in zip(found, beside, strict=False) if size[0] + len(_BETWEEN) + least <= width]


def _streams_beside(state: DashboardState, width: int, lines: int) -> list[Text]:
    stages_now = {each.stream: each.name for each in state.stages if each.running}
    if len(state.streams) == 1:
        return [text for each in state.streams for text in stream(each, width, lines, stages_now.get(each.name, ""))]
    half = (width - len(_BETWEEN)) // 2
    left, right = (stream(each, half, lines, stages_now.get(each.name, "")) for each in state.streams[:2])
    return beside(left, right, half, max(len(left), len(right)), _BETWEEN)


def _bottom(state: DashboardState, width: int, lines: int) -> tuple[list[Text], list[str]]:
    """Return the map on the left and everything else on the right, and the names of what has no room."""
    fits = [wide for wide, high in _map_sizes(state, width) if high + 1 <= lines]
    if not fits:
        done, missing = _stack(_blocks(state), width, lines)
        return done, [*(["map"] if state.array else []), *missing]
    map_width = max(fits[0], min(_LEAST_MAP, width - len(_BETWEEN) - _LEAST_RIGHT))
    plane = array(state.array, map_width, lines)
    blocks = _blocks(state)
    if state.stages and lines - len(plane) >= _LEAST_STAGES:
        plane += stages(state, map_width, lines - len(plane))
        blocks = [block for block in blocks if block.name != "stages"]
    done, missing = _stack(blocks, width - map_width - len(_BETWEEN), lines)
    return beside(plane, done, map_width, lines, _BETWEEN), missing


# --- one column ----------------------------------------------------------------------------------------------------


def _narrow(state: DashboardState, width: int, height: int) -> list[Text]:
    done = overview(state, width, 9)
    each = 3 if height < 28 else _STREAM_LINES
    for one in state.streams:
        done += stream(one, width, max(0, min(each, height - _HEADER - len(done))))
    blocks: list[_Block] = _blocks(state)
    if state.array is not None:
        least = 1 + max([high for _, high in sizes(state.array) if high <= _SMALL_MAP], default=_SMALL_MAP)
        blocks = [_Block("map", least, lambda w, n: array(state.array, w, n)), *blocks]
    below, missing = _stack(blocks, width, height - _HEADER - len(done))
    return [*header(state, width, missing), *done, *below]


class _Block(NamedTuple):
    """A smaller block: its name, the lines that it needs at least, and what draws it into a width and lines."""

    name: str
    least: int
    draw: Callable[[int, int], list[Text]]
    grows: bool = False
    """Whether it can use whatever the others leave."""


def _blocks(state: DashboardState) -> list[_Block]:
    """Return the smaller blocks in order, without those that have nothing to show."""
    found = []
    if state.utilisation is not None:
        least = len(state.utilisation.tracks) + 1
        found.append(_Block("utilisation", least, lambda w, n: utilisation(state.utilisation, w, n, STYLES), True))
    found.append(_Block("semaphores", 2 if state.semaphores else 1, lambda w, n: semaphores(state, w, n)))
    if state.texture_missing is None:
        found.append(_Block("texture", 2, lambda w, n: texture(state, w, n)))
    if state.stages:
        found.append(_Block("stages", _LEAST_STAGES, lambda w, n: stages(state, w, n)))
    return found


def _stack(blocks: list[_Block], width: int, lines: int) -> tuple[list[Text], list[str]]:
    """Return blocks one below the other, and the names of those for which there is no room.

    Each gets what it needs; what is left goes to those that can use it, the first ones first, and those that grow last.
    """
    kept, missing, left = [], [], lines
    for block in blocks:
        if block.least <= left:
            kept.append(block)
            left -= block.least
        else:
            missing.append(block.name)
    drawn: dict[str, list[Text]] = {}
    for block in sorted(kept, key=lambda each: each.grows):
        drawn[block.name] = made = block.draw(width, block.least + left)
        left -= max(0, len(made) - block.least)
    return [text for block in kept for text in drawn[block.name]], missing


# --- lines of text -------------------------------------------------------------------------------------------------


def _text_lines(state: DashboardState, width: int, lines: int) -> list[Text]:
    done = [
        text
        for name, fields in _text_fields(state)
        for text in flow(
            [CellField(f"{name}:"), *(CellField(cut(field, 10_000)) for field in fields)], width, 20, indent="  "
        )
    ]
    if len(done) <= lines:
        return done
    rest = len(done) - lines + 1
    return [*done[: max(0, lines - 1)], *flow([CellField(f"{MORE} {count(rest)} more lines")], width, 1)]


def _text_fields(state: DashboardState) -> list[tuple[str, list[str]]]:
    """Return everything that is worth a line, as a name and its values."""
    found = [
        ("program", [state.program or "(no name)", state.program_hash]),
        ("config", [state.config, state.config_hash]),
        ("cycle", [count(state.cycle), f"{time_text(state.seconds)} at {count(state.clock_mhz)} MHz", state.status]),
    ]
    if state.part is not None:
        found.append(("part", [part_text(*state.part)]))
    for each in state.streams:
        parts = [f"busy {count(each.busy)}", f"wait {count(each.wait)}"]
        parts += [f"{reason}: {count(cycles)}" for reason, cycles in each.waits]
        parts += [f"idle {count(each.idle)}"] + [f"unknown {count(each.open)}"] * bool(each.open)
        found += [(each.name, parts), (f"{each.name} at", [each.place, clean(each.instruction)])]
    for module in state.modules:
        parts = [f"{count(module.enabled)} PEs enabled"]
        if state.texture_missing is None:
            parts += [f"TASICs busy {count(module.busy)}", f"{count(module.accesses)} accesses"]
            slots = f"slots for {count(module.from_emcs)} bytes from EMCs"
            parts += [slots, f"slots for {count(module.to_emcs)} bytes to EMCs"]
        found.append((f"module {module.module}", parts))
    found += [("GNI", [f"{path} {count(cycles)}" for path, cycles in state.gni])] if state.gni else []
    found += [(f"sem {each.number}", [f"count {count(each.count)}"]) for each in state.semaphores]
    found += [(f"stage {each.name}", [f"{count(each.cycles)} cycles"]) for each in state.stages]
    return found
