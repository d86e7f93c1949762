"""Work shared out to cores: how long pieces of measured work take on 1 to 48 cores, phase after phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.timing import THREADS
from larrabee_bridge.pipeline.scheduling import FrameWork, ScheduleConfig, schedule
from larrabee_bridge.vpu.core import CoreConfig, take_turns
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import VectorProgram
from pixelflow.simd.errors import Fault, InputError

__all__ = ["CORES", "CoreScaling", "cycles_of_cores", "scaled"]

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


def cycles_of_cores(
    program: VectorProgram, note: RunNote, config: CoreConfig | None = None, per_core: int = THREADS
) -> NDArray[np.int64]:
    """Return the cycles of each ``per_core`` threads of a note with lines that take turns on a core: int64[cores]."""
    count = len(note.threads)
    found = []
    for first in range(0, count, per_core):
        past = min(first + per_core, count)
        starts = note.starts[first : past + 1]
        words = note.words[starts[0] : starts[-1]]
        share = RunNote(note.blocks, np.arange(past - first), words, starts - starts[0], note.has_lines)
        found.append(take_turns(program, share, config).cycles)
    return np.array(found, np.int64)
