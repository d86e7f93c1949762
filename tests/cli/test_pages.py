"""Is the page of every command a document by itself: well-formed, nothing to load, no script, and the one rendering?"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pixelflow.cli.main import main
from pixelflow.cli.registry import COMMANDS
from pixelflow.simd.report import Column, Heading, Report, Table, Timeline, TimeSpan
from pixelflow.simd.report.html import html, markdown, page

slow = pytest.mark.slow
LINES = {
    "verify": "verify 2",
    "study": "study supply --rates 400",
    "tessellate": "tessellate enneper --samples 4 --preset tiny",
    "serve": "serve teapot --samples 4",
    "render": "render enneper --samples 2 --size 32x24 -o drawn.png",
    "animate": "animate flight --frames 40 --size 32x24 -o flight.png",
    "compare": "compare enneper --samples 2 --size 32x24",
    "run": "run texture_copy --profile --show-map enable",
    "dash": "dash saved.npz --at 6",
    "diff": "diff saved.npz saved.npz",
    "asm": "asm vector_add --listing",
    "dis": "dis vector_add",
    "examples": "examples",
    "grade": "grade carries.mc",
    "isa": "isa",
    "trace": "trace opcodes",
    "stats": "stats list",
    "sweep": "sweep run texture_copy --timing-only --set sdram.trp_cycles=2:4 --out grid.csv",
    "kernels": "kernels vector_add --preset tiny",
    "config": "config show",
    "cache": "cache",
    "about": "about --model",
}
LONG = {"study", "animate", "compare", "serve"}
FAILS = {"grade"}
"""An exercise that nobody has solved: its page says so, and the exit code too."""


def page_of(file: Path) -> ElementTree.Element:
    """Return a page as a tree; raises AssertionError where it loads something, or runs something."""
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    page = ElementTree.fromstring(text)
    names = [each.get("id") for each in page.iter() if each.get("id")]
    assert len(names) == len(set(names))
    for element in page.iter():
        assert element.tag not in {"script", "iframe", "object", "embed", "base", "form"}
        for name, value in element.attrib.items():
            assert not name.startswith("on"), name
            if name in {"href", "src", "srcset", "action", "data"}:
                assert value.startswith(("data:", "#")), value
            assert_loads_nothing(value if name != "src" else "")
        if element.tag == "style":
            assert_loads_nothing(element.text or "")
    return page


def assert_loads_nothing(style: str) -> None:
    """A style names no other place than those in the page."""
    assert "@import" not in style
    assert all(place.startswith("#") for place in re.findall(r"url\(\s*['\"]?([^)'\"]*)", style)), style


def test_every_command_that_reports_has_a_line() -> None:
    assert set(LINES) == {name for name, command in COMMANDS.items() if command.report}


@pytest.mark.parametrize("name", [pytest.param(each, marks=[slow] * (each in LONG)) for each in LINES])
def test_the_page_of_a_command(name: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    if name in ("dash", "diff"):
        assert main(["run", "triangle", "--record", "saved.npz", "-q"]) == 0
    if name == "grade":
        assert main(["examples", "copy", "carries", "-q"]) == 0
    capsys.readouterr()
    assert main([*shlex.split(LINES[name]), "--html", "page.html"]) == (name in FAILS)
    beside = capsys.readouterr()
    assert "wrote page.html" in beside.err and "<html" not in beside.out
    page = page_of(tmp_path / "page.html")
    assert (page.findtext("head/title") or "").startswith(("pixelflow", "grade", "kernels", "opcodes", "instruction"))
    assert len("".join(page.find("body").itertext())) > 60
    assert page.find("head/style") is not None and "light-dark(" in page.findtext("head/style")


def test_the_page_is_what_the_format_prints(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "texture_copy", "--html", "page.html"]) == 0
    text = capsys.readouterr().out
    assert main(["run", "texture_copy", "--format", "html"]) == 0
    assert capsys.readouterr().out == (tmp_path / "page.html").read_text(encoding="utf-8")
    assert main(["run", "texture_copy"]) == 0
    assert capsys.readouterr().out == text


def test_waits_of_the_figure_are_those_of_the_table(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "texture_copy", "--html", "page.html", "-q"]) == 0
    page = page_of(tmp_path / "page.html")
    rows = [[" ".join(cell.itertext()).strip() for cell in row.iter("td")] for row in page.iter("tr")]
    waits = {(row[2], int(row[0].replace(",", ""))) for row in rows if len(row) == 3 and ": wait " in row[2]}
    told = " ".join(each.text or "" for each in page.iter("title"))
    found = re.findall(r"(\w+): [\d,]+ cycles, from [\d,]+, ([\d,]+) of them waiting(?:, ([\d,]+) of these for)?", told)
    drawn: Counter[str] = Counter()
    for name, *numbers in found:
        total, own = (int(each.replace(",", "") or 0) for each in numbers)
        drawn[name] += total - own
        drawn[f"{name}: wait transfer"] += own
    listed: Counter[str] = Counter()
    for name, cycles in waits:
        listed[name if name.endswith("transfer") else name.partition(":")[0]] += cycles
    assert listed == drawn and listed["read: wait transfer"] > 14_000


def test_spans_that_nobody_could_see_are_drawn_as_one() -> None:
    many = [TimeSpan(f"stage {at}", at, at + 1) for at in range(100_000)]
    drawn = Timeline("all", [("one", many), ("two", [TimeSpan("<long> & wide", 0, 100_000, 25_000)])]).html()
    assert len(drawn) < 300_000 and drawn.count("<rect") < 1600
    found = ElementTree.fromstring(drawn)
    assert re.findall(r"[\d,]+\d", next(each.text for each in found.iter("title") if "<long>" in each.text)) == [
        "100,000",
        "25,000",
    ]
    both = Timeline("all", [("one", [TimeSpan("a", 0, 9, 2, 3), TimeSpan("b", 9, 10, 1)])], own="a fetch").html()
    assert re.findall(r"\d+", both[both.index("a: 9") :])[:4] == ["9", "0", "5", "3"]


LONG_REPORT = Report(
    "a report",
    parts=[
        Heading("What it took"), "text", Table([Column("a")], [("1",)], "Cycles"), Heading("What it took"),
        Heading("Bytes & words"), Table([Column("a")], [("1",)], "Cycles"), Heading("Rest"), "more",
    ],
    figures=[Timeline("all", [("one", [TimeSpan("stage", 0, 9)])])],
)  # fmt: skip


def test_a_long_report_lists_its_sections_at_the_top_of_its_page() -> None:
    drawn = ElementTree.fromstring(page(LONG_REPORT, "x"))
    heads = [(each.tag, each.get("id"), each.text) for each in drawn.iter() if each.tag in ("h2", "h3")]
    assert [anchor for _, anchor, _ in heads] == [
        "figures",
        "what-it-took",
        "cycles",
        "what-it-took-2",
        "bytes-words",
        "cycles-2",
        "rest",
    ]
    assert [tag for tag, *_ in heads] == ["h2", "h2", "h3", "h2", "h2", "h3", "h2"]
    (contents,) = drawn.iter("nav")
    listed = [(each.get("href"), each.text) for each in contents.iter("a")]
    assert listed == [(f"#{anchor}", text) for tag, anchor, text in heads if tag == "h2"]
    assert "id=" not in html(LONG_REPORT) and "<h2" not in html(LONG_REPORT), "a notebook has other cells with theirs"
    assert markdown(LONG_REPORT).count("\n## ") == 4 and markdown(LONG_REPORT).count("\n### ") == 2


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--html", "-"], 2, "--format html prints the page"),
        (["--html", "page.txt"], 2, "name a file that ends in .html"),
        (["--html", "none/page.html"], 3, "the folder none does not exist"),
        (["--html", "page.html", "--output", "page.html"], 3, "--output and --html name the same file"),
        (["--html", "page.html", "--trace", "kanata:page.html"], 3, "name the same file"),
    ],
)
def test_a_page_that_cannot_be_is_refused_before_the_run(
    words: list[str], code: int, told: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "texture_copy", *words]) == code
    found = capsys.readouterr()
    assert told in found.err and found.out == "" and list(tmp_path.iterdir()) == []


def test_a_failure_stands_on_the_page(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "triangle", "--expect-cycles", "1", "--html", "page.html"]) == 1
    (told,) = (each for each in page_of(tmp_path / "page.html").iter("p") if each.get("class") == "failure")
    assert re.findall(r"\d+", told.text) == ["1", "15"]
