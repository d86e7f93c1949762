r"""Traces as data: spans, counters and arrows by track, the selection of a trace, and the faults of trace files."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.report import Report, Shown, overview, plain_table

_MOST_DIGITS = 18


# Text in formats that cannot hold every character: any other becomes its number, ``\x9;``.


def line_text(text: str) -> str:
    r"""Return a text without tabs, line ends and control characters."""
    return escape(text, str.isprintable)


def ascii_text(text: str) -> str:
    """Return a text of printable ASCII."""
    return escape(text, lambda c: c.isascii() and c.isprintable())


def escape(text: str, holds: Callable[[str], bool]) -> str:
    r"""Return a text of characters that a format holds; the others, and ``\``, become their numbers."""
    return "".join(c if holds(c) and c != "\\" else f"\\x{ord(c):x};" for c in text)


def is_number(text: str) -> bool:
    """Return whether a text is a whole number that 64 bits hold."""
    return text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS


# A trace as data: spans on tracks, counters, and arrows, all in cycles; what every format is written from.


STREAMS = ("eigc", "tigc")
"""The instruction streams of a trace whose header names none."""


class TrackKind(Enum):
    """Subject of a track, in the order in which viewers show them; the value is its name, ``{}`` its number."""

    RUNS = "runs"
    STREAM = "{}"
    STAGES = "{} stages"
    ROUTINES = "{} routines"
    UNIT = "tasic[{}]"
    PATH = "gni {}"
    COUNTER = "sem {}"
    ENABLED = "enabled[{}]"
    QUEUE = "queue {}"
    WIRE = "wire {}"

    def __init__(self, template: str) -> None:
        before, _, after = template.partition("{}")
        self.pattern = re.compile(f"{re.escape(before)}(.+){re.escape(after)}" if "{}" in template else template)


class Track(NamedTuple):
    """One line of a trace: its kind, and of what: the stream's name, the module's number, the path's name."""

    kind: TrackKind
    of: str = ""

    @property
    def name(self) -> str:
        """The name that viewers show and ``--only`` takes: ``eigc``, ``tasic[2]``."""
        return self.kind.value.format(self.of)

    @property
    def order(self) -> tuple[int, tuple[tuple[int, str], ...]]:
        """Position of the track among the others: a stream's own tracks together, numbers by their value."""
        kinds = list(TrackKind)
        rank = kinds.index(self.kind)
        numbers = tuple((int(digits or -1), text) for digits, text in re.findall(r"(\d+)|(\D+)", self.of))
        if kinds.index(TrackKind.STREAM) <= rank <= kinds.index(TrackKind.ROUTINES):
            return kinds.index(TrackKind.STREAM), (*numbers, (rank, ""))
        return rank, numbers

    @classmethod
    def named(cls, name: str) -> Track:
        """Return the track of this name."""
        special = [kind for kind in TrackKind if kind is not TrackKind.STREAM]
        for kind in (*special, TrackKind.STREAM):
            found = kind.pattern.fullmatch(name)
            if found:
                return cls(kind, *found.groups())
        raise ValueError(f"no track has the name {name!r}")


class Category(Enum):
    """Kind of the cycles that a span covers."""

    RUN = "run"
    EXECUTE = "execute"
    WAIT = "wait"
    """A stream waits before an instruction can execute: for a semaphore."""
    STALL = "stall"
    """A stream has issued an instruction and waits until it is done: for a transfer."""
    BLOCKED = "blocked"
    """A stream waited for a semaphore when the run was stopped; the account of the run does not count it."""
    STAGE = "stage"
    ROUTINE = "routine"
    ACCESS = "access"
    PATH = "path"
    CARRY = "carry"


WAITS = (Category.WAIT, Category.STALL, Category.BLOCKED)
"""Categories whose spans are named by the reason: ``wait sem 2``, ``wait transfer``, ``blocked sem 0``."""


