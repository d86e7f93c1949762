"""One pass of a tessellation as a program, by either way of the control points and either schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from microcode import Builder, Mem, Program
from pixelflow.config import NodeConfig
from pixelflow.errors import Fault, InputError, nearest
from tessellation.control_points import ControlPointSource, LeeControlPoints
from tessellation.kernels import (
    Evaluation,
    emit_addresses,
    emit_lee,
    emit_normals,
    emit_surfaces,
    select_by_marks,
)
from tessellation.libraries import FloatLibrary
from tessellation.mapping import Pass
from tessellation.memory_map import MemoryMap
from tessellation.overlapped import EXTRA_MEMORY, column_values, emit_overlapped
from tessellation.patch import Patch
from tessellation.schedule import batch_count, control_values
from tessellation.texture_layout import Stored
from tessellation.texture_source import ADDRESS_PLACE, SENDS, TextureControlPoints, emit_cleared_ports

__all__ = ["CONTROL_POINTS", "SCHEDULES", "Method", "PassWork", "pass_program"]

CONTROL_POINTS = ("texture", "lee")
"""Ways of the control points to the PEs: from texture memory, or through the LEE (thesis 3.2's slow alternative)."""

SCHEDULES = ("thesis", "overlapped")
"""Orders of work: that of table 11, and the one of this project (`overlapped.py`)."""


@dataclass(frozen=True, slots=True)
class Method:
    """How passes are carried out. Raises InputError for a name, or a number of sends, that does not exist."""

    control_points: str = "texture"
    schedule: str = "thesis"
    sends: int = 4
    """Sends per block and transfer, in the schedule of the thesis."""
    replication: int = 1
    """Modules that store each patch."""

    def __post_init__(self) -> None:
        for what, name, known in (
            ("way of the control points", self.control_points, CONTROL_POINTS),
            ("schedule", self.schedule, SCHEDULES),
        ):
            if name not in known:
                guess = nearest(name, known)
                raise InputError(Fault(f"unknown {what} {name!r}", hint=f"did you mean {guess}?" if guess else None))
        if self.sends not in SENDS:
            raise InputError(Fault(f"{self.sends} sends per block", hint=f"allowed: {', '.join(map(str, SENDS))}"))
        if self.control_points == "lee" and self.schedule != "thesis":
            raise InputError(Fault("the overlapped schedule needs control points from texture memory"))

    @property
    def from_texture(self) -> bool:
        """True where control values come from texture memory."""
        return self.control_points == "texture"

    @property
    def overlapped(self) -> bool:
        """True for the schedule of this project."""
        return self.schedule == "overlapped"

    @property
    def raster(self) -> bool:
        """Whether patches are placed in rows, which the computed addresses of the overlapped schedule need."""
        return self.overlapped

    @property
    def extra_memory(self) -> tuple[tuple[str, int], ...]:
        """Ranges of PE memory beyond those of table 9."""
        return EXTRA_MEMORY if self.overlapped else ()

    def values(self, patch: Patch) -> np.ndarray:
        """Return the words of a patch in the order in which texture memory holds them: uint32[n]."""
        return column_values(patch) if self.overlapped else control_values(patch)


@dataclass(frozen=True, slots=True)
class PassWork:
    """What a pass is to do: a layout, placements, their patches, and where their control values are stored."""

    memory: MemoryMap
    work: Pass
    configure: bool
    patches: Mapping[int, Patch]
    stored: Mapping[int, Stored]

    @property
    def bases(self) -> dict[int, int]:
        """Return the base address of each patch in the module where it is placed."""
        return {place.patch: self.stored[place.patch].base(place.module) for place in self.work.placements}


def pass_program(work: PassWork, library: FloatLibrary, config: NodeConfig, method: Method) -> Program:
    """Return the program of one pass: both streams, or that of the EIGC alone for control points through the LEE."""
    memory = work.memory
    builder = Builder(f"tessellate {memory.rows}x{memory.columns}")
    for use in memory:
        if use.size and use.name != "scratch":
            builder.range(use.name, use.size, at=use.start)
    library.include(builder, memory["scratch"].start)
    if work.configure:
        emit_lee(builder, config.array)
    if method.overlapped:
        batches = next(iter(work.stored.values())).batches
        emit_overlapped(builder, memory, work.work, library, work.bases, batches)
        return builder.build()
    evaluation = Evaluation(memory, work.work, library, select_by_marks(builder, memory))
    source: ControlPointSource
    if method.from_texture:
        emit_cleared_ports(builder, work.work)
        emit_addresses(builder, memory, work.work, work.bases, ADDRESS_PLACE)
        source = TextureControlPoints(memory, batch_count(memory.rows, memory.columns), method.sends)
    else:
        numbers = {place.patch: index for index, place in enumerate(work.work.placements)}
        emit_addresses(builder, memory, work.work, numbers, Mem(memory["base_address"].start))
        values = {number: control_values(patch) for number, patch in work.patches.items()}
        source = LeeControlPoints(memory, work.work.placements, values)
    source.emit_start(builder)
    evaluation.load_first(builder)
    emit_surfaces(builder, evaluation, source)
    emit_normals(builder, memory, library)
    return builder.build()
