"""Tables and objects: no lost digit at any width, program text as it is, colour only where it is wanted."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelflow.simd.report import Column, Table, as_text, counted, number, plural, verbatim

HOSTILE = ["mem[p]", "[red]x[/red]", "[/x]", "sem[0]", "a\tb", "\x1b[2J", ":smile:", "漢字漢字", "[link=x]y"]


def shown_table(width: int, columns: list[Column], rows: list, title: str = "", *, color: bool = False) -> str:
    return as_text([Table(columns, rows, title)], width, color=color)


@settings(max_examples=25)
@given(
    st.integers(20, 120),
    st.lists(st.lists(st.integers(0, 10**12), min_size=4, max_size=4), min_size=1, max_size=5),
)
def test_no_digit_is_lost(width: int, rows: list[list[int]]) -> None:
    shown = drawn(width, [[number(value) for value in row] for row in rows])
    for row in rows:
        for value in row:
            assert re.search(rf"(?<![\d,]){re.escape(number(value))}(?![\d,])", shown)


def drawn(width: int, rows: list[list[str]]) -> str:
    return shown_table(width, [Column(f"column {index}", verbatim) for index in range(len(rows[0]))], rows)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [24, 80])
def test_program_text_is_shown_as_it_is(text: str, width: int) -> None:
    out = shown_table(width, [Column("n", verbatim), Column("source")], [["1", text]], text)
    expected = text.replace("\x1b", "\\x1b").replace("\t", "\\x09")
    assert out.count(expected) == 2
    assert "\x1b" not in out


def test_lines_fit_the_width() -> None:
    row = ["1,234", "a long text that has to be folded somewhere " * 3, "97,476"]
    for width in (40, 80, 132):
        out = shown_table(width, [Column("n", verbatim), Column("text"), Column("cycles", verbatim)], [row])
        assert max(map(len, out.splitlines())) <= width


CELLS = st.sampled_from(
    ["", "a", "two words", "1,234", "漢字", "a\tb", "trailing  ", "·", "a text that takes some room"]
)
HEADS = ("c0", "two\nlines", "漢字", "c3")


@given(
    st.integers(20, 120),
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=4),
    st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=4),
)
def test_a_table_is_the_same_with_colours_and_without(width: int, kinds: list, rows: list) -> None:
    columns = [
        Column(HEADS[at], verbatim if numbers else str, fixed=fixed) for at, (numbers, fixed) in enumerate(kinds)
    ]
    shown = []
    for color in (False, True):
        drawn = shown_table(width, columns, [row[: len(kinds)] for row in rows], color=color)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", drawn)
        shown.append([line.rstrip() for line in plain.splitlines()])
    assert shown[0] == shown[1]


def test_a_narrow_screen_gets_records() -> None:
    out = shown_table(20, [Column("cycles", verbatim), Column("line", fixed=True)], [["97,476", "program.mc:1234"]])
    assert out.split() == ["cycles", "97,476", "line", "program.mc:1234"]


@pytest.mark.parametrize(("width", "left"), [(34, "a b c d"), (33, "a b d"), (24, "a d"), (15, "block")])
def test_optional_columns_give_way_the_last_first(width: int, left: str) -> None:
    columns = [Column("a", number), Column("b", number, optional=True), Column("c", number, optional=True)]
    columns.append(Column("d", number))
    shown = shown_table(width, columns, [[123_456, 234_567, 345_678, 456_789]]).splitlines()
    if left != "block":
        assert " ".join(shown[0].split()) == left and len(shown) == 3
    else:
        assert [line.split()[0] for line in shown if line.strip()] == ["a", "b", "c", "d"]


def test_counts_agree_with_their_nouns() -> None:
    found = [counted(1, "core"), counted(2_000, "core"), counted(0, "core"), plural(1, "patch"), plural(1_536, "patch")]
    assert found == ["1 core", "2,000 cores", "0 cores", "1 patch", "1,536 patches"]


def test_colour_is_in_the_text_only_when_asked_for(pixelflow, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in pixelflow("config", "show").out
    assert "\x1b[" in pixelflow("config", "show", "--color", "always").out
    assert "\x1b[" in pixelflow("--color", "always", "config", "show").out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in pixelflow("config", "show").out


def test_eighty_columns_are_the_design_size(pixelflow) -> None:
    for arguments in (["config", "show"], ["isa"], ["about", "--model"], ["about"], ["isa", "EMC_PixCopy"]):
        lines = pixelflow(*arguments).out.splitlines()
        assert max(map(len, lines)) <= 80, max(lines, key=len)


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (["config", "show"], "pixelflow.config/1"),
        (["isa"], "pixelflow.isa/1"),
        (["isa", "LD"], "pixelflow.isa/1"),
        (["about"], "pixelflow.about/1"),
    ],
)
def test_json_is_one_object(pixelflow, arguments: list[str], schema: str) -> None:
    result = pixelflow(*arguments, "--json")
    found = json.loads(result.out)
    assert found["schema"] == schema
    assert found["tool"]["name"] == "pixelflow-sim"
    assert list(found) == sorted(found)
    assert result.out == pixelflow("--json", *arguments).out
