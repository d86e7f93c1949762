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
from pixelflow.simd.report import Column, Curves, Heading, Report, Table, Timeline, TimeSpan, as_text
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


def test_a_run_of_two_streams_has_both_in_time(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "texture_copy", "--html", "page.html", "-q"]) == 0
    page = page_of(tmp_path / "page.html")
    drawn = [" ".join(each.itertext()) for each in page.iter("rect")]
    assert any(re.match(r"read: 14,3\d\d cycles, from 2,8\d\d, 14,3\d\d of them waiting", each) for each in drawn)
    assert {"EIGC", "TIGC"} <= {each.text for each in page.iter("text")}


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
    texts = {each.text for each in page.iter("text")}
    assert {"waiting for others", "waiting for its own transfer"} <= texts


def test_spans_that_nobody_could_see_are_drawn_as_one() -> None:
    many = [TimeSpan(f"stage {at}", at, at + 1) for at in range(100_000)]
    drawn = Timeline("all", [("one", many), ("two", [TimeSpan("<long> & wide", 0, 100_000, 25_000)])]).html()
    assert len(drawn) < 300_000 and drawn.count("<rect") < 1600
    found = ElementTree.fromstring(drawn)
    assert "<long> & wide: 100,000 cycles, from 0, 25,000 of them waiting" in [
        each.text for each in found.iter("title")
    ]
    both = Timeline("all", [("one", [TimeSpan("a", 0, 9, 2, 3), TimeSpan("b", 9, 10, 1)])], own="a fetch").html()
    assert "a: 9 cycles, from 0, 5 of them waiting, 3 of these for a fetch" in both


def test_curves_stand_over_their_axes() -> None:
    drawn = ElementTree.fromstring(Curves("c", "n", "cycles", [("a", [(2, 0), (4, 1000)])]).html())
    (line,) = (each.get("points").split() for each in drawn.iter("polyline"))
    (left, bottom), (right, top) = (map(float, point.split(",")) for point in line)
    texts = {each.text: float(each.get("y")) for each in drawn.iter("text")}
    assert left < right and bottom > top
    assert abs(texts["0"] - 4 - bottom) < 0.2 and abs(texts["1,000"] - 4 - top) < 0.2
    assert Curves("c", "n", "cycles", []).html() == "" == Timeline("t", []).html()


def looks(drawn: str) -> dict[str, str]:
    """Return how each entry of a figure's legend looks, without where it stands."""
    return {
        each.findtext("text") or "": "".join(ElementTree.tostring(part, "unicode") for part in list(each)[:-1])
        for each in ElementTree.fromstring(drawn).iter("g")
    }


@pytest.mark.parametrize(("names", "entries"), [(4, 4), (11, 11), (30, 30), (31, 31), (45, 31)])
def test_no_two_entries_of_a_legend_look_alike(names: int, entries: int) -> None:
    """Ten colours, three patterns; of more names those that take the least time are one entry."""
    spans = [TimeSpan(f"stage {at}", 1000 * at, 1000 * at + 500 + at) for at in range(names)]
    found = looks(Timeline("all", [("one", spans)]).html())
    assert len(found) == len(set(found.values())) == entries
    told = {each for each in found if each.startswith("(others")}
    assert told == ({f"(others: {names - 30} kinds)"} if names > 30 else set())
    shortest = {f"stage {at}" for at in range(names - 30)}
    assert shortest.isdisjoint(found) and set(found) - told == {each.name for each in spans} - shortest
    lines = looks(Curves("c", "n", "cycles", [(each.name, [(0, 1), (1, at)]) for at, each in enumerate(spans)]).html())
    assert len(lines) == len(set(lines.values())) == names


def test_a_bar_looks_like_its_entry_and_tells_its_own_name() -> None:
    spans = [TimeSpan(f"stage {at}", 1000 * at, 1000 * at + 900) for at in range(12)]
    drawn = ElementTree.fromstring(Timeline("all", [("one", spans)]).html())
    legend = {each.findtext("text"): each.find("rect").get("fill") for each in drawn.iter("g")}
    bars = {each.findtext("title").partition(":")[0]: each.get("fill") for each in drawn.iter("rect") if len(each)}
    assert bars == legend and len(set(legend.values())) == 10
    assert sum(1 for each in drawn.iter("path")) == 2 * 2, "two names come again in a colour, in the figure and below"


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
    assert heads == [
        ("h2", "figures", "Figures"), ("h2", "what-it-took", "What it took"), ("h3", "cycles", "Cycles"),
        ("h2", "what-it-took-2", "What it took"), ("h2", "bytes-words", "Bytes & words"), ("h3", "cycles-2", "Cycles"),
        ("h2", "rest", "Rest"),
    ]  # fmt: skip
    (contents,) = drawn.iter("nav")
    listed = [(each.get("href"), each.text) for each in contents.iter("a")]
    assert listed == [(f"#{anchor}", text) for tag, anchor, text in heads if tag == "h2"]
    assert "id=" not in html(LONG_REPORT) and "<h2" not in html(LONG_REPORT), "a notebook has other cells with theirs"
    assert markdown(LONG_REPORT).count("\n## ") == 4 and markdown(LONG_REPORT).count("\n### ") == 2


def test_titles_of_tables_are_the_headings_where_there_are_no_sections() -> None:
    tables = [Table([Column("a")], [("1",)], f"table {at}") for at in range(4)]
    few, many = (ElementTree.fromstring(page(Report("r", parts=tables[:count]), "x")) for count in (3, 4))
    assert [each.text for each in few.iter("h2")] == ["table 0", "table 1", "table 2"] and not list(few.iter("nav"))
    assert [each.get("href") for each in many.iter("a")] == ["#table-0", "#table-1", "#table-2", "#table-3"]


@pytest.mark.parametrize("width", [30, 80, 160])
def test_a_section_has_a_line_of_its_own_in_text(width: int) -> None:
    plain, coloured = (as_text([Heading("What it took")], width, color=color) for color in (False, True))
    assert plain == f"━━ What it took {'━' * (min(width, 80) - 16)}\n" and plain.strip() in coloured
    long = as_text([Heading("many words " * 20)], width).splitlines()
    assert len(long) > 1 and all(len(line) <= width for line in long)


def test_a_bar_is_as_long_as_its_share_of_the_longest(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sum.mc").write_text('LD R, #3\nMARK "add"\nloop 4\nADD R, #1\nend\nST [0], R\n', encoding="utf-8")
    assert main(["run", "sum.mc", "--preset", "tiny", "--html", "page.html", "-q"]) == 0
    cells = {row[-1].text: row[0].get("style") for row in page_of(tmp_path / "page.html").iter("tr")}
    assert " 100.0%, transparent" in cells["add"] and " 20.0%, transparent" in cells["(before)"]


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


def test_a_command_without_a_report_has_no_page(tmp_path: Path, capsys) -> None:
    assert main(["completion", "bash", "--html", str(tmp_path / "page.html")]) == 2
    assert "the command makes no report" in capsys.readouterr().err


def test_a_failure_stands_on_the_page(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "triangle", "--expect-cycles", "1", "--html", "page.html"]) == 1
    (told,) = (each for each in page_of(tmp_path / "page.html").iter("p") if each.get("class") == "failure")
    assert told.text == "expected 1 cycle, the run took 15"