class Label(NamedTuple):
    """Properties of a span other than its time; spans of the same instruction share one."""

    name: str
    category: Category
    args: tuple[tuple[str, int | str], ...] = ()

    def arg(self, name: str) -> int | str | None:
        """Return an argument, None where there is none of that name."""
        return dict(self.args).get(name)

    @property
    def account(self) -> str:
        """The heading under which an account counts the span's cycles."""
        return self.name if self.category in WAITS else "busy"


class Span(NamedTuple):
    """Cycles from ``start`` up to ``end`` of a track; no cycle at all where something happened at a point in time."""

    start: int
    end: int
    label: Label


class Spans:
    """The spans of one track in the order of their starts, kept as columns: 24 bytes each.

    Spans of a track follow each other, or one is inside the other.
    """

    def __init__(self, labels: list[Label]) -> None:
        self._all_labels = labels
        self.starts = array("q")
        self.ends = array("q")
        self.labels = array("q")

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[Span]:
        labels = self._all_labels
        for start, end, label in zip(self.starts, self.ends, self.labels, strict=True):
            yield Span(start, end, labels[label])

    def __getitem__(self, row: int) -> Span:
        return Span(self.starts[row], self.ends[row], self._all_labels[self.labels[row]])

    def label(self, number: int) -> Label:
        """Return the label of this number."""
        return self._all_labels[number]

    def add(self, start: int, end: int, label: int) -> int:
        """Append a span with the label of this number; return its row."""
        self.starts.append(start)
        self.ends.append(end)
        self.labels.append(label)
        return len(self.starts) - 1

    def drop_last(self) -> None:
        """Take the last span away."""
        for column in (self.starts, self.ends, self.labels):
            column.pop()


