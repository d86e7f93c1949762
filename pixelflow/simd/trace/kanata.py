"""Kanata logs, version 0004: one row for each microinstruction, for Konata.

The thread of a row is its stream (of a node: 0 EIGC, 1 TIGC), lane 0 its execution, lane 1 its waiting, with the
reason; an arrow goes from a SIGNAL to the WAIT that took it. Nothing but the streams is in it. The header of the trace
is what Konata shows when the mouse is on the first row.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import IO

from pixelflow.simd.trace.trace_model import (
    Category,
    FlowArrow,
    Label,
    Spans,
    Trace,
    Track,
    TrackKind,
    line_text,
)

FIRST_LINE = "Kanata\t0004"
EXECUTE_LANE, WAIT_LANE = "0", "1"
EXECUTE_STAGE = "X"
"""Konata takes stages with an X in their name for execution, and ties arrows to them."""

LINE_END = "\\n"
"""Konata begins a new line of what it shows for a row here."""


def write_kanata(trace: Trace, stream: IO[bytes]) -> None:
    """Write the streams of a trace."""
    _Writer(trace, stream).write()


@dataclass(slots=True)
class _Row:
    """A microinstruction: the spans of its waiting and of its execution, and the number that it gets in the file."""

    stages: list[tuple[int, int, Label]] = field(default_factory=list)
    spots: list[int] = field(default_factory=list)
    """Positions of the spans on their track."""
    number: int = -1

    def takes(self, start: int, label: Label) -> bool:
        """Return whether a span is one more of this instruction."""
        _, end, last = self.stages[-1]
        return end == start and (last.category is Category.WAIT or label.category is Category.STALL)

    @property
    def label(self) -> Label:
        """The label of the execution, or of the waiting where nothing executes."""
        labels = [label for _, _, label in self.stages]
        return next((label for label in labels if label.category is Category.EXECUTE), labels[0])


class _Writer:
    """The rows of both streams on their way into a file, in the order of their cycles."""

    def __init__(self, trace: Trace, stream: IO[bytes]) -> None:
        self._trace, self._stream = trace, stream
        self._cycle = trace.begin
        self._numbers, self._retired = count(), count()
        self._givers: dict[Track, dict[int, list[FlowArrow]]] = {}
        """The arrows that end at each span."""
        self._number_of: dict[Track, dict[int, int]] = {}
        """The rows of the spans at which arrows begin."""
        for flow in trace.flows:
            self._givers.setdefault(flow.target, {}).setdefault(flow.target_row, []).append(flow)
            self._number_of.setdefault(flow.source, {})[flow.source_row] = -1
        self._texts: dict[Label, str] = {}

    def write(self) -> None:
        self._put(f"{FIRST_LINE}\nC=\t{self._cycle}\n")
        tracks = [track for track in self._trace.tracks if track.kind is TrackKind.STREAM]
        rows = (self._steps(track) for track in tracks)
        for cycle, write, what in heapq.merge(*rows, key=lambda step: step[0]):
            self._go_to(cycle)
            write(*what)
        self._go_to(self._trace.end)

    def _steps(self, track: Track) -> Iterator[tuple[int, Callable[..., None], tuple[object, ...]]]:
        """Yield what is to be written of a stream: the cycle, who writes it, and of what."""
        thread = self._trace.streams.index(track.of)
        for row in _rows(self._trace.spans[track]):
            stages = [self._stage(label) for _, _, label in row.stages]
            yield row.stages[0][0], self._begin, (row, thread, stages[0])
            for (cycle, _, _), before, after in zip(row.stages[1:], stages, stages[1:], strict=False):
                yield cycle, self._change, (row, before, after)
            yield row.stages[-1][1], self._retire, (row, track, stages[-1])

    def _begin(self, row: _Row, thread: int, stage: str) -> None:
        row.number = number = next(self._numbers)
        label = row.label
        text = self._texts.get(label)
        if text is None:
            text = self._texts[label] = _text(label)
        self._put(f"I\t{number}\t{number}\t{thread}\n{text.replace(_NUMBER, str(number))}S\t{number}\t{stage}\n")
        if number == 0:
            for key, value in self._trace.legend.items():
                self._put(f"L\t0\t1\t{LINE_END}{line_text(f'{key}: {value}')}\n")

    def _change(self, row: _Row, before: str, after: str) -> None:
        self._put(f"E\t{row.number}\t{before}\nS\t{row.number}\t{after}\n")

    def _retire(self, row: _Row, track: Track, stage: str) -> None:
        """End a row, with its arrows: they must come while it is alive."""
        self._put(f"E\t{row.number}\t{stage}\n")
        giving, taking = self._number_of.get(track, {}), self._givers.get(track, {})
        for spot in row.spots:
            if spot in giving:
                giving[spot] = row.number
            for flow in taking.get(spot, ()):
                self._put(f"W\t{row.number}\t{self._number_of[flow.source][flow.source_row]}\t0\n")
        self._put(f"R\t{row.number}\t{next(self._retired)}\t0\n")

    def _stage(self, label: Label) -> str:
        execution = label.category is Category.EXECUTE
        return f"{EXECUTE_LANE}\t{EXECUTE_STAGE}" if execution else f"{WAIT_LANE}\t{line_text(label.name)}"

    def _go_to(self, cycle: int) -> None:
        if cycle > self._cycle:
            self._put(f"C\t{cycle - self._cycle}\n")
            self._cycle = cycle

    def _put(self, text: str) -> None:
        self._stream.write(text.encode())


_NUMBER = "\0"
"""Stands for the number of a row in the text of its label; `line_text` leaves none in."""


def _text(label: Label) -> str:
    """Return the lines that describe a row: what it is, and what else is known of it."""
    args = dict(label.args)
    shown = f"{args.pop('uPC')}: {args.pop('instruction', label.name)}"
    more = ", ".join(f"{name} {value}" for name, value in args.items())
    return f"L\t{_NUMBER}\t0\t{line_text(shown)}\nL\t{_NUMBER}\t1\t{line_text(more)}\n"


def _rows(spans: Spans) -> Iterator[_Row]:
    """Join the spans of a stream that belong to one instruction."""
    row: _Row | None = None
    for spot, (start, end, label) in enumerate(spans):
        if row is None or not row.takes(start, label):
            if row is not None:
                yield row
            row = _Row()
        row.stages.append((start, end, label))
        row.spots.append(spot)
    if row is not None:
        yield row
