"""Levels of detail: a trace as columns from which any window is drawn in this many pixels, however long the run is.

Spans of a row do not overlap, so the cycles that are covered before a cycle are a sum that is looked up: each pixel
says exactly how much of it was busy, and how much of it was waited. Where a window holds few spans they are given
themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.report import Json
from pixelflow.simd.trace.trace_model import WAITS, Label, Span, Spans, Trace, Track, TrackKind
from pixelflow.view.server import Answer

_DEEPEST = 8
"""Rows of nested routines, at most."""


@dataclass(frozen=True, eq=False)
class SpanLevels:
    """The spans of one row: int64 columns in the order of their starts."""

    track: str
    depth: int
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    labels: NDArray[np.int64]
    waits: NDArray[np.bool_]
    """True if a span is of waiting."""

    @cached_property
    def _covered(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Cycles of spans before each one: busy and waiting."""
        lengths = self.ends - self.starts
        busy, waiting = np.where(self.waits, 0, lengths), np.where(self.waits, lengths, 0)
        return _sums(busy), _sums(waiting)

    def covered(self, cycles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many cycles before each of ``cycles`` are busy, and are of waiting: float64[2, cycle]."""
        if not len(self.starts):
            return np.zeros((2, len(cycles)))
        last = _begun(self.starts, cycles) - 1
        known = np.maximum(last, 0)
        inside = np.clip(cycles - self.starts[known], 0, self.ends[known] - self.starts[known])
        waits = self.waits[known]
        sums = [before[known] + np.where(waits == of, inside, 0) for of, before in enumerate(self._covered)]
        return np.where(last >= 0, np.stack(sums), 0.0)

    def shares(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return which share of the time between neighbours of ``edges`` is busy, and waiting: float64[2, edge - 1]."""
        return np.diff(self.covered(edges), axis=1) / np.diff(edges)

    def within(self, begin: int, end: int) -> slice:
        """Return the spans in a window, including those that its ends cut."""
        first = int(np.searchsorted(self.starts, begin, side="right")) - 1
        first = max(0, first)
        while first < len(self.ends) and self.ends[first] <= begin and self.starts[first] < begin:
            first += 1
        return slice(first, int(np.searchsorted(self.starts, end, side="left")))

    def cycles_of_labels(self, begin: int, end: int, labels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the busy and the waiting cycles of each label in a window."""
        part = self.within(begin, end)
        lengths = np.minimum(self.ends[part], end) - np.maximum(self.starts[part], begin)
        found = []
        for of in (False, True):
            weights = np.where(self.waits[part] == of, np.maximum(lengths, 0), 0)
            found.append(np.bincount(self.labels[part], weights, labels).astype(np.float64))
        return found[0], found[1]

    def at(self, cycle: int) -> int | None:
        """Return the number of the span that covers a cycle, None where none does."""
        row = int(np.searchsorted(self.starts, cycle, side="right")) - 1
        while row >= 0 and self.starts[row] == self.ends[row]:  # instructions of no cycle
            row -= 1
        return row if row >= 0 and self.ends[row] > cycle else None


@dataclass(frozen=True, eq=False)
class CounterLevels:
    """A number over time: its values from each of ``cycles`` on."""

    track: str
    unit: str
    cycles: NDArray[np.int64]
    values: NDArray[np.int64]
    parts: tuple[CounterLevels, ...] = ()
    """The counters whose sum it is."""

    @cached_property
    def most(self) -> int:
        """The greatest value, at least 1."""
        return int(self.values.max(initial=1))

    @cached_property
    def _padded(self) -> NDArray[np.int64]:
        """The values after the 0 that comes before the first one; the last one twice."""
        return np.concatenate(([0], self.values, self.values[-1:] if len(self.values) else [0]))

    def extremes(self, edges: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the least and the greatest value between neighbours of ``edges``; 0 before the first value."""
        values = self._padded
        first = _begun(self.cycles, edges[:-1])
        last = np.searchsorted(self.cycles, np.ceil(edges[1:]).astype(np.int64), side="left")
        bounds = np.stack([first, np.maximum(last, first) + 1], axis=1).reshape(-1)
        return np.minimum.reduceat(values, bounds)[::2], np.maximum.reduceat(values, bounds)[::2]

    def at(self, cycle: int) -> int:
        """Return the value in a cycle."""
        row = int(np.searchsorted(self.cycles, cycle, side="right")) - 1
        return int(self.values[row]) if row >= 0 else 0


class Levels:
    """A trace as it was at one time: copies, so that the trace may grow meanwhile."""

    def __init__(self, trace: Trace, known: int) -> None:
        self.known = known
        """The cycle up to which the run has been traced."""
        self.labels = trace.labels
        """By number; labels are only added."""
        count = len(trace.labels)
        waits = np.fromiter((label.category in WAITS for label in trace.labels[:count]), np.bool_, count)
        depths = np.fromiter((_depth(label) for label in trace.labels[:count]), np.int64, count)
        self.rows: list[SpanLevels | CounterLevels] = []
        """From top to bottom."""
        enabled: list[CounterLevels] = []
        for track in trace.tracks:
            if track.kind is TrackKind.RUNS:
                continue
            if track in trace.spans:
                self.rows += _span_rows(track, trace.spans[track], waits, depths)
                continue
            counter = trace.counters[track]
            cycles, values = (np.array(column, np.int64) for column in (counter.cycles, counter.values))
            row = CounterLevels(track.name, counter.unit, cycles, values)
            if track.kind is TrackKind.ENABLED:
                enabled.append(row)
            else:
                self.rows.append(row)
        if enabled:
            self.rows.append(_added(enabled, "enabled PEs"))

    def row(self, number: int) -> SpanLevels | CounterLevels | None:
        """Return a row by its number, None where there is none."""
        return self.rows[number] if number < len(self.rows) else None

    def span(self, row: SpanLevels, number: int) -> Span:
        """Return a span with its label."""
        return Span(int(row.starts[number]), int(row.ends[number]), self.labels[int(row.labels[number])])


def _begun(starts: NDArray[np.int64], cycles: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return how many of ``starts`` are not after each of ``cycles``; compared as integers, so that none is copied."""
    return np.searchsorted(starts, np.floor(cycles).astype(np.int64), side="right")


def _depth(label: Label) -> int:
    depth = label.arg("depth")
    return min(depth, _DEEPEST) if isinstance(depth, int) else 0


def _span_rows(
    track: Track, spans: Spans, waits: NDArray[np.bool_], depths: NDArray[np.int64]
) -> list[SpanLevels | CounterLevels]:
    """Return the rows of a track: one for each depth of nested routines."""
    starts, ends, labels = (np.array(column, np.int64) for column in (spans.starts, spans.ends, spans.labels))
    if track.kind is not TrackKind.ROUTINES:
        return [SpanLevels(track.name, 0, starts, ends, labels, waits[labels])]
    depth_of = depths[labels]
    found: list[SpanLevels | CounterLevels] = []
    for number, depth in enumerate(np.unique(depth_of).tolist()):
        chosen = depth_of == depth
        some = labels[chosen]
        found.append(SpanLevels(track.name, number, starts[chosen], ends[chosen], some, waits[some]))
    return found


def _added(rows: Sequence[CounterLevels], name: str) -> CounterLevels:
    """Return the sum of counters, those of the modules, as one row."""
    cycles = np.unique(np.concatenate([row.cycles for row in rows]))
    edges = np.append(cycles, cycles[-1:] + 1).astype(np.float64)
    values = np.sum([row.extremes(edges)[1] for row in rows], axis=0)
    return CounterLevels(name, rows[0].unit, cycles, values, tuple(rows))


def _sums(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths[:-1], dtype=np.int64))) if len(lengths) else lengths


# Windows of a timeline as messages: what a page draws, and what it shows of a place.


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
        parts: list[Json] = [[part.track, f"{part.at(cycle):,}"] for part in row.parts]
        return Answer({"track": row.track, "cycle": cycle, "name": f"{row.at(cycle):,} {row.unit}", "args": parts})
    at = None if row is None else row.at(cycle)
    if row is None or at is None:
        return Answer({"track": row.track if row else "", "cycle": cycle, "name": "", "args": []})
    start, end, label = levels.span(row, at)
    args: list[Json] = [[name, value] for name, value in label.args if name != "src"]
    about: dict[str, Json] = {"track": row.track, "cycle": cycle, "start": start, "end": end}
    return Answer({**about, "name": label.name, "kind": label.category.value, "args": args})
