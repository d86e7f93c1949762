"""Control values from texture memory, fetched by the TASICs while the EMCs compute (thesis 3.5 and 4.1.3).

Both streams shake hands twice for every batch. The EIGC signals FREE when it has copied a batch out of the ports (for
the first one: when addresses and marks are in place); the TIGC then reads the next batch and signals ARRIVED. So the
transfer of a batch runs beside the distribution and the arithmetic of the one before, and the first one beside the load
of Bernstein values.

Sends per block: the TASICs send a batch to the first of every 16 / S PEs of a block, and PixCopy takes it on from
there: over 8, 4, 2 and 1 PEs for one send, only over 2 and 1 for the thesis's four (table 6).
"""

from __future__ import annotations

from typing import Protocol

from microcode import Builder, Mem, Register
from pixelflow.isa import INPUT_PORT, OUTPUT_PORT, Addressing
from pixelflow.simd.errors import Fault, InputError
from tessellation.mapping import Pass
from tessellation.memory_map import BATCH_BYTES, MemoryMap
from tessellation.stages import Stage

__all__ = [
    "ADDRESS_PLACE",
    "ARRIVED",
    "FREE",
    "SENDS",
    "Beside",
    "TextureControlPoints",
    "copy_distances",
    "emit_cleared_ports",
    "emit_copy_out",
    "emit_taken",
]

FREE, ARRIVED = 0, 1
"""Semaphores: the ports may be used by the TASICs; a batch is in the ports."""

SENDS = (16, 8, 4, 2, 1)
"""Sends per block of table 6."""

ADDRESS_PLACE = Mem(OUTPUT_PORT)
"""The base address lies in the first bytes of the output port, from which PEs send it."""

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


def emit_cleared_ports(builder: Builder, work: Pass) -> None:
    """Emit address 0 for all PEs where no patch covers the whole array, so that PEs of no patch have one, 5 cycles."""
    if not any(placement.x == placement.y == 0 for placement in work.placements):
        builder.mark(Stage.MARKS.value)
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeIntoMem_Li", ADDRESS_PLACE, 3, 0, 0, 0)


def emit_crossbar(builder: Builder, words: int) -> None:
    """Emit the set-up of the address generator: counter bit k becomes address bit 2 + k, for a run of ``words``."""
    for bit in range((words - 1).bit_length()):
        builder.emit("TAS_SetCrossbar", 2 + bit, bit)


def emit_taken(builder: Builder, to: Mem, size: int) -> None:
    """Emit the copy of the first bytes of the input port, 2 cycles each."""
    for index in range(size):
        builder.emit("LD", Register.R, Mem(INPUT_PORT + index))
        builder.emit("ST", to[index], Register.R)


def emit_copy_out(builder: Builder, size: int) -> None:
    """Emit the routine that copies the first bytes of the input port to where its argument says, 1 + 2 a byte."""
    with builder.routine("copy_out", ("to",)) as (to,):
        emit_taken(builder, to, size)


class Beside(Protocol):
    """What leaves the PEs while batches come in; all of it uses the time in which the TASICs have the ports."""

    @property
    def rest(self) -> bool:
        """Whether something leaves after the last batch."""

    def emit_start(self, builder: Builder) -> None:
        """Emit the marks of the PEs that send."""

    def emit_way(self, builder: Builder, read: int) -> None:
        """Emit where goes what leaves beside a batch, in the TIGC's stream."""

    def emit_read(self, builder: Builder, read: int, instruction: str, *operands: int) -> bool:
        """Emit an instruction that reads and sends in the TIGC's stream if something leaves beside it, else return
        False; ``operands`` are the instruction's first."""

    def emit_into_port(self, builder: Builder, read: int) -> None:
        """Emit copies into the output port, once a batch has been taken out of the input port."""

    def emit_rest(self, builder: Builder) -> None:
        """Emit what leaves after the last batch, in the TIGC's stream, with its handshake."""


class TextureControlPoints:
    """Batches of 32 bytes by TAS_MemRdRepeat4, spread by PixCopy (table 6)."""

    def __init__(self, memory: MemoryMap, batches: int, sends: int = 4, beside: Beside | None = None) -> None:
        if sends not in SENDS:
            raise InputError(Fault(f"{sends} sends per block", hint=f"allowed: {', '.join(map(str, SENDS))}"))
        self._place = memory["control_points"].start
        self._batches = batches
        self._sends = sends
        self._beside = beside

    def emit_start(self, builder: Builder) -> None:
        """Emit marks, the routine that empties the ports, and the whole stream of the TIGC."""
        emit_copy_out(builder, BATCH_BYTES)
        emit_marks(builder, self._sends)
        if self._beside is not None:
            self._beside.emit_start(builder)
        builder.emit("SIGNAL", FREE)
        builder.stream("tigc")
        emit_crossbar(builder, self._batches)
        for batch in range(self._batches):
            builder.mark(Stage.PORTS.value)
            builder.emit("TAS_SetCounter", batch)
            if self._beside is not None:
                self._beside.emit_way(builder, batch)
            builder.emit("WAIT", FREE)
            builder.mark(Stage.read(batch + 1))
            if self._beside is None or not self._beside.emit_read(builder, batch, "TAS_MemRdGp4", self._sends):
                builder.emit("TAS_MemRdRepeat4", self._sends, int(Addressing.BASE))
            builder.emit("SIGNAL", ARRIVED)
        if self._beside is not None:
            self._beside.emit_rest(builder)
        builder.stream("eigc")

    def emit_batch(self, builder: Builder, batch: int) -> None:
        """Emit: wait, copy 32 bytes out of the port (65 cycles), let the next transfer begin, spread (table 6)."""
        builder.mark((Stage.STALL if batch else Stage.FIRST_STALL).value)
        builder.emit("WAIT", ARRIVED)
        builder.mark(Stage.COPY.value)
        if batch == 0:
            builder.emit("EMC_SetEnab")
        builder.call("copy_out", Mem(self._place))
        rest = False
        if self._beside is not None:
            self._beside.emit_into_port(builder, batch)
            rest = self._beside.rest
        if batch + 1 < self._batches or rest:
            builder.emit("SIGNAL", FREE)
        builder.mark(Stage.DISTRIBUTION.value)
        place = Mem(self._place)
        for distance in copy_distances(self._sends):
            builder.emit("EMC_PixCopy", place, place, BATCH_BYTES, distance)
