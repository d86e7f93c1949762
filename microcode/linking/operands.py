"""From the values that a user writes to the operands of a declaration, with messages that say what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from microcode.language.values import LabelReference, Range, Written, shown
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.isa.declare import Declaration
from pixelflow.simd.isa.operands import (
    Mem,
    Name,
    NotAllowed,
    NotThisKind,
    Number,
    Operand,
    OperandSpec,
    Target,
    is_whole,
)
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget

__all__ = ["OperandError", "converted"]


class OperandError(InputError):
    """An operand is wrong; ``operand`` is its position from 0, or None where their number or the suffix is."""

    def __init__(self, message: str, operand: int | None, hint: str | None = None) -> None:
        super().__init__(Fault(message, hint=hint))
        self.operand = operand


def converted(
    declaration: Declaration,
    given: tuple[Written, ...],
    name_index: Callable[[str], int],
    target: ProgramTarget[AssembledProgram],
) -> list[Operand]:
    """Return the operands of an instruction; raises OperandError.

    A trailing optional source is filled in, the arguments of a call are gathered. Absolute addresses must lie in the
    memory of the target.
    """
    shape = _shape(declaration)
    if not shape.fewest <= len(given) <= shape.most:
        raise _miscounted(declaration, shape, len(given))
    touched = 1
    if shape.size is not None and shape.size < len(given):
        value, kind = given[shape.size], declaration.operands[shape.size].kind
        if is_whole(value) and isinstance(kind, Number) and kind.holds(value):
            touched = value
    found: list[Operand] = []
    for position, spec in enumerate(declaration.operands):
        values = given[position:] if spec.kind.most is not None else given[position : position + 1]
        taken = []
        for at, value in enumerate(values, position):
            size = touched if spec.sized_by else 1
            try:
                operand = _taken(spec, value, size, name_index, target)
                if isinstance(operand, Mem) and operand.base is None:
                    _check_memory(operand, size, target)
            except ValueError as error:
                message, *hints = error.args
                raise OperandError(f"{declaration.mnemonic}: {message}", at, *hints) from None
            taken.append(operand)
        if spec.kind.most is not None:
            found.append(tuple(taken))
        else:
            found.append(taken[0] if taken else found[0])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """What an instruction takes, worked out once for all of its uses."""

    fewest: int
    most: int
    size: int | None
    """Position of the operand that says how many bytes from its memory operands on it touches; one byte without."""


@cache
def _shape(declaration: Declaration) -> _Shape:
    specs = declaration.operands
    fewest, most = sum(1 for spec in specs if not spec.optional), len(specs)
    if specs and specs[-1].kind.most is not None:
        fewest, most = len(specs) - 1, len(specs) - 1 + specs[-1].kind.most
    names = {spec.sized_by for spec in specs}
    return _Shape(fewest, most, next((at for at, spec in enumerate(specs) if spec.name in names), None))


def _miscounted(declaration: Declaration, shape: _Shape, given: int) -> OperandError:
    fewest, most = shape.fewest, shape.most
    wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    takes = f"takes {wanted} operand{'s' * (wanted != '1')}" if most else "takes no operands"
    message = f"{declaration.mnemonic} {takes}, not {given or 'none'}"
    return OperandError(message, most if given > most else None, f"usage: {declaration.synopsis}")


def _taken(
    spec: OperandSpec,
    value: Written,
    touched: int,
    name_index: Callable[[str], int],
    target: ProgramTarget[AssembledProgram],
) -> Operand | LabelReference:
    """Return the operand that a value stands for, or a reference to a label; raises ValueError(message, hint)."""
    kind = spec.kind
    try:
        match value:
            case str() if isinstance(kind, Name):
                if not value or value in target.reserved:
                    raise ValueError(f"{spec.name} cannot be {value!r}: reports use it for what has no name")
                return name_index(value)
            case LabelReference() | str() if isinstance(kind, Target):
                return LabelReference(value) if isinstance(value, str) else value
            case Range() if kind.takes_memory:
                if touched > value.size:
                    raise ValueError(f"{touched} bytes from {value.name} on leave the range: it has {value.size}")
                return value.mem
        return kind.accepted(value)
    except NotThisKind as error:
        raise ValueError(f"{spec.name} cannot be {shown(value)}, allowed: {spec.allowed}", *error.args) from None
    except NotAllowed:
        raise ValueError(f"{spec.name} is {value}, allowed: {spec.allowed}") from None


def _check_memory(place: Mem, count: int, target: ProgramTarget[AssembledProgram]) -> None:
    if not 0 <= place.offset <= target.memory_bytes - count:
        end = place.offset + count - 1
        what = f"byte {end} leaves" if count == 1 else f"bytes {place.offset}..{end} leave"
        raise ValueError(f"{what} {target.owner}: its memory is 0..{target.memory_bytes - 1}")
