"""Initial PE memory: how the values of a data section become bytes."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from microcode.language.functions import binary32
from microcode.language.values import Value, shown

__all__ = ["DataKind", "data_bytes"]

LANE_BYTES = 8
"""Largest lane number that a data section writes, in bytes."""


class DataKind(Enum):
    """What the values of a data section are."""

    BYTE = "byte"
    WORD = "word"
    """32 bits, low byte first."""
    FLOAT = "float"
    """IEEE binary32, low byte first."""
    LANE = "lane"
    """Each PE's own lane number, low byte first; the one value is its size in bytes, by default that of the range."""


def _integer(value: Value, bits: int) -> int:
    if not isinstance(value, int) or not -(1 << bits - 1) <= value < 1 << bits:
        allowed = f"{-(1 << bits - 1)}..{(1 << bits) - 1}"
        raise ValueError(f"{shown(value)} does not fit {bits} bits, allowed: {allowed}")
    return value & (1 << bits) - 1


def data_bytes(kind: DataKind, values: Iterable[Value]) -> tuple[int, ...]:
    """Return the bytes of data values, low byte first; raises ValueError where one does not fit."""
    found = bytearray()
    for value in values:
        match kind:
            case DataKind.BYTE:
                found.append(_integer(value, 8))
            case DataKind.WORD:
                found += _integer(value, 32).to_bytes(4, "little")
            case DataKind.FLOAT:
                found += binary32(value).to_bytes(4, "little")
            case DataKind.LANE:
                raise ValueError("lane data takes no values")
    return tuple(found)
