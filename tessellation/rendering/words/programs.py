"""Programs from corners to instruction words: neighbours, set-up of a triangle, and its words for one region."""

from __future__ import annotations

from functools import cache

from microcode import Builder, Mem, Program
from pixelflow.simd.packaged import shipped
from tessellation.microprogram.ports import emit_copy
from tessellation.rendering.words.places import CORNER_BYTES, RECORD_BYTES, WordPlaces
from tessellation.rendering.words.sending import Areas, emit_records, size_step

__all__ = ["SEND_STAGE", "neighbours_program", "region_words_program", "setup_program", "triangle_program"]

SEND_STAGE = "words to the GPs"
_SOURCES = shipped("tessellation", "rendering", "words", "microcode")


def neighbours_program(places: WordPlaces, side: int, area: int, *, upper: bool = False) -> Program:
    """Return the program that brings the corners to the east, southeast and south to every PE.

    ``side`` is that of the largest square of PEs in the pass, ``area`` where texture memory is free: 16 bytes a PE.
    Where triangles are to be cut, the records of a cell's lower or ``upper`` triangle come into the first three slots.
    """
    builder = Builder("corners of neighbours")
    given = {"DATA": places.corners, "N": CORNER_BYTES, "SPARE": places.work, "SIDE": side, "PLACES": area}
    if places.planes:
        order = ("SOUTHEAST", "SOUTH", "EAST") if upper else ("EAST", "SOUTHEAST", "SOUTH")
        given |= {name: places.corners + RECORD_BYTES * (slot + 1) for slot, name in enumerate(order)}
        given |= {"DATA": places.record, "N": RECORD_BYTES, "SPARE": places.cutting}
    builder.include(str(_SOURCES / "neighbours.mc"), **given)
    if places.planes:
        builder.stream("eigc")
        emit_copy(builder, Mem(places.record), Mem(places.corners), RECORD_BYTES)
    return builder.build()


def triangle_program(places: WordPlaces, corners: tuple[int, int, int]) -> Program:
    """Return the program that takes three of the corners, where a cell begins: 77 cycles."""
    builder = Builder("triangles")
    builder.mark("corners")
    builder.emit("EMC_SetEnab")
    for index, corner in enumerate(corners):
        source = Mem(places.corners + CORNER_BYTES * corner)
        emit_copy(builder, source, Mem(places.work + CORNER_BYTES * index), CORNER_BYTES)
    emit_copy(builder, Mem(places.marks + 3), Mem(places.coefficients + 78), 1)
    return builder.build()


@cache
def setup_program(places: WordPlaces, width: int, height: int) -> Program:
    """Return the program that works out the coefficients of the triangle of every PE."""
    builder = Builder("coefficients of triangles")
    given = {
        "WIDTH": width, "HEIGHT": height,
        "CORNERS": places.work, "COEF": places.coefficients, "SCRATCH": places.scratch,
    }  # fmt: skip
    builder.include(str(_SOURCES / "setup.mc"), **given)
    return builder.build()


@cache
def region_words_program(places: WordPlaces, areas: Areas) -> Program:
    """Return the program that sends each triangle's words for the region that it is in, and goes on to the next."""
    builder = Builder("words for one region")
    given = {
        "COEF": places.coefficients, "HERE": places.scratch, "SCRATCH": places.region_scratch, "COUNT": size_step(),
    }  # fmt: skip
    builder.include(str(_SOURCES / "here.mc"), **given)
    emit_records(builder, places, areas, SEND_STAGE)
    builder.include(str(_SOURCES / "onward.mc"), COEF=places.coefficients, MORE=places.scratch + 34)
    return builder.build()
