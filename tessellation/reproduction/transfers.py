"""What moves between PEs, texture memory and GPs: tables 2 and 6, sections 2.2.4, 3.5 and 4.1.4, appendix B."""

from __future__ import annotations

from pixelflow.config import THESIS
from pixelflow.evidence import Basis, Row
from pixelflow.simd.units import Standing
from tessellation.plan.stages import Stage
from tessellation.published.cost_model import (
    access_cycles,
    caching_cycles,
    distribution_cycles,
    lee_load_cycles,
    tasic_cycles,
    write_back_cycles,
)
from tessellation.published.thesis import table
from tessellation.reproduction.bench import ThesisBench, spent
from tessellation.reproduction.rows import figure_row, row

__all__ = ["PORTS", "SDRAM", "appendix_b", "bandwidths", "results", "table_2", "table_6", "write_back"]

SDRAM = Basis(Standing.FITTED, "SDRAM times, fitted to table 2; accesses in equal slots")
PORTS = Basis(Standing.DERIVED, "a byte a cycle on the wire between an EMC and the TASICs, from 3.2 GB/s")
_COPY = Basis(Standing.FITTED, "PixCopy takes (N + 1) B + 2 cycles, fitted to table 6")
_READS = Basis(Standing.FITTED, "12 cycles a read, fitted to table 6, and a byte a cycle on the ports")
_LEE = Basis(Standing.FITTED, "a LEE load of n bytes takes n + 1 cycles, fitted to table 4")
_PATH = Basis(Standing.THESIS, "the path to GP memory, 200 MB/s (section 3.8)")

_BYTES_A_CYCLE = THESIS.clock_mhz / 1000
"""From bytes a cycle to GB/s."""


# Two PEs of an EMC in 16 are marked, in groups of one that gives a base address and those that give words for the eight
# SDRAMs. Even EMCs write to bank 0 and odd ones to bank 1, so that accesses alternate where that is promised.
_WRITES = """\
EMC_SetEnab
EMC_TreeIntoMem_Li [352], 4, 0, 0, 0
EMC_TreeLTZero_Li 0, 1, 8, 0, 0
EMC_TreeIntoMem_Li [352], 4, 0, 0, {bank}
EMC_SetEnab
EMC_ClearMarks
EMC_TreeEQZero_Li 0, 1, 32, 64, 0
EMC_MarkWrite
SIGNAL 0
HALT
stream tigc
repeat bit in 0 .. 3
    TAS_SetCrossbar bit + 3, bit
end
TAS_SetStep 1
TAS_SetBanks {alternate}
WAIT 0
TAS_MemWrBase{size} {rounds}
"""
_MARKED_PES, _ROUNDS = 32, 15


def _access(bench: ThesisBench, size: int, *, alternate: bool) -> float:
    """Execute writes of ``size`` bytes to every SDRAM one after the other, and return the cycles of each."""
    bank = bench.config.sdram.rows * bench.config.sdram.columns
    run = bench.program(_WRITES.format(bank=bank, alternate=int(alternate), size=size, rounds=_ROUNDS))
    groups = _MARKED_PES // (1 + _ROUNDS * size // 4)
    return _whole(run.tasic_cycles[0] / (groups * _ROUNDS * bench.config.array.emcs_per_module))


def _whole(value: float) -> float:
    """Return a quotient that comes out even as an integer."""
    return int(value) if value == int(value) else value


def table_2(bench: ThesisBench) -> list[Row]:
    """Accesses to SDRAMs in a steady state, measured over writes."""
    rows = []
    for name, cycles, size in table(2).rows:
        alternate = "alternate" in name
        measured = _access(bench, size, alternate=alternate)
        rows.append(row(name, cycles, access_cycles(size, alternate=alternate), measured, SDRAM))
    return rows


def table_6(bench: ThesisBench) -> list[Row]:
    """One transfer of 32 bytes to every block."""
    rows = []
    for sends, emc, tasic in table(6).rows:
        run = bench.one_batch(sends)
        spread = spent(run, Stage.DISTRIBUTION)
        rows.append(row(f"{sends} sends, EMC", emc, distribution_cycles(sends), spread, _COPY))
        rows.append(row(f"{sends} sends, TASIC", tasic, tasic_cycles(sends), run.tasic_cycles[0], _READS))
    return rows


def bandwidths(bench: ThesisBench) -> list[Row]:
    """Section 2.2.4."""
    lanes = bench.config.lanes
    loaded = bench.program("EMC_TreeIntoMem_Li [0], 8, 1, 1, 0\n").cycles
    node = 32 * lanes / bench.transfer("TAS_LoopBack").tasic_cycles[0]
    gp = 24 * lanes / write_back(bench, 24)
    return [
        figure_row(
            "8 bytes through the LEE",
            8 * lanes / lee_load_cycles(8) * _BYTES_A_CYCLE,
            8 * lanes / loaded * _BYTES_A_CYCLE,
            _LEE,
        ),
        figure_row("ports of the node", 32 * _BYTES_A_CYCLE, node * _BYTES_A_CYCLE, PORTS),
        figure_row("ports against path to a GP", 16, _whole(node / gp), PORTS),
    ]


def read_cycles(bench: ThesisBench) -> float:
    """Return the cycles of one read without its sends, from transfers with one send and with two."""
    one, two = (bench.one_batch(sends).tasic_cycles[0] for sends in (1, 2))
    reads = 16 * bench.config.array.emcs_per_module
    return _whole((2 * one - two) / reads)


def random_reads(bench: ThesisBench) -> list[Row]:
    """Section 3.5."""
    both = (access_cycles(4, alternate=False), read_cycles(bench))
    return [figure_row("a random read of 4 bytes", *both, _READS, "read-overhead")]


def write_back(bench: ThesisBench, size: int) -> int:
    """Execute the return of the last ``size`` of 24 bytes of all PEs to one GP; return the cycles of its path."""
    modules = range(bench.config.array.modules)
    areas = "\n".join(f"TAS_SetGpAddress {1 << module}, {module * 49_152}" for module in modules)
    return bench.transfer(f"{areas}\nTAS_GpWrite 15, {24 - size}, {size}").gni_cycles["store0"]


def results(bench: ThesisBench) -> list[Row]:
    """Section 4.1.4."""
    measured = write_back(bench, 24)
    rate = 24 * bench.config.lanes * bench.config.clock_mhz / measured
    return [
        figure_row("24 bytes of every PE to a GP", write_back_cycles(24), measured, _PATH),
        figure_row("path to GP memory", 200, _whole(rate), _PATH),
    ]


def _caching(bench: ThesisBench, way: str) -> int:
    text = f'include "texture/caching.mc"\nCALL cache_{way}_emc\nstream tigc\nCALL cache_{way}_tasic\n'
    return bench.program(text).tasic_cycles[0]


def appendix_b(bench: ThesisBench) -> list[Row]:
    """The three ways to cache points and normals in texture memory."""
    writes = 192
    explicit, base, alternate = (_caching(bench, way) for way in ("explicit", "base", "alternate"))
    fast = caching_cycles(writes, alternate=True)
    return [
        figure_row("every PE gives its own addresses", 2 * caching_cycles(writes), explicit, SDRAM),
        figure_row("one base for three PEs", caching_cycles(writes), base, SDRAM),
        figure_row("writes to alternate banks", fast, alternate, SDRAM),
        figure_row("in summary", fast, alternate, SDRAM),
    ]
