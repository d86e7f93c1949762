"""Is every figure that documents print what a command prints, a test asserts or the code measures at this moment?"""

from __future__ import annotations

import re

import pytest

from tests.documents.figures import (
    COVERED,
    HELD,
    MEASURED,
    ROOMS,
    ROOT,
    SAID,
    SAID_IN_ROOMS,
    Printed,
    figures_in,
    held_in,
    hosts,
    missing,
    readers,
)
from tests.documents.printed import differences, output_of, printed_blocks

BLOCKS = list(printed_blocks())
LONG = {
    "pixelflow study sensitivity",
    "pixelflow study supply",
    "pixelflow study schedules --inputs full",
    "pixelflow study machines --scenes layers,sized --size 40x30",
}
"""Commands that take more than a few seconds; tests of the studies execute the same in part."""


@pytest.mark.parametrize(
    "block",
    [pytest.param(each, marks=[pytest.mark.slow] * (each.command in LONG)) for each in BLOCKS],
    ids=[f"{each.document}: {each.command[10:50]}" for each in BLOCKS],
)
def test_a_printed_block_is_what_its_command_prints(block) -> None:
    assert len(block.lines) > 3
    assert differences(block.lines, output_of(block.command)) == []


def test_there_are_printed_blocks() -> None:
    assert {"pixelflow study sensitivity", "pixelflow study supply"} <= {block.command for block in BLOCKS}


LONG_FIGURES = {"52", "85,234", "160,264", "1,388"}
"""Figures whose measurement takes more than a second."""
FEWEST = {"README.md": 1}
"""Of figures in prose: the README's stand in what its commands print."""


@pytest.mark.parametrize("document", (*COVERED, *ROOMS))
def test_every_figure_has_a_source(document: str) -> None:
    assert document in ROOMS or len(figures_in(document)) >= FEWEST.get(document, 10)
    assert missing(document) == []


@pytest.mark.parametrize(
    "figure", [pytest.param(each, marks=[pytest.mark.slow] * (each in LONG_FIGURES)) for each in MEASURED]
)
def test_a_measured_figure_is_as_printed(figure: str) -> None:
    printed = Printed(figure, MEASURED[figure]())
    assert printed.same, printed


@pytest.mark.parametrize("figure", HELD)
def test_a_figure_is_in_the_test_that_holds_it(figure: str) -> None:
    assert list(held_in(figure))


def test_the_table_of_sources_has_no_figure_that_nobody_prints() -> None:
    printed = {figure for document in (*COVERED, *ROOMS) for figure in figures_in(document)}
    assert {*MEASURED, *HELD, *SAID, *SAID_IN_ROOMS} <= printed


@pytest.mark.parametrize("document", ROOMS)
def test_a_table_that_a_test_reads_is_read_there(document: str) -> None:
    for name in readers(document):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "README" in text or document in text, name


@pytest.mark.parametrize("document", (*COVERED, *ROOMS))
def test_speeds_of_a_host_say_where_and_when(document: str) -> None:
    for block in hosts(document):
        assert re.search(r"[Mm]easured in \w+ 20\d\d on .*core", " ".join(block.split())), block


@pytest.mark.parametrize(
    ("shown", "printed", "wrong"),
    [
        (["a", "b"], ["a", "b"], []),
        (["a", "..."], ["a", "b", "c"], []),
        (["a", "...", "c"], ["a", "b", "c"], []),
        (["a", "...", "d"], ["a", "b", "c"], ["d"]),
        (["a", "c"], ["a", "b"], ["c"]),
        (["a"], ["a", "b"], ["(the end is missing, from: 'b')"]),
        (["wall time 1", "a"], ["wall time 2", "a"], []),
    ],
)
def test_what_differs_from_a_printed_block_is_told(shown: list[str], printed: list[str], wrong: list[str]) -> None:
    assert differences(shown, printed)[: len(wrong) or None] == wrong


def test_a_figure_is_compared_in_its_own_digits() -> None:
    assert Printed("2.13", 2.1313).same and not Printed("2.13", 2.136).same
    assert Printed("1,002", 1002).same and not Printed("1,002", 1003).same
