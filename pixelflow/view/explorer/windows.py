"""Windows of a timeline as messages: what a page draws, and what it tells of a place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.report import Json
from pixelflow.view.explorer.levels import CounterLevels, Levels, SpanLevels
from pixelflow.view.server.messages import Answer

__all__ = ["place_answer", "window_answer"]

_Column = NDArray[np.float32] | NDArray[np.int32] | NDArray[np.uint8]

_NAMED = 600
"""Spans of a row up to which each comes with its name."""


def window_answer(levels: Levels, begin: int, end: int, width: int) -> Answer:
    """Return the rows of cycles ``begin`` to ``end`` in ``width`` pixels.

    The body holds columns one after the other, which the head describes: of spans (int32 starts and ends from
    ``begin`` on, cut to the window, and numbers of names), of shares (uint8, busy and waiting, 255 is all), of
    counters (float32, least and greatest of each pixel).
    """
    edges = begin + (end - begin) * np.arange(width + 1) / width
    rows: list[Json] = []
    names: dict[int, int] = {}
    pieces: list[bytes] = []
    for row in levels.rows:
        about, columns = _row(row, begin, end, edges, names)
        rows.append(about)
        pieces += [np.ascontiguousarray(column).tobytes() for column in columns]
    labels = [levels.labels[number] for number in names]
    head: dict[str, Json] = {
        "begin": begin,
        "end": end,
        "width": width,
        "known": levels.known,
        "rows": rows,
        "names": [label.name for label in labels],
        "kinds": [label.category.value for label in labels],
    }
    return Answer(head, b"".join(pieces))


def _row(
    row: SpanLevels | CounterLevels, begin: int, end: int, edges: NDArray[np.float64], names: dict[int, int]
) -> tuple[dict[str, Json], list[_Column]]:
    if isinstance(row, CounterLevels):
        least, greatest = row.extremes(edges)
        about: dict[str, Json] = {"track": row.track, "form": "counter", "unit": row.unit, "most": row.most}
        return about, [least.astype("<f4"), greatest.astype("<f4")]
    part = row.within(begin, end)
    count = max(0, part.stop - part.start)
    about = {"track": row.track, "depth": row.depth, "form": "spans", "count": count}
    if count > max(_NAMED, len(edges) // 2):
        shares = np.clip(row.shares(edges), 0, 1)
        shown = np.where(shares > 0, np.maximum(1, np.rint(shares * 255)), 0)  # a little is more than nothing
        return {**about, "form": "shares"}, [shown.astype(np.uint8)]
    starts = np.clip(row.starts[part] - begin, 0, end - begin)
    ends = np.clip(row.ends[part] - begin, 0, end - begin)
    named = [names.setdefault(label, len(names)) for label in row.labels[part].tolist()]
    return about, [starts.astype("<i4"), ends.astype("<i4"), np.array(named, "<i4")]


def place_answer(levels: Levels, number: int, cycle: int) -> Answer:
    """Return what a row shows in a cycle."""
    row = levels.row(number)
    if isinstance(row, CounterLevels):
        return Answer({"track": row.track, "cycle": cycle, "name": f"{row.at(cycle):,} {row.unit}", "args": []})
    at = None if row is None else row.at(cycle)
    if row is None or at is None:
        return Answer({"track": row.track if row else "", "cycle": cycle, "name": "", "args": []})
    start, end, label = levels.span(row, at)
    args: list[Json] = [[name, value] for name, value in label.args if name != "src"]
    about: dict[str, Json] = {"track": row.track, "cycle": cycle, "start": start, "end": end}
    return Answer({**about, "name": label.name, "kind": label.category.value, "args": args})
