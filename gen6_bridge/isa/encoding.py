"""Bit table of the 128-bit instruction: every field once, for decoder, encoder and text alike.

Bit 0 is the lowest of DW0. Sources: Mesa's encoding of this generation, checked against words of the public assembler.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from gen6_bridge.isa.operands import (
    IMMEDIATE_TYPES,
    VXH,
    Controls,
    EuDestination,
    EuMessage,
    EuType,
    File,
    ImmediateOperand,
    IndirectAddress,
    Source,
    SourceRegion,
    Targets,
)
from pixelflow.simd.isa.operands import NotThisKind, OperandKind

INSTRUCTION_BITS = 128


class Bits(NamedTuple):
    """A field: its name, its lowest bit in the instruction, its width."""

    name: str
    low: int
    width: int
    signed: bool = False

    @property
    def mask(self) -> int:
        """The bits that it takes in the instruction."""
        return (1 << self.width) - 1 << self.low


def read_field(word: int, field: Bits) -> int:
    """Return the value of a field."""
    value = word >> field.low & (1 << field.width) - 1
    return value - (1 << field.width) if field.signed and value >> field.width - 1 else value


def put(field: Bits, value: int) -> int:
    """Return the bits of a field that holds ``value``; raises ValueError where it does not fit."""
    low = -(1 << field.width - 1) if field.signed else 0
    if not low <= value < low + (1 << field.width):
        raise ValueError(f"{field.name} {value} does not fit {field.width} bits")
    return (value & (1 << field.width) - 1) << field.low


def mask_of(fields: Iterable[Bits]) -> int:
    """Return all bits that fields take."""
    total = 0
    for each in fields:
        total |= each.mask
    return total


def read_fields(word: int, fields: Iterable[Bits]) -> dict[str, int]:
    """Return the values of fields by name."""
    return {each.name: read_field(word, each) for each in fields}


def write_fields(fields: Iterable[Bits], values: Mapping[str, int]) -> int:
    """Return the bits of fields by name; raises ValueError where one does not fit."""
    word = 0
    for each in fields:
        word |= put(each, values[each.name])
    return word


OPCODE = Bits("opcode", 0, 7)
CONTROLS = (
    Bits("align16", 8, 1),
    Bits("all_channels", 9, 1),
    Bits("dependency", 10, 2),
    Bits("quarter", 12, 2),
    Bits("thread", 14, 2),
    Bits("predicate", 16, 4),
    Bits("inverse", 20, 1),
    Bits("size_code", 21, 3),
    Bits("selector", 24, 4),
    Bits("accumulates", 28, 1),
    Bits("compacted", 29, 1),
    Bits("breakpoint", 30, 1),
    Bits("saturates", 31, 1),
)
FLAG, FLAG_THREE = Bits("flag", 89, 1), Bits("flag", 33, 1)
"""Number of the flag word; instructions with three sources have it elsewhere."""
IMMEDIATE = Bits("value", 96, 32)
TARGETS_FIELDS = (Bits("jip", 96, 16, signed=True), Bits("uip", 112, 16, signed=True))
"""Both targets of a branch that leaves blocks, in units of 8 bytes."""
JUMP_FIELDS = (Bits("jip", 48, 16, signed=True),)
"""The one target of a branch at the edge of a block, in units of 8 bytes."""
CALL_FIELDS = (Bits("jip", 96, 32, signed=True),)
"""The target of a call, in units of 8 bytes from the call."""
MESSAGE = (
    Bits("function", 96, 19),
    Bits("header", 115, 1),
    Bits("response", 116, 5),
    Bits("length", 121, 4),
    Bits("end", 127, 1),
)

_DESTINATION = (Bits("file", 32, 2), Bits("type", 34, 3), Bits("indirect", 63, 1))
DESTINATIONS = {
    "direct": (*_DESTINATION, Bits("sub", 48, 5), Bits("number", 53, 8), Bits("stride", 61, 2)),
    "indirect": (*_DESTINATION, Bits("offset", 48, 10, signed=True), Bits("index", 58, 3), Bits("stride", 61, 2)),
    "direct16": (*_DESTINATION, Bits("mask", 48, 4), Bits("half", 52, 1), Bits("number", 53, 8), Bits("stride", 61, 2)),
    "indirect16": (
        *_DESTINATION, Bits("mask", 48, 4), Bits("offset16", 52, 6, signed=True), Bits("index", 58, 3),
        Bits("stride", 61, 2),
    ),
}  # fmt: skip


def _source(base: int, kinds: int) -> dict[str, tuple[Bits, ...]]:
    common = (
        *(Bits("file", kinds, 2), Bits("type", kinds + 2, 3)),
        *(Bits("absolute", base + 13, 1), Bits("negate", base + 14, 1), Bits("indirect", base + 15, 1)),
        Bits("vertical", base + 21, 4),
    )
    regioned = (*common, Bits("horizontal", base + 16, 2), Bits("width", base + 18, 3))
    swizzled = (
        *common,
        *(Bits("x", base, 2), Bits("y", base + 2, 2), Bits("z", base + 16, 2), Bits("w", base + 18, 2)),
    )
    return {
        "direct": (*regioned, Bits("sub", base, 5), Bits("number", base + 5, 8)),
        "indirect": (*regioned, Bits("offset", base, 10, signed=True), Bits("index", base + 10, 3)),
        "direct16": (*swizzled, Bits("half", base + 4, 1), Bits("number", base + 5, 8)),
        "indirect16": (*swizzled, Bits("offset16", base + 4, 6, signed=True), Bits("index", base + 10, 3)),
        "immediate": (*common[:2], IMMEDIATE),
    }


SOURCES = (_source(64, 37), _source(96, 42))
"""For both sources, the fields of each form."""

THREE_DESTINATION = (Bits("message", 32, 1), Bits("mask", 49, 4), Bits("sub", 53, 3), Bits("number", 56, 8))


def _three_source(position: int) -> tuple[Bits, ...]:
    base, signs = 64 + 21 * position, 36 + 2 * position
    return (
        *(Bits("absolute", signs, 1), Bits("negate", signs + 1, 1)),
        *(Bits("replicate", base, 1), Bits("swizzle", base + 1, 8)),
        *(Bits("sub", base + 9, 3), Bits("number", base + 12, 8)),
    )


THREE_SOURCES = tuple(_three_source(position) for position in range(3))


# Kinds of operands: how each is read from the instruction word and written to it.


Value = TypeVar("Value")


class WordKind(OperandKind, Generic[Value]):
    """Kind of operand whose fields are scattered over the instruction word."""

    parts = (("bits", INSTRUCTION_BITS, False),)

    @abstractmethod
    def read(self, word: int) -> tuple[Value, int]:
        """Return the operand of an instruction word, and its bits as a mask; raises ValueError."""

    @abstractmethod
    def write(self, operand: Value) -> int:
        """Return the bits of an operand; raises ValueError where it cannot be encoded."""

    def values(self, operand: Value) -> Sequence[int]:
        return [self.write(operand)]

    def operand(self, values: Sequence[int]) -> Value:
        return self.read(values[0])[0]

    def accepted(self, value: object) -> Value:
        raise NotThisKind


class ControlsKind(WordKind[Controls]):
    """Fields of DW0 other than the opcode."""

    value = "controls"
    allowed = "predicate, size, condition, saturation and options"

    def __init__(self, flag: Bits = FLAG) -> None:
        self._fields = (*CONTROLS, flag)

    def read(self, word: int) -> tuple[Controls, int]:
        return Controls(**read_fields(word, self._fields)), mask_of(self._fields)

    def write(self, operand: Controls) -> int:
        return write_fields(self._fields, {each.name: getattr(operand, each.name) for each in self._fields})


def _stride(code: int) -> int:
    return 1 << code - 1 if code else 0


def _stride_code(stride: int, what: str, most: int) -> int:
    code = stride.bit_length()
    if stride != _stride(code) or code > most:
        raise ValueError(f"{what} {stride} cannot be encoded")
    return code


def _form(*, wide: bool, indirect: bool) -> str:
    return ("indirect" if indirect else "direct") + ("16" if wide else "")


def _begins(values: Mapping[str, int]) -> tuple[int, int, IndirectAddress | None]:
    """Return an operand's register, byte in it and address from its fields; those of 16-byte mode count 16 bytes."""
    address = None
    if values["indirect"]:
        address = IndirectAddress(values["index"], values.get("offset", 16 * values.get("offset16", 0)))
    return values.get("number", 0), values.get("sub", 16 * values.get("half", 0)), address


