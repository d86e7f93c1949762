"""A run of a kernel with its cycles: each thread alone on a core, and all of them taking turns on one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.core import Core, CoreConfig, take_turns
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import VectorProgram
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError

__all__ = ["THREADS", "Timed", "shared_out", "timed"]

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
        raise InputError(Fault(f"{threads} threads for {work} pieces of work", hint="1 or more of each"))
    return np.array_split(np.arange(work), min(threads, work))
