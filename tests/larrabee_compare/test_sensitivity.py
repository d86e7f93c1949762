"""The table of what Larrabee's values are worth: sorted, executed, complete."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from larrabee_bridge.compare import CORES, larrabee_sensitivity
from larrabee_bridge.line_streams import streams_of
from larrabee_bridge.pipeline.picture import draw_on_larrabee
from larrabee_bridge.pipeline.texture_unit import TextureConfig
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.cli.main import main
from pixelflow.simd.configuration import leaves
from pixelflow.simd.report.html import json_text
from tessellation.scenes import SceneSource, load_scene

SIZE = (64, 48)


def test_every_value_says_what_else_is_tried_or_is_no_guess() -> None:
    without = [
        key for values in (CoreConfig(), TextureConfig()) for key, known, _, _ in leaves(values) if not known.moved
    ]
    assert without == ["caches", "warm_caches"]  # switches


def test_streams_say_which_value_limits_them() -> None:
    """A load waits 310 in each of four threads; 32 prefetches take 310; stores have a loop of three cycles."""
    loads, prefetches, stores = streams_of(CoreConfig(caches=True))
    assert loads.cycles == pytest.approx(313 / 4, rel=0.01) and [key for key, _ in loads.limits] == ["memory_cycles"]
    assert prefetches.cycles < 310 / 32 and [key for key, _ in prefetches.limits] == [
        "memory_cycles",
        "misses_under_way",
    ]
    assert stores.cycles == 3 and not stores.limits
    slow = streams_of(CoreConfig(caches=True, write_line_cycles=16))[2]
    assert slow.cycles == pytest.approx(16, rel=0.1) and [key for key, _ in slow.limits] == ["write_line_cycles"]


@pytest.mark.slow
def test_the_table_is_sorted_and_executed() -> None:
    report = larrabee_sensitivity(lambda text: None, SIZE)
    found = json.loads(json_text(report))
    rows = found["changes"]
    largest = [max(abs(row["still"]), abs(row["glass"])) for row in rows]
    assert largest == sorted(largest, reverse=True)
    frame = load_scene("still", SceneSource(size=SIZE)).frame
    usual, slow = (
        draw_on_larrabee(frame, parts=CORES, config=each).cycles
        for each in (CoreConfig(), replace(CoreConfig(), memory_cycles=1000))
    )
    (row,) = (row for row in rows if (row["key"], row["value"]) == ("memory_cycles", "1000"))
    assert row["still"] == pytest.approx(100 * (slow / usual - 1))
    assert found["cycles"]["still"] == usual


def test_values_of_the_node_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "sensitivity", "--machine", "larrabee", "-D", "clock_mhz=50"]) == 2
    assert "change nothing on larrabee" in capsys.readouterr().err


def test_a_study_that_a_machine_has_not_takes_no_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "supply", "--machine", "larrabee"]) == 2
    assert "--machine" in capsys.readouterr().err
