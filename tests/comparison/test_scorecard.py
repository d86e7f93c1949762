"""Does every figure of a comparison have one standing, and does it follow from what the machine declares?"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from attila_bridge.picture import grounds_of_gpu
from attila_bridge.time.config import PAPER
from gen6_bridge.drawing.account import grounds_of_units
from gen6_bridge.time import EuConfig
from pixelflow.config import load_config
from pixelflow.node import Guesses
from pixelflow.simd.comparison import comparison_object, comparison_parts
from pixelflow.simd.comparison.comparison import asked_of
from pixelflow.simd.comparison.comparison_figure import dashboard_parts, pictures_of, timelines_of
from pixelflow.simd.comparison.scorecard import (
    FIGURES,
    MARKS,
    formula_amount,
    marks_line,
    scorecard_object,
    standing_lines,
    standing_of,
    standings_of,
    uneven,
)
from pixelflow.simd.configuration import constants_of, param
from pixelflow.simd.drawing import (
    Blend,
    Bound,
    Comparison,
    Draw,
    DrawnFrame,
    FigureStanding,
    Frame,
    FreeWork,
    Ground,
    HowCounted,
    Origin,
    Picture,
    State,
    Work,
    ground_of,
)
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import RasterImage, Table, Timeline, as_text
from pixelflow.simd.units import Constant, Standing
from tessellation.rendering.account import grounds_of_nodes
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
WHOLE = (HowCounted.PROGRAM, HowCounted.UNITS, HowCounted.NONE)
TINY = Frame(48, 32, (9, 9, 9), (sized(48, 32, count=4, pixels=20),))
MACHINES = ("pixelflow", "larrabee", "attila", "gen6")


def standings(side: DrawnFrame) -> dict[str, str]:
    return {key: standing_of(side, key) or "-" for key in FIGURES}


def test_standings_follow_from_what_figures_are_made_of() -> None:
    """Worked by hand: what is made of several takes the word of the one that is founded least."""
    assert standings(SIDE) == {
        "clock_mhz": "given", "lanes": "given", "lane_bits": "given",
        "cycles": "fitted", "milliseconds": "fitted", "next_after": "fitted", "milliseconds_at": "-",
        "busy_cycles": "executed", "imbalance": "fitted", "waiting": "fitted",
        "lane_cycles": "executed", "lane_bit_cycles": "executed",
        "covered_lanes": "formula", "enabled_lanes": "-", "instructions": "executed",
        "bytes": "invented", "stages": "part", "picture": "not said", "left_out": "-",
    }  # fmt: skip
    assert formula_amount(SIDE, "stages", SIDE.stages) == 400
    assert formula_amount(SIDE, "traffic", SIDE.traffic) == 32


def test_time_at_anothers_clock_rests_on_that_clock_too() -> None:
    """Cycles are fitted; the other's clock is printed, invented or unsaid."""
    same, printed = replace(SIDE, machine="Same"), replace(SIDE, machine="Other", clock_mhz=200.0)
    guessed, unsaid = ({**SIDE.grounds, "clock_mhz": each} for each in (Ground.given(GUESSED), Ground()))
    for other, standing in (
        (same, None),
        (printed, FigureStanding.FITTED),
        (replace(printed, grounds=guessed), FigureStanding.INVENTED),
        (replace(printed, grounds=unsaid), FigureStanding.UNSAID),
    ):
        assert standing_of(SIDE, "milliseconds_at", (SIDE, other)) == standing, other.machine
    found = scorecard_object(SIDE, (SIDE, replace(printed, grounds=guessed)))["scorecard"]["milliseconds_at"]
    assert found["invented"] == ["Other: miss"]


def test_each_figure_has_the_letter_of_its_standing() -> None:
    """The standings worked by hand above, after the figures; what is not counted has none."""
    found = Comparison("toy", 1, 0, PICTURE, (SIDE,))
    table = next(each for each in comparison_parts(found) if isinstance(each, Table))
    cells = {row[0]: row[1] for row in table.rows}
    assert cells["cycles for the picture"] == "1,000 f" and cells["time for the picture, ms"] == "0.01 f"
    assert cells["clock, MHz"] == "100 g" and cells["lanes of a block covered"] == "50.0 % w"
    assert cells["bytes moved"] == "96 i" and cells["instructions"] == "9 e"
    assert cells["lost to imbalance"] == "0 % f" and cells["waiting besides"] == "10.0 % f"
    assert cells["lanes enabled, all cycles"] == "-  "
    letters = {FIGURES[key]: MARKS[FigureStanding(each)] for key, each in standings(SIDE).items() if each != "-"}
    assert {label: cell.split()[-1] for label, cell in cells.items() if cell != "-  "}.items() <= letters.items()
    line = marks_line((SIDE,))
    words = (
        "e executed, f fitted, i invented, w worked out by a formula, g given"  # no *p*: of stages, not in the table
    )
    assert set(words.split(", ")) == set(line.partition(": ")[2].rstrip(".").split(", "))


