"""Studies of kernels: results next to a reference, cycles by number of cores, and the limiting factor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.schedule import FrameWork, ScheduleConfig, schedule
from larrabee_bridge.vpu.config import CoreConfig, invented
from larrabee_bridge.vpu.core_image import take_turns
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.isa.operands import WIDE_LANES
from larrabee_bridge.vpu.issue import Costs
from larrabee_bridge.vpu.vector_unit import VectorUnit
from larrabee_bridge.vpu_run import finished
from pixelflow.simd.report import Column, Json, Part, Report, Table, fixed, percent

# Runs of kernels with their cycles: threads alone on a core, taking turns on one, and spread over many cores.


THREADS = 4
"""Threads of a core: Seiler et al. 2008, 3.2."""

_FLOPS = {
    VectorFamily.FUSED: 2 * LANES,
    VectorFamily.FLOAT: LANES,
    VectorFamily.DOUBLE_FUSED: 2 * WIDE_LANES,
    VectorFamily.DOUBLE: WIDE_LANES,
}
PEAK = 2 * LANES
"""Largest number of flops of a core in a cycle: a fused multiply-add in each lane (5.1)."""


class CoresRun(NamedTuple):
    """Cycles of a kernel's threads on cores that they share; every figure is a sum over what was executed."""

    pieces: NDArray[np.int64]
    """Cycles of each core, its threads taking turns."""
    moved: NDArray[np.int64]
    """Bytes of each core from and to memory; 0 without caches."""
    alone: NDArray[np.int64]
    """Cycles of each thread, alone on a core."""
    counts: Mapping[VectorFamily, int]
    """Instructions executed, by family."""
    spread: NDArray[np.int64]
    """Lines that each gather or scatter touched, in the order of execution, thread after thread, where counted."""

    @classmethod
    def joined(cls, runs: Sequence[CoresRun]) -> CoresRun:
        """Return consecutive runs as one."""
        pieces, moved, alone, spread = (np.concatenate([getattr(each, name) for each in runs])
                                        for name in ("pieces", "moved", "alone", "spread"))  # fmt: skip
        counts = {family: sum(each.counts[family] for each in runs) for family in VectorFamily}
        return cls(pieces, moved, alone, counts, spread)

    @property
    def cycles(self) -> int:
        """Cycles of all cores together."""
        return int(self.pieces.sum())

    @property
    def vector(self) -> int:
        """Instructions of the vector unit."""
        return sum(count for family, count in self.counts.items() if family.vector)

    @property
    def vector_share(self) -> float:
        """Share of the vector unit's instructions in all."""
        return self.vector / sum(self.counts.values())

    @property
    def lines_per_gather(self) -> float:
        """Mean of the lines that a gather or scatter touched."""
        return float(self.spread.mean())

    @property
    def issuing(self) -> float:
        """Vector instructions for each cycle of a core."""
        return self.vector / self.cycles

    @property
    def flops_per_cycle(self) -> float:
        """Float operations of sixteen or eight lanes for each cycle of a core, at most 32; masks are ignored."""
        return sum(_FLOPS.get(family, 0) * count for family, count in self.counts.items()) / self.cycles


def run_kernel(unit: VectorUnit, config: CoreConfig | None = None, *, gathers: bool = False) -> CoresRun:
    """Run a unit to its end: each four threads, in their order, take turns on a core.

    ``gathers`` counts the lines of each gather too, in Python.
    """
    done, program = finished(unit, config), unit.program
    cores = []
    for first in range(0, unit.threads, THREADS):
        share = done.note.one_after_the_other([[at] for at in range(first, min(first + THREADS, unit.threads))])
        cores.append(take_turns(program, share, config))
    by_offset = Costs.of(program, done.core.config).by_offset
    accesses = (each for at in range(unit.threads) for each in done.note.accesses(at)) if gathers else ()
    spread = [len(lines) for number, lines in accesses if by_offset[number]]
    pieces, moved = (np.array([getattr(each, name) for each in cores], np.int64) for name in ("cycles", "memory_bytes"))
    return CoresRun(pieces, moved, done.core.cycles, done.families, np.array(spread, np.int64))


def shared_out(work: int, threads: int) -> list[NDArray[np.int64]]:
    """Return the numbers 0 to ``work`` - 1 in at most ``threads`` equal shares, the first ones longer."""
    return np.array_split(np.arange(work), min(threads, work))


CORES = (1, 8, 16, 32, 48)
"""Core counts that kernels are scheduled on."""


