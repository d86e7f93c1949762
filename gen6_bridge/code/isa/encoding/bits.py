"""Bit table of the 128-bit instruction: every field once, for decoder, encoder and text alike.

Bit 0 is the lowest of DW0. Sources: Mesa's encoding of this generation, checked against words of the public assembler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = [
    "CALL",
    "CONTROLS",
    "DESTINATIONS",
    "FLAG",
    "FLAG_THREE",
    "IMMEDIATE",
    "INSTRUCTION_BITS",
    "JUMP",
    "MESSAGE",
    "OPCODE",
    "SOURCES",
    "TARGETS",
    "THREE_DESTINATION",
    "THREE_SOURCES",
    "Bits",
    "get",
    "mask_of",
    "put",
    "read_fields",
    "write_fields",
]

INSTRUCTION_BITS = 128


@dataclass(frozen=True, slots=True)
class Bits:
    """A field: its name, its lowest bit in the instruction, its width."""

    name: str
    low: int
    width: int
    signed: bool = False

    @property
    def mask(self) -> int:
        """The bits that it takes in the instruction."""
        return (1 << self.width) - 1 << self.low


def get(word: int, field: Bits) -> int:
    """Return the value of a field."""
    value = word >> field.low & (1 << field.width) - 1
    return value - (1 << field.width) if field.signed and value >> field.width - 1 else value


def put(field: Bits, value: int) -> int:
    """Return the bits of a field that holds ``value``; raises ValueError where it does not fit."""
    low = -(1 << field.width - 1) if field.signed else 0
    if not low <= value < low + (1 << field.width):
        raise ValueError(f"{field.name} {value} does not fit {field.width} bits")
    return (value & (1 << field.width) - 1) << field.low


def mask_of(fields: Iterable[Bits]) -> int:
    """Return all bits that fields take."""
    total = 0
    for each in fields:
        total |= each.mask
    return total


def read_fields(word: int, fields: Iterable[Bits]) -> dict[str, int]:
    """Return the values of fields by name."""
    return {each.name: get(word, each) for each in fields}


def write_fields(fields: Iterable[Bits], values: Mapping[str, int]) -> int:
    """Return the bits of fields by name; raises ValueError where one does not fit."""
    word = 0
    for each in fields:
        word |= put(each, values[each.name])
    return word


OPCODE = Bits("opcode", 0, 7)
CONTROLS = (
    Bits("align16", 8, 1),
    Bits("all_channels", 9, 1),
    Bits("dependency", 10, 2),
    Bits("quarter", 12, 2),
    Bits("thread", 14, 2),
    Bits("predicate", 16, 4),
    Bits("inverse", 20, 1),
    Bits("size_code", 21, 3),
    Bits("selector", 24, 4),
    Bits("accumulates", 28, 1),
    Bits("compacted", 29, 1),
    Bits("breakpoint", 30, 1),
    Bits("saturates", 31, 1),
)
FLAG, FLAG_THREE = Bits("flag", 89, 1), Bits("flag", 33, 1)
"""Which flag word: of instructions with three sources it lies elsewhere."""
IMMEDIATE = Bits("value", 96, 32)
TARGETS = (Bits("jip", 96, 16, signed=True), Bits("uip", 112, 16, signed=True))
"""Both targets of a branch that leaves blocks, in units of 8 bytes."""
JUMP = (Bits("jip", 48, 16, signed=True),)
"""The one target of a branch at the edge of a block, in units of 8 bytes."""
CALL = (Bits("jip", 96, 32, signed=True),)
"""The target of a call, in units of 8 bytes from the call."""
MESSAGE = (
    Bits("function", 96, 19),
    Bits("header", 115, 1),
    Bits("response", 116, 5),
    Bits("length", 121, 4),
    Bits("end", 127, 1),
)

_DESTINATION = (Bits("file", 32, 2), Bits("type", 34, 3), Bits("indirect", 63, 1))
DESTINATIONS = {
    "direct": (*_DESTINATION, Bits("sub", 48, 5), Bits("number", 53, 8), Bits("stride", 61, 2)),
    "indirect": (*_DESTINATION, Bits("offset", 48, 10, signed=True), Bits("index", 58, 3), Bits("stride", 61, 2)),
    "direct16": (*_DESTINATION, Bits("mask", 48, 4), Bits("half", 52, 1), Bits("number", 53, 8), Bits("stride", 61, 2)),
    "indirect16": (
        *_DESTINATION, Bits("mask", 48, 4), Bits("offset16", 52, 6, signed=True), Bits("index", 58, 3),
        Bits("stride", 61, 2),
    ),
}  # fmt: skip


def _source(base: int, kinds: int) -> dict[str, tuple[Bits, ...]]:
    common = (
        *(Bits("file", kinds, 2), Bits("type", kinds + 2, 3)),
        *(Bits("absolute", base + 13, 1), Bits("negate", base + 14, 1), Bits("indirect", base + 15, 1)),
        Bits("vertical", base + 21, 4),
    )
    regioned = (*common, Bits("horizontal", base + 16, 2), Bits("width", base + 18, 3))
    swizzled = (
        *common,
        *(Bits("x", base, 2), Bits("y", base + 2, 2), Bits("z", base + 16, 2), Bits("w", base + 18, 2)),
    )
    return {
        "direct": (*regioned, Bits("sub", base, 5), Bits("number", base + 5, 8)),
        "indirect": (*regioned, Bits("offset", base, 10, signed=True), Bits("index", base + 10, 3)),
        "direct16": (*swizzled, Bits("half", base + 4, 1), Bits("number", base + 5, 8)),
        "indirect16": (*swizzled, Bits("offset16", base + 4, 6, signed=True), Bits("index", base + 10, 3)),
        "immediate": (*common[:2], IMMEDIATE),
    }


SOURCES = (_source(64, 37), _source(96, 42))
"""For both sources, the fields of each form."""

THREE_DESTINATION = (Bits("message", 32, 1), Bits("mask", 49, 4), Bits("sub", 53, 3), Bits("number", 56, 8))


def _three_source(position: int) -> tuple[Bits, ...]:
    base, signs = 64 + 21 * position, 36 + 2 * position
    return (
        *(Bits("absolute", signs, 1), Bits("negate", signs + 1, 1)),
        *(Bits("replicate", base, 1), Bits("swizzle", base + 1, 8)),
        *(Bits("sub", base + 9, 3), Bits("number", base + 12, 8)),
    )


THREE_SOURCES = tuple(_three_source(position) for position in range(3))