def test_what_is_left_out_rests_on_the_rates_of_its_formulas() -> None:
    unknown, printed = FreeWork("light", Bound.OPEN, "no rate"), FreeWork("way", Bound.FLOOR, "", 9, (), (PRINTED,))
    guessed = FreeWork("memory", Bound.ABOUT, "", 7, (), (GUESSED,))
    for free, standing in (
        ((unknown,), None),
        ((unknown, printed), FigureStanding.FORMULA),
        ((printed, guessed), FigureStanding.INVENTED),
    ):
        assert standing_of(replace(SIDE, free=free), "left_out") == standing


def test_a_table_of_several_pictures_has_all_standings_of_its_figures() -> None:
    weak = replace(SIDE, grounds={**SIDE.grounds, "covered_lanes": Ground.executed(GUESSED)})
    figures = {"lit": ("covered_lanes", "instructions"), "enabled": ("enabled_lanes",)}
    found = standings_of([("Toy", SIDE), ("Toy", weak)], figures)
    assert found == {"Toy": {"lit": "invented or part", "enabled": "not counted"}}
    assert list(standing_lines(found)) == ["Toy: invented or part: lit; not counted: enabled"]


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


@pytest.mark.parametrize(("supply", "keys"), [("igc.supply=0", set()), ("igc.supply=800", {"clock_mhz"})])
def test_cycles_of_a_node_rest_on_its_clock_where_words_come_at_a_rate(supply: str, keys: set[str]) -> None:
    used = Guesses({}, {}, moved=("clock_mhz",))
    ground = grounds_of_nodes(used, load_config(None, ["clock_mhz=50", supply]), composed=False)["cycles"]
    assert {each.key for each in ground.resting_on(Standing.INVENTED)} == keys


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
    assert found[Work.TESTS].free == ["Gen6"] and not found[Work.TESTS].partly and Work.COLOURS not in found
    # Light is in part in the cycles of two, and a driver by formula in those of one.
    assert found[Work.VERTICES].partly == ["Larrabee", "ATTILA"] and not found[Work.VERTICES].counted
    assert found[Work.COMMANDS].partly == ["ATTILA"] and found[Work.COMMANDS].free == ["PixelFlow", "Larrabee", "Gen6"]
    assert Work.BINNING in found and "ATTILA" not in str(found[Work.BINNING])  # it has no such work


def test_whatever_is_not_wholly_in_the_cycles_is_among_what_is_left_out(drawn: Comparison) -> None:
    layers = Frame(
        48,
        32,
        (9, 9, 9),
        (Draw("glass", TINY.draws[0].triangles, State(blend=Blend.SORTED, alpha=99, depth_write=False)),),
    )
    records = [machine_named(name) for name in MACHINES]
    for side in (*drawn.sides, *(record.draw(layers) for record in records)):
        listed = {work for each in side.free for work in each.of}
        short = {work for work in asked_of(TINY) if side.counted[work] not in WHOLE}
        assert short <= listed, (side.machine, short - listed)
        # And nothing is listed that the machine does not do, or that is wholly a part of the cycles for nothing.
        assert not {work for work in listed if side.counted[work] is HowCounted.NONE}, side.machine


def test_what_the_machines_were_has_clocks_and_says_where_there_was_no_chip(drawn: Comparison) -> None:
    built = comparison_object(drawn)["fairness"]["machines"]
    assert {name: each["built"]["clock"]["value"] for name, each in built.items()} == {
        "PixelFlow": 100, "Larrabee": 1000, "ATTILA": 600, "Gen6": 1350,
    }  # fmt: skip
    assert {name: each["built"].get("process", {}).get("value") for name, each in built.items()} == {
        "PixelFlow": None, "Larrabee": 45, "ATTILA": "none", "Gen6": 32,
    }  # fmt: skip
    (area,) = (text for text in comparison_object(drawn)["fairness"]["not_fair"] if "by area" in text)
    assert "that of Larrabee and Gen6 is of a whole chip" in area and "gives that of PixelFlow" in area


def test_cycles_by_stage_are_those_of_the_picture_where_one_part_does_all(drawn: Comparison) -> None:
    for side in drawn.sides:
        if side.machine != "Larrabee":  # its stages are those of threads, which take turns
            assert sum(side.stages.values()) == side.cycles, side.machine


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
        for each in part["machines"]:
            if len(pair) == 1:  # there is no other clock
                assert each["scorecard"].pop("milliseconds_at") == {"standing": "not counted"}
            expected = {key: figure for key, figure in whole[each["machine"]].items() if key in each["scorecard"]}
            assert each["scorecard"] == expected
        assert set(part["fairness"]["machines"]) == {side.machine for side in pair}


@pytest.mark.parametrize("width", [80, 160])
def test_bars_have_the_letters_of_the_standings_too(width: int) -> None:
    shown = as_text(list(dashboard_parts(Comparison("toy", 1, 0, PICTURE, (SIDE,)), width, color=False)), width)
    lines = [line.strip("│ \n").rstrip() for line in shown.splitlines()]
    assert any(line.startswith("time ") and line.endswith(" 0.01 ms f") for line in lines)
    assert any(line.startswith("lanes of a block covered") and line.endswith(" 50.0 % w") for line in lines)
    assert {"cycles of all parts 1,000 p", "instructions 9 e", "bytes 96 i"} <= set(lines)
    assert all(len(line) <= width for line in shown.splitlines()) and "i invented" in shown
