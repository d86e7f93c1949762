"""The verdicts that the page of Larrabee lists, claim by claim, beside what comes out now."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from larrabee_bridge.claims.bench import SceneBench
from larrabee_bridge.claims.paper import PAPER
from pixelflow.evidence import Claim

PAGE = Path(__file__).resolve().parents[2] / "docs/pages/larrabee.md"
BENCH = PAPER.bench(print)


def _listed() -> Iterator[tuple[str, str]]:
    (table,) = re.findall(r"<!-- read by: \S+/test_verdicts.py -->\n((?:\|.*\n)+)", PAGE.read_text(encoding="utf-8"))
    for line in table.splitlines()[2:]:
        verdict, names = (cell.strip() for cell in line.strip("|").split("|"))
        yield from ((name, verdict) for name in names.split(", "))


LISTED = dict(_listed())


def test_every_claim_is_listed_once() -> None:
    assert len(list(_listed())) == len(LISTED)
    assert set(LISTED) == {claim.name for claim in PAPER.claims}


def _marked(claim: Claim) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if PAPER.effort(claim) > 1 else []


@pytest.mark.parametrize("claim", [pytest.param(each, marks=_marked(each), id=each.name) for each in PAPER.claims])
def test_a_claim_comes_out_as_listed(claim: Claim) -> None:
    assert PAPER.find(claim, BENCH).kind == LISTED[claim.name]


def test_a_scene_that_is_not_there_is_no_verdict() -> None:
    claim = next(each for each in PAPER.claims if each.name == "vector-share")
    assert PAPER.find(claim, SceneBench()).kind == "not compared"
