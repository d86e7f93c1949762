"""Is every byte, register and flag that differs between two files of PE state named?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PROGRAM = "range x[4]\ndata x: lane\nLD R, x\nADD R, #{step}\nST x[2], R\n"


@pytest.fixture
def state(pixelflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write PE state after a run."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, step: int, *options: str) -> str:
        Path("prog.mc").write_text(PROGRAM.format(step=step))
        assert pixelflow("run", "prog.mc", "--preset", "tiny", "--output", name, "-q", *options).code == 0
        return name

    return write


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_differences_are_named(pixelflow, state, suffix: str) -> None:
    found = pixelflow("diff", state(f"a{suffix}", 1), state(f"b{suffix}", 2))
    assert found.code == 1
    rows = [line.split() for line in found.out.splitlines()[2:]]
    assert rows == [["R", "256", "0", "01", "02"], ["C", "1", "254", "0", "1"], ["[2]", "256", "0", "01", "02"]]


def test_both_forms_of_a_file_are_the_same_state(pixelflow, state) -> None:
    found = pixelflow("diff", state("a.npz", 1), state("b.json", 1))
    assert (found.code, found.out) == (0, "no difference\n")


def test_chosen_pes_keep_their_numbers(pixelflow, state) -> None:
    first, second = (state(f"{name}.json", step, "--pe", "5,9") for name, step in (("a", 1), ("b", 2)))
    content = json.loads(pixelflow("diff", first, second, "--json").out)
    assert content["kind"] == "state" and not content["equal"]
    assert content["differences"][0] == {"name": "R", "pes": 2, "pe": 5, "first": 6, "second": 7}


def test_other_pes_are_refused(pixelflow, state) -> None:
    few, others = state("a.npz", 1, "--pe", "5"), state("b.npz", 1, "--pe", "6")
    assert "it is of other PEs" in pixelflow("diff", few, others).err
    found = pixelflow("diff", few, state("c.npz", 1, "--pe", "5-6"))
    assert found.code == 3 and "it has 2 PEs of 384 bytes, a.npz 1 PEs of 384 bytes" in found.err
