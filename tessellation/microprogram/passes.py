"""One pass of a tessellation as a program, by either way of the control points and either schedule."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import microcode
from microcode import Mem, Program
from microcode.kept import DECIDING, Included, kept_program
from pixelflow.config import NodeConfig
from pixelflow.isa import Addressing
from pixelflow.node import AddressMap, Cell
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.store import digest_of, key_of
from tessellation.microprogram import ports, stage_code
from tessellation.microprogram.fixed_sums import emit_fixed_sums
from tessellation.microprogram.gp_traffic import emit_return
from tessellation.microprogram.method import (
    FloatLibrary,
    Method,
    WrittenPass,
)
from tessellation.microprogram.shared_columns import Banks, Columns, emit_shared_columns, emit_way
from tessellation.microprogram.write_back import (
    WriteBack,
    WrittenFloat,
    WrittenFloats,
    emit_arrival,
    emit_freed,
    emit_start,
    emit_transfers,
)
from tessellation.plan.fixed import fixed_bytes, fixed_transfers
from tessellation.plan.mapping import Pass
from tessellation.plan.memory_map import AXES, BATCH_BYTES, RESULTS, MemoryMap
from tessellation.plan.schedule import SHARE_BYTES, Stage, point_batches, point_reads, reads_of, stored_patterns
from tessellation.plan.texture_layout import SENDS, Stored
from tessellation.surface.patch import Patch

if TYPE_CHECKING:  # a kept program is found without the assembler
    from microcode import Builder

# Control values from texture memory, fetched by the TASICs while the EMCs compute (thesis 3.5 and 4.1.3).
#
# The streams synchronise twice for every batch. The EIGC signals FREE when it has copied a batch out of the ports (for
# the first one: when addresses and marks are in place); the TIGC then reads the next batch and signals ARRIVED. So a
# batch is transferred during the distribution and the arithmetic of the one before, and the first one during the load
# of Bernstein values.
#
# Sends per block: the TASICs send a batch to the first of every 16 / S PEs of a block, and PixCopy spreads it: over 8,
# 4, 2 and 1 PEs for one send, only over 2 and 1 for the thesis's four (table 6).


# The LEE compares that leave the first of every 16 / S PEs of a block: PE = 4 (x mod 4) + y mod 4, so the last bits of
# the PE are those of y. A coefficient of 256 / n makes the low byte zero where the coordinate is a multiple of n.
_FIRST_OF_GROUP = {
    16: (),
    8: ((0, 128),),
    4: ((0, 64),),
    2: ((0, 64), (128, 0)),
    1: ((0, 64), (64, 0)),
}


def copy_distances(sends: int) -> tuple[int, ...]:
    """Return the distances of the PixCopies that spread a batch over a block, in their order."""
    distances = []
    distance = 8 // sends
    while distance:
        distances.append(distance)
        distance //= 2
    return tuple(distances)


def emit_marks(builder: Builder, sends: int) -> None:
    """Emit the marks for reading by LEE compares: 2 cycles, and 2 for each of up to two compares."""
    builder.mark(Stage.MARKS.value)
    builder.emit("EMC_SetEnab")
    for a, b in _FIRST_OF_GROUP[sends]:
        builder.emit("EMC_TreeEQZero_Li", 0, 1, a, b, 0)
    builder.emit("EMC_MarkRead")


class TextureControlPoints:
    """Batches of 32 bytes by TAS_MemRdRepeat4, spread by PixCopy (table 6)."""

    def __init__(self, memory: MemoryMap, batches: int, sends: int = 4, write_back: WriteBack | None = None) -> None:
        if sends not in SENDS:
            raise InputError(Fault(f"{sends} sends per block", hint=f"allowed: {', '.join(map(str, SENDS))}"))
        self._place = Mem(memory["control_points"].start)
        self._batches = batches
        self._sends = sends
        self._write_back = WriteBack() if write_back is None else write_back

    def emit_start(self, builder: Builder) -> None:
        """Emit marks, the routine that empties the ports, and the whole stream of the TIGC."""
        ports.emit_copy_out(builder, BATCH_BYTES)
        emit_marks(builder, self._sends)
        emit_start(builder, self._write_back)
        builder.stream("tigc")
        for bit in range((self._batches - 1).bit_length()):
            builder.emit("TAS_SetCrossbar", 2 + bit, bit)
        read = ("TAS_MemRdRepeat4", self._sends, int(Addressing.BASE))
        emit_transfers(builder, self._batches, self._write_back, read, ("TAS_MemRdGp4", self._sends))

    def emit_batch(self, builder: Builder, batch: int) -> None:
        """Emit: wait, copy 32 bytes out of the port (65 cycles), let the next transfer begin, spread (table 6)."""
        emit_arrival(builder, batch, self._write_back)
        builder.call("copy_out", self._place)
        emit_freed(builder, batch, self._batches, self._write_back)
        for distance in copy_distances(self._sends):
            builder.emit("EMC_PixCopy", self._place, self._place, BATCH_BYTES, distance)


_MOST_OF_THESIS, _MOST_SHARED = 6, 4
"""The largest parts of results that leave during a read, in bytes. From two modules at a time, each to a separate GP,
or from one to the only GP, a byte takes 1,024 cycles; between two bicubic reads the EMCs work for some 5,700 in the
schedule of the thesis and for 3,000 in that of shared columns."""


class Plan(NamedTuple):
    """A pass of patches of one net size; the ``first`` of a session configures the LEE."""

    memory: MemoryMap
    work: Pass
    first: bool
    before: WrittenPass | None = None
    """The pass whose results are written back during this one."""
    buffer: int = 0
    """The area of GP memory that takes the results."""
    last: bool = True
    """True if the results leave by the end of the pass; otherwise they leave during the next."""
    fixed: bool = False
    """True if its sums are in fixed point."""
    keeps: ports.KeptPass | None = None
    """Results of the pass before that this pass writes to texture memory."""
    taken: bool = False
    """True if the caller moves the results after the pass."""

    def written(self, gone: int = 0) -> WrittenPass:
        """Return the place of the results, for their write-back."""
        return WrittenPass(self.memory, self.work, self.buffer, gone)


class PassWork(NamedTuple):
    """The work of a pass: its plan, the patches by number, and the places of their control values."""

    plan: Plan
    patches: Mapping[int, Patch]
    stored: Mapping[int, Stored]

    @property
    def bases(self) -> dict[int, int]:
        """The base address of each patch in the modules where it is placed, the same in all of these."""
        found = {}
        for place in self.plan.work.placements:
            (found[place.patch],) = {self.stored[place.patch].base(module) for module in place.modules}
        return found

    @property
    def batches(self) -> int:
        """The size of a patch in texture memory, in units of 32 bytes; 0 if none is stored there."""
        return next((stored.batches for stored in self.stored.values()), 0)

    def trims(self, method: Method) -> stage_code.Trims:
        """Return the trims of its patches."""
        polygons = {number: method.trimmed(patch, number) for number, patch in self.patches.items()}
        trimmed = {number: polygon for number, polygon in polygons.items() if polygon is not None}
        return stage_code.Trims(self.plan.memory, self.plan.work, trimmed)


def write_back(work: PassWork, config: NodeConfig, method: Method) -> WriteBack:
    """Return the plan of what leaves during the reads of a pass: its own points, results of the pass before, or
    both.
    """
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
    keeping = ports.Keeping(plan.keeps)
    return WriteBack(config.array, reads, before, own, most=most, narrow_to=narrow_to, apart=apart, keeping=keeping)


def _in_time(before: WrittenFloats, own: WrittenFloats, reads: int) -> bool:
    """Return True if the pass's own PEs can be marked in time: marks change only between reads."""
    return before.sent.columns == own.sent.columns or before.most_parts < reads


