"""Texture instructions, executed by the TASICs of all modules side by side (thesis 2.2.1, 2.2.7).

A transfer moves bytes between the local ports of marked PEs, the module's eight SDRAMs and GP memory. The TASICs of a
module serve its EMCs together: in one *round* every EMC takes part with one marked PE, or with ``sends`` of them.
Addresses and data leave a PE by its output port, data arrive in its input port (thesis 2.2.1). Names other than
TAS_MemRdBlock4 and TAS_MemRdRepeat4, operands and encodings are invented. The cycles of a transfer are not declared:
they follow from the marks, the wires and the SDRAM banks (:mod:`pixelflow.node.run.tasic_box`).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol

from pixelflow.isa.declarations import PORT_BYTES, Family, Transfers, Unit
from pixelflow.isa.emc import INSTRUCTIONS
from pixelflow.simd.isa.declare import Declares, Step
from pixelflow.simd.isa.operands import Count, Delta, OperandSpec
from pixelflow.simd.units import Standing

ADDRESS_BITS = 21
"""Bits of an address inside one SDRAM: bank 1, row 11, column 9 (thesis 2.2.6)."""

COUNTER_BITS = 16
"""Bits of the address generator's counter (invented)."""


class Addressing(IntEnum):
    """Where a transfer's addresses come from."""

    EXPLICIT = 0
    """Eight of each PE, one for each SDRAM."""
    BASE = 1
    """One of each PE, plus the generator's."""
    GENERATED = 2
    """The generator's alone."""
    HELD = 3
    """The contents of the address corner turner."""


MODULES = 8
"""Modules that a mask of modules can name: the most that a node may have."""

_addressing = OperandSpec("addressing", Count(Addressing.EXPLICIT, Addressing.HELD))
_stored = OperandSpec(
    "addressing", Count(Addressing.GENERATED, Addressing.HELD, (Addressing.GENERATED, Addressing.HELD))
)
_sent = OperandSpec(
    "addressing",
    Count(Addressing.EXPLICIT, Addressing.GENERATED, (Addressing.EXPLICIT, Addressing.BASE, Addressing.GENERATED)),
)
_sends = OperandSpec("sends", Count(1, 16, (1, 2, 4, 8, 16)))
_group = OperandSpec("count", Count(1, 15))
_modules = OperandSpec("modules", Count(1, (1 << MODULES) - 1))
_half = OperandSpec("half", Count(0, 1))
_part = (OperandSpec("start", Count(0, PORT_BYTES - 1)), OperandSpec("size", Count(1, PORT_BYTES)))
_SET = (Step("set a TASIC register"),)


class Generator(Protocol):
    """An address generator, as texture instructions use it."""

    counter: int
    step: int

    def advance(self, delta: int) -> None: ...
    def connect(self, bit: int, source: int | None) -> None: ...


class Tasics(Protocol):
    """The TASICs of a node, as texture instructions use them."""

    panel_minor: bool
    alternate: bool

    @property
    def generator(self) -> Generator: ...
    def set_gp(self, modules: int, node: int, gp: int) -> None: ...
    def set_gp_address(self, modules: int, address: int) -> None: ...
    def read(self, *, size: int, sends: int, addressing: int) -> None: ...
    def write(
        self, *, size: int, addressing: int, held: bool, group: int = 0, half: int | None = None, over: int = 0
    ) -> None: ...
    def give(self, *, modules: int, start: int, size: int) -> None: ...
    def load(self, *, modules: int, blocks: int, address: int) -> None: ...
    def loop_back(self) -> None: ...


def _register(mnemonic: str, opcode: int, *operands: OperandSpec) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        *operands,
        family=Family.TEXTURE,
        unit=Unit.TASIC,
        steps=lambda *values: _SET,
        cost="1",
        source="the address generator is described in 2.2.7; how it is set is not printed",
    )


@_register("TAS_SetOrder", 0x80, OperandSpec("order", Count(0, 1)))
def set_order(tasic: Tasics, order: int) -> None:
    """Choose in which order the marked PEs of an EMC are served: 0 PE minor, 1 panel minor.

    PE minor: all marked PEs of panel 0, then those of panel 1. Panel minor: one of each panel in turn (thesis 2.2.7).
    """
    tasic.panel_minor = bool(order)


