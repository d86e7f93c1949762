"""Are the figures of the page's table those of the tables' programs, on the machine and where reads wait for stores?"""

from __future__ import annotations

from functools import cache

import pytest

from pixelflow.config import THESIS, NodeConfig
from pixelflow.evidence import Row
from tessellation.reproduction import ThesisBench
from tessellation.reproduction.arithmetic import table_1, table_5, table_7
from tessellation.reproduction.bench import counted
from tessellation.reproduction.thesis import table
from tessellation.studies import moved
from tests.documents.marks import table_after

PAGE = "docs/pages/guide/studies.md"
LINES = table_after(PAGE, "read by: tests/studies/test_memory_port.py")
TABLE = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES[2:]]
WAITING = moved(THESIS, "extra.store_then_read", 1)


@cache
def bench(config: NodeConfig) -> ThesisBench:
    found = ThesisBench()
    found.config = config
    return found


@cache
def rows(number: int, config: NodeConfig) -> dict[str, Row]:
    match number:
        case 1:
            return {each.item.removesuffix(", plain"): each for each in table_1(bench(config)).rows}
        case 5:
            return {each.item: each for each in table_5(bench(config))}
    return {each.item: each for each in table_7(bench(config))}


@pytest.mark.parametrize(
    "row", [pytest.param(each, marks=[pytest.mark.slow] * (each[0][:8] != "table 12")) for each in TABLE],
    ids=lambda row: row[0],
)  # fmt: skip
def test_a_row_of_the_page(row: list[str]) -> None:
    name, item = row[0].split(", ", 1)
    number = int(name.removeprefix("table "))
    if number == 12:
        published = next(cycles for net, cycles, _ in table(12).rows if item == f"{net} net")
        found = [published, *(counted(bench(each).tessellation(4)) for each in (THESIS, WAITING))]
    else:
        before, after = (rows(number, each)[item] for each in (THESIS, WAITING))
        found = [before.published, before.measured, after.measured]
    assert row[1:] == [*(f"{each:,}" for each in found), f"{100 * (found[2] / found[1] - 1):+.1f} %"]


def test_loops_that_are_not_folded_move_no_pass() -> None:
    unfolded = moved(THESIS, "igc.fold_loops", False)
    assert [counted(bench(each).tessellation(4)) for each in (THESIS, unfolded)] == [102_656] * 2
