"""Instructions to 32-bit words and back.

The layout of a word is derived from the operand kinds of its declaration: an 8-bit opcode, the gate bit where the
instruction has one, then the fields of each operand in order. A field never crosses a word boundary. Widths are
invented; `place` proves for every declaration that no two fields overlap and that all fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from pixelflow.simd.errors import InternalError
from pixelflow.simd.isa.operands import PARAMETERS, Imm, Kind, Mem, Operand, OperandForm, OperandSpec, Register
from pixelflow.simd.records import record

__all__ = ["OPCODE_BITS", "WORD_BITS", "EncodingError", "Field", "Layout", "place"]

WORD_BITS = 32
OPCODE_BITS = 8
_BASE_BITS = 3
_OFFSET_BITS = 10
_ARGUMENT_OFFSET_BITS = 13
_TARGET_BITS, _NAME_BITS = 24, 16
_SOURCE_REGISTER, _SOURCE_MEMORY, _SOURCE_IMMEDIATE = 0, 1, 2


class EncodingError(ValueError):
    """An operand does not fit its field; the text names the operand and what is allowed."""


@record
class Field:
    """One bit field: which operand it belongs to, and its first bit and width in the whole instruction."""

    operand: str
    part: str
    start: int
    width: int
    signed: bool = False

    @property
    def bits(self) -> range:
        """The positions of its bits in the whole instruction."""
        return range(self.start, self.start + self.width)


def _parts(spec: OperandSpec) -> list[tuple[str, int, bool]]:
    """Return (part, width, signed) of the fields that an operand of this kind needs."""
    address = [("base", _BASE_BITS, False), ("offset", _OFFSET_BITS, True)]
    match spec.kind:
        case OperandForm():
            return list(spec.kind.parts)
        case Kind.REGISTER:
            return [("register", 2, False)]
        case Kind.SOURCE:
            return [("kind", 2, False), *address]
        case Kind.MEMORY | Kind.BYTE:
            return address
        case Kind.COUNT:
            return [("value", max(1, spec.high.bit_length()), False)]
        case Kind.DELTA:
            return [("value", 14, True)]
        case Kind.COEFFICIENT:
            # Two words, high half first, so that the instruction stays a whole number of words.
            return [("high", 32, False), ("low", 32, False)]
        case Kind.TARGET:
            return [("value", _TARGET_BITS, False)]
        case Kind.NAME:
            return [("value", _NAME_BITS, False)]
        case Kind.PARAMETER:
            return [("value", _BASE_BITS, False)]
        case Kind.ARGUMENTS:
            arguments = [("count", 3, False)]
            for index in range(PARAMETERS):
                arguments.append((f"base{index}", _BASE_BITS, False))
                arguments.append((f"offset{index}", _ARGUMENT_OFFSET_BITS, True))
            return arguments


@record
class Layout:
    """Where every field of one instruction lies; bit 0 is the most significant bit of the first word."""

    words: int
    gate: int | None
    fields: tuple[Field, ...]
    coders: tuple[_Coder, ...] = field(default=(), repr=False, compare=False)
    """How each operand is written and read."""


def place(specs: tuple[OperandSpec, ...], *, gateable: bool) -> Layout:
    """Lay out the operands of a declaration; raises InternalError if two fields overlap."""
    at = OPCODE_BITS
    gate = None
    if gateable:
        gate, at = at, at + 1
    fields: list[Field] = []
    for spec in specs:
        for part, width, signed in _parts(spec):
            if at % WORD_BITS + width > WORD_BITS:
                at += WORD_BITS - at % WORD_BITS
            fields.append(Field(spec.name, part, at, width, signed))
            at += width
    words = -(-at // WORD_BITS)
    taken = (1 << OPCODE_BITS + (gate is not None)) - 1  # the lowest bit stands for the first of the instruction
    for each in fields:
        bits = (1 << each.width) - 1 << each.start
        if taken & bits or each.start + each.width > words * WORD_BITS:
            raise InternalError(f"encoding: field {each.operand}.{each.part} overlaps another field")
        taken |= bits
    return Layout(words, gate, tuple(fields), tuple(_coders(specs, fields, words * WORD_BITS)))


def _reference(spec: OperandSpec, base: int | None, offset: int, width: int) -> list[int]:
    if base is not None and not 0 <= base < PARAMETERS:
        raise EncodingError(f"operand {spec.name}: parameter P{base} does not exist (P0 to P{PARAMETERS - 1})")
    low, high = -(1 << width - 1), (1 << width - 1) - 1
    if not low <= offset <= high:
        raise EncodingError(f"operand {spec.name}: {offset} does not fit {low}..{high}")
    return [0 if base is None else base + 1, offset]


def _unreference(base: int, offset: int) -> tuple[int, int | None]:
    return offset, None if base == 0 else base - 1


def _byte(spec: OperandSpec, operand: Imm) -> list[int]:
    if not -128 <= operand.value <= 255:
        raise EncodingError(f"operand {spec.name}: #{operand.value} is not a byte, allowed: #-128..#255")
    return _reference(spec, operand.base, operand.value, _OFFSET_BITS)


def _outside(spec: OperandSpec, value: int) -> bool:
    return value not in spec.choices if spec.choices else not spec.low <= value <= spec.high


def _whole(operand: Operand) -> bool:
    return operand.__class__ is int or (isinstance(operand, int) and not isinstance(operand, bool))


def _wrong(spec: OperandSpec, operand: Operand) -> EncodingError:
    return EncodingError(f"operand {spec.name}: {operand!r} is not {spec.allowed}")


# For each kind a function from an operand to the values of its fields, in the order of `_parts`, and its inverse.


def _form_values(spec: OperandSpec, operand: Operand) -> Sequence[int]:
    try:
        return spec.kind.values(operand)
    except ValueError as error:
        raise EncodingError(f"operand {spec.name}: {error}") from None


def _register_values(spec: OperandSpec, operand: Operand) -> Sequence[int]:
    if not isinstance(operand, Register):
        raise _wrong(spec, operand)
    return [operand.value]


def _source_values(spec: OperandSpec, operand: Operand) -> Sequence[int]:
    match operand:
        case Mem():
            return [_SOURCE_MEMORY, *_reference(spec, operand.base, operand.offset, _OFFSET_BITS)]
        case Imm():
            return [_SOURCE_IMMEDIATE, *_byte(spec, operand)]
        case Register():
            return [_SOURCE_REGISTER, 0, operand.value]
    raise _wrong(spec, operand)


def _memory_values(spec: OperandSpec, operand: Operand) -> Sequence[int]:
    if not isinstance(operand, Mem):
        raise _wrong(spec, operand)
    return _reference(spec, operand.base, operand.offset, _OFFSET_BITS)


def _byte_values(spec: OperandSpec, operand: Operand) -> Sequence[int]:
    if not isinstance(operand, Imm):
        raise _wrong(spec, operand)
    return _byte(spec, operand)


def _number_values(spec: OperandSpec, operand: Operand) -> Sequence[int]:
    if not _whole(operand) or _outside(spec, operand):
        raise _wrong(spec, operand)
    return [operand]


def _coefficient_values(spec: OperandSpec, operand: Operand) -> Sequence[int]:
    if not _whole(operand) or not -(1 << 63) <= operand < 1 << 63:
        raise _wrong(spec, operand)
    return [operand >> 32 & 0xFFFFFFFF, operand & 0xFFFFFFFF]


def _index_values(spec: OperandSpec, operand: Operand) -> Sequence[int]:
    bits = _TARGET_BITS if spec.kind is Kind.TARGET else _NAME_BITS
    if not _whole(operand) or not 0 <= operand < 1 << bits:
        raise _wrong(spec, operand)
    return [operand]


def _argument_values(spec: OperandSpec, operand: Operand) -> Sequence[int]:
    if not isinstance(operand, tuple) or len(operand) > PARAMETERS:
        raise _wrong(spec, operand)
    values = [len(operand)]
    for argument in operand:
        match argument:
            case Mem():
                values += _reference(spec, argument.base, argument.offset, _ARGUMENT_OFFSET_BITS)
            case Imm():
                values += _reference(spec, argument.base, argument.value, _ARGUMENT_OFFSET_BITS)
            case _:
                raise _wrong(spec, operand)
    return values + [0] * (1 + 2 * PARAMETERS - len(values))


def _form_operand(spec: OperandSpec, values: Sequence[int]) -> Operand:
    return spec.kind.operand(values)


def _register_operand(spec: OperandSpec, values: Sequence[int]) -> Operand:
    return Register(values[0])


def _source_operand(spec: OperandSpec, values: Sequence[int]) -> Operand:
    kind, base, offset = values
    if kind == _SOURCE_REGISTER:
        return Register(offset)
    if kind not in (_SOURCE_MEMORY, _SOURCE_IMMEDIATE):
        raise ValueError(f"operand {spec.name}: source kind {kind} does not exist")
    return (Mem if kind == _SOURCE_MEMORY else Imm)(*_unreference(base, offset))


def _memory_operand(spec: OperandSpec, values: Sequence[int]) -> Operand:
    return Mem(*_unreference(*values))


def _byte_operand(spec: OperandSpec, values: Sequence[int]) -> Operand:
    return Imm(*_unreference(*values))


def _number_operand(spec: OperandSpec, values: Sequence[int]) -> Operand:
    if _outside(spec, values[0]):
        raise ValueError(f"operand {spec.name}: {values[0]} is not {spec.allowed}")
    return values[0]


def _coefficient_operand(spec: OperandSpec, values: Sequence[int]) -> Operand:
    value = values[0] << 32 | values[1]
    return value - (1 << 64) if value >> 63 else value


def _first_operand(spec: OperandSpec, values: Sequence[int]) -> Operand:
    return values[0]


def _argument_operand(spec: OperandSpec, values: Sequence[int]) -> Operand:
    pairs = [(values[1 + 2 * i], values[2 + 2 * i]) for i in range(values[0])]
    return tuple(Mem(*_unreference(base, offset)) for base, offset in pairs)


_CODERS = {
    Kind.REGISTER: (_register_values, _register_operand),
    Kind.SOURCE: (_source_values, _source_operand),
    Kind.MEMORY: (_memory_values, _memory_operand),
    Kind.BYTE: (_byte_values, _byte_operand),
    Kind.COUNT: (_number_values, _number_operand),
    Kind.DELTA: (_number_values, _first_operand),
    Kind.PARAMETER: (_number_values, _number_operand),
    Kind.COEFFICIENT: (_coefficient_values, _coefficient_operand),
    Kind.TARGET: (_index_values, _first_operand),
    Kind.NAME: (_index_values, _first_operand),
    Kind.ARGUMENTS: (_argument_values, _argument_operand),
}


@record(eq=False)
class _Coder:
    """How one operand of an instruction is written and read, worked out once for all of its values."""

    spec: OperandSpec
    values: Callable[[OperandSpec, Operand], Sequence[int]]
    operand: Callable[[OperandSpec, Sequence[int]], Operand]
    cuts: tuple[tuple[str, int, int, int], ...]
    """For each field its part, how far it is shifted, its mask, and the least value that it holds."""


def _coders(specs: tuple[OperandSpec, ...], fields: Sequence[Field], size: int) -> Iterator[_Coder]:
    for spec in specs:
        coding = (_form_values, _form_operand) if isinstance(spec.kind, OperandForm) else _CODERS[spec.kind]
        cuts = tuple(
            (
                each.part,
                size - each.start - each.width,
                (1 << each.width) - 1,
                -(1 << each.width - 1) if each.signed else 0,
            )
            for each in fields
            if each.operand == spec.name
        )
        yield _Coder(spec, *coding, cuts)


def pack(layout: Layout, opcode: int, operands: tuple[Operand, ...], *, gated: bool) -> tuple[int, ...]:
    """Return the 32-bit words of one instruction; raises EncodingError where an operand does not fit."""
    size = layout.words * WORD_BITS
    whole = opcode << size - OPCODE_BITS
    if layout.gate is not None and gated:
        whole |= 1 << size - 1 - layout.gate
    for coder, operand in zip(layout.coders, operands, strict=True):
        spec = coder.spec
        for (part, shift, mask, low), value in zip(coder.cuts, coder.values(spec, operand), strict=True):
            if not low <= value <= low + mask:
                raise InternalError(f"encoding: {value} does not fit {spec.name}.{part}")
            whole |= (value & mask) << shift
    return tuple([whole >> at & 0xFFFFFFFF for at in range(size - WORD_BITS, -1, -WORD_BITS)])


def unpack(layout: Layout, words: tuple[int, ...]) -> tuple[tuple[Operand, ...], bool]:
    """Return operands and gate bit of one instruction; raises ValueError for a field with no meaning."""
    size = len(words) * WORD_BITS
    whole = 0
    for word in words:
        whole = whole << WORD_BITS | word
    operands = []
    for coder in layout.coders:
        values = []
        for _, shift, mask, low in coder.cuts:
            value = whole >> shift & mask
            values.append(value - mask - 1 if low and value > mask >> 1 else value)
        operands.append(coder.operand(coder.spec, values))
    return tuple(operands), layout.gate is not None and bool(whole >> size - 1 - layout.gate & 1)
