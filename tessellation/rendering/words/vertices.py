"""Samples to corners on the EMCs: projection, light, and both as the integers of `pixelflow.simd.drawing`.

The light is that of `tessellation.picture.lighting` with a material of one colour, in binary32 by the library's
routines: a key and a fill light on both sides of the surface. Its last step, light to the power of 1 / 2.2, is a
polynomial in the root of the light (invented); the colours that come out are the triangle's, whoever sets it up, and
the report says how far they are from those of 64 bits.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from microcode import Builder, Imm, Mem, Program, Register
from pixelflow.simd.drawing import DEPTH_GUARD, FAR
from tessellation.microprogram.libraries import FloatLibrary
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
from tessellation.rendering.words.places import WordPlaces

__all__ = ["LIGHT_STAGE", "VERTEX_STAGES", "emit_cells", "emit_corner", "vertex_program"]

R = Register.R

CELLS_STAGE, LIGHT_STAGE, CORNER_STAGE = "cells", "light", "corners as integers"
VERTEX_STAGES = (CELLS_STAGE, LIGHT_STAGE, CORNER_STAGE)

_DEGREE = 5
_WHOLE = 1.5 * 2.0**23
"""Beside it the last bit of a binary32 number is 1."""


def vertex_program(
    places: WordPlaces, work: Pass, projection: Projection, standpoint: Standpoint, library: FloatLibrary
) -> Program:
    """Return the program that makes a corner of the sample of every PE, and says where cells begin."""
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
    """Emit which PEs have a sample to the east and to the south in their patch: 9 cycles a patch, and 14.

    As table 3's marks do, each patch's bytes go to the quadrant right of and below its first PE, in an order that
    leaves every patch its own; PEs of no patch lie past the last column or row of whichever they got.
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
    """Emit x, y and the depth as a corner has them: the depth rounded to the nearest of its steps."""
    depth, shift = Mem(at.screen[2]), Mem(at.product)
    builder.mark(CORNER_STAGE)
    for axis, source in enumerate(at.fixed):
        emit_copy(builder, Mem(source), Mem(corner + 3 * axis), 3)
    emit_constant(builder, shift, FAR - 2 * DEPTH_GUARD)
    library.multiply(builder, depth, depth, shift)
    # From 2^23 on a product is whole; 2^23 is added to the others, and then their last bits are a whole number too.
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
        # A normal that looks away is turned; what shines from the other side gives nothing.
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
    """Return the coefficients, constant first, for the lights that there are: between none of the two and both."""
    least, most = np.sqrt([LIGHT[0], sum(LIGHT)])
    found = Chebyshev.interpolate(lambda root: root ** (2 / GAMMA), _DEGREE, [least, most])
    return tuple(found.convert(kind=Polynomial).coef.tolist())