@_register("TAS_SetCounter", 0x81, OperandSpec("value", Count(0, (1 << COUNTER_BITS) - 1)))
def set_counter(tasic: Tasics, value: int) -> None:
    """Set the counter of the address generator."""
    tasic.generator.counter = value


@_register("TAS_AddCounter", 0x82, OperandSpec("delta", Delta(14)))
def add_counter(tasic: Tasics, delta: int) -> None:
    """Add to the counter of the address generator, modulo 2^16."""
    tasic.generator.advance(delta)


@_register("TAS_SetStep", 0x83, OperandSpec("step", Count(0, 255)))
def set_step(tasic: Tasics, step: int) -> None:
    """Set by how much the counter grows after each round of a transfer."""
    tasic.generator.step = step


@_register(
    "TAS_SetCrossbar",
    0x84,
    OperandSpec("bit", Count(0, ADDRESS_BITS - 1)),
    OperandSpec("input", Count(0, COUNTER_BITS)),
)
def set_crossbar(tasic: Tasics, bit: int, source: int) -> None:
    """Connect one bit of the generator's address to a counter bit, or to 0 with input 16 (thesis 2.2.7)."""
    tasic.generator.connect(bit, None if source == COUNTER_BITS else source)


@_register("TAS_SetBanks", 0x85, OperandSpec("promise", Count(0, 1)))
def set_banks(tasic: Tasics, promise: int) -> None:
    """Say what is promised about the banks of the accesses to come: 0 nothing, 1 that they alternate.

    With 1, an access must not be in the bank of the one before it, which another EMC asked for; then accesses follow
    each other faster (thesis table 2). A broken promise is a fault. Loads from GP memory never use it.
    """
    tasic.alternate = bool(promise)


@_register(
    "TAS_SetGp",
    0x86,
    _modules,
    OperandSpec("node", Count(0, 39)),
    OperandSpec("gp", Count(0, 7)),
)
def set_gp(tasic: Tasics, modules: int, node: int, gp: int) -> None:
    """Choose the GP that the modules (one bit each) send bytes to, or get them from, and set its address to 0.

    node counts places along the geometry network: 0 is the own node.
    """
    tasic.set_gp(modules, node, gp)


@_register("TAS_SetGpAddress", 0x87, _modules, OperandSpec("address", Count(0, (1 << 28) - 1)))
def set_gp_address(tasic: Tasics, modules: int, address: int) -> None:
    """Set the address in GP memory for the modules (one bit each); it grows by every byte that moves."""
    tasic.set_gp_address(modules, address)


def _transfer(
    mnemonic: str, opcode: int, *operands: OperandSpec, way: Transfers, thesis: bool = False, source: str
) -> Declares:
    return INSTRUCTIONS.instruction(
        mnemonic,
        opcode,
        *operands,
        family=Family.TEXTURE,
        unit=Unit.TASIC,
        steps=lambda *values: (),
        cost="by the transfer",
        standing=Standing.THESIS if thesis else Standing.INVENTED,
        source=source,
        transfers=way,
    )


@_transfer(
    "TAS_MemRdBlock4", 0x90, _addressing, thesis=True, way=Transfers.READ, source="figure 4; the operand is invented"
)
def mem_rd_block4(tasic: Tasics, addressing: int) -> None:
    """Read 4 bytes from each of the 8 SDRAMs for every PE marked for reading: 32 bytes into its input port.

    addressing: 0 the PE's output port holds eight 4-byte addresses, one for each SDRAM; 1 its first 4 bytes are a base
    (24 bits are used) to which the generator's address is added; 2 the generator's address alone; 3 the addresses
    that the address corner turners hold from the transfer before.
    """
    tasic.read(size=4, sends=1, addressing=addressing)


