"""Are the tables of the studies what the runs of one thing at a time give, in closed form where there is one?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from pixelflow.cli.study import picture
from pixelflow.config import THESIS, load_config
from pixelflow.isa import Family
from pixelflow.node import guesses
from pixelflow.simd.configuration import leaves
from pixelflow.simd.report import Report, json_text
from pixelflow.simd.units import Standing
from tessellation.microprogram.method import LIBRARIES as FLOAT_LIBRARIES
from tessellation.microprogram.method import SCHEDULES, TRANSFERS, Method
from tessellation.studies import (
    INPUTS,
    SCHEDULE_GAIN,
    SUPPLY,
    GridStudy,
    Measurement,
    StudyBench,
    pass_of,
    sensitivity_report,
)

GUESSED = (Standing.FITTED, Standing.INVENTED)


def nothing(text: str) -> None:
    """Tell nobody."""


def grid(
    study: GridStudy, drawn: str = "", size: tuple[int, int] | None = None, **chosen: Sequence[str | int]
) -> Report:
    return study.report(StudyBench(THESIS, nothing, picture(drawn, size) if drawn else None), chosen)


def as_json(report: Report) -> dict[str, Any]:
    return json.loads(json_text(report))


@cache
def sensitivity() -> dict[str, Any]:
    return as_json(sensitivity_report(THESIS, picture("one region", (128, 64)), nothing))


@cache
def plain() -> Measurement:
    return pass_of(Method(), "plain").on(THESIS)


def change(key: str, value: str) -> dict[str, Any]:
    (found,) = [each for each in sensitivity()["changes"] if (each["key"], each["value"]) == (key, value)]
    return found


def executed(holds) -> int:
    """Return how often instructions of the thesis's pass were executed for which something holds."""
    (run,) = plain().runs
    return sum(
        times for times, each in zip(run.executed, run.program.instructions, strict=True) if holds(each.declaration)
    )


def test_every_guess_has_other_values_or_is_a_limit() -> None:
    for key, about, value, _ in leaves(THESIS):
        if about.standing in GUESSED:
            assert bool(about.moved) == (about.matters != "limit"), key
            assert value not in about.moved, key


@pytest.mark.slow
def test_every_guess_is_in_the_table_or_named_below_it() -> None:
    moved = {key for key, about, _, _ in leaves(THESIS) if about.standing in GUESSED and about.moved}
    found = sensitivity()
    changed = {each["key"] for each in found["changes"]}
    assert changed | set(found["without_change"]) == moved | {"table 3"}
    assert not changed & set(found["without_change"])


@pytest.mark.slow
def test_what_no_workload_uses_is_listed_separately() -> None:
    unused = sensitivity()["unused"]
    assert {key.partition(".")[0] for key in unused} == {"gni", "composition"}
    assert set(unused) < set(sensitivity()["without_change"])


@pytest.mark.slow
def test_changes_of_instructions_are_as_many_as_were_executed() -> None:
    """Steps of multiplications and starts of routines stand where nothing waits: each is a cycle of the pass."""
    cycles = plain().cycles
    steps = executed(lambda each: each.family is Family.MULTIPLY)
    starts = executed(lambda each: each.family is Family.STARTUP)
    assert steps > 8 * 9 * 162 and starts > 282
    # Of routines that run beside the first transfer only the waits become shorter.
    assert change("extra.multiply_step", "1")["thesis"] == pytest.approx(100 * steps / cycles)
    assert 0 <= 100 * starts / cycles - change("extra.start", "1")["thesis"] < 0.02


@pytest.mark.slow
def test_four_more_cycles_a_patch_are_two_percent() -> None:
    assert change("table 3", "16 cycles")["thesis"] == pytest.approx(100 * 4 * 512 / plain().cycles)
    assert change("table 3", "16 cycles")["shared"] is None


def test_what_a_report_says_of_its_own_run_is_counted_from_it() -> None:
    found = guesses(plain().runs, THESIS).weights
    (steps,) = [each for each in found if each.key == "extra.multiply_step"]
    assert steps.cycles == executed(lambda each: each.family is Family.MULTIPLY)
    assert [abs(each.cycles) for each in found] == sorted((abs(each.cycles) for each in found), reverse=True)
    slower = pass_of(Method(), "plain").on(load_config(None, ["extra.multiply_step=1"]))
    assert slower.runs[0].busy - plain().runs[0].busy == steps.cycles


