"""The playground's side in Python: a text of microcode as a run on all PEs that moves forward and back.

The page asks by `answer`, one JSON object for another; nothing here knows of a browser.
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

from microcode import assemble
from pixelflow.isa import Program
from pixelflow.node import Node, Replay
from pixelflow.node.pe_map import first_map
from pixelflow.node.run.stream import Upcoming
from pixelflow.simd.errors import SimulatorError
from pixelflow.view.explorer import element_answer, map_answer, maps_of

MOST_CYCLES = 2_000_000
"""Runs of a page end here: about 50 times those of ``mandelbrot``."""

_replay: Replay | None = None


def answer(request: str) -> str:
    """Return what a request asks for; its faults are the text ``error``.

    ``{"text": ...}`` begins a run and executes it to its end. ``{"go": n}`` moves it to a cycle, ``{"step": n}`` and
    ``{"back": n}`` by instructions. ``map`` names what all PEs are shown of, ``at`` the PE [x, y] that is shown whole.
    """
    asked = json.loads(request)
    try:
        return json.dumps(_answer(asked))
    except SimulatorError as error:
        return json.dumps({"error": str(error)})


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    global _replay
    if "text" in asked:
        _replay = None
        _replay = Replay(Node(), assemble(asked["text"] + "\n"), max_cycles=MOST_CYCLES)
        _replay.goto(MOST_CYCLES)
    if _replay is None:
        return {}
    if "go" in asked:
        _replay.goto(asked["go"])
    elif "step" in asked:
        _replay.step(count=asked["step"])
    elif "back" in asked:
        _replay.back(count=asked["back"])
    node, program = _replay.node, _replay.program
    what = asked.get("map") or first_map(program)
    shown = map_answer(node, program, what)
    x, y = asked.get("at") or (0, 0)
    stopped = _replay.stopped
    ahead = {name: _replay.ahead(name) for name in _replay.streams}
    return {
        "cycle": _replay.position,
        "end": _replay.end,
        "error": str(stopped) if stopped else None,
        "maps": maps_of(program),
        "map": {**shown.head, "shades": b64encode(shown.body).decode()},
        "pe": element_answer(node, program, x, y).head,
        "lines": {name: _line(program, each) for name, each in ahead.items() if each is not None},
    }


def _line(program: Program, ahead: Upcoming) -> int | None:
    """Return the line that a stream executes next, or that of the innermost call in the text; None in a library."""
    places = [ahead.index, *(frame.return_to - 1 for frame in reversed(ahead.frames[1:]))]
    lines = (program.lines[program.line_of[at]] for at in places if program.line_of[at] >= 0)
    return next((each.line for each in lines if each.file == "<text>"), None)
