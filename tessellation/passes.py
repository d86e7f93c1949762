"""One pass of a tessellation as a program, by either way of the control points and either schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from microcode import Builder, Mem, Program
from pixelflow.config import NodeConfig
from pixelflow.errors import Fault, InputError, nearest
from tessellation.control_points import ControlPointSource, LeeControlPoints
from tessellation.gp_traffic import FineReturn, emit_return
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
from tessellation.memory_map import MemoryMap, fitting_map
from tessellation.overlapped import EXTRA_MEMORY, Banks, column_values, emit_overlapped
from tessellation.patch import Patch
from tessellation.precision import MANTISSAS, SINGLE, StoredFormat, emit_conversions, emit_results, long_values
from tessellation.schedule import Surface, batch_count, control_values
from tessellation.texture_layout import Stored
from tessellation.texture_source import ADDRESS_PLACE, SENDS, TextureControlPoints, emit_cleared_ports

__all__ = ["CONTROL_POINTS", "GP_WAYS", "RESULT_WAYS", "SCHEDULES", "Method", "PassWork", "pass_program"]

CONTROL_POINTS = ("texture", "lee")
"""Ways of the control points to the PEs: from texture memory, or through the LEE (thesis 3.2's slow alternative)."""

GP_WAYS = ("direct", "gp")
"""Ways of the database: at once, outside the counted run, or from GP memory by executed transfers."""

RESULT_WAYS = (*GP_WAYS, "gp-fine")
"""Ways of the results: as GP_WAYS after each pass; or points beside the reads of control points (table 11)."""

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
    mantissa_bytes: int = 3
    """Bytes of mantissa of all arithmetic: 3 (binary32) to 6 (appendix A)."""
    hybrid: bool = False
    """With a longer mantissa: keep the database binary32 (appendix A)."""
    load: str = "direct"
    """How the database gets into texture memory."""
    results: str = "direct"
    """How points and normals get back."""

    def __post_init__(self) -> None:
        for what, name, known in (
            ("way of the control points", self.control_points, CONTROL_POINTS),
            ("schedule", self.schedule, SCHEDULES),
            ("way of the database", self.load, GP_WAYS),
            ("way of the results", self.results, RESULT_WAYS),
        ):
            if name not in known:
                guess = nearest(name, known)
                raise InputError(Fault(f"unknown {what} {name!r}", hint=f"did you mean {guess}?" if guess else None))
        if self.sends not in SENDS:
            raise InputError(Fault(f"{self.sends} sends per block", hint=f"allowed: {', '.join(map(str, SENDS))}"))
        if self.control_points == "lee" and self.schedule != "thesis":
            raise InputError(Fault("the overlapped schedule needs control points from texture memory"))
        if self.results == "gp-fine" and (self.long or self.overlapped or not self.from_texture):
            raise InputError(
                Fault("fine-grain results need the thesis's schedule, control points from texture memory and binary32")
            )
        if self.load == "gp" and not self.from_texture:
            raise InputError(Fault("a load from the GPs needs control points from texture memory"))
        if self.mantissa_bytes not in MANTISSAS:
            raise InputError(Fault(f"mantissas of {self.mantissa_bytes} bytes", hint="allowed: 3 to 6"))
        if self.hybrid and not self.long:
            raise InputError(Fault("a hybrid needs mantissas of 4 to 6 bytes for the arithmetic"))
        if self.long and (self.overlapped or not self.from_texture):
            raise InputError(Fault("long mantissas need the thesis's schedule and control points from texture memory"))

    @property
    def from_texture(self) -> bool:
        """True where control values come from texture memory."""
        return self.control_points == "texture"

    @property
    def overlapped(self) -> bool:
        """True for the schedule of this project."""
        return self.schedule == "overlapped"

    @property
    def long(self) -> bool:
        """True where the arithmetic has more than binary32."""
        return self.mantissa_bytes > 3

    @property
    def single_database(self) -> bool:
        """True where control values are stored as binary32."""
        return self.hybrid or not self.long

    @property
    def stored(self) -> StoredFormat:
        """How control values lie in texture memory."""
        return SINGLE if self.single_database else StoredFormat(self.mantissa_bytes + 1)

    def layout(self, counts: tuple[int, int]) -> MemoryMap:
        """Return the layout of PE memory; raises InputError where long mantissas do not fit."""
        extra = EXTRA_MEMORY if self.overlapped else ()
        return fitting_map(*counts, extra=extra, value_bytes=self.mantissa_bytes + 1)

    def both_banks(self, config: NodeConfig) -> bool:
        """Whether the database lies in both banks; its EMCs must then be even in number, to take turns."""
        return self.overlapped and config.array.emcs_per_module % 2 == 0

    @property
    def not_counted(self) -> tuple[str, ...]:
        """What is done for no cycles, in words: the ways from and to the GPs."""
        load = self.from_texture and self.load == "direct"
        found = ("database loaded outside the counted run",) * load
        return found + ("results read outside the counted run",) * (self.results == "direct")

    @property
    def raster(self) -> bool:
        """Whether patches are placed in rows, which the computed addresses of the overlapped schedule need."""
        return self.overlapped

    def values(self, patch: Patch) -> np.ndarray:
        """Return the words of a patch in the order in which texture memory holds them: uint32[n]."""
        if self.overlapped:
            return column_values(patch)
        reordered = self.layout(patch.counts).reordered
        if not self.single_database:
            return long_values(patch, self.mantissa_bytes, reordered=reordered)
        return control_values(patch, reordered=reordered)


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
    library = replace(library, mantissa_bytes=method.mantissa_bytes)
    library.include(builder, memory["scratch"].start)
    if method.long:
        emit_conversions(builder, method.mantissa_bytes)
    if work.configure:
        emit_lee(builder, config.array)
    if method.overlapped:
        batches = next(iter(work.stored.values())).batches
        room = config.sdram.rows * config.sdram.columns
        alternate = method.both_banks(config)
        emit_overlapped(builder, memory, work.work, library, work.bases, batches, Banks(room, alternate=alternate))
        fine = None
    else:
        fine = _emit_thesis(builder, work, library, config, method)
    if method.results != "direct":
        emit_return(builder, memory, work.work, config.array, fine)
    return builder.build()


def _emit_thesis(
    builder: Builder, work: PassWork, library: FloatLibrary, config: NodeConfig, method: Method
) -> FineReturn | None:
    """Emit a pass in the order of the thesis, and return how its points went to the GPs if they did."""
    memory = work.memory
    evaluation = Evaluation(memory, work.work, library, select_by_marks(builder, memory), method.stored)
    source: ControlPointSource
    fine = None
    if method.from_texture:
        emit_cleared_ports(builder, work.work)
        emit_addresses(builder, memory, work.work, work.bases, ADDRESS_PLACE)
        batches = batch_count(memory.rows, memory.columns, method.stored.batch_values)
        if method.results == "gp-fine":
            points = [one for one in evaluation.surfaces() if one.surface is Surface.POINT]
            ends = [(one.first + one.rows * one.columns - 1) // method.stored.batch_values for one in points]
            named = list(zip((one.result for one in points), ends, strict=True))
            fine = FineReturn(memory, work.work, config.array, batches, named)
        source = TextureControlPoints(memory, batches, method.sends, fine)
    else:
        numbers = {place.patch: index for index, place in enumerate(work.work.placements)}
        emit_addresses(builder, memory, work.work, numbers, Mem(memory["base_address"].start))
        values = {number: control_values(patch) for number, patch in work.patches.items()}
        source = LeeControlPoints(memory, work.work.placements, values)
    source.emit_start(builder)
    evaluation.load_first(builder)
    emit_surfaces(builder, evaluation, source)
    emit_normals(builder, memory, library)
    if method.long:
        emit_results(builder, memory)
    return fine
