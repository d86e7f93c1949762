"""Control values from texture memory, fetched by the TASICs while the EMCs compute (thesis 3.5 and 4.1.3).

Both streams shake hands twice for every batch. The EIGC signals FREE when it has copied a batch out of the ports (for
the first one: when addresses and marks are in place); the TIGC then reads the next batch and signals ARRIVED. So the
transfer of a batch runs beside the distribution and the arithmetic of the one before, and the first one beside the load
of Bernstein values.

Sends per block: the TASICs send a batch to the first of every 16 / S PEs of a block, and PixCopy takes it on from
there: over 8, 4, 2 and 1 PEs for one send, only over 2 and 1 for the thesis's four (table 6).
"""

from __future__ import annotations

from microcode import Builder, Mem
from pixelflow.isa import Addressing
from pixelflow.simd.errors import Fault, InputError
from tessellation.microprogram.ports import emit_copy_out
from tessellation.microprogram.write_back import WriteBack, emit_arrival, emit_freed, emit_start, emit_transfers
from tessellation.plan.memory_map import BATCH_BYTES, MemoryMap
from tessellation.plan.stages import Stage
from tessellation.plan.texture_layout import SENDS

__all__ = ["SENDS", "TextureControlPoints", "copy_distances"]

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
        emit_copy_out(builder, BATCH_BYTES)
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
