"""Threads of a program, executed and counted: how the renderer and the kernels use the vector unit (time)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import VectorProgram
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.lanes.words import ByteMemory


class VpuRun(NamedTuple):
    """Threads that have ended: registers and memory, cycles of each alone on a core, and the note for shared cores."""

    unit: VectorUnit
    core: Core
    note: RunNote

    @property
    def program(self) -> VectorProgram:
        """The program that they executed."""
        return self.unit.program

    @property
    def families(self) -> dict[VectorFamily, int]:
        """Instructions of all threads together, by family."""
        return self.core.families


def execute(
    program: VectorProgram,
    threads: int,
    memory: ByteMemory | None = None,
    scalars: Mapping[int, NDArray[np.integer] | int] | None = None,
    *,
    config: CoreConfig | None = None,
    parts: Sequence[int] = (),
    masks: Mapping[int, int] | None = None,
    engine: str = AUTO,
) -> VpuRun:
    """Run a program to its end on threads side by side; ``scalars`` and ``masks`` are initial values of r and k.

    ``parts`` assigns each instruction to a part of the program, as `Core` takes it. Raises what `VectorUnit.run` does.
    """
    unit = VectorUnit(program, threads, memory, engine)
    for number, values in (scalars or {}).items():
        unit.set_scalar(number, values)
    for number, mask in (masks or {}).items():
        unit.set_mask(number, mask)
    return finished(unit, config, parts)


def finished(unit: VectorUnit, config: CoreConfig | None = None, parts: Sequence[int] = ()) -> VpuRun:
    """Run the program of a prepared unit to its end."""
    core = Core(unit.program, unit.threads, config, parts)
    notes: list[RunNote] = []
    unit.run(notes.append, lines=True)
    note = RunNote.joined(notes)
    core(note)
    return VpuRun(unit, core, note)
