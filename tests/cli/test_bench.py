"""Does a measurement say which engine was measured?"""

import json

import pytest

from larrabee_bridge import rasterizing
from pixelflow.cli.main import main
from pixelflow.simd.lanes import AUTO, choose


def test_the_cost_of_a_pass_names_its_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "timing", "--rounds", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["timing"]["engine"] == choose(AUTO).engine
    assert main(["bench", "timing", "--rounds", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(f"engine {choose(AUTO).engine}")


@pytest.mark.parametrize(
    "words", [["larrabee", "--nodes", "3"], ["nodes", "--markdown"], ["startup", "--bound"]], ids=" ".join
)
def test_options_of_other_measurements_are_refused(pixelflow, words: list[str]) -> None:
    result = pixelflow("bench", *words, "--rounds", "1")
    assert result.code == 2 and "is for `bench" in result.err


@pytest.mark.parametrize(
    ("what", "first", "last"),
    [
        ("timing", "round 1 of 2", "round 2 of 2"),
        ("transfers", "TAS_MemRdBlock4 1: round 1 of 2", "round 2 of 2"),
        ("larrabee", "round 1 of 2", "round 2 of 2"),
    ],
)
def test_rounds_are_told_on_standard_error(pixelflow, monkeypatch, what: str, first: str, last: str) -> None:
    monkeypatch.setattr(rasterizing, "_TRIANGLES", 100)
    told = pixelflow("bench", what, "--rounds", "2").err.splitlines()
    assert told[0] == first and told[-1].endswith(last)
    assert pixelflow("bench", what, "--rounds", "1", "-q").err == ""


def test_fresh_processes_are_timed_beside_the_shortest(pixelflow) -> None:
    found = json.loads(pixelflow("bench", "startup", "--rounds", "1", "--json").out)["startup"]
    text = json.dumps(found)
    assert "--help" in text and "no cache" in text and "python -c pass" in text
