"""The command that carries out kernels: what it lists, its report, its object, what it refuses."""

import json
from pathlib import Path

import pytest

from larrabee_bridge.kernels.catalogue import STUDIES
from pixelflow.cli.main import main


def test_the_list_has_every_kernel(capsys) -> None:
    assert main(["kernels", "--machine", "larrabee", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["kernels"]
    assert [row["name"] for row in rows] == [each.name for each in STUDIES]


def test_the_object_has_the_sums(capsys) -> None:
    assert main(["kernels", "--machine", "larrabee", "cloth", "--json"]) == 0
    (cloth,) = json.loads(capsys.readouterr().out)["kernels"]
    assert cloth["cores"] == [1, 8, 16, 32, 48] and cloth["cycles_on_cores"] == sorted(
        cloth["cycles_on_cores"], reverse=True
    )
    assert cloth["cycles_per_unit"] == pytest.approx(cloth["cycles"] / cloth["units"])
    assert cloth["cycles_on_cores"][0] > cloth["cycles"] and 0 < cloth["share_of_peak"] < 1


def test_caches_take_part(capsys) -> None:
    """Each piece begins with empty caches, so that everything takes longer; results are the same."""
    found = []
    for words in ([], ["-D", "caches=true"]):
        assert main(["kernels", "--machine", "larrabee", "decompression", "--json", *words]) == 0
        found += json.loads(capsys.readouterr().out)["kernels"]
    assert found[1]["cycles"] > 1.05 * found[0]["cycles"] and found[1]["error"] == found[0]["error"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["clothh"], 2, "did you mean cloth?"),
        (["cloth", "-D", "vector_latency=0"], 3, "vector_latency"),
    ],
)
def test_what_is_wrong_is_said(capsys, tmp_path: Path, monkeypatch, words: list[str], code: int, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["kernels", "--machine", "larrabee", *words]) == code
    assert message in " ".join(capsys.readouterr().err.split())
