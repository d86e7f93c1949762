"""Deferred shading on the array: texels at the coordinates of each PE, and one shading of each record (2.2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from microcode import Builder, Imm, Mem, Program, Range, Register
from pixelflow.isa import INPUT_PORT, OUTPUT_PORT
from pixelflow.node import Node, Run
from pixelflow.simd.files import shipped
from tessellation.microprogram.ports import ARRIVED, FREE, emit_copy
from tessellation.rendering.instructions import DIVISION_STAGE, emit_division
from tessellation.rendering.materials import GROUP_BYTES, MATERIAL, LevelPlace, Material, ShadedFrame

# Texels: coordinates, level of detail, addresses, a read of texture memory, filter.
#
# These steps are emitted into a program of the EIGC, the read also into the TIGC's. They are executed in every PE,
# textured or not; the TASICs serve only marked PEs, and only these keep the result.


R = Register.R
SOURCES = shipped("tessellation", "rendering", "microcode")

WON = Mem(66)
"""1 if the triangle being drawn is nearest, else 0."""
_ODD_X, _ODD_Y, _LEVEL, _FRACTION, _HALF = (Mem(67 + index) for index in range(5))
WORK = Mem(72)
"""Divisor, u and v of four pixels of the triangle being drawn."""
_UV = Mem(120)
_BLOCKS = (Mem(152), Mem(161))
"""The selected level and the next: shift, then mask and place of columns and of rows, 2 bytes each."""
_WEIGHTS = (Mem(170), Mem(174))
TEXEL = Mem(178)
"""Red, green, blue and opacity of the texel, 8 bits each."""
_NEXT_TEXEL = Mem(182)
_OWN = Mem(186)
"""u and v of this pixel after the block has been reordered."""
SCRATCH = 194
"""Ends at 239."""
_LEVEL_BYTES = 9
_DEVICE_BYTES = 16
_ALPHA = 3


class TexelStage:
    """Names of stages in cycle reports."""

    COORDINATES = "coordinates"
    DETAIL = "detail"
    LEVELS = "levels"
    ADDRESSES = "addresses"
    READ = "texels"
    FILTER = "filter"


def reserved(builder: Builder) -> tuple[Range, Range]:
    """Reserve the PE memory of records and texels; return scratch of 4 bytes and of 1 for divisions."""
    builder.range("shading", SCRATCH, at=0)
    return builder.range("rest", 4, at=SCRATCH), builder.range("quotient", 1, at=SCRATCH + 4)


def emit_only(builder: Builder, numbers: Sequence[int]) -> None:
    """Enable only the PEs whose record has one of the materials: 4 cycles each."""
    for index, number in enumerate(numbers):
        builder.emit("LD", R, MATERIAL)
        builder.emit("XOR", R, Imm(number))
        builder.emit("CMP", R, Imm(1))
        builder.emit("EORNC" if index else "ENC")


class TexelPrograms(NamedTuple):
    """Emitter of the steps of texturing, in a program that includes the routines once."""

    builder: Builder
    shaded: ShadedFrame
    block: bool
    """True with mipmaps, which need the coordinates of four pixels."""

    @classmethod
    def within(cls, builder: Builder, shaded: ShadedFrame, materials: Sequence[Material]) -> TexelPrograms:
        """Include the routines that textures of these materials need."""
        textures = shaded.textures.textures
        block = any(textures[each.texture].mipmaps for each in materials if each.texture is not None)
        if any(each.divided for each in materials):
            builder.include(str(SOURCES / "coordinates.mc"), BITS=shaded.bits, SCRATCH=SCRATCH)
        for name in ("address", "filter"):
            builder.include(str(SOURCES / f"{name}.mc"), SCRATCH=SCRATCH)
        if block:
            builder.include(
                str(SOURCES / "detail.mc"), SCRATCH=SCRATCH, UV=_UV.offset, OWN=_OWN.offset, SMALL=_BLOCKS[0].offset,
                ODD_X=_ODD_X.offset, ODD_Y=_ODD_Y.offset, LEVEL=_LEVEL.offset, FRACTION=_FRACTION.offset,
            )  # fmt: skip
            builder.emit("EMC_SetEnab")
            builder.emit("EMC_TreeIntoMem_Li", _ODD_X, 1, 1, 0, 0)
            builder.emit("EMC_TreeIntoMem_Li", _ODD_Y, 1, 0, 1, 0)
        return cls(builder, shaded, block)

    @property
    def _pixels(self) -> int:
        return 4 if self.block else 1

    def coordinates(self, groups: Mem, *, divided: bool, bits: int) -> None:
        """Emit u and v where enabled, from values starting at ``groups``, divided or copied; ``bits`` is K."""
        for pixel in range(self._pixels):
            divisor, (u, v) = groups[GROUP_BYTES * pixel], (groups[GROUP_BYTES * pixel + at] for at in (4, 8))
            at = _UV[8 * pixel]
            if not divided:
                emit_copy(self.builder, u, at, 8)
                continue
            for numerator, to in ((u, at), (v, at[4])):
                self.builder.call("coordinate", to, numerator, divisor)
                for _ in range((self.shaded.bits - bits) // 2):
                    self.builder.call("quarter", to)
            if pixel:
                for numerator in (u, v):
                    self.builder.call("known", at, numerator, divisor)

    def around(self, own: Mem) -> Mem:
        """Emit the values of the block in all PEs from those of this pixel and the slopes; return their address."""
        self.builder.emit("EMC_SetEnab")
        self.builder.call("around", WORK, own)
        return WORK

    def detail(self) -> None:
        """Emit the level of detail in all PEs, if there are mipmaps."""
        if self.block:
            self.builder.mark(TexelStage.DETAIL)
            self.builder.emit("EMC_SetEnab")
            self.builder.call("detail")

    def levels(self, texture: int) -> None:
        """Emit the places of the selected level and the next, where enabled."""
        builder, levels = self.builder, self.shaded.textures.levels[texture]
        last = len(levels) - 1
        if not last:
            self._level(levels[0], 0, _BLOCKS[0])
            if self.block:
                self._level(levels[0], 0, _BLOCKS[1])
                builder.emit("STI", _FRACTION, Imm(0))
            builder.emit("STI", _HALF, Imm(levels[0].half))
            return
        builder.emit("EPUSH")
        builder.emit("LD", R, _LEVEL)
        builder.emit("CMP", R, Imm(last))
        builder.emit("EANDC")
        builder.emit("STI", _LEVEL, Imm(last))
        builder.emit("STI", _FRACTION, Imm(0))
        builder.emit("EPOP")
        for number, level in enumerate(levels):
            builder.emit("EPUSH")
            builder.emit("LD", R, _LEVEL)
            builder.emit("XOR", R, Imm(number))
            builder.emit("CMP", R, Imm(1))
            builder.emit("EANDNC")
            following = min(number + 1, last)
            self._level(level, number, _BLOCKS[0])
            self._level(levels[following], following, _BLOCKS[1])
            builder.emit("STI", _HALF, Imm(level.half))
            builder.emit("EPOP")

    def _level(self, level: LevelPlace, number: int, to: Mem) -> None:
        values = [number]
        for shift, sides in ((2, (level.columns - 1, level.column)), (3, (level.rows - 1, level.row))):
            values += [side << shift >> 8 * byte & 0xFF for side in sides for byte in range(2)]
        assert len(values) == _LEVEL_BYTES
        for index, value in enumerate(values):
            self.builder.emit("STI", to[index], Imm(value))

    def addresses(self) -> None:
        """Emit the addresses of the texels in all PEs, into their output ports."""
        builder, port = self.builder, Mem(OUTPUT_PORT)
        builder.mark(TexelStage.ADDRESSES)
        builder.emit("EMC_SetEnab")
        place = _OWN if self.block else _UV
        for number in range(2 if self.block else 1):
            builder.call("addresses", place, _BLOCKS[number], _WEIGHTS[number], port[_DEVICE_BYTES * number])
        if self.block:
            self._exchange(port)
        else:
            emit_copy(builder, port, port[_DEVICE_BYTES], _DEVICE_BYTES)

    def _exchange(self, port: Mem) -> None:
        self.builder.emit("SHR", R, _HALF)
        self.builder.emit("EC")
        self.builder.call("exchange_halves", port)
        self.builder.emit("EMC_SetEnab")

    def read(self) -> None:
        """Emit a read of texture memory by the enabled PEs, and the wait for it."""
        builder = self.builder
        builder.mark(TexelStage.READ)
        builder.emit("EMC_MarkRead")
        builder.emit("EMC_SetEnab")
        builder.emit("SIGNAL", FREE)
        builder.emit("WAIT", ARRIVED)
        builder.stream("tigc")
        builder.emit("WAIT", FREE)
        builder.mark(TexelStage.READ)
        builder.emit("TAS_MemRdBlock4", 0)
        builder.emit("SIGNAL", ARRIVED)
        builder.stream("eigc")

    def filtered(self, channels: Sequence[int]) -> None:
        """Emit the filter of some channels in all PEs; 3 is the opacity."""
        builder, port = self.builder, Mem(INPUT_PORT)
        builder.mark(TexelStage.FILTER)
        if self.block:
            self._exchange(port)
        else:
            builder.emit("SHR", R, _HALF)
            builder.emit("EC")
            emit_copy(builder, port[_DEVICE_BYTES], port, _DEVICE_BYTES)
            builder.emit("EMC_SetEnab")
        for channel in channels:
            builder.call("filtered", port[channel], _WEIGHTS[0], TEXEL[channel])
            if self.block:
                builder.call("filtered", port[_DEVICE_BYTES + channel], _WEIGHTS[1], _NEXT_TEXEL[channel])
                builder.call("mixed", TEXEL[channel], _NEXT_TEXEL[channel], _FRACTION)


# Shading of a region's records: colours divided, texels read and filtered, and their product.
#
# Every PE shades its record, whichever node rasterized it: once for each visible sample, whatever was drawn.


MODULATE_STAGE = "texel times colour"


def shade_region(node: Node, shaded: ShadedFrame, materials: Sequence[Material]) -> Run | None:
    """Shade the records in PE memory, which have these materials or none; return the run, None if nothing is to do.

    Colours of 8 bits are then in `SampleRecord.finished`; depths are unchanged. Textures must be in texture memory.
    """
    some = tuple(each for each in materials if each.divided or each.texture is not None)
    return node.run(shading_program(shaded, some)) if some else None


@lru_cache(maxsize=64)
def shading_program(shaded: ShadedFrame, materials: tuple[Material, ...]) -> Program:
    """Return the program that shades records of these materials, the same for every region."""
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
    """Emit all steps from coordinates to texels."""
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
    """Include the routines that multiply and blend colours."""
    for name in ("filter", "blend"):
        builder.include(str(SOURCES / f"{name}.mc"), SCRATCH=SCRATCH)


def _emit_between(builder: Builder, numbers: Sequence[int]) -> None:
    """Enable only the PEs whose material is within the range of the numbers."""
    builder.emit("LD", R, MATERIAL)
    builder.emit("CMP", R, Imm(min(numbers)))
    builder.emit("EC")
    if max(numbers) < 0xFF:
        builder.emit("CMP", R, Imm(max(numbers) + 1))
        builder.emit("EANDNC")
