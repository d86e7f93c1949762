"""What a shader does with the samples of a region when they are shaded: their mean, and finished pixels that leave.

The mean of four colours is (sum + 2) >> 2. Sums, of two bytes for each of red, green and blue, stay in main memory from
sample to sample; finished pixels have the last bytes of image composition memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.config import ArrayConfig

__all__ = ["FINISHING_STAGE", "SAMPLE_STAGE", "SUMS", "finished_place", "finishing_program", "sample_program"]

SAMPLE_STAGE = "samples added up"
FINISHING_STAGE = "finished pixels"
"""Names of stages in cycle reports."""

SUMS = 240
"""Where sums begin in main memory: six bytes. Layers (`shading/layers.py`) have the eight that follow."""

_CHANNELS = 3
_ROUNDING = 2
"""Half of four."""


def finished_place(array: ArrayConfig) -> int:
    """Return where finished pixels lie: red, green, blue."""
    return array.composition_start + array.composition_bytes - _CHANNELS


def _sums() -> list[tuple[Mem, Mem]]:
    return [(Mem(SUMS + 2 * channel), Mem(SUMS + 2 * channel + 1)) for channel in range(_CHANNELS)]


@cache
def sample_program(colours: Sequence[int], sample: int, samples: int) -> Program:
    """Return the program that adds a sample, whose colour bytes lie at ``colours``, to the sums of its pixels."""
    register = Register.R
    builder = Builder(f"sample {sample + 1} of {samples}")
    builder.mark(SAMPLE_STAGE)
    builder.emit("EMC_SetEnab")
    for place, (low, high) in zip(colours, _sums(), strict=True):
        builder.emit("LD", register, Mem(place))
        if samples == 1:
            builder.emit("ST", low, register)
            continue
        builder.emit("ADD", register, low if sample else Imm(_ROUNDING))
        builder.emit("ST", low, register)
        builder.emit("LD", register, high if sample else Imm(0))
        builder.emit("ADC", register, Imm(0))
        builder.emit("ST", high, register)
    return builder.build()


@cache
def finishing_program(place: int, samples: int) -> Program:
    """Return the program that puts the means of a region's samples to ``place``."""
    builder = Builder("finished pixels")
    builder.mark(FINISHING_STAGE)
    builder.emit("EMC_SetEnab")
    for channel, (low, high) in enumerate(_sums()):
        builder.emit("LD", Register.S, low)
        if samples > 1:
            builder.emit("LD", Register.R, high)
            builder.emit("SHRP")
            builder.emit("SHRP")
        builder.emit("ST", Mem(place + channel), Register.S)
    return builder.build()
