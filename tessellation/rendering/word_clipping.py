"""Corners on the EMCs: projection and light of samples, and triangles cut by the near plane and the guard band."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.simd.drawing import DEPTH_GUARD, FAR, REACH
from tessellation.microprogram.method import FloatLibrary
from tessellation.microprogram.ports import emit_copy
from tessellation.picture import CLAY, Standpoint, unit
from tessellation.picture.lighting import FILL, GAMMA, KEY, LIGHT
from tessellation.plan.mapping import Pass
from tessellation.plan.memory_map import FLOAT_BYTES
from tessellation.rendering.projection import (
    Places,
    Projection,
    ProjectionStage,
    emit_constant,
    emit_division,
    emit_matrix,
)
from tessellation.rendering.word_sending import CORNER_BYTES, RECORD_BYTES, WordPlaces

# Samples to corners on the EMCs: projection and light, as the integers of `pixelflow.simd.drawing`.
#
# The light is that of `tessellation.picture.lighting` with a material of one colour, in binary32 by the library's
# routines: a key and a fill light on both sides of the surface. Its last step, light to the power of 1 / 2.2, is a
# polynomial in the root of the light (invented); the report compares the resulting colours with those of 64 bits.


R = Register.R

CELLS_STAGE, LIGHT_STAGE, CORNER_STAGE = "cells", "light", "corners as integers"

_DEGREE = 5
_WHOLE = 1.5 * 2.0**23
"""A sum with it has 1 as its last bit in binary32."""


def vertex_program(
    places: WordPlaces, work: Pass, projection: Projection, standpoint: Standpoint, library: FloatLibrary
) -> Program:
    """Return the program that makes a corner of every PE's sample and marks the PEs where cells begin."""
    builder = Builder("samples to corners")
    library.include(builder, places.projection.scratch)
    builder.mark(ProjectionStage.MATRIX.value)
    builder.emit("EMC_SetEnab")
    at = places.projection
    emit_matrix(builder, at, projection, library)
    if places.planes:
        for index, place in enumerate(at.screen):
            emit_copy(builder, Mem(place), Mem(places.record + FLOAT_BYTES * index), FLOAT_BYTES)
        colour = places.record + 3 * FLOAT_BYTES
    else:
        emit_division(builder, at, projection, library)
        emit_corner(builder, at, places.corners, library)
        colour = places.corners + 9
    _emit_light(builder, places, standpoint, library, Mem(colour))
    emit_cells(builder, places, work)
    return builder.build()


def emit_cells(builder: Builder, places: WordPlaces, work: Pass) -> None:
    """Emit marks of the PEs that have a sample to the east and to the south in their patch: 9 cycles a patch, and 14.

    As with table 3's marks, each patch's bytes go to the quadrant right of and below its first PE, in an order that
    leaves every patch its own values; a PE outside of all patches is past the last column or row of its values.
    """
    column, row, last, cell = (Mem(places.marks + index) for index in range(4))
    builder.mark(CELLS_STAGE)
    builder.emit("EMC_SetEnab")
    builder.emit("EMC_TreeIntoMem_Li", column, 4, 0, 0, 0)
    for place in work.placements:
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeGEZero_Li", 0, 1, 1, 0, -place.x)
        builder.emit("EMC_TreeGEZero_Li", 0, 1, 0, 1, -place.y)
        code = (place.samples - 1 << 16) - place.x - 256 * place.y
        builder.emit("EMC_TreeIntoMem_Li", column, 3, 1, 256, code)
    builder.emit("EMC_SetEnab")
    builder.emit("LD", R, column)
    builder.emit("CMP", R, last)
    builder.emit("ENC")
    builder.emit("LD", R, row)
    builder.emit("CMP", R, last)
    builder.emit("EANDNC")
    builder.emit("STI", cell, Imm(1))
    builder.emit("EMC_SetEnab")


