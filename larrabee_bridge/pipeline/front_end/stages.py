"""The programs of the front end, carried out by the hardware threads of many PrimSets side by side, and their cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.core import Core, CoreConfig, take_turns
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import VectorProgram, shipped
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.lanes.choice import AUTO
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

__all__ = ["Place", "StageCost", "Stages", "program_of"]

Place = tuple[str, int]
"""A parameter of a program."""


def program_of(name: str, parameters: tuple[Place, ...] = ()) -> VectorProgram:
    """Return a program of the front end, assembled once with parameters (name, value)."""
    return shipped(f"front_end/{name}.mc", **dict(parameters))


@dataclass(frozen=True, slots=True, eq=False)
class StageCost:
    """What a stage cost: cycles and touched cache lines of each PrimSet, int64[primset], instructions by family."""

    cycles: NDArray[np.int64]
    lines: NDArray[np.int64]
    counts: dict[VectorFamily, int]

    def plus(self, other: StageCost) -> StageCost:
        """Return the cost of both."""
        counts = {family: self.counts[family] + other.counts[family] for family in VectorFamily}
        return StageCost(self.cycles + other.cycles, self.lines + other.lines, counts)


class Stages:
    """Carries out stages and adds up what they cost.

    ``turns`` says how a PrimSet's threads share its core: False, one after the other, each alone (`Core`); True, in
    turns (`take_turns`), the stage ending with the last of them. Every access hits the L1 cache either way, unless
    ``config.caches`` and ``turns``.
    """

    def __init__(
        self, primsets: int, config: CoreConfig | None = None, *, turns: bool = False, engine: str = AUTO
    ) -> None:
        self.primsets, self.config, self.turns, self.engine = primsets, config or CoreConfig(), turns, engine
        self.costs: dict[str, StageCost] = {}
        """By the name of the stage."""

    def run(
        self,
        stage: str,
        program: VectorProgram,
        memory: ByteMemory,
        primset: NDArray[np.int64],
        registers: Mapping[int, NDArray[np.int64]],
        floats: Mapping[str, NDArray[np.float32]] | None = None,
    ) -> VectorUnit | None:
        """Carry out a program by one thread for each of ``primset``, which says whose it is; None without threads.

        ``registers`` gives r0 to r15 for each thread, ``floats`` what stands in ranges of the program.
        """
        if not len(primset):
            return None
        unit = VectorUnit(program, len(primset), memory, self.engine)
        core = Core(program, len(primset), self.config)
        for name, laid in (floats or {}).items():
            start = program.range(name).start
            memory.data[0, start : start + laid.nbytes] = np.ascontiguousarray(laid).view(np.uint8).reshape(-1)
        for number, values in registers.items():
            unit.set_scalar(number, values)
        if self.turns:
            notes: list[RunNote] = []
            unit.run(notes.append, lines=True)
            note = RunNote.joined(notes)
            core(note)
            cycles = self._in_turns(program, primset, note)
        else:
            unit.run(core)
            cycles = self._by_primset(primset, core.cycles)
        counts = {family: int(each.sum()) for family, each in core.counts.items()}
        cost = StageCost(cycles, self._by_primset(primset, core.lines), counts)
        self.costs[stage] = self.costs[stage].plus(cost) if stage in self.costs else cost
        return unit

    def _by_primset(self, primset: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
        total = np.zeros(self.primsets, np.int64)
        np.add.at(total, primset, values)
        return total

    def _in_turns(self, program: VectorProgram, primset: NDArray[np.int64], note: RunNote) -> NDArray[np.int64]:
        total = np.zeros(self.primsets, np.int64)
        for number in np.unique(primset).tolist():
            threads = note.one_after_the_other([[thread] for thread in np.flatnonzero(primset == number).tolist()])
            total[number] = take_turns(program, threads, self.config).cycles
        return total
