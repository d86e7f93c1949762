"""Does `pixelflow diff` name every number that differs between two reports, and nothing else?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "microcode" / "examples"


def _report(path: Path, **values: object) -> Path:
    path.write_text(json.dumps({"schema": "pixelflow.run/1", **values}))
    return path


def test_differences_are_a_table(pixelflow, tmp_path: Path) -> None:
    first = _report(tmp_path / "a.json", cycles=1200, rate=0.5, name="x", gone=None, runs=[{"sem 0": 7}, {"n": 1}])
    second = _report(tmp_path / "b.json", cycles=1234, rate=0.75, name="y", runs=[{"sem 0": 7}, {"n": None}])
    found = pixelflow("diff", first, second, "--width", 80)
    assert found.code == 1 and not found.err
    rows = {line.split()[0]: line.split()[1:] for line in found.out.splitlines()}
    assert rows["cycles"] == ["1,200", "1,234", "+34"]
    assert rows["rate"] == ["0.5", "0.75", "+0.25"]
    assert rows["name"] == ["x", "y", "-"]
    assert rows["gone"] == ["null", "missing", "-"]
    assert rows["runs.1.n"] == ["1", "null", "-"]
    assert "runs.0.sem" not in found.out and re.findall(r"\d", found.out.splitlines()[-1]) == ["5", "7"]


@pytest.mark.parametrize("empty", [[], {}])
def test_an_empty_list_or_object_is_a_value(pixelflow, tmp_path: Path, empty: object) -> None:
    first, second = _report(tmp_path / "a.json", cycles=1, runs=empty), _report(tmp_path / "b.json", cycles=1)
    for order in ((first, second), (second, first)):
        found = pixelflow("diff", *order)
        assert found.code == 1
        assert re.findall(r"\d", found.out.splitlines()[-1]) == ["1", "3"]
    assert pixelflow("diff", first, first).code == 0


def test_equal_reports_are_no_difference(pixelflow, tmp_path: Path) -> None:
    first = _report(tmp_path / "a.json", cycles=1200)
    found = pixelflow("diff", first, first)
    assert (found.code, found.out) == (0, "no difference\n")
    assert pixelflow("diff", first, first, "-q").out == ""


@pytest.mark.parametrize(
    ("ignore", "code"),
    [
        (["run.cycles", "run.energy"], 0),
        (["cycles", "energy"], 0),
        (["run.*"], 0),
        (["*energy", "cycle?"], 0),
        (["cycle"], 1),
        (["energy"], 1),
    ],
)
def test_keys_can_be_left_out(pixelflow, tmp_path: Path, ignore: list[str], code: int) -> None:
    first = _report(tmp_path / "a.json", run={"cycles": 1, "energy": 3})
    second = _report(tmp_path / "b.json", run={"cycles": 2, "energy": 4})
    options = [word for key in ignore for word in ("--ignore", key)]
    assert pixelflow("diff", first, second, *options).code == code


def test_json_has_every_difference(pixelflow, tmp_path: Path) -> None:
    first = _report(tmp_path / "a.json", cycles=1200, name="x")
    second = _report(tmp_path / "b.json", cycles=1234, name="x", more=float("nan"))
    found = pixelflow("diff", first, second, "--json")
    content = json.loads(found.out)
    assert found.code == 1 and content["schema"] == "pixelflow.diff/1" and content["equal"] is False
    assert content["differences"] == [
        {"key": "cycles", "first": 1200, "second": 1234, "delta": 34},
        {"key": "more", "first": None, "second": "nan", "delta": None},
    ]
    same = json.loads(pixelflow("diff", first, first, "--json").out)
    assert same["equal"] is True and same["differences"] == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{}", "is nothing that can be compared"),
        (b"[1, 2]", "is nothing that can be compared"),
        (b'{"schema": "other/1"}', "is nothing that can be compared"),
        (b'{"schema": "pixelflow.run/2"}', "is pixelflow.run/2, but a.json is pixelflow.run/1"),
        (b'{"schema": "pixelflow.run/1", "cycles":', "is nothing that can be compared"),
        (b"\xff\xfe", "is nothing that can be compared"),
        (b"PK\x03\x04", "is not a numpy .npz archive"),
        (None, "b.json: error: no such file"),
    ],
)
def test_what_cannot_be_compared(
    pixelflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    _report(Path("a.json"), cycles=1)
    if content is not None:
        Path("b.json").write_bytes(content)
    found = pixelflow("diff", "a.json", "b.json")
    assert found.code == 3 and message in found.err and not found.out
