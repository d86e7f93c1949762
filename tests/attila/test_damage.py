"""Do damaged tables and pictures of records end in a message with their place?"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pixelflow.simd.errors import InputError
from tests.attila.recorded import drawn, quad, scene_body
from tests.recorded.__main__ import main
from tests.recorded.attila import read_records

BODY = scene_body(drawn(quad(0, 0, 8, 8)))

ROW = {"run": "own@paper", "scene": "own", "group": "own", "machine": "paper", "overrides": "{}", "frame": "own.png",
    "cycles": "1391", "cycles_drawing": "283", "Triangles_PA": "3"}  # fmt: skip


@pytest.fixture
def records(tmp_path: Path) -> Path:
    (tmp_path / "scenes").mkdir()
    (tmp_path / "frames").mkdir()
    (tmp_path / "scenes" / "own.json").write_text(json.dumps(BODY))
    table(tmp_path / "runs.csv", ROW)
    table(tmp_path / "statistics_paper.csv", {"run": "own@paper", "Vertices_PA": "6"})
    return tmp_path


def table(path: Path, *rows: dict[str, str]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("cycles", "nan", "cycles is nan, a finite number is wanted here"),
        ("cycles", "1e999", "cycles is 1e999, a finite number is wanted here"),
        ("cycles", "many", "cycles is 'many', a number is wanted here"),
        ("cycles_drawing", "0", "cycles_drawing is 0, a run takes cycles"),
        ("cycles_drawing", "-3", "cycles_drawing is -3, a run takes cycles"),
        ("scene", "../scenes/own", "a name in the folder scenes"),
        ("scene", "own_" + "9" * 5000, "a name in the folder scenes"),
        ("frame", "/etc/passwd", "a name in the folder frames"),
        ("overrides", "[]", "overrides are no JSON object"),
        ("overrides", '{"a":', "cannot be read"),
        ("machine", "", "has no machine"),
    ],
)
def test_a_damaged_cell_says_its_line(records: Path, key: str, value: str, said: str) -> None:
    table(records / "runs.csv", ROW | {"run": "first@paper"}, ROW | {key: value})
    with pytest.raises(InputError) as caught:
        read_records(records)
    assert f"{records / 'runs.csv'}:3" in str(caught.value) and said in str(caught.value)


def test_a_line_is_counted_where_others_are_empty(records: Path) -> None:
    path = records / "runs.csv"
    first, second = path.read_text(encoding="utf-8").splitlines()
    path.write_text(f"{first}\n\n\n{second.replace('1391', 'x')}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"runs\.csv:4"):
        read_records(records)


def test_a_row_has_a_cell_for_each_name(records: Path) -> None:
    (records / "runs.csv").write_text("run,scene,group,machine\na,b,c,paper,1,2\n")
    with pytest.raises(InputError, match=r"runs\.csv:2: error: has more cells"):
        read_records(records)


def test_a_run_is_named_once(records: Path) -> None:
    table(records / "runs.csv", ROW, ROW)
    with pytest.raises(InputError, match="own@paper is there twice"):
        read_records(records)


@pytest.mark.parametrize("content", [b"", b"x", b"\x89PNG\r\n\x1a\n" + b"\0" * 30, b"GIF89a" + b"\0" * 20])
def test_a_damaged_picture_refuses_its_run(records: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (records / "frames" / "own.png").write_bytes(content)
    assert main(["attila", "--data", str(records)]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "refused: own@paper" in text and "own.png" in text


def test_a_value_of_a_parameter_has_a_bound(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(records / "runs.csv", ROW | {"overrides": json.dumps({"MEMORYCONTROLLER.ReadLatency": "9" * 5000})})
    assert main(["attila", "--data", str(records)]) == 1
    assert "found 999999999999999999)" in " ".join(capsys.readouterr().out.split())
