"""A schedule of this project: the same machine, the same operations, the same bits, about a third of the cycles.

Differences from the schedule of the thesis, in the order of what they save:

1. *Columns are shared.* A point is the sum over j of B_j(v) times the sum over i of B_i(u) b_ij. The inner sums depend
   on u alone, and four neighbouring PEs of a block have the same u; the thesis lets each of them compute all inner
   sums. Here PE y of the four computes that of column j = y (of each group of four columns), and PixSwap and PixCopy
   hand the sums around. A bicubic sample then takes 75 multiplications and 53 additions instead of 162 and 116. Every
   operation that remains has the operands that it had, so all bits are those of the thesis's order of work.
2. *Addresses are computed.* If the patches of a pass are side by side in texture memory, in rows on the array, base
   addresses are linear in x and y, and a LEE load gives them to a whole module at a time, in place of 12 cycles a
   patch. No size marks are needed then, because a LEE compare finds the sample. Otherwise the load of table 3 is used.
3. *PEs get only their own columns*, a quarter of the control values. TAS_MemRdBlock8 serves two PEs of a block, y = 0
   and y = 2, with one access of 8 bytes to each SDRAM. Each gets four values of its column and four for the PE below;
   of the last transfer only the used bytes are copied and spread.
4. *Banks alternate.* Every patch is stored in both banks, as 3.5 suggests; the EMCs of a module, which are served one
   after the other, ask for them in turn. An access of 8 bytes then takes 8 cycles and not 15 (table 2).
5. *The first transfer begins at once*, and is the shortest that brings a whole coordinate of a bicubic net.

The stall of the first transfer remains: any work to fill it would need its data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from microcode import Imm, Mem, Register
from pixelflow.isa import INPUT_PORT, Addressing
from tessellation.microprogram import stage_code
from tessellation.microprogram.method import FloatLibrary
from tessellation.microprogram.ports import ADDRESS_PLACE, Chance, emit_cleared_ports, emit_copy, emit_copy_out
from tessellation.microprogram.write_back import WriteBack, emit_arrival, emit_freed, emit_start, emit_transfers
from tessellation.plan.mapping import BLOCK_SIDE, Pass
from tessellation.plan.memory_map import MemoryMap
from tessellation.plan.schedule import SHARE_BYTES, Stage, StoredFormat, SurfaceWork, groups_of, reads_of, share_values
from tessellation.plan.texture_layout import slot_bytes

if TYPE_CHECKING:  # a kept program is found without the assembler
    from microcode import Builder

_SLOTS = (0, 2, 1, 3)
"""Slot of each of four columns after the exchange."""


class Banks(NamedTuple):
    """Bytes of one bank of an SDRAM, and True if patches are in both, so that accesses can alternate."""

    bytes_each: int
    alternate: bool


class _Row(NamedTuple):
    """Patches side by side whose base addresses are a * x + b * y + c for all y starting at ``y``."""

    y: int
    a: int
    b: int
    c: int


def _computed(work: Pass, bases: Mapping[int, int], slot: int, limit: int) -> list[_Row] | None:
    """Return the addresses of a pass as linear functions, from top to bottom, or None if they are not regular.

    ``slot`` is the distance of two patches in each SDRAM, ``limit`` one past the last byte of the bank. Only the first
    PE of each block sends its address.
    """
    if len(work.sizes) != 1:
        return None
    side = work.placements[0].side
    by_y: dict[int, dict[int, int]] = {}
    for place in work.placements:
        by_y.setdefault(place.y, {})[place.x] = bases[place.patch]
    a = slot // side
    rows: list[_Row] = []
    for y in sorted(by_y):
        row = by_y[y]
        first = row.get(0)
        if first is None or any(base != first + a * x or x // side >= len(row) for x, base in row.items()):
            return None
        b = slot * len(row) // BLOCK_SIDE if side == BLOCK_SIDE else 0
        above = rows[-1] if rows else None
        if above is not None and above.b and above.b * y + above.c == first:
            continue
        rows.append(_Row(y, a, b, first - b * y))
    # Blocks without a patch compute addresses too, which must exist.
    if any(row.c + row.a * 127 + row.b * (row.y + 15) + slot > limit for row in rows):
        return None
    return rows


def _emit_computed(builder: Builder, rows: list[_Row], slot: int, side: int) -> None:
    """Emit the load of computed addresses: 5 to 7 cycles a piece; for patches of several blocks up to 5 more in all."""
    builder.mark(Stage.ADDRESSES.value)
    for row in rows:
        builder.emit("EMC_SetEnab")
        if row.y:
            builder.emit("EMC_TreeGEZero_Li", 0, 1, 0, 1, -row.y)
        builder.emit("EMC_TreeIntoMem_Li", ADDRESS_PLACE, 3, row.a, row.b, row.c)
    if side == BLOCK_SIDE:
        return
    # All blocks of a patch share its address: clear what their x adds.
    builder.emit("EMC_SetEnab")
    kept = ~(slot - 1)
    for index in range(3):
        byte, mask = Mem(ADDRESS_PLACE.offset + index), kept >> 8 * index & 0xFF
        if mask == 0:
            builder.emit("STI", byte, Imm(0))
        elif mask != 0xFF:
            builder.emit("LD", Register.R, byte)
            builder.emit("AND", Register.R, Imm(mask))
            builder.emit("ST", byte, Register.R)


def _emit_banks(builder: Builder, banks: Banks) -> None:
    """Emit the second bank for the addresses of the odd EMCs, those with bit 4 of x set: 6 cycles."""
    index, bit = divmod(banks.bytes_each.bit_length() - 1, 8)
    builder.emit("EMC_SetEnab")
    builder.emit("EMC_TreeLTZero_Li", 0, 1, 8, 0, 0)
    byte = Mem(ADDRESS_PLACE.offset + index)
    builder.emit("LD", Register.R, byte)
    builder.emit("OR", Register.R, Imm(1 << bit))
    builder.emit("ST", byte, Register.R)


def _select_by_place(builder: Builder, side: int) -> stage_code.Selector:
    """Return the selector for passes of one size: a LEE compare of the coordinate modulo the side, 1 + 2 cycles."""

    def select(direction: int, samples: int, index: int) -> None:
        coefficient = 256 // side
        along = (0, coefficient) if direction else (coefficient, 0)
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeEQZero_Li", 0, 1, *along, -coefficient * index)

    return select


@dataclass(slots=True)
class Columns:
    """The way of the values to the PEs: transfers of 16 bytes for each."""

    place: int
    transfers: int
    last_bytes: int
    """Bytes of the last transfer for a PE."""
    alternate: bool
    write_back: WriteBack
    trims: stage_code.Trims
    """Counted during the first transfer."""
    apart: int = 0
    """Distance of transfers in PE memory; 0 if each takes the place of the one before."""

    def emit_start(self, builder: Builder) -> None:
        """Emit marks, for PEs y = 0 and y = 2 of the first column of every block, and the stream of the TIGC."""
        emit_copy_out(builder, SHARE_BYTES)
        builder.mark(Stage.MARKS.value)
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeEQZero_Li", 0, 1, 0, 128, 0)
        builder.emit("EMC_TreeEQZero_Li", 0, 1, 64, 0, 0)
        builder.emit("EMC_MarkRead")
        emit_start(builder, self.write_back)
        builder.stream("tigc")
        builder.emit("TAS_SetOrder", 0)
        builder.emit("TAS_SetBanks", int(self.alternate))
        for bit in range((self.transfers - 1).bit_length()):
            builder.emit("TAS_SetCrossbar", 3 + bit, bit)
        read = ("TAS_MemRdBlock8", int(Addressing.BASE))
        emit_transfers(builder, self.transfers, self.write_back, read, ("TAS_MemRdGp8",))
        self.trims.emit_crossings(builder)

    def emit_next(self, builder: Builder, number: int) -> None:
        """Emit: wait, take the PE's own values and those for the PE below, start the next transfer, spread."""
        emit_arrival(builder, number, self.write_back)
        place = Mem(self.place + number * self.apart)
        size = self.last_bytes if number + 1 == self.transfers else SHARE_BYTES
        if size == SHARE_BYTES:
            builder.call("copy_out", place)
        else:
            emit_copy(builder, Mem(INPUT_PORT), place, size)
        builder.emit("EMC_PixCopy", place, Mem(INPUT_PORT + SHARE_BYTES), size, 1)
        emit_freed(builder, number, self.transfers, self.write_back)
        for distance in (8, 4):
            builder.emit("EMC_PixCopy", place, place, size, distance)


