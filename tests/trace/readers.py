"""Our dumps and logs as other readers see them: values by pywellen, rows as Konata takes them."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pixelflow.simd.trace import Track, TrackKind

_ESCAPE = re.compile(r"\\x([0-9a-f]+);")


class Checked(NamedTuple):
    """Contents of a trace file without faults."""

    format: str
    header: dict[str, str]
    begin: int
    end: int
    totals: dict[str, dict[str, int]]
    """For each track, its cycles by heading: ``busy``, ``wait sem 2``, ``wait transfer``."""
    counts: dict[str, int]
    """How many there are of what the format is made of: spans, rows, changes, arrows."""


def unescape(text: str) -> str:
    """Return the text that was escaped."""
    return _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text)


def read_vcd(data: bytes) -> Checked:
    """Return what pywellen finds in a dump; its bits of a stream must say what the stream's state says."""
    import pywellen

    header = _header(data)
    begin, end, mhz = (int(header[key]) for key in ("begin", "end", "clock_mhz"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.vcd")
        path.write_bytes(data)
        wave = pywellen.Waveform(str(path))
        values = {each.full_name: each.tv for each in wave.all_vars()}
    size, unit = re.fullmatch(r"(\d+)(\w+)", str(wave.timescale)).groups()
    per_second = 10 ** {"ns": 9, "ps": 12, "fs": 15}[unit] // int(size)
    found = {name: _held(changes, per_second, mhz, begin, end) for name, changes in values.items()}
    totals = {}
    for name, cycles in found.items():
        scope, _, last = name.partition(".")
        if last == "state":
            states = {str(state): count for state, count in cycles.items() if state != "idle"}
            busy, waiting = (found[f"{scope}.{bit}"]["1"] for bit in ("busy", "waiting"))
            assert (busy, busy + waiting) == (states.get("busy", 0), sum(states.values())), scope
            totals[scope] = states
        elif scope == "gni":
            totals[Track(TrackKind.PATH, last).name] = {"busy": cycles["1"]}
        elif last == "busy" and (module := re.fullmatch(r"tasic(\d+)", scope)):
            totals[f"tasic[{module.group(1)}]"] = {"busy": cycles["1"]}
    counts = {"variables": len(values), "changes": sum(map(len, values.values()))}
    return Checked("vcd", header, begin, end, totals, counts)


def _header(data: bytes) -> dict[str, str]:
    lines = data.decode("ascii").partition("$comment\n")[2].partition("\n$end\n")[0].splitlines()
    pairs = (line.removeprefix("\t").partition(": ") for line in lines)
    return {key: unescape(value) for key, _, value in pairs}


def _held(changes: list[tuple[int, object]], per_second: int, mhz: int, begin: int, end: int) -> Counter[str]:
    """Return in how many cycles each value held; a time is the beginning of a cycle, in whole units."""
    cycles = [-(-time * mhz * 10**6 // per_second) for time, _ in changes]
    assert [cycle * per_second // (mhz * 10**6) for cycle in cycles] == [time for time, _ in changes]
    assert cycles[0] == begin and cycles[-1] <= end and cycles == sorted(set(cycles))
    held: Counter[str] = Counter()
    for (_, value), since, until in zip(changes, cycles, [*cycles[1:], end], strict=True):
        held[str(value)] += until - since
    return held


def read_kanata(data: bytes) -> Checked:
    """Return what a log holds, which is in order as Konata, that passes over much in silence, needs it."""
    assert data.endswith(b"\n")
    first, start, *lines = data.decode().removesuffix("\n").split("\n")
    assert first == "Kanata\t0004" and start.startswith("C=\t")
    log = _Log(int(start.removeprefix("C=\t")))
    for line in lines:
        command, *fields = line.split("\t")
        assert all(map(str.isprintable, fields)), line
        log.take(command, *fields)
    assert not log.rows, "a row without R"
    streams = tuple(log.header["streams"].split(", ")) if "streams" in log.header else ("eigc", "tigc")
    totals = {streams[thread]: dict(cycles) for thread, cycles in sorted(log.cycles.items())}
    begin = int(start.removeprefix("C=\t"))
    return Checked("kanata", log.header, begin, log.cycle, totals, {"rows": log.begun, "arrows": log.arrows})


@dataclass
class _Row:
    """A row that is alive: its thread, and for each lane the stage that runs, and since when."""

    thread: int
    open: dict[str, tuple[str, int]] = field(default_factory=dict)


@dataclass
class _Log:
    """State of a log after the lines so far."""

    cycle: int
    begun: int = 0
    retired: int = 0
    arrows: int = 0
    rows: dict[int, _Row] = field(default_factory=dict)
    header: dict[str, str] = field(default_factory=dict)
    cycles: dict[int, Counter[str]] = field(default_factory=dict)

    def take(self, command: str, *fields: str) -> None:
        """Take a line; rows and retirements are numbered in order, stages of a lane do not overlap, time advances."""
        match command, *fields:
            case "C", passed:
                assert int(passed) > 0
                self.cycle += int(passed)
            case "I", number, _, thread:
                assert int(number) == self.begun
                self.rows[self.begun] = _Row(int(thread))
                self.begun += 1
            case "L", number, ("0" | "1") as kind, text:
                assert int(number) in self.rows
                if (number, kind) == ("0", "1") and text.startswith("\\n"):
                    key, _, value = unescape(text.removeprefix("\\n")).partition(": ")
                    self.header[key] = value
            case "S", number, lane, stage:
                assert lane not in self.rows[int(number)].open
                self.rows[int(number)].open[lane] = stage, self.cycle
            case "E", number, lane, stage:
                row = self.rows[int(number)]
                began, since = row.open.pop(lane)
                assert began == stage
                if self.cycle > since:
                    heading = "busy" if lane == "0" else unescape(stage)
                    self.cycles.setdefault(row.thread, Counter())[heading] += self.cycle - since
            case "R", number, order, "0":
                assert not self.rows.pop(int(number)).open and int(order) == self.retired
                self.retired += 1
            case "W", number, giver, "0":
                assert int(number) in self.rows and int(giver) < self.begun
                self.arrows += 1
            case _:
                raise AssertionError(f"no line of a log: {command} {fields}")