@_transfer(
    "TAS_MemRdBlock8",
    0x91,
    _addressing,
    way=Transfers.READ,
    source="table 2 has 8-byte accesses; name and operand invented",
)
def mem_rd_block8(tasic: Tasics, addressing: int) -> None:
    """Read 8 bytes from each SDRAM for every two PEs marked for reading, next to each other in the order of service.

    The first of the two gives the address and gets the first 4 bytes of each SDRAM, the second the other 4.
    """
    tasic.read(size=8, sends=1, addressing=addressing)


@_transfer(
    "TAS_MemRdRepeat4", 0x92, _sends, _addressing, thesis=True, way=Transfers.READ, source="4.1.3; operands invented"
)
def mem_rd_repeat4(tasic: Tasics, sends: int, addressing: int) -> None:
    """Read once for every ``sends`` marked PEs, which work on the same patch, and send the 32 bytes to all of them.

    The first of them gives the address. PEs are served in PE-minor order, whatever order is set.
    """
    tasic.read(size=4, sends=sends, addressing=addressing)


@_transfer("TAS_MemWrBlock4", 0x98, _stored, way=Transfers.WRITE, source="2.2.7; name and operand invented")
def mem_wr_block4(tasic: Tasics, addressing: int) -> None:
    """Write the 32 bytes in the output port of every PE marked for writing, 4 to each SDRAM.

    addressing: 2 the generator's address, 3 the address held from before.
    """
    tasic.write(size=4, addressing=addressing, held=False)


@_transfer(
    "TAS_MemWrBlock8",
    0x99,
    _stored,
    way=Transfers.WRITE,
    source="table 2 has 8-byte accesses; name and operand invented",
)
def mem_wr_block8(tasic: Tasics, addressing: int) -> None:
    """Write 8 bytes to each SDRAM from every two PEs marked for writing, the first 4 from the first of the two."""
    tasic.write(size=8, addressing=addressing, held=False)


@_transfer(
    "TAS_MemWrHeld4", 0x9A, _sent, way=Transfers.WRITE, source="2.2.7, reuse of the data; name and operand invented"
)
def mem_wr_held4(tasic: Tasics, addressing: int) -> None:
    """Write the data that the data corner turners hold to an address of every PE marked for writing.

    Each EMC's corner turner holds the 32 bytes of the last PE that it served. addressing: 0 the PE's output port holds
    eight addresses; 1 its first 4 bytes are a base to which the generator's address is added; 2 the generator's.
    """
    tasic.write(size=4, addressing=addressing, held=True)


@_transfer(
    "TAS_MemWrHalf4",
    0x9B,
    _half,
    way=Transfers.WRITE,
    source="appendix B: two passes; name invented",
)
def mem_wr_half4(tasic: Tasics, half: int) -> None:
    """Write 4 bytes to each of four SDRAMs for every PE marked for writing, which gives the addresses as well.

    The output port holds four addresses, then four words of data; half 0 are SDRAMs 0 to 3, half 1 the others. Eight
    words with an address each need two passes, because both leave a PE by the same port.
    """
    tasic.write(size=4, addressing=Addressing.EXPLICIT, held=False, half=half)


@_transfer(
    "TAS_MemWrOver4",
    0x9F,
    OperandSpec("over", Count(1, MODULES - 1)),
    _half,
    way=Transfers.WRITE,
    source="2.2.1: a path from one module's EMCs to another module's SDRAMs; name and operands invented",
)
def mem_wr_over4(tasic: Tasics, over: int, half: int) -> None:
    """Do what TAS_MemWrHalf4 does, in the SDRAMs of another module: ``over`` modules further on, round to the first.

    All modules send and store at the same time. The four addresses and four words of a PE cross together.
    """
    tasic.write(size=4, addressing=Addressing.EXPLICIT, held=False, half=half, over=over)


@_transfer("TAS_LoopBack", 0x9C, way=Transfers.PASS, source="2.2.8, loop-back mode; name invented")
def loop_back(tasic: Tasics) -> None:
    """Send the output ports of the PEs marked for writing to the input ports of the PEs marked for reading.

    Within each EMC the first writer serves the first reader, in the order of service, and so on.
    """
    tasic.loop_back()


