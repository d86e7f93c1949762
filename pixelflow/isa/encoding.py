"""Instructions to 32-bit words and back.

The layout of a word is derived from the operand kinds of its declaration: an 8-bit opcode, the gate bit where the
instruction has one, then the fields of each operand in order. A field never crosses a word boundary. Widths are
invented; `place` proves for every declaration that no two fields overlap and that all fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.errors import InternalError
from pixelflow.isa.operands import PARAMETERS, Imm, Kind, Mem, Operand, OperandForm, OperandSpec, Register

__all__ = ["OPCODE_BITS", "WORD_BITS", "EncodingError", "Field", "Layout", "place"]

WORD_BITS = 32
OPCODE_BITS = 8
_BASE_BITS = 3
_OFFSET_BITS = 10
_ARGUMENT_OFFSET_BITS = 13
_SOURCE_REGISTER, _SOURCE_MEMORY, _SOURCE_IMMEDIATE = 0, 1, 2


class EncodingError(ValueError):
    """An operand does not fit its field; the text names the operand and what is allowed."""


@dataclass(frozen=True, slots=True)
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
            return [("value", 24, False)]
        case Kind.NAME:
            return [("value", 16, False)]
        case Kind.PARAMETER:
            return [("value", _BASE_BITS, False)]
        case Kind.ARGUMENTS:
            arguments = [("count", 3, False)]
            for index in range(PARAMETERS):
                arguments.append((f"base{index}", _BASE_BITS, False))
                arguments.append((f"offset{index}", _ARGUMENT_OFFSET_BITS, True))
            return arguments


@dataclass(frozen=True, slots=True)
class Layout:
    """Where every field of one instruction lies; bit 0 is the most significant bit of the first word."""

    words: int
    gate: int | None
    fields: tuple[Field, ...]
    _of: dict[str, tuple[Field, ...]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for name in dict.fromkeys(each.operand for each in self.fields):
            self._of[name] = tuple(each for each in self.fields if each.operand == name)

    def of(self, operand: str) -> tuple[Field, ...]:
        """Return the fields of one operand, in order."""
        return self._of.get(operand, ())


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
    taken: set[int] = set(range(OPCODE_BITS)) | ({gate} if gate is not None else set())
    for each in fields:
        if taken.intersection(each.bits) or each.bits.stop > words * WORD_BITS:
            raise InternalError(f"encoding: field {each.operand}.{each.part} overlaps another field")
        taken.update(each.bits)
    return Layout(words, gate, tuple(fields))


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


def _values(spec: OperandSpec, operand: Operand) -> list[int]:
    """Return the field values of one operand, in the order of `_parts`."""
    if isinstance(spec.kind, OperandForm):
        try:
            return list(spec.kind.values(operand))
        except ValueError as error:
            raise EncodingError(f"operand {spec.name}: {error}") from None

    def wrong() -> EncodingError:
        return EncodingError(f"operand {spec.name}: {operand!r} is not {spec.allowed}")

    match spec.kind, operand:
        case Kind.REGISTER, Register():
            return [operand.value]
        case Kind.SOURCE, Register():
            return [_SOURCE_REGISTER, 0, operand.value]
        case Kind.SOURCE, Mem():
            return [_SOURCE_MEMORY, *_reference(spec, operand.base, operand.offset, _OFFSET_BITS)]
        case Kind.SOURCE, Imm():
            return [_SOURCE_IMMEDIATE, *_byte(spec, operand)]
        case Kind.MEMORY, Mem():
            return _reference(spec, operand.base, operand.offset, _OFFSET_BITS)
        case Kind.BYTE, Imm():
            return _byte(spec, operand)
        case ((Kind.COUNT | Kind.DELTA | Kind.PARAMETER), int()) if not isinstance(operand, bool):
            if _outside(spec, operand):
                raise wrong()
            return [operand]
        case Kind.COEFFICIENT, int() if not isinstance(operand, bool):
            if not -(1 << 63) <= operand < 1 << 63:
                raise wrong()
            return [operand >> 32 & 0xFFFFFFFF, operand & 0xFFFFFFFF]
        case ((Kind.TARGET | Kind.NAME), int()) if not isinstance(operand, bool):
            if not 0 <= operand < 1 << (24 if spec.kind is Kind.TARGET else 16):
                raise wrong()
            return [operand]
        case Kind.ARGUMENTS, tuple() if len(operand) <= PARAMETERS:
            values = [len(operand)]
            for argument in operand:
                match argument:
                    case Mem():
                        values += _reference(spec, argument.base, argument.offset, _ARGUMENT_OFFSET_BITS)
                    case Imm():
                        values += _reference(spec, argument.base, argument.value, _ARGUMENT_OFFSET_BITS)
                    case _:
                        raise wrong()
            return values + [0] * (1 + 2 * PARAMETERS - len(values))
    raise wrong()


def _operand(spec: OperandSpec, values: list[int]) -> Operand:
    """Return the operand whose field values these are; the inverse of `_values`."""
    match spec.kind:
        case OperandForm():
            return spec.kind.operand(values)
        case Kind.REGISTER:
            return Register(values[0])
        case Kind.SOURCE:
            if values[0] == _SOURCE_REGISTER:
                return Register(values[2])
            if values[0] not in (_SOURCE_MEMORY, _SOURCE_IMMEDIATE):
                raise ValueError(f"operand {spec.name}: source kind {values[0]} does not exist")
            reference = _unreference(values[1], values[2])
            return Mem(*reference) if values[0] == _SOURCE_MEMORY else Imm(*reference)
        case Kind.MEMORY:
            return Mem(*_unreference(values[0], values[1]))
        case Kind.BYTE:
            return Imm(*_unreference(values[0], values[1]))
        case Kind.COEFFICIENT:
            value = values[0] << 32 | values[1]
            return value - (1 << 64) if value >> 63 else value
        case Kind.ARGUMENTS:
            pairs = [(values[1 + 2 * i], values[2 + 2 * i]) for i in range(values[0])]
            return tuple(Mem(*_unreference(base, offset)) for base, offset in pairs)
        case Kind.COUNT | Kind.PARAMETER if _outside(spec, values[0]):
            raise ValueError(f"operand {spec.name}: {values[0]} is not {spec.allowed}")
        case _:
            return values[0]


def pack(
    layout: Layout, opcode: int, specs: tuple[OperandSpec, ...], operands: tuple[Operand, ...], *, gated: bool
) -> tuple[int, ...]:
    """Return the 32-bit words of one instruction; raises EncodingError where an operand does not fit."""
    size = layout.words * WORD_BITS
    whole = opcode << size - OPCODE_BITS
    if layout.gate is not None and gated:
        whole |= 1 << size - 1 - layout.gate
    for spec, operand in zip(specs, operands, strict=True):
        for each, value in zip(layout.of(spec.name), _values(spec, operand), strict=True):
            low = -(1 << each.width - 1) if each.signed else 0
            if not low <= value < low + (1 << each.width):
                raise InternalError(f"encoding: {value} does not fit {each.operand}.{each.part}")
            whole |= (value & (1 << each.width) - 1) << size - each.start - each.width
    return tuple(whole >> at & 0xFFFFFFFF for at in range(size - WORD_BITS, -1, -WORD_BITS))


def unpack(layout: Layout, specs: tuple[OperandSpec, ...], words: tuple[int, ...]) -> tuple[tuple[Operand, ...], bool]:
    """Return operands and gate bit of one instruction; raises ValueError for a field with no meaning."""
    size = len(words) * WORD_BITS
    whole = 0
    for word in words:
        whole = whole << WORD_BITS | word
    operands = [_operand(spec, [_cut(whole, size, each) for each in layout.of(spec.name)]) for spec in specs]
    return tuple(operands), layout.gate is not None and bool(whole >> size - 1 - layout.gate & 1)


def _cut(whole: int, size: int, place: Field) -> int:
    """Return the value of a field of ``size`` bits."""
    value = whole >> size - place.start - place.width & (1 << place.width) - 1
    return value - (1 << place.width) if place.signed and value >> place.width - 1 else value
