"""Time of the same work on a bit-serial machine by a published formula: PIMeval's BitSIMD-V.

Published figures only, for tables that compare; no machine of this project reads them. An operation is this many row
reads, row writes and logic steps of a bit-serial PE in each column (`pimPerfEnergyTables.cpp` of UVA-LavaLab's
PIMeval-PIMbench, commit 07ce594), a step takes what DDR4-2666 takes (`pimParamsDDRDram`, commit c72f925: tCK 0.75 ns,
tRCD and tRP 19, tWR 20, tCCD_S 4), and a sum over a row is counted by 64 bits at a time, 0.76 ns each
(`pimPerfEnergyBitSerial`, same commit as the tables), with 1 / 2.3 ns for each core on the host. Which operations a
kernel takes is this project's reading of PIMbench's programs. The formula holds for rows of 8,192 columns and as many
of them, side by side, as the other machine has PEs; data are in place for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SOURCE = "PIMeval-PIMbench, BitSIMD-V on DDR4-2666: published counts by the published formula, commit 07ce594"

OPERATIONS = MappingProxyType({
    "abs int32": (33, 32, 130),
    "add int32": (64, 32, 97),
    "add uint32": (64, 32, 97),
    "eq_scalar uint8": (8, 1, 34),
    "lt_scalar uint32": (32, 1, 130),
    "mul uint16": (272, 136, 528),
    "scaled_add uint32": (592, 560, 2705),
    "sub_scalar int32": (32, 32, 129),
})  # fmt: skip
"""Rows read, rows written and logic steps of an operation on one element in each column."""

COLUMNS = 8192
"""Columns of a row, each with a PE (PIMeval calls the rows of one subarray a core)."""

_CLOCK = 0.75
_READ, _WRITE, _LOGIC = _CLOCK * (19 + 19), _CLOCK * (20 + 19 + 19), _CLOCK * 4
_COUNT, _COUNTED = 0.76, 64
_CORE = 1 / 2.3


def nanoseconds(operations: Mapping[str, int], lanes: int) -> float:
    """Return the time of this many of each operation on a machine of ``lanes`` columns; ``redsum N`` sums N bits."""
    return sum(times * _operation(name, lanes) for name, times in operations.items())


def _operation(name: str, lanes: int) -> float:
    if name in OPERATIONS:
        reads, writes, logic = OPERATIONS[name]
        return reads * _READ + writes * _WRITE + logic * _LOGIC
    bits = int(name.removeprefix("redsum "))
    cores, columns = -(-lanes // COLUMNS), min(lanes, COLUMNS)
    return bits * (_READ + _COUNT * -(-columns // _COUNTED)) + _CORE * cores
