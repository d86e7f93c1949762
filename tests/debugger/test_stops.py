"""Does a run stop exactly where it was told to? The oracle looks at the run after every single cycle."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from pixelflow.debugger import (
    Bytes,
    Changed,
    Cycle,
    DebugSession,
    Hit,
    PeExpression,
    Semaphore,
    StopCondition,
    find_code,
)
from pixelflow.debugger.debug_session import Anywhere
from pixelflow.observe import Blocked, Executed, Signalled, Taken, Waited
from pixelflow.simd.errors import InputError
from tests.debugger import programs

LONG = """\
range x[4]
range y[2]
data x: lane
EMC_TreeIntoMem_Li y, 1, 1, 0, 0
LOOP 3
    CALL bump, x
    CALL bump, x[1]
    JMP skip
    LD R, #9
skip:
    ST y[1], R
ENDL
EMC_PixCopy x[2], y, 2, 4
proc bump(d)
    LD R, d
    ADD R, #1
    ST d, R
    STI d[1], #0
end
"""


def _session(name: str) -> DebugSession:
    return DebugSession(programs.replay_of(LONG) if name == "long" else programs.saved(name).replay())


@cache
def _events(name: str) -> tuple:
    """Everything that an uninterrupted run tells about instructions and semaphores."""
    heard: list = []
    replay = _session(name).replay
    replay.hear(heard.append, Executed, Signalled, Taken, Blocked, Waited)
    replay.goto(1 << 40)
    return tuple(heard)


def _positions(session: DebugSession) -> list[int]:
    found = []
    while session.go_on().hits:
        found.append(session.replay.position)
    assert session.replay.ended
    return found


PLACES = {
    "an address": ("long", "*8"),
    "a line": ("long", "5"),
    "a file and a line": ("texture_copy", "texture_copy.mc:38"),
    "a label": ("long", "skip"),
    "a routine": ("mandelbrot", "keep_below"),
    "texture code": ("texture_copy", "68"),
}


@pytest.mark.parametrize("kind", PLACES)
def test_a_place_stops_the_run_whenever_it_is_reached(kind: str) -> None:
    name, place = PLACES[kind]
    session = _session(name)
    code = find_code(session.program, place)
    wanted = {each.cycle for each in _events(name) if isinstance(each, Executed) and each.index in code.indices}
    session.add(code)
    assert _positions(session) == sorted(wanted - {0}), "a run that stands at a place goes on from it"
    assert wanted, place


def test_a_place_stops_the_run_every_third_time() -> None:
    session, every = _session("mandelbrot"), _session("mandelbrot")
    session.add(find_code(session.program, "keep_below"), 3)
    every.add(find_code(every.program, "keep_below"))
    assert _positions(session) == _positions(every)[2::3]


def test_a_line_that_was_put_in_several_places_stops_in_each() -> None:
    session = _session("texture_copy")
    code = find_code(session.program, "38")
    assert len(code.indices) == 4
    assert {session.program.line_at(index).line for index in code.indices} == {38}


@pytest.mark.parametrize("name", ["texture_copy", "exchange"])
def test_a_semaphore_stops_the_run(name: str) -> None:
    events = [each for each in _events(name) if isinstance(each, Signalled | Taken | Waited)]
    session = _session(name)
    session.add(Semaphore(1))
    wanted = {each.cycle for each in events if not isinstance(each, Waited) and each.semaphore == 1}
    wanted |= {each.cycle for each in events if isinstance(each, Waited) and each.reason == "sem 1"}
    assert _positions(session) == sorted(wanted - {0})


def test_a_cycle_stops_the_run() -> None:
    session = _session("exchange")
    for cycle in (3000, 17, 2048, 1 << 30):
        session.add(Cycle(cycle))
    assert _positions(session) == [17, 2048, 3000]


def test_a_semaphore_is_not_the_cycle_of_its_number() -> None:
    session = _session("exchange")
    session.add(Semaphore(17))
    session.add(Cycle(17))
    assert [hit.stop.number for hit in session.go_on().hits] == [2]


def _writes(name: str, start: int, size: int, lanes: list[int]) -> list[tuple[int, list[int]]]:
    """By looking after every cycle: (cycle, PEs) in which these bytes of these PEs changed."""
    replay = _session(name).replay
    found = []
    before = replay.node.read_memory(start, size)[:, lanes]
    while not replay.ended:
        cycle = replay.position
        replay.advance(cycle + 1)
        after = replay.node.read_memory(start, size)[:, lanes]
        changed = np.flatnonzero((before != after).any(axis=0))
        if len(changed):
            found.append((cycle, [lanes[at] for at in changed]))
        before = after
    return found


WATCHED = {
    "a range": ("long", "x", 0, 4, None),
    "a byte of it": ("long", "x[1]", 1, 1, None),
    "some PEs": ("long", "x", 0, 4, (3, 70)),
    "a copy between PEs": ("long", "x[2]", 2, 1, None),
    "the input port": ("texture_copy", "320-323", 320, 4, None),
    "what two streams work on": ("exchange", "t", 0, 8, None),
}


@pytest.mark.parametrize("kind", WATCHED)
def test_a_watch_finds_every_write_and_who_did_it(kind: str) -> None:
    name, text, start, size, lanes = WATCHED[kind]
    session = _session(name)
    session.add(Bytes(text, start, size, lanes))
    found = []
    while hits := session.go_on().hits:
        (hit,) = hits
        assert isinstance(hit, Changed) and session.replay.position == hit.cycle + 1
        assert (hit.before != hit.after).any(axis=0).all()
        found.append((hit.cycle, hit.lanes.tolist()))
        began = {(e.stream, e.index) for e in _events(name) if isinstance(e, Executed) and e.cycle == hit.cycle}
        ended = {(e.stream, e.index) for e in _events(name) if isinstance(e, Waited) and e.end == hit.cycle}
        assert hit.by and set(hit.by) <= began | ended
    wanted = _writes(name, start, size, list(range(session.node.lanes)) if lanes is None else list(lanes))
    assert found == wanted and wanted


def test_what_is_written_without_a_change_does_not_stop() -> None:
    replay = programs.replay_of("range x[1]\nLD R, #0\nST x, R\nLD R, #1\nST x, R\nST x, R\n")
    session = DebugSession(replay)
    session.add(Bytes("x", 0, 1, None))
    assert [hit.cycle for hit in session.go_on().hits] == [3]
    assert not session.go_on().hits


def test_settings_of_the_tasics_have_written_nothing() -> None:
    """Both streams begin an instruction in every cycle; only one of them can reach the memory of PEs."""
    settings = "stream tigc\n" + "TAS_SetStep 4\n" * 4 + "HALT\n"
    session = DebugSession(programs.replay_of("range x[1]\nSTI x, #1\nLD R, #2\nST x, R\nHALT\n" + settings))
    session.add(Bytes("x", 0, 1, None))
    found = []
    while hits := session.go_on().hits:
        found.append((hits[0].cycle, hits[0].by))
    assert found == [(0, (("eigc", 0),)), (2, (("eigc", 2),))]


def test_stops_are_met_on_the_way_over_a_call_and_out_of_one() -> None:
    session = _session("long")
    names = {name: min(find_code(session.program, name).indices) for name in ("6", "7", "bump")}
    session.goto(2)
    assert session.replay.ahead("eigc").control == (1, names["6"])
    session.step_over("eigc")
    assert session.replay.position == 6, "over the first call, before the second"
    session.step()
    assert session.depth("eigc") == 1 and session.replay.position == 7
    session.leave("eigc")
    assert session.depth("eigc") == 0 and session.replay.position == 10
    stop = session.add(find_code(session.program, "bump"))
    session.goto(2)
    (hit,) = session.step_over("eigc").hits
    assert isinstance(hit, Hit) and hit.stop is stop and session.replay.position == 6
    with pytest.raises(InputError, match="EIGC is in its main program"):
        session.goto(0)
        session.leave("eigc")


def test_an_interrupted_movement_can_be_gone_on_with() -> None:
    session = _session("mandelbrot")

    def interrupt(event: Executed) -> None:
        session.interrupted = session.interrupted or event.cycle > 5000

    session.replay.hear(interrupt, Executed)
    outcome = session.go_on()
    assert outcome.interrupted and 5000 < session.replay.position < 8000
    session.replay.bus.unsubscribe(interrupt)
    assert not session.go_on().interrupted and session.replay.ended
    assert session.node.digest() == programs.saved("mandelbrot").end.digest


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("*1000", "word 1000 is not the start of an instruction"),
        ("*x", "is not a word address"),
        ("bmp", "no label or routine 'bmp'\n    did you mean bump?"),
        ("99", "has no instruction from line 99 on"),
        ("other.mc:3", "no instruction comes from 'other.mc'"),
    ],
)
def test_places_that_do_not_exist_are_refused(place: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        find_code(_session("long").program, place)
    assert message in str(raised.value)


def test_stops_can_be_forgotten() -> None:
    session = _session("long")
    stop = session.add(Cycle(3))
    session.stops.forget(stop.number)
    assert _positions(session) == []
    with pytest.raises(InputError, match=r"there is no stop 1 \(there is: none\)"):
        session.stops.forget(1)


def _back_positions(session: DebugSession) -> list[int]:
    found = []
    while session.go_back().hits:
        found.append(session.replay.position)
    assert session.replay.position == 0
    return found


@pytest.mark.parametrize("every", [3, 2048])
def test_going_back_meets_the_same_stops_the_other_way_round(every: int) -> None:
    session = DebugSession(programs.replay_of(LONG, every=every))
    program = session.program
    bump = find_code(program, "bump")
    session.add(bump)
    session.add(Cycle(7))
    session.add(Bytes("x", 0, 4, None))
    session.add(Anywhere(), condition=StopCondition(PeExpression.read("count(R == 4) > 0", program)))
    there = _positions(session)
    assert len(there) > 12 and session.replay.ended
    assert _back_positions(session) == there[::-1]


def test_a_stop_that_counts_counts_on_the_way_back() -> None:
    session = _session("long")
    stop = session.add(find_code(session.program, "bump"))
    there = _positions(session)
    stop.count, stop.met = 2, 0
    assert _back_positions(session) == there[::-1][1::2]
    assert [session.go_back().hits, session.replay.position] == [(), 0]
