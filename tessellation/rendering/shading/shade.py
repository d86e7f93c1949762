"""Shading of a region whose records are there: colours divided, texels read and filtered, their product.

Every PE shades the record that it has, whoever rasterized it: once for each sample that is seen, whatever was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from microcode import Builder, Imm, Program, Register
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import DEPTH_FRACTION
from tessellation.rendering.instructions import DIVISION_STAGE, emit_division
from tessellation.rendering.shading.materials import Material, ShadedFrame
from tessellation.rendering.shading.record import MATERIAL, SampleRecord
from tessellation.rendering.shading.texels import (
    SCRATCH,
    SOURCES,
    TEXEL,
    TexelPrograms,
    TexelStage,
    emit_only,
    reserved,
)

__all__ = ["MODULATE_STAGE", "include_filters", "read_pixels", "shade_region", "shading_program"]

R = Register.R
MODULATE_STAGE = "texel times colour"


def shade_region(node: Node, shaded: ShadedFrame, materials: Sequence[Material]) -> Run | None:
    """Shade the records in PE memory, which have these materials or none; return the run, None where nothing is to do.

    Colours of 8 bits are then in `SampleRecord.finished`, depths where they were. Textures must be in texture memory.
    """
    some = tuple(each for each in materials if each.divided or each.texture is not None)
    return node.run(shading_program(shaded, some)) if some else None


@lru_cache(maxsize=64)
def shading_program(shaded: ShadedFrame, materials: tuple[Material, ...]) -> Program:
    """Return the program that shades records of some materials, the same for every region."""
    builder = Builder("shading")
    rest, quotient = reserved(builder)
    record = shaded.record
    divided = [shaded.number(each) for each in materials if each.divided]
    textured = [each for each in materials if each.texture is not None]
    if divided:
        builder.mark(DIVISION_STAGE)
        _emit_between(builder, divided)
        emit_division(builder, record.colours, record.group(), rest, quotient)
    if textured:
        _emit_texels(builder, shaded, textured)
        builder.mark(MODULATE_STAGE)
        _emit_between(builder, [shaded.number(each) for each in textured])
        for channel, colour in enumerate(record.finished):
            builder.call("modulated", colour, TEXEL[channel])
    return builder.build()


def _emit_texels(builder: Builder, shaded: ShadedFrame, materials: Sequence[Material]) -> None:
    """Emit the way from coordinates to texels."""
    builder.mark(TexelStage.COORDINATES)
    texels = TexelPrograms.within(builder, shaded, materials)
    groups = shaded.record.group()
    if texels.block and shaded.record.slopes:
        groups = texels.around(groups)
    for divided in (False, True):
        for bits in sorted({each.bits for each in materials if each.divided == divided}):
            some = [shaded.number(each) for each in materials if each.divided == divided and each.bits == bits]
            emit_only(builder, some)
            texels.coordinates(groups, divided=divided, bits=bits)
    texels.detail()
    builder.mark(TexelStage.LEVELS)
    for texture in sorted({each.texture for each in materials if each.texture is not None}):
        emit_only(builder, [shaded.number(each) for each in materials if each.texture == texture])
        texels.levels(texture)
    texels.addresses()
    _emit_between(builder, [shaded.number(each) for each in materials])
    texels.read()
    texels.filtered(range(3 if all(each.alpha is None for each in materials) else 4))


def include_filters(builder: Builder) -> None:
    """Include the routines that multiply colours, and blend them."""
    for name in ("filter", "blend"):
        builder.include(str(SOURCES / f"{name}.mc"), SCRATCH=SCRATCH)


def _emit_between(builder: Builder, numbers: Sequence[int]) -> None:
    """Emit that only PEs are enabled whose material is from the least to the largest of numbers."""
    builder.emit("LD", R, MATERIAL)
    builder.emit("CMP", R, Imm(min(numbers)))
    builder.emit("EC")
    if max(numbers) < 0xFF:
        builder.emit("CMP", R, Imm(max(numbers) + 1))
        builder.emit("EANDNC")


def read_pixels(node: Node, record: SampleRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return depths, int64[lane], and colours, uint8[lane, rgb], of records that were shaded."""
    depths = (node.read_word(record.depth.offset, 4) >> np.uint64(DEPTH_FRACTION)).astype(np.int64)
    return depths, np.stack([node.read_memory(place.offset)[0] for place in record.finished], axis=-1)
