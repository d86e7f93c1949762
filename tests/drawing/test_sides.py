"""A machine's account beside others: idle parts, rate beside latency, lanes by their bits, clocks exchanged."""

from dataclasses import replace

import pytest

from pixelflow.simd.comparison import comparison_object, comparison_parts
from pixelflow.simd.drawing import Comparison, DrawnFrame, Picture
from pixelflow.simd.report import as_text

PICTURE = Picture.empty(4, 3, (0, 0, 0))
SIDE = DrawnFrame("Toy", 4, 32, 100.0, 1000, 3000, {"all": 3000}, {"all": 9}, 0.5, None, {}, PICTURE, lane_bits=8)
"""Four parts of eight lanes: 1,000 cycles, in which three of four have something to do."""


def test_parts_that_wait_are_idle() -> None:
    assert SIDE.idle == 0.25
    assert (
        replace(SIDE, work=4000).idle == 0 and replace(SIDE, work=4001).idle == 0 and replace(SIDE, cycles=0).idle == 0
    )


def test_pictures_that_overlap_follow_sooner_than_one_takes() -> None:
    assert SIDE.next_after == 1000
    assert replace(SIDE, interval=800).next_after == 800


def test_time_goes_with_the_clock() -> None:
    assert SIDE.milliseconds == SIDE.milliseconds_at(100) == 0.01
    assert SIDE.milliseconds_at(1000) == pytest.approx(0.001)


def test_clocks_are_exchanged_where_they_differ() -> None:
    """3,000 busy cycles of 8 lanes of 8 bits are 192,000; the other's of 32 bits four times that."""
    other = replace(SIDE, machine="Other", clock_mhz=1000.0, lane_bits=32, interval=500)
    found = Comparison("scene", 1, 0, PICTURE, (SIDE, other))
    text = as_text(list(comparison_parts(found)), 80)
    rows = {line[:30].strip(): line[30:].split() for line in text.partition("scorecard")[0].splitlines()}
    table = {name.split("  ")[0]: values for name, values in rows.items()}
    assert "at 100 MHz each, ms" in text and "at 1000 MHz each, ms" in text
    assert table["cycles x lane bits, millions"] == ["0.192", "?", "0.768", "?"], "no ground is declared here"
    first, second = comparison_object(found)["machines"]
    assert first["milliseconds_at"] == second["milliseconds_at"] == {"100": 0.01, "1000": pytest.approx(0.001)}
    assert (first["next_after"], second["next_after"]) == (1000, 500)
    same = Comparison("scene", 1, 0, PICTURE, (SIDE, replace(other, clock_mhz=100.0)))
    assert "MHz each" not in as_text(list(comparison_parts(same)), 80)
