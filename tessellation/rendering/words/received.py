"""Instruction words as they are in GP memory: records read, put into the lists of regions, and made programs of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pixelflow.isa import Program
from pixelflow.node import Node
from tessellation.rendering.regions import REGION_HEIGHT, REGION_WIDTH
from tessellation.rendering.words.sending import (
    HEADER_MORE,
    HEADER_VALID,
    PART_BYTES,
    PARTS,
    RECORD_WORDS,
    Areas,
    form,
)

PART_WORDS = PART_BYTES // 4

__all__ = ["Record", "clear_areas", "program_of", "read_records"]


@dataclass(frozen=True, slots=True)
class Record:
    """What one PE sent of one triangle for one region: its words, and where they belong.

    ``number`` is the PE's, 128 y + x; ``more`` says that the triangle reaches into a region that is still to come.
    """

    left: int
    top: int
    number: int
    more: bool
    words: tuple[int, ...]


def clear_areas(node: Node, areas: Areas) -> None:
    """Write zeros where the headers of records will be: the end of each module's is where there is none."""
    for module in range(node.config.array.modules):
        size = areas.records * PART_BYTES
        node.gp_memory[areas.gp(module)].write(areas.start(module, 0), np.zeros(size, np.uint8))


def read_records(node: Node, areas: Areas) -> list[Record]:
    """Return the records that have come, module after module."""
    found = []
    for module in range(node.config.array.modules):
        memory = node.gp_memory[areas.gp(module)]
        first = memory.read(areas.start(module, 0), areas.records * PART_BYTES).view("<u4").reshape(areas.records, -1)
        there = (first[:, 0] >> 16 & HEADER_VALID) != 0
        count = len(there) if there.all() else int(there.argmin())
        parts = [memory.read(areas.start(module, part), count * PART_BYTES) for part in range(PARTS)]
        words = np.concatenate([part.view("<u4").reshape(count, PART_WORDS) for part in parts], axis=1)
        found += [_record(row) for row in words.tolist()]
    return found


def _record(row: Sequence[int]) -> Record:
    header, words = row[0], tuple(row[1 : 1 + RECORD_WORDS])
    column, line, upper = header & 0xFF, header >> 8 & 0xFF, header >> 16
    number = upper & (HEADER_MORE - 1)
    return Record(REGION_WIDTH * column, REGION_HEIGHT * line, number, bool(upper & HEADER_MORE), words)


def program_of(
    records: Iterable[Sequence[int]],
    left: int,
    top: int,
    background: tuple[int, int, int],
    composition: int | None = None,
) -> Program:
    """Return the program that clears a region and executes the words of these triangles, in their order.

    MARKs are put between them, as `region_program` does; they are no part of what was sent.
    """
    drawn, first, sent = form(left, top, background, composition)
    triangle = list(drawn.words[first : sent[-1] + 1])
    words = list(drawn.words[:first])
    for record in records:
        for at, word in zip(sent, record, strict=True):
            triangle[at - first] = word
        words += triangle
    words += drawn.words[sent[-1] + 1 :]
    return replace(drawn, words=tuple(words), lines=(), line_of=(), entries={})