def _points(plan: Plan, config: NodeConfig, method: Method) -> WrittenFloats:
    memory = plan.memory
    if method.shares_columns:
        ends = point_reads(memory, method.stored)
    else:
        ends = point_batches(
            memory.rows, memory.columns, reordered=memory.reordered, batch_values=method.stored.batch_values
        )
    # The arithmetic of a batch runs during the next read, so its result can leave during the one after that.
    floats = (WrittenFloat(memory[f"{axis}_point"].start, end + 2) for axis, end in zip(AXES, ends, strict=True))
    return WrittenFloats(method.returned(plan.written(), config), tuple(floats))


def pass_program(work: PassWork, library: FloatLibrary, config: NodeConfig, method: Method) -> Program:
    """Return the program of one pass: both streams, or that of the EIGC alone for control points through the LEE.

    Those that the next process often needs again are kept in the store: the first of a session, and the only one of a
    frame.
    """

    def make() -> tuple[Program, list[Included]]:
        builder = _pass_builder(work, library, config, method)
        return builder.build(), builder.included_files

    plan = work.plan
    if not (plan.first or (plan.last and plan.before is None)):
        return make()[0]
    code = digest_of("tessellation", "pixelflow.isa", "pixelflow.node", "pixelflow.config", *DECIDING)
    return kept_program(key_of(code, __file__, pickle.dumps((work, library, config, method))), make)


