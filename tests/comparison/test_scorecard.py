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
from pixelflow.simd.comparison import comparison_object, comparison_parts, comparison_topics
from pixelflow.simd.comparison.comparison import asked_of, pictures_of, timelines_of
from pixelflow.simd.comparison.scorecard import (
    FIGURES,
    QUANTITIES,
    figures_table,
    formula_amount,
    same_work,
    scorecard_object,
    shared_work,
    standing_of,
    standings_of,
    uncounted_table,
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
        "instruction_feed": "-", "same_work": "-",
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


def test_figures_have_letters_where_standings_of_a_row_differ() -> None:
    """The standings worked by hand above; of the other machine cycles are invented, and bytes are not moved."""
    other = replace(SIDE, machine="Other", grounds={**SIDE.grounds, "cycles": Ground.executed(GUESSED)})
    table, letters = figures_table((SIDE, other), [each for each in QUANTITIES if each.key in ("cycles", "bytes")])
    cells = {str(row[0]): [str(cell).split() for cell in row[1:]] for row in table.rows}
    assert cells == {
        "cycles for the picture": [["1,000", "f"], ["1,000", "i"]],
        "bytes moved": [["96"], ["96"]],
    }
    assert letters.startswith("f: ") and "; i: " in letters
    _, letters = figures_table((SIDE,))
    assert letters == "", "figures of one machine do not differ"


def test_the_same_work_is_that_which_all_execute() -> None:
    """Worked by hand: both execute tests and colours, one alone edges and planes; what is in part is not shared."""
    whole = dict.fromkeys(Work, HowCounted.PROGRAM)
    one = replace(
        SIDE,
        stages={"edges": 100, "depth": 30, "colour": 7, "texels": 5},
        counted={**whole, Work.SETUP: HowCounted.FREE, Work.COVERAGE: HowCounted.FREE},
        works={"edges": Work.COVERAGE, "depth": Work.TESTS, "colour": Work.COLOURS, "texels": Work.TEXELS},
    )
    other = replace(
        SIDE,
        stages={"planes": 1000, "tests": 200, "shade": 40, "requests": 3},
        counted={**whole, Work.TEXELS: HowCounted.PART, Work.COLOURS: HowCounted.UNITS},
        works={"planes": Work.SETUP, "tests": Work.TESTS, "shade": Work.COLOURS, "requests": Work.TEXELS},
    )
    sides = (one, other)
    assert not {Work.SETUP, Work.COVERAGE, Work.TEXELS} & set(shared_work(sides))
    assert [same_work(side, sides) for side in sides] == [30 + 7, 200 + 40]
    assert [same_work(side, (side,)) for side in sides] == [30 + 7 + 5, 1000 + 200 + 40]
    joined = replace(other, stages={"drawing": 500}, works={})
    assert [same_work(side, (one, joined)) for side in (one, joined)] == [37, None], "a stage that does several"


def test_bounds_of_what_is_not_counted_are_a_cell_each() -> None:
    """Of several floors the highest, else sums; the bound by instructions alone is a row of the figures."""
    one = replace(
        SIDE,
        free=(
            FreeWork("feed", "PF102", Bound.FLOOR, "", 20, (Work.FEED,)),
            FreeWork("feed", "PF102", Bound.FLOOR, "", 30, (Work.FEED,)),
            FreeWork("lists", "PF301", Bound.AT_MOST, "", 5, (Work.BINNING,)),
            FreeWork("others", "PF301", Bound.OPEN, "", None, (Work.BINNING,)),
            FreeWork("more lists", "PF301", Bound.AT_MOST, "", 6, (Work.BINNING,)),
            FreeWork("light", "PF301", Bound.OPEN, "", None, (Work.VERTICES, Work.COMMANDS)),
        ),
    )  # fmt: skip
    other = replace(SIDE, counted={Work.BINNING: HowCounted.NONE})
    found = Comparison("toy", 1, 0, PICTURE, (one, other))
    assert [[str(cell) for cell in row[1:]] for row in uncounted_table(found).rows] == [
        ["open", "counted"], ["up to 11 more, open", "-"],
    ]  # fmt: skip
    (floor,) = (each.value(one, (one,)) for each in QUANTITIES if each.key == "instruction_feed")
    assert floor == 30


def test_what_is_left_out_rests_on_the_rates_of_its_formulas() -> None:
    unknown, printed = (
        FreeWork("light", "PF301", Bound.OPEN, "no rate"),
        FreeWork("way", "PF301", Bound.FLOOR, "", 9, (), (PRINTED,)),
    )
    guessed = FreeWork("memory", "PF301", Bound.ABOUT, "", 7, (), (GUESSED,))
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
    assert found[Work.TESTS]["not"] == ["Gen6"] and not found[Work.TESTS]["in_part"] and Work.COLOURS not in found
    # Light is in part in the cycles of two, and a driver by formula in those of one.
    assert found[Work.VERTICES]["in_part"] == ["Larrabee", "ATTILA"] and not found[Work.VERTICES]["counted"]
    assert found[Work.COMMANDS] == {"counted": [], "in_part": ["ATTILA"], "not": ["PixelFlow", "Larrabee", "Gen6"]}
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
        # And nothing is listed that the machine does not do, or that is wholly in the cycles already.
        assert not {work for work in listed if side.counted[work] is HowCounted.NONE}, side.machine


def test_what_the_machines_were_has_clocks_and_says_where_there_was_no_chip(drawn: Comparison) -> None:
    built = comparison_object(drawn)["fairness"]["machines"]
    assert {name: each["built"]["clock"]["value"] for name, each in built.items()} == {
        "PixelFlow": 100, "Larrabee": 1000, "ATTILA": 600, "Gen6": 1350,
    }  # fmt: skip
    assert {name: each["built"].get("process", {}).get("value") for name, each in built.items()} == {
        "PixelFlow": None, "Larrabee": 45, "ATTILA": "none", "Gen6": 32,
    }  # fmt: skip


def test_cycles_by_stage_are_those_of_the_picture_where_one_part_does_all(drawn: Comparison) -> None:
    for side in drawn.sides:
        if side.machine != "Larrabee":  # its stages are those of threads, which take turns
            assert sum(side.stages.values()) == side.cycles, side.machine


@pytest.mark.parametrize("width", [80, 132])
def test_the_report_keeps_within_the_screen(drawn: Comparison, width: int) -> None:
    lines = as_text(list(comparison_parts(drawn)), width).splitlines()
    assert max(map(len, lines)) <= width
    topics = [part for topic in comparison_topics(drawn, {}) for part in topic.parts]
    assert max(map(len, as_text(topics, width).splitlines())) <= width


@pytest.mark.parametrize("pair", [(0, 1), (0, 3), (1, 2)])
def test_two_machines_fit_a_screen(drawn: Comparison, pair: tuple[int, int]) -> None:
    two = replace(drawn, sides=tuple(drawn.sides[place] for place in pair))
    lines = as_text(["title", *comparison_parts(two)], 80).splitlines()
    assert len(lines) <= 28 + sum(1 for apart in two.differences if apart.colours or apart.depths) * 3
    words = {word for each in comparison_parts(two) if isinstance(each, Table) for row in each.rows for word in row}
    shown = set(" ".join(lines).split())
    assert {part for word in words for part in str(word).split()} <= shown, "a word is folded in its middle"


def test_every_stage_of_a_machine_has_its_work_or_does_several(drawn: Comparison) -> None:
    """ATTILA's stages are those of its command processor, while all of its boxes work."""
    for side in drawn.sides:
        assert (side.stages.keys() <= side.works.keys()) is (side.machine != "ATTILA"), side.machine


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
            del each["scorecard"]["same_work"]  # which depends on the others
            expected = {key: figure for key, figure in whole[each["machine"]].items() if key in each["scorecard"]}
            assert each["scorecard"] == expected
        assert set(part["fairness"]["machines"]) == {side.machine for side in pair}
