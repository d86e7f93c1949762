"""The builder's treatment of events: arrows, several runs, windows, runs that were stopped."""

from types import SimpleNamespace

import pytest

from microcode import assemble
from pixelflow.config import TINY
from pixelflow.node import Node
from pixelflow.observe import Bus, Carried, Executed, RunBegan, RunEnded, Signalled, Taken
from pixelflow.simd.errors import CycleLimitError, DeadlockError
from pixelflow.simd.trace import Category, Selection, Trace, Track, TrackKind
from pixelflow.simd.trace.formats import FORMATS
from tests.trace.runs import EIGC, PING_PONG, TIGC, checked, exchanges, listen, nonzero, traced, written

PROGRAM = assemble("LD R, #1\nSIGNAL 2\nWAIT 2\n")
SIGNAL, WAIT = 1, 2


def began(bus: Bus, cycle: int = 0) -> None:
    bus.publish(RunBegan(cycle, PROGRAM, ("eigc", "tigc"), True, SimpleNamespace(streams={})))


def ended(bus: Bus, cycle: int, ledger: object = None) -> None:
    account = SimpleNamespace(engine="rows", ledger=ledger)
    bus.publish(RunEnded(cycle, "halt", {"eigc": cycle, "tigc": cycle}, account))


def executed(bus: Bus, stream: str, index: int, cycle: int) -> None:
    bus.publish(Executed(cycle, stream, index, 0))


def signal(bus: Bus, cycle: int) -> None:
    executed(bus, "eigc", SIGNAL, cycle)
    bus.publish(Signalled(cycle, "eigc", SIGNAL, 2))


def take(bus: Bus, cycle: int) -> None:
    bus.publish(Taken(cycle, "tigc", WAIT, 2))
    executed(bus, "tigc", WAIT, cycle)


def arrows(trace: Trace) -> list[tuple[int, int]]:
    """The cycles that each arrow joins."""
    return [
        (trace.spans[flow.source][flow.source_row].start, trace.spans[flow.target][flow.target_row].start)
        for flow in trace.flows
    ]


def test_the_nth_that_is_taken_belongs_to_the_nth_that_was_sent() -> None:
    bus = Bus()
    tracer = listen(bus)
    began(bus)
    for cycle in (10, 20, 30):  # this stream runs ahead
        signal(bus, cycle)
    for cycle in (12, 22):
        take(bus, cycle)
    ended(bus, 40)
    assert arrows(tracer.trace) == [(10, 12), (20, 22)]
    count = tracer.trace.counters[Track.named("sem 2")]
    assert list(zip(count.cycles, count.values, strict=True)) == [(0, 0), (10, 1), (12, 0), (20, 1), (22, 0), (30, 1)]


def test_a_run_that_goes_on_has_no_arrow_from_before() -> None:
    """Two of the signals were sent before the checkpoint, so the third that is taken is the first that was heard."""
    bus = Bus()
    tracer = listen(bus)
    began(bus, cycle=100)
    signal(bus, 110)
    for cycle in (101, 105, 120):
        take(bus, cycle)
    ended(bus, 130, SimpleNamespace(signals={2: SimpleNamespace(sent=7, taken=7)}))
    assert arrows(tracer.trace) == [(110, 120)]
    assert list(tracer.trace.counters[Track.named("sem 2")].values) == [2, 1, 0, 1, 0]


@pytest.mark.parametrize("seed", [0, 4])
def test_a_run_that_goes_on_is_traced_as_if_it_had_not_stopped(seed: int) -> None:
    program = exchanges(seed)
    whole = traced(program).trace
    middle = whole.end // 2
    node, saved = Node(TINY), []
    node.load(program)
    node.run(program, save_at=middle, save=saved.append)
    node = Node(TINY)
    tracer = listen(node.bus)
    node.resume(program, saved[0])
    for stream in (EIGC, TIGC):
        expected = [span for span in whole.spans[stream] if span.start >= middle]
        assert [span for span in tracer.trace.spans[stream] if span.start >= middle] == expected
        assert len(expected) > 5
    assert sorted(arrows(tracer.trace)) == sorted(pair for pair in arrows(whole) if pair[0] >= middle)


def test_runs_follow_each_other() -> None:
    program = assemble(PING_PONG)
    node = Node(TINY)
    tracer = listen(node.bus)
    length = node.run(program).total_cycles
    node.run(program)
    trace = tracer.trace
    assert trace.end == 2 * length
    for track, spans in trace.spans.items():
        rows = [(span.start, span.end) for span in spans]
        half = len(rows) // 2
        assert rows[half:] == [(start + length, end + length) for start, end in rows[:half]], track.name
    assert [(span.start, span.end) for span in trace.spans[Track.named("runs")]] == [(0, length), (length, 2 * length)]
    assert len(trace.flows) == 12


