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

OPERATIONS = MappingProxyType(
    {
        "abs int16": (17, 16, 66),
        "abs int32": (33, 32, 130),
        "add uint8": (16, 8, 25),
        "add int16": (32, 16, 49),
        "add uint16": (32, 16, 49),
        "add int32": (64, 32, 97),
        "add uint32": (64, 32, 97),
        "add_scalar uint8": (8, 8, 33),
        "add_scalar int16": (16, 16, 65),
        "aes_sbox uint8": (2450, 2112, 3625),
        "and uint8": (16, 8, 16),
        "and int32": (64, 32, 64),
        "and uint32": (64, 32, 64),
        "eq int16": (32, 1, 50),
        "eq int32": (64, 1, 98),
        "eq_scalar uint8": (8, 1, 34),
        "lt_scalar uint32": (32, 1, 130),
        "max_scalar int16": (32, 16, 113),
        "max_scalar int32": (64, 32, 225),
        "min int16": (64, 16, 81),
        "min int32": (128, 32, 161),
        "min_scalar uint8": (16, 8, 58),
        "min_scalar int16": (32, 16, 113),
        "mul uint16": (272, 136, 528),
        "mul int32": (1056, 528, 2080),
        "mul_scalar int16": (136, 136, 664),
        "mul_scalar uint16": (136, 136, 664),
        "popcount uint32": (114, 114, 218),
        "scaled_add int32": (592, 560, 2705),
        "shift uint8": (7, 8, 1),
        "shift uint16": (15, 16, 1),
        "sub int16": (32, 16, 49),
        "sub int32": (64, 32, 97),
        "sub_scalar int16": (16, 16, 65),
        "sub_scalar int32": (32, 32, 129),
        "xor uint8": (16, 8, 16),
    }
)
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
