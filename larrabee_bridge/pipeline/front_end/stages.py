"""The programs of the front end, carried out by the hardware threads of many PrimSets side by side, and their cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.core import Core, CoreConfig, SharedCore
from larrabee_bridge.vpu.core.turns.places import RANGE
from larrabee_bridge.vpu.core.works import WorkRecord
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
    """What a stage cost: cycles of a PrimSet's threads, each alone on a core, and lines that they touch, int64[primset]
    each; instructions by family."""

    cycles: NDArray[np.int64]
    lines: NDArray[np.int64]
    counts: dict[VectorFamily, int]

    def plus(self, other: StageCost) -> StageCost:
        """Return the cost of both."""
        counts = {family: self.counts[family] + other.counts[family] for family in VectorFamily}
        return StageCost(self.cycles + other.cycles, self.lines + other.lines, counts)


class Stages:
    """Carries out stages and adds up what they cost: of each thread alone on a core, and of a PrimSet's core.

    The threads of a PrimSet take turns on its core, and a stage begins where the one before has ended.
    """

    def __init__(self, primsets: int, config: CoreConfig | None = None, *, engine: str = AUTO) -> None:
        self.primsets, self.config, self.engine = primsets, config or CoreConfig(), engine
        self.costs: dict[str, StageCost] = {}
        """By the name of the stage."""
        self.cores: dict[int, SharedCore] = {}
        """What the core of each PrimSet did, once `finish` has been called."""
        self._record = WorkRecord(self.config)
        self._phase = 0

    def run(
        self,
        stage: str,
        program: VectorProgram,
        memory: ByteMemory,
        primset: NDArray[np.int64],
        registers: Mapping[int, NDArray[np.int64]],
        floats: Mapping[str, NDArray[np.float32]] | None = None,
    ) -> VectorUnit | None:
        """Carry out a program by one thread for each of ``primset``, ascending, which says whose it is; None without.

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
        notes: list[RunNote] = []
        unit.run(notes.append, lines=True)
        note = RunNote.joined(notes)
        core(note)
        self._keep(program, note, primset)
        counts = {family: int(each.sum()) for family, each in core.counts.items()}
        cost = StageCost(self._by_primset(primset, core.cycles), self._by_primset(primset, core.lines), counts)
        self.costs[stage] = self.costs[stage].plus(cost) if stage in self.costs else cost
        return unit

    def finish(self) -> None:
        """Time the PrimSets that have gone through their stages."""
        self.cores |= self._record.count()
        self._phase = 0

    def _keep(self, program: VectorProgram, note: RunNote, primset: NDArray[np.int64]) -> None:
        record = self._record
        number = record.program(program)
        ranges = record.ranges(number, np.zeros((1, 0, RANGE), np.int64))
        work = primset[note.threads]
        thread = np.arange(len(work)) - np.searchsorted(work, work)
        record.add(number, note, work, thread, record.step() + note.threads, ranges, phase=self._phase)
        record.words(note)
        self._phase += 1

    def _by_primset(self, primset: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
        total = np.zeros(self.primsets, np.int64)
        np.add.at(total, primset, values)
        return total