def emit_corner(builder: Builder, at: Places, corner: int, library: FloatLibrary) -> None:
    """Emit x, y and depth of a corner, the depth rounded to the nearest step."""
    depth, shift = Mem(at.screen[2]), Mem(at.product)
    builder.mark(CORNER_STAGE)
    for axis, source in enumerate(at.fixed):
        emit_copy(builder, Mem(source), Mem(corner + 3 * axis), 3)
    emit_constant(builder, shift, FAR - 2 * DEPTH_GUARD)
    library.multiply(builder, depth, depth, shift)
    # A product of 2^23 or more is whole; adding 2^23 makes the others whole.
    emit_constant(builder, shift, 2.0**23)
    builder.emit("LD", R, depth[3])
    builder.emit("CMP", R, shift[3])
    builder.emit("EC")
    builder.emit("STI", shift[3], Imm(0))
    builder.emit("EMC_SetEnab")
    library.add(builder, depth, depth, shift)
    builder.emit("LD", R, shift[3])
    builder.emit("CMP", R, Imm(1))
    builder.emit("ENC")
    builder.emit("LD", R, depth[2])
    builder.emit("OR", R, Imm(0x80))
    builder.emit("ST", depth[2], R)
    builder.emit("EMC_SetEnab")
    target = Mem(corner + 6)
    for index in range(3):
        builder.emit("LD", R, depth[index])
        builder.emit("ADC" if index else "ADD", R, Imm(0 if index else DEPTH_GUARD))
        builder.emit("ST", target[index], R)


def _emit_light(
    builder: Builder, places: WordPlaces, standpoint: Standpoint, library: FloatLibrary, colour: Mem
) -> None:
    at = places.projection
    constant, product = Mem(at.constant), Mem(at.product)
    facing, key, fill = (Mem(address) for address in places.light)
    normal = [Mem(address) for address in places.normal]
    builder.mark(LIGHT_STAGE)
    eye = standpoint.origin + standpoint.extent * standpoint.camera.eye
    for index, value in enumerate(eye):
        emit_constant(builder, constant, value)
        library.subtract(builder, constant, constant, Mem(at.point[index]))
        library.multiply_add(builder, facing, constant, normal[index], product, first=index == 0)
    for total, light in ((key, unit(KEY)), (fill, unit(FILL))):
        for index, value in enumerate(light):
            emit_constant(builder, constant, value)
            library.multiply_add(builder, total, constant, normal[index], product, first=index == 0)
        # A normal that faces away is reversed; light from the other side contributes nothing.
        builder.emit("LD", R, facing[3])
        builder.emit("AND", R, Imm(0x80))
        builder.emit("XOR", R, total[3])
        builder.emit("ST", total[3], R)
        builder.emit("SHL", R)
        builder.emit("EC")
        for byte in range(FLOAT_BYTES):
            builder.emit("STI", total[byte], Imm(0))
        builder.emit("EMC_SetEnab")
    for total, share in ((key, LIGHT[1]), (fill, LIGHT[2])):
        emit_constant(builder, constant, share)
        library.multiply(builder, total, total, constant)
    library.add(builder, key, key, fill)
    emit_constant(builder, constant, LIGHT[0])
    library.add(builder, key, key, constant)
    library.root(builder, key, key)
    _emit_power(builder, fill, key, constant, library)
    for channel, share in enumerate(CLAY):
        emit_constant(builder, constant, 255 * share ** (1 / GAMMA))
        library.multiply(builder, product, fill, constant)
        emit_constant(builder, constant, _WHOLE)
        library.add(builder, product, product, constant)
        emit_copy(builder, product, colour[channel], 1)


def _emit_power(builder: Builder, result: Mem, root: Mem, constant: Mem, library: FloatLibrary) -> None:
    """Emit result = root^(2 / 2.2), by Horner's rule."""
    first, *others = reversed(_power())
    emit_constant(builder, result, first)
    for coefficient in others:
        library.multiply(builder, result, result, root)
        emit_constant(builder, constant, coefficient)
        library.add(builder, result, result, constant)


@cache
def _power() -> tuple[float, ...]:
    """Return the coefficients, constant first, for the range from neither light to both."""
    least, most = np.sqrt([LIGHT[0], sum(LIGHT)])
    found = Chebyshev.interpolate(lambda root: root ** (2 / GAMMA), _DEGREE, [least, most])
    return tuple(found.convert(kind=Polynomial).coef.tolist())


