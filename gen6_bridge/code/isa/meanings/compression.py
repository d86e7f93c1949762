"""Compression: sixteen elements of an operand in two registers are carried out as two eights.

All are carried out at once where nobody can tell: where the second eight reads nothing that the first one writes.
"""

from __future__ import annotations

from collections.abc import Sequence

from gen6_bridge.code.isa.encoding.operands import (
    REGISTER_BYTES,
    VXH,
    Controls,
    EuDestination,
    File,
    Source,
    SourceRegion,
)
from gen6_bridge.code.isa.meanings.places import Span
from gen6_bridge.code.isa.meanings.state import CHANNELS

__all__ = ["spans_of"]

_HALF = CHANNELS // 2


def spans_of(
    controls: Controls, destination: EuDestination | None, sources: Sequence[Source], *, pairs: bool, beyond: bool
) -> tuple[Span, ...]:
    """Return which elements of an instruction are carried out at once, in order.

    ``pairs``: the second source is pairs of registers, as of a plane. ``beyond``: elements past a thread's channels are
    carried out where no mask counts.
    """
    whole = (controls.first, 0, min(controls.size, CHANNELS - controls.first % CHANNELS))
    if controls.size > CHANNELS and controls.all_channels and beyond:
        return (whole, (controls.first - CHANNELS, CHANNELS, CHANNELS))
    if controls.size < CHANNELS or not _halves_meet(destination, sources, pairs=pairs):
        return (whole,)
    return ((controls.first, 0, _HALF), (controls.first, _HALF, _HALF))


def _halves_meet(destination: EuDestination | None, sources: Sequence[Source], *, pairs: bool) -> bool:
    """Return whether the second eight may read what the first one writes."""
    if destination is None or destination.file is not File.GENERAL:
        return False
    regions = {
        position: each
        for position, each in enumerate(sources)
        if isinstance(each, SourceRegion) and each.file is File.GENERAL
    }
    size, step = destination.type.size, destination.stride if destination.mask is None else 1
    first = 0 if destination.address else destination.first_byte
    written = [first + at * step * size for at in range(CHANNELS)]
    read = {position: _starts(each, paired=pairs and position == 1) for position, each in regions.items()}
    ends = [(first, written[-1] + size)]
    ends += [(min(places), max(places) + regions[position].type.size) for position, places in read.items()]
    in_two = any((past - 1) // REGISTER_BYTES != begin // REGISTER_BYTES for begin, past in ends)
    if not in_two and not any(each.vertical == VXH for each in regions.values()):
        return False
    if destination.address is not None or any(each.address is not None for each in regions.values()):
        return bool(regions)  # where an address register leads to is not known before
    return any(
        start < at + size and at < start + regions[position].type.size
        for position, places in read.items()
        for start in places[len(places) // 2 :]
        for at in written[:_HALF]
    )


def _starts(region: SourceRegion, *, paired: bool) -> list[int]:
    """Return where elements of a source begin, in order; of an indirect one, how far past its base."""
    base = 0 if region.address else region.first_byte
    if paired:  # one coordinate of eight channels, the other one, both of the other eight
        return [base + at * region.type.size for at in range(2 * CHANNELS)]
    return [base + region.place(element) for element in range(CHANNELS)]