class CoreScaling(NamedTuple):
    """Cycles until all work is done, by number of cores, locks of the work list included."""

    cores: tuple[int, ...]
    cycles: tuple[int, ...]

    @property
    def speedups(self) -> tuple[float, ...]:
        """How many times faster than the first number of cores each is."""
        return tuple(self.cycles[0] / each for each in self.cycles)

    @property
    def efficiencies(self) -> tuple[float, ...]:
        """Speed-up as a share of the ratio of cores."""
        ratios = zip(self.speedups, self.cores, strict=True)
        return tuple(speedup * self.cores[0] / cores for speedup, cores in ratios)


def scaled(phases: Sequence[CoresRun], cores: Sequence[int] = CORES) -> CoreScaling:
    """Schedule phases, whose cores are pieces of work; each phase ends before the next one begins.

    A piece costs a lock, and a phase the three of its lists and its empty front (5.2). Pieces share the chip's memory.
    """
    nothing = np.zeros(1, np.int64)
    works = [FrameWork("phase", nothing, each.pieces, back_bytes=each.moved) for each in phases]
    configs = [ScheduleConfig(cores=count) for count in cores]
    return CoreScaling(
        tuple(cores), tuple(sum(schedule([work], config).makespan for work in works) for config in configs)
    )


Progress = Callable[[str], None]


class KernelResult(NamedTuple):
    """Result of a kernel and its cycles."""

    work: str
    """Description of the work."""
    reference: str
    """Reference that the result is compared with."""
    error: float
    """Largest difference from it, in ``error_of``."""
    error_of: str
    unit: str
    """Name of one of ``units``."""
    units: int
    phases: tuple[CoresRun, ...]
    """Each ends before the next one begins."""
    limit: str
    """Reasons for less than 32 flops a cycle and less than linear scaling, with figures."""

    @property
    def run(self) -> CoresRun:
        """All phases."""
        return CoresRun.joined(self.phases)

    @property
    def scaling(self) -> CoreScaling:
        """Cycles by number of cores."""
        return scaled(self.phases)


class KernelStudy(NamedTuple):
    """A kernel of the paper by its name, and the function that runs it."""

    name: str
    title: str
    place: str
    """Section of the paper."""
    study: Callable[[CoreConfig | None, Progress | None], KernelResult]


def kernels_report(found: Sequence[tuple[KernelStudy, KernelResult]], config: CoreConfig | None = None) -> Report:
    """Return a report of studies and their results."""
    rows, notes, objects = list[tuple[Json, ...]](), list[Part](), list[Json]()
    cores: tuple[int, ...] = ()
    for study, result in found:
        about: dict[str, Json] = {"name": study.name, "title": study.title, "place": study.place}
        run, scaling = result.run, result.scaling
        cores = scaling.cores
        each = run.cycles / result.units
        rows.append(
            (
                study.name, each, result.unit, run.flops_per_cycle / PEAK, run.issuing, *scaling.speedups[1:],
            )
        )  # fmt: skip
        error = f"{result.error:.3g}"
        notes += [
            "",
            f"{study.name} ({study.place}): {study.title}; {result.work}",
            f"  compared with {result.reference}: {error} {result.error_of} at most",
            f"  limit: {result.limit}",
        ]
        objects.append(
            {
                **about,
                "work": result.work,
                "reference": result.reference,
                "error": result.error,
                "error_of": result.error_of,
                "unit": result.unit,
                "units": result.units,
                "cycles": run.cycles,
                "cycles_per_unit": each,
                "share_of_peak": run.flops_per_cycle / PEAK,
                "vector_instructions_per_cycle": run.issuing,
                "vector_share": run.vector_share,
                "cores": list(scaling.cores),
                "cycles_on_cores": list(scaling.cycles),
                "limit": result.limit,
            }
        )
    columns = [
        Column("kernel"), Column("cycles", fixed(2)), Column("a"), Column("of 32 flops", percent),
        Column("vector/cycle", fixed(2)),
        *(Column(f"{count} cores", fixed(1)) for count in cores[1:]),
    ]  # fmt: skip
    config = config or CoreConfig()
    memory = "no limit of bandwidth; every access hits the L1 cache"
    if config.caches:
        memory = "one memory for all cores; each piece of work begins with empty caches"
    closing = (
        "Cycles of a core whose four threads take turns; speed-ups over one core, with locks of 100 cycles and "
        f"{memory}. No source gives: {', '.join(invented(config))}."
    )
    table: list[Part] = [Table(columns, rows), "", closing] if rows else []
    return Report(
        results=[*table, *notes],
        schema="pixelflow.larrabee-kernels/1",
        data={"kernels": objects},
    )


def list_of(studies: Sequence[KernelStudy]) -> Report:
    """Return a report that lists the kernels."""
    columns = (Column("kernel", key="name", fixed=True), Column("what", key="title"), Column("paper", key="place"))
    rows = [(each.name, each.title, each.place) for each in studies]
    return Report(results=[Table(columns, rows, key="kernels")], schema="pixelflow.larrabee-kernels-list/1")