# Triangles cut by the near plane and the guard band on the EMCs, before the division.
#
# Sutherland and Hodgman's algorithm, plane by plane, for a convex polygon in every PE at once. All PEs do the same, so
# a polygon has a slot for each possible corner: one more after each plane. A mixed polygon is rotated until slot 0 is
# inside and the last slot outside; then the corners outside are consecutive and last. The two edges that cross the
# plane are cut; the first cut replaces all corners outside, the second fills the new slot. Slots with equal corners
# make triangles without an area, which are not drawn. So a triangle becomes one more triangle than there are planes,
# whether it was cut or not; the application selects the planes by its own evaluation of the patches. X, Y, W are cut in
# binary32 by the library's routines, colours as bytes by the same share in 65,536ths (all of this is invented).


S, M = Register.S, Register.M

CLIP_STAGES = ("clipping", "polygons")

_BESIDE = 2
"""Pixels between the guard band and the range of 15.8: more than rounding moves a cut corner."""

_SHARE = 1.5 * 2.0**7
"""A sum with it has 1/65536 as its last bit in binary32."""
_SHARE_PATTERN = 0x40


class ClipPlane(StrEnum):
    """The planes, in cutting order."""

    NEAR = "near"
    LEFT = "left"
    RIGHT = "right"
    TOP = "top"
    BOTTOM = "bottom"


class Clipping(NamedTuple):
    """Cutting planes: W is at least ``near``; X and Y, from the middle, are at most ``reach`` pixels times W."""

    planes: tuple[ClipPlane, ...]
    near: float
    reach: float

    @classmethod
    def of(cls, projection: Projection, points: NDArray[np.float64], near: float) -> Clipping:
        """Return the planes that some of the points, float64[point, xyz], need.

        If some points are in front of the near plane, edges are cut there and the guard band is tested at its distance.
        """
        matrix = projection.matrix.astype(np.float64)
        x, y, w = (np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T).T
        reach = REACH - float(projection.middle.max()) - _BESIDE
        least = np.full(len(w), near) if (w < near).any() else w
        beyond = (x < -reach * least, x > reach * least, y < -reach * least, y > reach * least)
        needed = ((w < near).any(), *(each.any() for each in beyond))
        planes = tuple(plane for plane, cuts in zip(ClipPlane, needed, strict=True) if cuts)
        return cls(planes, float(np.float32(near)), float(np.float32(reach)))


class _Cut(NamedTuple):
    """Addresses for cutting: distances of the slots, both ends of an edge with theirs, a cut, and flags."""

    distances: int
    inner: int
    outer: int
    cut: int
    floats: tuple[int, ...]
    scratch: int
    flags: int

    @classmethod
    def after(cls, places: WordPlaces) -> _Cut:
        first = places.cutting
        inner = first + FLOAT_BYTES * places.slots
        outer = inner + RECORD_BYTES + FLOAT_BYTES
        cut = outer + RECORD_BYTES + FLOAT_BYTES
        floats = cut + RECORD_BYTES
        scratch = floats + 3 * FLOAT_BYTES
        flags = scratch + 14
        three = tuple(floats + FLOAT_BYTES * index for index in range(3))
        return cls(first, inner, outer, cut, three, scratch, flags)


def clip_program(places: WordPlaces, clipping: Clipping, projection: Projection, library: FloatLibrary) -> Program:
    """Return the program that cuts the triangles in the first three slots and makes corners of all slots."""
    builder = Builder("triangles cut by planes")
    at = _Cut.after(places)
    library.include(builder, at.scratch)
    _emit_routines(builder, places, at, library)
    builder.mark(CLIP_STAGES[0])
    builder.emit("EMC_SetEnab")
    builder.emit("STI", Mem(at.flags), Imm(0))
    for number, plane in enumerate(clipping.planes):
        _emit_plane(builder, places, at, clipping, plane, 3 + number, library)
    builder.mark(CLIP_STAGES[1])
    # All slots of a polygon that is entirely outside hold one corner; its triangles have no area.
    builder.emit("LD", R, Mem(at.flags))
    builder.emit("CMP", R, Imm(1))
    builder.emit("EC")
    for slot in range(1, places.slots):
        emit_copy(builder, Mem(places.corners), Mem(places.corners + RECORD_BYTES * slot), RECORD_BYTES)
    builder.emit("EMC_SetEnab")
    for slot in range(places.slots):
        source, target = places.corners + RECORD_BYTES * slot, places.corners + CORNER_BYTES * slot
        screen = places.projection_at(places.cutting)
        for index, place in enumerate(screen.screen):
            emit_copy(builder, Mem(source + FLOAT_BYTES * index), Mem(place), FLOAT_BYTES)
        emit_copy(builder, Mem(source + 3 * FLOAT_BYTES), Mem(screen.end), 3)
        emit_division(builder, screen, projection, library)
        emit_corner(builder, screen, target, library)
        emit_copy(builder, Mem(screen.end), Mem(target + 9), 3)
    return builder.build()


