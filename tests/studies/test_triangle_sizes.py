"""Do sizes of triangles cross where closed forms say, and is the table of the command what machines drew?"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.simd.comparison.triangle_sizes import crossings, sizes_drawn, sizes_report
from pixelflow.simd.drawing import DrawnFrame, Frame, Picture, draw_frame, spans_of
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import json_text
from tessellation.scenes import sized


def formula(clock: float, lanes: int, bits: int, cycles: Callable[[float], float]) -> Callable[[Frame], DrawnFrame]:
    """Return a machine whose cycles are a function of the mean area of the triangles that it is given."""

    def draw(frame: Frame) -> DrawnFrame:
        corners = frame.draws[0].triangles.corners / 256
        (ax, ay), (bx, by) = (np.moveaxis(corners[:, k] - corners[:, 0], -1, 0) for k in (1, 2))
        taken = round(len(corners) * cycles(float(np.abs(ax * by - ay * bx).mean() / 2)))
        nothing = Picture(np.zeros((1, 1, 3), np.uint8), np.zeros((1, 1), np.int64))
        return DrawnFrame("", 1, lanes, clock, taken, taken, {}, {}, 0, None, {}, nothing, lane_bits=bits)

    return draw


def picture(pixels: int) -> Frame:
    return Frame(640, 480, (0, 0, 0), (sized(640, 480, count=6, pixels=pixels),))


SIDES = {
    "wide": formula(100, 1000, 8, lambda pixels: 50),
    "fast": formula(1000, 16, 32, lambda pixels: 10 + pixels),
}
"""Equal in cycles at 40 pixels; in time at 490; in bits, 400,000 and 512 (10 + pixels), at 771.25."""


def test_machines_cross_where_their_cycles_are_equal() -> None:
    rows = sizes_drawn(SIDES, picture, lambda text: None, (1, 10, 100, 1000))
    found = {each.measure: each for each in crossings(rows)}
    assert {each.before for each in found.values()} == {"fast"} and {each.after for each in found.values()} == {"wide"}
    for measure, at in (("cycles", 40), ("milliseconds", 490), ("cycles x lane bits", 771.25)):
        each = found[measure]
        assert each.above <= at <= each.below <= 1.25 * each.above
    sizes = [row.pixels for row in rows]
    assert sizes == sorted(set(sizes)) and {1, 10, 100, 1000} <= set(sizes)


def test_where_nothing_crosses_nothing_is_drawn_between() -> None:
    sides = {"one": formula(100, 1, 1, lambda pixels: pixels), "other": formula(100, 1, 1, lambda pixels: 2 * pixels)}
    rows = sizes_drawn(sides, picture, lambda text: None, (100, 3))
    assert [row.pixels for row in rows] == [3, 100] and crossings(rows) == []
    report = sizes_report(rows)
    assert json.loads(json_text(report))["crossings"] == []
    assert "no crossing" in str(report.results)


def test_neighbours_that_are_a_pixel_apart_have_nothing_between_them() -> None:
    sides = {"one": formula(1, 1, 1, lambda pixels: 15), "other": formula(1, 1, 1, lambda pixels: 10 * pixels)}
    rows = sizes_drawn(sides, picture, lambda text: None, (1, 2))
    assert [row.pixels for row in rows] == [1, 2]
    assert {(each.above, each.below) for each in crossings(rows)} == {(1, 2)}


@pytest.mark.slow
def test_the_command_draws_what_machines_draw(capsys: pytest.CaptureFixture[str]) -> None:
    told = ["study", "triangle-sizes", "--sizes", "40", "--count", "6", "--cores", "2"]
    assert main([*told, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["sizes"]
    frame = picture(40)
    draw = machine_named("larrabee").draw
    assert draw is not None
    side = draw(frame, parts=2)
    assert side.picture.equals(draw_frame(frame))
    assert row["larrabee_cycles"] == pytest.approx(side.cycles / 6)
    assert row["larrabee_nanoseconds"] == pytest.approx(side.cycles / 6)  # at 1 GHz
    assert row["larrabee_lane_bits"] == pytest.approx(side.work * 16 * 32 / 6)
    assert row["pixelflow_nanoseconds"] == pytest.approx(10 * row["pixelflow_cycles"])
    assert row["covered_pixels"] == pytest.approx(spans_of(frame.draws[0].triangles, 640, 480).pixels.sum() / 6)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--sizes", "4,0"], 2, "expected a whole number above 0"),
        (["--cores", "65"], 2, "1 to 64"),
        (["--sizes", "100000000"], 3, "do not fit"),
        (["--eus", "2"], 2, "is Gen6's"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        found = main(["study", "triangle-sizes", *words])
    except SystemExit as left:
        found = left.code
    assert found == code and message in capsys.readouterr().err
