"""Are the cycles of the page's table those of the kernels?"""

from __future__ import annotations

import re

import pytest

from pim_kernels import KERNELS, measure
from pixelflow.config import LARGE, THESIS
from pixelflow.node import Node
from tests.documents.marks import ROOT, table_after

PAGE = "docs/pages/guide/kernels.md"
LINES = table_after(PAGE, "read by: tests/pim/test_guide.py")
TABLE = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES[2:]]


def test_every_kernel_is_in_the_table() -> None:
    assert [row[0].strip("`") for row in TABLE] == list(KERNELS)


LONG = {"`radix_sort`", "`histogram`", "`bitonic_sort`"}


@pytest.mark.parametrize(
    "row",
    [pytest.param(each, marks=[pytest.mark.slow] * (each[0] in LONG)) for each in TABLE],
    ids=lambda row: row[0].strip("`"),
)
def test_cycles(row: list[str]) -> None:
    """Without data they are the same; which records go where depends on data, so that one is run with them."""
    kernel = KERNELS[row[0].strip("`")]
    for config, text in zip((THESIS, LARGE), row[3:], strict=True):
        if kernel.name == "select":
            cycles = measure(kernel, config).cycles
        else:
            cycles = Node(config, "rows").run(kernel.program(config), function=False).total_cycles
        assert f"{cycles:,}" == text


def test_the_kernel_of_the_guide_runs() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    (block,) = re.findall(r"Put the data in, run, compare:\n\n```python\n(.*?)```", text, re.DOTALL)
    exec(compile(block, PAGE, "exec"), {})
