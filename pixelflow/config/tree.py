"""The configuration tree: every size, width and time that the model takes as data.

Each value states its unit, where it comes from and how well founded it is. Section and table numbers are those of
Keller's thesis (UNC TR95-043). A tree is checked as a whole when the :class:`NodeConfig` is built, so that every
fault is reported at once; the sections alone are plain values.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pixelflow.config.instructions import ExtraConfig, IgcConfig
from pixelflow.simd.config.param import Value, check_values, leaves, param, section
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import Report, Shown, overview, plain_table
from pixelflow.simd.units import Standing

__all__ = [
    "ArrayConfig",
    "CompositionConfig",
    "ExtraConfig",
    "GniConfig",
    "IgcConfig",
    "LeeConfig",
    "NodeConfig",
    "SdramConfig",
    "TasicConfig",
]

THESIS, DERIVED, FITTED, INVENTED = Standing.THESIS, Standing.DERIVED, Standing.FITTED, Standing.INVENTED

BLOCK_PES = 16
"""PEs of a block, the unit of patch mapping (thesis 3.2, figure 8); fixed, because figure 8 has no other size."""

ADDRESS_BITS = 21
"""Bits of an address inside one SDRAM, by the instruction set (bank 1, row 11, column 9: thesis 2.2.6)."""

COORDINATE_BITS = 16
"""Bits of x and y of a PE: what the sum of a linear expression is counted with (derived, thesis 2.2.9)."""

_FIXED = "the instruction set fixes it"
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
_COMPOSITION = "tessellation/rendering/composition_time.py"


# The tables below stay aligned: one value, then what is known about it; the words of ``matters`` are those of
# `pixelflow/node/account/guesses.py`.
# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayConfig:
    """The PE array: modules of EMCs of panels of PEs, and the memory of one PE."""

    modules: int = param(4, "modules of a node", unit="modules", low=1, high=8,
        source="thesis 2.2.1", standing=THESIS, state=True, read_by=_ARRAY)
    emcs_per_module: int = param(8, "EMC chips of a module", unit="EMCs", low=1, high=8,
        source="thesis 2.2.1", standing=THESIS, state=True, read_by=_ARRAY)
    panels_per_emc: int = param(8, "panels of an EMC", unit="panels", allowed=(2, 4, 8),
        source="thesis 2.2.1", standing=THESIS, state=True, read_by=_ARRAY)
    pes_per_panel: int = param(32, "PEs of a panel", unit="PEs", allowed=(32,),
        source="thesis 2.2.1", standing=THESIS, state=True, read_by=_ARRAY)
    main_bytes: int = param(256, "main memory of a PE, from address 0", unit="bytes", allowed=(256,),
        because=_FIXED, source="thesis 3.6", standing=THESIS, state=True, read_by=_ARRAY)
    composition_bytes: int = param(64, "image composition memory, past main memory", unit="bytes", allowed=(64,),
        because=_FIXED,
        source="thesis 3.6; its place in the address map is invented", standing=THESIS, state=True, read_by=_ARRAY)
    port_bytes: int = param(32, "each of the two local ports (input, then output)", unit="bytes", allowed=(32,),
        because=_FIXED,
        source="thesis 2.2.1; their place in the address map is invented", standing=THESIS, state=True, read_by=_ARRAY)

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
        """Bytes of one PE: main, image composition and both local ports; 384 on the thesis machine."""
        return self.output_port_start + self.port_bytes

    @property
    def composition_start(self) -> int:
        """First address of image composition memory."""
        return self.main_bytes

    @property
    def input_port_start(self) -> int:
        """First address of the input local port."""
        return self.main_bytes + self.composition_bytes

    @property
    def output_port_start(self) -> int:
        """First address of the output local port."""
        return self.input_port_start + self.port_bytes


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
    xp_bits: int = param(8, "registers xp", unit="bits", low=1, high=8,
        because=_VALUE, source="thesis 2.2.9", standing=THESIS, state=True, read_by=_LEE)
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
    port_bytes_per_cycle: int = param(1, "wire between one EMC and the TASICs, each way", unit="bytes", low=1, high=8,
        source="3.2 GB/s of a node over 32 EMCs at 100 MHz", standing=DERIVED, matters="transfers", read_by=_TASIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SdramConfig:
    """Texture memory: size of the synchronous DRAMs and their times, in clocks of 10 ns."""

    devices_per_module: int = param(8, "SDRAMs of a module, one for each word of a port", unit="devices", allowed=(8,),
        because=_FIXED, source="thesis 2.2.1", standing=THESIS, matters="transfers", state=True, read_by=_TEXTURE)
    banks: int = param(2, "banks of an SDRAM", unit="banks", allowed=(2, 4),
        source="thesis 2.2.6", standing=THESIS, matters="transfers", state=True, read_by=_TEXTURE)
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
    node_cycles: int = param(2, "a byte's arrival at a node to its departure", unit="cycles", low=0, high=1024,
        source="not printed; one to compare and one to hand on", standing=INVENTED,
        matters="pictures", read_by=_COMPOSITION, moved=(1, 4))
    regions_held: int = param(1, "regions in image composition memory, the one being sent among them", unit="regions",
        low=1, high=10, source="room for 10 of 6 bytes; no way to hold more than one is printed",
        standing=INVENTED, matters="pictures", read_by=_COMPOSITION, moved=(2,))
    overlap: bool = param(True, "a node draws the next region while one is sent", unit="",
        source="thesis 3.6, footnote: memory of its own for it", standing=DERIVED,
        matters="pictures", read_by=_COMPOSITION)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NodeConfig(Shown):
    """One PixelFlow node.

    Building one checks every value and their combinations, and raises an InputError that holds all faults.
    """

    clock_mhz: int = param(100, "clock of the array and of texture memory", unit="MHz", low=1, high=10_000,
        source="thesis 2.2.3", standing=THESIS, read_by=_NODE)
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
        faults = combination_faults(self)
        if faults:
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
            "bytes of a PE": array.memory_bytes,
            "bytes of all PEs": array.memory_bytes * array.lanes,
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


def combination_faults(config: NodeConfig) -> list[Fault]:
    """Return what is wrong with values that are right one by one."""
    faults = []
    sdram, lee, array = config.sdram, config.lee, config.array
    faults += _size_faults(sdram) + _coordinate_faults(lee) + _bandwidth_faults(config)
    if sdram.trc_cycles < sdram.tras_cycles + sdram.trp_cycles:
        faults.append(
            Fault(
                f"sdram.trc_cycles: {sdram.trc_cycles} is below tras_cycles + trp_cycles = "
                f"{sdram.tras_cycles} + {sdram.trp_cycles}",
                hint="a bank cannot open a row before it has closed the last one",
            )
        )
    if lee.arrangement == "figure9":
        # Figure 9 numbers 16 columns for each EMC and 16 rows for each module.
        for key, bits, needed in (
            ("lee.xp_bits", lee.xp_bits, 16 * array.emcs_per_module - 1),
            ("lee.yp_bits", lee.yp_bits, 16 * array.modules - 1),
            ("lee.ys_bits", lee.ys_bits, 3),
        ):
            if needed >> bits:
                faults.append(
                    Fault(
                        f"{key}: {bits} bits cannot hold {needed}, which the arrangement figure9 needs",
                        hint=f"allowed: {needed.bit_length()} bits or more, or fewer modules and EMCs",
                    )
                )
    return faults


def _size_faults(sdram: SdramConfig) -> list[Fault]:
    faults = [
        Fault(f"sdram.{name}: {size} is not a power of two", hint="addresses are taken apart bit by bit")
        for name, size in (("rows", sdram.rows), ("columns", sdram.columns))
        if size & (size - 1)
    ]
    if sdram.banks * sdram.rows * sdram.columns > 1 << ADDRESS_BITS:
        faults.append(
            Fault(
                f"sdram.rows: {sdram.banks} banks of {sdram.rows} rows of {sdram.columns} bytes are more than "
                f"{ADDRESS_BITS} address bits reach",
                hint=f"{_FIXED}: banks * rows * columns is at most {1 << ADDRESS_BITS}",
            )
        )
    return faults


def _coordinate_faults(lee: LeeConfig) -> list[Fault]:
    """Every value of the registers must give a coordinate that all lane engines can hold."""
    faults = []
    for axis, shift, panel, step in (
        ("x", lee.xe_bits, lee.xp_bits, lee.xs_bits),
        ("y", lee.ye_bits, lee.yp_bits, lee.ys_bits),
    ):
        most = ((1 << panel) - 1 << (1 << shift) - 1) + (1 << step) - 1
        if most >> COORDINATE_BITS:
            faults.append(
                Fault(
                    f"lee.{axis}e_bits: {axis} could reach {most} with {shift} bits of {axis}e, {panel} of {axis}p and "
                    f"{step} of {axis}s",
                    hint=f"a coordinate has {COORDINATE_BITS} bits: at most {(1 << COORDINATE_BITS) - 1}",
                )
            )
    return faults


def _bandwidth_faults(config: NodeConfig) -> list[Fault]:
    return [
        Fault(
            f"gni.{name}: {value} MB/s are no whole number of bytes a cycle at {config.clock_mhz} MHz",
            hint=f"allowed: multiples of {config.clock_mhz}, the clock (clock_mhz)",
        )
        for name in ("mb_per_second", "gp_memory_mb_per_second")
        if (value := getattr(config.gni, name)) % config.clock_mhz
    ]
