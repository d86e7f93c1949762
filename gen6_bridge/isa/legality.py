"""Meaning: rules of legality, which say which instructions the machine accepts."""

from __future__ import annotations

from collections.abc import Iterator

from gen6_bridge.isa.declarations import EuFamily, EuInstruction
from gen6_bridge.isa.operands import (
    REGISTER_BYTES,
    VXH,
    EuDestination,
    EuType,
    ExecutionType,
    File,
    ImmediateOperand,
    SourceRegion,
)

# Rules about operands in two registers: which element of the destination comes from which register of a source.


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


# Rules of legality: regions of sources and destinations, sizes, files, and rules of single instructions.
#
# Restated from Mesa's validator for this generation. X rules are checked only where no S, D or E rule is broken.
# Programs that ran on hardware break S2 and S4, so a broken rule is reported, and whatever can be addressed is
# executed.


RULES = {
    "S1": "the width is larger than the execution size",
    "S2": "of one row, the vertical stride is not width times horizontal stride",
    "S3": "of a width of 1, the horizontal stride is not 0",
    "S4": "of a single element, a stride is not 0",
    "S5": "both strides are 0, and the width is not 1",
    "S6": "a row crosses a register",
    "S7": "the source is in more than two registers",
    "D1": "the stride of the destination is 0",
    "D2": "packed bytes as destination of an instruction other than a raw move",
    "D3": "stride times size of the destination is not the size that is computed in",
    "D4": "the destination does not begin at a multiple of the size that is computed in",
    "D5": "the destination is in more than two registers",
    "X1": "a source in two registers whose elements go to one, neither half nor all of them from one",
    "X2": "a destination in two registers, not half of the elements in each",
    "X3": "elements of one register of the destination come from the other register of the source",
    "X4": "two sources, and one begins elsewhere in its second register than in its first",
    "X5": "a destination in two registers, and a source in one that is neither scalar nor packed words",
    "E1": "floats and integers as sources of one instruction",
    "N1": "a source that is needed is null",
    "A1": "16-byte mode, and the stride of the destination is not 1",
    "A2": "16-byte mode, and a vertical stride is neither 0 nor 4",
    "V1": "a packed vector, and the destination does not begin at a multiple of 16 bytes",
    "V2": "packed floats, and elements of the destination are not 4 bytes apart",
    "V3": "packed integers, and elements of the destination are not 2 bytes apart",
    "M1": "math of more than eight channels",
    "M2": "math in 16-byte mode",
    "M3": "math of a source other than a general register",
    "M4": "math with a modifier",
    "M5": "math of a source that is neither a scalar nor of horizontal stride 1",
    "M6": "math, and the stride of the destination is not 1",
    "T1": "three sources outside of 16-byte mode",
}
"""Each rule by what breaks it."""


