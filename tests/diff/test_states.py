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
    assert "error: " in pixelflow("diff", few, others).err
    found = pixelflow("diff", few, state("c.npz", 1, "--pe", "5-6"))
    assert found.code == 3 and "2 PEs" in found.err and "1 PE" in found.err


def _without(part: str, name: str, content: dict) -> None:
    del content[part][name]


def _also(part: str, name: str, content: dict) -> None:
    content[part][name] = content[part]["R"]


def _short(part: str, name: str, content: dict) -> None:
    content[part][name].pop()


def _large(part: str, name: str, content: dict) -> None:
    content[part][name][0] = 256


def _fewer(part: str, name: str, content: dict) -> None:
    content[part].pop()


WRONG = {
    "a register less": (_without, "registers", "S", "[S]: error: is missing"),
    "a register more": (_also, "registers", "X", "[X]: error: is not a register or flag"),
    "a value less": (_short, "registers", "R", "[R]: error: expected a number from 0 to 255 for each of 2 PEs"),
    "a flag less": (_short, "flags", "E", "[E]: error: expected false or true for each of 2 PEs"),
    "no byte": (_large, "registers", "M", "[M]: error: expected a number from 0 to 255"),
    "no flag": (_large, "flags", "C", "[C]: error: expected false or true"),
    "memory of fewer PEs": (_fewer, "memory", "", "[memory]: error: expected bytes of 2 PEs"),
    "numbers of fewer PEs": (_fewer, "lanes", "", "[memory]: error: expected bytes of 1 PEs"),
}


@pytest.mark.parametrize("order", [1, -1], ids=["first", "second"])
@pytest.mark.parametrize(("change", "part", "name", "message"), WRONG.values(), ids=WRONG)
def test_a_damaged_file_is_refused_on_either_side(
    pixelflow, state, change, part: str, name: str, message: str, order: int
) -> None:
    good = state("a.json", 1, "--pe", "5,9")
    content = json.loads(Path(good).read_text())
    change(part, name, content)
    Path("b.json").write_text(json.dumps(content))
    found = pixelflow("diff", *["b.json", good][::order])
    assert (found.code, found.out) == (3, "")
    assert f"b.json{message}" in found.err


def test_arrays_of_other_names_or_lengths_are_never_equal() -> None:
    import numpy as np

    from pixelflow.debugger import compare_arrays
    from pixelflow.simd.errors import InputError

    two, three = {"R": np.zeros(2)}, {"R": np.zeros(3)}
    more = two | {"S": np.zeros(2)}
    for first, second in ((two, three), (three, two), (two, more), (more, two)):
        with pytest.raises(InputError):
            compare_arrays(first, second)
