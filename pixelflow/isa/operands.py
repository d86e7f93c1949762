"""Registers of a PE, and the kinds of operand that only the node's instructions have. Widths are invented."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from pixelflow.simd.isa.operands import Imm, Mem, NotThisKind, Number, Operand, OperandKind

PARAMETERS = 7
"""Parameter registers P0 to P6 of a sequencer frame (invented)."""

COEFFICIENT_BITS = 64
"""Width of A, B and C in an instruction word (invented: wide enough for every load of 1 to 8 bytes)."""

ARGUMENT_OFFSET_BITS = 13
"""Width of an address or byte that a call passes, with its sign (invented)."""

_BASE_BITS = 3
_OFFSET_BITS = 10
_PLACE = (("base", _BASE_BITS, False), ("offset", _OFFSET_BITS, True))
_APART = 64
"""Bytes between the examples of two positions, more than an instruction moves."""
_SOURCE_REGISTER, _SOURCE_MEMORY, _SOURCE_IMMEDIATE = 0, 1, 2


class Register(Enum):
    """The three 8-bit registers of a PE: accumulator, shift register, multiplicand."""

    R = 0
    S = 1
    M = 2

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


def _fields(base: int | None, offset: int, width: int = _OFFSET_BITS) -> list[int]:
    """Return the field values of a parameter (or none) and an offset; raises ValueError where they do not fit."""
    if base is not None and not 0 <= base < PARAMETERS:
        raise ValueError(f"parameter P{base} does not exist (P0 to P{PARAMETERS - 1})")
    low, high = -(1 << width - 1), (1 << width - 1) - 1
    if not low <= offset <= high:
        raise ValueError(f"{offset} does not fit {low}..{high}")
    return [0 if base is None else base + 1, offset]


def _place(base: int, offset: int) -> tuple[int, int | None]:
    return offset, None if base == 0 else base - 1


def _byte_fields(operand: Imm) -> list[int]:
    if not -128 <= operand.value <= 255:
        raise ValueError(f"#{operand.value} is not a byte, allowed: #-128..#255")
    return _fields(operand.base, operand.value)


def _accepted_memory(value: Mem) -> Mem:
    """Return an address whose offset from a parameter fits its field; one without a parameter must be in the PE."""
    low, high = -(1 << _OFFSET_BITS - 1), (1 << _OFFSET_BITS - 1) - 1
    if value.base is not None and not low <= value.offset <= high:
        raise ValueError(f"{value.offset} beyond a parameter is too far, allowed: {low}..{high}")
    if value.base is None and value.offset > high:
        raise ValueError(f"byte {value.offset} is past {high}: pass it to a routine by CALL")
    return value


def _accepted_byte(value: Imm) -> Imm:
    if not -128 <= value.value <= 255:
        raise ValueError(f"#{value.value} is not a byte, allowed: #-128..#255")
    return value


class _RegisterKind(OperandKind):
    value = "register"
    allowed = "a register: R, S or M"
    parts = (("register", 2, False),)

    def values(self, operand: Operand) -> Sequence[int]:
        if not isinstance(operand, Register):
            raise ValueError(f"{operand!r} is not {self.allowed}")
        return [operand.value]

    def operand(self, values: Sequence[int]) -> Register:
        return Register(values[0])

    def accepted(self, value: object) -> Register:
        if not isinstance(value, Register):
            raise NotThisKind
        return value


class _SourceKind(OperandKind):
    value = "source"
    takes_memory = True
    allowed = "a register, a memory byte, or an immediate #-128..#255"
    parts = (("kind", 2, False), *_PLACE)

    def values(self, operand: Operand) -> Sequence[int]:
        match operand:
            case Mem():
                return [_SOURCE_MEMORY, *_fields(operand.base, operand.offset)]
            case Imm():
                return [_SOURCE_IMMEDIATE, *_byte_fields(operand)]
            case Register():
                return [_SOURCE_REGISTER, 0, operand.value]
        raise ValueError(f"{operand!r} is not {self.allowed}")

    def operand(self, values: Sequence[int]) -> Register | Mem | Imm:
        kind, base, offset = values
        if kind == _SOURCE_REGISTER:
            return Register(offset)
        if kind not in (_SOURCE_MEMORY, _SOURCE_IMMEDIATE):
            raise ValueError(f"source kind {kind} does not exist")
        return (Mem if kind == _SOURCE_MEMORY else Imm)(*_place(base, offset))

    def accepted(self, value: object) -> Register | Mem | Imm:
        match value:
            case Register():
                return value
            case Imm():
                return _accepted_byte(value)
            case Mem():
                return _accepted_memory(value)
            case int():
                raise NotThisKind(f"write #{value} for the number, [{value}] for memory")
        raise NotThisKind

    def examples(self, position: int) -> Sequence[Register | Mem | Imm]:
        return (Register.R, Register.S, Mem(_APART * position), Imm(3))


class _MemoryKind(OperandKind):
    value = "memory"
    takes_memory = True
    allowed = "a memory byte"
    parts = _PLACE

    def values(self, operand: Operand) -> Sequence[int]:
        if not isinstance(operand, Mem):
            raise ValueError(f"{operand!r} is not {self.allowed}")
        return _fields(operand.base, operand.offset)

    def operand(self, values: Sequence[int]) -> Mem:
        return Mem(*_place(*values))

    def accepted(self, value: object) -> Mem:
        match value:
            case Mem():
                return _accepted_memory(value)
            case int():
                raise NotThisKind(f"write [{value}] for the memory byte")
        raise NotThisKind

    def examples(self, position: int) -> Sequence[Mem]:
        return (Mem(_APART * position),)


class _ByteKind(OperandKind):
    value = "byte"
    allowed = "an immediate #-128..#255"
    parts = _PLACE

    def values(self, operand: Operand) -> Sequence[int]:
        if not isinstance(operand, Imm):
            raise ValueError(f"{operand!r} is not {self.allowed}")
        return _byte_fields(operand)

    def operand(self, values: Sequence[int]) -> Imm:
        return Imm(*_place(*values))

    def accepted(self, value: object) -> Imm:
        match value:
            case Imm():
                return _accepted_byte(value)
            case int():
                raise NotThisKind(f"write #{value} for the number")
        raise NotThisKind


class _CoefficientKind(Number):
    value = "coefficient"
    is_coefficient = True
    allowed = "a signed 64-bit integer"
    # Two words, high half first, so that the instruction stays a whole number of words.
    parts = (("high", 32, False), ("low", 32, False))

    def holds(self, number: int) -> bool:
        """Return whether an integer is allowed."""
        return -(1 << COEFFICIENT_BITS - 1) <= number < 1 << COEFFICIENT_BITS - 1

    def values(self, operand: Operand) -> Sequence[int]:
        (number,) = super().values(operand)
        return [number >> 32 & 0xFFFFFFFF, number & 0xFFFFFFFF]

    def operand(self, values: Sequence[int]) -> int:
        number = values[0] << 32 | values[1]
        return number - (1 << COEFFICIENT_BITS) if number >> COEFFICIENT_BITS - 1 else number

    def examples(self, position: int) -> Sequence[int]:
        return (3,)


class _ArgumentsKind(OperandKind):
    """The arguments of a call: a tuple of addresses and bytes."""

    value = "arguments"
    takes_memory = True
    most = PARAMETERS
    allowed = f"up to {PARAMETERS} memory addresses or immediates"
    parts = (
        ("count", 3, False),
        *(
            part
            for index in range(PARAMETERS)
            for part in ((f"base{index}", _BASE_BITS, False), (f"offset{index}", ARGUMENT_OFFSET_BITS, True))
        ),
    )

    def values(self, operand: Operand) -> Sequence[int]:
        if not isinstance(operand, tuple) or len(operand) > PARAMETERS:
            raise ValueError(f"{operand!r} is not {self.allowed}")
        values = [len(operand)]
        for argument in operand:
            match argument:
                case Mem():
                    values += _fields(argument.base, argument.offset, ARGUMENT_OFFSET_BITS)
                case Imm():
                    values += _fields(argument.base, argument.value, ARGUMENT_OFFSET_BITS)
                case _:
                    raise ValueError(f"{operand!r} is not {self.allowed}")
        return values + [0] * (len(self.parts) - len(values))

    def operand(self, values: Sequence[int]) -> tuple[Mem, ...]:
        pairs = [(values[1 + 2 * i], values[2 + 2 * i]) for i in range(values[0])]
        return tuple(Mem(*_place(base, offset)) for base, offset in pairs)

    def accepted(self, value: object) -> Mem | Imm:
        """Return one argument."""
        match value:
            case Mem():
                return value if value.base is None else _accepted_memory(value)
            case Imm():
                return _accepted_byte(value)
        raise NotThisKind("write #value for a byte, [address] for memory")

    def text(self, operand: Operand) -> str:
        return ", ".join(str(argument) for argument in operand)


class _ParameterKind(Number):
    """A parameter of the running routine, by its number."""

    value = "parameter"
    allowed = f"a parameter of the routine (P0 to P{PARAMETERS - 1})"
    parts = (("value", _BASE_BITS, False),)

    def holds(self, number: int) -> bool:
        """Return whether an integer is allowed."""
        return 0 <= number < PARAMETERS

    def accepted(self, value: object) -> int:
        match value:
            case Mem(0, base) if base is not None:
                return base
            case int() if self.holds(value):
                return value
        raise NotThisKind

    def text(self, operand: Operand) -> str:
        return f"P{operand}"

    def text_within(self, operand: Operand, parameters: Sequence[str]) -> str:
        return parameters[operand] if operand < len(parameters) else self.text(operand)


REGISTER, SOURCE, MEMORY, BYTE = _RegisterKind(), _SourceKind(), _MemoryKind(), _ByteKind()
COEFFICIENT, ARGUMENTS, PARAMETER = _CoefficientKind(), _ArgumentsKind(), _ParameterKind()
