"""Programs of sixteen channels as programs of eight: each instruction becomes one for each half, as the unit does.

The first eight channels come first (quarter 1Q), then the others (2Q), whose operands lie eight elements further on.
Branches and messages stay as they are; their distances grow with what became two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gen6_bridge.code.isa import INSTRUCTIONS, EuInstruction, EuUnit
from gen6_bridge.code.isa.encoding.operands import (
    REGISTER_BYTES,
    VXH,
    Architecture,
    EuDestination,
    File,
    ImmediateOperand,
    Operand,
    SourceRegion,
    Targets,
)

__all__ = ["Narrowed", "WidthUndefined", "narrowed"]

_HALF = 8
_SIZE_CODE = 3
_UNITS = 2
"""What targets count for each instruction."""
_ANY16, _ALL16 = 10, 11


class WidthUndefined(Exception):
    """A program that has no meaning at another width; the text says why."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A program of eight channels, and how many of its instructions each of the wide one became."""

    code: tuple[EuInstruction, ...]
    parts: tuple[int, ...]


def narrowed(code: Sequence[EuInstruction]) -> Narrowed:
    """Return a program whose instructions of sixteen channels, branches and messages left out, are two of eight.

    Raises WidthUndefined where there is none to divide, or where halves or distances mean something else.
    """
    parts = [_parts(each) for each in code]
    if not any(len(each) > 1 for each in parts):
        raise WidthUndefined("no instruction of sixteen channels")
    places = [0]
    for each in parts:
        places.append(places[-1] + len(each))
    found = [
        _moved(each, number, places) if each.declaration.unit is EuUnit.BRANCH else each
        for number, several in enumerate(parts)
        for each in several
    ]
    whole = tuple(INSTRUCTIONS.decode_whole(each.whole) for each in found)
    return Narrowed(whole, tuple(map(len, parts)))


def _parts(instruction: EuInstruction) -> tuple[EuInstruction, ...]:
    controls, declaration = instruction.controls, instruction.declaration
    if declaration.unit in (EuUnit.BRANCH, EuUnit.SEND) or controls.size != 2 * _HALF:
        return (instruction,)
    sets_flags = controls.selector and declaration.unit is EuUnit.FPU
    if controls.predicate in (_ANY16, _ALL16) and sets_flags and not controls.align16:
        raise WidthUndefined("a predicate over sixteen flags that the first half changes")
    if len(instruction.spans) == 1 and _overwrites(instruction):
        raise WidthUndefined("an instruction in one pass whose first half overwrites what the second reads")
    halves = []
    for half in (0, 1):
        narrow = replace(controls, size_code=_SIZE_CODE, quarter=half)
        rest = [_half(declaration.mnemonic, at, each, half) for at, each in enumerate(instruction.operands[1:])]
        halves.append(replace(instruction, operands=(narrow, *rest)))
    return tuple(halves)


def _overwrites(instruction: EuInstruction) -> bool:
    """Return whether the first half writes a byte that the second one reads; indirect operands are not looked at."""
    destination, second = instruction.destination, range(_HALF, 2 * _HALF)
    if destination is None or destination.file is not File.GENERAL or destination.address is not None:
        return False
    step = destination.type.size * (destination.stride if destination.mask is None else 1)
    written = {
        destination.first_byte + each * step + byte for each in range(_HALF) for byte in range(destination.type.size)
    }
    return any(
        source.first_byte + source.place(each) + byte in written
        for source in instruction.sources
        if isinstance(source, SourceRegion) and source.file is File.GENERAL and source.address is None
        for each in second
        for byte in range(source.type.size)
    )


def _half(mnemonic: str, position: int, operand: Operand, half: int) -> Operand:
    """Return the operand of one half; ``position`` is 0 for the destination."""
    if isinstance(operand, EuDestination):
        if operand.architecture not in (None, Architecture.NULL, Architecture.ACCUMULATOR):
            raise WidthUndefined("sixteen elements of an architecture register")
        stride = operand.stride if operand.mask is None else 1
        return _destination(operand, half * _HALF * stride * operand.type.size)
    if not isinstance(operand, SourceRegion) or operand.null:
        return operand
    if mnemonic in ("pln", "line") and position == 1:
        return operand  # the coefficients of all channels
    if mnemonic == "pln":
        return replace(operand, number=operand.number + 2 * half)  # u and v of eight channels
    return _source(operand, half)


def _destination(operand: EuDestination, shift: int) -> EuDestination:
    if operand.null:
        return operand
    if operand.address is not None:
        return replace(operand, address=replace(operand.address, offset=operand.address.offset + shift))
    place = operand.sub + shift
    return replace(operand, number=operand.number + place // REGISTER_BYTES, sub=place % REGISTER_BYTES)


def _source(operand: SourceRegion, half: int) -> SourceRegion:
    shift = half * (operand.place(_HALF) - operand.place(0))
    if operand.swizzle is None and operand.width > _HALF:
        if operand.vertical == VXH:
            raise WidthUndefined("a row of sixteen elements from one address")
        operand = replace(operand, width=_HALF, vertical=_HALF * operand.horizontal)
    if operand.address is not None:
        rows = half * (_HALF // operand.width) if operand.vertical == VXH else 0
        address = replace(operand.address, index=operand.address.index + rows, offset=operand.address.offset + shift)
        return replace(operand, address=address)
    if shift and operand.file is File.ARCHITECTURE and operand.architecture is not Architecture.ACCUMULATOR:
        raise WidthUndefined("sixteen elements of an architecture register")
    place = operand.sub + shift
    return replace(operand, number=operand.number + place // REGISTER_BYTES, sub=place % REGISTER_BYTES)


def _moved(instruction: EuInstruction, number: int, places: Sequence[int]) -> EuInstruction:
    """Return a branch with the distances that it has among halves."""
    mnemonic = instruction.declaration.mnemonic
    if mnemonic in ("call", "ret"):
        raise WidthUndefined("an address of an instruction is stored")

    def distance(units: int, start: int) -> int:
        target = start + units // _UNITS
        if units % _UNITS or not 0 <= target < len(places):
            raise WidthUndefined("a branch past the program")
        return _UNITS * (places[target] - places[start])

    operands: list[Operand] = []
    for operand in instruction.operands:
        if isinstance(operand, Targets):
            uip = None if operand.uip is None else distance(operand.uip, number)
            operand = Targets(distance(operand.jip, number), uip)
        elif mnemonic == "jmpi" and operand is instruction.sources[-1]:
            if not isinstance(operand, ImmediateOperand):
                raise WidthUndefined("a jump by a register")
            operand = replace(operand, bits=distance(int(operand.value), number + 1) & 0xFFFFFFFF)
        operands.append(operand)
    return replace(instruction, operands=tuple(operands))
