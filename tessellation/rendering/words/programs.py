"""Programs from corners to instruction words: neighbours, set-up of a triangle, and its words for one region."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from microcode import Builder, Program
from tessellation.rendering.words.places import CORNER_BYTES, WordPlaces
from tessellation.rendering.words.sending import Areas, emit_records, size_step

__all__ = ["SEND_STAGE", "neighbours_program", "region_words_program", "setup_program"]

SEND_STAGE = "words to the GPs"
_HERE = Path(__file__).parent


def neighbours_program(places: WordPlaces, side: int, area: int) -> Program:
    """Return the program that brings the corners to the east, southeast and south to every PE.

    ``side`` is that of the largest square of PEs in the pass, ``area`` where texture memory is free: 16 bytes a PE.
    """
    builder = Builder("corners of neighbours")
    given = {"DATA": places.corners, "N": CORNER_BYTES, "SPARE": places.work, "SIDE": side, "PLACES": area}
    builder.include(str(_HERE / "neighbours.mc"), **given)
    return builder.build()


def setup_program(places: WordPlaces, upper: bool, width: int, height: int) -> Program:
    """Return the program that works out the coefficients of a cell's lower or upper triangle."""
    builder = Builder(f"coefficients of {'upper' if upper else 'lower'} triangles")
    given = {
        "WIDTH": width, "HEIGHT": height,
        "CORNERS": places.work, "COEF": places.coefficients, "SCRATCH": places.scratch,
    }  # fmt: skip
    second, third = (2, 3) if upper else (1, 2)
    first, *others = (places.corners + CORNER_BYTES * each for each in (0, second, third))
    builder.source(
        f"{_included('setup.mc', given)}setup [{first}], [{others[0]}], [{others[1]}], [{places.marks + 3}]\n"
    )
    return builder.build()


def region_words_program(places: WordPlaces, areas: Areas) -> Program:
    """Return the program that sends each triangle's words for the region that it is in, and goes on to the next."""
    builder = Builder("words for one region")
    given = {
        "COEF": places.coefficients, "HERE": places.scratch, "SCRATCH": places.region_scratch, "COUNT": size_step(),
    }  # fmt: skip
    builder.source(f"{_included('here.mc', given)}in_region\n")
    emit_records(builder, places, areas, SEND_STAGE)
    builder.source(f'{_included("here.mc", given)}MARK "next region"\nCALL next\n')
    return builder.build()


def _included(name: str, given: Mapping[str, int]) -> str:
    values = ", ".join(f"{key} = {value}" for key, value in given.items())
    return f'include "{_HERE / name}" with {values}\n'
