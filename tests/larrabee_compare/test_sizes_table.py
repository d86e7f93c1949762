"""Does the table of sizes of triangles on Larrabee's page say what the command says?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from pixelflow.simd.comparison.triangle_sizes import SIZES

PAGE = Path(__file__).parents[2] / "docs/pages/larrabee.md"
MARK = "<!-- read by: tests/larrabee_compare/test_sizes_table.py -->\n"
CELLS = (("cycles", "{:,.1f}"), ("nanoseconds", "{:,.0f}"), ("lane_bits", "{:,.0f}"))
TEN = 10
"""Cores of the formula below the table."""


def rows() -> list[list[str]]:
    """Return the cells of each row."""
    lines = PAGE.read_text(encoding="utf-8").split(MARK)[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def values(row: list[str]) -> list[float]:
    return [float(cell.replace(",", "")) for cell in row]


def test_what_is_said_of_crossings_follows_from_the_table() -> None:
    found = {int(pixels): each for pixels, *each in map(values, rows())}
    assert tuple(found) == SIZES
    for cycles, ns, bits, others_cycles, others_ns, others_bits in found.values():
        assert cycles < others_cycles and ns < others_ns and bits > others_bits
        assert cycles < others_cycles / TEN
    shorter = [pixels for pixels, (_, ns, _, _, others_ns, _) in found.items() if others_ns / TEN < ns]
    assert shorter == [pixels for pixels in SIZES if pixels <= 3000]
    assert found[8000][2] < 1.02 * found[8000][5]


@pytest.mark.slow
def test_the_table_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "triangle-sizes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["crossings"] == []
    for row, shown in zip(found["sizes"], rows(), strict=True):
        machines = ("pixelflow", "larrabee")
        expected = [form.format(row[f"{name}_{key}"]) for name in machines for key, form in CELLS]
        assert shown == [f"{row['pixels']:,}", *expected]
