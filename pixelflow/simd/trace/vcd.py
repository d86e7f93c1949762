"""Value change dumps: what each part of the machine does over time, for GTKWave and Surfer.

One scope for each stream (instruction as text, as a number and by its place, busy, waiting, state, stage, routine) and
for the TASICs of each module (busy, transfer), one for the paths of the GNI, the semaphores, the enabled PEs, the
queues (what is in each) and the wires (what was sent over each in a cycle). Time
counts cycles where the clock allows it (10 ns at 100 MHz). Texts are an extension that both viewers know, and ASCII,
because they read others differently.

A dump holds values, not events: instructions of no cycle, arrows and source lines are not in it. Needs the extra
``trace`` (pyvcd).
"""

from __future__ import annotations

import heapq
import io
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import IO, TYPE_CHECKING, TypeAlias

from pixelflow.simd.trace.trace_model import (
    WAITS,
    Counter,
    Spans,
    Trace,
    TraceClock,
    Track,
    TrackKind,
    ascii_text,
    escape,
)

if TYPE_CHECKING:
    from vcd import VCDWriter
    from vcd.writer import Variable, VarValue

IDLE = "idle"
"""The state of a stream that neither executes nor waits, because it has ended."""

NOTHING = "-"
"""The text where there is none; some readers trip over an empty one."""

_UNKNOWN = "x"
OPCODE_BITS = 8
NUMBER_BITS = 32
_COUNTERS = {
    TrackKind.COUNTER: ("sem", "sem"),
    TrackKind.ENABLED: ("enabled", "module"),
    TrackKind.QUEUE: ("queue", ""),
}
"""Scope of the counters of a kind, and what their names begin with."""
_UNITS = ((9, "ns"), (12, "ps"), (15, "fs"))

Values: TypeAlias = "tuple[tuple[Variable[VarValue], str | int], ...]"
"""Variables of the writer with their values."""

Change: TypeAlias = "tuple[int, Values]"
"""A cycle, and the new values in it."""


def write_vcd(trace: Trace, stream: IO[bytes]) -> None:
    """Write a trace."""
    from vcd import VCDWriter

    per_second, timescale = time_unit(trace.clock)
    # A dollar sign could end the comment.
    legend = [f"{key}: {escape(value, _in_comment)}" for key, value in trace.legend.items()]
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n", write_through=True)
    begin = trace.clock.ticks(trace.begin, per_second)
    with VCDWriter(text, timescale, date="", comment="\n".join(legend), init_timestamp=begin) as writer:
        variables = _Variables(writer, trace.end)
        sources = [_changes(variables, trace, track) for track in trace.tracks]
        changes = heapq.merge(*(source for source in sources if source is not None), key=lambda change: change[0])
        for cycle, together in groupby(changes, key=lambda change: change[0]):
            time = trace.clock.ticks(cycle, per_second)
            values: dict[Variable[VarValue], str | int] = {}  # what changes twice in a cycle has changed once
            for _, changed in together:
                values.update(changed)
            for variable, value in values.items():
                writer.change(variable, time, value)
        writer.close(trace.clock.ticks(trace.end, per_second))
    text.detach()


def time_unit(clock: TraceClock) -> tuple[int, str]:
    """Return the unit of time, as how many a second has and as a timescale: a cycle, where a timescale can say that."""
    for power, unit in _UNITS:
        for size in (100, 10, 1):
            per_second = 10**power // size
            if clock.mhz * 10**6 == per_second:
                return per_second, f"{size} {unit}"
    return 10**15, "1 fs"


def _changes(variables: _Variables, trace: Trace, track: Track) -> Iterator[Change] | None:
    """Register what a track shows and return its changes in order; None for what a dump does not hold."""
    if track.kind in _COUNTERS:
        return variables.counter(track, trace.counters[track])
    spans = trace.spans[track]
    match track.kind:
        case TrackKind.STREAM:
            return variables.stream(track, spans)
        case TrackKind.STAGES:
            return variables.named(track.of, "stage", spans)
        case TrackKind.ROUTINES:
            return variables.named(track.of, "routine", spans)
        case TrackKind.UNIT:
            return variables.unit(track, spans)
        case TrackKind.PATH:
            return variables.path(track, spans)
        case TrackKind.WIRE:
            return variables.wire(track, spans)
    return None


