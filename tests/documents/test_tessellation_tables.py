"""Are the figures of passes in the tables of the pages on tessellation those that are executed?

The cells of each marked table that a run gives are compared with what it gives now; a failure shows them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache

import pytest

from pixelflow.config import THESIS
from pixelflow.node import Node, Run
from pixelflow.simd.report.html import json_text
from tessellation import load, tessellate
from tessellation.microprogram.method import CACHING_WAYS, Method
from tessellation.microprogram.ports import store_program
from tessellation.plan.memory_map import memory_map
from tessellation.plan.schedule import Stage
from tessellation.plan.texture_layout import ResultArea
from tessellation.studies import CACHING, INPUTS, StudyBench, pass_of
from tests.documents.marks import ROOT, table_after

SCHEDULES, MEMORY = "docs/pages/schedules.md", "docs/pages/texture-memory.md"
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
    """Return what the TASICs are busy by each way of appendix B, the program's cycles, and what the results take."""
    rows = []
    for way in CACHING_WAYS:
        area = ResultArea.at(way, 0, THESIS)
        run = Node(THESIS, "rows").run(store_program(area, memory_map(4, 4)), function=False)
        rows.append([f"{run.tasic_cycles[0]:,}", f"{run.total_cycles:,}", f"{8 * area.taken_cells:,}"])
    return rows


def kept_beside() -> list[list[str]]:
    """Return three passes that keep nothing, after each, and beside; what a middle one takes more, and its waits."""
    report = json.loads(json_text(CACHING.report(StudyBench(THESIS, lambda _: None), {})))
    return [[f"{row[key]:,}" for key in ("plain", "after", "beside", "more", "waits")] for row in report["cycles"]]


def record_conditions() -> list[list[str]]:
    """Return cycles of both schedules under each condition, and how many times fewer sums in fixed point take."""

    def of(schedule: str, library: str) -> int:
        return counted(pass_of(Method(schedule=schedule), library).on(THESIS).runs[0])

    def loaded(schedule: str, library: str | None) -> int:
        method = Method(schedule=schedule, load="gp")
        done = tessellate([*load("teapot").patches] * 16, 4, library=library, method=method)
        return counted(done.runs[0]) + done.load_cycles

    fixed = of("fixed-sums", "tuned-finite")
    pairs = [(of("thesis", "plain"), fixed), (of("thesis", "tuned-finite"), fixed)]
    for gps in (2, 1):
        middle = (counted(runs(each, "gp-coarse", gps, "three")[1]) for each in ("thesis", "fixed-sums"))
        pairs.append(tuple(middle))
    pairs.append((loaded("thesis", "plain"), loaded("fixed-sums", None)))
    return [[f"{a:,}", f"{b:,}", f"{a / b:.2f}"] for a, b in pairs]


TABLES: dict[str, tuple[str, tuple[int, ...], Callable[[], list[list[str]]]]] = {
    "thesis-pass": (SCHEDULES, (1,), thesis_pass),
    "shared-pass": (SCHEDULES, (1,), shared_pass),
    "fixed-pass": (SCHEDULES, (1,), fixed_pass),
    "record-conditions": (SCHEDULES, (1, 2, 3), record_conditions),
    "ways-of-caching": (MEMORY, (1, 2, 3), caching),
    "kept-during": (MEMORY, (2, 3, 4, 5, 6), kept_beside),
    "ways-of-results": (SCHEDULES, (2, 3, 4, 5), ways),
}
"""The document of a table, its executed columns, and the function that executes them."""


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param(
            each, marks=[pytest.mark.slow] if each in ("ways-of-results", "kept-during", "record-conditions") else []
        )
        for each in TABLES
    ],
)
def test_the_cells_are_what_is_executed(mark: str) -> None:
    document, columns, made = TABLES[mark]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table_after(document, mark)[2:]]
    found = made()
    assert [[row[column] for column in columns] for row in cells] == found, found


def test_every_marked_table_is_executed() -> None:
    text = "".join((ROOT / document).read_text(encoding="utf-8") for document in (SCHEDULES, MEMORY))
    assert set(re.findall(r"<!-- ([a-z-]+) -->\n\|", text)) == {*TABLES, "longer-mantissas"}