def _emit_plane(
    builder: Builder,
    places: WordPlaces,
    at: _Cut,
    clipping: Clipping,
    plane: ClipPlane,
    slots: int,
    library: FloatLibrary,
) -> None:
    """Emit the cut of a polygon of this many slots, which then has one more."""
    builder.mark(CLIP_STAGES[0])
    polygon = [places.corners + RECORD_BYTES * slot for slot in range(slots + 1)]
    distances = [at.distances + FLOAT_BYTES * slot for slot in range(slots + 1)]
    for slot in range(slots):
        _emit_distance(builder, polygon[slot], Mem(distances[slot]), clipping, plane, at, library)
    mixed, outside = Mem(at.flags + 1), Mem(at.flags + 2)
    tops = [Mem(place + FLOAT_BYTES - 1) for place in distances[:slots]]
    for flag, mnemonic in ((mixed, "OR"), (outside, "AND")):
        builder.emit("LD", R, tops[0])
        for top in tops[1:]:
            builder.emit(mnemonic, R, top)
        builder.emit("ST", flag, R)
    # Rejected if all are outside; mixed if some are.
    builder.emit("SHL", R, outside)
    builder.emit("EC")
    builder.emit("STI", Mem(at.flags), Imm(1))
    builder.emit("EMC_SetEnab")
    builder.emit("LD", R, outside)
    builder.emit("XOR", R, Imm(0xFF))
    builder.emit("AND", R, mixed)
    builder.emit("ST", mixed, R)
    for _ in range(slots - 1):
        builder.emit("SHL", R, mixed)
        builder.emit("EC")
        # Unchanged if slot 0 is inside and the last one outside.
        builder.emit("LD", R, tops[0])
        builder.emit("XOR", R, Imm(0xFF))
        builder.emit("AND", R, tops[-1])
        builder.emit("SHL", R)
        builder.emit("EANDNC")
        _emit_turn(builder, polygon[:slots], RECORD_BYTES)
        _emit_turn(builder, distances[:slots], FLOAT_BYTES)
        builder.emit("EMC_SetEnab")
    # The new slot repeats the last corner, or holds the cut of the edge that ends in slot 0.
    emit_copy(builder, Mem(polygon[slots - 1]), Mem(polygon[slots]), RECORD_BYTES)
    _emit_end(builder, at.inner, polygon[0], distances[0])
    _emit_end(builder, at.outer, polygon[slots - 1], distances[slots - 1])
    _emit_cut(builder, at, clipping, plane)
    builder.emit("SHL", R, mixed)
    builder.emit("EC")
    emit_copy(builder, Mem(at.cut), Mem(polygon[slots]), RECORD_BYTES)
    builder.emit("EMC_SetEnab")
    for slot in range(slots - 1):
        builder.emit("LD", R, tops[slot])
        builder.emit("XOR", R, Imm(0xFF))
        builder.emit("AND", R, tops[slot + 1])
        builder.emit("SHL", R)
        builder.emit("EC")
        _emit_end(builder, at.inner, polygon[slot], distances[slot])
        _emit_end(builder, at.outer, polygon[slot + 1], distances[slot + 1])
        builder.emit("EMC_SetEnab")
    _emit_cut(builder, at, clipping, plane)
    for slot in range(1, slots):
        builder.emit("LD", R, mixed)
        builder.emit("AND", R, tops[slot])
        builder.emit("SHL", R)
        builder.emit("EC")
        emit_copy(builder, Mem(at.cut), Mem(polygon[slot]), RECORD_BYTES)
    builder.emit("EMC_SetEnab")


def _emit_distance(
    builder: Builder, corner: int, distance: Mem, clipping: Clipping, plane: ClipPlane, at: _Cut, library: FloatLibrary
) -> None:
    """Emit the distance of a corner from the plane, unscaled: negative outside."""
    x, y, w = (Mem(corner + FLOAT_BYTES * index) for index in range(3))
    constant = Mem(at.floats[0])
    if plane is ClipPlane.NEAR:
        emit_constant(builder, constant, clipping.near)
        library.subtract(builder, distance, w, constant)
        return
    emit_constant(builder, constant, clipping.reach)
    library.multiply(builder, distance, w, constant)
    value = x if plane in (ClipPlane.LEFT, ClipPlane.RIGHT) else y
    other = library.add if plane in (ClipPlane.LEFT, ClipPlane.TOP) else library.subtract
    other(builder, distance, distance, value)