class _Variables:
    """Registers variables; each method returns the changes of what it has registered."""

    def __init__(self, writer: VCDWriter, end: int) -> None:
        self._writer, self._end = writer, end

    def _bit(self, scope: str, name: str) -> Variable[VarValue]:
        return self._writer.register_var(scope, name, "wire", size=1, init=0)

    def _number(self, scope: str, name: str, bits: int = NUMBER_BITS) -> Variable[VarValue]:
        return self._writer.register_var(scope, name, "reg", size=bits, init=_UNKNOWN)

    def _text(self, scope: str, name: str, init: str = NOTHING) -> Variable[VarValue]:
        return self._writer.register_var(scope, name, "string", init=init)

    def stream(self, track: Track, spans: Spans) -> Iterator[Change]:
        """A stream: what it executes or waits at, and its state."""
        scope = track.of
        instruction = self._text(scope, "instruction")
        opcode, address = self._number(scope, "opcode", OPCODE_BITS), self._number(scope, "uPC")
        busy, waiting = self._bit(scope, "busy"), self._bit(scope, "waiting")
        state = self._text(scope, "state", IDLE)
        off: Values = (
            (instruction, NOTHING),
            (opcode, _UNKNOWN),
            (address, _UNKNOWN),
            (busy, 0),
            (waiting, 0),
            (state, IDLE),
        )

        def values(label: int) -> Values:
            of = spans.label(label)
            args = dict(of.args)
            waits = of.category in WAITS
            return (
                (instruction, ascii_text(str(args.get("instruction", of.name)))),
                (opcode, args["opcode"]),
                (address, args["uPC"]),
                (busy, int(not waits)),
                (waiting, int(waits)),
                (state, of.account),
            )

        return _following(spans, values, off)

    def unit(self, track: Track, spans: Spans) -> Iterator[Change]:
        """The TASICs of a module: whether they are busy, and with what."""
        scope = f"tasic{track.of}"
        busy, transfer = self._bit(scope, "busy"), self._text(scope, "transfer")
        off = ((busy, 0), (transfer, NOTHING))
        return _following(spans, lambda label: ((busy, 1), (transfer, ascii_text(spans.label(label).name))), off)

    def path(self, track: Track, spans: Spans) -> Iterator[Change]:
        """A path of the GNI: whether it is busy."""
        busy = self._bit("gni", track.of)
        return _following(spans, lambda label: ((busy, 1),), ((busy, 0),))

    def counter(self, track: Track, counter: Counter) -> Iterator[Change]:
        """A counter."""
        scope, prefix = _COUNTERS[track.kind]
        variable = self._number(scope, _word(f"{prefix}{track.of}"))
        return ((cycle, ((variable, value),)) for cycle, value in zip(counter.cycles, counter.values, strict=True))

    def wire(self, track: Track, spans: Spans) -> Iterator[Change]:
        """A wire: how much was sent over it in each cycle, 0 where nothing was."""
        variable = self._writer.register_var("wire", _word(track.of), "reg", size=NUMBER_BITS, init=0)
        sent: dict[int, int] = {}
        for start, label in zip(spans.starts, spans.labels, strict=True):
            sent[start] = sent.get(start, 0) + int(spans.label(label).arg("amount") or 0)
        last = -1
        for cycle, amount in sent.items():
            if 0 <= last < cycle:
                yield last, ((variable, 0),)
            yield cycle, ((variable, amount),)
            last = cycle + 1
        if 0 <= last < self._end:
            yield last, ((variable, 0),)

    def named(self, scope: str, name: str, spans: Spans) -> Iterator[Change]:
        """The name of the innermost span at each time."""
        return _innermost(spans, self._text(scope, name))


def _following(spans: Spans, values: Callable[[int], Values], off: Values) -> Iterator[Change]:
    """Yield the changes of spans that follow each other: values for each label, and those where there is no span."""
    known: dict[int, Values] = {}
    last = None
    for start, end, label in zip(spans.starts, spans.ends, spans.labels, strict=True):
        if start == end:
            continue
        if last is not None and last < start:
            yield last, off
        if label not in known:
            known[label] = values(label)
        yield start, known[label]
        last = end
    if last is not None:
        yield last, off


def _innermost(spans: Spans, variable: Variable[VarValue]) -> Iterator[Change]:
    """Yield the names of spans, some of which are inside others."""
    names = [NOTHING]
    ends: list[int] = []
    for start, end, label in zip(spans.starts, spans.ends, spans.labels, strict=True):
        while ends and ends[-1] <= start:
            names.pop()
            yield ends.pop(), ((variable, names[-1]),)
        if end > start:
            names.append(ascii_text(spans.label(label).name))
            ends.append(end)
            yield start, ((variable, names[-1]),)
    while ends:
        names.pop()
        yield ends.pop(), ((variable, names[-1]),)


def _word(name: str) -> str:
    """Return a name as one word, which is what a dump takes."""
    return re.sub(r"[^0-9A-Za-z_:.\[\]-]", "_", name)


def _in_comment(c: str) -> bool:
    return c.isascii() and c.isprintable() and c != "$"
