"""A strict check of Kanata logs: what Konata passes over in silence is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import IO

from pixelflow.simd.files import TRACE, bounded_lines
from pixelflow.simd.trace.faults import MOST_ALIVE, Checked, Faults
from pixelflow.simd.trace.kanata import EXECUTE_LANE, FIRST_LINE, LINE_END
from pixelflow.simd.trace.model import streams_of
from pixelflow.simd.trace.text import is_number, unescape

__all__ = ["check_kanata"]

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
class _Row:
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
        self._rows: dict[int, _Row] = {}
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
        self._rows[int(number)] = _Row(int(thread))
        self._begun = int(number) + 1

    def _no_thread(self, thread: int | str) -> str:
        known = " nor ".join(f"{number} ({name.upper()})" for number, name in enumerate(streams_of(self._header)))
        return f"thread {thread} is neither {known}"

    def _of_row(self, command: str, row: _Row, number: str, second: str, third: str) -> None:
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

    def _end_stage(self, row: _Row, lane: str, name: str) -> None:
        stage, since = row.open.pop(lane, (None, 0))
        if stage != name:
            self._fault(f"lane {lane} is in no stage {name!r}")
        elif self._cycle > since:
            heading = "busy" if lane == EXECUTE_LANE else unescape(name)
            told = self._cycles.setdefault(row.thread, Counter())
            if len(told) >= MOST_ALIVE:
                raise self._faults.beyond(f"more than {MOST_ALIVE:,} kinds of stages")
            told[heading] += self._cycle - since

    def _retire(self, number: int, row: _Row, order: str, kind: str) -> None:
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
