"""From triangles to the records of a region: edges, depth test, cutouts, then the data for shading the nearest.

One program makes the records of one sample of each pixel. Depth and coverage are the sample's own; colours and
coordinates are those of the first sample in the pixel that the triangle covers, as in the reference, so the values of
the first sample are stored last. For cutouts, and for mipmaps at four samples, coordinates are computed separately in
all PEs: a PE gets those of its neighbours by PixSwap, whether the triangle covers them or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import COLOUR_FRACTION, DEPTH_FRACTION, DIVISOR, FAR, NUMERATORS, Planes, Quotients
from tessellation.microprogram.ports import emit_copy
from tessellation.rendering.instructions import COPY_STAGE, Region, signed_bytes
from tessellation.rendering.materials import (
    GROUP_BYTES,
    MATERIAL,
    MOST_SORTED,
    DrawData,
    Material,
    SampleRecord,
    ShadedFrame,
)
from tessellation.rendering.shading import (
    TEXEL,
    WON,
    WORK,
    TexelPrograms,
    emit_only,
    include_filters,
    reserved,
    shade_region,
)

R = Register.R
CUTOUT_STAGE = "cutout"
NEIGHBOURS_STAGE = "coordinates of neighbours"

_WORD = 1 << 32
_DEPTH_BYTES = 4
_COLOUR_BYTES = 3
_ALPHA = 3
_ACROSS, _BELOW = 4, 1
"""Distances in a panel to the PEs of the next column and row."""

Plane = tuple[int, int, int]


def record_program(shaded: ShadedFrame, region: Region, plane: int = 0, composition: int | None = None) -> Program:
    """Return the program that clears a region and keeps the nearest record at a sample of each pixel.

    ``plane`` is the number of the sample. With ``composition``, an address in image composition memory, records are
    copied there at the end.
    """
    builder = Builder(f"records {region.left},{region.top} sample {plane}")
    reserved(builder)
    drawing = RecordDrawing(builder, shaded, region, plane)
    drawing.clear()
    for number in region.triangles.tolist():
        if number < shaded.opaque:
            drawing.triangle(number)
    if composition is not None:
        builder.mark(COPY_STAGE)
        builder.emit("EMC_SetEnab")
        for index, byte in enumerate(shaded.record.sent):
            builder.emit("LD", R, byte)
            builder.emit("ST", Mem(composition + index), R)
    return builder.build()


@dataclass(slots=True)
class RecordDrawing:
    """A record program under construction."""

    builder: Builder
    shaded: ShadedFrame
    region: Region
    plane: int
    _texels: TexelPrograms | None = None

    @property
    def _record(self) -> SampleRecord:
        return self.shaded.record

    def clear(self) -> None:
        """Emit the background and, if triangles are cut out, the routines for texels."""
        builder = self.builder
        present = self.shaded.present(self.region.triangles.tolist())
        places = [
            self.shaded.place_of(number) for number in self.region.triangles.tolist() if number < self.shaded.opaque
        ]
        cut = {draw.materials[index] for draw, index in places if draw.cutout}
        builder.mark("clear")
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeIntoMem_Li", self._record.depth, _DEPTH_BYTES, 0, 0, FAR << DEPTH_FRACTION)
        builder.emit("STI", MATERIAL, Imm(0))
        self._constant(self.shaded.frame.background)
        if cut:
            self._texels = TexelPrograms.within(builder, self.shaded, [each for each in present if each in cut])

    def triangle(self, number: int) -> None:
        """Emit the edges of a triangle, its depth test, and the data kept of it."""
        builder = self.builder
        draw, index = self.shaded.place_of(number)
        material = draw.materials[index]
        block = self._blocks(material)
        builder.mark("edges")
        builder.emit("EMC_SetEnab")
        self._edges(draw, index, self.plane)
        builder.mark("depth")
        self.nearer(draw, index, number)
        apart = self.cuts(draw) or (block and not self._record.slopes)
        # One colour, the same at all samples.
        same = draw.flat[index] and not material.divided and (material.texture is None or apart)
        if apart or (self.plane and not same):
            builder.emit("STE", WON)
        if apart:
            self._coordinates_apart(draw, index, material)
        if self.cuts(draw):
            self._cut_out(draw, material)
        if apart:
            self._won()
        builder.mark("depth")
        self.keep(draw, index)
        builder.mark("values")
        builder.emit("STI", MATERIAL, Imm(self.shaded.number(material)))
        if apart:
            copied = self._record.groups if block and not self._record.slopes else 1
            emit_copy(builder, WORK, self._record.group(), GROUP_BYTES * copied)
        if block and self._record.slopes:
            self._slopes(draw, index)
        for place in [self.plane] if same else reversed(range(self.plane + 1)):
            if place < self.plane:
                self._won()
                self._edges(draw, index, place)
            self._colours(draw, index, place)
            if material.texture is not None and not apart:
                self._coordinates(draw, index, place, self._record.group(), divisor=False)  # it came with the colours

    def depth(self, draw: DrawData, index: int) -> Plane:
        """Return the plane of a triangle's depth in the region."""
        return self._plane(draw.values[self.plane].planes, index, 0, _DEPTH_BYTES)

    def nearer(self, draw: DrawData, index: int, number: int) -> None:
        """Keep only the PEs enabled in which a triangle is nearest so far."""
        self.builder.emit("EMC_TreeLTMem_Li", self._record.depth, _DEPTH_BYTES, *self.depth(draw, index))

    def keep(self, draw: DrawData, index: int) -> None:
        """Store the values that `nearer` compares, where enabled."""
        self.builder.emit("EMC_TreeIntoMem_Li", self._record.depth, _DEPTH_BYTES, *self.depth(draw, index))
        self.builder.emit("STI", self._record.depth, Imm(0))

    def cuts(self, draw: DrawData) -> bool:
        """Return whether texels now decide if the triangle is kept."""
        return draw.cutout > 0

    def _blocks(self, material: Material) -> bool:
        """Return whether coordinates of four pixels are needed."""
        return material.texture is not None and self.shaded.textures.textures[material.texture].mipmaps

    def _won(self) -> None:
        """Enable only the PEs in which the triangle is nearest."""
        self.builder.emit("LD", R, WON)
        self.builder.emit("CMP", R, Imm(1))
        self.builder.emit("EC")

    def _edges(self, draw: DrawData, index: int, place: int) -> None:
        edges, region = draw.edges[place], self.region
        a, b, c = (each[index] for each in (edges.a, edges.b, edges.c))
        here = c + a * region.left + b * region.top
        for size, *plane in np.stack([signed_bytes(a, b, here), a, b, here], axis=1).tolist():
            self.builder.emit("EMC_TreeLTZero_Li", 0, size, *plane)

    def _plane(self, planes: Planes | Quotients, index: int, number: int, size: int) -> Plane:
        """Return a plane of a triangle in the coordinates of the region."""
        a, b, c = (int(each[index, number]) for each in (planes.a, planes.b, planes.c))
        return a, b, (c + a * self.region.left + b * self.region.top) % (1 << 8 * size)

    def _load(self, to: Mem, size: int, plane: Plane) -> None:
        self.builder.emit("EMC_TreeIntoMem_Li", to, size, *plane)

    def _constant(self, colour: tuple[int, ...]) -> None:
        for place, value in zip(self._record.finished, colour, strict=True):
            self.builder.emit("STI", place, Imm(int(value)))

    def _colours(self, draw: DrawData, index: int, place: int) -> None:
        """Emit colours at a place where enabled: numerators and divisor, planes, or one colour."""
        values, quotients = draw.values[place], draw.values[place].quotients
        if draw.materials[index].divided and quotients is not None:
            order = [DIVISOR, *range(NUMERATORS.start, NUMERATORS.stop)]
            for to, plane in zip((self._record.group(), *self._record.colours), order, strict=True):
                self._load(to, 4, self._plane(quotients, index, plane, 4))
            return
        planes = values.planes
        if draw.flat[index]:
            self._constant(tuple(planes.c[index, 1:] >> COLOUR_FRACTION))
            return
        for channel, colour in enumerate(self._record.colours, 1):
            self._load(colour[4 - _COLOUR_BYTES], _COLOUR_BYTES, self._plane(planes, index, channel, _COLOUR_BYTES))

    def _coordinates(self, draw: DrawData, index: int, place: int, group: Mem, *, divisor: bool) -> None:
        """Emit u and v at a place where enabled, with the ``divisor`` if it is wanted and they are divided."""
        values = draw.values[place]
        planes: Planes | Quotients
        if values.quotients is not None:
            planes, first = values.quotients, NUMERATORS.stop
            if divisor:
                self._load(group, 4, self._plane(planes, index, DIVISOR, 4))
        else:
            assert values.texture is not None  # as there is one
            planes, first = values.texture, 0
        for number in range(2):
            self._load(group[4 + 4 * number], 4, self._plane(planes, index, first + number, 4))

    def _slopes(self, draw: DrawData, index: int) -> None:
        """Emit the increments of divisor, u and v from pixel to pixel: to the right, then downwards."""
        values = draw.values[self.plane]
        planes: Planes | Quotients
        order: tuple[int | None, int, int]
        if values.quotients is not None:
            planes, order = values.quotients, (DIVISOR, NUMERATORS.stop, NUMERATORS.stop + 1)
        else:
            assert values.texture is not None  # as there is one
            planes, order = values.texture, (None, 0, 1)
        for group, slopes in enumerate((planes.a, planes.b), 1):
            for number, plane in enumerate(order):
                slope = 0 if plane is None else int(slopes[index, plane])
                for byte in range(4) if plane is not None else ():
                    place = self._record.group(group)[4 * number + byte]
                    self.builder.emit("STI", place, Imm(slope >> 8 * byte & 0xFF))

    def _coordinates_apart(self, draw: DrawData, index: int, material: Material) -> None:
        """Emit coordinates in all PEs, at the first covered sample or else the last; with mipmaps of all the block."""
        builder, last = self.builder, len(self.shaded.places) - 1
        builder.mark(NEIGHBOURS_STAGE)
        for place in reversed(range(last + 1)):
            builder.emit("EMC_SetEnab")
            if place < last:
                self._edges(draw, index, place)
            self._coordinates(draw, index, place, WORK, divisor=True)
        builder.emit("EMC_SetEnab")
        if self._blocks(material):
            builder.emit("EMC_PixSwap", WORK[GROUP_BYTES], WORK, GROUP_BYTES, _ACROSS)
            builder.emit("EMC_PixSwap", WORK[2 * GROUP_BYTES], WORK, 2 * GROUP_BYTES, _BELOW)

    def _cut_out(self, draw: DrawData, material: Material) -> None:
        """Emit the opacity of the texel where the triangle is nearest, and discard it where that is too low."""
        builder, texels = self.builder, self._texels
        assert texels is not None and material.texture is not None  # as it is cut out
        builder.mark(CUTOUT_STAGE)
        builder.emit("EMC_SetEnab")
        texels.coordinates(WORK, divided=material.divided, bits=material.bits)
        texels.detail()
        texels.levels(material.texture)
        texels.addresses()
        self._won()
        texels.read()
        texels.filtered((_ALPHA,))
        builder.mark(CUTOUT_STAGE)
        self._won()
        builder.emit("LD", R, TEXEL[_ALPHA])
        builder.emit("CMP", R, Imm(draw.cutout))
        builder.emit("EANDC")
        builder.emit("STE", WON)


