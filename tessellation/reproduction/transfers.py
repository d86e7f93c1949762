"""What moves between PEs and texture memory: tables 2 and 6, sections 2.2.4 and 3.5, appendix B."""

from __future__ import annotations

from pixelflow.config import THESIS
from pixelflow.evidence import Basis, Derivation, Row, derived
from pixelflow.node import Run, sdram_distances
from pixelflow.simd.units import Standing
from tessellation.microprogram.keeping import store_program
from tessellation.plan.memory_map import memory_map
from tessellation.plan.result_area import FAR_WAYS, ResultArea
from tessellation.plan.stages import Stage
from tessellation.published.cost_model import (
    access_cycles,
    caching_cycles,
    distribution_cycles,
    lee_load_cycles,
    tasic_cycles,
)
from tessellation.published.thesis import table
from tessellation.reproduction.bench import ThesisBench, spent, whole
from tessellation.reproduction.network import write_back
from tessellation.reproduction.programs.prices import Prices, path, read_slot, text_of, write_slot
from tessellation.reproduction.rows import figure_row, row

__all__ = ["PORTS", "SDRAM", "appendix_b", "bandwidths", "random_reads", "table_2", "table_6"]

SDRAM = Basis(Standing.FITTED, "SDRAM times, fitted to table 2; accesses in equal slots")
PORTS = Basis(Standing.DERIVED, "a byte a cycle on the wire between an EMC and the TASICs, from 3.2 GB/s")
_COPY = Basis(Standing.FITTED, "PixCopy takes (N + 1) B + 2 cycles, fitted to table 6")
_READS = Basis(Standing.FITTED, "12 cycles a read, fitted to table 6, and a byte a cycle on the ports")
_LEE = Basis(Standing.FITTED, "a LEE load of n bytes takes n + 1 cycles, fitted to table 4")
_TIMES = Basis(Standing.INVENTED, "typical parts of the time; accesses of 4 and 8 bytes do not reach tRAS, tRC, tRRD")

_PRINTED = THESIS.clock_mhz / 1000
"""From bytes a cycle to GB/s, for cycles that are printed."""


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
    return whole(run.tasic_cycles[0] / (groups * _ROUNDS * bench.config.array.emcs_per_module))


def _read(bench: ThesisBench, size: int, *, alternate: bool) -> float:
    """Execute reads of ``size`` bytes by all PEs one after the other; return the cycles of each without its send."""
    run = bench.transfer(f"TAS_SetBanks {int(alternate)}\nTAS_MemRdBlock{size} 1")
    array = bench.config.array
    rounds = array.lanes // array.emcs * 4 // size
    sent = 8 * size // bench.config.tasic.port_bytes_per_cycle
    return whole((run.tasic_cycles[0] / rounds - sent) / array.emcs_per_module)


def table_2(bench: ThesisBench) -> list[Row]:
    """Accesses to SDRAMs in a steady state, writes and reads, and the rules of the devices that these do not reach."""
    writes, reads = [], []
    overhead = bench.config.tasic.read_overhead_cycles
    for name, cycles, size in table(2).rows:
        alternate = "alternate" in name
        slot = access_cycles(size, alternate=alternate)
        writes.append(row(f"{name}, write", cycles, slot, _access(bench, size, alternate=alternate), SDRAM))
        own = read_slot(bench.config.sdram, size, alternate=alternate)
        predicted = derived("slot + overhead", slot=own, overhead=overhead)
        measured = _read(bench, size, alternate=alternate)
        reads.append(row(f"{name}, read", cycles, slot, measured, _READS, "read-overhead", predicted=predicted))
    return [*writes, *reads, *_rules(bench)]


def _rules(bench: ThesisBench) -> list[Row]:
    """The times of the devices, each tried on one."""
    sdram = bench.config.sdram
    times = {
        "tRCD": sdram.trcd_cycles, "tRP": sdram.trp_cycles, "tRAS": sdram.tras_cycles, "tRC": sdram.trc_cycles,
        "tRRD": sdram.trrd_cycles,
    }  # fmt: skip
    found = sdram_distances(sdram)
    return [
        row(name, None, None, found[name], _TIMES, unit="clocks", predicted=derived("parameter", parameter=clocks))
        for name, clocks in times.items()
    ]


def table_6(bench: ThesisBench) -> list[Row]:
    """One transfer of 32 bytes to every block."""
    rows = []
    for sends, emc, tasic in table(6).rows:
        run = bench.one_batch(sends)
        spread = spent(run, Stage.DISTRIBUTION)
        rows.append(row(f"{sends} sends, EMC", emc, distribution_cycles(sends), spread, _COPY))
        rows.append(row(f"{sends} sends, TASIC", tasic, tasic_cycles(sends), run.tasic_cycles[0], _READS))
    # What the columns of table 6 leave for a read, beside what table 2 prints for it.
    one, two = (table(6).row(sends)["TASIC cycles"] for sends in (1, 2))
    left = derived("(2 * one - two) / reads", one=int(one), two=int(two), reads=_reads(bench))
    four = int(table(2).row("4 bytes, random")["cycles"])
    measured = read_cycles(bench)
    rows.append(row("a read of table 6", four, whole(left.value), measured, _READS, "table2-table6", derived=left))
    return rows


