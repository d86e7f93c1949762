"""Does a report say the same figures in every format that a command offers, and is each one of its kind?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pixelflow.cli.main import main

PROGRAM = 'LD R, #3\nMARK "add"\nloop 4\nADD R, #1\nend\nST [0], R\n'
CYCLES = {"(before)": 1, "add": 5}
"""By hand: one load; four additions and a store. Loops and marks take no cycle."""


@pytest.fixture
def report(tmp_path: Path, capsys: pytest.CaptureFixture):
    program = tmp_path / "sum.mc"
    program.write_text(PROGRAM, encoding="utf-8")

    def shown(name: str, option: str | None = None) -> str:
        capsys.readouterr()
        asked = ["--format", name] if option is None else [option]
        assert main(["run", str(program), "--preset", "tiny", *asked]) == 0
        return capsys.readouterr().out

    return shown


def test_json_is_what_the_option_of_its_name_gives(report) -> None:
    text = report("json")
    assert json.loads(text)["profile"]["stages"] == CYCLES
    assert text == report("json", "--json")


def test_markdown_has_the_stages_as_rows(report) -> None:
    text = report("markdown")
    assert text.startswith("# pixelflow run")
    rows = {row[2]: int(row[0]) for row in re.findall(r"^\| (\d+) \| ([\d.]+ %) \| (.+) \|$", text, re.MULTILINE)}
    assert CYCLES.items() <= rows.items()


def test_html_is_well_formed_and_has_them_too(report) -> None:
    page = ElementTree.fromstring(report("html"))
    rows = [[cell.text for cell in row] for row in page.iter("tr")]
    assert {row[2]: int(row[0]) for row in rows if row[-1] in CYCLES} == CYCLES


def test_another_format_is_refused_with_those_there_are(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["run", str(tmp_path / "none.mc"), "--format", "pdf"]) == 2
    found = capsys.readouterr()
    assert found.out == "" and all(name in found.err for name in ("text", "json", "markdown", "html"))
