"""A machine's account among others: imbalance, waiting, rate and latency, bits of lanes, clocks exchanged."""

from dataclasses import replace

import pytest

from pixelflow.simd.comparison import comparison_object, comparison_topics
from pixelflow.simd.drawing import (
    Comparison,
    DrawnFrame,
    Picture,
)
from pixelflow.simd.report import as_text

PICTURE = Picture.empty(4, 3, (0, 0, 0))
SIDE = DrawnFrame("Toy", 4, 32, 100.0, 1000, 3000, {"all": 3000}, {"all": 9}, 0.5, None, {}, PICTURE, lane_bits=8)
"""Four parts of eight lanes: 1,000 cycles, in which three of four have something to do."""


def test_what_is_lost_to_imbalance_is_apart_from_other_waiting() -> None:
    """Worked by hand: four parts of 1,000 cycles, of 4,000 together 3,000 busy, so that 1,000 are lost."""
    assert SIDE.imbalance is None and SIDE.waiting is None, "the ends of the parts are not known"
    even = replace(SIDE, ended=(1000, 1000, 1000, 1000))
    assert (even.imbalance, even.waiting) == (0, 0.25)
    # 0 + 200 + 400 + 100 after the parts' own ends; 1,000 - 700 before.
    uneven = replace(SIDE, ended=(1000, 800, 600, 900))
    assert (uneven.imbalance, uneven.waiting) == (0.175, 0.075)
    # The picture ends 100 cycles after the last part: all four wait for it. 0 + 100 + 300 + 0 are imbalance.
    after = replace(SIDE, ended=(900, 800, 600, 900))
    assert (after.imbalance, after.waiting) == (0.1, 0.15)
    # One that never had anything to do loses all of the longest's cycles: 1,000; its work is that of three.
    assert replace(SIDE, ended=(1000, 1000, 1000, 0)).imbalance == 0.25
    # Of 3,000 busy cycles 600 count twice: 2,400 are busy, 1,600 are not.
    assert replace(uneven, twice=600).waiting == pytest.approx(0.175 + 0.15 - 0.1)
    alone = replace(SIDE, parts=1, work=900)
    assert (alone.imbalance, alone.waiting) == (0, 0.1)
    assert replace(alone, cycles=0, work=0).waiting == 0


def test_busy_imbalance_and_waiting_are_all_cycles() -> None:
    for ended in ((1000, 800, 600, 900), (750, 750, 750, 750), (1000, 1000, 1000, 0)):
        side = replace(SIDE, ended=ended, twice=40)
        assert side.imbalance is not None and side.waiting is not None
        assert (side.work - side.twice) / 4000 + side.imbalance + side.waiting == pytest.approx(1)


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
    (cycles, *_) = comparison_topics(found, {})
    text = as_text(cycles.parts, 80)
    assert "at 100 MHz each" in text and "at 1000 MHz each" in text
    (row,) = (line.split()[-2:] for line in text.splitlines() if line.startswith("cycles x lane bits, millions"))
    assert row == ["0.192", "0.768"]
    first, second = comparison_object(found)["machines"]
    assert first["milliseconds_at"] == second["milliseconds_at"] == {"100": 0.01, "1000": pytest.approx(0.001)}
    assert (first["next_after"], second["next_after"]) == (1000, 500)
    same = Comparison("scene", 1, 0, PICTURE, (SIDE, replace(other, clock_mhz=100.0)))
    (cycles, *_) = comparison_topics(same, {})
    assert "MHz each" not in as_text(cycles.parts, 80)
