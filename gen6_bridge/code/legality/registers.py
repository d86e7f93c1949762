"""Rules about operands in two registers: which element of the destination comes from which register of a source."""

from __future__ import annotations

from collections.abc import Iterator

from gen6_bridge.code.isa import EuInstruction
from gen6_bridge.code.isa.encoding.operands import REGISTER_BYTES, VXH, EuDestination, File, SourceRegion
from gen6_bridge.code.isa.encoding.types import EuType

__all__ = ["register_rules"]

_HALF = REGISTER_BYTES // 2


def register_rules(instruction: EuInstruction) -> Iterator[str]:
    """Yield the X rules that an instruction breaks."""
    controls, destination = instruction.controls, instruction.destination
    if controls.align16 or controls.size == 1 or destination is None:
        return
    if destination.file is File.ARCHITECTURE or destination.address is not None:
        return
    step = destination.stride * destination.type.size
    writes = [destination.sub + each * step for each in range(controls.size)]
    upper = [each // REGISTER_BYTES for each in writes]
    two = max(writes) + destination.type.size > REGISTER_BYTES
    if two and sum(upper) * 2 != controls.size:
        yield "X2"
    regions = [
        (position, each)
        for position, each in enumerate(instruction.sources)
        if isinstance(each, SourceRegion) and each.address is None and each.file is not File.ARCHITECTURE
        if each.vertical != VXH
    ]
    for position, region in regions:
        reads = [(region.sub + region.place(each)) // REGISTER_BYTES for each in range(controls.size)]
        begins = [region.sub + region.place(each) for each in range(controls.size)]
        if any(reads):
            yield from _source_in_two(two, writes, upper, reads, begins, len(instruction.sources))
        elif two and not region.scalar and not _packed(position, region, destination, controls.size):
            yield "X5"


def _source_in_two(
    two: bool, writes: list[int], upper: list[int], reads: list[int], begins: list[int], sources: int
) -> Iterator[str]:
    if not two:
        low = sum(each % REGISTER_BYTES < _HALF for each in writes)
        if low not in (0, len(writes)) and low * 2 != len(writes):
            yield "X1"
        return
    if upper != reads:
        yield "X3"
    if sources == 2:
        first = next(at for at, read in zip(begins, reads, strict=True) if read)
        if first % REGISTER_BYTES != begins[0] % REGISTER_BYTES:
            yield "X4"


def _packed(position: int, region: SourceRegion, destination: EuDestination, size: int) -> bool:
    """Return whether a first source of packed words goes to packed elements of four bytes."""
    words = region.type in (EuType.W, EuType.UW) and all(region.place(each) == 2 * each for each in range(size))
    return position == 0 and words and destination.stride == 1 and destination.type.size == 4
