"""Are the article's claims measured, and do the measures agree?"""

from __future__ import annotations

import json
from functools import cache

import pytest

from gen6_bridge.claims.paper import CONTRADICTED, PAPER
from pixelflow.cli.main import main
from pixelflow.evidence import Bench, CheckedClaim, ClaimClass, ClaimVerdict

CLAIMS = {claim.name: claim for claim in PAPER.claims}
NOT_MODELLED = {"self-modifying", "last-level"}


@cache
def checked(name: str) -> CheckedClaim:
    return PAPER.find(CLAIMS[name], Bench())


def test_each_of_the_43_claims_is_measured_or_says_why_not() -> None:
    assert [claim.place for claim in PAPER.claims] == [str(number) for number in range(1, 44)]
    without = {name for name in CLAIMS if checked(name).measured is None}
    assert without == NOT_MODELLED and all(checked(name).reason for name in without)
    assert all((ClaimClass.NOT in claim.classes) == (claim.name in without) for claim in PAPER.claims)


@pytest.mark.parametrize("name", [name for name in CLAIMS if name not in NOT_MODELLED])
def test_measures_agree_with_the_claims(name: str) -> None:
    found = checked(name)
    assert found.differing == (), found.measured
    assert bool(found.contradicted) == (name in CONTRADICTED)
    assert {row.item for row in found.rows} == {*found.claim.values, *found.claim.expected}


def test_every_combination_of_a_region_is_judged() -> None:
    """As many of them are legal as in the exhaustive table of records."""
    found = checked("regions").measured
    assert found is not None and found.text.startswith("7,363 of 39,200 ")


def test_a_claim_without_anything_executed_is_constant() -> None:
    constant = {name for name in CLAIMS if checked(name).verdict is ClaimVerdict.CONSTANT}
    assert {int(CLAIMS[name].place) for name in constant} == {2, 11, 14, 27, 30, 33, 35, 40}


def test_two_claims_are_contradicted_by_the_instruction_set() -> None:
    """One a0 of eight words where two registers are printed; two indirect sources where one is."""
    for name, figure, printed, here in (
        ("address-registers", "registers", 2, 1),
        ("indirect-operand", "sources", 1, 2),
    ):
        assert [(row.item, row.published, row.measured) for row in checked(name).contradicted] == [
            (figure, printed, here)
        ]


def test_the_command_counts_contradictions(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["banks", "register-file", "address-registers"]
    assert main(["verify", "gen6", *names, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    outcomes = {each.value: 0 for each in ClaimVerdict} | {"reproduced": 1, "constant": 1, "contradicted": 1}
    assert found["summary"] == {"claims": 3, "measured": 3, "outcomes": outcomes}
    register = next(each for each in found["claims"] if each["name"] == "address-registers")
    assert (register["outcome"], register["instead"]["registers"]["value"]) == ("contradicted", 1)
    assert main(["verify", "gen6", *names, "--strict", "-q"]) == 1
    assert "figures that must be the same are others here: address-registers" in capsys.readouterr().err