@_transfer(
    "TAS_MemWrBase4",
    0x9D,
    _group,
    way=Transfers.WRITE,
    source="appendix B: one PE of four gives the base; name invented",
)
def mem_wr_base4(tasic: Tasics, count: int) -> None:
    """Write 4 bytes to each SDRAM from every PE marked for writing, the first of each count + 1 excepted.

    That one gives a base address (4 bytes at the start of its output port, 24 bits are used) for the others. To the
    base the generator's address is added; the counter starts anew for each base and grows by its step after each PE.
    """
    tasic.write(size=4, addressing=Addressing.BASE, held=False, group=count)


@_transfer(
    "TAS_MemWrBase8",
    0x9E,
    _group,
    way=Transfers.WRITE,
    source="as TAS_MemWrBase4, with the 8-byte accesses of table 2; invented",
)
def mem_wr_base8(tasic: Tasics, count: int) -> None:
    """Write 8 bytes to each SDRAM from every two PEs marked for writing, after the PE that gives their base address.

    One PE with a base is followed by count pairs.
    """
    tasic.write(size=8, addressing=Addressing.BASE, held=False, group=count)


@_transfer(
    "TAS_GpWrite",
    0xA0,
    _modules,
    *_part,
    way=Transfers.PASS,
    source="3.8, 4.1.4: results go to the GPs; name and operands invented",
)
def gp_write(tasic: Tasics, modules: int, start: int, size: int) -> None:
    """Send a part of the output port of every PE marked for writing to GP memory, from the modules (one bit each).

    The part is ``size`` bytes from byte ``start`` of the port on. They are stored in the order in which they travel:
    round by round, within a round EMC by EMC, for each module from its address in GP memory on.
    """
    tasic.give(modules=modules, start=start, size=size)


@_transfer(
    "TAS_MemRdGp4",
    0xA1,
    _sends,
    _modules,
    *_part,
    way=Transfers.READ,
    source="4.1.4: a new instruction would have to replace TAS_MemRdRepeat4; name and operands invented",
)
def mem_rd_gp4(tasic: Tasics, sends: int, modules: int, start: int, size: int) -> None:
    """Do what TAS_MemRdRepeat4 does with base addresses, and what TAS_GpWrite does, side by side (thesis 4.1.4).

    The base is in the first 4 bytes of the output port; what goes to the GP follows it. For fine-grain overlap: the
    X of one module leaves while control points come in.
    """
    tasic.read(size=4, sends=sends, addressing=Addressing.BASE)
    tasic.give(modules=modules, start=start, size=size)


@_transfer(
    "TAS_MemRdGp8",
    0xA3,
    _modules,
    *_part,
    way=Transfers.READ,
    source="as TAS_MemRdGp4, with the 8-byte accesses of table 2; name and operands invented",
)
def mem_rd_gp8(tasic: Tasics, modules: int, start: int, size: int) -> None:
    """Do what TAS_MemRdBlock8 does with base addresses, and what TAS_GpWrite does, side by side.

    The first PE of every two gives the base in the first 4 bytes of its output port; what goes to the GP follows.
    """
    tasic.read(size=8, sends=1, addressing=Addressing.BASE)
    tasic.give(modules=modules, start=start, size=size)


@_transfer(
    "TAS_MemLoad",
    0xA2,
    _modules,
    OperandSpec("blocks", Count(1, (1 << COUNTER_BITS) - 1)),
    OperandSpec("address", Count(0, (1 << ADDRESS_BITS) - 1)),
    way=Transfers.WRITE,
    source="4.4 and 5: control patches get into texture memory from the GPs; name and operands invented",
)
def mem_load(tasic: Tasics, modules: int, blocks: int, address: int) -> None:
    """Load blocks of 32 bytes from GP memory into texture memory of the modules (one bit each), 4 to each SDRAM.

    Block i goes to address + 4 i inside each SDRAM. The GP and its address are those of the lowest of the modules.
    """
    tasic.load(modules=modules, blocks=blocks, address=address)


MEM_WR_OVER4 = INSTRUCTIONS["TAS_MemWrOver4"]
