"""Do the article's claims stand beside what is measured?"""

from __future__ import annotations

import pytest

from gen6_bridge.claims.paper import PAPER
from gen6_bridge.claims.published import CONTRADICTED
from pixelflow.cli.main import main
from pixelflow.evidence import Bench, ClaimClass

FINDINGS = {claim.name: PAPER.find(claim, Bench()) for claim in PAPER.claims}
NOT_MODELLED = {"ironlake-nesting", "self-modifying", "last-level"}


def test_each_of_the_43_claims_is_measured_or_says_why_not() -> None:
    assert [claim.place for claim in PAPER.claims] == [str(number) for number in range(1, 44)]
    without = {name for name, found in FINDINGS.items() if found.measured is None}
    assert without == NOT_MODELLED and all(FINDINGS[name].reason for name in without)
    assert all((ClaimClass.NOT in claim.classes) == (claim.name in without) for claim in PAPER.claims)


@pytest.mark.parametrize("name", [name for name in FINDINGS if name not in NOT_MODELLED])
def test_what_must_be_the_same_is(name: str) -> None:
    found = FINDINGS[name]
    assert found.equal is not False, (found.differing, found.measured)
    assert found.equal or name in CONTRADICTED
    wanted = {**found.claim.values, **found.claim.expected}
    assert name in CONTRADICTED or {row.item for row in found.rows} == set(wanted)


def test_two_claims_are_contradicted_by_the_instruction_set() -> None:
    for name, figure, value in (("address-registers", "address_registers", 1), ("indirect-operand", "sources", 2)):
        measured = FINDINGS[name].measured
        assert measured is not None and "contradicted" in measured.text and measured.figures[figure] == value
        assert value not in FINDINGS[name].claim.values.values()


def test_the_command_ends_well() -> None:
    assert main(["verify", "gen6", "banks", "register-file"]) == 0
