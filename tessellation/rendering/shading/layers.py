"""Draws that are sorted by depth: layer after layer over what was shaded, at each sample the farthest first.

A fragment's key is its depth and below it the number of its triangle, the other way round, so that of equal depths the
first that was drawn is the farthest. The last number there can be is 1, so that at depth 0 a key is above the 0 that
stands for none. Each layer finds in every PE the largest key below that of the layer before, the first one below the
depth of what is opaque; its record is shaded as any other, and blended over. The same program serves all layers of a
region and sample. That no PE has found a fragment, so that this was the last layer, is asked of the PEs for no cycles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.node import Node, Run
from tessellation.microprogram.ports import emit_copy
from tessellation.rendering.regions import Region
from tessellation.rendering.shading.materials import MOST_SORTED, DrawData, Material, ShadedFrame
from tessellation.rendering.shading.raster import RecordDrawing
from tessellation.rendering.shading.record import MATERIAL
from tessellation.rendering.shading.shade import include_filters, shade_region
from tessellation.rendering.shading.texels import TEXEL, emit_only, reserved

__all__ = ["BLEND_STAGE", "sorted_layers"]

R = Register.R
BLEND_STAGE = "blend"
_KEY_BYTES = 5
_BOUND = Mem(246)
"""Below which keys of this layer lie. It and the colours stay from layer to layer, past what shading touches."""
_COLOURS = Mem(251)
_KEY = Mem(186)
_BEST = Mem(191)
_ALPHA = Mem(186)


def sorted_layers(node: Node, shaded: ShadedFrame, region: Region, plane: int) -> tuple[Run, ...]:
    """Blend the sorted triangles of a region over the sample that was shaded in PE memory; return all runs."""
    numbers = [number for number in region.triangles.tolist() if number >= shaded.opaque]
    if not numbers:
        return ()
    materials = shaded.materials_of(numbers)
    program, runs = _layer_program(shaded, region, numbers, plane), [node.run(_beginning(shaded))]
    while True:
        runs.append(node.run(program))
        if not node.read_memory(MATERIAL.offset).any():
            break
        shading = shade_region(node, shaded, materials)
        runs += [shading] if shading is not None else []
        runs.append(node.run(_blend_program(shaded, materials)))
    return (*runs, node.run(_end(shaded)))


@lru_cache(maxsize=4)
def _beginning(shaded: ShadedFrame) -> Program:
    builder = Builder("before layers")
    builder.mark(BLEND_STAGE)
    builder.emit("EMC_SetEnab")
    for index in range(2):
        builder.emit("STI", _BOUND[index], Imm(0))
    emit_copy(builder, shaded.record.depth[1], _BOUND[2], 3)
    for index, place in enumerate(shaded.record.finished):
        emit_copy(builder, place, _COLOURS[index], 1)
    return builder.build()


@lru_cache(maxsize=4)
def _end(shaded: ShadedFrame) -> Program:
    builder = Builder("past layers")
    builder.mark(BLEND_STAGE)
    builder.emit("EMC_SetEnab")
    for index, place in enumerate(shaded.record.finished):
        emit_copy(builder, _COLOURS[index], place, 1)
    return builder.build()


def _layer_program(shaded: ShadedFrame, region: Region, numbers: list[int], plane: int) -> Program:
    """Return the program that finds the farthest fragment that is left, whichever layer it is."""
    builder = Builder(f"layer {region.left},{region.top} sample {plane}")
    reserved(builder)
    drawing = _LayerDrawing(builder, shaded, region, plane)
    builder.mark("clear")
    builder.emit("EMC_SetEnab")
    builder.emit("STI", MATERIAL, Imm(0))
    for index in range(_KEY_BYTES):
        builder.emit("STI", _BEST[index], Imm(0))
    for number in numbers:
        drawing.triangle(number)
    builder.mark("depth")
    builder.emit("EMC_SetEnab")
    emit_copy(builder, _BEST, _BOUND, _KEY_BYTES)
    return builder.build()


@dataclass(slots=True)
class _LayerDrawing(RecordDrawing):
    """Triangles that are farther than what this layer has found, and nearer than the layer before."""

    def nearer(self, draw: DrawData, index: int, number: int) -> None:
        """Emit the key, and that only PEs are enabled in which it is the largest so far below the bound."""
        builder = self.builder
        builder.emit("EMC_TreeIntoMem_Li", _KEY[1], 4, *self.depth(draw, index))
        low, high = divmod(MOST_SORTED - (number - self.shaded.opaque), 256)[::-1]
        builder.emit("STI", _KEY, Imm(low))
        builder.emit("STI", _KEY[1], Imm(high))
        for less, more in ((_KEY, _BOUND), (_BEST, _KEY)):
            for byte in range(_KEY_BYTES):
                builder.emit("LD", R, less[byte])
                builder.emit("CMPC" if byte else "CMP", R, more[byte])
            builder.emit("EANDNC")

    def keep(self, draw: DrawData, index: int) -> None:
        """Emit that the key is the largest so far."""
        emit_copy(self.builder, _KEY, _BEST, _KEY_BYTES)

    def cuts(self, draw: DrawData) -> bool:
        """Cutouts wait until a layer is blended: what is cut out leaves no depth."""
        return False


@lru_cache(maxsize=64)
def _blend_program(shaded: ShadedFrame, materials: tuple[Material, ...]) -> Program:
    """Return the program that blends a layer over the colours, where it has found something."""
    builder = Builder("blend")
    reserved(builder)
    builder.mark(BLEND_STAGE)
    include_filters(builder)
    for material in materials:
        emit_only(builder, [shaded.number(material)])
        builder.emit("STI", _ALPHA, Imm(material.alpha if material.alpha is not None else 0xFF))
        if material.texture is not None:
            builder.call("modulated", _ALPHA, TEXEL[3])
        if material.cutout:
            builder.emit("LD", R, TEXEL[3])
            builder.emit("CMP", R, Imm(material.cutout))
            builder.emit("EANDC")
        for index, place in enumerate(shaded.record.finished):
            builder.call("over", _COLOURS[index], place, _ALPHA)
    return builder.build()
