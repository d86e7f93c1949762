"""Runs of kernels with their cycles: threads alone on a core, taking turns on one, and shared out to many cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.pipeline.scheduling import FrameWork, ScheduleConfig, schedule
from larrabee_bridge.vpu.core import Core, CoreConfig, take_turns
from larrabee_bridge.vpu.isa import LANES, VectorFamily
from larrabee_bridge.vpu.isa.operands import WIDE_LANES
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import VectorProgram
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted

__all__ = ["CORES", "PEAK", "THREADS", "CoreScaling", "CoresRun", "Timed", "carry_out", "scaled", "shared_out", "timed"]

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
    """Instructions carried out by all threads together, by family; those that there were none of are left out."""
    lines: int
    """Cache lines touched by all threads together."""
    spread: tuple[int, ...]
    """Lines that each gather or scatter touched, in the order of execution, thread after thread."""

    @property
    def instructions(self) -> int:
        """Instructions carried out."""
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
    """Instructions carried out, by family."""
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
