"""Energy of runs: executed work by kind, at a price each. The time of the machine does not depend on it.

Counts follow from the account of a run (execution counts and declared steps), from the ledger (bytes on the local
ports, and of the GPs) and from the accesses of the TASICs. A slot whose EMC has no PE left takes time but no energy.
All PEs take part in every instruction, enabled or not: a disabled PE works and does not store. So energy does not
depend on data. Prices are invented; those of operations and of SDRAMs keep the proportions of a published table, which
is of another time and technology (45 nm, where the machine's is of 1992), so that only comparisons are meaningful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import Enum

from pixelflow.caveats import coded
from pixelflow.config import NodeConfig
from pixelflow.isa import Family
from pixelflow.isa.declarations import work_of
from pixelflow.node.account import Run
from pixelflow.observe import Accessed, Bus, Event, RunBegan, RunEnded
from pixelflow.simd.configuration import check_values, leaves, param
from pixelflow.simd.report import Column, Fact, Json, Part, Report, Shown, Table, fixed, number
from pixelflow.simd.units import Standing

_TABLE = "M. Horowitz, ISSCC 2014, figure 1.1.9"
PROCESS = f"a 45 nm process ({_TABLE})"
"""The process of the published table whose proportions the prices of operations and of SDRAMs keep."""
_INVENTED, _READER = Standing.INVENTED, "pixelflow/node/energy.py"
_MOST = 10**9


# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True)
class EnergyConfig:
    """The price of each kind of work, in femtojoules."""

    memory_read: int = param(400, "a byte read from a PE's memory", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source=f"a third of a byte of an 8 KB cache ({_TABLE}: 10 pJ for 8 bytes), the memory being 384 bytes",
        read_by=_READER)
    memory_write: int = param(500, "a byte written to a PE's memory", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source="a little more than a read", read_by=_READER)
    operation: int = param(60, "an operation of a PE on a byte", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source=f"twice an 8-bit addition ({_TABLE}: 0.03 pJ), for the registers", read_by=_READER)
    linear: int = param(60, "a byte of a linear expression in a PE", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source="as an operation", read_by=_READER)
    hop: int = param(100, "a byte from a PE to the next one", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source="a register and a wire of the length of a PE", read_by=_READER)
    word: int = param(5000, "an instruction word at an EMC", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source="4 bytes over a wire on a board, as a byte of a port each, shared by the EMCs", read_by=_READER)
    port_byte: int = param(20_000, "a byte between EMC and TASIC", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source="a wire on a board", read_by=_READER)
    row: int = param(900_000, "a row of an SDRAM opened and closed", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source=f"most of an access to 8 bytes of DRAM ({_TABLE}: 1.3 to 2.6 nJ)", read_by=_READER)
    sdram_read: int = param(60_000, "a byte read from an SDRAM", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source=f"the rest of an access to 8 bytes of DRAM ({_TABLE})", read_by=_READER)
    sdram_write: int = param(60_000, "a byte written to an SDRAM", unit="fJ", low=0, high=_MOST, standing=_INVENTED,
        source="as a byte read", read_by=_READER)
    network_byte: int = param(80_000, "a byte between TASICs, or TASICs and GPs", unit="fJ", low=0, high=_MOST,
        standing=_INVENTED, source="longer wires than those of a port", read_by=_READER)
    # fmt: on

    def __post_init__(self) -> None:
        check_values(self)

    @property
    def changed(self) -> dict[str, int]:
        """The invented prices, by name, that were replaced."""
        all_ = leaves(self)
        return {key: default for key, _, value, default in all_ if value != default and isinstance(default, int)}

    @property
    def text(self) -> str:
        """All prices, and which of them are not the invented ones."""
        all_ = ", ".join(f"{key} {value:,}" for key, _, value, _ in leaves(self))
        return f"at prices in fJ: {all_}; invented{self.changes}"

    @property
    def changes(self) -> str:
        """The prices that were given, in words that follow `invented`; empty where none was."""
        given = (f"{key} ({getattr(self, key):,} fJ, invented: {default:,})" for key, default in self.changed.items())
        return f", but for those given: {', '.join(given)}" if self.changed else ""


@dataclass(frozen=True, repr=False)
class RunEnergy(Shown):
    """The energy of one run: counts of each kind of work, and prices."""

    counts: Mapping[str, int]
    """By the names of `EnergyConfig`."""
    families: Mapping[Family, int]
    """Femtojoules inside of PEs by instruction family."""
    prices: EnergyConfig
    cycles: int

    def __repr__(self) -> str:
        prices = f"at invented prices{self.prices.changes}"
        return f"RunEnergy({energy_text(self.total)} {prices}, {self.cycles} cycles)"

    @property
    def energies(self) -> dict[str, int]:
        """Femtojoules of each kind of work, in the order of the prices."""
        return {name: count * getattr(self.prices, name) for name, count in self.counts.items()}

    @property
    def total(self) -> int:
        """Femtojoules of all work."""
        return sum(self.energies.values())

    def parts(self) -> Iterator[Part]:
        """Yield the total, a table by kind of work and one by family, with the prices and their standing."""
        label = coded("energy of the work done; prices invented", "PF104")
        yield Fact(energy_text(self.total), label, "energy.total_fj", self.total)
        yield f"prices are those of the table (fJ each), invented{self.prices.changes}"
        known, changed = {key: about for key, about, _, _ in leaves(self.prices)}, self.prices.changed

        def standing(name: str) -> str:
            return "given" if name in changed else known[name].standing.value

        columns = [
            Column("work", key="name"), Column("times", number, "times"), Column("fJ each", number, "fj_each"),
            Column("pJ", fixed(1), "pj"), Column("standing", key="standing"),
        ]  # fmt: skip
        rows = [
            (known[name].text, self.counts[name], getattr(self.prices, name), spent / 1000, standing(name))
            for name, spent in self.energies.items()
            if self.counts[name]
        ]
        yield Table(columns, rows, key="energy.work")
        inside = [(family.value, spent / 1000) for family, spent in self.families.items() if spent]
        columns = [Column("instructions in the PEs, at these prices", key="family"), Column("pJ", fixed(1), "pj")]
        yield Table(columns, inside, key="energy.families")

    def as_object(self) -> dict[str, Json]:
        """Return it for JSON, in femtojoules."""
        return {
            "total_fj": self.total,
            "counts": dict(self.counts),
            "fj": dict(self.energies),
            "families_fj": {family.value: spent for family, spent in self.families.items()},
            "prices_fj": {each.name: getattr(self.prices, each.name) for each in fields(self.prices)},
            "prices_given": {name: getattr(self.prices, name) for name in self.prices.changed},
            "standing": "invented",
        }

    def report(self) -> Report:
        """Return the energy of a run."""
        return Report("energy of a run", parts=list(self.parts()), schema="pixelflow.energy/1")


def energy_text(femtojoules: int) -> str:
    """Return an energy with a unit, and one to three digits before the point."""
    size, value = 0, float(femtojoules)
    units = ("fJ", "pJ", "nJ", "uJ", "mJ", "J")
    while value >= 999.5 and size + 1 < len(units):
        size, value = size + 1, value / 1000
    return f"{value:.3g} {units[size]}"


class EnergyMeter:
    """Subscriber that keeps the energy of each run of a node."""

    def __init__(self, config: NodeConfig, prices: EnergyConfig | None = None) -> None:
        self._config, self._prices = config, prices or EnergyConfig()
        self._accesses: Counter[str] = Counter()
        self.runs: list[RunEnergy] = []

    def attach(self, bus: Bus) -> None:
        """Subscribe; before the next run."""
        bus.subscribe(self._receive, RunBegan, Accessed, RunEnded)

    def _receive(self, event: Event) -> None:
        match event:
            case RunBegan():
                self._accesses.clear()
            case Accessed():
                rows = event.accesses * event.devices
                self._accesses["row"] += rows
                reads = event.what.startswith("texture memory")
                self._accesses["sdram_read" if reads else "sdram_write"] += rows * event.size
            case RunEnded(account=Run() as run):
                self.runs.append(self._of(run))

    def values(self) -> dict[str, int]:
        """Return the femtojoules of the last run by kind of work, and the price of each as ``price.WORK``."""
        run = self.runs[-1]
        return run.energies | {f"price.{name}": getattr(run.prices, name) for name in run.energies}

    def together(self) -> RunEnergy:
        """Return the energy of all runs so far, one at least."""
        counts = {name: sum(each.counts[name] for each in self.runs) for name in self.runs[0].counts}
        inside: Counter[Family] = Counter()
        for each in self.runs:
            inside.update(each.families)
        families = {family: inside[family] for family in Family if inside[family]}
        return RunEnergy(counts, families, self._prices, sum(each.cycles for each in self.runs))

    def _of(self, run: Run) -> RunEnergy:
        lanes, emcs, prices = self._config.lanes, self._config.array.emcs, self._prices
        counts: Counter[str] = Counter()
        inside: Counter[Enum] = Counter()
        for stream in run.streams:
            counts["word"] += stream.words.executed(stream.times) * emcs
            for kind, times in zip(stream.program.by_kind.kinds, stream.times, strict=True):
                for work, each in work_of(kind.steps).items() if times else ():
                    counts[work.value] += times * each * lanes
                    inside[kind.declaration.family] += times * each * lanes * getattr(prices, work.value)
        counts.update(self._accesses)
        if run.ledger is not None:
            ledger = run.ledger
            counts["port_byte"] += ledger.inbound.used + ledger.outbound.used
            counts["network_byte"] += ledger.to_gps.used + ledger.from_gps.used + ledger.over.used
        named = {each.name: counts[each.name] for each in fields(prices)}
        families = {family: inside[family] for family in Family if inside[family]}
        return RunEnergy(named, families, prices, run.total_cycles)
