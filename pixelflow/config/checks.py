"""Checks of a configuration whose values are right one by one: what cannot be together, and why."""

from __future__ import annotations

from pixelflow.config.sections import ArrayConfig, GniConfig, LeeConfig, SdramConfig
from pixelflow.simd.errors import Fault

__all__ = ["ADDRESS_BITS", "COORDINATE_BITS", "combination_faults"]

ADDRESS_BITS = 21
"""Bits of an address inside one SDRAM, by the instruction set (bank 1, row 11, column 9: thesis 2.2.6)."""

COORDINATE_BITS = 16
"""Bits of x and y of a PE: what the sum of a linear expression is counted with (derived, thesis 2.2.9)."""

_FIXED = "the instruction set fixes it"


def combination_faults(
    clock_mhz: int, array: ArrayConfig, lee: LeeConfig, sdram: SdramConfig, gni: GniConfig
) -> list[Fault]:
    """Return what is wrong with values that are right one by one."""
    faults = _size_faults(sdram) + _coordinate_faults(lee) + _bandwidth_faults(gni, clock_mhz)
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


def _bandwidth_faults(gni: GniConfig, clock_mhz: int) -> list[Fault]:
    return [
        Fault(
            f"gni.{name}: {value} MB/s are no whole number of bytes a cycle at {clock_mhz} MHz",
            hint=f"allowed: multiples of {clock_mhz}, the clock (clock_mhz)",
        )
        for name in ("mb_per_second", "gp_memory_mb_per_second")
        if (value := getattr(gni, name)) % clock_mhz
    ]
