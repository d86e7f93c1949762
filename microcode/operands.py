"""From the values that a user writes to the operands of a declaration, with messages that say what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from microcode.values import Range, Reference, Value, shown
from pixelflow.errors import Fault, InputError
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

__all__ = ["OperandError", "converted"]

OFFSETS = range(-512, 512)
"""What is added to a parameter fits 10 bits of the instruction word."""


class OperandError(InputError):
    """An operand is wrong; ``operand`` is its position from 0, or None where their number or the suffix is."""

    def __init__(self, message: str, operand: int | None, hint: str | None = None) -> None:
        super().__init__(Fault(message, hint=hint))
        self.operand = operand


def converted(declaration: Declaration, given: tuple[Value, ...], name_index: Callable[[str], int]) -> Iterator:
    """Give the operands of an instruction; raises OperandError.

    A trailing optional source is filled in, the arguments of a call are gathered, memory is checked against the PE.
    """
    count = _extent(declaration, given)
    _check_count(declaration, given)
    for position, spec in enumerate(declaration.operands):
        if spec.kind is Kind.ARGUMENTS:
            rest = range(position, len(given))
            yield tuple(_argument(declaration, spec, given[index], index) for index in rest)
        elif position == len(given):
            yield given[0]
        else:
            try:
                yield _operand(spec, given[position], name_index, count)
            except ValueError as error:
                message, *hints = error.args
                raise OperandError(f"{declaration.mnemonic}: {message}", position, *hints) from None


def _extent(declaration: Declaration, given: tuple[Value, ...]) -> int:
    """Return how many bytes from its memory operands on an instruction touches."""
    for spec, value in zip(declaration.operands, given, strict=False):
        if spec.name == "bytes" and isinstance(value, int) and spec.low <= value <= spec.high:
            return value
    return 1


def _check_count(declaration: Declaration, given: tuple[Value, ...]) -> None:
    specs = declaration.operands
    most = len(specs)
    fewest = sum(1 for spec in specs if not spec.optional)
    if specs and specs[-1].kind is Kind.ARGUMENTS:
        fewest, most = len(specs) - 1, len(specs) - 1 + PARAMETERS
    if fewest <= len(given) <= most:
        return
    wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    found = len(given) if given else "none"
    takes = f"takes {wanted} operand{'s' * (wanted != '1')}" if most else "takes no operands"
    message = f"{declaration.mnemonic} {takes}, not {found}"
    raise OperandError(message, most if len(given) > most else None, f"usage: {declaration.synopsis}")


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


def _operand(spec: OperandSpec, value: Value, name_index: Callable[[str], int], count: int):
    if isinstance(spec.kind, OperandForm):
        return spec.kind.accepted(value)
    match spec.kind, value:
        case ((Kind.REGISTER | Kind.SOURCE), Register()):
            return value
        case ((Kind.SOURCE | Kind.MEMORY), Range()):
            if count > value.size:
                raise ValueError(f"{count} bytes from {value.name} on leave the range: it has {value.size}")
            return value.mem
        case ((Kind.SOURCE | Kind.MEMORY), Mem()):
            return _memory(value, count)
        case ((Kind.SOURCE | Kind.BYTE), Imm()):
            return _immediate(value)
        case ((Kind.COUNT | Kind.DELTA), int()) if not isinstance(value, bool):
            if value not in spec.choices if spec.choices else not spec.low <= value <= spec.high:
                raise ValueError(f"{spec.name} is {value}, allowed: {spec.allowed}")
            return value
        case Kind.COEFFICIENT, int() if not isinstance(value, bool):
            if not -(1 << 63) <= value < 1 << 63:
                raise ValueError(f"{spec.name} is {value}, allowed: {spec.allowed}")
            return value
        case Kind.PARAMETER, Mem(0, base) if base is not None:
            return base
        case Kind.PARAMETER, int() if 0 <= value < PARAMETERS:
            return value
        case Kind.NAME, str():
            if value in ("", BEFORE, END):
                raise ValueError(f"{spec.name} cannot be {value!r}: reports use it for what has no name")
            return name_index(value)
        case Kind.TARGET, Reference():
            return value
        case Kind.TARGET, str():
            return Reference(value)
    raise _wrong(spec, value, _advice(spec, value))


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
