"""Do the formulas and the memory layout give the published tables?"""

from __future__ import annotations

from decimal import Decimal

import pytest

from pixelflow.simd.errors import InputError
from tessellation.plan.memory_map import AVAILABLE, memory_map
from tessellation.plan.schedule import Surface, batch_count, point_batches, surface_order, value_count
from tessellation.reproduction.cost_model import (
    Operations,
    address_cycles,
    bernstein_cycles,
    computation_cycles,
    cross_operations,
    memory_bytes,
    pixcopy_cycles,
    tasic_cycles,
    total_operations,
)
from tessellation.reproduction.thesis import FIGURES, TABLES, table


def test_tables_are_complete():
    assert [t.number for t in TABLES] == list(range(1, 14))
    assert all(len(row) == len(t.columns) for t in TABLES for row in t.rows)
    assert table(7).row("4x4")["Total Cycle Count"] == 89036
    with pytest.raises(KeyError):
        table(7).row("3x3")


def test_figures_have_the_digits_that_are_printed():
    for name, figure in FIGURES.items():
        if figure.step:
            assert Decimal(str(figure.value)) % Decimal(str(figure.step)) == 0, name


def test_figures_of_a_pass_follow_from_each_other():
    """A pass is 512 patches of 16 samples and 97,000 cycles of 10 ns; a sample takes 282 operations."""
    seconds = FIGURES["bicubic pass"].value * 10e-9
    assert FIGURES["time of a bicubic pass"].value == pytest.approx(1e3 * seconds)
    assert round(512 / seconds / 1e3, -1) == FIGURES["4x4 patches"].value
    assert round(282 * 8192 / 1e6, 1) == FIGURES["operations of a pass"].value
    assert round(282 * 8192 / seconds / 1e9, 1) == FIGURES["floating point rate"].value


def test_table_3_formula():
    assert all(address_cycles(patches) == total for _, _, patches, total in table(3).rows)


def test_table_4_formula():
    for net, *cells in table(4).rows:
        n = int(net.split("x")[0])
        assert [bernstein_cycles(n, n, s) for s in ((4,), (8,), (16,), (4, 8, 16))] == cells


def test_table_6_formulas():
    distances = {8: [1], 4: [1, 2], 2: [1, 2, 4], 1: [1, 2, 4, 8], 16: []}
    for sends, emc, tasic in table(6).rows:
        assert sum(pixcopy_cycles(n, 32) for n in distances[sends]) == emc
        assert tasic_cycles(sends) == tasic


def test_table_7_formula_and_282_operations():
    assert [computation_cycles(n, n) for n in range(4, 13)] == [cycles for _, cycles in table(7).rows]
    assert total_operations(4, 4) == Operations(162, 116, 1, 3) and total_operations(4, 4).total == 282


@pytest.mark.parametrize("n", range(4, 13))
def test_table_8_is_the_layout(n):
    assert memory_map(n, n).used == memory_bytes(n) == table(8).row(f"{n}x{n}")["Bytes of Memory Needed"]
    assert memory_map(n, n).fits == (n < 12)


def test_table_9_is_the_bicubic_layout():
    layout = memory_map(4, 4)
    starts = {use.start for use in layout} | {layout.used}
    assert {address for address, _ in table(9).rows} <= starts
    assert layout["bernstein_u"].start == 48 and layout["control_points"].start == 104
    assert layout["administrative"].start == 140 and layout["scratch"].start == 152 and layout.used == 166


@pytest.mark.parametrize("rows", range(3, 12))
def test_ranges_follow_each_other_for_any_net(rows):
    for columns in range(3, 12):
        layout = memory_map(rows, columns)
        assert layout.used <= AVAILABLE
        assert all(a.end == b.start for a, b in zip(layout.ranges, layout.ranges[1:], strict=False))
        assert layout["bernstein_u"].size == 4 * rows and layout["bernstein_v_difference"].size == 4 * (columns - 1)


def test_nets_out_of_range_are_refused():
    for net in ((2, 4), (4, 13)):
        with pytest.raises(InputError, match="allowed: 3 to 12 a side"):
            memory_map(*net)


def test_schedule_has_the_transfers_of_table_11():
    assert value_count(4, 4) * 4 == 480 and batch_count(4, 4) == 15
    works = list(surface_order(4, 4))
    first_batches = [work.first // 8 for work in works if work.surface is not Surface.DV]
    assert first_batches == [0, 2, 4, 6, 9, 12], "two batches a coordinate of the point, three of the derivatives"
    assert point_batches(4, 4) == (1, 3, 5), "the second of each coordinate completes it"


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (4, 4), (3, 8), (8, 3), (8, 8)])
def test_schedule_makes_the_operations_of_the_formula(rows, columns):
    multiplies = adds = 0
    for work in surface_order(rows, columns):
        multiplies += work.rows * work.columns + work.columns
        adds += work.columns * (work.rows - 1) + work.columns - 1
    formula, normal = total_operations(rows, columns), cross_operations()
    assert (multiplies, adds) == (formula.multiplies - normal.multiplies, formula.adds - normal.adds)


def test_the_two_columns_of_table_12_say_the_same_of_each_net() -> None:
    """At 100 MHz; milliseconds are printed to two digits, and half of the last one goes either way."""
    for net, cycles, milliseconds in table(12).rows:
        step = 0.01 if milliseconds < 1 else 0.1
        assert abs(cycles / 100_000 - milliseconds) <= step / 2 + 1e-9, net
