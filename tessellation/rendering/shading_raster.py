"""From triangles to the records of a region: edges, depth test, cutouts, then the data for shading the nearest.

One program makes the records of one sample of each pixel. Depth and coverage are the sample's own; colours and
coordinates are those of the first sample in the pixel that the triangle covers, as in the reference, so the values of
the first sample are stored last. For cutouts, and for mipmaps at four samples, coordinates are computed separately in
all PEs: a PE gets those of its neighbours by PixSwap, whether the triangle covers them or not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from microcode import Builder, Imm, Mem, PerRound, Program, Register
from microcode.draft import RoundsDraft
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import (
    COLOUR_FRACTION,
    DEPTH_FRACTION,
    DIVISOR,
    FAR,
    NUMERATORS,
    Interpolation,
    Planes,
    Quotients,
)
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

Plane = tuple[PerRound, PerRound, PerRound]
"""A, B and C of some triangles."""
Where = NDArray[np.bool_] | None
"""Some triangles of those of the rounds; None for all."""


def record_program(shaded: ShadedFrame, region: Region, plane: int = 0, composition: int | None = None) -> Program:
    """Return the program that clears a region and keeps the nearest record at a sample of each pixel.

    ``plane`` is the number of the sample. With ``composition``, an address in image composition memory, records are
    copied there at the end.
    """
    builder = Builder(f"records {region.left},{region.top} sample {plane}")
    reserved(builder)
    drawing = RecordDrawing(builder, shaded, region, plane)
    drawing.clear()
    drawing.triangles(region.triangles[region.triangles < shaded.opaque])
    if composition is not None:
        builder.mark(COPY_STAGE)
        builder.emit("EMC_SetEnab")
        for index, byte in enumerate(shaded.record.sent):
            builder.emit("LD", R, byte)
            builder.emit("ST", Mem(composition + index), R)
    return builder.build()


@dataclass(slots=True)
class RecordDrawing:
    """A record program under construction. Triangles of a draw are emitted together, in rounds of one each."""

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
        opaque = self.region.triangles[self.region.triangles < self.shaded.opaque]
        present = self.shaded.materials_of(opaque.tolist())
        cut = {draw.materials[index[0]] for draw, index in self.shaded.places_of(opaque) if draw.cutout}
        builder.mark("clear")
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeIntoMem_Li", self._record.depth, _DEPTH_BYTES, 0, 0, FAR << DEPTH_FRACTION)
        builder.emit("STI", MATERIAL, Imm(0))
        for place, value in zip(self._record.finished, self.shaded.frame.background, strict=True):
            builder.emit("STI", place, Imm(value))
        if cut:
            self._texels = TexelPrograms.within(builder, self.shaded, [each for each in present if each in cut])

    def triangles(self, numbers: NDArray[np.int64]) -> None:
        """Emit triangles, in order."""
        for draw, index in self.shaded.places_of(numbers):
            # Rounds have no control, and texels are read by routines.
            for some in np.split(index, len(index)) if self.cuts(draw) else (index,):
                self._together(draw, some)

    def _together(self, draw: DrawData, index: NDArray[np.int64]) -> None:
        """Emit the edges of triangles of a draw, their depth tests, and the data kept."""
        rounds = self.builder.rounds(len(index))
        materials = [draw.materials[each] for each in index.tolist()]
        texture, divided = materials[0].texture, np.array([each.divided for each in materials])
        block = texture is not None and self.shaded.textures.textures[texture].mipmaps
        rounds.emit("MARK", "edges")
        rounds.emit("EMC_SetEnab")
        self._edges(rounds, draw, index, self.plane)
        rounds.emit("MARK", "depth")
        self.nearer(rounds, draw, index)
        apart = self.cuts(draw) or (block and not self._record.slopes)
        # One colour, the same at all samples.
        same = draw.flat[index] & ~divided & (texture is None or apart)
        if apart or self.plane:
            rounds.emit("STE", WON, where=None if apart else ~same)
        if apart:
            self._coordinates_apart(rounds, draw, index, block=block)
        if self.cuts(draw):
            self._cut_out(draw, materials[0])
            rounds = self.builder.rounds(len(index))
        if apart:
            _won(rounds.emit)
        rounds.emit("MARK", "depth")
        self.keep(rounds, draw, index)
        rounds.emit("MARK", "values")
        kinds = {each: self.shaded.number(each) for each in dict.fromkeys(materials)}
        rounds.emit("STI", MATERIAL, PerRound(np.array([kinds[each] for each in materials]), Imm))
        if apart:
            copied = self._record.groups if block and not self._record.slopes else 1
            emit_copy(rounds, WORK, self._record.group(), GROUP_BYTES * copied)
        if block and self._record.slopes:
            self._slopes(rounds, draw, index)
        for place in reversed(range(self.plane + 1)):
            where = np.ones(len(index), bool)
            if place < self.plane:
                where = ~same
                _won(partial(rounds.emit, where=where))
                self._edges(rounds, draw, index, place, where)
            self._colours(rounds, draw, index, place, divided, where)
            if texture is not None and not apart:
                # The divisor came with the colours.
                self._coordinates(rounds, draw, index, place, self._record.group(), where, divisor=False)

    def depth(self, draw: DrawData, index: NDArray[np.int64]) -> Plane:
        """Return the planes of depth of triangles in the region."""
        return self._plane(draw.values[self.plane].planes, index, 0, _DEPTH_BYTES)

    def nearer(self, rounds: RoundsDraft, draw: DrawData, index: NDArray[np.int64]) -> None:
        """Keep only the PEs enabled in which a triangle is nearest so far."""
        rounds.emit("EMC_TreeLTMem_Li", self._record.depth, _DEPTH_BYTES, *self.depth(draw, index))

    def keep(self, rounds: RoundsDraft, draw: DrawData, index: NDArray[np.int64]) -> None:
        """Store the values that `nearer` compares, where enabled."""
        rounds.emit("EMC_TreeIntoMem_Li", self._record.depth, _DEPTH_BYTES, *self.depth(draw, index))
        rounds.emit("STI", self._record.depth, Imm(0))

    def cuts(self, draw: DrawData) -> bool:
        """Return whether texels now decide if the triangles of a draw are kept."""
        return draw.cutout > 0

    def _edges(
        self, rounds: RoundsDraft, draw: DrawData, index: NDArray[np.int64], place: int, where: Where = None
    ) -> None:
        edges, region = draw.edges[place], self.region
        for a, b, c in zip(edges.a[index].T, edges.b[index].T, edges.c[index].T, strict=True):
            here = c + a * region.left + b * region.top
            size = PerRound(signed_bytes(a, b, here))
            rounds.emit("EMC_TreeLTZero_Li", 0, size, PerRound(a), PerRound(b), PerRound(here), where=where)

    def _plane(self, planes: Planes | Quotients, index: NDArray[np.int64], number: int, size: int) -> Plane:
        """Return planes of triangles in the coordinates of the region."""
        a, b, c = (each[index, number] for each in (planes.a, planes.b, planes.c))
        here = (c + a * self.region.left + b * self.region.top) % (1 << 8 * size)
        return PerRound(a), PerRound(b), PerRound(here)

    def _colours(
        self, rounds: RoundsDraft, draw: DrawData, index: NDArray[np.int64], place: int,
        divided: NDArray[np.bool_], where: NDArray[np.bool_],
    ) -> None:  # fmt: skip
        """Emit colours at a place where enabled: numerators and divisor, planes, or one colour."""
        values, quotients, record = draw.values[place], draw.values[place].quotients, self._record
        if quotients is not None:
            order = [DIVISOR, *range(NUMERATORS.start, NUMERATORS.stop)] if divided.any() else []
            for to, plane in zip((record.group(), *record.colours) if order else (), order, strict=True):
                self._load(rounds, to, 4, self._plane(quotients, index, plane, 4), where & divided)
            where = where & ~divided
        planes, flat = values.planes, draw.flat[index]
        for channel, (to, colour) in enumerate(zip(record.finished, record.colours, strict=True), 1):
            constant = PerRound(planes.c[index, channel] >> COLOUR_FRACTION, Imm)
            rounds.emit("STI", to, constant, where=where & flat)
            plane = self._plane(planes, index, channel, _COLOUR_BYTES)
            self._load(rounds, colour[4 - _COLOUR_BYTES], _COLOUR_BYTES, plane, where & ~flat)

    def _coordinates(
        self, rounds: RoundsDraft, draw: DrawData, index: NDArray[np.int64], place: int, group: Mem,
        where: Where = None, *, divisor: bool,
    ) -> None:  # fmt: skip
        """Emit u and v at a place where enabled, with the ``divisor`` if it is wanted and they are divided."""
        planes, first = _texture_planes(draw.values[place])
        if divisor and isinstance(planes, Quotients):
            self._load(rounds, group, 4, self._plane(planes, index, DIVISOR, 4), where)
        for number in range(2):
            self._load(rounds, group[4 + 4 * number], 4, self._plane(planes, index, first + number, 4), where)

    def _load(self, rounds: RoundsDraft, to: Mem, size: int, plane: Plane, where: Where) -> None:
        rounds.emit("EMC_TreeIntoMem_Li", to, size, *plane, where=where)

    def _slopes(self, rounds: RoundsDraft, draw: DrawData, index: NDArray[np.int64]) -> None:
        """Emit the increments of divisor, u and v from pixel to pixel: to the right, then downwards."""
        planes, first = _texture_planes(draw.values[self.plane])
        order = (DIVISOR if isinstance(planes, Quotients) else None, first, first + 1)
        for group, slopes in enumerate((planes.a, planes.b), 1):
            for number, plane in enumerate(order):
                for byte in range(4) if plane is not None else ():
                    place = self._record.group(group)[4 * number + byte]
                    rounds.emit("STI", place, PerRound(slopes[index, plane] >> 8 * byte & 0xFF, Imm))

    def _coordinates_apart(self, rounds: RoundsDraft, draw: DrawData, index: NDArray[np.int64], *, block: bool) -> None:
        """Emit coordinates in all PEs, at the first covered sample or else the last; with mipmaps of all the block."""
        last = len(self.shaded.places) - 1
        rounds.emit("MARK", NEIGHBOURS_STAGE)
        for place in reversed(range(last + 1)):
            rounds.emit("EMC_SetEnab")
            if place < last:
                self._edges(rounds, draw, index, place)
            self._coordinates(rounds, draw, index, place, WORK, divisor=True)
        rounds.emit("EMC_SetEnab")
        if block:
            rounds.emit("EMC_PixSwap", WORK[GROUP_BYTES], WORK, GROUP_BYTES, _ACROSS)
            rounds.emit("EMC_PixSwap", WORK[2 * GROUP_BYTES], WORK, 2 * GROUP_BYTES, _BELOW)

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
        _won(builder.emit)
        texels.read()
        texels.filtered((_ALPHA,))
        builder.mark(CUTOUT_STAGE)
        _won(builder.emit)
        builder.emit("LD", R, TEXEL[_ALPHA])
        builder.emit("CMP", R, Imm(draw.cutout))
        builder.emit("EANDC")
        builder.emit("STE", WON)


def _won(emit: Callable[..., None]) -> None:
    """Enable only the PEs in which the triangle is nearest."""
    emit("LD", R, WON)
    emit("CMP", R, Imm(1))
    emit("EC")


def _texture_planes(values: Interpolation) -> tuple[Planes | Quotients, int]:
    """Return the planes of coordinates, and the number of u among them."""
    if values.quotients is not None:
        return values.quotients, NUMERATORS.stop
    assert values.texture is not None  # as there is one
    return values.texture, 0


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
    numbers = region.triangles[region.triangles >= shaded.opaque]
    if not len(numbers):
        return ()
    materials = shaded.materials_of(numbers.tolist())
    program, runs = _layer_program(shaded, region, numbers, plane), [node.run(_beginning(shaded))]
    while True:
        runs.append(node.run(program))
        if not node.read_memory(MATERIAL.offset).any():
            break
        shading = shade_region(node, shaded, materials)
        runs += [shading] if shading is not None else []
        runs.append(node.run(_blend_program(shaded, materials)))
    program.forget()
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


def _layer_program(shaded: ShadedFrame, region: Region, numbers: NDArray[np.int64], plane: int) -> Program:
    """Return the program that finds the farthest remaining fragment, the same for every layer."""
    builder = Builder(f"layer {region.left},{region.top} sample {plane}")
    reserved(builder)
    drawing = _LayerDrawing(builder, shaded, region, plane)
    builder.mark("clear")
    builder.emit("EMC_SetEnab")
    builder.emit("STI", MATERIAL, Imm(0))
    for index in range(_KEY_BYTES):
        builder.emit("STI", _BEST[index], Imm(0))
    drawing.triangles(numbers)
    builder.mark("depth")
    builder.emit("EMC_SetEnab")
    emit_copy(builder, _BEST, _BOUND, _KEY_BYTES)
    return builder.build()


@dataclass(slots=True)
class _LayerDrawing(RecordDrawing):
    """Finds the farthest triangles that are nearer than the previous layer."""

    def nearer(self, rounds: RoundsDraft, draw: DrawData, index: NDArray[np.int64]) -> None:
        """Emit the key, and enable only the PEs in which it is the largest so far below the bound."""
        rounds.emit("EMC_TreeIntoMem_Li", _KEY[1], 4, *self.depth(draw, index))
        inverted = MOST_SORTED - (self.shaded.start_of(draw) + index - self.shaded.opaque)
        rounds.emit("STI", _KEY, PerRound(inverted & 0xFF, Imm))
        rounds.emit("STI", _KEY[1], PerRound(inverted >> 8, Imm))
        for less, more in ((_KEY, _BOUND), (_BEST, _KEY)):
            for byte in range(_KEY_BYTES):
                rounds.emit("LD", R, less[byte])
                rounds.emit("CMPC" if byte else "CMP", R, more[byte])
            rounds.emit("EANDNC")

    def keep(self, rounds: RoundsDraft, draw: DrawData, index: NDArray[np.int64]) -> None:
        """Store the key as the largest so far."""
        emit_copy(rounds, _KEY, _BEST, _KEY_BYTES)

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
