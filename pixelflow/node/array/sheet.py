"""What the PE array shows of itself in a notebook: counts of flags, and a small map of the enabled PEs."""

from __future__ import annotations

import numpy as np

from pixelflow.lanes.engine import Engine
from pixelflow.node.array.lee import LinearExpressionEvaluator
from pixelflow.shown import Sheet

__all__ = ["array_sheet"]

_COUNTED = {"E": "enabled", "MR": "marked to read", "MW": "marked to write"}
_COLUMNS, _LINES = 64, 16
"""128 x 64 PEs with a Braille dot each."""


def array_sheet(engine: Engine, lee: LinearExpressionEvaluator) -> Sheet:
    """Return the sheet of an array; without a map where PEs share a place, or lie too far apart."""
    counts = ((text, f"{int(engine.get_bit(name).sum()):,} PEs") for name, text in _COUNTED.items())
    facts = (("engine", engine.name), *counts)
    return Sheet(f"array of {engine.shape.lanes:,} PEs", facts, drawing=_map(engine, lee))


def _map(engine: Engine, lee: LinearExpressionEvaluator) -> tuple[str, ...]:
    from pixelflow.observe.dashboard.pe_plane import draw
    from pixelflow.observe.dashboard.state import MapState

    x, y = lee.coordinates()
    width, height = int(x.max()) + 1, int(y.max()) + 1
    places = y * width + x
    if width * height > 4 * len(x) or len(np.unique(places)) < len(x):
        return ()
    plane = np.zeros(width * height, np.uint8)
    plane[places] = engine.get_bit("E")
    drawing = draw(MapState("enabled PEs", width, height, plane.tobytes(), True), _COLUMNS, _LINES)
    return () if drawing is None else tuple(line.plain for line in drawing.lines)