def _emit_surfaces(builder: Builder, evaluation: stage_code.Evaluation, columns: Columns) -> None:
    numbers = count()
    keeping, surfaces = columns.write_back.keeping, list(evaluation.surfaces())
    for work in surfaces:
        evaluation.load_for(builder, work)
        for group in range(groups_of(work.columns)):
            _emit_inner(builder, evaluation, columns, work, numbers)
            start, size = evaluation.memory["columns"].start, evaluation.memory.value_bytes
            stage_code.emit_exchange(builder, start, size, min(BLOCK_SIDE, work.columns - group * BLOCK_SIDE))
            if work is surfaces[-1] and group == groups_of(work.columns) - 1:
                keeping.emit(builder, Chance.AMIDST, Stage.EXCHANGE)
            builder.mark(stage_code.stage_of(work).value)
            _emit_outer(builder, evaluation, work, group)


def _emit_inner(
    builder: Builder, evaluation: stage_code.Evaluation, columns: Columns, work: SurfaceWork, numbers: Iterator[int]
) -> None:
    """Emit the sum over the rows of each PE's column."""
    memory, library, stored = evaluation.memory, evaluation.library, evaluation.stored
    size = memory.value_bytes
    _, product, longer = (Mem(memory["temporaries"].start + index * size) for index in range(3))
    total, in_u = Mem(memory["columns"].start), memory[work.surface.bernstein[0]].start
    builder.mark(stage_code.stage_of(work).value)
    for i in range(work.rows):
        read, place = divmod(next(numbers), stored.fitting(SHARE_BYTES))
        if place == 0:
            columns.emit_next(builder, read)
            builder.mark(stage_code.stage_of(work).value)
        value = evaluation.widened(builder, Mem(memory["control_points"].start + place * stored.value_bytes), longer)
        library.multiply_add(builder, total, Mem(in_u + i * size), value, product, first=i == 0)


