"""Does a window of a timeline show what the trace holds, at every level of detail?"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.trace_files import known_of
from pixelflow.node import SavedRun
from pixelflow.observe.node_tracer import NodeTracer
from pixelflow.simd.trace import Trace, TraceClock, Track
from pixelflow.simd.trace.trace_model import Category, Label, TrackKind
from pixelflow.view.listing import CodeListing, ProgramCode
from pixelflow.view.timeline import CounterLevels, Levels, SpanLevels, place_answer, window_answer


def small() -> Trace:
    """A stream busy in 0-3 and 6-8, waiting in 3-6, with an instant at 6; a counter."""
    trace = Trace(TraceClock(100))
    eigc = trace.track(Track.named("eigc"))
    add, wait = Label("ADD", Category.EXECUTE, (("uPC", 0),)), Label("wait sem 1", Category.WAIT, (("uPC", 4),))
    for start, end, label in ((0, 3, add), (3, 6, wait), (6, 6, add), (6, 8, add)):
        eigc.add(start, end, trace.label(label))
    count = trace.counter(Track.named("sem 1"), "signals")
    for cycle, value in ((2, 1), (5, 3), (6, 0)):
        count.set(cycle, value)
    return trace


def long() -> Trace:
    """Two rows of 6,000 spans of 0 to 4 cycles, a third of them waits, with gaps between them."""
    trace, generator = Trace(TraceClock(100)), random.Random(2)
    labels = [trace.label(Label(name, kind)) for name, kind in (("A", Category.EXECUTE), ("wait B", Category.WAIT))]
    for name in ("eigc", "tasic[0]"):
        at = 0
        for _ in range(6000):
            at += generator.choice((0, 0, 0, 1, 9))
            length = generator.randrange(5)
            trace.track(Track.named(name)).add(at, at + length, labels[generator.random() < 0.3])
            at += length
        trace.end = max(trace.end, at)
    return trace


def row_of(levels: Levels, track: str) -> SpanLevels | CounterLevels:
    return next(row for row in levels.rows if row.track == track)


def test_enabled_pes_of_the_modules_are_one_row() -> None:
    """Module 0 has 8 PEs enabled from cycle 0 and 5 from 4; module 1 has 8 from 2 and none from 4."""
    trace = Trace(TraceClock(100))
    for module, changes in enumerate([((0, 8), (4, 5)), ((2, 8), (4, 0))]):
        counter = trace.counter(Track(TrackKind.ENABLED, str(module)), "PEs")
        for cycle, value in changes:
            counter.set(cycle, value)
    levels = Levels(trace, 10)
    (row,) = levels.rows
    assert isinstance(row, CounterLevels)
    assert [row.at(cycle) for cycle in (0, 1, 2, 3, 4, 9)] == [8, 8, 16, 16, 5, 5]
    head = place_answer(levels, 0, 3).head
    assert (head["track"], head["name"]) == ("enabled PEs", "16 PEs")
    assert head["args"] == [["enabled[0]", "8"], ["enabled[1]", "8"]]


def test_shares_of_pixels_are_exact() -> None:
    row = row_of(Levels(small(), 10), "eigc")
    assert isinstance(row, SpanLevels)
    busy, waiting = row.shares(np.array([0.0, 2.0, 4.0, 6.0, 10.0]))
    assert busy.tolist() == [1.0, 0.5, 0.0, 0.5]
    assert waiting.tolist() == [0.0, 0.5, 1.0, 0.0]
    busy, _ = row.shares(np.array([2.5, 2.75, 3.25]))
    assert busy.tolist() == [1.0, 0.5]


def test_a_counter_has_its_extremes_in_each_pixel() -> None:
    row = row_of(Levels(small(), 10), "sem 1")
    assert isinstance(row, CounterLevels)
    least, greatest = row.extremes(np.array([0.0, 1.0, 4.0, 6.0, 9.0]))
    assert least.tolist() == [0, 0, 1, 0]
    assert greatest.tolist() == [0, 1, 3, 0]
    assert [row.at(cycle) for cycle in (0, 2, 5, 6)] == [0, 1, 3, 0]


def test_places_and_the_cycles_of_labels() -> None:
    levels = Levels(small(), 10)
    row = row_of(levels, "eigc")
    assert isinstance(row, SpanLevels)
    assert [row.at(cycle) for cycle in (0, 4, 6, 7, 8)] == [0, 1, 3, 3, None]
    busy, waiting = row.cycles_of_labels(2, 7, 2)
    assert busy.tolist() == [2.0, 0.0] and waiting.tolist() == [0.0, 3.0]
    assert place_answer(levels, 0, 4).head["name"] == "wait sem 1"
    assert place_answer(levels, 9, 4).head["name"] == ""


@pytest.fixture(scope="module")
def traced(recorded: Path) -> tuple[SavedRun, Trace]:
    saved = SavedRun.load(recorded)
    trace = Trace(TraceClock(saved.config.clock_mhz))
    replay = saved.replay(watch=lambda bus: NodeTracer(trace).attach(bus, known_of(saved.config)))
    replay.advance(1 << 40)
    assert replay.account is not None
    return saved, trace


def test_a_window_adds_up_to_the_trace(traced: tuple[SavedRun, Trace]) -> None:
    _, trace = traced
    levels = Levels(trace, trace.end)
    totals = trace.totals()
    for row in levels.rows:
        if isinstance(row, SpanLevels) and row.track in ("eigc", "tigc"):
            busy, waiting = row.covered(np.array([float(trace.end)]))[:, 0]
            waits = sum(cycles for name, cycles in totals[row.track].items() if name != "busy")
            assert (busy, waiting) == (totals[row.track]["busy"], waits)


@pytest.mark.parametrize("begin, end, width", [(0, 20_000, 7), (100, 3000, 333), (5000, 5040, 1200), (0, 1 << 31, 64)])
def test_every_level_is_that_of_single_cycles(begin: int, end: int, width: int) -> None:
    """The body of a window, read as the page reads it, against the spans cycle by cycle."""
    trace = long()
    levels = Levels(trace, trace.end)
    answer = window_answer(levels, begin, end, width)
    assert isinstance(answer.head["rows"], list)
    at = 0

    def take(kind: str, count: int) -> np.ndarray:
        nonlocal at
        found = np.frombuffer(answer.body, kind, count, at)
        at += found.nbytes
        return found

    edges = begin + (end - begin) * np.arange(width + 1) / width
    for row, about in zip(levels.rows, answer.head["rows"], strict=True):
        if about["form"] == "counter":
            least, greatest = take("<f4", width), take("<f4", width)
            assert (least <= greatest).all()
        elif about["form"] == "shares":
            assert isinstance(row, SpanLevels)
            busy, waiting = take("u1", width), take("u1", width)
            cycles = np.zeros((2, trace.end))
            for start, stop, waits in zip(row.starts, row.ends, row.waits, strict=True):
                cycles[int(waits), start:stop] = 1
            sums = np.concatenate([np.zeros((2, 1)), cycles.cumsum(axis=1)], axis=1)
            before = np.stack([np.interp(edges, np.arange(trace.end + 1), each) for each in sums])
            shares = np.diff(before, axis=1) / np.diff(edges)
            for found, share in zip((busy, waiting), shares, strict=True):
                assert (np.abs(found / 255 - share) <= 1 / 255).all() and ((found > 0) == (share > 1e-12)).all()
        else:
            starts, ends, names = (take("<i4", about["count"]) for _ in range(3))
            assert isinstance(row, SpanLevels)
            inside = [
                (max(s, begin) - begin, min(e, end) - begin)
                for s, e in zip(row.starts.tolist(), row.ends.tolist(), strict=True)
                if (e > begin or s == e == begin) and s < end
            ]
            assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == inside
            assert all(0 <= name < len(answer.head["names"]) for name in names)
    assert at == len(answer.body)


def test_the_heat_of_lines_adds_up_to_the_streams(traced: tuple[SavedRun, Trace]) -> None:
    saved, trace = traced
    listing = CodeListing(ProgramCode(saved.program))
    levels = Levels(trace, trace.end)
    heat = listing.heat(levels, ("eigc", "tigc"), 0, trace.end)
    shown = [row["form"] for row in listing.rows(0, len(listing))]
    instructions = [row for row in heat if shown[row[0]] == "instruction"]
    totals = trace.totals()
    assert sum(row[1] for row in instructions) == sum(totals[stream]["busy"] for stream in ("eigc", "tigc"))
    waits = sum(sum(each.values()) - each["busy"] for name, each in totals.items() if name in ("eigc", "tigc"))
    assert sum(row[2] for row in instructions) == waits