@pytest.mark.slow
def test_schedules_are_compared_like_for_like() -> None:
    found = as_json(grid(SCHEDULE_GAIN, inputs=["full"]))
    assert len(found["schedules"]) == 15 == 3 * len(FLOAT_LIBRARIES)
    assert {each["library"] for each in found["schedules"]} == set(FLOAT_LIBRARIES)
    first = found["schedules"][0]
    assert (first["thesis"], first["shared_columns"], first["results"]) == (102_656, 48_166, "direct")
    assert all(each["gain"] == pytest.approx(each["thesis"] / each["shared_columns"]) for each in found["schedules"])
    causes = found["causes"]
    assert sum(each["saved"] for each in causes) == causes[0]["cycles"] - causes[-1]["cycles"] == 102_656 - 15_016
    assert [each["cycles"] for each in causes[-3:]] == [33_618, 16_820, 15_016], "a row for each step"
    assert sum(each["share_percent"] or 0 for each in causes) == pytest.approx(100)
    assert causes[0]["hidden_cycles"] == causes[0]["apart_cycles"] - causes[0]["cycles"] == 50_630


@pytest.mark.parametrize(
    ("schedule", "turns", "transfers", "tasic_cycles"),
    [
        ("thesis", True, 15, 3_584),
        pytest.param("shared-columns", True, 9, 2_176, marks=pytest.mark.slow),
        ("shared-columns", False, 9, 3_072),
    ],
)
def test_transfers_apart_are_waited_for_whole(schedule: str, turns: bool, transfers: int, tasic_cycles: int) -> None:
    """Each takes its cycles of the TASICs (table 6; nine of 17 and 24 rounds of 128), and nine for wires and handshake.

    What is done besides is what it was: the cycles that overlap hides are those of the waits that are gone.
    """
    beside, apart = (
        pass_of(Method(schedule=schedule, transfers=each, alternate=turns), "plain").on(THESIS) for each in TRANSFERS
    )
    assert apart.waits == {"sem 1": transfers * (tasic_cycles + 9)}
    assert apart.cycles - beside.cycles == apart.waits["sem 1"] - beside.waits["sem 1"] > 0


def test_inputs_are_what_they_say() -> None:
    spread, half = INPUTS["spread"], INPUTS["half"]
    assert len(set(spread.marked)) == len(set(half.marked)) == 512
    assert {sum(number % 4 == module for number in spread.marked) for module in range(4)} == {128}
    programs = {name: len(pass_of(Method(), "tuned", given=given).programs) for name, given in INPUTS.items()}
    assert programs == {"full": 1, "spread": 1, "half": 2, "mixed": 2, "three": 3}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_scattered_patches_cost_the_addresses_alone(schedule: str) -> None:
    """The schedule of the thesis loads each address anyway; the others get 512 x 12 cycles and selects by marks."""
    full, spread = (
        pass_of(Method(schedule=schedule), "tuned", given=INPUTS[each]).on(THESIS) for each in ("full", "spread")
    )
    more = spread.cycles - full.cycles
    assert more == 0 if schedule == "thesis" else 512 * 12 - 50 < more < 512 * 12 + 50


@pytest.mark.slow
def test_a_faster_path_never_takes_longer_and_a_fast_one_costs_the_first_words() -> None:
    report = as_json(grid(SUPPLY, "a picture", rates=(100, 800, 3200)))
    found = report["supply"]
    # /1 had the key needed_mb_per_second, and longer names of workloads.
    assert report["schema"] == "pixelflow.study.supply/2" and "average_mb_per_second" in found[0]
    for workload in dict.fromkeys(each["workload"] for each in found):
        at_once, *rates = [each["cycles"] for each in found if each["workload"] == workload]
        assert rates == sorted(rates, reverse=True)
        assert 0 <= rates[-1] - at_once <= 40, "a word for each region of a picture"
    passes = [each for each in found if each["workload"] == "thesis"]
    assert passes[0]["words"] == passes[-1]["words"], "all routines fit, so what is sent is what is needed"