def _pass_builder(work: PassWork, library: FloatLibrary, config: NodeConfig, method: Method) -> Builder:
    """Return the builder of a pass's program."""
    plan, memory = work.plan, work.plan.memory
    builder = microcode.Builder(f"tessellate {memory.rows}x{memory.columns}")
    library = library._replace(mantissa_bytes=method.mantissa_bytes)
    library.include(builder, memory["scratch"].start)  # first, as one that is kept begins a draft
    for use in memory:
        if use.size and use.name != "scratch":
            builder.range(use.name, use.size, at=use.start)
    if method.long:
        stage_code.emit_conversions(builder, method.mantissa_bytes)
    if plan.first:
        stage_code.emit_lee(builder, config.array)
    beside = write_back(work, config, method)
    trims = work.trims(method)
    beside.emit_ahead(builder)
    beside.keeping.emit_ahead(builder)
    if method.shares_columns:
        room = int(AddressMap(config.sdram).number(Cell(1, 0, 0)))
        banks = Banks(room, alternate=method.both_banks(config))
        passed, bases, batches = plan.work, work.bases, work.batches
        if plan.fixed:
            select = emit_way(builder, memory, passed, bases, batches, banks)
            floats = library if method.normals == "float" else None
            columns = _fixed_columns(memory, banks, beside, trims)
            emit_fixed_sums(builder, memory, passed.sizes[0], floats, select, columns, beside.keeping)
        else:
            stored = method.stored
            emit_shared_columns(builder, memory, passed, library, bases, batches, banks, stored, beside, trims)
    else:
        _emit_thesis(builder, work, library, method, beside, trims)
    if method.long:
        stage_code.emit_results(builder, memory)
    trims.emit_marks(builder)
    beside.keeping.emit_end(builder)
    _emit_end(builder, plan, config, method, beside)
    return builder


def _fixed_columns(memory: MemoryMap, banks: Banks, beside: WriteBack, trims: stage_code.Trims) -> Columns:
    """Return the way of control values in fixed point: the transfers one after the other in PE memory."""
    transfers = fixed_transfers()
    last = fixed_bytes() - (transfers - 1) * SHARE_BYTES
    return Columns(memory["control_points"].start, transfers, last, banks.alternate, beside, trims, apart=SHARE_BYTES)


def _emit_thesis(
    builder: Builder, work: PassWork, library: FloatLibrary, method: Method, beside: WriteBack, trims: stage_code.Trims
) -> None:
    """Emit a pass in the order of the thesis."""
    memory, passed = work.plan.memory, work.plan.work
    evaluation = stage_code.Evaluation(
        memory, passed, library, stage_code.select_by_marks(builder, memory), method.stored
    )
    source: ports.ControlPointSource
    if method.from_texture:
        ports.emit_cleared_ports(builder, passed)
        stage_code.emit_addresses(builder, memory, passed, work.bases, ports.ADDRESS_PLACE, exclusive=method.exclusive)
        source = TextureControlPoints(memory, work.batches, method.sends, beside)
    else:
        beside.emit_alone(builder)
        builder.stream("tigc")
        beside.keeping.emit_writes(builder)
        builder.stream("eigc")
        beside.keeping.emit(builder, ports.Chance.READ, Stage.ADDRESSES)
        numbers = {place.patch: index for index, place in enumerate(passed.placements)}
        stage_code.emit_addresses(builder, memory, passed, numbers, Mem(memory["base_address"].start))
        values = {
            number: stored_patterns(patch, method.stored, reordered=memory.reordered)
            for number, patch in work.patches.items()
        }
        source = ports.LeeControlPoints(memory, passed.placements, values, method.stored)
    source.emit_start(builder)
    evaluation.load_first(builder)
    trims.emit_crossings(builder)
    stage_code.emit_surfaces(builder, evaluation, source, beside.keeping)
    stage_code.emit_normals(builder, memory, library, beside.keeping)


def _emit_end(builder: Builder, plan: Plan, config: NodeConfig, method: Method, beside: WriteBack) -> None:
    """Emit the way of the remaining results, unless they leave during the next pass."""
    if not method.to_gps:
        return
    if not plan.last or plan.taken:
        if beside.rest:
            builder.mark(Stage.RETURN.value)
            builder.emit("WAIT", ports.ARRIVED)
        return
    sent = method.returned(plan.written(), config)
    emit_return(builder, plan.memory, sent, config.array, gone=beside.own_floats, wait=beside.rest)
