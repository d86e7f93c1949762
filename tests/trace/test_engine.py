"""Our traces as the trace processor of the Perfetto viewer reads them."""

import pytest

from pixelflow.simd.trace import Category, Label, Trace, TraceClock
from pixelflow.simd.trace.trace_model import STREAMS
from tests.trace.engine import Engine, why_not
from tests.trace.runs import EIGC, Traced, account, exchanges, traced, written
from tests.trace.test_text import HOSTILE

pytestmark = [
    pytest.mark.viewer,
    pytest.mark.skipif(why_not() is not None, reason=why_not() or ""),
]

SPANS = """
    select track.name, slice.category, slice.name, count(*), sum(slice.dur)
    from slice join track on slice.track_id = track.id group by 1, 2, 3
"""
VALUES = """
    select track.name, counter.ts, counter.value from counter join track on counter.track_id = track.id order by 1, 2
"""
ARROWS = """
    select a.name, b.name, a.ts < b.ts, ta.name, tb.name from flow
    join slice a on flow.slice_out = a.id join slice b on flow.slice_in = b.id
    join track ta on a.track_id = ta.id join track tb on b.track_id = tb.id order by a.ts
"""
FAULTS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
ARGUMENTS = """
    select key, coalesce(int_value, string_value) from slice join args using (arg_set_id)
    where slice.category = 'execute' and slice.name like 'WAIT%' order by slice.ts, slice.id, key limit 4
"""


@pytest.fixture(scope="module")
def seen() -> Traced:
    return traced(exchanges(4))


@pytest.fixture(scope="module")
def answers(seen: Traced) -> list[list[tuple]]:
    return Engine(written(seen.trace, "perfetto")).ask(SPANS, VALUES, ARROWS, FAULTS, ARGUMENTS)


def test_it_has_nothing_to_complain_of(answers: list) -> None:
    assert answers[3] == []


def test_it_counts_the_cycles_of_the_account(seen: Traced, answers: list) -> None:
    totals: dict[str, dict[str, int]] = {}
    for track, category, name, _, nanoseconds in answers[0]:
        heading = name if category in ("wait", "stall") else "busy"
        cycles = totals.setdefault(track, {})
        cycles[heading] = cycles.get(heading, 0) + nanoseconds // 10
    expected = account(seen.run)
    assert {track: totals[track] for track in expected} == expected


def test_it_sees_every_instruction(seen: Traced, answers: list) -> None:
    executed = {
        stream: sum(count for track, category, _, count, _ in answers[0] if (track, category) == (stream, "execute"))
        for stream in STREAMS
    }
    assert executed == {each.stream: each.instructions for each in seen.run.streams}


def test_it_sees_every_value_of_the_counters(seen: Traced, answers: list) -> None:
    expected = sorted(
        (track.name, 10 * cycle, float(value))
        for track, counter in seen.trace.counters.items()
        for cycle, value in zip(counter.cycles, counter.values, strict=True)
    )
    assert sorted(answers[1]) == expected


def test_its_arrows_go_from_signal_to_wait(seen: Traced, answers: list) -> None:
    assert len(answers[2]) == sum(flow.taken for flow in seen.run.ledger.signals.values())
    for giver, taker, forward, source, target in answers[2]:
        assert (giver.split()[0], taker.split()[0], forward) == ("SIGNAL", "WAIT", 1)
        assert giver.split()[1] == taker.split()[1]
        assert {source, target} == set(STREAMS)


def test_it_shows_cycle_place_and_source(answers: list) -> None:
    assert [key for key, _ in answers[4]] == ["debug.cycle", "debug.opcode", "debug.src", "debug.uPC"]


def test_texts_arrive_as_they_are() -> None:
    """All but a null character, at which the engine ends a text."""
    texts = [text for text in HOSTILE if "\0" not in text]
    trace = Trace(TraceClock(100), end=len(texts))
    for cycle, text in enumerate(texts):
        trace.track(EIGC).add(cycle, cycle + 1, trace.label(Label(text, Category.EXECUTE)))
    (rows,) = Engine(written(trace, "perfetto")).ask("select name from slice order by ts")
    assert [name for (name,) in rows] == texts