def _begin_fields(operand: EuDestination | SourceRegion, *, wide: bool) -> dict[str, int]:
    """Return the fields of an operand's start; raises ValueError for one that 16-byte mode has not."""
    address = operand.address
    if wide and (operand.sub % 16 or (address is not None and address.offset % 16)):
        raise ValueError("in 16-byte mode operands begin at multiples of 16 bytes")
    values = {"file": operand.file.value, "type": operand.type.code, "indirect": int(address is not None)}
    values |= {"number": operand.number, "sub": operand.sub, "half": operand.sub // 16}
    if address is not None:
        values |= {"offset": address.offset, "offset16": address.offset // 16, "index": address.index}
    return values


class DestinationKind(WordKind[EuDestination]):
    """A destination of one- and two-source instructions."""

    value = "destination"
    allowed = "a register, direct (g20.4<1>F) or indirect (g[a0.1, 32]<1>W), an accumulator or null"

    def read(self, word: int) -> tuple[EuDestination, int]:
        indirect, wide = read_field(word, _DESTINATION[2]), read_field(word, CONTROLS[0])
        fields = DESTINATIONS[_form(wide=bool(wide), indirect=bool(indirect))]
        values = read_fields(word, fields)
        number, sub, address = _begins(values)
        kind, stride = EuType(values["type"]), _stride(values["stride"])
        return EuDestination(File(values["file"]), kind, number, sub, stride, values.get("mask"), address), mask_of(
            fields
        )

    def write(self, operand: EuDestination) -> int:
        wide, stride = operand.mask is not None, _stride_code(operand.stride, "destination stride", 3)
        values = _begin_fields(operand, wide=wide) | {"mask": operand.mask or 0, "stride": stride}
        return write_fields(DESTINATIONS[_form(wide=wide, indirect=operand.address is not None)], values)


class SourceKind(WordKind[Source]):
    """A source of one- and two-source instructions."""

    value = "source"
    allowed = "a region (g10.2<8,8,1>F, -g[a0.0, 16]<4,4,1>UB, acc0<8,8,1>F), an immediate (1.5F, 0x10UW) or null"

    def __init__(self, position: int) -> None:
        self._forms = SOURCES[position]

    def read(self, word: int) -> tuple[Source, int]:
        common = read_fields(word, self._forms["direct"])
        if common["file"] == File.IMMEDIATE.value:
            fields = self._forms["immediate"]
            return ImmediateOperand(IMMEDIATE_TYPES[common["type"]], read_field(word, IMMEDIATE)), mask_of(fields)
        wide = bool(read_field(word, CONTROLS[0]))
        fields = self._forms[_form(wide=wide, indirect=bool(common["indirect"]))]
        values = read_fields(word, fields)
        number, sub, address = _begins(values)
        operand = SourceRegion(
            File(values["file"]),
            EuType(values["type"]),
            number,
            sub,
            VXH if values["vertical"] == 15 else _stride(values["vertical"]),
            4 if wide else 1 << values["width"],
            1 if wide else _stride(values["horizontal"]),
            values["absolute"],
            values["negate"],
            (values["x"], values["y"], values["z"], values["w"]) if wide else None,
            address,
        )
        return operand, mask_of(fields)

    def write(self, operand: Source) -> int:
        if isinstance(operand, ImmediateOperand):
            kinds = {"file": File.IMMEDIATE.value, "type": operand.type.code, "value": operand.bits}
            return write_fields(self._forms["immediate"], kinds)
        values = _begin_fields(operand, wide=operand.swizzle is not None)
        values |= {"absolute": operand.absolute, "negate": operand.negate, "width": operand.width.bit_length() - 1}
        values["vertical"] = 15 if operand.vertical == VXH else _stride_code(operand.vertical, "vertical stride", 14)
        values["horizontal"] = _stride_code(operand.horizontal, "horizontal stride", 3)
        values |= dict(zip("xyzw", operand.swizzle or (), strict=False))
        form = _form(wide=operand.swizzle is not None, indirect=operand.address is not None)
        return write_fields(self._forms[form], values)


class ThreeDestinationKind(WordKind[EuDestination]):
    """The destination of an instruction with three sources: floats in 16-byte mode."""

    value = "destination"
    allowed = "a general or message register with a write mask (g20<1>.xyF)"

    def read(self, word: int) -> tuple[EuDestination, int]:
        values = read_fields(word, THREE_DESTINATION)
        file = File.MESSAGE if values["message"] else File.GENERAL
        operand = EuDestination(file, EuType.F, values["number"], 4 * values["sub"], 1, values["mask"])
        return operand, mask_of(THREE_DESTINATION)

    def write(self, operand: EuDestination) -> int:
        if (
            operand.file not in (File.GENERAL, File.MESSAGE)
            or operand.type is not EuType.F
            or operand.address is not None
        ):
            raise ValueError("three sources go to floats of a general or message register")
        values = {"message": int(operand.file is File.MESSAGE), "mask": 15 if operand.mask is None else operand.mask}
        return write_fields(THREE_DESTINATION, values | {"sub": operand.sub // 4, "number": operand.number})


class ThreeSourceKind(WordKind[SourceRegion]):
    """One of three sources: floats in 16-byte mode, swizzled, or one element for all channels."""

    value = "source"
    allowed = "a general register with a swizzle (g10<4,4,1>.xyzwF)"

    def __init__(self, position: int) -> None:
        self._fields = THREE_SOURCES[position]

    def read(self, word: int) -> tuple[SourceRegion, int]:
        values = read_fields(word, self._fields)
        x, y, z, w = (values["swizzle"] >> 2 * channel & 3 for channel in range(4))
        operand = SourceRegion(
            File.GENERAL,
            EuType.F,
            values["number"],
            4 * values["sub"],
            4,
            4,
            1,
            values["absolute"],
            values["negate"],
            (x, y, z, w),
            replicate=values["replicate"],
        )
        return operand, mask_of(self._fields)

    def write(self, operand: SourceRegion) -> int:
        if operand.file is not File.GENERAL or operand.type is not EuType.F or operand.address is not None:
            raise ValueError("three sources are floats of general registers")
        swizzle = sum(channel << 2 * at for at, channel in enumerate(operand.swizzle or (0, 1, 2, 3)))
        values = {"absolute": operand.absolute, "negate": operand.negate, "replicate": operand.replicate}
        values |= {"swizzle": swizzle, "sub": operand.sub // 4, "number": operand.number}
        return write_fields(self._fields, values)


class TargetsKind(WordKind[Targets]):
    """Targets of a branch: ``fields`` are those of JIP, or of JIP and UIP."""

    value = "targets"

    def __init__(self, fields: tuple[Bits, ...]) -> None:
        self._fields = fields
        self.allowed = " ".join("a label" for _ in fields)
        self.count = len(fields)
        """Labels in the source."""

    def read(self, word: int) -> tuple[Targets, int]:
        values = read_fields(word, self._fields)
        return Targets(values["jip"], values.get("uip")), mask_of(self._fields)

    def write(self, operand: Targets) -> int:
        return write_fields(self._fields, {"jip": operand.jip, "uip": operand.uip or 0})


class JumpOffsetKind(SourceKind):
    """Distance of a jump from the next instruction, in units of 8 bytes: an immediate or a register."""

    value = "offset"
    allowed = "a label, a number of 8-byte units, or a scalar region"

    def __init__(self) -> None:
        super().__init__(1)


class MessageKind(WordKind[EuMessage]):
    """Message of a `send`: function control and lengths."""

    value = "message"
    allowed = "a target with its fields, mlen and rlen: sampler(1, 0, F) mlen 3 rlen 4"

    def read(self, word: int) -> tuple[EuMessage, int]:
        return EuMessage(**read_fields(word, MESSAGE)), mask_of(MESSAGE)

    def write(self, operand: EuMessage) -> int:
        return write_fields(MESSAGE, {each.name: getattr(operand, each.name) for each in MESSAGE})