def _emit_turn(builder: Builder, places: list[int], size: int) -> None:
    """Emit a rotation of values by one place towards the first, where enabled."""
    for index in range(size):
        builder.emit("LD", S, Mem(places[0] + index))
        for before, after in pairwise(places):
            builder.emit("LD", R, Mem(after + index))
            builder.emit("ST", Mem(before + index), R)
        builder.emit("ST", Mem(places[-1] + index), S)


def _emit_end(builder: Builder, end: int, corner: int, distance: int) -> None:
    emit_copy(builder, Mem(corner), Mem(end), RECORD_BYTES)
    emit_copy(builder, Mem(distance), Mem(end + RECORD_BYTES), FLOAT_BYTES)


def _emit_cut(builder: Builder, at: _Cut, clipping: Clipping, plane: ClipPlane) -> None:
    """Emit the corner at which the edge from ``inner`` to ``outer`` crosses the plane."""
    builder.call("cut_edge")
    if plane is ClipPlane.NEAR:
        emit_constant(builder, Mem(at.cut + 2 * FLOAT_BYTES), clipping.near)


def _emit_routines(builder: Builder, places: WordPlaces, at: _Cut, library: FloatLibrary) -> None:
    """Emit the procedure that cuts an edge: inner + share (outer - inner)."""
    share, product, constant = (Mem(place) for place in at.floats)
    inner, outer, cut = Mem(at.inner), Mem(at.outer), Mem(at.cut)
    with builder.proc("cut_edge"):
        library.subtract(builder, share, inner[RECORD_BYTES], outer[RECORD_BYTES])
        library.divide(builder, share, inner[RECORD_BYTES], share)
        for index in range(3):
            begin = FLOAT_BYTES * index
            library.subtract(builder, product, outer[begin], inner[begin])
            library.multiply(builder, product, product, share)
            library.add(builder, cut[begin], inner[begin], product)
        emit_constant(builder, constant, _SHARE)
        library.add(builder, share, share, constant)
        builder.emit("LD", R, share[2])
        builder.emit("XOR", R, Imm(_SHARE_PATTERN))
        builder.emit("ST", share[2], R)
        for channel in range(3 * FLOAT_BYTES, RECORD_BYTES):
            builder.call("cut_colour", cut[channel], inner[channel], outer[channel])
    with builder.routine("cut_colour", ("cut", "inner", "outer")) as (cut, inner, outer):
        _emit_colour(builder, cut, inner, outer, share, Mem(at.flags + 3))


def _emit_colour(builder: Builder, cut: Mem, inner: Mem, outer: Mem, share: Mem, product: Mem) -> None:
    """Emit cut = inner + (outer - inner) share, rounded half up; the share has 16 bits and can be 1."""
    size = 3
    # |outer - inner| in M, its sign in the product's last byte.
    builder.emit("LD", R, outer)
    builder.emit("SUB", R, inner)
    builder.emit("LD", S, Imm(0))
    builder.emit("SBC", S, Imm(0))
    builder.emit("ST", product[size], S)
    builder.emit("XOR", R, S)
    builder.emit("SUB", R, S)
    builder.emit("LD", M, R)
    builder.emit("LD", R, Imm(0))
    for index in range(size):
        builder.emit("LD", S, share[index])
        for _ in range(8):
            builder.emit("MSTEP")
        builder.emit("ST", product[index], S)
    # With its sign, and half a step; the whole part is added to the inner colour.
    builder.emit("SHL", R, product[size])
    for index in range(size):
        builder.emit("LD", R, product[index])
        builder.emit("XOR", R, product[size])
        builder.emit("ADC", R, Imm(0))
        builder.emit("ST", product[index], R)
    builder.emit("LD", R, product[1])
    builder.emit("ADD", R, Imm(0x80))
    builder.emit("LD", R, product[2])
    builder.emit("ADC", R, inner)
    builder.emit("ST", cut, R)
