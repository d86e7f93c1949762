"""Value change dumps: what each part of the machine does over time, for GTKWave and Surfer.

One scope for each stream (instruction as text, as a number and by its place, busy, waiting, state, stage, routine) and
for the TASICs of each module (busy, transfer), one for the paths of the GNI, the semaphores, the enabled PEs, the
queues (what lies in each) and the wires (what was sent over each in a cycle). Time
counts cycles where the clock allows it (10 ns at 100 MHz). Texts are an extension that both viewers know, and ASCII,
because they read others differently.

A dump holds values, not events: instructions of no cycle, arrows and source lines are not in it. Needs the extra
``trace`` (pyvcd).
"""

from __future__ import annotations

import heapq
import io
import re
from collections import Counter as Counter_
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO, TYPE_CHECKING, TypeAlias

from pixelflow.simd.files import TRACE, bounded_lines
from pixelflow.simd.trace.trace_model import (
    MOST_ALIVE,
    WAITS,
    Checked,
    Counter,
    Faults,
    Spans,
    Trace,
    TraceClock,
    Track,
    TrackKind,
    ascii_text,
    escape,
    is_number,
    unescape,
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
_UNITS = tuple((power, unit) for power, unit in ((9, "ns"), (12, "ps"), (15, "fs")))

Values: TypeAlias = "tuple[tuple[Variable[VarValue], str | int], ...]"
"""Variables of the writer with their values."""

Change: TypeAlias = "tuple[int, Values]"
"""A cycle, and what has another value from then on."""


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
    """Yield the names of spans, some of which lie inside others."""
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


# A strict check of the value change dumps that `write_vcd` writes: one command on a line, every value declared.


_SCOPE = re.compile(r"\$scope module (\S+) \$end")
_VARIABLE = re.compile(r"\$var (wire|reg|string) (\d+) (\S+) (\S+) \$end")
_CHANGES = {
    "wire": re.compile(r"([01])(\S+)"),
    "reg": re.compile(r"b([01]+|x) (\S+)"),
    "string": re.compile(r"s(\S+) (\S+)"),
}
_BLANKS = {"\\x20": " ", "\\\\": "\\"}


def check_vcd(stream: IO[bytes], name: str) -> Checked:
    """Return what a dump holds; raises InputError with the first faults."""
    faults = Faults(name)
    dump = _Dump(faults)
    number = 0
    for number, line in enumerate(bounded_lines(stream, TRACE, name), 1):
        if not line.isascii():
            faults.line(number, "is not ASCII")
            continue
        dump.take(number, line.decode("ascii").rstrip("\n"))
    if number == 0:
        faults.end("the file is empty")
    checked = dump.finish()
    faults.check()
    return checked


@dataclass
class _Variable:
    """A declared variable, its value, and in how many cycles it had which value."""

    scope: str
    name: str
    kind: str
    size: int
    value: str | None = None
    since: int = 0
    cycles: Counter_[str] = field(default_factory=Counter_)

    def change(self, cycle: int, value: str) -> None:
        if self.value is not None and cycle > self.since and self.kind != "reg":  # numbers are not summed up
            self.cycles[self.value] += cycle - self.since
        self.value, self.since = value, cycle


class _Dump:
    """Takes lines, and holds what they have told so far."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._number = 0
        self._text = ""
        self._take = self._declaration
        self._scopes: list[str] = []
        self._header: dict[str, str] = {}
        self._variables: dict[str, _Variable] = {}
        self._timescale: str | None = None
        self._limits = (0, 0)
        """The first and the last cycle, as the header says."""
        self._clock = TraceClock(1)
        self._per_second = 1
        self._time: int | None = None
        self._cycle = 0
        self._changes = 0

    def take(self, number: int, text: str) -> None:
        self._number, self._text = number, text
        self._take(text)

    def finish(self) -> Checked:
        begin, end = self._limits
        if self._take != self._change:
            self._faults.end("the declarations or the first values have no end")
        if self._cycle != end:
            self._faults.end(f"the last time is cycle {self._cycle}, the header says {end}")
        for variable in self._variables.values():
            variable.change(end, "")
        counts = {"variables": len(self._variables), "changes": self._changes}
        return Checked("vcd", self._header, begin, end, self._totals(), counts)

    def _fault(self, message: str) -> None:
        self._faults.line(self._number, message, self._text)

    # --- declarations ------------------------------------------------------------------------------------------

    def _declaration(self, text: str) -> None:
        if text == "$comment":
            self._header = {}
            self._take = self._comment
        elif text.startswith("$timescale "):
            self._timescale = text.removeprefix("$timescale ").removesuffix(" $end")
        elif found := _SCOPE.fullmatch(text):
            self._scopes.append(found.group(1))
        elif text == "$upscope $end" and self._scopes:
            self._scopes.pop()
        elif found := _VARIABLE.fullmatch(text):
            self._declare(*found.groups())
        elif text == "$enddefinitions $end":
            self._check_head()
            self._take = self._first_time
        else:
            self._fault("not a declaration of a dump of this tool")

    def _comment(self, text: str) -> None:
        if text == "$end":
            self._take = self._declaration
        else:
            key, _, value = text.removeprefix("\t").partition(": ")
            self._header[key] = unescape(value)
            self._bound(self._header, "lines of header")

    def _declare(self, kind: str, size: str, code: str, name: str) -> None:
        if code in self._variables:
            self._fault(f"two variables have the code {code}")
        if not self._scopes:
            self._fault("a variable outside of any scope")
        self._bound(self._variables, "variables")
        self._bound(self._scopes, "scopes inside each other")
        self._variables[code] = _Variable(".".join(self._scopes), name, kind, int(size) if is_number(size) else 0)

    def _bound(self, held: Sized, what: str) -> None:
        if len(held) > MOST_ALIVE:
            raise self._faults.beyond(f"more than {MOST_ALIVE:,} {what}")

    def _check_head(self) -> None:
        header = self._header
        if not all(is_number(header.get(key, "")) for key in ("clock_mhz", "begin", "end")):
            self._fault("the header lacks clock_mhz, begin or end: not a dump of this tool")
            return
        self._limits = int(header["begin"]), int(header["end"])
        self._clock = TraceClock(max(1, int(header["clock_mhz"])))
        self._per_second, timescale = time_unit(self._clock)
        if self._timescale != timescale:
            self._fault(f"the timescale is {self._timescale}, at {self._clock.mhz} MHz it must be {timescale}")

    # --- changes -----------------------------------------------------------------------------------------------

    def _first_time(self, text: str) -> None:
        if text.startswith("#"):
            self._pass_time(text)
        elif text == "$dumpvars" and self._time is not None:
            self._take = self._first_value
        else:
            self._fault("expected the first time, then $dumpvars")
            self._take = self._change

    def _first_value(self, text: str) -> None:
        if text != "$end":
            self._change(text)
            return
        for variable in self._variables.values():
            if variable.value is None:
                self._fault(f"$dumpvars gives no value to {variable.scope}.{variable.name}")
        self._take = self._change

    def _change(self, text: str) -> None:
        if text.startswith("#"):
            self._pass_time(text)
            return
        for kind, pattern in _CHANGES.items():
            if found := pattern.fullmatch(text):
                self._set(kind, *found.groups())
                return
        self._fault("neither a time nor a value")

    def _pass_time(self, text: str) -> None:
        if not is_number(text[1:]):
            self._fault("not a time")
            return
        time = int(text[1:])
        if self._time is not None and time <= self._time:
            self._fault(f"time goes from {self._time} to {time}")
        self._time, self._cycle = time, self._clock.cycle(time, self._per_second)
        if self._clock.ticks(self._cycle, self._per_second) != time:
            self._fault("not the beginning of a cycle")

    def _set(self, kind: str, value: str, code: str) -> None:
        variable = self._variables.get(code)
        if variable is None:
            self._fault(f"code {code} is not declared")
        elif variable.kind != kind:
            self._fault(f"{variable.scope}.{variable.name} is of type {variable.kind}")
        elif kind == "reg" and len(value) > variable.size:
            self._fault(f"{variable.scope}.{variable.name} has {variable.size} bits")
        else:
            variable.change(self._cycle, value)
            self._bound(variable.cycles, f"values of {variable.scope}.{variable.name}")
            self._changes += 1

    # --- totals ------------------------------------------------------------------------------------------------

    def _totals(self) -> dict[str, dict[str, int]]:
        """Return cycles by track and heading, and check that the bits of a stream say what its state says."""
        by_name = {(each.scope, each.name): each.cycles for each in self._variables.values()}
        totals: dict[str, dict[str, int]] = {}
        for (scope, name), cycles in by_name.items():
            if scope and name == "state":
                states = {_text(value): count for value, count in cycles.items()}
                states.pop(IDLE, 0)
                totals[scope] = states
                busy, waiting = (by_name.get((scope, bit), Counter_())["1"] for bit in ("busy", "waiting"))
                if (busy, busy + waiting) != (states.get("busy", 0), sum(states.values())):
                    self._faults.end(f"{scope}: busy and waiting do not say what state says")
            elif scope == "gni" and name:
                totals[Track(TrackKind.PATH, name).name] = {"busy": cycles["1"]}
            elif name == "busy" and (found := re.fullmatch(r"tasic(\d+)", scope)):
                totals[Track(TrackKind.UNIT, found.group(1)).name] = {"busy": cycles["1"]}
        return {name: totals[name] for name in sorted(totals, key=lambda name: Track.named(name).order)}


def _text(value: str) -> str:
    """Return the text that a value stands for."""
    return unescape(re.sub(r"\\x20|\\\\", lambda found: _BLANKS[found.group()], value))
