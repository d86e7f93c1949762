"""Names and order of tracks, exact times, and what a selection lets through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixelflow.simd.trace import Selection, TraceClock, Track, TrackKind, unknown_track
from pixelflow.simd.trace.trace_model import Counter
from tests.trace.runs import KNOWN


@pytest.mark.parametrize("track", KNOWN, ids=lambda track: track.name)
def test_a_track_is_known_by_its_name(track: Track) -> None:
    assert Track.named(track.name) == track


def test_tracks_stand_in_the_order_of_the_machine() -> None:
    wanted = (
        "runs eigc eigc.stages eigc.routines tigc tigc.stages tasic[2] tasic[10] gni.store0 sem.3 sem.10 enabled[0]"
    )
    names = [name.replace(".", " ") for name in wanted.split()]
    tracks = [Track.named(name) for name in reversed(names)]
    assert [track.name for track in sorted(tracks, key=lambda track: track.order)] == names


@given(st.integers(1, 1000), st.integers(0, 10**12))
def test_every_cycle_has_a_nanosecond_of_its_own_up_to_1000_mhz(mhz: int, cycle: int) -> None:
    clock = TraceClock(mhz)
    assert clock.tells_apart(10**9)
    assert clock.cycle(clock.ticks(cycle, 10**9), 10**9) == cycle
    assert clock.ticks(cycle + 1, 10**9) > clock.ticks(cycle, 10**9)


def test_a_cycle_of_100_mhz_is_10_ns() -> None:
    assert TraceClock(100).ticks(7, 10**9) == 70
    assert not TraceClock(1001).tells_apart(10**9)


def test_a_counter_keeps_the_last_value_of_a_cycle_and_no_value_twice() -> None:
    counter = Counter("PEs")
    for cycle, value in ((0, 5), (3, 5), (4, 6), (4, 7), (6, 8), (6, 7), (9, 2)):
        counter.set(cycle, value)
    assert list(zip(counter.cycles, counter.values, strict=True)) == [(0, 5), (4, 7), (9, 2)]


@pytest.mark.parametrize(
    ("text", "window"),
    [("10:20", (10, 20)), (":20", (0, 20)), ("10:", (10, None)), (":", (0, None)), ("1_000:2_000", (1000, 2000))],
)
def test_a_window_is_two_cycles_of_which_either_may_be_missing(text: str, window: tuple) -> None:
    selection = Selection.of(text)
    assert (selection.begin, selection.end) == window


@pytest.mark.parametrize("text", ["", "10", "20:10", "10:10", ":0", "-1:5", "a:b", "1:2:3", "1.5:2", "_:5x"])
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"window|two cycles"):
        Selection.of(text)


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        (0, 10, None),
        (0, 11, (10, 11)),
        (12, 15, (12, 15)),
        (0, 99, (10, 20)),
        (19, 21, (19, 20)),
        (20, 21, None),
        (10, 10, (10, 10)),
        (20, 20, None),
    ],
)
def test_a_window_cuts_spans_at_both_edges(start: int, end: int, shown: tuple | None) -> None:
    assert Selection(10, 20).clip(start, end) == shown


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("eigc", ["eigc"]),
        ("EIGC*", ["eigc", "eigc stages", "eigc routines"]),
        ("tasic[1]", ["tasic[1]"]),
        ("tasic[?]", ["tasic[0]", "tasic[1]", "tasic[2]", "tasic[3]"]),
        ("* stages", ["eigc stages", "tigc stages"]),
    ],
)
def test_brackets_stand_for_themselves_and_stars_for_anything(pattern: str, names: list[str]) -> None:
    selection = Selection(only=(pattern,))
    assert [track.name for track in KNOWN if selection.wants(track)] == names
    assert unknown_track(pattern, KNOWN) is None


def test_wires_are_shown_only_where_they_are_asked_for() -> None:
    wire = Track(TrackKind.WIRE, "tasic[0].inbound")
    assert not Selection().wants(wire)
    assert not Selection(only=("*",)).wants(wire)
    assert Selection(only=("wire *inbound",)).wants(wire)
    assert unknown_track("wire tasic*", KNOWN) is None


@pytest.mark.parametrize(("pattern", "near"), [("eicg", "eigc"), ("tasics[1]", "tasic[1]"), ("sem2", "sem 2")])
def test_an_unknown_track_is_told_the_nearest_name(pattern: str, near: str) -> None:
    assert f"{near}?" in unknown_track(pattern, KNOWN)