def _emit_outer(builder: Builder, evaluation: stage_code.Evaluation, work: SurfaceWork, group: int) -> None:
    """Emit the sum over up to four columns, in the order of the thesis's evaluation."""
    memory, library = evaluation.memory, evaluation.library
    size = memory.value_bytes
    product = Mem(memory["temporaries"].start + size)
    result, in_v = Mem(memory[work.result].start), memory[work.surface.bernstein[1]].start
    for j in range(group * BLOCK_SIDE, min(work.columns, (group + 1) * BLOCK_SIDE)):
        column = Mem(memory["columns"].start + _SLOTS[j % BLOCK_SIDE] * size)
        library.multiply_add(builder, result, Mem(in_v + j * size), column, product, first=j == 0)


def emit_way(
    builder: Builder, memory: MemoryMap, work: Pass, bases: Mapping[int, int], batches: int, banks: Banks
) -> stage_code.Selector:
    """Emit the load of base addresses, computed if they are regular; return the matching selector of samples."""
    slot = slot_bytes(batches) >> 3
    side = work.placements[0].side
    rows = _computed(work, bases, slot, banks.bytes_each)
    emit_cleared_ports(builder, work)
    if rows is None:
        select = stage_code.select_by_marks(builder, memory)
        stage_code.emit_addresses(builder, memory, work, bases, ADDRESS_PLACE)
    else:
        select = _select_by_place(builder, side)
        _emit_computed(builder, rows, slot, side)
    if banks.alternate:
        _emit_banks(builder, banks)
    return select


def emit_shared_columns(
    builder: Builder,
    memory: MemoryMap,
    work: Pass,
    library: FloatLibrary,
    bases: Mapping[int, int],
    batches: int,
    banks: Banks,
    stored: StoredFormat,
    write_back: WriteBack,
    trims: stage_code.Trims,
) -> None:
    """Emit a pass; ``batches`` is the size of a patch in texture memory, in units of 32 bytes."""
    select = emit_way(builder, memory, work, bases, batches, banks)
    evaluation = stage_code.Evaluation(memory, work, library, select, stored)
    transfers = reads_of(batches)
    left = share_values(memory) - (transfers - 1) * stored.fitting(SHARE_BYTES)
    place = memory["control_points"].start
    columns = Columns(place, transfers, left * stored.value_bytes, banks.alternate, write_back, trims)
    columns.emit_start(builder)
    evaluation.load_first(builder)
    _emit_surfaces(builder, evaluation, columns)
    stage_code.emit_normals(builder, memory, library, write_back.keeping)
