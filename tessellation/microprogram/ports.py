"""The local ports of the PEs between both streams: semaphores, copies in and out, and what lies where in them."""

from __future__ import annotations

from microcode import Builder, Mem, Register
from pixelflow.isa import INPUT_PORT, OUTPUT_PORT
from tessellation.plan.mapping import Pass
from tessellation.plan.stages import Stage

__all__ = [
    "ADDRESS_PLACE",
    "ARRIVED",
    "FREE",
    "PORT_START",
    "emit_cleared_ports",
    "emit_copy",
    "emit_copy_out",
    "emit_into_port",
]

FREE, ARRIVED = 0, 1
"""Semaphores: the ports may be used by the TASICs; a batch is in the ports."""

ADDRESS_PLACE = Mem(OUTPUT_PORT)
"""The base address lies in the first bytes of the output port, from which PEs send it."""

PORT_START = 4
"""Where results begin in the output port: past the base address, as TAS_MemRdGp4 wants it."""


def emit_copy(builder: Builder, source: Mem, target: Mem, size: int) -> None:
    """Emit the copy of bytes within PE memory, 2 cycles each."""
    for index in range(size):
        builder.emit("LD", Register.R, source[index])
        builder.emit("ST", target[index], Register.R)


def emit_into_port(builder: Builder, place: int, start: int, size: int) -> None:
    """Emit the copy of a float into the output port; ``start`` is its first byte among a PE's results."""
    emit_copy(builder, Mem(place), Mem(OUTPUT_PORT + PORT_START + start), size)


def emit_copy_out(builder: Builder, size: int) -> None:
    """Emit the routine that copies the first bytes of the input port to where its argument says, 1 + 2 a byte."""
    with builder.routine("copy_out", ("to",)) as (to,):
        emit_copy(builder, Mem(INPUT_PORT), to, size)


def emit_cleared_ports(builder: Builder, work: Pass) -> None:
    """Emit address 0 for all PEs where no patch covers the whole array, so that PEs of no patch have one, 5 cycles."""
    if not any(placement.x == placement.y == 0 for placement in work.placements):
        builder.mark(Stage.MARKS.value)
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeIntoMem_Li", ADDRESS_PLACE, 3, 0, 0, 0)
