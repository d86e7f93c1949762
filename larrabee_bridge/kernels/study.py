"""Studies of kernels: what was computed, beside which reference, what it took on how many cores, and what limits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.schedule import FrameWork, ScheduleConfig, schedule
from larrabee_bridge.vpu.config import CoreConfig, invented
from larrabee_bridge.vpu.core_image import take_turns
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.isa.operands import WIDE_LANES
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import VectorProgram
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import Column, Fact, Json, Part, Report, Table, counted, fixed, percent

# Runs of kernels with their cycles: threads alone on a core, taking turns on one, and shared out to many cores.


THREADS = 4
"""Threads of a core: Seiler et al. 2008, 3.2."""


@dataclass(frozen=True, slots=True)
class Timed:
    """What a run of threads took; every figure is a sum over what was executed."""

    alone: tuple[int, ...]
    """Cycles of each thread, alone on a core."""
    core: int
    """Cycles of one core on which all of these threads take turns."""
    counts: dict[VectorFamily, int]
    """Instructions executed by all threads together, by family; those that there were none of are left out."""
    lines: int
    """Cache lines touched by all threads together."""
    spread: tuple[int, ...]
    """Lines that each gather or scatter touched, in the order of execution, thread after thread."""

    @property
    def instructions(self) -> int:
        """Instructions executed."""
        return sum(self.counts.values())

    @property
    def vector(self) -> int:
        """Those of the vector unit."""
        return sum(count for family, count in self.counts.items() if family.vector)

    @property
    def vector_share(self) -> float:
        """Share of the vector unit's instructions."""
        return self.vector / self.instructions

    @property
    def lines_per_gather(self) -> float | None:
        """Mean of the lines that a gather or scatter touched; None where there was none."""
        return sum(self.spread) / len(self.spread) if self.spread else None


def timed(unit: VectorUnit, config: CoreConfig | None = None) -> Timed:
    """Run the program of a unit to its end and time it."""
    program = unit.program
    core = Core(program, unit.threads, config)
    notes: list[RunNote] = []
    unit.run(notes.append, lines=True)
    note = RunNote.joined(notes)
    core(note)
    by_offset = _by_offset(program)
    accesses = (each for place in range(len(note.threads)) for each in note.accesses(place))
    return Timed(
        alone=tuple(core.cycles.tolist()),
        core=take_turns(program, note, core.config).cycles,
        counts={family: int(counts.sum()) for family, counts in core.counts.items() if counts.any()},
        lines=int(core.lines.sum()),
        spread=tuple(len(lines) for number, lines in accesses if number in by_offset),
    )


def _by_offset(program: VectorProgram) -> frozenset[int]:
    """Return the instructions that take an address for each lane from a vector register."""
    return frozenset(
        number
        for number, each in enumerate(program.instructions)
        if any(operand.name == "indices" for operand in each.declaration.operands)
    )


def shared_out(work: int, threads: int) -> list[NDArray[np.int64]]:
    """Return the numbers 0 to ``work`` - 1 in equal shares, no more of them than there is work, the first ones longer.

    Raises InputError for less than one thread, or without work.
    """
    if threads < 1 or work < 1:
        raise InputError(Fault(f"{counted(threads, 'thread')} for {work} pieces of work", hint="1 or more of each"))
    return np.array_split(np.arange(work), min(threads, work))


CORES = (1, 8, 16, 32, 48)
"""Core counts that kernels are scheduled on."""


@dataclass(frozen=True, slots=True)
class CoreScaling:
    """Cycles until all work is done, by number of cores, locks of the work list included."""

    cores: tuple[int, ...]
    cycles: tuple[int, ...]
    pieces: int
    """Pieces of work that cores take from the list."""
    longest: int
    """Cycles of the longest piece."""

    @property
    def speedups(self) -> tuple[float, ...]:
        """How many times faster than the first number of cores each is."""
        return tuple(self.cycles[0] / each for each in self.cycles)

    @property
    def efficiencies(self) -> tuple[float, ...]:
        """Speed-up as a share of what so many cores could give."""
        ratios = zip(self.speedups, self.cores, strict=True)
        return tuple(speedup * self.cores[0] / cores for speedup, cores in ratios)


def scaled(phases: Sequence[NDArray[np.int64]], cores: Sequence[int] = CORES) -> CoreScaling:
    """Schedule phases of pieces of work, int64 cycles of each piece; all of a phase ends before the next one begins.

    Each piece costs a lock, and each phase the two of its lists (5.2). Raises InputError without a piece.
    """
    if not phases or not all(len(each) for each in phases):
        raise InputError(Fault("a phase without work", hint="1 or more pieces"))
    nothing = np.zeros(1, np.int64)
    works = [
        FrameWork(
            f"phase {number}", nothing, np.asarray(pieces, np.int64), (f"phase {number - 1}",), (f"phase {number}",)
        )
        for number, pieces in enumerate(phases)
    ]
    # The front of each phase waits as well: it is empty, and only the back counts.
    spans = tuple(schedule(works, ScheduleConfig(cores=count, fronts_wait=True)).makespan for count in cores)
    longest = max(int(each.max()) for each in phases)
    return CoreScaling(tuple(cores), spans, sum(len(each) for each in phases), longest)


