"""Instructions between the PEs of a panel, and the marks that let PEs take part in texture transfers."""

from __future__ import annotations

from pixelflow.isa.declarations import PANEL_PES, Family
from pixelflow.isa.emc import INSTRUCTIONS
from pixelflow.isa.operands import MEMORY
from pixelflow.simd.isa.declare import Declares, Step
from pixelflow.simd.isa.operands import Count, Mem, OperandSpec
from pixelflow.simd.lanes.algebra import Algebra, Bit, Word
from pixelflow.simd.units import Standing

_operands = (
    OperandSpec("dst", MEMORY, sized_by="bytes"),
    OperandSpec("src", MEMORY, sized_by="bytes"),
    OperandSpec("bytes", Count(1, 32)),
    OperandSpec("distance", Count(1, 16, (1, 2, 4, 8, 16))),
)
_FIT = "all four steps of table 6's EMC column: 66, 98, 162 and 290 cycles for 32 bytes over 1, 2, 4 and 8"


def _steps(dst: Mem, src: Mem, count: int, distance: int) -> tuple[Step, ...]:
    """Start up; move each byte one PE a cycle, the fetch being the first cycle on its way and the store the last;
    let the path drain."""
    hops = [Step("hop", hop=True)] * (distance - 1)
    byte = [Step("fetch and hop", memory=True, hop=True), *hops, Step("store", memory=True, store=True)]
    return (Step("start-up"), *byte * count, Step("drain"))


def _pixel(mnemonic: str, opcode: int) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        *_operands,
        family=Family.PIXEL_COPY,
        steps=_steps,
        cost="(distance + 1) bytes + 2",
        standing=Standing.FITTED,
        source=_FIT,
    )


@_pixel("EMC_PixCopy", 0x60)
def pix_copy(pe: Algebra[Word, Bit], dst: Mem, src: Mem, count: int, distance: int) -> None:
    """Copy bytes to the PE that is ``distance`` further on the panel.

    Within aligned groups of 2 x distance PEs the lower half sends and the upper half receives: PE p takes from
    p - distance where p mod (2 distance) >= distance, and E is set in p. Bytes move one after the other, so an
    overlap of the two ranges acts like a forward copy loop. The groups are invented: table 6 leaves no cycle for
    enables, and with these groups steps over 8, 4, 2 and 1 spread one PE's data over a block.
    """
    upper = [p % (2 * distance) >= distance for p in range(PANEL_PES)]
    sources = [p - distance if upper[p] else p for p in range(PANEL_PES)]
    where = pe.both(pe.flag("E"), pe.pattern(upper))
    for index in range(count):
        pe.store(dst.offset + index, pe.route(pe.load(src.offset + index), sources), where)


@_pixel("EMC_PixSwap", 0x61)
def pix_swap(pe: Algebra[Word, Bit], dst: Mem, src: Mem, count: int, distance: int) -> None:
    """Exchange bytes with the PE that is ``distance`` away.

    Within aligned groups of 2 x distance PEs the halves exchange: PE p takes from p + distance in the lower half and
    from p - distance in the upper one, where E is set in p. Bytes move one after the other.
    """
    sources = [p ^ distance for p in range(PANEL_PES)]
    for index in range(count):
        pe.store(dst.offset + index, pe.route(pe.load(src.offset + index), sources), pe.flag("E"))


def _mark(mnemonic: str, opcode: int) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        family=Family.PORT,
        steps=lambda: (Step("mark"),),
        cost="1",
        source="each PE which is to participate must first be marked (thesis 2.2.7); instruction and cost invented",
    )


@_mark("EMC_MarkRead", 0x68)
def mark_read(pe: Algebra[Word, Bit]) -> None:
    """Mark for reading: MR = E. Marked PEs receive data in the next texture read, in their input port."""
    pe.set_flag("MR", pe.flag("E"))


@_mark("EMC_MarkWrite", 0x69)
def mark_write(pe: Algebra[Word, Bit]) -> None:
    """Mark for writing: MW = E. Marked PEs send addresses or data from their output port."""
    pe.set_flag("MW", pe.flag("E"))


@_mark("EMC_ClearMarks", 0x6A)
def clear_marks(pe: Algebra[Word, Bit]) -> None:
    """Clear both marks where E is set."""
    pe.set_flag("MR", pe.bit(False), pe.flag("E"))
    pe.set_flag("MW", pe.bit(False), pe.flag("E"))
