"""Do the solutions of the course pass, nothing else, and does a grade say which PE, which byte, and how many cycles?"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from microcode import assemble, check
from pixelflow.cli.main import main
from pixelflow.course import EXERCISES, exercise_for, grade
from pixelflow.simd.errors import InputError

SOLUTIONS = Path(__file__).parent / "solutions"
CYCLES = {"first": 1, "sides": 8, "carries": 12, "products": 28, "neighbours": 73, "streams": 35_652}
"""What each solution takes; the first five worked out by hand from the declared cycles, 1 + 3 n + 1 and so on."""


def solution(name: str, *changes: tuple[str, str]) -> str:
    text = (SOLUTIONS / f"{name}.mc").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_passes_in_the_budget(name: str) -> None:
    program = assemble(solution(name))
    found = grade(program, name)
    assert found.passed and found.cycles == CYCLES[name] <= EXERCISES[name].budget and not check(program)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_stub_has_the_task_but_does_not_pass(name: str) -> None:
    exercise = EXERCISES[name]
    program = assemble(exercise.stub)
    found = grade(program, name)
    assert not found.passed and found.wrong_pes > 4000
    budget = f"{exercise.budget:,}"
    assert f" {exercise.number}, " in exercise.stub and f" {budget} cycles" in exercise.stub
    assert {each.name: each.size for each in program.ranges if each.name in exercise.ranges} == exercise.ranges


def test_solutions_are_not_shipped() -> None:
    package = Path(sys.modules["pixelflow.course"].__file__).parent
    shipped = list(package.rglob("*.mc"))
    assert {path.stem for path in shipped} == set(EXERCISES)
    for path in shipped:
        assert {each.mnemonic for each in assemble(path).instructions} == {"HALT"}, "stubs hold no instruction"


def test_a_wrong_byte_is_said_with_its_pe() -> None:
    found = grade(assemble(solution("sides", ("-32", "-31"))), "sides")
    wrong = [lane for lane in range(8192) if found.mistakes[0].lane == lane]
    first = found.mistakes[0]
    assert wrong and (first.x, first.range, first.byte, first.expected, first.found) == (31, "side", 0, 1, 2)
    assert found.wrong_pes == 64, "one column of 64 PEs"
    assert (
        re.findall(r"[\w\[\],]+", found.reasons[0])[:3] == ["64", "PEs", "of"]
        and f"PE {first.lane} " in found.reasons[0]
    )


def test_given_values_stand_beside_a_wrong_byte() -> None:
    found = grade(assemble(solution("carries", ("ADC R, b[i]", "ADD R, b[i]"))), "carries")
    first = found.mistakes[0]
    total = first.given["a"] + first.given["b"]
    assert total >> 8 * first.byte & 0xFF == first.expected != first.found


def test_too_many_cycles_are_counted() -> None:
    text = solution("carries", ("LD R, #0", "LD R, #0\nLD R, #0"))
    found = grade(assemble(text), "carries")
    assert len(found.reasons) == 1 and found.cycles == 13 and not found.mistakes
    assert any(getattr(part, "key", "") == "lines" for part in found.report().parts)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("first", "range answer[2]\nSTI answer, #42", "range answer has 2 bytes, not 1"),
        ("first", "range other[1]\nSTI other, #42", "range answer[1] is missing"),
        ("first", "range answer[1]\nLOOP 500\nLD R, #1\nENDL", "stopped"),
        ("first", "range answer[1]\nWAIT 3", "deadlock"),
        ("first", "range answer[1]\nEPOP", "stopped"),
        ("sides", solution("sides", ("EMC_SetEnab\n", "")), "PEs disabled at the end"),
    ],
)
def test_other_reasons(name: str, text: str, reason: str) -> None:
    found = grade(assemble(text), name)
    assert not found.passed and reason in " ".join(found.reasons)


def test_answers_for_one_set_of_data_do_not_pass() -> None:
    exercise = EXERCISES["neighbours"]
    drawn = [exercise.given(np.random.default_rng(seed), 8192)["value"] for seed in (1995, 1997)]
    assert not np.array_equal(*drawn)


def test_the_exercise_is_in_the_name_of_the_file() -> None:
    assert exercise_for("here/carries-ada.mc").name == "carries"
    for name in ("ada.mc", "first_and_sides-first.sides.mc"):
        with pytest.raises(InputError, match="--exercise NAME"):
            exercise_for(name)
    with pytest.raises(InputError, match="did you mean carries"):
        exercise_for("a.mc", "carrys")


def test_the_command_says_it_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sides-bob.mc").write_text(solution("sides", ("#3", "#4")))
    Path("first.mc").write_text(solution("first"))
    assert main(["grade", "sides-bob.mc"]) == 1
    assert "side[0]" in capsys.readouterr().out
    assert main(["grade", "--json", "first.mc"]) == 0
    assert json.loads(capsys.readouterr().out)["result"] == {
        "passed": True, "cycles": 1, "budget": 2, "reasons": [], "notes": [], "wrong_pes": 0
    }  # fmt: skip
    assert main(["grade", "--json", "first.mc", "sides-bob.mc"]) == 1
    rows = json.loads(capsys.readouterr().out)["grades"]
    assert [(row["exercise"], row["result"]) for row in rows] == [("first", "passed"), ("sides", "failed")]


@pytest.mark.slow
def test_examples_are_found_away_from_a_clone(tmp_path: Path) -> None:
    def pixelflow(*words: str) -> subprocess.CompletedProcess[str]:
        code = "import sys; from pixelflow.cli.main import process; sys.exit(process())"
        path = str(Path(__file__).parents[2])
        return subprocess.run(
            [sys.executable, "-c", code, *words], cwd=tmp_path, env={"PYTHONPATH": path, "PATH": ""},
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    listed = json.loads(pixelflow("examples", "--json").stdout)
    assert {"mandelbrot", "automata"} < {each["name"] for each in listed["examples"]}
    assert [each["name"] for each in listed["exercises"]] == list(EXERCISES)
    assert pixelflow("examples", "copy", "streams").returncode == 0
    assert (tmp_path / "streams.mc").read_text() == EXERCISES["streams"].stub
    again = pixelflow("examples", "copy", "streams")
    assert again.returncode == 3 and again.stderr.count("error: ") == 1
    assert pixelflow("examples", "show", "vector_add.mc").stdout.startswith("; Vector add")
    wrong = pixelflow("examples", "show", "vector_ad")
    assert wrong.returncode == 3 and "vector_add" in wrong.stderr


def test_one_bad_hand_in_costs_no_other_its_grade(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("first-a.mc").write_text(solution("first"))
    Path("sides-b.mc").write_text("range side[1]\nLDD R, #1\n")
    Path("bob.mc").write_text(solution("first"))
    Path("first-latin.mc").write_bytes(b"\xff\xfe\xe9")
    Path("folder").mkdir()
    files = ["first-a.mc", "sides-b.mc", "bob.mc", "first-latin.mc", "nosuch.mc", "folder"]
    assert main(["grade", "--json", *files]) == 1
    rows = json.loads(capsys.readouterr().out)["grades"]
    assert [(row["file"], row["result"]) for row in rows] == [
        (file, "not graded" if file != "first-a.mc" else "passed") for file in files
    ]
    reasons = {row["file"]: row["reason"] for row in rows}
    assert ": sides-b.mc:2:1: " in reasons["sides-b.mc"] and not reasons["first-a.mc"]
    assert reasons["bob.mc"] and reasons["folder"] and reasons["bob.mc"] != reasons["folder"]
    assert main(["grade", "sides-b.mc"]) == 1
    assert "    2 | LDD R, #1" in capsys.readouterr().out


def test_an_exercise_is_graded_by_its_name(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["grade", "first"]) == 1 and "copy first" in capsys.readouterr().out
    assert main(["run", "first"]) == 3 and "copy first" in capsys.readouterr().err
    Path("first.mc").write_text(solution("first"))
    assert main(["grade", "first"]) == 0
    assert main(["grade", "frist.mc"]) == 1 and "first.mc?" in capsys.readouterr().out


def test_data_sections_and_cleared_memory_answer_nothing() -> None:
    found = grade(assemble("range answer[1]\ndata answer: 42\nLD R, #1\n"), "first")
    assert not found.passed and found.wrong_pes > 8000
    hidden = "range answer[1]\noverlay same[1] at 0\ndata same: 42\nLD R, #1\n"
    assert not grade(assemble(hidden), "first").passed
    text = solution("sides", ("STI side, #1\n", ""))
    assert grade(assemble(text), "sides").wrong_pes > 2000, "a third of the PEs keeps what it had"
    start = grade(assemble(solution("first")), "first").start
    assert start.std(axis=1).min() > 60, "no byte of the PEs is the same everywhere"


def test_a_failed_grade_is_run_again(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("carries.mc").write_text(solution("carries", ("ADC R, b[i]", "ADD R, b[i]")))
    assert main(["grade", "carries.mc", "--save-data", "s.npz"]) == 1
    assert "--memory s.npz" in capsys.readouterr().err
    found = grade(assemble("carries.mc"), "carries").mistakes[0]
    assert main(["run", "carries.mc", "--memory", "s.npz", "--output", "end.npz", "--quiet"]) == 0
    with np.load("end.npz") as end:
        address = assemble("carries.mc").range(found.range).start + found.byte
        assert end["memory"][address, found.lane] == found.found
    Path("first.mc").write_text(solution("first"))
    assert main(["grade", "first.mc", "carries.mc", "--save-data", "s.npz"]) == 2
    assert main(["grade", "first.mc", "--save-data", "s.csv"]) == 2


def test_reasons_say_what_a_run_says() -> None:
    found = grade(assemble("range answer[1]\nWAIT 3\n"), "first")
    assert "EIGC" in found.reasons[0] and "sem 3 " in found.reasons[0]
    text = solution("streams")
    at = text.rindex("WAIT 1\n", 0, text.index("stream tigc"))
    without = grade(assemble(text[:at] + text[at + len("WAIT 1\n") :]), "streams")
    assert len(without.notes) == 1 and "WAIT 1 " in without.notes[0]
    assert not grade(assemble(text), "streams").notes


def test_lines_that_are_left_out_are_counted() -> None:
    text = "range answer[1]\n" + "LD R, #42\n" * 9 + "ST answer, R\n"
    parts = grade(assemble(text), "first").report().parts
    assert re.findall(r"\d+", parts[-1]) == ["5", "5"]


def test_what_stubs_name_is_in_an_installation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["about", "--language"]) == 0
    text = capsys.readouterr().out
    for title in ("Places, neighbours", "Routines, loops, streams", "Two streams"):
        assert f"\n## {title}" in text
    assert main(["about", "--language", "--model"]) == 2
    assert main(["examples", "list"]) == 0 and "mandelbrot" in capsys.readouterr().out
    assert main(["isa", "EMC_Tree"]) == 3
    told = capsys.readouterr().err
    assert "EMC_TreeIntoMem_Li" in told and "EMC_TreeLTZero_Li" in told


def test_hints_come_one_after_the_other(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    for each in EXERCISES.values():
        assert len(each.hints) == 3 and all(hint.endswith(".") for hint in each.hints)
    (tmp_path / "first.mc").write_text(EXERCISES["first"].stub)
    assert main(["grade", "first.mc", "--hint", "2", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["hints"] == [
        f"hint {at}: {EXERCISES['first'].hints[at - 1]}" for at in (1, 2)
    ]


def test_a_class_is_a_table_with_names_or_without(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first-ada.mc").write_text(EXERCISES["first"].stub + "STI answer, #42\n")
    (tmp_path / "sides-bob.mc").write_text(EXERCISES["sides"].stub)
    files = ("first-ada.mc", "sides-bob.mc")
    for words, names in (((), files), (("--anonymous",), ("solution 1", "solution 2"))):
        assert main(["grade", *files, "--csv", "class.csv", *words]) == 1
        with open("class.csv", newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert [(row["file"], row["exercise"], row["result"]) for row in rows] == [
            (names[0], "first", "passed"), (names[1], "sides", "failed")
        ]  # fmt: skip
    for words in (("first-ada.mc", "--csv", "x.csv"), (*files, "--hint", "1"), (*files, "--csv", "x.txt")):
        assert main(["grade", *words]) == 2
