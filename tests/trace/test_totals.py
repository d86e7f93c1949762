"""Do all formats have the cycles of the run's account, and does watching change nothing?"""

import importlib.util
from collections.abc import Iterator

import pytest

from microcode import assemble
from pixelflow.config import THESIS, TINY, NodeConfig, load_config
from pixelflow.node import Node, Run
from pixelflow.observe import Bus, Event
from pixelflow.simd.trace.formats import FORMATS
from pixelflow.simd.trace.trace_model import STREAMS, Track, TrackKind
from tests.trace.runs import EXAMPLES, PING_PONG, account, checked, exchanges, listen, nonzero, traced, written


def programs() -> Iterator[tuple[str, object]]:
    yield "one stream", assemble(EXAMPLES / "triangle.mc")
    yield "loops", assemble(EXAMPLES / "panel_sum.mc")
    yield "two streams", assemble(EXAMPLES / "texture_copy.mc")
    yield "semaphores", assemble(PING_PONG)
    for seed in range(8):
        yield f"exchanges {seed}", exchanges(seed)


@pytest.mark.parametrize("program", [pytest.param(each, id=name) for name, each in programs()])
def test_every_format_tells_the_cycles_of_the_account(program: object) -> None:
    seen = traced(program)
    expected = account(seen.run)
    assert nonzero(seen.trace.totals()) == expected
    assert seen.trace.end == seen.run.total_cycles
    streams = {track: cycles for track, cycles in expected.items() if track in STREAMS}
    for name in FORMATS:
        found = checked(written(seen.trace, name), name)
        assert nonzero(found.totals) == (streams if name == "kanata" else expected), name
        assert (found.begin, found.end) == (0, seen.run.total_cycles), name


@pytest.mark.parametrize("shared", ["false", "true"])
@pytest.mark.parametrize("program", [pytest.param(each, id=name) for name, each in programs()])
def test_so_does_that_of_a_run_that_waits_for_its_words(program: object, shared: str) -> None:
    """A wait for words belongs to the instruction that follows, so that arrows go from SIGNALs that are there."""
    config = load_config(None, ["igc.supply=100", f"igc.shared_supply={shared}"], "tiny")
    seen = traced(program, config=config)
    expected = account(seen.run)
    assert nonzero(seen.trace.totals()) == expected
    assert all(each.waits["instructions"] for each in seen.run.streams)
    for name in FORMATS:
        checked(written(seen.trace, name), name)


@pytest.mark.parametrize(
    ("schedule", "config"),
    [
        pytest.param("fixed-sums", TINY, id="fixed-sums"),
        pytest.param("thesis", THESIS, id="thesis", marks=pytest.mark.slow),
    ],
)
def test_every_format_tells_the_cycles_of_a_tessellation_pass(schedule: str, config: NodeConfig) -> None:
    from tessellation import Method, load, tessellate

    tracers = []

    def watch(node: Node) -> None:
        tracers.append(listen(node.bus))

    patches = load("enneper").patches[:1]
    result = tessellate(patches, [2], config=config, method=Method(schedule=schedule), watch=watch)
    trace = tracers[0].trace
    expected = account(result.runs[0])
    assert len(result.runs) == 1
    assert nonzero(trace.totals()) == expected
    for name in FORMATS:
        found = nonzero(checked(written(trace, name), name).totals)
        assert found == {track: cycles for track, cycles in expected.items() if name != "kanata" or track in STREAMS}


@pytest.mark.parametrize("program", [assemble(PING_PONG), exchanges(3)], ids=["ping-pong", "exchanges"])
def test_stages_are_as_long_as_the_account_says(program: object) -> None:
    seen = traced(program)
    for each in seen.run.streams:
        totals: dict[str, int] = {}
        for span in seen.trace.spans.get(Track(TrackKind.STAGES, each.stream), ()):
            totals[span.label.name] = totals.get(span.label.name, 0) + span.end - span.start
        expected = {name: cycles for name, cycles in each.by_stage.items() if name not in ("(before)", "(all)")}
        assert totals == expected


def test_routines_are_as_long_as_the_account_says() -> None:
    seen = traced(exchanges(3))
    for each in seen.run.streams:
        totals: dict[str, tuple[int, int]] = {}
        for span in seen.trace.spans.get(Track(TrackKind.ROUTINES, each.stream), ()):
            calls, cycles = totals.get(span.label.name, (0, 0))
            totals[span.label.name] = (calls + 1, cycles + span.end - span.start)
        expected = {
            name: (use.calls, use.total_cycles)
            for name, use in each.by_routine.items()
            if name != "(main)" and use.calls
        }
        assert totals == expected


@pytest.mark.parametrize("seed", range(4))
def test_watching_changes_nothing(seed: int) -> None:
    program = exchanges(seed)
    seen = traced(program)
    node = Node(TINY)
    node.load(program)
    unwatched = node.run(program)
    assert (cycles_of(unwatched), node.digest()) == (cycles_of(seen.run), seen.digest)


def cycles_of(run: Run) -> list[tuple]:
    return [(each.stream, each.cycles, each.executed, each.waits, each.stages) for each in run.streams]


def test_a_timing_only_run_has_the_same_trace() -> None:
    program = exchanges(5)
    node = Node(TINY)
    tracer = listen(node.bus)
    node.run(program, function=False)
    seen = traced(program).trace
    same = [track for track in seen.tracks if track.kind not in (TrackKind.ENABLED, TrackKind.RUNS)]
    assert [track for track in tracer.trace.tracks if track.kind is not TrackKind.RUNS] == same
    for track in same:
        if track in seen.spans:
            assert list(tracer.trace.spans[track]) == list(seen.spans[track])


class CountingBus(Bus):
    """Counts what is published, wanted or not."""

    published = 0

    def publish(self, event: Event) -> None:
        type(self).published += 1
        super().publish(event)


def test_a_run_that_nobody_watches_builds_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pixelflow.node.state.Bus", CountingBus)
    CountingBus.published = 0
    program = exchanges(3)
    node = Node(TINY)
    node.load(program)
    node.run(program)
    assert CountingBus.published == 0
    listen(node.bus)
    instructions = sum(each.instructions for each in node.run(program).streams)
    assert CountingBus.published > instructions


def test_a_trace_of_the_tasics_alone_does_not_ask_for_the_single_instructions() -> None:
    from pixelflow.observe import Executed
    from pixelflow.simd.trace import Selection

    bus = Bus()
    listen(bus, Selection(only=("tasic*",)))
    assert not bus.wants(Executed)


def test_the_packages_of_the_formats_are_here() -> None:
    """The others of these tests would be skipped or fail for a reason that has nothing to do with them."""
    assert all(importlib.util.find_spec(format.package) for format in FORMATS.values() if format.package)