def bandwidths(bench: ThesisBench) -> list[Row]:
    """Section 2.2.4."""
    lanes, rate = bench.config.lanes, bench.config.clock_mhz / 1000
    loaded = bench.program("EMC_TreeIntoMem_Li [0], 8, 1, 1, 0\n").cycles
    node = 32 * lanes / bench.transfer("TAS_LoopBack").tasic_cycles[0]
    gp = 24 * lanes / write_back(bench, 24)
    return [
        figure_row(
            "8 bytes through the LEE",
            8 * lanes / lee_load_cycles(8) * _PRINTED,
            8 * lanes / loaded * rate,
            _LEE,
            predicted=derived("8 * lanes / load * rate", lanes=lanes, load=Prices(bench.config).load(8), rate=rate),
        ),
        figure_row("ports of the node", 32 * _PRINTED, node * rate, PORTS),
        figure_row("ports against path to a GP", 16, whole(node / gp), PORTS),
    ]


def _reads(bench: ThesisBench) -> int:
    """Return the reads of a transfer to every block."""
    return 16 * bench.config.array.emcs_per_module


def read_cycles(bench: ThesisBench) -> float:
    """Return the cycles of one read without its sends, from transfers with one send and with two."""
    one, two = (bench.one_batch(sends).tasic_cycles[0] for sends in (1, 2))
    return whole((2 * one - two) / _reads(bench))


def random_reads(bench: ThesisBench) -> list[Row]:
    """Section 3.5."""
    slot = access_cycles(4, alternate=False)
    own = read_slot(bench.config.sdram, 4)
    predicted = derived("slot + overhead", slot=own, overhead=bench.config.tasic.read_overhead_cycles)
    measured = read_cycles(bench)
    return [figure_row("a random read of 4 bytes", slot, measured, _READS, "read-overhead", predicted=predicted)]


def _caching(bench: ThesisBench, way: str) -> Run:
    """Run the program that keeps points and normals in texture memory."""
    area = ResultArea.at(way, 0, bench.config)
    return bench.once(("cache", way), lambda: bench.run(store_program(area, memory_map(4, 4))), f"caching, {way}")


_ROUND = {"explicit": 4 * (4 + 4), "base": 4 + 8 * 4, "alternate": 4 + 8 * 4, "split": 4 + 8 * 4}
"""Bytes that a PE gives for the first round of accesses: four addresses and words, or a base and eight words."""


def _caching_prediction(bench: ThesisBench, way: str) -> Derivation:
    """Return the cycles of that program, from its text and the writes of appendix B.

    The EMC stream takes what its text is declared to take, and stands still in each pass: for the words from box to
    box, the first round into the TASICs, and the writes. The program ends with the stream that ends later: after the
    last write that of the TASICs puts its generator back, while word of it goes to the EMCs, which enable all PEs.
    """
    config, program = bench.config, _caching(bench, way).program
    emc, tasic, prices = text_of(program, "eigc"), text_of(program, "tigc"), Prices(config)
    awaited = max(index for index, each in enumerate(emc) if each.mnemonic == "WAIT")
    written = [index for index, each in enumerate(tasic) if each.mnemonic.startswith("TAS_MemWr")]
    writes = derived(
        "ways * words * emcs * slot",
        ways=2 if way == "explicit" else 1, words=_WRITES_OF_EMC, emcs=config.array.emcs_per_module,
        slot=write_slot(config.sdram, 4, alternate=way in FAR_WAYS),
    )  # fmt: skip
    arrived = path("arrived")
    return derived(
        "emc + passes * (wires + fill) + writes + max(0, generator - arrived - rest)",
        emc=prices.sum(program, emc),
        passes=len(written),
        wires=path("filled", "command", "fetch", "done", "arrived"),
        fill=_ROUND[way] // config.tasic.port_bytes_per_cycle,
        writes=writes,
        generator=prices.sum(program, tasic[written[-1] + 1 :]),
        arrived=arrived,
        rest=prices.sum(program, emc[awaited + 1 :]),
    )


_WRITES_OF_EMC = 192
"""Words of an EMC in one SDRAM: of 256 PEs three in four give two each for every SDRAM (appendix B)."""


def appendix_b(bench: ThesisBench) -> list[Row]:
    """The ways to cache points and normals in texture memory: whole programs, and what the TASICs are busy."""
    writes = _WRITES_OF_EMC
    fast = caching_cycles(writes, alternate=True)
    rows = []
    for name, way, cycles in (
        ("every PE gives its own addresses", "explicit", 2 * caching_cycles(writes)),
        ("one base for three PEs", "base", caching_cycles(writes)),
        ("writes to alternate banks", "alternate", fast),
        ("in summary", "alternate", fast),
    ):
        run = _caching(bench, way)
        rows.append(
            figure_row(
                name, cycles, run.total_cycles, SDRAM, "program-around",
                predicted=_caching_prediction(bench, way), busy=run.tasic_cycles[0],
            )
        )  # fmt: skip
    return rows
