"""A kernel measured: run on a node with data, compared with numpy, its cycles, bytes and utilisation counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pim_kernels.bit_serial import COLUMNS, SOURCE, nanoseconds
from pim_kernels.kernel import HostMemory, PimKernel
from pixelflow.config import NodeConfig
from pixelflow.node import EnergyConfig, EnergyMeter, Node, Run, RunEnergy
from pixelflow.node.energy import PROCESS, energy_text
from pixelflow.observe.node_statistics import Collector
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.report import Column, Json, Part, Report, Table, counted, machine_time, number, share


class KernelRun(NamedTuple):
    """Account of a kernel on one machine."""

    kernel: PimKernel
    config: NodeConfig
    engine: str
    right: bool
    """True if all results equal numpy's."""
    elements: int
    loaded: int
    """Bytes that the host has put into the PEs, for which no time is counted."""
    left: int
    """Bytes of results that the host has to read."""
    run: Run
    enabled: int
    """Enabled PEs, summed over the busy cycles of the EMC stream."""
    energy: RunEnergy
    digest: str
    """Digest of the node afterwards: the same on every engine."""

    @property
    def cycles(self) -> int:
        return self.run.total_cycles

    @property
    def nanoseconds(self) -> float:
        """Machine time."""
        return 1e9 * self.config.seconds(self.cycles)

    @property
    def utilisation(self) -> float:
        """Share of enabled PEs, times the share of busy cycles."""
        return self.enabled / (self.config.lanes * self.cycles)

    @property
    def waited(self) -> float:
        """Share of cycles in which the EMC stream waits for texture memory."""
        return sum(self.run.waits.values()) / self.cycles

    @property
    def loading(self) -> int:
        """Least cycles of loading the data through the GNI: bytes by its bandwidth (formula)."""
        each = self.config.gni.mb_per_second // self.config.clock_mhz
        return -(-self.loaded // each)

    @property
    def memory_bytes(self) -> int:
        """Bytes read from and written to the memories of the PEs."""
        return self.energy.counts["memory_read"] + self.energy.counts["memory_write"]

    @property
    def port_bytes(self) -> int:
        """Bytes between EMCs and TASICs in both directions, including addresses and unused places."""
        return self.energy.counts["port_byte"]

    @property
    def peer_nanoseconds(self) -> float | None:
        """Time of the same work on a bit-serial machine with as many PEs, by a published formula, or None."""
        return nanoseconds(self.kernel.peer, self.config.lanes) if self.kernel.peer else None

    @property
    def like_nanoseconds(self) -> float | None:
        """The same with words no wider than the numbers of the kernel need."""
        operations = self.kernel.like or self.kernel.peer
        return nanoseconds(operations, self.config.lanes) if operations else None


def measure(
    kernel: PimKernel, config: NodeConfig, engine: str = AUTO, *, seed: int = 1, prices: EnergyConfig | None = None
) -> KernelRun:
    """Run a kernel on random data and return its account; raises InputError if it does not fit the machine."""
    program = kernel.program(config)
    node, collector, meter = Node(config, engine), Collector(), EnergyMeter(config, prices)
    node.load(program)
    memory = HostMemory(node, program)
    problem = kernel.place(memory, np.random.default_rng(seed))
    collector.attach(node.bus)
    meter.attach(node.bus)
    run = node.run(program)
    enabled = collector.runs[0].values["array.enabled_pe_cycles"]
    return KernelRun(
        kernel,
        config,
        node.engine,
        problem.check(),
        problem.elements,
        memory.written,
        problem.left,
        run,
        enabled or 0,
        meter.runs[-1],
        node.digest(),
    )


# The report of kernels: a table for each machine, compared with the published bit-serial machine.


_NOTE = (
    "Data are in place when a run begins and results stay in the machine: no time is counted for that. What the GNI "
    "would take at least to bring the data, bytes by bandwidth, is the column `loading`, in cycles (formula). PE "
    "memory and ports are bytes read and written, enabled the share of PEs times that of cycles in which they work."
)


def kernels_report(found: Mapping[str, Sequence[KernelRun]], *, energy: bool = False) -> Report:
    """Return the account of kernels by the name of the machine; fails if a result differs from numpy's."""
    wrong = [f"{each.kernel.name} ({name})" for name, all_ in found.items() for each in all_ if not each.right]
    engines = dict.fromkeys(each.engine for all_ in found.values() for each in all_)
    parts: list[Part] = []
    for name, measured in found.items():
        parts += [*([""] if parts else []), *_of_machine(name, measured, energy=energy)]
    return Report(
        "kernels of processing in memory",
        (f"engine {', '.join(engines)}",),
        parts,
        schema="pixelflow.kernels/1",
        data={"machines": {name: [_object(each, energy=energy) for each in all_] for name, all_ in found.items()}},
        notes=(_NOTE, *_peers(found)),
        failure=f"not numpy's result: {', '.join(wrong)}" if wrong else None,
    )


def _of_machine(name: str, measured: Sequence[KernelRun], *, energy: bool) -> Iterator[Part]:
    if not measured:
        return
    config = measured[0].config
    array = config.array
    emcs = f"{counted(array.emcs_per_module, 'EMC')} in each of {counted(array.modules, 'module')}"
    yield f"{name}: {number(config.lanes)} PEs, {emcs}"
    columns = [
        Column("kernel"), Column("a PE has"), Column("elements", number), Column("numpy"),
        Column("cycles", number, bars=True),
        Column("time", machine_time), Column("enabled", _percent), Column("waits", _percent),
    ]  # fmt: skip
    yield Table(columns, [_row(each) for each in measured])
    yield ""
    columns = [
        Column("kernel"), Column("PE memory", number), Column("ports", number), Column("loading", number),
        *([Column("energy", energy_text)] if energy else []),
    ]  # fmt: skip
    yield Table(columns, [_bytes(each, energy=energy) for each in measured])
    if energy:
        yield f"energy, in the proportions of {PROCESS}, {measured[0].energy.prices.text}"
    yield ""
    rows = f"{counted(_cores(config), 'row')} of {number(COLUMNS)} columns"
    yield f"bit-serial machine: {number(config.lanes)} PEs, {rows}"
    columns = [
        Column("kernel"), Column("here", machine_time), Column("its widths", _time_or_none),
        Column("ratio", _ratio_or_none), Column("like widths", _time_or_none), Column("ratio", _ratio_or_none),
    ]  # fmt: skip
    yield Table(columns, [(each.kernel.name, each.nanoseconds / 1e9, *_compared(each)) for each in measured])


def _row(each: KernelRun) -> tuple[Json, ...]:
    return (
        each.kernel.name,
        each.kernel.each,
        each.elements,
        "equal" if each.right else "WRONG",
        each.cycles,
        each.config.seconds(each.cycles),
        each.utilisation,
        each.waited,
    )


def _bytes(each: KernelRun, *, energy: bool) -> tuple[Json, ...]:
    spent = (each.energy.total,) if energy else ()
    return (each.kernel.name, each.memory_bytes, each.port_bytes, each.loading, *spent)


def _cores(config: NodeConfig) -> int:
    """Return the rows, side by side, of a bit-serial machine with as many columns as there are PEs."""
    return -(-config.lanes // COLUMNS)


def _compared(each: KernelRun) -> Iterator[float | None]:
    """Yield the bit-serial machine's time and its ratio to this one's, at published widths and at like ones."""
    for peer in (each.peer_nanoseconds, each.like_nanoseconds):
        yield None if peer is None else peer / 1e9
        yield None if peer is None or each.kernel.peer_ends else peer / each.nanoseconds


def _percent(value: float) -> str:
    return share(round(1e6 * value), 10**6)


def _time_or_none(seconds: float | None) -> str:
    return "-" if seconds is None else machine_time(seconds)


def _ratio_or_none(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.1f}"


def _peers(found: Mapping[str, Sequence[KernelRun]]) -> Iterator[str]:
    kernels = {each.kernel.name: each.kernel for all_ in found.values() for each in all_}
    yield (
        f"bit-serial machine (published counts, formula): {SOURCE}; at the widths of PIMbench's programs, mostly 32 "
        "bits, and at like widths, the least that hold the kernel's numbers. A ratio divides by the time here, where "
        "both do the whole work. DRAM of 2014, where this machine is of 1992"
    )
    yield "both machines have as many PEs; the area of these is known for neither, so no ratio is one for equal area"
    for kernel in kernels.values():
        if kernel.peer_ends:
            yield f"bit-serial {kernel.name}: {kernel.peer_ends}"


def _object(each: KernelRun, *, energy: bool) -> dict[str, Json]:
    found: dict[str, Json] = {
        "kernel": each.kernel.name,
        "pes": each.config.lanes,
        "config_sha256": each.config.sha256,
        "engine": each.engine,
        "elements": each.elements,
        "equals_numpy": each.right,
        "cycles": each.cycles,
        "seconds_at_clock": each.config.seconds(each.cycles),
        "enabled_share": each.utilisation,
        "waiting_share": each.waited,
        "pe_memory_bytes": each.memory_bytes,
        "port_bytes": each.port_bytes,
        "loaded_bytes": each.loaded,
        "loading_cycles_formula": each.loading,
        "result_bytes": each.left,
        "left_to_host": each.kernel.ends,
        "state_digest": each.digest,
        "bit_serial": {
            "operations": dict(each.kernel.peer),
            "nanoseconds_formula": each.peer_nanoseconds,
            "like_operations": dict(each.kernel.like or each.kernel.peer),
            "like_nanoseconds_formula": each.like_nanoseconds,
            "left_to_host": each.kernel.peer_ends,
            "columns": each.config.lanes,
            "rows_of_columns": _cores(each.config),
            "area_mm2": None,
            "source": SOURCE,
        },
    }
    return found | ({"energy": {"process": PROCESS, **each.energy.as_object()}} if energy else {})
