"""Programs of eight channels as programs of sixteen: two runs on data of their own become halves of one.

Register n of the first run and that of the second come to stand from register 2 n on, one after the other, as long as
all instructions agree how many bytes of it eight channels take; a register that all channels share stays one. Branches
keep their distances, as each instruction stays one; but extended math, which has eight channels at most, becomes two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gen6_bridge.code.isa import INSTRUCTIONS, EuInstruction, EuUnit
from gen6_bridge.code.isa.encoding.operands import (
    GRF_REGISTERS,
    REGISTER_BYTES,
    Architecture,
    EuDestination,
    File,
    Operand,
    SourceRegion,
)
from gen6_bridge.records.narrowed import WidthUndefined

__all__ = ["Widened", "widened"]

_EIGHT, _SIXTEEN_CODE = 8, 4
_HALVES_LEAVE = (10, 11)
"""Predicates over sixteen flags."""
_TWO_RESULTS = 11
_SHARED = 0
_ADDRESSED = ("call", "ret", "jmpi")
_COEFFICIENTS = ("pln", "line")


@dataclass(frozen=True, slots=True)
class Widened:
    """A program of sixteen channels, and how registers of eight lie in it."""

    code: tuple[EuInstruction, ...]
    bytes: dict[int, int]
    """For each register of the narrow program the bytes that eight channels take of it; 0 where they share it."""


def widened(code: Sequence[EuInstruction]) -> Widened:
    """Return the wide program; raises WidthUndefined where the narrow one has no such form."""
    taken: dict[int, set[int]] = {}
    written: set[int] = set()
    for instruction in code:
        _check(instruction)
        for operand, size in _registers(instruction):
            taken.setdefault(operand.number, set()).add(size)
            if isinstance(operand, EuDestination):
                written.add(operand.number)
    for register, sizes in taken.items():
        if len(sizes) > 1 or (sizes == {_SHARED} and register in written):
            raise WidthUndefined("a register of which instructions take different parts")
        if 2 * register + 1 >= GRF_REGISTERS:
            raise WidthUndefined("more registers than there are")
    if not taken:
        raise WidthUndefined("no general register")
    parts = [_wide(each) for each in code]
    if len({len(each) for each in parts}) > 1 and any(each.declaration.unit is EuUnit.BRANCH for each in code):
        raise WidthUndefined("extended math and branches, whose distances would grow")
    wide = tuple(INSTRUCTIONS.decode_whole(each.whole) for several in parts for each in several)
    return Widened(wide, {register: next(iter(sizes)) for register, sizes in taken.items()})


def _check(instruction: EuInstruction) -> None:
    controls, declaration = instruction.controls, instruction.declaration
    if declaration.unit is EuUnit.SEND:
        raise WidthUndefined("a message")
    if declaration.unit is EuUnit.MATH and controls.selector == _TWO_RESULTS:
        raise WidthUndefined("quotient and remainder, whose second register is the next one")
    if declaration.mnemonic in _ADDRESSED or declaration.mnemonic == "pln":
        raise WidthUndefined(f"{declaration.mnemonic} means another thing")
    if declaration.mnemonic == "nop":
        return
    if controls.size > _EIGHT:
        raise WidthUndefined("sixteen channels already")
    if controls.size < _EIGHT or controls.quarter:
        raise WidthUndefined("an instruction of one, two, four or the second eight channels")
    if controls.predicate in _HALVES_LEAVE and not controls.align16:
        raise WidthUndefined("a predicate over sixteen flags")


def _registers(instruction: EuInstruction) -> Iterator[tuple[EuDestination | SourceRegion, int]]:
    """Yield operands in general registers with the bytes that eight channels take."""
    first = True
    for operand in instruction.operands:
        if not isinstance(operand, EuDestination | SourceRegion):
            continue
        coefficients = isinstance(operand, SourceRegion) and first and instruction.declaration.mnemonic in _COEFFICIENTS
        first = first and not isinstance(operand, SourceRegion)
        if operand.null:
            continue
        if operand.address is not None:
            raise WidthUndefined("an indirect operand")
        if operand.file is File.GENERAL:
            yield operand, _SHARED if coefficients else _taken(operand)
        elif operand.architecture is not Architecture.ACCUMULATOR or operand.sub or operand.number & 1:
            raise WidthUndefined("an architecture register")
        elif _taken(operand) == _SHARED:
            raise WidthUndefined("one element of the accumulator for all channels")


def _taken(operand: EuDestination | SourceRegion) -> int:
    """Return how many bytes from a register's start eight channels take, each as many; 0 where they share elements."""
    size = operand.type.size
    if isinstance(operand, EuDestination):
        places = [each * (operand.stride if operand.mask is None else 1) * size for each in range(_EIGHT)]
    else:
        places = [operand.place(each) for each in range(_EIGHT)]
        if operand.scalar or (operand.swizzle is not None and operand.vertical == 0):
            return _SHARED
    groups = [[0], places[:1]] if not isinstance(operand, SourceRegion) or operand.swizzle is None else []
    step = places[1] - places[0] if groups else size
    straight = places == [each * step for each in range(_EIGHT)]
    by_fours = isinstance(operand, SourceRegion) and operand.swizzle is not None and operand.vertical == 4
    if operand.sub or step < size or not (straight or by_fours) or _EIGHT * step > REGISTER_BYTES:
        raise WidthUndefined("a region that is no row from a register's start")
    return _EIGHT * step


def _wide(instruction: EuInstruction) -> tuple[EuInstruction, ...]:
    if instruction.declaration.mnemonic == "nop":
        return (instruction,)
    if instruction.declaration.unit is EuUnit.MATH:
        return tuple(_half(instruction, half) for half in (0, 1))
    controls = replace(instruction.controls, size_code=_SIXTEEN_CODE)
    operands: list[Operand] = [controls]
    for operand in instruction.operands[1:]:
        if isinstance(operand, EuDestination | SourceRegion) and operand.file is File.GENERAL:
            operand = replace(operand, number=2 * operand.number)
        if isinstance(operand, SourceRegion) and operand.swizzle is None and not operand.scalar and not operand.null:
            operand = replace(operand, vertical=operand.width * operand.horizontal)  # rows follow each other
        operands.append(operand)
    return (replace(instruction, operands=tuple(operands)),)


def _half(instruction: EuInstruction, half: int) -> EuInstruction:
    """Return extended math on one half of the channels, each of whose operands takes a whole register or is shared."""
    operands: list[Operand] = [replace(instruction.controls, quarter=half)]
    for operand in instruction.operands[1:]:
        if isinstance(operand, EuDestination | SourceRegion) and operand.file is File.GENERAL:
            size = _taken(operand)
            if size not in (_SHARED, REGISTER_BYTES):
                raise WidthUndefined("extended math on a part of a register")
            operand = replace(operand, number=2 * operand.number + (half if size else 0))
        operands.append(operand)
    return replace(instruction, operands=tuple(operands))
