"""Configuration of a node: a frozen tree of values with unit, source, standing and range, and the named machines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pixelflow.simd import configuration as schema
from pixelflow.simd.configuration import ConfigFiles, Value, check_values, leaves, param, section
from pixelflow.simd.errors import Fault, InputError, must_be, suggestion
from pixelflow.simd.report import Report, Shown, overview, plain_table
from pixelflow.simd.units import Standing

# Sections of a node's configuration: every size, width and time that the model takes as data.
#
# Each value states its unit, where it comes from and how well founded it is. Section and table numbers are those of
# Keller's thesis (UNC TR95-043). The sections alone are plain values; the tree checks them as a whole.


PRINTED, DERIVED, FITTED, INVENTED = Standing.THESIS, Standing.DERIVED, Standing.FITTED, Standing.INVENTED

BLOCK_PES = 16
"""PEs of a block, the unit of patch mapping (thesis 3.2, figure 8); fixed, because figure 8 has no other size."""

COMPOSITION_START, PE_BYTES = 256, 384
"""Begin of image composition memory and end of both ports, by the instruction set; more memory is past them."""

MOST_BYTES = 4096
"""Addresses of a PE that a call can pass: its parameters have 13 bits with a sign."""

_FIXED = "the instruction set fixes it"
_MASK = "a mask of modules has 8 bits in TAS_SetGp and its like, a module 3 bits in EMC_SetLEE"
_COLUMNS = "figure 9 gives an EMC 16 columns, and 10 bits of lee.xp_bits distinguish 64 times 16"
_PAIRS = "panels are placed in pairs, and thesis 2.2.9 has a register yp for each of 8"
_PANEL = "the equations of thesis 2.2.9 and figure 8 number 32 PEs"
_START = "what is past it begins at 256 by the instruction set; array.more_bytes adds past the ports"
_REACH = "a call passes addresses below 4096, and an instruction by itself names those below 512"
_WRITTEN = "64 EMCs need no more; EMC_SetLEE writes values of 8"
_BANKS = "addresses are taken apart bit by bit, and accesses take turns between banks"
_PORT = "a port has no more bytes"
_VALUE = "the instruction set fixes it: EMC_SetLEE carries values of 8 bits"

_ARRAY = "pixelflow/node/pe_array.py"
_LEE = "pixelflow/node/lee.py"
_NODE = "pixelflow/node/node.py"
_GNI = "pixelflow/node/run/gni_box.py"
_SDRAM = "pixelflow/node/sdram.py"
_TASIC = "pixelflow/node/run/tasic_box.py"
_TEXTURE = "pixelflow/node/texture_memory.py"
_COMPOSITION = "tessellation/rendering/network.py"


# The tables below stay aligned: one value, then what is known about it; the words of ``matters`` are those of
# `pixelflow/node/assumptions.py`.
# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayConfig:
    """The PE array: modules of EMCs of panels of PEs, and the memory of one PE."""

    modules: int = param(4, "modules of a node", unit="modules", low=1, high=8, because=_MASK,
        source="thesis 2.2.1", standing=PRINTED, state=True, read_by=_ARRAY)
    emcs_per_module: int = param(8, "EMC chips of a module", unit="EMCs", low=1, high=64, because=_COLUMNS,
        source="thesis 2.2.1", standing=PRINTED, state=True, read_by=_ARRAY)
    panels_per_emc: int = param(8, "panels of an EMC", unit="panels", allowed=(2, 4, 8), because=_PAIRS,
        source="thesis 2.2.1", standing=PRINTED, state=True, read_by=_ARRAY)
    pes_per_panel: int = param(32, "PEs of a panel", unit="PEs", allowed=(32,), because=_PANEL,
        source="thesis 2.2.1", standing=PRINTED, state=True, read_by=_ARRAY)
    main_bytes: int = param(256, "main memory of a PE, from address 0", unit="bytes", low=16, high=256,
        because=_START, source="thesis 3.6", standing=PRINTED, state=True, read_by=_ARRAY)
    composition_bytes: int = param(64, "image composition memory, past main memory", unit="bytes", allowed=(64,),
        because=_FIXED,
        source="thesis 3.6; its place in the address map is invented", standing=PRINTED, state=True, read_by=_ARRAY)
    port_bytes: int = param(32, "each of the two local ports (input, then output)", unit="bytes", allowed=(32,),
        because=_FIXED,
        source="thesis 2.2.1; their place in the address map is invented", standing=PRINTED, state=True, read_by=_ARRAY)
    more_bytes: int = param(0, "memory of a PE past its output port, from address 384", unit="bytes", low=0,
        high=MOST_BYTES - PE_BYTES, because=_REACH, source="not in the thesis; for machines of other sizes",
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
        """Return whether a PE has ``size`` bytes starting at address ``first``."""
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
    """The linear expression evaluator: widths of its registers, and their contents at power-up."""

    arrangement: str = param("figure9", "values of the registers when a run starts", unit="",
        allowed=("figure9", "zero"), source="thesis 3.2; figure 9 is missing from the text", standing=DERIVED,
        state=True, read_by=_LEE)
    xe_bits: int = param(2, "register xe of an EMC", unit="bits", low=1, high=4,
        source="thesis 2.2.9", standing=PRINTED, state=True, read_by=_LEE)
    ye_bits: int = param(2, "register ye of an EMC", unit="bits", low=1, high=4,
        source="thesis 2.2.9", standing=PRINTED, state=True, read_by=_LEE)
    xp_bits: int = param(8, "registers xp", unit="bits", low=1, high=10,
        because=_WRITTEN, source="thesis 2.2.9", standing=PRINTED, state=True, read_by=_LEE)
    yp_bits: int = param(7, "registers yp", unit="bits", low=1, high=8,
        because=_VALUE, source="thesis 2.2.9", standing=PRINTED, state=True, read_by=_LEE)
    xs_bits: int = param(4, "registers xs", unit="bits", low=1, high=8,
        because=_VALUE, source="thesis 2.2.9", standing=PRINTED, state=True, read_by=_LEE)
    ys_bits: int = param(4, "registers ys", unit="bits", low=1, high=8,
        because=_VALUE, source="thesis 2.2.9", standing=PRINTED, state=True, read_by=_LEE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TasicConfig:
    """Texture ASICs: the path between local ports and texture memory."""

    read_overhead_cycles: int = param(1, "cycles of a read beyond its SDRAM slot", unit="cycles", low=0, high=1024,
        source="table 6 counts 12 cycles a read where table 2 and section 3.5 have 11; the difference is unexplained",
        standing=FITTED, matters="reads", read_by=_TASIC, moved=(0, 2))
    port_bytes_per_cycle: int = param(1, "wire between one EMC and the TASICs, each way", unit="bytes", low=1, high=32,
        because=_PORT, source="3.2 GB/s of a node over 32 EMCs at 100 MHz", standing=DERIVED,
        matters="transfers", read_by=_TASIC)
    path_bytes_per_cycle: int = param(8, "path from the TASICs of a module to those of another", unit="bytes", low=1,
        high=256, source="not printed; 2.2.1 names the geometry network as its other end, which has 800 MB/s",
        standing=INVENTED, matters="crossings", added=True, read_by=_TASIC, moved=(1, 32))


@dataclass(frozen=True, slots=True, kw_only=True)
class SdramConfig:
    """Texture memory: size of the synchronous DRAMs and their times, in clocks of 10 ns."""

    devices_per_module: int = param(8, "SDRAMs of a module, one for each word of a port", unit="devices", allowed=(8,),
        because=_FIXED, source="thesis 2.2.1", standing=PRINTED, matters="transfers", state=True, read_by=_TEXTURE)
    banks: int = param(2, "banks of an SDRAM", unit="banks", allowed=(2, 4, 8),
        because=_BANKS, source="thesis 2.2.6", standing=PRINTED, matters="transfers", state=True, read_by=_TEXTURE)
    rows: int = param(2048, "rows of a bank", unit="rows", low=1, high=131072,
        source="thesis 2.2.6", standing=PRINTED, matters="transfers", state=True, read_by=_TEXTURE)
    columns: int = param(512, "columns (bytes) of a row", unit="bytes", low=8, high=131072,
        source="thesis 2.2.6; 2.2.7 halves the total by mistake", standing=PRINTED,
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
        matters="transfers", read_by=_SDRAM)
    refresh_interval_cycles: int = param(1560, "from one refreshed row to the next", unit="cycles",
        low=64, high=1_000_000, source="15.6 us at 100 MHz", standing=INVENTED, matters="refresh",
        read_by=_SDRAM, moved=(780,))
    check_commands: bool = param(False, "every access is scheduled, every command checked", unit="",
        source="an option of the model; times do not change", standing=INVENTED, matters="option",
        read_by=_SDRAM, moved=(True,))
    equal_slots: bool = param(True, "accesses take equal slots (false: a greedy controller)", unit="",
        source="table 2", standing=DERIVED, matters="transfers", read_by=_SDRAM)


@dataclass(frozen=True, slots=True, kw_only=True)
class GniConfig:
    """Geometry network interface and the two general purpose processors behind it."""

    mb_per_second: int = param(800, "GNI", unit="MB/s", low=1, high=1_000_000,
        source="thesis 3.8", standing=PRINTED, matters="paths", read_by=_GNI)
    gp_count: int = param(2, "GPs of a node", unit="GPs", low=1, high=8,
        source="thesis 2.2.1", standing=PRINTED, matters="paths", state=True, read_by=_GNI)
    gp_memory_mb_per_second: int = param(200, "path to GP memory", unit="MB/s", low=1, high=1_000_000,
        source="thesis 3.8", standing=PRINTED, matters="paths", read_by=_GNI)
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
        read_by=_GNI, moved=(1, 4))


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
        source="thesis 3.6, footnote: separate memory for it", standing=DERIVED,
        matters="pictures", read_by=_COMPOSITION)
# fmt: on


# Configuration of instructions: sequencers, supply of words, and cycles beyond the declared steps.


_IGC = "pixelflow/node/run/stream.py"
_SUPPLY = "pixelflow/node/run/supply.py"
_STALLS = "pixelflow/node/run/stalls.py"


# The tables below stay aligned, as those of `tree.py`.
# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True)
class IgcConfig:
    """The two instruction sequencers, EIGC and TIGC."""

    control_cycles: int = param(0, "cost of a loop, call, return, jump, free semaphore or halt", unit="cycles",
        low=0, high=64, source="the IGC runs ahead, which leaves tables 3 and 4 their cycles", standing=INVENTED,
        matters="control", read_by=_IGC, moved=(1,))
    fold_loops: bool = param(True, "LOOP and ENDL are folded into other instructions, and take no cycle", unit="",
        source="no published value; false: a cycle each, in which the PEs wait unless the IGC is ahead, by at most 4",
        standing=INVENTED, matters="rounds", read_by=_STALLS, added=True, moved=(False,))
    call_depth: int = param(16, "calls inside calls", unit="frames", low=1, high=1024,
        source="no published value", standing=INVENTED, matters="limit", state=True, read_by=_IGC)
    loop_depth: int = param(16, "loops inside loops", unit="loops", low=1, high=1024,
        source="no published value", standing=INVENTED, matters="limit", state=True, read_by=_IGC)
    supply: int = param(0, "path of instruction words to the IGCs; 0: words are there at once", unit="MB/s",
        low=0, high=1_000_000, source="the thesis counts no time for it, and prints no path to the IGCs",
        standing=INVENTED, matters="delivery", read_by=_SUPPLY, added=True, moved=(200,))
    shared_supply: bool = param(False, "one path of instruction words for both IGCs, not one each", unit="",
        source="no published value; where both have room they take turns, word by word", standing=INVENTED,
        matters="both supplied", read_by=_SUPPLY, added=True, moved=(True,))
    prefetch: bool = param(True, "words are sent before their instruction is the next one", unit="",
        source="no published value; the order of execution depends on no data", standing=INVENTED,
        matters="supply", read_by=_SUPPLY, added=True, moved=(False,))
    fifo_words: int = param(64, "instruction words that an IGC holds before they are executed", unit="words",
        low=8, high=1_048_576, source="no published value; one of the longest instruction is 7", standing=INVENTED,
        matters="supply", read_by=_SUPPLY, added=True, moved=(8,))
    memory_words: int = param(4096, "instruction words of routines and loops that stay in an IGC", unit="words",
        low=0, high=1_048_576, source="no published value; a float library has less", standing=INVENTED,
        matters="pieces", read_by=_SUPPLY, added=True, moved=(0,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraConfig:
    """Cycles of instructions beyond their declared steps, on a machine that lacks an ability.

    All are 0 by default. Sources give the sequence into which an instruction is lowered.
    """

    memory_operand: int = param(0, "arithmetic and logic on a memory byte", unit="cycles", low=0, high=16,
        source="1 where the byte is loaded first, into a latch of the ALU", standing=INVENTED,
        matters="extra memory_operand", read_by=_SUPPLY, added=True, moved=(1,))
    memory_shift: int = param(0, "a shift of a memory byte", unit="cycles", low=0, high=16,
        source="1 where the byte is loaded first: LD r, then the shift of r", standing=INVENTED,
        matters="extra memory_shift", read_by=_SUPPLY, added=True, moved=(1,))
    gated_write: int = param(0, "an instruction with the suffix .E", unit="cycles", low=0, high=16,
        source="3 where only stores can be gated: STA of the old value, the operation, ST of the new one, LD",
        standing=INVENTED, matters="extra gated_write", read_by=_SUPPLY, added=True, moved=(3,))
    other_result: int = param(0, "arithmetic, logic or a shift with its result in S or M", unit="cycles",
        low=0, high=16, source="4 where R alone takes results: R is stored, loaded, used, moved, loaded again",
        standing=INVENTED, matters="extra other_result", read_by=_SUPPLY, added=True, moved=(4,))
    store_immediate: int = param(0, "STI", unit="cycles", low=0, high=16,
        source="1 where a register is free for the constant: LD, ST", standing=INVENTED,
        matters="extra store_immediate", read_by=_SUPPLY, added=True, moved=(1,))
    store_enable: int = param(0, "STE", unit="cycles", low=0, high=16,
        source="3 where a register is free: LD 0, STA, LD 1, ST", standing=INVENTED,
        matters="extra store_enable", read_by=_SUPPLY, added=True, moved=(3,))
    pair_shift: int = param(0, "SHLP and SHRP", unit="cycles", low=0, high=16,
        source="1 where the registers are shifted one after the other", standing=INVENTED,
        matters="extra pair_shift", read_by=_SUPPLY, added=True, moved=(1,))
    multiply_step: int = param(0, "MSTEP", unit="cycles", low=0, high=16,
        source="1 where the sum is formed first and the pair shifted then", standing=INVENTED,
        matters="extra multiply_step", read_by=_SUPPLY, added=True, moved=(1,))
    enable: int = param(0, "an instruction that sets, saves or restores enables", unit="cycles", low=-1, high=16,
        source="-1 where it is part of the instruction before it", standing=INVENTED,
        matters="extra enable", read_by=_SUPPLY, added=True, moved=(-1,))
    start: int = param(0, "START, the start-up of a routine", unit="cycles", low=-1, high=16,
        source="-1 where a routine begins at once; fits 16- and 32-bit addition in 7 and 13 cycles", standing=FITTED,
        matters="extra start", read_by=_SUPPLY, added=True, moved=(-1, 1))
    lee_start: int = param(0, "a load or compare of the LEE", unit="cycles", low=-1, high=16,
        source="-1 where it has no start-up; one fits table 4 and 2.2.4", standing=FITTED,
        matters="extra lee_start", read_by=_SUPPLY, added=True, moved=(-1,))
    copy_start: int = param(0, "PixCopy and PixSwap", unit="cycles", low=-2, high=16,
        source="-1 without its last cycle, -2 without its start-up as well; two fit table 6", standing=FITTED,
        matters="extra copy_start", read_by=_SUPPLY, added=True, moved=(-1, -2))
    store_then_read: int = param(0, "a read of memory in the cycle after a store", unit="cycles", low=0, high=16,
        source="1 where one port takes its address a cycle before the byte is there", standing=INVENTED,
        matters="stores before reads", read_by=_STALLS, added=True, moved=(1,))
# fmt: on


# Checks of combinations of values that are valid one by one.


ADDRESS_BITS = 21
"""Bits of an address inside one SDRAM, by the instruction set (bank 1, row 11, column 9: thesis 2.2.6)."""

COORDINATE_BITS = 16
"""Bits of x and y of a PE: what the sum of a linear expression is counted with (derived, thesis 2.2.9)."""


def _combination_faults(config: NodeConfig) -> Iterator[Fault]:
    array, lee, sdram, gni = config.array, config.lee, config.sdram, config.gni
    for name, size in (("rows", sdram.rows), ("columns", sdram.columns)):
        if size & (size - 1):
            yield Fault(f"sdram.{name}: {size} is not a power of two", hint="addresses are taken apart bit by bit")
    if sdram.banks * sdram.rows * sdram.columns > 1 << ADDRESS_BITS:
        yield Fault(
            f"sdram.rows: {sdram.banks} banks of {sdram.rows} rows of {sdram.columns} bytes are more than "
            f"{ADDRESS_BITS} address bits reach",
            hint=f"{_FIXED}: banks * rows * columns is at most {1 << ADDRESS_BITS}",
        )
    for axis, shift, panel, step in (
        ("x", lee.xe_bits, lee.xp_bits, lee.xs_bits),
        ("y", lee.ye_bits, lee.yp_bits, lee.ys_bits),
    ):
        most = ((1 << panel) - 1 << (1 << shift) - 1) + (1 << step) - 1
        if most >> COORDINATE_BITS:  # lane engines cannot hold it
            yield Fault(
                f"lee.{axis}e_bits: {axis} could reach {most} with {shift} bits of {axis}e, {panel} of {axis}p and "
                f"{step} of {axis}s",
                hint=f"a coordinate has {COORDINATE_BITS} bits: at most {(1 << COORDINATE_BITS) - 1}",
            )
    for name in ("mb_per_second", "gp_memory_mb_per_second"):
        if (value := getattr(gni, name)) % config.clock_mhz:
            yield Fault(
                f"gni.{name}: {value} MB/s are not a whole number of bytes a cycle at {config.clock_mhz} MHz",
                hint=f"allowed: multiples of {config.clock_mhz}, the clock (clock_mhz)",
            )
    if sdram.trc_cycles < sdram.tras_cycles + sdram.trp_cycles:
        yield Fault(
            f"sdram.trc_cycles: {sdram.trc_cycles} is below tras_cycles + trp_cycles = "
            f"{sdram.tras_cycles} + {sdram.trp_cycles}",
            hint="a bank cannot open a row before it has closed the last one",
        )
    # Figure 9 numbers 16 columns for each EMC and 16 rows for each module.
    for key, bits, needed in (
        ("lee.xp_bits", lee.xp_bits, 16 * array.emcs_per_module - 1),
        ("lee.yp_bits", lee.yp_bits, 16 * array.modules - 1),
        ("lee.ys_bits", lee.ys_bits, 3),
    ):
        if lee.arrangement == "figure9" and needed >> bits:
            yield Fault(
                f"{key}: {bits} bits cannot hold {needed}, which the arrangement figure9 needs",
                hint=f"allowed: {needed.bit_length()} bits or more, or fewer modules and EMCs",
            )


# The configuration tree of a node, its derived totals and its fingerprint.
#
# A tree is checked as a whole when it is built, so that every fault is reported at once.


# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NodeConfig(Shown):
    """One PixelFlow node.

    Building one checks every value and their combinations, and raises an InputError that holds all faults.
    """

    clock_mhz: int = param(100, "clock of the array and of texture memory", unit="MHz", low=1, high=10_000,
        source="thesis 2.2.3", standing=Standing.THESIS, read_by=_NODE)
    array: ArrayConfig = section(ArrayConfig)
    lee: LeeConfig = section(LeeConfig)
    igc: IgcConfig = section(IgcConfig)
    extra: ExtraConfig = section(ExtraConfig)
    tasic: TasicConfig = section(TasicConfig)
    sdram: SdramConfig = section(SdramConfig)
    gni: GniConfig = section(GniConfig)
    composition: CompositionConfig = section(CompositionConfig)
    # fmt: on

    def __post_init__(self) -> None:
        check_values(self)
        if faults := list(_combination_faults(self)):
            raise InputError(faults)

    def __repr__(self) -> str:
        return f"NodeConfig({self.lanes} PEs at {self.clock_mhz} MHz, sha256 {self.sha256[:12]})"

    def report(self) -> Report:
        """Return every value with its unit and standing."""
        rows = tuple((key, str(value), known.unit, known.standing.value) for key, known, value, _ in leaves(self))
        facts = (("sha256", self.sha256), *((name, f"{total:,}") for name, total in self.derived.items()))
        return overview("configuration of a node", facts, (plain_table(("key", "value", "unit", "standing"), rows),))

    @property
    def lanes(self) -> int:
        """PEs of the node: 8192 on the thesis machine."""
        return self.array.lanes

    @property
    def values(self) -> dict[str, Value]:
        """Every value by its dotted key, in declaration order."""
        return {key: value for key, _, value, _ in leaves(self)}

    @property
    def derived(self) -> dict[str, int]:
        """Totals that follow from the values, by name."""
        array, sdram = self.array, self.sdram
        module_bytes = sdram.devices_per_module * sdram.banks * sdram.rows * sdram.columns
        return {
            "EMCs": array.emcs,
            "panels": array.panels,
            "blocks": array.blocks,
            "PEs": array.lanes,
            "bytes of a PE": array.bytes_of_pe,
            "bytes of all PEs": array.bytes_of_pe * array.lanes,
            "texture bytes of a module": module_bytes,
        }

    @property
    def sha256(self) -> str:
        """Fingerprint of the effective values; equal for equal machines, whatever file or version they came from."""
        values = {key: value for key, known, value, default in leaves(self) if not known.added or value != default}
        text = json.dumps(values, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def seconds(self, cycles: int) -> float:
        """Return the machine time of ``cycles`` in seconds."""
        return cycles / (self.clock_mhz * 1e6)


# Named machines, and the files that start from them.


THESIS = NodeConfig()
"""The node of the thesis: 4 modules x 8 EMCs x 8 panels x 32 PEs = 8192 PEs at 100 MHz."""

TINY = NodeConfig(array=ArrayConfig(modules=1, emcs_per_module=1))
"""One module of one EMC: 256 PEs with the same panels, memory and widths; for tests and teaching."""

LARGE = NodeConfig(array=ArrayConfig(emcs_per_module=32), lee=LeeConfig(xp_bits=9))
"""Four times the thesis machine: 32 EMCs in each of 4 modules, 32,768 PEs; registers xp for 512 columns."""

PRESETS = MappingProxyType({"thesis": THESIS, "tiny": TINY, "large": LARGE})
"""Every preset by the name that a configuration file gives in ``preset = ...``."""

_FILES = ConfigFiles(PRESETS)
load_effective, override_faults = _FILES.load_effective, _FILES.override_faults


def load_config(
    path: str | Path | None = None, overrides: Iterable[str] = (), preset: str | None = None
) -> NodeConfig:
    """Return the configuration of a file (or of the preset alone), changed by ``overrides`` (``"key=value"``).

    ``preset`` wins over the one that the file names; without either it is the thesis's. Raises InputError.
    """
    return load_effective(path, overrides, preset).config


def config_of(config: NodeConfig | str) -> NodeConfig:
    """Return a configuration, or the preset of a name; raises InputError for anything else."""
    if isinstance(config, str) and config not in PRESETS:
        hint = suggestion(config, PRESETS, f"presets: {', '.join(PRESETS)}")
        raise InputError(Fault(f"there is no preset {config[:40]!r}", hint=hint))
    found = PRESETS[config] if isinstance(config, str) else config
    must_be(found, NodeConfig, "a NodeConfig", "THESIS is one, TINY a small one; load_config() reads files")
    return found
def json_schema() -> dict[str, object]:
    """Return the JSON Schema of a node's configuration file."""
    return schema.json_schema(PRESETS, "PixelFlow node")
