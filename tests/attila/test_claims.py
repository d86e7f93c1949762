"""Do the paper's claims agree with the measurements of probe scenes?"""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from attila_bridge.assembler import assemble_shader
from attila_bridge.claims.paper import PAPER
from attila_bridge.claims.probes import QUEUES, AttilaBench, WireLog, attributes, giants, probe, reading, watched
from attila_bridge.claims.study import FITTING, LIKE_THE_PAPER, WIDE
from attila_bridge.time.config import PAPER as MACHINE
from pixelflow.evidence import CheckedClaim, ClaimClass, ClaimVerdict
from pixelflow.simd.observe import Carried

BENCH = AttilaBench()
CLAIMS = {claim.name: claim for claim in PAPER.claims}
LONG = {name for name, effort in PAPER.efforts.items() if effort > 10} | {"window-3-to-1", "one-unit-busy"}
NOT_MODELLED = {"vertex-shader", "games"}
CONTRADICTED = {
    "hierarchical-z": {"queue": 128},
    "setup": {"cycles": 4},
    "interpolation": {"least": 4, "most": 4 + 12 // 4},
}


def found(name: str) -> CheckedClaim:
    return PAPER.find(CLAIMS[name], BENCH)


def check(name: str) -> None:
    """Assert that all figures of a claim hold but the contradicted ones, and the figures measured in their place."""
    finding = found(name)
    assert finding.differing == (), finding.measured
    assert {each.item for each in finding.rows} >= {*finding.claim.values, *finding.claim.expected} - {"statistics"}
    assert {row.item: row.measured for row in finding.contradicted} == CONTRADICTED.get(name, {})


LONGER = {"bilinear", "caches", "clipping", "colour-write", "compression", "generation", "setup", "streamer", "z-test"}
"""Claims whose runs take more than a second."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in LONGER))
        for name in sorted(set(CLAIMS) - LONG - NOT_MODELLED)
    ],
)
def test_a_claim_holds(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LONG))
def test_a_claim_of_the_case_study_holds(name: str) -> None:
    check(name)


def test_what_is_not_modelled_says_why() -> None:
    for name in NOT_MODELLED:
        assert found(name).measured is None and found(name).reason and ClaimClass.NOT in CLAIMS[name].classes
    assert set(PAPER.measures) == set(CLAIMS) - NOT_MODELLED


def test_contradicted_figures_are_those_of_the_model() -> None:
    for name in set(CONTRADICTED) - LONGER:
        assert found(name).verdict is ClaimVerdict.CONTRADICTED
    queue = found("hierarchical-z").measured
    # Ready while more than 64 of 128 are free, seen a cycle late, 32 quads a cycle.
    assert queue is not None and 64 < queue.figures["held"] <= 128


def test_the_log_of_wires_counts_what_lies_between_two() -> None:
    log = WireLog()
    for wire, cycle, arrives, amount in (("in", 0, 2, 4), ("in", 1, 3, 4), ("out", 3, 4, 1), ("in", 5, 6, 4)):
        log(Carried(cycle, wire, arrives, amount, "items"))
    assert log.most("in") == 4 and log.latencies["in"] == {2, 1} and log.shortest("in") == 1
    # Eight arrive by cycle 3; two go with the one that is sent then; four more come in cycle 6.
    assert log.held(["in"], ["out"], each=2) == 10
    assert log.rate(["in", "out"], 2) == 8 and log.rate(["in"], 1) == 4


def test_the_programs_of_the_study_are_as_long_as_they_say_and_leave_room() -> None:
    for reads, count in ((0, 4), (1, 4), *((each.reads, each.instructions) for each in (*FITTING, *WIDE))):
        code = assemble_shader(reading(reads, count)).instructions
        assert (len(code), sum(each.mnemonic == "TEX" for each in code)) == (count, reads)
    assert [str(each) for each in LIKE_THE_PAPER] == ["4 reads of 11", "6 reads of 17"]
    assert [each.bound(2) / each.bound(3) for each in LIKE_THE_PAPER] == [
        pytest.approx(12 / 11),
        pytest.approx(18 / 17),
    ]
    assert len(assemble_shader(attributes(12)).instructions) == 14


def test_units_are_removed_from_machines_with_a_window() -> None:
    """There 8 % more cycles with two of three units and twice as many with one; in order half more, and thrice."""
    bench, cycles = AttilaBench(), {True: (100, 108, 200), False: (100, 150, 300)}
    for program, window, at in product(FITTING, cycles, range(3)):
        name = f"{program} of {program.side} texels, {3 - at} units, window {window}"
        columns = {"cycles_drawing": cycles[window][at]}
        bench.once(name, lambda columns=columns: SimpleNamespace(columns=columns))
    two, one = (PAPER.find(CLAIMS[f"window-3-to-{units}"], bench).measured.figures for units in (2, 1))
    assert (two, one) == ({"within": 1}, {"more_than_twice_that": 1})


def test_queues_are_watched_in_the_boxes() -> None:
    _, log = watched(probe(giants(2), size=32), MACHINE, queues=True)
    assert set(log.filled) >= set(QUEUES.values()) and log.queued("z") == 0 < log.queued("hz") <= 128
