"""Kanata logs, version 0004: one row for each microinstruction, for Konata.

The thread of a row is its stream (of a node: 0 EIGC, 1 TIGC), lane 0 its execution, lane 1 its waiting, with the
reason; an arrow goes from a SIGNAL to the WAIT that took it. Nothing but the streams is in it. The header of the trace
is what Konata shows when the mouse is on the first row.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import IO

from pixelflow.simd.files import TRACE, bounded_lines
from pixelflow.simd.trace.trace_model import (
    MOST_ALIVE,
    Category,
    Checked,
    Faults,
    FlowArrow,
    Label,
    Spans,
    Trace,
    Track,
    TrackKind,
    is_number,
    line_text,
    streams_of,
    unescape,
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
    """Where the spans stand on their track."""
    number: int = -1

    def takes(self, start: int, label: Label) -> bool:
        """Whether a span is one more of this instruction."""
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


# A strict check of Kanata logs: what Konata passes over in silence is refused.


_FIELDS = {"C": 1, "I": 3, "L": 3, "S": 3, "E": 3, "R": 3, "W": 3}
"""How many fields follow each command."""
_MOST_LANES = 64


def check_kanata(stream: IO[bytes], name: str) -> Checked:
    """Return what a log holds; raises InputError with the first faults.

    Asked for: the header, cycles that never go back, I before anything else of a row, stages that end and do not
    overlap in a lane, exactly one R for each row and nothing after it, rows and retirements numbered in order, arrows
    from rows that have begun to rows that are alive, no tab and no control character in a label.
    """
    faults = Faults(name)
    log = _Log(faults)
    number = 0
    for number, line in enumerate(bounded_lines(stream, TRACE, name), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            faults.line(number, "is not UTF-8")
            continue
        if not text.endswith("\n"):
            faults.line(number, "the last line has no end: the file is cut off", text)
        log.take(number, text.removesuffix("\n"))
    if number == 0:
        faults.end("the file is empty")
    checked = log.finish()
    faults.check()
    return checked


@dataclass
class _Row_of_kanata:
    """What is known of a row that is alive."""

    thread: int
    open: dict[str, tuple[str, int]] = field(default_factory=dict)
    """For each lane, the stage that runs, and since when."""


class _Log:
    """Takes lines, and holds what they have told so far."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._number = 0
        self._text = ""
        self._cycle = -1
        """Negative until the first is known."""
        self._begin = 0
        self._rows: dict[int, _Row_of_kanata] = {}
        self._begun = self._retired = self._arrows = 0
        self._header: dict[str, str] = {}
        self._cycles: dict[int, Counter[str]] = {}
        """Of each thread, by heading."""
        self._first: tuple[int, int, str] | None = None
        """Thread of row 0, number and text of its line: the header, which names the threads, comes after it."""

    def take(self, number: int, text: str) -> None:
        self._number, self._text = number, text
        if number == 1:
            if text != FIRST_LINE:
                self._fault(f"expected the header {FIRST_LINE!r}")
        elif number == 2:
            self._start(text)
        elif self._cycle >= 0:
            self._command(text)

    def finish(self) -> Checked:
        for number in sorted(self._rows):
            self._faults.end(f"row {number} has no R")
        streams = streams_of(self._header)
        if self._first is not None and self._first[0] >= len(streams):
            thread, number, text = self._first
            self._faults.line(number, self._no_thread(thread), text)
        named = [(stream, self._cycles.get(thread)) for thread, stream in enumerate(streams)]
        totals = {stream: dict(cycles) for stream, cycles in named if cycles}
        counts = {"rows": self._begun, "arrows": self._arrows}
        return Checked("kanata", self._header, self._begin, max(self._cycle, 0), totals, counts)

    def _fault(self, message: str) -> None:
        self._faults.line(self._number, message, self._text)

    def _start(self, text: str) -> None:
        command, _, cycle = text.partition("\t")
        if command != "C=" or not is_number(cycle):
            self._fault("expected the first cycle: C=, a tab, a number")
        self._begin = self._cycle = int(cycle) if is_number(cycle) else 0

    def _command(self, text: str) -> None:
        command, *fields = text.split("\t")
        if not all(map(str.isprintable, fields)):
            self._fault("a control character")
        elif command not in _FIELDS:
            self._fault(f"unknown command {command!r}")
        elif len(fields) != _FIELDS[command]:
            self._fault(
                f"{command} takes {_FIELDS[command]} fields, found {len(fields)}: a tab in a text, or one missing"
            )
        elif not is_number(fields[0]):
            self._fault(f"expected a number, found {fields[0]!r}")
        elif command == "C":
            self._pass_time(int(fields[0]))
        elif command == "I":
            self._begin_row(*fields)
        elif (row := self._rows.get(int(fields[0]))) is None:
            gone = int(fields[0]) < self._begun
            self._fault(f"row {fields[0]} {'has its R already' if gone else 'has no I yet'}")
        else:
            self._of_row(command, row, *fields)

    def _pass_time(self, cycles: int) -> None:
        if not cycles:
            self._fault("C passes no time")
        self._cycle += cycles

    def _begin_row(self, number: str, _: str, thread: str) -> None:
        if int(number) != self._begun:
            self._fault(f"rows are numbered in order: expected {self._begun}")
        if len(self._rows) >= MOST_ALIVE:
            raise self._faults.beyond(f"more than {MOST_ALIVE:,} rows are alive at once")
        if number == "0" and is_number(thread):
            self._first = (int(thread), self._number, self._text)
        elif not is_number(thread) or int(thread) >= len(streams_of(self._header)):
            self._fault(self._no_thread(thread))
            thread = "0"
        self._rows[int(number)] = _Row_of_kanata(int(thread))
        self._begun = int(number) + 1

    def _no_thread(self, thread: int | str) -> str:
        known = " nor ".join(f"{number} ({name.upper()})" for number, name in enumerate(streams_of(self._header)))
        return f"thread {thread} is neither {known}"

    def _of_row(self, command: str, row: _Row_of_kanata, number: str, second: str, third: str) -> None:
        match command:
            case "L":
                self._label(int(number), second, third)
            case "S":
                if second in row.open:
                    self._fault(f"stage {row.open[second][0]!r} of lane {second} has no E yet")
                if len(row.open) >= _MOST_LANES:
                    raise self._faults.beyond(f"row {number} is in more than {_MOST_LANES} stages at once")
                row.open[second] = (third, self._cycle)
            case "E":
                self._end_stage(row, second, third)
            case "R":
                self._retire(int(number), row, second, third)
            case "W":
                self._arrow(second, third)

    def _label(self, number: int, kind: str, text: str) -> None:
        if kind not in ("0", "1"):
            self._fault(f"label type {kind!r} is neither 0 nor 1")
        if number == 0 and kind == "1" and text.startswith(LINE_END):
            key, _, value = unescape(text.removeprefix(LINE_END)).partition(": ")
            self._header[key] = value
            if len(self._header) > MOST_ALIVE:
                raise self._faults.beyond(f"more than {MOST_ALIVE:,} lines of header")

    def _end_stage(self, row: _Row_of_kanata, lane: str, name: str) -> None:
        stage, since = row.open.pop(lane, (None, 0))
        if stage != name:
            self._fault(f"lane {lane} is in no stage {name!r}")
        elif self._cycle > since:
            heading = "busy" if lane == EXECUTE_LANE else unescape(name)
            told = self._cycles.setdefault(row.thread, Counter())
            if len(told) >= MOST_ALIVE:
                raise self._faults.beyond(f"more than {MOST_ALIVE:,} kinds of stages")
            told[heading] += self._cycle - since

    def _retire(self, number: int, row: _Row_of_kanata, order: str, kind: str) -> None:
        for lane, (stage, _) in row.open.items():
            self._fault(f"R of row {number} before the E of stage {stage!r} in lane {lane}")
        if order != str(self._retired):
            self._fault(f"retirements are numbered in order: expected {self._retired}")
        if kind != "0":
            self._fault(f"type {kind!r}: nothing is flushed on this machine")
        self._retired += 1
        del self._rows[number]

    def _arrow(self, giver: str, kind: str) -> None:
        if not is_number(giver) or int(giver) >= self._begun:
            self._fault(f"an arrow from row {giver}, which has no I yet")
        if kind != "0":
            self._fault(f"type {kind!r}: arrows are of type 0, wake-up")
        self._arrows += 1