_FLOPS = {
    VectorFamily.FUSED: 2 * LANES,
    VectorFamily.FLOAT: LANES,
    VectorFamily.DOUBLE_FUSED: 2 * WIDE_LANES,
    VectorFamily.DOUBLE: WIDE_LANES,
}
PEAK = 2 * LANES
"""Flops of a core in a cycle at most: a fused multiply-add in each lane (5.1)."""


@dataclass(frozen=True, slots=True, eq=False)
class CoresRun:
    """What threads took, some of them a core: every figure is a sum over what was executed."""

    pieces: NDArray[np.int64]
    """Cycles of each core, its threads taking turns."""
    alone: int
    """Cycles of all threads, each alone on a core."""
    counts: dict[VectorFamily, int]
    """Instructions executed, by family."""
    lines: int
    """Cache lines touched."""
    from_memory: int = 0
    """Those that came from memory; 0 where every access hits."""

    @classmethod
    def joined(cls, runs: Sequence[CoresRun]) -> CoresRun:
        """Return runs after each other as one."""
        return cls(
            np.concatenate([each.pieces for each in runs]),
            sum(each.alone for each in runs),
            {family: sum(each.counts[family] for each in runs) for family in VectorFamily},
            sum(each.lines for each in runs),
            sum(each.from_memory for each in runs),
        )

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
    def issuing(self) -> float:
        """Vector instructions for each cycle of a core."""
        return self.vector / self.cycles

    @property
    def flops_per_cycle(self) -> float:
        """Float operations of sixteen or eight lanes for each cycle of a core, at most 32; masks are not looked at."""
        return sum(_FLOPS.get(family, 0) * count for family, count in self.counts.items()) / self.cycles


def carry_out(unit: VectorUnit, config: CoreConfig | None = None, per_core: int = THREADS) -> CoresRun:
    """Run a unit to its end: each ``per_core`` threads, in their order, take turns on a core."""
    core = Core(unit.program, unit.threads, config)
    notes: list[RunNote] = []
    unit.run(notes.append, lines=True)
    note = RunNote.joined(notes)
    core(note)
    cores = []
    for first in range(0, unit.threads, per_core):
        past = min(first + per_core, unit.threads)
        starts = note.starts[first : past + 1]
        words = note.words[starts[0] : starts[-1]]
        share = RunNote(note.blocks, np.arange(past - first), words, starts - starts[0], note.has_lines)
        cores.append(take_turns(unit.program, share, config))
    counts = {family: int(each.sum()) for family, each in core.counts.items()}
    pieces = np.array([each.cycles for each in cores], np.int64)
    missing = sum(each.l2_misses or 0 for each in cores)
    return CoresRun(pieces, int(core.cycles.sum()), counts, int(core.lines.sum()), missing)


Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class KernelResult:
    """What a kernel computed and took."""

    work: str
    """What was worked on."""
    reference: str
    """What the result is compared with."""
    error: float
    """The largest difference from it, in ``error_of``."""
    error_of: str
    unit: str
    """What one of ``units`` is."""
    units: int
    phases: tuple[CoresRun, ...]
    """Each ends before the next one begins."""
    limit: str
    """What keeps it from 32 flops a cycle and from twice the speed on twice the cores, with figures."""
    picture: NDArray[np.uint8] | None = None
    """uint8[row, column, rgb] where there is one."""

    @property
    def run(self) -> CoresRun:
        """All phases."""
        return CoresRun.joined(self.phases)

    @property
    def scaling(self) -> CoreScaling:
        """Cycles by number of cores."""
        return scaled([each.pieces for each in self.phases])


@dataclass(frozen=True, slots=True)
class KernelStudy:
    """A kernel of the paper by its name, and how it is studied."""

    name: str
    title: str
    place: str
    """Where the paper has it."""
    study: Callable[[CoreConfig | None, Progress | None], KernelResult]


def kernels_report(
    found: Sequence[tuple[KernelStudy, KernelResult]],
    wrote: Sequence[str] = (),
    config: CoreConfig | None = None,
) -> Report:
    """Return a report of studies and what they found; ``wrote`` are files with their pictures."""
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
            f"  beside {result.reference}: {error} {result.error_of} at most",
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
    memory = "each piece of work begins with empty caches" if config.caches else "every access hits the L1 cache"
    closing = (
        "Cycles of a core whose four threads take turns; speed-ups over one core, with locks of 100 cycles and no "
        f"limit of bandwidth; {memory}. No source gives: {', '.join(invented(config))}."
    )
    table: list[Part] = [Table(columns, rows), "", closing] if rows else []
    return Report(
        results=[*table, *notes, *(Fact(path, "wrote") for path in wrote)],
        schema="pixelflow.larrabee-kernels/1",
        data={"kernels": objects, "pictures": list(wrote)},
    )


def list_of(studies: Sequence[KernelStudy]) -> Report:
    """Return a report of which kernels there are."""
    columns = (Column("kernel", key="name", fixed=True), Column("what", key="title"), Column("paper", key="place"))
    rows = [(each.name, each.title, each.place) for each in studies]
    return Report(results=[Table(columns, rows, key="kernels")], schema="pixelflow.larrabee-kernels-list/1")
