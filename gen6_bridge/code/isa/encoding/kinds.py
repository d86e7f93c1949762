"""Kinds of operands: how each is read from the instruction word and written to it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from gen6_bridge.code.isa.encoding import bits
from gen6_bridge.code.isa.encoding.operands import (
    VXH,
    Controls,
    EuDestination,
    EuMessage,
    File,
    ImmediateOperand,
    IndirectAddress,
    Source,
    SourceRegion,
    Targets,
)
from gen6_bridge.code.isa.encoding.types import IMMEDIATE_TYPES, EuType
from pixelflow.simd.isa.operands import NotThisKind, OperandKind

__all__ = [
    "ControlsKind",
    "DestinationKind",
    "JumpOffsetKind",
    "MessageKind",
    "SourceKind",
    "TargetsKind",
    "ThreeDestinationKind",
    "ThreeSourceKind",
    "WordKind",
]

Value = TypeVar("Value")


class WordKind(OperandKind, Generic[Value]):
    """A kind whose fields lie scattered over the whole word: it reads and writes the word."""

    parts = (("bits", bits.INSTRUCTION_BITS, False),)

    @abstractmethod
    def read(self, word: int) -> tuple[Value, int]:
        """Return the operand of an instruction word and the bits that it was read from; raises ValueError."""

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
    """What stands in DW0 besides the opcode."""

    value = "controls"
    allowed = "predicate, size, condition, saturation and options"

    def __init__(self, flag: bits.Bits = bits.FLAG) -> None:
        self._fields = (*bits.CONTROLS, flag)

    def read(self, word: int) -> tuple[Controls, int]:
        return Controls(**bits.read_fields(word, self._fields)), bits.mask_of(self._fields)

    def write(self, operand: Controls) -> int:
        return bits.write_fields(self._fields, {each.name: getattr(operand, each.name) for each in self._fields})


def _stride(code: int) -> int:
    return 1 << code - 1 if code else 0


def _stride_code(stride: int, what: str, most: int) -> int:
    code = stride.bit_length()
    if stride != _stride(code) or code > most:
        raise ValueError(f"{what} {stride} cannot be encoded")
    return code


class DestinationKind(WordKind[EuDestination]):
    """A destination of one- and two-source instructions."""

    value = "destination"
    allowed = "a register, direct (g20.4<1>F) or indirect (g[a0.1, 32]<1>W), an accumulator or null"

    def read(self, word: int) -> tuple[EuDestination, int]:
        common = bits.DESTINATIONS["direct"]
        indirect = bits.get(word, common[2])
        form = ("indirect" if indirect else "direct") + ("16" if bits.get(word, bits.CONTROLS[0]) else "")
        fields = bits.DESTINATIONS[form]
        found = bits.read_fields(word, fields)
        sub = found.get("sub", 16 * found.get("half", 0))
        offset = found.get("offset", 16 * found.get("offset16", 0))
        address = IndirectAddress(found["index"], offset) if indirect else None
        file, kind = File(found["file"]), EuType(found["type"])
        operand = EuDestination(
            file, kind, found.get("number", 0), sub, _stride(found["stride"]), found.get("mask"), address
        )
        return operand, bits.mask_of(fields)

    def write(self, operand: EuDestination) -> int:
        wide, indirect = operand.mask is not None, operand.address is not None
        values = {"file": operand.file.value, "type": operand.type.code, "indirect": int(indirect)}
        values |= {"number": operand.number, "sub": operand.sub, "half": operand.sub // 16, "mask": operand.mask or 0}
        values["stride"] = _stride_code(operand.stride, "destination stride", 3)
        if operand.address is not None:
            values |= {"offset": operand.address.offset, "offset16": operand.address.offset // 16}
            values["index"] = operand.address.index
        if wide and (operand.sub % 16 or (operand.address is not None and operand.address.offset % 16)):
            raise ValueError("in 16-byte mode operands begin at multiples of 16 bytes")
        form = ("indirect" if indirect else "direct") + ("16" if wide else "")
        return bits.write_fields(bits.DESTINATIONS[form], values)


class SourceKind(WordKind[Source]):
    """A source of one- and two-source instructions."""

    value = "source"
    allowed = "a region (g10.2<8,8,1>F, -g[a0.0, 16]<4,4,1>UB, acc0<8,8,1>F), an immediate (1.5F, 0x10UW) or null"

    def __init__(self, position: int) -> None:
        self._forms = bits.SOURCES[position]

    def read(self, word: int) -> tuple[Source, int]:
        common = bits.read_fields(word, self._forms["direct"])
        if common["file"] == File.IMMEDIATE.value:
            fields = self._forms["immediate"]
            return ImmediateOperand(IMMEDIATE_TYPES[common["type"]], bits.get(word, bits.IMMEDIATE)), bits.mask_of(
                fields
            )
        wide, indirect = bits.get(word, bits.CONTROLS[0]), common["indirect"]
        fields = self._forms[("indirect" if indirect else "direct") + ("16" if wide else "")]
        found = bits.read_fields(word, fields)
        vertical = VXH if found["vertical"] == 15 else _stride(found["vertical"])
        address = None
        if indirect:
            address = IndirectAddress(found["index"], found.get("offset", 16 * found.get("offset16", 0)))
        operand = SourceRegion(
            File(found["file"]),
            EuType(found["type"]),
            found.get("number", 0),
            found.get("sub", 16 * found.get("half", 0)),
            vertical,
            4 if wide else 1 << found["width"],
            1 if wide else _stride(found["horizontal"]),
            found["absolute"],
            found["negate"],
            (found["x"], found["y"], found["z"], found["w"]) if wide else None,
            address,
        )
        return operand, bits.mask_of(fields)

    def write(self, operand: Source) -> int:
        if isinstance(operand, ImmediateOperand):
            kinds = {"file": File.IMMEDIATE.value, "type": operand.type.code, "value": operand.bits}
            return bits.write_fields(self._forms["immediate"], kinds)
        wide, indirect = operand.swizzle is not None, operand.address is not None
        if wide and (operand.sub % 16 or (operand.address is not None and operand.address.offset % 16)):
            raise ValueError("in 16-byte mode operands begin at multiples of 16 bytes")
        values = {"file": operand.file.value, "type": operand.type.code, "indirect": int(indirect)}
        values |= {"absolute": operand.absolute, "negate": operand.negate, "number": operand.number}
        values |= {"sub": operand.sub, "half": operand.sub // 16, "width": operand.width.bit_length() - 1}
        values["vertical"] = 15 if operand.vertical == VXH else _stride_code(operand.vertical, "vertical stride", 14)
        values["horizontal"] = _stride_code(operand.horizontal, "horizontal stride", 3)
        if operand.address is not None:
            values |= {"offset": operand.address.offset, "offset16": operand.address.offset // 16}
            values["index"] = operand.address.index
        if operand.swizzle is not None:
            values |= dict(zip("xyzw", operand.swizzle, strict=True))
        return bits.write_fields(self._forms[("indirect" if indirect else "direct") + ("16" if wide else "")], values)


class ThreeDestinationKind(WordKind[EuDestination]):
    """The destination of an instruction with three sources: floats in 16-byte mode."""

    value = "destination"
    allowed = "a general or message register with a write mask (g20<1>.xyF)"

    def read(self, word: int) -> tuple[EuDestination, int]:
        found = bits.read_fields(word, bits.THREE_DESTINATION)
        file = File.MESSAGE if found["message"] else File.GENERAL
        operand = EuDestination(file, EuType.F, found["number"], 4 * found["sub"], 1, found["mask"])
        return operand, bits.mask_of(bits.THREE_DESTINATION)

    def write(self, operand: EuDestination) -> int:
        if (
            operand.file not in (File.GENERAL, File.MESSAGE)
            or operand.type is not EuType.F
            or operand.address is not None
        ):
            raise ValueError("three sources go to floats of a general or message register")
        values = {"message": int(operand.file is File.MESSAGE), "mask": 15 if operand.mask is None else operand.mask}
        return bits.write_fields(bits.THREE_DESTINATION, values | {"sub": operand.sub // 4, "number": operand.number})


class ThreeSourceKind(WordKind[SourceRegion]):
    """One of three sources: floats in 16-byte mode, swizzled, or one element for all channels."""

    value = "source"
    allowed = "a general register with a swizzle (g10<4,4,1>.xyzwF)"

    def __init__(self, position: int) -> None:
        self._fields = bits.THREE_SOURCES[position]

    def read(self, word: int) -> tuple[SourceRegion, int]:
        found = bits.read_fields(word, self._fields)
        x, y, z, w = (found["swizzle"] >> 2 * channel & 3 for channel in range(4))
        operand = SourceRegion(
            File.GENERAL,
            EuType.F,
            found["number"],
            4 * found["sub"],
            4,
            4,
            1,
            found["absolute"],
            found["negate"],
            (x, y, z, w),
            replicate=found["replicate"],
        )
        return operand, bits.mask_of(self._fields)

    def write(self, operand: SourceRegion) -> int:
        if operand.file is not File.GENERAL or operand.type is not EuType.F or operand.address is not None:
            raise ValueError("three sources are floats of general registers")
        swizzle = sum(channel << 2 * at for at, channel in enumerate(operand.swizzle or (0, 1, 2, 3)))
        values = {"absolute": operand.absolute, "negate": operand.negate, "replicate": operand.replicate}
        values |= {"swizzle": swizzle, "sub": operand.sub // 4, "number": operand.number}
        return bits.write_fields(self._fields, values)


class TargetsKind(WordKind[Targets]):
    """Targets of a branch: ``fields`` are those of JIP, or of JIP and UIP."""

    value = "targets"

    def __init__(self, fields: tuple[bits.Bits, ...]) -> None:
        self._fields = fields
        self.allowed = " ".join("a label" for _ in fields)
        self.count = len(fields)
        """How many labels are written."""

    def read(self, word: int) -> tuple[Targets, int]:
        found = bits.read_fields(word, self._fields)
        return Targets(found["jip"], found.get("uip")), bits.mask_of(self._fields)

    def write(self, operand: Targets) -> int:
        return bits.write_fields(self._fields, {"jip": operand.jip, "uip": operand.uip or 0})


class JumpOffsetKind(SourceKind):
    """How far a jump goes from the next instruction on, in units of 8 bytes: an immediate or a register."""

    value = "offset"
    allowed = "a label, a number of 8-byte units, or a scalar region"

    def __init__(self) -> None:
        super().__init__(1)


class MessageKind(WordKind[EuMessage]):
    """What a message says of itself."""

    value = "message"
    allowed = "a target with its fields, mlen and rlen: sampler(1, 0, F) mlen 3 rlen 4"

    def read(self, word: int) -> tuple[EuMessage, int]:
        return EuMessage(**bits.read_fields(word, bits.MESSAGE)), bits.mask_of(bits.MESSAGE)

    def write(self, operand: EuMessage) -> int:
        return bits.write_fields(bits.MESSAGE, {each.name: getattr(operand, each.name) for each in bits.MESSAGE})