def test_arrows_of_real_streams_go_from_signal_to_wait() -> None:
    seen = traced(PING_PONG)
    assert len(seen.trace.flows) == 6
    for flow in seen.trace.flows:
        giver, taker = seen.trace.spans[flow.source][flow.source_row], seen.trace.spans[flow.target][flow.target_row]
        assert flow.source != flow.target
        assert giver.start < taker.start
        assert giver.label.name.split()[1] == taker.label.name.split()[1], "of the same semaphore"


@pytest.mark.parametrize("seed", [3, 4])
def test_a_window_is_a_part_of_the_whole(seed: int) -> None:
    program = exchanges(seed)
    whole = traced(program).trace
    begin, end = whole.end // 3, whole.end // 2
    window = Selection(begin, end)
    part = traced(program, window).trace
    assert (part.begin, part.end) == (begin, end)
    for track, spans in whole.spans.items():
        cut = [(*shown, span.label.name) for span in spans if (shown := window.clip(span.start, span.end))]
        assert [(span.start, span.end, span.label.name) for span in part.spans.get(track, ())] == cut, track.name
    for track, counter in whole.counters.items():
        values = dict(zip(part.counters[track].cycles, part.counters[track].values, strict=True))
        for cycle in range(begin, end):
            before = [v for c, v in zip(counter.cycles, counter.values, strict=True) if c <= cycle]
            now = [value for c, value in values.items() if c <= cycle]
            assert now[-1:] == before[-1:], (track.name, cycle)


def test_a_window_keeps_nothing_of_what_lies_outside() -> None:
    bus = Bus()
    tracer = listen(bus, Selection(5000, 5010))
    began(bus)
    for cycle in range(10_000):
        bus.publish(Executed(cycle, "eigc", 0, 1))
    ended(bus, 10_000)
    assert sum(len(spans) for spans in tracer.trace.spans.values()) == 11  # and the run itself
    assert len(tracer.trace.labels) < 5


def test_a_cut_span_says_where_it_begins_and_ends_in_truth() -> None:
    trace = traced(PING_PONG, Selection(2, 4)).trace
    run = trace.spans[Track.named("runs")][0]
    whole = traced(PING_PONG).run.total_cycles
    assert (run.start, run.end) == (2, 4)
    assert (run.label.arg("begins"), run.label.arg("ends")) == (0, whole)


def test_only_some_tracks() -> None:
    seen = traced(PING_PONG, Selection(only=("tigc", "sem 0")))
    assert {track.name for track in seen.trace.tracks} == {"runs", "tigc", "sem 0"}
    assert not seen.trace.flows, "an arrow has both ends or is not there"


def test_wires_where_they_are_asked_for() -> None:
    bus = Bus()
    tracer = listen(bus, Selection(only=("wire *",)))
    began(bus)
    bus.publish(Carried(7, "tasic[0].inbound", 9, 8, "bytes"))
    ended(bus, 10)
    (span,) = tracer.trace.spans[Track(TrackKind.WIRE, "tasic[0].inbound")]
    assert (span.start, span.end, span.label.name, span.label.arg("latency")) == (7, 7, "8 bytes", 2)
    assert len(list(traced(exchanges(3), Selection(only=("wire *.command",))).trace.tracks)) == 2


DEADLOCK = "LD R, #1\nWAIT 0\nstream tigc\nTAS_SetStep 1\nTAS_SetStep 2\nTAS_SetStep 3\nWAIT 1\n"


def test_a_deadlock_is_shown_up_to_its_last_cycle() -> None:
    program = assemble(DEADLOCK)
    node = Node(TINY)
    tracer = listen(node.bus)
    with pytest.raises(DeadlockError):
        node.run(program)
    trace = tracer.trace
    assert trace.end == 3
    blocked = trace.spans[EIGC][-1]
    assert (blocked.start, blocked.end, blocked.label.name) == (1, 3, "blocked sem 0")
    assert blocked.label.category is Category.BLOCKED
    assert trace.spans[Track.named("runs")][0].label.arg("reason") == "deadlock"
    for name in FORMATS:
        assert checked(written(trace, name), name).totals["eigc"] == {"busy": 1, "blocked sem 0": 2}, name


@pytest.mark.parametrize("limit", [1, 40, 333])
def test_a_run_that_was_stopped_is_shown_up_to_there(limit: int) -> None:
    program = exchanges(4)
    node = Node(TINY)
    tracer = listen(node.bus)
    with pytest.raises(CycleLimitError):
        node.run(program, max_cycles=limit)
    trace = tracer.trace
    totals = {name: nonzero(checked(written(trace, name), name).totals) for name in FORMATS}
    assert totals["perfetto"] == totals["vcd"] == nonzero(trace.totals())
    for stream in (EIGC, TIGC):
        spans = list(trace.spans.get(stream, ()))
        assert all(span.end <= trace.end for span in spans)
        assert totals["kanata"].get(stream.name) == totals["perfetto"].get(stream.name)
