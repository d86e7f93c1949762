"""Places of an operand's elements, channel by channel, worked out once for all runs of an instruction."""

from __future__ import annotations

from functools import cache, lru_cache

from gen6_bridge.code.isa.encoding.operands import (
    GRF_BYTES,
    MRF_REGISTERS,
    REGISTER_BYTES,
    VXH,
    EuDestination,
    File,
    IndirectAddress,
    SourceRegion,
)
from gen6_bridge.code.isa.meanings.state import A0, ARCHITECTURE_BASES, CHANNELS, MRF
from pixelflow.simd.errors import MachineFault

__all__ = ["Span", "address_places", "destination_places", "elements", "region_places"]

Span = tuple[int, int, int]
"""First channel of an instruction, the first element that is carried out, how many are."""


@cache
def elements(span: Span) -> tuple[int, ...]:
    """Return the element of each channel, -1 for channels that take no part."""
    first, start, count = span
    return tuple(channel - first if start <= channel - first < start + count else -1 for channel in range(CHANNELS))


def _within(places: list[int], size: int, limit: int, what: str) -> None:
    if places and not 0 <= min(places) <= max(places) + size <= limit:
        reached = min(places) if min(places) < 0 else max(places) + size - 1
        raise MachineFault(f"{what} reaches byte {reached}, there are {limit}")


@lru_cache(maxsize=1 << 16)
def region_places(operand: SourceRegion, span: Span) -> tuple[int, ...]:
    """Return for each channel where its element lies in the thread's memory, 0 where it takes no part.

    Of an indirect operand, how far from its base. Raises MachineFault for a place past the register file.
    """
    found = [operand.place(each) if each >= 0 else None for each in elements(span)]
    base = operand.first_byte
    if operand.address is not None:
        return tuple(each or 0 for each in found)
    own = [base + each for each in found if each is not None]
    if operand.file is File.GENERAL:
        _within(own, operand.type.size, GRF_BYTES, "a source")
        return tuple(0 if each is None else base + each for each in found)
    if operand.file is File.MESSAGE:
        raise MachineFault("message registers are written and sent, never read as a source")
    architecture = operand.architecture
    if architecture not in ARCHITECTURE_BASES:
        return tuple(operand.sub + (operand.number & 1) * REGISTER_BYTES + (each or 0) for each in found)
    start = ARCHITECTURE_BASES[architecture]
    _within([operand.sub + (each or 0) for each in found], operand.type.size, 16, "an architecture register")
    return tuple(start + operand.sub + (each or 0) for each in found)


@lru_cache(maxsize=1 << 16)
def address_places(address: IndirectAddress, span: Span, width: int, vertical: int) -> tuple[int, ...]:
    """Return for each channel where its address register lies; rows of VxH take one each, others share the first."""
    rows = [each // width if vertical == VXH and each >= 0 else 0 for each in elements(span)]
    registers = [address.index + row for row in rows]
    if max(registers) > 7:
        raise MachineFault(f"a0.{max(registers)} as an address, there are a0.0 to a0.7")
    return tuple(A0 + 2 * register for register in registers)


@lru_cache(maxsize=1 << 16)
def destination_places(operand: EuDestination, span: Span) -> tuple[int, ...]:
    """Return for each channel where its result goes, 0 where it takes no part; as `region_places`."""
    size = operand.type.size
    stride = operand.stride if operand.mask is None else 1
    found = [each * stride * size if each >= 0 else None for each in elements(span)]
    if operand.address is not None:
        return tuple(each or 0 for each in found)
    base = operand.first_byte
    own = [base + each for each in found if each is not None]
    if operand.file is File.GENERAL:
        _within(own, size, GRF_BYTES, "a destination")
        return tuple(0 if each is None else base + each for each in found)
    if operand.file is File.MESSAGE:
        base = (operand.number & 0x7F) * REGISTER_BYTES + operand.sub
        own = [base + each for each in found if each is not None]
        _within(own, size, MRF_REGISTERS * REGISTER_BYTES, "a message register")
        return tuple(0 if each is None else MRF + base + each for each in found)
    start = ARCHITECTURE_BASES.get(operand.architecture) if operand.architecture else None
    if start is None:
        return tuple(operand.sub + (operand.number & 1) * REGISTER_BYTES + (each or 0) for each in found)
    _within([operand.sub + (each or 0) for each in found], size, 16, "an architecture register")
    return tuple(start + operand.sub + (each or 0) for each in found)
