"""From the values that a user writes to the operands of a declaration, with messages that say what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from microcode.values import Range, Reference, Value, shown
from pixelflow.isa import (
    BEFORE,
    END,
    MEMORY_BYTES,
    PARAMETERS,
    Declaration,
    Imm,
    Kind,
    Mem,
    OperandForm,
    OperandSpec,
    Register,
)
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.records import record

__all__ = ["OperandError", "converted"]

OFFSETS = range(-512, 512)
"""What is added to a parameter fits 10 bits of the instruction word."""


class OperandError(InputError):
    """An operand is wrong; ``operand`` is its position from 0, or None where their number or the suffix is."""

    def __init__(self, message: str, operand: int | None, hint: str | None = None) -> None:
        super().__init__(Fault(message, hint=hint))
        self.operand = operand


def converted(declaration: Declaration, given: tuple[Value, ...], name_index: Callable[[str], int]) -> list:
    """Return the operands of an instruction; raises OperandError.

    A trailing optional source is filled in, the arguments of a call are gathered, memory is checked against the PE.
    """
    shape = _shape(declaration)
    if not shape.fewest <= len(given) <= shape.most:
        raise _miscounted(declaration, shape, len(given))
    touched = 1
    if shape.size is not None and shape.size < len(given):
        value, spec = given[shape.size], declaration.operands[shape.size]
        if isinstance(value, int) and spec.low <= value <= spec.high:
            touched = value
    found: list = []
    for position, (spec, take) in enumerate(shape.takers):
        if take is None:
            rest = range(position, len(given))
            found.append(tuple(_argument(declaration, spec, given[index], index) for index in rest))
        elif position == len(given):
            found.append(given[0])
        else:
            try:
                found.append(take(spec, given[position], touched, name_index))
            except ValueError as error:
                message, *hints = error.args
                raise OperandError(f"{declaration.mnemonic}: {message}", position, *hints) from None
    return found


@record(eq=False)
class _Shape:
    """What an instruction takes, worked out once for all of its uses."""

    takers: tuple[tuple[OperandSpec, Callable | None], ...]
    """For each operand what makes it of a value; None where it gathers the arguments of a call."""
    fewest: int
    most: int
    size: int | None
    """Position of the operand that says how many bytes from its memory operands on it touches; one byte without."""


@cache
def _shape(declaration: Declaration) -> _Shape:
    specs = declaration.operands
    fewest, most = sum(1 for spec in specs if not spec.optional), len(specs)
    if specs and specs[-1].kind is Kind.ARGUMENTS:
        fewest, most = len(specs) - 1, len(specs) - 1 + PARAMETERS
    size = next((position for position, spec in enumerate(specs) if spec.name == "bytes"), None)
    takers = tuple((spec, _form if isinstance(spec.kind, OperandForm) else _TAKERS[spec.kind]) for spec in specs)
    return _Shape(takers, fewest, most, size)


def _miscounted(declaration: Declaration, shape: _Shape, given: int) -> OperandError:
    fewest, most = shape.fewest, shape.most
    wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    takes = f"takes {wanted} operand{'s' * (wanted != '1')}" if most else "takes no operands"
    message = f"{declaration.mnemonic} {takes}, not {given or 'none'}"
    return OperandError(message, most if given > most else None, f"usage: {declaration.synopsis}")


def _argument(declaration: Declaration, spec: OperandSpec, value: Value, position: int) -> Mem | Imm:
    try:
        match value:
            case Range():
                return value.mem
            case Mem():
                return _memory(value, 1)
            case Imm():
                return _immediate(value)
        raise _wrong(spec, value, "write #value for a byte, [address] for memory")
    except ValueError as error:
        message, *hints = error.args
        raise OperandError(f"{declaration.mnemonic}: {message}", position, *hints) from None


# What makes an operand of a value, by kind: ``touched`` bytes from a memory operand on must lie in the PE.


def _form(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    return spec.kind.accepted(value)


def _register(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    if isinstance(value, Register):
        return value
    raise _wrong(spec, value, _advice(spec, value))


def _source(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    if isinstance(value, Register):
        return value
    if isinstance(value, Imm):
        return _immediate(value)
    return _place(spec, value, touched, name_index)


def _place(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    if isinstance(value, Mem):
        return _memory(value, touched)
    if isinstance(value, Range):
        if touched > value.size:
            raise ValueError(f"{touched} bytes from {value.name} on leave the range: it has {value.size}")
        return value.mem
    raise _wrong(spec, value, _advice(spec, value))


def _byte(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    if isinstance(value, Imm):
        return _immediate(value)
    raise _wrong(spec, value, _advice(spec, value))


def _number(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(spec, value, _advice(spec, value))
    if value not in spec.choices if spec.choices else not spec.low <= value <= spec.high:
        raise ValueError(f"{spec.name} is {value}, allowed: {spec.allowed}")
    return value


def _coefficient(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(spec, value, _advice(spec, value))
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"{spec.name} is {value}, allowed: {spec.allowed}")
    return value


def _parameter(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    match value:
        case Mem(0, base) if base is not None:
            return base
        case int() if 0 <= value < PARAMETERS:
            return value
    raise _wrong(spec, value, _advice(spec, value))


def _name(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    if not isinstance(value, str):
        raise _wrong(spec, value, _advice(spec, value))
    if value in ("", BEFORE, END):
        raise ValueError(f"{spec.name} cannot be {value!r}: reports use it for what has no name")
    return name_index(value)


def _target(spec: OperandSpec, value: Value, touched: int, name_index: Callable[[str], int]) -> Any:
    if isinstance(value, Reference):
        return value
    if isinstance(value, str):
        return Reference(value)
    raise _wrong(spec, value, _advice(spec, value))


_TAKERS: dict[Kind, Callable | None] = {
    Kind.REGISTER: _register,
    Kind.SOURCE: _source,
    Kind.MEMORY: _place,
    Kind.BYTE: _byte,
    Kind.COUNT: _number,
    Kind.DELTA: _number,
    Kind.COEFFICIENT: _coefficient,
    Kind.PARAMETER: _parameter,
    Kind.NAME: _name,
    Kind.TARGET: _target,
    Kind.ARGUMENTS: None,
}


def _advice(spec: OperandSpec, value: Value) -> str | None:
    if isinstance(value, int) and spec.kind in (Kind.SOURCE, Kind.BYTE):
        return f"write #{value} for the number" + (f", [{value}] for memory" if spec.kind is Kind.SOURCE else "")
    if isinstance(value, int) and spec.kind is Kind.MEMORY:
        return f"write [{value}] for the memory byte"
    if isinstance(value, Imm) and value.base is None and spec.kind in (Kind.COUNT, Kind.DELTA, Kind.COEFFICIENT):
        return f"write {value.value} without the #"
    return None


def _wrong(spec: OperandSpec, value: Value, hint: str | None) -> ValueError:
    message = f"{spec.name} cannot be {shown(value)}, allowed: {spec.allowed}"
    return ValueError(message, hint) if hint else ValueError(message)


def _memory(value: Mem, count: int) -> Mem:
    if value.base is None:
        if not 0 <= value.offset <= MEMORY_BYTES - count:
            end = value.offset + count - 1
            what = f"byte {end} leaves" if count == 1 else f"bytes {value.offset}..{end} leave"
            raise ValueError(f"{what} the PE: its memory is 0..{MEMORY_BYTES - 1}")
    elif value.offset not in OFFSETS:
        raise ValueError(f"{value.offset} beyond a parameter is too far, allowed: {OFFSETS[0]}..{OFFSETS[-1]}")
    return value


def _immediate(value: Imm) -> Imm:
    if not -128 <= value.value <= 255:
        raise ValueError(f"#{value.value} is not a byte, allowed: #-128..#255")
    return value
