"""Frame of a machine of boxes and wires: live and still pictures share it; it knows only a width and a height."""

from __future__ import annotations

from functools import partial

from rich.console import Group
from rich.text import Text

from pixelflow.simd.dashboard.blocks import boxes, caches, header, memory, phases, wires
from pixelflow.simd.dashboard.cells import beside, count, cut, time_text
from pixelflow.simd.dashboard.drawing import FrameDrawing
from pixelflow.simd.dashboard.over_time import utilisation
from pixelflow.simd.dashboard.state import PipelineState

__all__ = ["pipeline_drawing", "pipeline_frame", "pipeline_text"]

_LEAST = 40
"""Below this width a frame is plain lines of text."""
_TWO_BOXES = 76
_TWO_COLUMNS = 120
_BETWEEN = " │ "
_HEADER = 2
_LEAST_TRACKS = 6


def pipeline_drawing(state: PipelineState) -> FrameDrawing:
    """Return what displays and pictures need of a state."""
    return FrameDrawing(state.subject, partial(pipeline_frame, state), partial(pipeline_text, state))


def pipeline_frame(state: PipelineState, width: int, height: int) -> Group:
    """Return a frame of at most ``height`` lines, none of them wider than ``width`` cells.

    What does not fit is left out as a whole, and an ellipsis says so: no number is ever shown in part.
    """
    if width < _LEAST:
        return Group(*(Text(cut(text, width), no_wrap=True) for text in _texts(state)[:height]))
    lines = _wide(state, width, height) if width >= _TWO_COLUMNS else _narrow(state, width, height)
    return Group(*lines[:height])


def pipeline_text(state: PipelineState, width: int) -> str:
    """Return everything as plain lines, for terminals that know nothing but lines."""
    return "\n".join(cut(text, width) for text in _texts(state))


def _narrow(state: PipelineState, width: int, height: int) -> list[Text]:
    """Return one column: phases, boxes, and below them caches, memory and wires as far as there is room."""
    columns = 2 if width >= _TWO_BOXES else 1
    rows = -(-len(state.boxes) // columns) + 1
    left = height - _HEADER
    head = phases(state, width, 2 if left > rows + 8 else 1)[: max(0, left)]
    left -= len(head)
    below: list[Text] = []
    missing = []
    spare = left - min(rows, left)
    for name, block, most in (("memory", memory, 2), ("hits", caches, 1), ("wires", wires, 2)):
        lines = block(state, width, min(most, spare))
        if not lines:
            missing.append(name)
        spare -= len(lines)
        below += lines
    middle = boxes(state, width, left - len(below), columns)
    if not middle:
        missing.insert(0, "boxes")
    if len(middle) + len(below) + _LEAST_TRACKS <= left:
        middle += _over_time(state, width, left - len(middle) - len(below))
    return [*header(state, width, missing), *head, *middle, *below]


def _wide(state: PipelineState, width: int, height: int) -> list[Text]:
    """Return boxes and wires on the left; memory, caches, and what was busy over time on the right."""
    each = (width - len(_BETWEEN)) // 2
    head = phases(state, width, 1)
    left = max(0, height - _HEADER - len(head))
    missing = []
    right: list[Text] = []
    for name, block in (("memory", memory), ("hits", caches)):
        lines = block(state, each, min(4, left - len(right)))
        if not lines:
            missing.append(name)
        right += lines
    if left - len(right) >= _LEAST_TRACKS:
        right += _over_time(state, each, left - len(right))
    rows = boxes(state, each, left, 1)
    if not rows:
        missing.insert(0, "boxes")
    lines = wires(state, each, left - len(rows))
    if not lines:
        missing.append("wires")
    rows += lines
    return [*header(state, width, missing), *head, *beside(rows, right, each, left, _BETWEEN)]


def _over_time(state: PipelineState, width: int, lines: int) -> list[Text]:
    """Return bars over time."""
    tracks = state.utilisation.tracks if state.utilisation is not None else ()
    return utilisation(state.utilisation, width, lines, dict.fromkeys((track.name for track in tracks), "cyan"))


def _texts(state: PipelineState) -> list[str]:
    """Return all that a frame knows, a line for each thing."""
    done = [
        f"{state.machine}: {state.subject}, config {state.config} ({state.config_hash})",
        f"cycle {count(state.cycle)}, {state.status}, {time_text(state.seconds)} at {count(state.clock_mhz)} MHz",
        *state.progress,
        *state.notes,
    ]
    done += [f"{each.name} {count(each.cycles)} cycles{', now' if each.running else ''}" for each in state.phases]
    for box in state.boxes:
        busy = "" if box.busy is None else f" busy {100 * box.busy:.0f} %"
        queues = " ".join(f"{each.name} {count(each.fill)}/{count(each.capacity)}" for each in box.queues)
        done.append(f"{box.name}:{busy} {queues} {box.doing}".rstrip())
    for cache in state.caches:
        rate = "–" if cache.share is None else f"{100 * cache.share:.1f} %"
        done.append(f"hits of {cache.name}: {rate} of {count(cache.hits + cache.fills)}")
    done += [f"channel {number}: {100 * share:.0f} %" for number, share in enumerate(state.channels)]
    done += [
        f"memory of {each.client}: {count(each.read)} read, {count(each.written)} written" for each in state.memory
    ]
    done += [f"wire {each.name}: {count(each.carried)} {each.unit}, {100 * each.share:.1f} %" for each in state.wires]
    return done