class Counter:
    """A number over time: its value from each of ``cycles`` on."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.cycles = array("q")
        self.values = array("q")

    def __len__(self) -> int:
        return len(self.cycles)

    def set(self, cycle: int, value: int) -> None:
        """Note the value, starting in a cycle; the last one of a cycle counts."""
        if self.cycles and self.cycles[-1] == cycle:
            self.cycles.pop()
            self.values.pop()
        if not self.values or self.values[-1] != value:
            self.cycles.append(cycle)
            self.values.append(value)


class FlowArrow(NamedTuple):
    """An arrow from one span to another: tracks and rows."""

    source: Track
    source_row: int
    target: Track
    target_row: int


class TraceClock(NamedTuple):
    """From cycles to the time units of a format and back; exact, in integers."""

    mhz: int

    def ticks(self, cycle: int, per_second: int) -> int:
        """Return the time of a cycle in units of which a second has this many; rounded down."""
        return cycle * per_second // (self.mhz * 10**6)

    def cycle(self, ticks: int, per_second: int) -> int:
        """Return the cycle of a time that `ticks` gave."""
        return -(-ticks * self.mhz * 10**6 // per_second)

    def tells_apart(self, per_second: int) -> bool:
        """Return whether every cycle has a separate time."""
        return self.mhz * 10**6 <= per_second


@dataclass
class Trace(Shown):
    """All that was recorded. ``header`` says what of: tool, program, configuration, clock, window."""

    clock: TraceClock
    header: dict[str, str] = field(default_factory=dict)
    begin: int = 0
    end: int = 0
    """The last cycle."""
    labels: list[Label] = field(default_factory=list)
    spans: dict[Track, Spans] = field(default_factory=dict)
    counters: dict[Track, Counter] = field(default_factory=dict)
    flows: list[FlowArrow] = field(default_factory=list)
    _number_of: dict[Label, int] = field(default_factory=dict)

    def label(self, label: Label) -> int:
        """Return the number of a label; equal labels have the same."""
        number = self._number_of.setdefault(label, len(self.labels))
        if number == len(self.labels):
            self.labels.append(label)
        return number

    def track(self, track: Track) -> Spans:
        """Return the spans of a track, none yet where it is new."""
        if track not in self.spans:
            self.spans[track] = Spans(self.labels)
        return self.spans[track]

    def counter(self, track: Track, unit: str) -> Counter:
        """Return the counter of a track, without values where it is new."""
        return self.counters.setdefault(track, Counter(unit))

    @property
    def streams(self) -> tuple[str, ...]:
        """The instruction streams; the numbers that formats give them are their places here."""
        return streams_of(self.header)

    def name_streams(self, names: Iterable[str]) -> None:
        """Enter streams in the header, where they are not known yet."""
        known = dict.fromkeys(self.streams)
        if not known.keys() >= set(names):
            before = known if "streams" in self.header else {}
            self.header["streams"] = " ".join({**before, **dict.fromkeys(names)})

    @property
    def tracks(self) -> list[Track]:
        """All tracks, in the order in which viewers show them."""
        return sorted([*self.spans, *self.counters], key=lambda track: track.order)

    @property
    def events(self) -> int:
        """How many spans and values of counters there are."""
        return sum(map(len, self.spans.values())) + sum(map(len, self.counters.values()))

    @property
    def legend(self) -> dict[str, str]:
        """Head of a file: the header, the clock, and the cycles that the trace covers."""
        return {**self.header, "clock_mhz": str(self.clock.mhz), "begin": str(self.begin), "end": str(self.end)}

    def report(self) -> Report:
        """Return what the trace is of, and the spans of each track with the cycles that they account for."""
        totals = self.totals()
        rows = tuple(
            (track.name, len(self.spans.get(track, ())), sum(totals.get(track.name, {}).values()))
            for track in self.tracks
        )
        return overview("trace", tuple(self.legend.items()), (plain_table(("track", "spans", "cycles"), rows),))

    def totals(self) -> dict[str, dict[str, int]]:
        """Return the cycles of each track that an account has too, by heading: busy, or the reason of a wait."""
        found: dict[str, dict[str, int]] = {}
        for track in self.tracks:
            if track.kind in (TrackKind.STREAM, TrackKind.UNIT, TrackKind.PATH) and track in self.spans:
                sums = found.setdefault(track.name, {})
                for span in self.spans[track]:
                    if span.end > span.start:
                        sums[span.label.account] = sums.get(span.label.account, 0) + span.end - span.start
        return found


def streams_of(header: Mapping[str, str]) -> tuple[str, ...]:
    """Return the instruction streams of a trace with this header."""
    return tuple(header["streams"].split()) if "streams" in header else STREAMS


# Which part of a run a trace shows: a window of cycles, and tracks.


_MOST_CYCLES = 1 << 63
_TRAFFIC = (TrackKind.WIRE, TrackKind.QUEUE)


class Selection(NamedTuple):
    """Cycles from ``begin`` up to ``end`` (None: to the last one), of the tracks that ``only`` names (empty: all).

    A name may hold ``*`` and ``?``; brackets stand for themselves, ``tasic[2]``. Wires and queues are shown only where
    a name asks for them: they carry more items than the rest of the machine has events.
    """

    begin: int = 0
    end: int | None = None
    only: tuple[str, ...] = ()

    @classmethod
    def of(cls, window: str | None, only: Iterable[str] = ()) -> Selection:
        """Return the selection of a window ``A:B``; raises ValueError where it is none, or holds no cycle."""
        if window is None:
            return cls(only=tuple(only))
        found = re.fullmatch(r"\s*(\d+(?:_\d+)*)?\s*:\s*(\d+(?:_\d+)*)?\s*", window, re.ASCII)
        if found is None:
            raise ValueError("expected two cycles A:B, of which either may be missing")
        begin, end = (int(text) if text else None for text in found.groups())
        if max(begin or 0, end or 0) >= _MOST_CYCLES:
            raise ValueError("no run has that many cycles")
        if end is not None and end <= (begin or 0):
            raise ValueError("the window is empty: it holds the cycles from A up to B, without B")
        return cls(begin or 0, end, tuple(only))

    def wants(self, track: Track) -> bool:
        """Return whether the trace shows the track."""
        if track.kind in _TRAFFIC:
            return any(asks_for_traffic(pattern, track.kind) and matches(pattern, track.name) for pattern in self.only)
        return not self.only or any(matches(pattern, track.name) for pattern in self.only)

    def unmet(self, tracks: Iterable[Track]) -> list[str]:
        """Return the patterns that name none of these tracks."""
        names = [track.name for track in tracks]
        return [pattern for pattern in self.only if not any(matches(pattern, name) for name in names)]

    def clip(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the part of a span that is in the window, None where no part does."""
        if start == end:
            return (start, end) if self.holds(start) else None
        start, end = max(start, self.begin), end if self.end is None else min(end, self.end)
        return (start, end) if start < end else None

    def holds(self, cycle: int) -> bool:
        """Return whether a cycle is in the window."""
        return self.begin <= cycle and (self.end is None or cycle < self.end)


