"""A strict check of the value change dumps that `write_vcd` writes: one command on a line, every value declared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sized
from dataclasses import dataclass, field
from typing import IO

from pixelflow.simd.files import TRACE, bounded_lines
from pixelflow.simd.trace.faults import MOST_ALIVE, Checked, Faults
from pixelflow.simd.trace.model import TraceClock, Track, TrackKind
from pixelflow.simd.trace.text import is_number, unescape
from pixelflow.simd.trace.vcd import IDLE, time_unit

__all__ = ["check_vcd"]

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
    cycles: Counter[str] = field(default_factory=Counter)

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
                busy, waiting = (by_name.get((scope, bit), Counter())["1"] for bit in ("busy", "waiting"))
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
