"""Sections of a node's configuration: every size, width and time that the model takes as data.

Each value states its unit, where it comes from and how well founded it is. Section and table numbers are those of
Keller's thesis (UNC TR95-043). The sections alone are plain values; the tree checks them as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.config.param import param
from pixelflow.simd.units import Standing

__all__ = [
    "ArrayConfig",
    "CompositionConfig",
    "GniConfig",
    "LeeConfig",
    "SdramConfig",
    "TasicConfig",
]

THESIS, DERIVED, FITTED, INVENTED = Standing.THESIS, Standing.DERIVED, Standing.FITTED, Standing.INVENTED

BLOCK_PES = 16
"""PEs of a block, the unit of patch mapping (thesis 3.2, figure 8); fixed, because figure 8 has no other size."""

COMPOSITION_START, PE_BYTES = 256, 384
"""Where image composition memory and both ports begin and end, by the instruction set; more memory is past them."""

MOST_BYTES = 4096
"""Addresses of a PE that a call can pass: its parameters have 13 bits with a sign."""

_FIXED = "the instruction set fixes it"
_MASK = "a mask of modules has 8 bits in TAS_SetGp and its like, a module 3 bits in EMC_SetLEE"
_COLUMNS = "figure 9 gives an EMC 16 columns, and 10 bits of lee.xp_bits tell 64 times 16 apart"
_PAIRS = "panels lie side by side in pairs, and thesis 2.2.9 has a register yp for each of 8"
_PANEL = "the equations of thesis 2.2.9 and figure 8 number 32 PEs"
_START = "what is past it begins at 256 by the instruction set; array.more_bytes adds past the ports"
_REACH = "a call passes addresses below 4096, and an instruction by itself names those below 512"
_WRITTEN = "64 EMCs need no more; EMC_SetLEE writes values of 8"
_BANKS = "addresses are taken apart bit by bit, and accesses take turns between banks"
_PORT = "a port has no more bytes"
_VALUE = "the instruction set fixes it: EMC_SetLEE carries values of 8 bits"

_ARRAY = "pixelflow/node/parts/array/pe_array.py"
_LEE = "pixelflow/node/parts/array/lee.py"
_NODE = "pixelflow/node/node.py"
_SDRAM_USE = "pixelflow/node/parts/sdram/use.py"
_GNI = "pixelflow/node/run/order/gni_box.py"
_GNI_PORT = "pixelflow/node/run/order/gni_port_box.py"
_SDRAM = "pixelflow/node/parts/sdram/rules.py"
_TASIC = "pixelflow/node/run/order/tasic_box.py"
_TEXTURE = "pixelflow/node/parts/texture/memory.py"
_COMPOSITION = "tessellation/rendering/composition/network.py"


# The tables below stay aligned: one value, then what is known about it; the words of ``matters`` are those of
# `pixelflow/node/account/guesses.py`.
# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayConfig:
    """The PE array: modules of EMCs of panels of PEs, and the memory of one PE."""

    modules: int = param(4, "modules of a node", unit="modules", low=1, high=8, because=_MASK,
        source="thesis 2.2.1", standing=THESIS, state=True, read_by=_ARRAY)
    emcs_per_module: int = param(8, "EMC chips of a module", unit="EMCs", low=1, high=64, because=_COLUMNS,
        source="thesis 2.2.1", standing=THESIS, state=True, read_by=_ARRAY)
    panels_per_emc: int = param(8, "panels of an EMC", unit="panels", allowed=(2, 4, 8), because=_PAIRS,
        source="thesis 2.2.1", standing=THESIS, state=True, read_by=_ARRAY)
    pes_per_panel: int = param(32, "PEs of a panel", unit="PEs", allowed=(32,), because=_PANEL,
        source="thesis 2.2.1", standing=THESIS, state=True, read_by=_ARRAY)
    main_bytes: int = param(256, "main memory of a PE, from address 0", unit="bytes", low=16, high=256,
        because=_START, source="thesis 3.6", standing=THESIS, state=True, read_by=_ARRAY)
    composition_bytes: int = param(64, "image composition memory, past main memory", unit="bytes", allowed=(64,),
        because=_FIXED,
        source="thesis 3.6; its place in the address map is invented", standing=THESIS, state=True, read_by=_ARRAY)
    port_bytes: int = param(32, "each of the two local ports (input, then output)", unit="bytes", allowed=(32,),
        because=_FIXED,
        source="thesis 2.2.1; their place in the address map is invented", standing=THESIS, state=True, read_by=_ARRAY)
    more_bytes: int = param(0, "memory of a PE past its output port, from address 384", unit="bytes", low=0,
        high=MOST_BYTES - PE_BYTES, because=_REACH, source="the thesis has none; for machines of other sizes",
        standing=INVENTED, matters="limit", state=True, added=True, read_by=_ARRAY)

    @property
    def emcs(self) -> int:
        """EMCs of the node."""
        return self.modules * self.emcs_per_module

    @property
    def panels(self) -> int:
        """Panels of the node."""
        return self.emcs * self.panels_per_emc

    @property
    def lanes(self) -> int:
        """PEs of the node: 8192 on the thesis machine."""
        return self.panels * self.pes_per_panel

    @property
    def blocks(self) -> int:
        """Blocks of 16 PEs of the node: 512 on the thesis machine."""
        return self.lanes // BLOCK_PES

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(modules, EMCs of a module, panels of an EMC, PEs of a panel): the axis order of every array."""
        return (self.modules, self.emcs_per_module, self.panels_per_emc, self.pes_per_panel)

    @property
    def memory_bytes(self) -> int:
        """Addresses of one PE, those between main memory and 256 included: 384 on the thesis machine."""
        return self.output_port_start + self.port_bytes + self.more_bytes

    @property
    def bytes_of_pe(self) -> int:
        """Bytes that one PE has."""
        return self.memory_bytes - COMPOSITION_START + self.main_bytes

    @property
    def composition_start(self) -> int:
        """First address of image composition memory."""
        return COMPOSITION_START

    @property
    def input_port_start(self) -> int:
        """First address of the input local port."""
        return COMPOSITION_START + self.composition_bytes

    @property
    def output_port_start(self) -> int:
        """First address of the output local port."""
        return self.input_port_start + self.port_bytes

    def holds(self, first: int, size: int) -> bool:
        """Return whether a PE has ``size`` bytes from address ``first`` on."""
        end = first + size
        if self.main_bytes == COMPOSITION_START:  # composition memory follows without a gap
            return first >= 0 and end <= self.memory_bytes
        return (first >= 0 and end <= self.main_bytes) or (first >= COMPOSITION_START and end <= self.memory_bytes)

    @property
    def memory_text(self) -> str:
        """The addresses of a PE, for messages: ``0..383`` on the thesis machine."""
        if self.main_bytes == COMPOSITION_START:
            return f"0..{self.memory_bytes - 1}"
        return f"0..{self.main_bytes - 1} and {COMPOSITION_START}..{self.memory_bytes - 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeeConfig:
    """The linear expression evaluator: widths of its registers, and what they hold at power-up."""

    arrangement: str = param("figure9", "values of the registers when a run starts", unit="",
        allowed=("figure9", "zero"), source="thesis 3.2; figure 9 is missing from the text", standing=DERIVED,
        state=True, read_by=_LEE)
    xe_bits: int = param(2, "register xe of an EMC", unit="bits", low=1, high=4,
        source="thesis 2.2.9", standing=THESIS, state=True, read_by=_LEE)
    ye_bits: int = param(2, "register ye of an EMC", unit="bits", low=1, high=4,
        source="thesis 2.2.9", standing=THESIS, state=True, read_by=_LEE)
    xp_bits: int = param(8, "registers xp", unit="bits", low=1, high=10,
        because=_WRITTEN, source="thesis 2.2.9", standing=THESIS, state=True, read_by=_LEE)
    yp_bits: int = param(7, "registers yp", unit="bits", low=1, high=8,
        because=_VALUE, source="thesis 2.2.9", standing=THESIS, state=True, read_by=_LEE)
    xs_bits: int = param(4, "registers xs", unit="bits", low=1, high=8,
        because=_VALUE, source="thesis 2.2.9", standing=THESIS, state=True, read_by=_LEE)
    ys_bits: int = param(4, "registers ys", unit="bits", low=1, high=8,
        because=_VALUE, source="thesis 2.2.9", standing=THESIS, state=True, read_by=_LEE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TasicConfig:
    """Texture ASICs: the path between local ports and texture memory."""

    read_overhead_cycles: int = param(1, "cycles of a read beyond its SDRAM slot", unit="cycles", low=0, high=1024,
        source="table 6 counts 12 cycles a read where table 2 and section 3.5 have 11; the difference is unexplained",
        standing=FITTED, matters="reads", read_by=_TASIC, moved=(0, 2))
    port_bytes_per_cycle: int = param(1, "wire between one EMC and the TASICs, each way", unit="bytes", low=1, high=32,
        because=_PORT, source="3.2 GB/s of a node over 32 EMCs at 100 MHz", standing=DERIVED,
        matters="transfers", read_by=_TASIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SdramConfig:
    """Texture memory: size of the synchronous DRAMs and their times, in clocks of 10 ns."""

    devices_per_module: int = param(8, "SDRAMs of a module, one for each word of a port", unit="devices", allowed=(8,),
        because=_FIXED, source="thesis 2.2.1", standing=THESIS, matters="transfers", state=True, read_by=_TEXTURE)
    banks: int = param(2, "banks of an SDRAM", unit="banks", allowed=(2, 4, 8),
        because=_BANKS, source="thesis 2.2.6", standing=THESIS, matters="transfers", state=True, read_by=_TEXTURE)
    rows: int = param(2048, "rows of a bank", unit="rows", low=1, high=131072,
        source="thesis 2.2.6", standing=THESIS, matters="transfers", state=True, read_by=_TEXTURE)
    columns: int = param(512, "columns (bytes) of a row", unit="bytes", low=8, high=131072,
        source="thesis 2.2.6; 2.2.7 halves the total by mistake", standing=THESIS,
        matters="transfers", state=True, read_by=_TEXTURE)
    trcd_cycles: int = param(3, "ACT to READ or WRITE", unit="cycles", low=1, high=255,
        source="fits table 2", standing=FITTED, matters="transfers", read_by=_SDRAM, moved=(2, 4))
    trp_cycles: int = param(3, "PRE to ACT", unit="cycles", low=1, high=255,
        source="fits table 2", standing=FITTED, matters="transfers", read_by=_SDRAM, moved=(2, 4))
    cl_cycles: int = param(3, "READ to first byte", unit="cycles", low=1, high=255,
        source="fits table 2", standing=FITTED, matters="reads", read_by=_SDRAM, moved=(2, 4))
    twr_cycles: int = param(2, "last written byte to PRE", unit="cycles", low=0, high=255,
        source="fits table 2", standing=FITTED, matters="writes", read_by=_SDRAM, moved=(1, 3))
    tras_cycles: int = param(6, "ACT to PRE, same bank", unit="cycles", low=1, high=255,
        source="typical part of the time; table 2 does not reach it", standing=INVENTED,
        matters="transfers", read_by=_SDRAM, moved=(5, 7))
    trc_cycles: int = param(10, "ACT to ACT, same bank", unit="cycles", low=1, high=255,
        source="typical part of the time; table 2 does not reach it", standing=INVENTED,
        matters="transfers", read_by=_SDRAM, moved=(9, 12))
    trrd_cycles: int = param(2, "ACT to ACT, other bank", unit="cycles", low=1, high=255,
        source="typical part of the time; table 2 does not reach it", standing=INVENTED,
        matters="transfers", read_by=_SDRAM, moved=(1, 4))
    trfc_cycles: int = param(10, "REF to ACT", unit="cycles", low=1, high=255,
        source="typical part of the time", standing=INVENTED, matters="refresh", read_by=_SDRAM, moved=(12,))
    refresh: bool = param(False, "refresh one row in 15.6 us", unit="",
        source="absent from table 2; about 0.7 % where it is on", standing=DERIVED,
        matters="transfers", read_by=_SDRAM_USE)
    refresh_interval_cycles: int = param(1560, "from one refreshed row to the next", unit="cycles",
        low=64, high=1_000_000, source="15.6 us at 100 MHz", standing=INVENTED, matters="refresh",
        read_by=_SDRAM_USE, moved=(780,))
    check_commands: bool = param(False, "every access is scheduled, every command checked", unit="",
        source="an option of the model; times do not change", standing=INVENTED, matters="option",
        read_by=_SDRAM_USE, moved=(True,))
    equal_slots: bool = param(True, "accesses take equal slots (false: a greedy controller)", unit="",
        source="table 2", standing=DERIVED, matters="transfers", read_by=_SDRAM_USE)


@dataclass(frozen=True, slots=True, kw_only=True)
class GniConfig:
    """Geometry network interface and the two general purpose processors behind it."""

    mb_per_second: int = param(800, "GNI", unit="MB/s", low=1, high=1_000_000,
        source="thesis 3.8", standing=THESIS, matters="paths", read_by=_GNI)
    gp_count: int = param(2, "GPs of a node", unit="GPs", low=1, high=8,
        source="thesis 2.2.1", standing=THESIS, matters="paths", state=True, read_by=_GNI)
    gp_memory_mb_per_second: int = param(200, "path to GP memory", unit="MB/s", low=1, high=1_000_000,
        source="thesis 3.8", standing=THESIS, matters="paths", read_by=_GNI)
    gp_buffers: int = param(4, "parcels on their way to one GP", unit="parcels", low=1, high=256,
        source="two keep the path to GP memory busy; not printed", standing=INVENTED, matters="results",
        read_by=_GNI, moved=(2, 8))
    load_parts: int = param(3, "parts of a load on their way", unit="parts", low=1, high=256,
        source="two keep the path from GP memory busy; not printed", standing=INVENTED, matters="loads",
        read_by=_GNI, moved=(2, 6))
    part_blocks: int = param(16, "blocks of 32 bytes in a part of a load", unit="blocks", low=1, high=65535,
        source="a bicubic patch is 15 blocks; not printed", standing=INVENTED, matters="loads",
        read_by=_GNI, moved=(8, 32))
    port_buffers: int = param(2, "rounds for GPs that the TASICs of a module hold", unit="rounds", low=1, high=256,
        source="one comes in while one waits; not printed", standing=INVENTED, matters="results",
        read_by=_GNI_PORT, moved=(1, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositionConfig:
    """Image composition network: the way of merged pixels from a node to the next one."""

    emc_bytes_per_cycle: int = param(2, "wires from an EMC to the same EMC of the next node", unit="bytes",
        low=1, high=64, source="not printed; twice what an EMC has to its TASIC, 6.4 GB/s of a node at 100 MHz",
        standing=INVENTED, matters="pictures", read_by=_COMPOSITION, moved=(1, 4))
    node_cycles: int = param(2, "a byte's departure at a node to its departure at the next", unit="cycles",
        low=1, high=1024, source="not printed; one to compare and one to hand on", standing=INVENTED,
        matters="pictures", read_by=_COMPOSITION, moved=(1, 4))
    regions_held: int = param(1, "regions in image composition memory, the one being sent among them", unit="regions",
        low=1, high=10, source="room for 10 of 6 bytes; no way to hold more than one is printed",
        standing=INVENTED, matters="pictures", read_by=_COMPOSITION, moved=(2,))
    overlap: bool = param(True, "a node draws the next region while one is sent", unit="",
        source="thesis 3.6, footnote: memory of its own for it", standing=DERIVED,
        matters="pictures", read_by=_COMPOSITION)
# fmt: on