EVERYTHING = Selection()


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern with ``*`` and ``?`` names a track; upper and lower case are the same."""
    translated = "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
    return re.fullmatch(translated, name, re.IGNORECASE) is not None


def asks_for_traffic(pattern: str, *kinds: TrackKind) -> bool:
    """Return whether a pattern is one for tracks of these kinds, wires or queues; by default for any of them."""
    return any(matches(kind.value.format("*"), pattern) for kind in kinds or _TRAFFIC)


def tracks_of_streams(streams: Iterable[str]) -> list[Track]:
    """Return every track that a run of these streams may have on any machine, wires and queues left out."""
    of_streams = (TrackKind.STREAM, TrackKind.STAGES, TrackKind.ROUTINES)
    return [Track(TrackKind.RUNS), *(Track(kind, stream) for stream in streams for kind in of_streams)]


def known_tracks(streams: Iterable[str], modules: int, paths: Iterable[str], semaphores: int) -> list[Track]:
    """Return every track that a run of such a machine may have, wires and queues left out."""
    numbers = [str(module) for module in range(modules)]
    return [
        *tracks_of_streams(streams),
        *(Track(kind, number) for kind in (TrackKind.UNIT, TrackKind.ENABLED) for number in numbers),
        *(Track(TrackKind.PATH, path) for path in paths),
        *(Track(TrackKind.COUNTER, str(number)) for number in range(semaphores)),
    ]


def unknown_track(pattern: str, known: Iterable[Track]) -> str | None:
    """Return None where a pattern names a known track, wires or queues, else what is wrong, with the nearest name."""
    names = [track.name for track in known]
    if any(matches(pattern, name) for name in names) or asks_for_traffic(pattern):
        return None
    found = nearest(pattern, names)
    return f"no track has this name{f'; did you mean {found}?' if found else ''}"


# Faults of a trace file, collected so that the first ones are reported together.


_MOST = 10
_LONGEST = 200
"""Characters of a line, and of a message, that are shown."""


class Faults:
    """Faults of one file, each with the byte where it is."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: list[Fault] = []
        self._more = 0

    def byte(self, offset: int, message: str) -> None:
        """Note a fault in what begins at a byte, counted from 0."""
        self._note(Fault(f"byte {offset}: {message[:_LONGEST]}", Place(self._file)))

    def end(self, message: str) -> None:
        """Note something that is missing at the end of the file."""
        self._note(Fault(f"at the end: {message[:_LONGEST]}", Place(self._file)))

    def _note(self, fault: Fault) -> None:
        if len(self._found) < _MOST:
            self._found.append(fault)
        else:
            self._more += 1

    def check(self) -> None:
        """Raise InputError where there is a fault."""
        if self._more:
            self._found.append(Fault(f"and {self._more:,} more", Place(self._file)))
        if self._found:
            raise InputError(self._found)
