"""Does every figure of a comparison have one standing, and does it follow from what the machine declares?"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from attila_bridge.drawing.grounds import grounds_of_gpu
from attila_bridge.time.config import PAPER
from gen6_bridge.drawing.grounds import grounds_of_units
from gen6_bridge.time import EuConfig
from pixelflow.simd.comparison import comparison_object, comparison_parts
from pixelflow.simd.comparison.fairness import uneven
from pixelflow.simd.comparison.illustrations import pictures_of, timelines_of
from pixelflow.simd.comparison.scorecard import FIGURES, formula_amount, scorecard_object, standing_of
from pixelflow.simd.config.constants import constants_of
from pixelflow.simd.config.param import param
from pixelflow.simd.drawing import (
    Comparison,
    DrawnFrame,
    FigureStanding,
    Frame,
    Ground,
    HowCounted,
    Origin,
    Picture,
    Work,
    ground_of,
)
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import RasterImage, Timeline, as_text
from pixelflow.simd.units import Constant, Standing
from tessellation.scenes import sized

PICTURE = Picture.empty(4, 3)
PRINTED = Constant("wait", 4, Standing.DERIVED, "a paper", unit="cycles")
GUESSED = Constant("miss", 20, Standing.INVENTED, "no source gives it", unit="cycles")
FITTED = Constant("start", 2, Standing.FITTED, "chosen so that a table comes out", unit="cycles")
SIDE = DrawnFrame(
    "Toy", 1, 8, 100.0, 1000, 900, {"draw": 600, "load": 400}, {"all": 9}, 0.5, None, {"texels": 64, "bins": 32},
    PICTURE,
    grounds={
        "clock_mhz": Ground.given(PRINTED), "lanes": Ground.given(PRINTED), "lane_bits": Ground.given(PRINTED),
        "cycles": Ground.executed(PRINTED, FITTED), "work": Ground.executed(PRINTED),
        "stages": Ground.executed(PRINTED), "stages: load": Ground.formula("bytes over a rate"),
        "mix": Ground.executed(), "covered_lanes": Ground.formula("by areas"),
        "traffic": Ground.formula("by counts", GUESSED), "traffic: texels": Ground.executed(PRINTED),
    },
)  # fmt: skip
TINY = Frame(48, 32, (9, 9, 9), (sized(48, 32, count=4, pixels=20),))
MACHINES = ("pixelflow", "larrabee", "attila", "gen6")


def standings(side: DrawnFrame) -> dict[str, str]:
    return {key: standing_of(side, key) or "-" for key in FIGURES}


def test_standings_follow_from_what_figures_are_made_of() -> None:
    """Worked by hand: what is made of several takes the word of the one that is founded least."""
    assert standings(SIDE) == {
        "clock_mhz": "given", "lanes": "given", "lane_bits": "given",
        "cycles": "fitted", "milliseconds": "fitted", "next_after": "fitted", "milliseconds_at": "fitted",
        "busy_cycles": "executed", "idle": "fitted", "lane_cycles": "executed", "lane_bit_cycles": "executed",
        "covered_lanes": "formula", "enabled_lanes": "-", "instructions": "executed",
        "bytes": "invented", "stages": "part", "picture": "not said", "left_out": "-",
    }  # fmt: skip
    assert formula_amount(SIDE, "stages", SIDE.stages) == 400
    assert formula_amount(SIDE, "traffic", SIDE.traffic) == 32


def test_what_overlaps_rests_on_its_own_ground() -> None:
    assert standing_of(replace(SIDE, interval=500), "next_after") == FigureStanding.UNSAID
    told = {**SIDE.grounds, "interval": Ground.executed(GUESSED)}
    assert standing_of(replace(SIDE, interval=500, grounds=told), "next_after") == FigureStanding.INVENTED


def test_grounds_of_two_are_what_rests_on_both() -> None:
    both = Ground.executed(PRINTED) | Ground.formula("how", GUESSED) | Ground.executed(PRINTED)
    assert both.origins == {Origin.EXECUTED, Origin.FORMULA} and both.constants == (PRINTED, GUESSED)
    assert ground_of({"a": Ground.executed()}, ["a", "b"]).standing is FigureStanding.UNSAID
    assert ground_of({"a: x": Ground.executed(FITTED)}, ["a"]).standing is FigureStanding.FITTED


def test_json_has_every_figure_once_and_what_it_rests_on() -> None:
    found = scorecard_object(SIDE)
    assert set(found["scorecard"]) == set(FIGURES)
    words = {*FigureStanding, "not counted"}
    assert all(each["standing"] in words for each in found["scorecard"].values())
    assert found["scorecard"]["bytes"]["invented"] == ["miss"] and found["constants"]["miss"]["value"] == 20
    assert found["scorecard_of_parts"]["bytes: texels"]["standing"] == "executed"
    assert found["scorecard_of_parts"]["bytes: bins"]["standing"] == "invented"
    assert found["scorecard_of_parts"]["stages: load"]["formulas"] == ["bytes over a rate"]
    assert json.dumps(found)


@dataclass(frozen=True)
class Given:
    wait: int = param(4, "a wait", unit="cycles", source="a paper", standing=Standing.DERIVED, low=1)


@dataclass(frozen=True)
class Guess:
    wait: int = param(4, "a wait", unit="cycles", source="nobody", standing=Standing.INVENTED, low=1)


def test_a_constant_of_another_standing_is_another_standing_of_the_figure() -> None:
    assert Ground.executed(*constants_of(Given())).standing is FigureStanding.EXECUTED
    assert Ground.executed(*constants_of(Guess())).standing is FigureStanding.INVENTED


def test_a_value_that_somebody_has_set_has_no_source() -> None:
    (moved,) = constants_of(Given(5))
    assert moved.standing is Standing.INVENTED and moved.source == "set; without, 4: a paper"
    assert grounds_of_gpu(PAPER)["cycles"].standing is FigureStanding.PART
    changed = grounds_of_gpu(PAPER.with_values({"memory.read_latency": 11}))["cycles"]
    assert changed.standing is FigureStanding.INVENTED
    assert [each.key for each in changed.resting_on(Standing.INVENTED)] == ["memory.read_latency"]
    assert grounds_of_units(EuConfig())["work"].standing is FigureStanding.EXECUTED
    assert grounds_of_units(EuConfig(issue_cycles=4))["work"].standing is FigureStanding.INVENTED


@pytest.fixture(scope="module")
def drawn() -> Comparison:
    """Four triangles on four machines."""
    records = [machine_named(name) for name in MACHINES]
    sides = tuple(record.draw(TINY) for record in records)
    built = {side.machine: record.built for side, record in zip(sides, records, strict=True)}
    return Comparison("tiny", 4, 0, sides[1].picture, sides, built=built)


def test_every_machine_declares_every_figure_and_all_of_its_work(drawn: Comparison) -> None:
    for side in drawn.sides:
        found = standings(side)
        assert FigureStanding.UNSAID not in found.values(), side.machine
        assert set(side.counted) == set(Work), side.machine
        assert found["picture"] == "executed" and found["instructions"] == "executed"
        constants = scorecard_object(side)["constants"].values()
        assert constants and all(each["source"] for each in constants), side.machine
        assert all(constant.source for constant in drawn.built[side.machine]), side.machine
        assert {"year"} <= {constant.key for constant in drawn.built[side.machine]}, side.machine


def test_words_of_standings_agree_with_declarations_of_the_machines(drawn: Comparison) -> None:
    """ATTILA's model has no invented rate, but fitted ones and two formulas; each of the others has invented ones."""
    cycles = {side.machine: standing_of(side, "cycles") for side in drawn.sides}
    assert cycles == {"PixelFlow": "invented", "Larrabee": "invented", "ATTILA": "part", "Gen6": "invented"}
    (attila,) = (side for side in drawn.sides if side.machine == "ATTILA")
    formulas = sum(count for name, count in attila.stages.items() if name.endswith("(formula)"))
    assert 0 < formulas == formula_amount(attila, "stages", attila.stages) < attila.cycles


