"""Are the figures of passes in the tables of the tessellation's README those that are executed?

The cells of each marked table that a run gives are compared with what it gives now; a failure shows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest

from pixelflow.config import THESIS
from pixelflow.node import Run
from tessellation.microprogram.passes import Method
from tessellation.plan.stages import Stage
from tessellation.reproduction import PAPER, ThesisBench
from tessellation.studies.workloads import INPUTS, pass_of
from tests.documents.marks import ROOT, table_after

DOCUMENT = "tessellation/README.md"
_ARITHMETIC = (Stage.POINTS, Stage.DERIVATIVES)
_LIBRARY = {"thesis": "plain", "shared-columns": "tuned-finite", "fixed-sums": "tuned-finite"}
_COMPARED = tuple(_LIBRARY)[:2]
"""Schedules whose ways of the results are compared."""

_WAYS = ("gp", "gp-fine", "gp-coarse", "gp-both")


@cache
def runs(schedule: str, results: str = "direct", gps: int | None = None, given: str = "full") -> tuple[Run, ...]:
    method = Method(schedule=schedule, results=results, gps=gps)
    return pass_of(method, _LIBRARY[schedule], given=INPUTS[given]).on(THESIS).runs


def counted(run: Run) -> int:
    return run.total_cycles - run.by_stage.get(Stage.LEE.value, 0)


def stages(schedule: str, lines: tuple[tuple[Stage, ...], ...]) -> list[list[str]]:
    """Return the cycles of each line, and of all, which they are together."""
    (run,) = runs(schedule)
    found = [sum(run.by_stage.get(stage.value, 0) for stage in line) for line in lines]
    assert sum(found) == counted(run)
    return [*([f"{cycles:,}"] for cycles in found), [f"**{counted(run):,}**"]]


def thesis_pass() -> list[list[str]]:
    first, later = (Stage.FIRST_STALL,), (Stage.STALL,)
    return stages("thesis", ((Stage.ADDRESSES,), (Stage.MARKS,), (Stage.BERNSTEIN,), first, later, (Stage.COPY,),
                             (Stage.DISTRIBUTION,), _ARITHMETIC, (Stage.NORMALS,)))  # fmt: skip


def shared_pass() -> list[list[str]]:
    first, later = (Stage.FIRST_STALL,), (Stage.STALL,)
    return stages("shared-columns", ((Stage.ADDRESSES,), (Stage.MARKS,), (Stage.BERNSTEIN,), first, later,
                                     (Stage.COPY,), (Stage.DISTRIBUTION,), (Stage.EXCHANGE,), _ARITHMETIC,
                                     (Stage.NORMALS,)))  # fmt: skip


def fixed_pass() -> list[list[str]]:
    return stages("fixed-sums", ((Stage.ADDRESSES,), (Stage.MARKS,), (Stage.BERNSTEIN,), (Stage.FIRST_STALL,),
                                 (Stage.STALL,), (Stage.COPY,), (Stage.DISTRIBUTION,), (Stage.EXCHANGE,),
                                 (Stage.INNER,), (Stage.OUTER,), (Stage.FLOATS,), (Stage.NORMALS,)))  # fmt: skip


def ways() -> list[list[str]]:
    rows = [[text for schedule in _COMPARED for text in _three(schedule, "direct", None)]]
    for results in _WAYS:
        for gps in (1, 2):
            rows.append([text for schedule in _COMPARED for text in _three(schedule, results, gps)])
    return rows


def _three(schedule: str, results: str, gps: int | None) -> tuple[str, str]:
    each = [counted(run) for run in runs(schedule, results, gps, "three")]
    shown = f"{each[0]:,} each" if len(set(each)) == 1 else ", ".join(f"{cycles:,}" for cycles in each)
    return shown, f"{sum(each):,}"


def caching() -> list[list[str]]:
    """Return the program's cycles of the three ways of appendix B."""
    rows = PAPER.rows("appendix b", ThesisBench())[:3]
    return [[f"{row.measured:,}"] for row in rows]


TABLES: dict[str, tuple[tuple[int, ...], Callable[[], list[list[str]]]]] = {
    "thesis-pass": ((1,), thesis_pass),
    "shared-pass": ((1,), shared_pass),
    "fixed-pass": ((1,), fixed_pass),
    "ways-of-caching": ((2,), caching),
    "ways-of-results": ((2, 3, 4, 5), ways),
}
"""Which columns of a table are executed, and what gives them."""


@pytest.mark.parametrize(
    "mark", [pytest.param(each, marks=[pytest.mark.slow] if each == "ways-of-results" else []) for each in TABLES]
)
def test_the_cells_are_what_is_executed(mark: str) -> None:
    columns, made = TABLES[mark]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table_after(DOCUMENT, mark)[2:]]
    found = made()
    assert [[row[column] for column in columns] for row in cells] == found, found


def test_every_marked_table_is_executed() -> None:
    text = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    assert set(re.findall(r"<!-- ([a-z-]+) -->\n\|", text)) == {*TABLES, "longer-mantissas"}
