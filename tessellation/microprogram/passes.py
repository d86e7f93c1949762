"""One pass of a tessellation as a program, by either way of the control points and either schedule."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from microcode import Builder, Mem, Program
from pixelflow.config import NodeConfig
from pixelflow.node import AddressMap, Cell
from pixelflow.simd.errors import Fault, InputError, nearest
from tessellation.microprogram.control_points import ControlPointSource, LeeControlPoints
from tessellation.microprogram.gp_traffic import RESULTS, Returned, emit_return
from tessellation.microprogram.kernels import (
    Evaluation,
    emit_addresses,
    emit_conversions,
    emit_lee,
    emit_normals,
    emit_results,
    emit_surfaces,
    select_by_marks,
)
from tessellation.microprogram.libraries import FloatLibrary
from tessellation.microprogram.ports import ADDRESS_PLACE, ARRIVED, emit_cleared_ports
from tessellation.microprogram.shared_columns import Banks, emit_shared_columns, extra_memory
from tessellation.microprogram.texture_source import SENDS, TextureControlPoints
from tessellation.microprogram.write_back import WriteBack, WrittenFloat, WrittenFloats
from tessellation.plan.columns import column_values, point_reads, reads_of
from tessellation.plan.mapping import Pass
from tessellation.plan.memory_map import AXES, MemoryMap, fitting_map
from tessellation.plan.precision import MANTISSAS, SINGLE, StoredFormat, stored_patterns
from tessellation.plan.schedule import point_batches
from tessellation.plan.stages import Stage
from tessellation.plan.texture_layout import Stored
from tessellation.surface.patch import Patch

__all__ = [
    "CACHING_WAYS",
    "CONTROL_POINTS",
    "GP_WAYS",
    "RESULT_WAYS",
    "SCHEDULES",
    "TRANSFERS",
    "Method",
    "PassWork",
    "Plan",
    "WrittenPass",
    "pass_program",
    "schedule_named",
    "write_back",
]

CONTROL_POINTS = ("texture", "lee")
"""Ways of the control points to the PEs: from texture memory, or through the LEE (thesis 3.2's slow alternative)."""

GP_WAYS = ("direct", "gp")
"""Ways of the database: at once, outside the counted run, or from GP memory by executed transfers."""

RESULT_WAYS = (*GP_WAYS, "gp-fine", "gp-coarse", "gp-both")
"""Ways of the results: as GP_WAYS after each pass; points during it (table 11) and normals after it; all of them during
the next pass; or points during it and normals during the next."""

CACHING_WAYS = ("explicit", "base", "alternate")
"""Ways of keeping results in texture memory (appendix B): an address for each word, a base for three PEs, or that with
alternate banks."""

SCHEDULES = ("thesis", "shared-columns")
TRANSFERS = ("beside", "apart")
"""Orders of work: that of table 11, and the one of this project (`shared_columns.py`)."""

_FORMER_SCHEDULES = {"overlapped": "shared-columns"}
"""Names of before, understood for one release."""


_MOST_OF_THESIS, _MOST_SHARED = 6, 4
"""The largest parts in which results leave beside a read, in bytes. From two modules at a time, each to a GP of its
own, or from one to the only GP, a byte takes 1,024 cycles; between two bicubic reads the EMCs work for some 5,700 in
the schedule of the thesis and for 3,000 in that of shared columns."""


def schedule_named(name: str) -> str:
    """Return the name of a schedule for that name or a former one, which is noted; any other name stays as it is."""
    if name in _FORMER_SCHEDULES:
        _note_former(name)
    return _FORMER_SCHEDULES.get(name, name)


@cache
def _note_former(name: str) -> None:
    """Say once that a schedule has another name now."""
    logging.getLogger(__name__.partition(".")[0]).warning(
        "note: schedule %s is called %s now; the former name goes with the next release", name, _FORMER_SCHEDULES[name]
    )


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
    """With a longer mantissa: keep the control values binary32 (appendix A)."""
    load: str = "direct"
    """How the database gets into texture memory."""
    results: str = "direct"
    """How points and normals get back."""
    gps: int | None = None
    """GPs that take results; None is 1 in the schedule of the thesis, and all of a node in that of shared columns."""
    exclusive: bool = False
    """Whether base addresses go to a patch's own square alone (16 cycles a patch, where table 3 has 12)."""
    cache: str | None = None
    """How results are kept in texture memory after a pass; None where they are not."""
    transfers: str = "beside"
    """Whether control values come beside the computation on those before, or apart from it."""
    alternate: bool = True
    """Whether EMCs take turns between banks, where the schedule lets them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "schedule", schedule_named(self.schedule))
        for what, name, known in (
            ("way of the control points", self.control_points, CONTROL_POINTS),
            ("schedule", self.schedule, SCHEDULES),
            ("way of the database", self.load, GP_WAYS),
            ("way of the results", self.results, RESULT_WAYS),
            ("order of transfers", self.transfers, TRANSFERS),
            ("way of caching", self.cache or CACHING_WAYS[0], CACHING_WAYS),
        ):
            if name not in known:
                guess = nearest(name, known)
                raise InputError(Fault(f"unknown {what} {name!r}", hint=f"did you mean {guess}?" if guess else None))
        if self.sends not in SENDS:
            raise InputError(Fault(f"{self.sends} sends per block", hint=f"allowed: {', '.join(map(str, SENDS))}"))
        if self.control_points == "lee" and self.schedule != "thesis":
            raise InputError(Fault("the schedule of shared columns needs control points from texture memory"))
        if self.fine and not self.from_texture:
            raise InputError(Fault("fine-grain results leave beside reads of texture memory, and the LEE reads none"))
        if self.transfers == "apart" and (self.fine or self.coarse or not self.from_texture):
            raise InputError(Fault("transfers apart need control points from texture memory, and nothing beside them"))
        if self.cache is not None and self.coarse:
            raise InputError(Fault("results that leave during the next pass cannot be kept in texture memory"))
        if self.gps is not None and self.results == "direct":
            raise InputError(Fault("results that are read at once go to no GP", hint="choose another way of results"))
        if self.load == "gp" and not self.from_texture:
            raise InputError(Fault("a load from the GPs needs control points from texture memory"))
        if self.mantissa_bytes not in MANTISSAS:
            raise InputError(Fault(f"mantissas of {self.mantissa_bytes} bytes", hint="allowed: 3 to 6"))
        if self.hybrid and not self.long:
            raise InputError(Fault("a hybrid needs mantissas of 4 to 6 bytes for the arithmetic"))

    @property
    def from_texture(self) -> bool:
        """True where control values come from texture memory."""
        return self.control_points == "texture"

    @property
    def to_gps(self) -> bool:
        """True where the results go to the GPs by executed transfers."""
        return self.results != "direct"

    @property
    def fine(self) -> bool:
        """True where the points leave during their own pass."""
        return self.results in ("gp-fine", "gp-both")

    @property
    def coarse(self) -> bool:
        """True where results leave during the next pass."""
        return self.results in ("gp-coarse", "gp-both")

    @property
    def shares_columns(self) -> bool:
        """True for the schedule of this project."""
        return self.schedule == "shared-columns"

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
        size = self.mantissa_bytes + 1
        return fitting_map(*counts, extra=extra_memory(size) if self.shares_columns else (), value_bytes=size)

    def both_banks(self, config: NodeConfig) -> bool:
        """Whether the database lies in both banks; its EMCs must then be even in number, to take turns."""
        return self.alternate and self.shares_columns and config.array.emcs_per_module % 2 == 0

    def returned(self, written: WrittenPass, config: NodeConfig) -> Returned:
        """Return who sends the results of a pass, and where they go."""
        return Returned.of(written.work, self.gps_of(config), written.buffer)

    def gps_of(self, config: NodeConfig) -> int:
        """Return the GPs that take results; raise InputError where the node has not as many."""
        if self.gps is None:
            return config.gni.gp_count if self.shares_columns else 1
        if not 1 <= self.gps <= config.gni.gp_count:
            raise InputError(Fault(f"results to {self.gps} GPs", hint=f"allowed: 1 to {config.gni.gp_count}"))
        return self.gps

    @property
    def not_counted(self) -> tuple[str, ...]:
        """What is done for no cycles, in words: the ways from and to the GPs."""
        load = self.from_texture and self.load == "direct"
        found = ("database loaded outside the counted run",) * load
        return found + ("results read outside the counted run",) * (self.results == "direct")

    @property
    def raster(self) -> bool:
        """Whether patches are placed in rows, which the computed addresses of the schedule of shared columns need."""
        return self.shares_columns

    def values(self, patch: Patch) -> np.ndarray:
        """Return the words of a patch in the order in which texture memory holds them: uint32[n]."""
        reordered = self.layout(patch.counts).reordered
        if self.shares_columns:
            return column_values(patch, self.stored, reordered=reordered)
        return self.stored.packed(stored_patterns(patch, self.stored, reordered=reordered))


@dataclass(frozen=True, slots=True)
class WrittenPass:
    """A pass whose results are written back: where they are in PE memory, and in which area of GP memory they will be.

    ``gone`` of the six floats of a result have been written back during the pass itself.
    """

    memory: MemoryMap
    work: Pass
    buffer: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """A pass and the net size that all its patches have; ``first`` configures the LEE, once a session."""

    memory: MemoryMap
    work: Pass
    first: bool
    before: WrittenPass | None = None
    """The pass whose results are written back during this one."""
    buffer: int = 0
    """The area of GP memory that takes the results."""
    last: bool = True
    """Whether the results have left at the end of the pass; else they do during the next."""

    def written(self, gone: int = 0) -> WrittenPass:
        """Return where the results are, for their write-back."""
        return WrittenPass(self.memory, self.work, self.buffer, gone)


@dataclass(frozen=True, slots=True)
class PassWork:
    """What a pass is to do: its plan, the patches by number, and where their control values are stored."""

    plan: Plan
    patches: Mapping[int, Patch]
    stored: Mapping[int, Stored]

    @property
    def bases(self) -> dict[int, int]:
        """Return the base address of each patch in the module where it is placed."""
        return {place.patch: self.stored[place.patch].base(place.module) for place in self.plan.work.placements}

    @property
    def batches(self) -> int:
        """The size of a patch in texture memory, in units of 32 bytes; 0 where none is stored there."""
        return next((stored.batches for stored in self.stored.values()), 0)


def write_back(work: PassWork, config: NodeConfig, method: Method) -> WriteBack:
    """Return what is written back beside the reads of a pass: its own points, those left over before, or both."""
    plan, memory = work.plan, work.plan.memory
    reads = reads_of(work.batches) if method.shares_columns else work.batches
    before = None
    if plan.before is not None:
        left = tuple(WrittenFloat(plan.before.memory[name].start) for name in RESULTS[plan.before.gone :])
        before = WrittenFloats(method.returned(plan.before, config), left, plan.before.gone)
    own = _points(plan, config, method) if method.fine else None
    if before is not None and own is not None and not _in_time(before, own, reads):
        own = None
    narrow_to = memory["temporaries"].start + 2 * memory.value_bytes if method.long else None
    most = _MOST_SHARED if method.shares_columns else _MOST_OF_THESIS
    apart = method.transfers == "apart"
    return WriteBack(config.array, reads, before, own, most=most, narrow_to=narrow_to, apart=apart)


def _in_time(before: WrittenFloats, own: WrittenFloats, reads: int) -> bool:
    """Return whether the PEs that send can be others at the end of a pass: marks are changed only between reads."""
    return before.sent.columns == own.sent.columns or before.most_parts < reads


def _points(plan: Plan, config: NodeConfig, method: Method) -> WrittenFloats:
    memory = plan.memory
    if method.shares_columns:
        ends = point_reads(memory, method.stored)
    else:
        ends = point_batches(
            memory.rows, memory.columns, reordered=memory.reordered, batch_values=method.stored.batch_values
        )
    # The arithmetic of a batch runs beside the next read, so that its result can leave beside the one after that.
    floats = (WrittenFloat(memory[f"{axis}_point"].start, end + 2) for axis, end in zip(AXES, ends, strict=True))
    return WrittenFloats(method.returned(plan.written(), config), tuple(floats))


def pass_program(work: PassWork, library: FloatLibrary, config: NodeConfig, method: Method) -> Program:
    """Return the program of one pass: both streams, or that of the EIGC alone for control points through the LEE."""
    plan, memory = work.plan, work.plan.memory
    builder = Builder(f"tessellate {memory.rows}x{memory.columns}")
    for use in memory:
        if use.size and use.name != "scratch":
            builder.range(use.name, use.size, at=use.start)
    library = replace(library, mantissa_bytes=method.mantissa_bytes)
    library.include(builder, memory["scratch"].start)
    if method.long:
        emit_conversions(builder, method.mantissa_bytes)
    if plan.first:
        emit_lee(builder, config.array)
    beside = write_back(work, config, method)
    beside.emit_ahead(builder)
    if method.shares_columns:
        room = AddressMap(config.sdram).number(Cell(1, 0, 0))
        banks = Banks(room, alternate=method.both_banks(config))
        emit_shared_columns(builder, memory, plan.work, library, work.bases, work.batches, banks, method.stored, beside)
    else:
        _emit_thesis(builder, work, library, method, beside)
    if method.long:
        emit_results(builder, memory)
    _emit_end(builder, plan, config, method, beside)
    return builder.build()


def _emit_thesis(builder: Builder, work: PassWork, library: FloatLibrary, method: Method, beside: WriteBack) -> None:
    """Emit a pass in the order of the thesis."""
    memory, passed = work.plan.memory, work.plan.work
    evaluation = Evaluation(memory, passed, library, select_by_marks(builder, memory), method.stored)
    source: ControlPointSource
    if method.from_texture:
        emit_cleared_ports(builder, passed)
        emit_addresses(builder, memory, passed, work.bases, ADDRESS_PLACE, exclusive=method.exclusive)
        source = TextureControlPoints(memory, work.batches, method.sends, beside)
    else:
        beside.emit_alone(builder)
        numbers = {place.patch: index for index, place in enumerate(passed.placements)}
        emit_addresses(builder, memory, passed, numbers, Mem(memory["base_address"].start))
        values = {
            number: stored_patterns(patch, method.stored, reordered=memory.reordered)
            for number, patch in work.patches.items()
        }
        source = LeeControlPoints(memory, passed.placements, values, method.stored)
    source.emit_start(builder)
    evaluation.load_first(builder)
    emit_surfaces(builder, evaluation, source)
    emit_normals(builder, memory, library)


def _emit_end(builder: Builder, plan: Plan, config: NodeConfig, method: Method, beside: WriteBack) -> None:
    """Emit the way of the results that have not left, unless they leave during the next pass."""
    if not method.to_gps:
        return
    if not plan.last:
        if beside.rest:
            builder.mark(Stage.RETURN.value)
            builder.emit("WAIT", ARRIVED)
        return
    sent = method.returned(plan.written(), config)
    emit_return(builder, plan.memory, sent, config.array, gone=beside.own_floats, wait=beside.rest)