def test_work_that_some_alone_count_is_told(drawn: Comparison) -> None:
    found = uneven(drawn)
    for work, (has, lacks) in found.items():
        sides = {side.machine: side.counted[work] for side in drawn.sides}
        assert {sides[name] for name in has} <= {HowCounted.PROGRAM, HowCounted.UNITS}
        assert not {sides[name] for name in lacks} & {HowCounted.PROGRAM, HowCounted.UNITS, HowCounted.NONE}
    assert Work.TESTS in found and found[Work.TESTS][1] == ["Gen6"] and Work.COLOURS not in found


@pytest.mark.parametrize("width", [80, 132])
def test_the_report_keeps_within_the_screen(drawn: Comparison, width: int) -> None:
    lines = as_text(list(comparison_parts(drawn)), width).splitlines()
    assert max(map(len, lines)) <= width
    assert any(line.split()[:1] == ["scorecard"] for line in lines)


def test_a_map_shows_the_pixels_that_are_off(drawn: Comparison) -> None:
    """Only ATTILA may draw other pixels here; of its map as many are not black as its report counts."""
    whole, *maps = pictures_of(drawn)
    assert isinstance(whole, RasterImage) and (whole.width, whole.height, whole.channels) == (48, 32, 3)
    off = {
        side.machine: (apart.colours, apart.depths)
        for side, apart in zip(drawn.sides, drawn.differences, strict=True)
        if apart.colours or apart.depths
    }
    assert set(off) == {"ATTILA"} and len(maps) == 1 and isinstance(maps[0], RasterImage)
    shades = list(maps[0].data)
    assert shades.count(255) == off["ATTILA"][0] and sum(shade > 0 for shade in shades) >= max(off["ATTILA"])


def test_timelines_are_those_of_the_cycles(drawn: Comparison) -> None:
    """Parts do one thing after the other; the last one ends the picture, but for the cycle in which ATTILA stops."""
    for side in drawn.sides:
        assert side.timeline, side.machine
        for _, spans in side.timeline:
            assert all(one.end <= other.start for one, other in pairwise(spans)), side.machine
        last = max(span.end for _, spans in side.timeline for span in spans)
        assert side.cycles - (side.machine == "ATTILA") <= last <= side.cycles, side.machine
    common, *own = timelines_of(drawn)
    assert isinstance(common, Timeline) and len(own) == len(drawn.sides)
    ends: dict[str, int] = {}
    for name, spans in common.lanes:
        machine = name.partition(",")[0]
        ends[machine] = max(ends.get(machine, 0), *(span.end for span in spans))
    assert ends == {side.machine: pytest.approx(side.milliseconds * 1e6, abs=2) for side in drawn.sides}


def test_subsets_have_the_same_standings(drawn: Comparison) -> None:
    whole = {each["machine"]: each["scorecard"] for each in comparison_object(drawn)["machines"]}
    for pair in (drawn.sides[:2], drawn.sides[1:3], drawn.sides[3:]):
        part = comparison_object(replace(drawn, sides=pair))
        assert {each["machine"]: each["scorecard"] for each in part["machines"]} == {
            side.machine: whole[side.machine] for side in pair
        }
        assert set(part["fairness"]["machines"]) == {side.machine for side in pair}
