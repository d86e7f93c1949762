"""Does a measurement say which engine was measured?"""

import json

import pytest

from larrabee_bridge import speed
from larrabee_bridge import speed as rasterizing
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.program import shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
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
        pytest.param("larrabee", "round 1 of 2", "round 2 of 2", marks=pytest.mark.slow),
    ],
)
def test_rounds_are_told_on_standard_error(pixelflow, monkeypatch, what: str, first: str, last: str) -> None:
    monkeypatch.setattr(rasterizing, "TRIANGLES", 100)
    monkeypatch.setattr(speed, "_TRIANGLES", 1)
    monkeypatch.setattr(speed, "_SIZE", (32, 24))
    told = pixelflow("bench", what, "--rounds", "2").err.splitlines()
    assert told[0] == first and told[-1].endswith(last)
    assert pixelflow("bench", what, "--rounds", "1", "-q").err == ""


@pytest.mark.slow
def test_fresh_processes_are_timed_beside_the_shortest(pixelflow) -> None:
    found = json.loads(pixelflow("bench", "startup", "--rounds", "1", "--json").out)["startup"]
    text = json.dumps(found)
    assert "--help" in text and "no cache" in text and "python -c pass" in text


def test_speeds_of_the_vector_unit_are_those_of_what_it_carried_out(pixelflow, monkeypatch) -> None:
    """Counts by hand: a pass through the kernel takes a number of instructions, each of 1,024 threads the same."""
    monkeypatch.setattr(rasterizing, "TRIANGLES", 100)
    monkeypatch.setattr(speed, "_TRIANGLES", 3)
    monkeypatch.setattr(speed, "_SIZE", (32, 24))
    found = json.loads(pixelflow("bench", "larrabee", "--rounds", "1", "--json").out)["larrabee"]
    rows = found["unit"]
    kernels = [f"rays.{threads}.{what}" for threads in (1, 1024) for what in ("results", "cycles")]
    assert sorted(rows) == sorted([*kernels, "frame"])
    program = shipped("ray.mc", TRIANGLES=3)
    core = Core(program)
    VectorUnit(program).run(core)
    alone = sum(int(counts.sum()) for counts in core.counts.values())
    assert rows["rays.1.results"]["instructions"] == rows["rays.1.cycles"]["instructions"] == alone
    assert rows["rays.1024.cycles"]["instructions"] == 1024 * alone
    for row in rows.values():
        assert row["instructions_per_second"] == round(row["instructions"] / row["seconds"]["median"])
    frame = found["frame"]
    assert frame["slowdown"]["median"] == pytest.approx(frame["seconds"]["median"] * 1e9 / frame["cycles"])
