"""What passes and transfers must take where a parameter of the machine is another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pixelflow.config import THESIS
from pixelflow.node.sdram import Pattern, equal_slot
from tessellation.reproduction import ThesisBench, movement
from tessellation.reproduction.arithmetic import library_costs
from tessellation.reproduction.bench import counted
from tessellation.reproduction.predictions import pass_prediction, read_slot, write_slot

MOVED = {
    "sdram": {"trcd_cycles": 4, "trp_cycles": 2, "cl_cycles": 4, "trc_cycles": 12, "twr_cycles": 4},
    "tasic": {"read_overhead_cycles": 0, "port_bytes_per_cycle": 2},
    "igc": {"control_cycles": 1},
    "extra": {"lee_start": -1, "enable": -1, "start": 1, "copy_start": -2, "memory_operand": 1, "gated_write": 3,
              "other_result": 4, "memory_shift": 1, "multiply_step": 1, "store_immediate": 1},
}  # fmt: skip
"""Another value of each parameter that the time of a pass depends on, but for `igc.supply`."""


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        pytest.param(key, name, value, marks=[pytest.mark.slow] * (at > 0 or key in ("tasic", "igc")))
        for key, each in MOVED.items()
        for at, (name, value) in enumerate(each.items())
    ],
)
def test_a_pass_is_predicted_where_a_parameter_is_moved(section, name, value):
    """With waits for later transfers (tuned-finite) and without; of 12x12 nets values are loaded again."""
    bench = ThesisBench()
    bench.config = replace(THESIS, **{section: replace(getattr(THESIS, section), **{name: value})})
    waiting = ((4, "tuned-finite"),) if section != "extra" else ()
    for n, library in ((4, "plain"), *waiting, *(((12, "plain"),) if section == "igc" else ())):
        predicted = pass_prediction(bench.config, n, 512, library_costs(bench, library))
        assert predicted.value == counted(bench.tessellation(n, library=library)), (library, predicted.full)


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("sdram", "trcd_cycles", 4),
        ("extra", "enable", 1),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (("sdram", "trp_cycles", 4), ("tasic", "port_bytes_per_cycle", 2), ("extra", "lee_start", -1))
        ),
    ],
)
def test_transfers_are_predicted_where_a_parameter_is_moved(section, name, value):
    """Whole programs of appendix B, and of the ways between node and GPs; the formulas stay those of the print."""
    bench = ThesisBench()
    bench.config = replace(THESIS, **{section: replace(getattr(THESIS, section), **{name: value})})
    rows = [*movement.appendix_b(bench), *movement.results(bench), *movement.paths(bench)]
    named = [one for one in rows if one.predicted is not None]
    assert len(named) == 8 and all(one.predicted.value == one.measured for one in named)


def test_two_parameters_of_a_prediction_by_hand():
    """A cycle more from ACT to READ is one for each of 128 reads; without a start-up of the LEE, 4 of 12 are left."""
    bench = ThesisBench()
    costs = library_costs(bench)
    slower = replace(THESIS, sdram=replace(THESIS.sdram, trcd_cycles=4))
    assert pass_prediction(slower, 4, 512, costs).value == 102_656 + 128
    without = replace(THESIS, extra=replace(THESIS.extra, lee_start=-1))
    assert pass_prediction(without, 4, 512, costs).value == 102_656 - 4 * 512 - 1


def test_slots_follow_from_the_times_of_the_devices():
    """Written out for the predictions, they are those that the machine finds by trying (table 2: 11, 6, 15, 8)."""
    for moved in ({}, {"trcd_cycles": 5}, {"trp_cycles": 1}, {"cl_cycles": 5}, {"trc_cycles": 20}):
        sdram = replace(THESIS.sdram, **moved)
        for size in (4, 8):
            for write, slot in ((False, read_slot), (True, write_slot)):
                found = equal_slot(sdram, size, write=write, pattern=Pattern.RANDOM).cycles
                assert slot(sdram, size).value == found, (moved, size, write)
    for size, random, alternate in ((4, 11, 6), (8, 15, 8)):
        for slot in (read_slot, write_slot):
            assert slot(THESIS.sdram, size).value == random
            assert slot(THESIS.sdram, size, alternate=True).value == alternate