# Draws sorted by depth: layer after layer over the shaded sample, the farthest first.
#
# A fragment's key is its depth and, in the lower bytes, the inverted number of its triangle, so that of equal depths
# the first drawn is the farthest. The last number is 1, so that at depth 0 a key is above 0, which means none. Each
# layer finds in every PE the largest key below that of the previous layer, or initially below the opaque depth; its
# record is shaded like any other and blended over. The same program serves all layers of a region and sample. Testing
# whether no PE has found a fragment, so that this was the last layer, takes no cycles.


BLEND_STAGE = "blend"
_KEY_BYTES = 5
_BOUND = Mem(246)
"""Upper bound of this layer's keys. It and the colours persist from layer to layer, outside of shading's memory."""
_COLOURS = Mem(251)
_KEY = Mem(186)
_BEST = Mem(191)
_LAYER_ALPHA = Mem(186)


def sorted_layers(node: Node, shaded: ShadedFrame, region: Region, plane: int) -> tuple[Run, ...]:
    """Blend the sorted triangles of a region over the shaded sample in PE memory; return all runs."""
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
    """Return the program that finds the farthest remaining fragment, the same for every layer."""
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
    """Finds the farthest triangles that are nearer than the previous layer."""

    def nearer(self, draw: DrawData, index: int, number: int) -> None:
        """Emit the key, and enable only the PEs in which it is the largest so far below the bound."""
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
        """Store the key as the largest so far."""
        emit_copy(self.builder, _KEY, _BEST, _KEY_BYTES)

    def cuts(self, draw: DrawData) -> bool:
        """Return False: cutouts are deferred until a layer is blended."""
        return False


@lru_cache(maxsize=64)
def _blend_program(shaded: ShadedFrame, materials: tuple[Material, ...]) -> Program:
    """Return the program that blends a layer over the colours of the PEs that found a fragment."""
    builder = Builder("blend")
    reserved(builder)
    builder.mark(BLEND_STAGE)
    include_filters(builder)
    for material in materials:
        emit_only(builder, [shaded.number(material)])
        builder.emit("STI", _LAYER_ALPHA, Imm(material.alpha if material.alpha is not None else 0xFF))
        if material.texture is not None:
            builder.call("modulated", _LAYER_ALPHA, TEXEL[3])
        if material.cutout:
            builder.emit("LD", R, TEXEL[3])
            builder.emit("CMP", R, Imm(material.cutout))
            builder.emit("EANDC")
        for index, place in enumerate(shaded.record.finished):
            builder.call("over", _COLOURS[index], place, _LAYER_ALPHA)
    return builder.build()