def source_rules(size: int, region: SourceRegion) -> Iterator[str]:
    """Yield the rules that a source region breaks with ``size`` channels."""
    vertical, width, horizontal = region.vertical, region.width, region.horizontal
    if vertical == VXH:
        return
    if size < width:
        yield "S1"
    if size == width and horizontal and vertical != width * horizontal:
        yield "S2"
    if width == 1 and horizontal:
        yield "S3"
    if size == width == 1 and (vertical or horizontal):
        yield "S4"
    if vertical == horizontal == 0 and width != 1:
        yield "S5"
    if region.address is not None or region.file is File.ARCHITECTURE:
        return
    element = region.type.size
    for row in range(size // width):
        first = region.sub + row * vertical * element
        last = first + (width - 1) * horizontal * element
        if first // REGISTER_BYTES != (last + element - 1) // REGISTER_BYTES:
            yield "S6"
            break
    if any(region.sub + region.place(each) >= 2 * REGISTER_BYTES for each in range(size // width * width)):
        yield "S7"


def broken_rules(instruction: EuInstruction) -> tuple[str, ...]:
    """Return the rules that an instruction breaks, in order; none for branches, messages and nothing."""
    declaration = instruction.declaration
    if declaration.family in (EuFamily.FLOW, EuFamily.MESSAGE):
        return ()
    broken = sorted(set(_rules(instruction)))
    if not any(each[0] in "SDE" for each in broken):
        if _too_far(instruction):
            return (*broken, "D5")
        broken = sorted({*broken, *register_rules(instruction)})
    return tuple(broken)


def _rules(instruction: EuInstruction) -> Iterator[str]:
    controls, declaration = instruction.controls, instruction.declaration
    destination, sources = instruction.destination, instruction.sources
    assert destination is not None
    if declaration.three:
        if not controls.align16:
            yield "T1"
        return
    if declaration.family is EuFamily.MATH:
        yield from _math(instruction, destination)
        if controls.selector not in _TWO_SOURCES:
            sources = sources[:1]
    for source in sources:
        if isinstance(source, SourceRegion):
            if source.null:
                yield "N1"
            elif controls.align16:
                if source.vertical not in (0, 4):
                    yield "A2"
            else:
                yield from source_rules(controls.size, source)
        elif source.type.packed:
            yield from _vector(source, destination)
    if controls.align16:
        if destination.stride != 1:
            yield "A1"
    else:
        yield from _destination(instruction, destination, sources)
    kinds = {each.type.floats for each in sources if isinstance(each, ImmediateOperand) or not each.null}
    if len(kinds) > 1:
        yield "E1"


_TWO_SOURCES = (9, 10, 11, 12, 13)
"""Functions of `math` with two arguments."""


def _destination(
    instruction: EuInstruction, destination: EuDestination, sources: tuple[SourceRegion | ImmediateOperand, ...]
) -> Iterator[str]:
    controls, size = instruction.controls, destination.type.size
    if destination.stride == 0:
        yield "D1"
        return
    if destination.null:
        return
    if controls.size > 1:
        execution = ExecutionType.of(tuple(each.type for each in sources)).size
        raw = _raw_move(instruction, destination)
        if size == 1 and destination.stride == 1 and not raw:
            yield "D2"
        elif execution > size and not (size == 1 and raw):
            if destination.stride * size != execution:
                yield "D3"
            if destination.address is None and destination.sub % execution not in ((0, 1) if size == 1 else (0,)):
                yield "D4"


def _too_far(instruction: EuInstruction) -> bool:
    """Return whether the destination is in more than two registers."""
    destination, controls = instruction.destination, instruction.controls
    if destination is None or destination.address is not None or destination.file is File.ARCHITECTURE:
        return False
    if controls.align16 or instruction.declaration.three:
        return False
    last = destination.sub + (controls.size - 1) * destination.stride * destination.type.size
    return last >= 2 * REGISTER_BYTES


def _raw_move(instruction: EuInstruction, destination: EuDestination) -> bool:
    """Return whether an instruction copies elements of a size as they are."""
    if len(instruction.sources) != 1 or instruction.declaration.opcode != 1 or instruction.controls.saturates:
        return False
    (source,) = instruction.sources
    return source.type.size == destination.type.size and not (isinstance(source, SourceRegion) and source.modified)


def _vector(source: ImmediateOperand, destination: EuDestination) -> Iterator[str]:
    if destination.sub % 16:
        yield "V1"
    step = destination.stride * destination.type.size
    if source.type is EuType.VF:
        if step != 4:
            yield "V2"
    elif step != 2:
        yield "V3"


def _math(instruction: EuInstruction, destination: EuDestination) -> Iterator[str]:
    controls = instruction.controls
    if controls.size > 8:
        yield "M1"
    if controls.align16:
        yield "M2"
    sources = instruction.sources if controls.selector in _TWO_SOURCES else instruction.sources[:1]
    for source in sources:
        if isinstance(source, ImmediateOperand) or source.file is not File.GENERAL:
            yield "M3"
            continue
        if source.modified:
            yield "M4"
        if source.horizontal != 1 and not source.scalar:
            yield "M5"
    if destination.stride != 1:
        yield "M6"
