"""Operands of an instruction as values: destinations, source regions, immediates, targets of branches, messages."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from pixelflow.simd.errors import MachineFault

# Types of elements: their codes, sizes and ranges, and which of them an instruction computes in.


class EuType(Enum):
    """The type of an operand's elements; the value is its code, starting at 16 for immediates only."""

    UD = 0
    D = 1
    UW = 2
    W = 3
    UB = 4
    B = 5
    DF = 6
    F = 7
    UV = 20
    VF = 21
    V = 22

    @property
    def size(self) -> int:
        """Bytes of an element; a packed vector counts as what each of its channels takes."""
        return _SIZES[self._value_]

    @property
    def signed(self) -> bool:
        """True if an integer type has negative values."""
        return self in (EuType.D, EuType.W, EuType.B, EuType.V)

    @property
    def floats(self) -> bool:
        """True if elements are floats."""
        return self in (EuType.F, EuType.VF, EuType.DF)

    @property
    def packed(self) -> bool:
        """True if it is a vector within an immediate."""
        return self in (EuType.UV, EuType.VF, EuType.V)

    @property
    def lowest(self) -> int:
        """The smallest integer of the type."""
        return -(1 << 8 * self.size - 1) if self.signed else 0

    @property
    def highest(self) -> int:
        """The largest integer of the type."""
        return (1 << 8 * self.size - self.signed) - 1

    @property
    def code(self) -> int:
        """Its three bits, in an operand or in an immediate."""
        return self.value & 15


_SIZES = {0: 4, 1: 4, 2: 2, 3: 2, 4: 1, 5: 1, 6: 8, 7: 4, 20: 2, 21: 4, 22: 2}
"""By code, since members of an enumeration are slow keys."""

IMMEDIATE_TYPES = (EuType.UD, EuType.D, EuType.UW, EuType.W, EuType.UV, EuType.VF, EuType.V, EuType.F)
"""Types of immediates, by code."""


class ExecutionType(Enum):
    """Type that an instruction computes in; bytes compute as words."""

    F = "F"
    D = "D"
    W = "W"

    @property
    def size(self) -> int:
        """Bytes of an element during execution."""
        return 2 if self is ExecutionType.W else 4

    @staticmethod
    def of(sources: tuple[EuType, ...]) -> ExecutionType:
        """Return what sources of these types are computed in; the destination does not count."""
        if any(each.floats for each in sources):
            return ExecutionType.F
        return ExecutionType.D if any(each.size == 4 for each in sources) else ExecutionType.W


REGISTER_BYTES = 32
GRF_REGISTERS = 128
MRF_REGISTERS = 24
GRF_BYTES = GRF_REGISTERS * REGISTER_BYTES
VXH = 1 << 14
"""Vertical stride of a region whose rows begin where one address register each says."""
IDENTITY = (0, 1, 2, 3)
"""The swizzle that leaves four channels as they are."""


class File(Enum):
    """A register file; the value is its code."""

    ARCHITECTURE = 0
    GENERAL = 1
    MESSAGE = 2
    IMMEDIATE = 3


class Architecture(Enum):
    """Architecture registers, by the upper bits of their number."""

    NULL = 0x00
    ADDRESS = 0x10
    ACCUMULATOR = 0x20
    FLAG = 0x30
    MASK = 0x40
    MASK_DEPTH = 0x50
    STATE = 0x70
    CONTROL = 0x80
    NOTIFICATION = 0x90
    INSTRUCTION_POINTER = 0xA0


@dataclass(frozen=True, slots=True)
class IndirectAddress:
    """Where an indirect operand begins: an address register (a0.index) and a signed offset, in bytes from g0."""

    index: int
    offset: int


@dataclass(frozen=True, slots=True)
class Controls:
    """Fields of DW0 other than the opcode, and the number of the flag word."""

    align16: int = 0
    all_channels: int = 0
    """Write-enable-all: neither dispatch nor control flow disables a channel."""
    dependency: int = 0
    """1 NoDDClr, 2 NoDDChk, 3 both."""
    quarter: int = 0
    thread: int = 0
    """1 atomic, 2 switch."""
    predicate: int = 0
    inverse: int = 0
    size_code: int = 0
    selector: int = 0
    """The condition; of `math` its function, of `send` its target."""
    accumulates: int = 0
    compacted: int = 0
    breakpoint: int = 0
    saturates: int = 0
    flag: int = 0

    @property
    def size(self) -> int:
        """Channels of the instruction."""
        return 1 << self.size_code

    @property
    def first(self) -> int:
        """Number in the thread of the instruction's first channel."""
        if self.size >= 16:
            return 16 * (self.quarter >> 1)
        return 8 * self.quarter


class _Located(ABC):
    """An operand that is in registers."""

    __slots__ = ()
    file: File
    number: int
    sub: int
    address: IndirectAddress | None

    @property
    def architecture(self) -> Architecture | None:
        """Which architecture register, if any; raises MachineFault for a number without one."""
        if self.file is not File.ARCHITECTURE:
            return None
        try:
            return Architecture(self.number & 0xF0)
        except ValueError:
            raise MachineFault(f"there is no architecture register {self.number:#x}") from None

    @property
    def null(self) -> bool:
        """True if nothing is read, or written."""
        return self.file is File.ARCHITECTURE and self.number & 0xF0 == 0 and self.address is None

    @property
    def first_byte(self) -> int:
        """First byte, counted from the start of the register file."""
        return self.number * REGISTER_BYTES + self.sub

    @abstractmethod
    def place(self, element: int) -> int:
        """Return how many bytes an element is past its row's first byte."""

    def row(self, element: int) -> int:
        """Return how many address registers past the operand's own one an element's row uses."""
        return 0

    def chosen(self, element: int, addresses: Sequence[int]) -> int:
        """Return the first byte of an element where the address registers hold ``addresses``."""
        base = self.first_byte
        if self.address is not None:
            base = addresses[min(7, self.address.index + self.row(element))] + self.address.offset
        return base + self.place(element)


@dataclass(frozen=True, slots=True)
class EuDestination(_Located):
    """Destination: every ``stride``-th element, starting at a byte of a register."""

    file: File
    type: EuType
    number: int = 0
    sub: int = 0
    """First byte within the register."""
    stride: int = 1
    """0, 1, 2 or 4 elements."""
    mask: int | None = None
    """In 16-byte mode, which of four channels are written; elements are then packed."""
    address: IndirectAddress | None = None

    def place(self, element: int) -> int:
        """Return how many bytes an element is past the first byte."""
        return element * (self.stride if self.mask is None else 1) * self.type.size


@dataclass(frozen=True, slots=True)
class SourceRegion(_Located):
    """A source: rows of ``width`` elements, ``horizontal`` apart, rows ``vertical`` apart, in elements."""

    file: File
    type: EuType
    number: int = 0
    sub: int = 0
    vertical: int = 0
    width: int = 1
    horizontal: int = 0
    absolute: int = 0
    negate: int = 0
    swizzle: tuple[int, int, int, int] | None = None
    """In 16-byte mode, the channel of four that each of four takes."""
    address: IndirectAddress | None = None
    replicate: int = 0
    """Of three sources: 1 where the element at ``sub`` serves all channels."""

    @property
    def scalar(self) -> bool:
        """True if one element serves all channels."""
        if self.swizzle is not None:
            return bool(self.replicate)
        return (self.vertical, self.width, self.horizontal) == (0, 1, 0)

    @property
    def modified(self) -> bool:
        """True if a sign is changed."""
        return bool(self.absolute or self.negate)

    def row(self, element: int) -> int:
        return element // self.width if self.vertical == VXH else 0

    def place(self, element: int) -> int:
        """Return how many bytes an element is past the first byte; rows of VxH each count from 0."""
        if self.swizzle is not None:
            if self.replicate:
                return 0
            return (element // 4 * self.vertical + self.swizzle[element % 4]) * self.type.size
        down = 0 if self.vertical == VXH else self.vertical
        return (element // self.width * down + element % self.width * self.horizontal) * self.type.size


@dataclass(frozen=True, slots=True)
class ImmediateOperand:
    """A constant in the instruction word."""

    type: EuType
    bits: int

    @property
    def value(self) -> int | float:
        """Its number; the bits of a packed vector."""
        match self.type:
            case EuType.D:
                return self.bits - (self.bits >> 31 << 32)
            case EuType.UW:
                return self.bits & 0xFFFF
            case EuType.W:
                return (self.bits & 0xFFFF) - (self.bits >> 15 & 1) * 0x10000
            case EuType.F:
                number: float = struct.unpack("<f", struct.pack("<I", self.bits))[0]
                return number
        return self.bits

    def element(self, channel: int) -> int:
        """Return a channel's element: the bits of a float, or an integer."""
        match self.type:
            case EuType.V | EuType.UV:
                nibble = self.bits >> 4 * (channel % 8) & 15
                return nibble - 16 if self.type is EuType.V and nibble > 7 else nibble
            case EuType.VF:
                return restricted_float(self.bits >> 8 * (channel % 4) & 0xFF)
            case EuType.F:
                return self.bits
        return int(self.value)


def float_bits(value: float) -> int:
    """Return the bits of the nearest binary32 float, an infinity past the largest."""
    try:
        bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        bits = 0xFF800000 if value < 0 else 0x7F800000
    return bits


def restricted_float(byte: int) -> int:
    """Return the bits of a float of eight: sign, three bits of exponent (bias 3), four of fraction."""
    sign, rest = byte >> 7 << 31, byte & 0x7F
    return sign if rest == 0 else sign | ((rest >> 4) + 124) << 23 | (rest & 15) << 19


@dataclass(frozen=True, slots=True)
class Targets:
    """Targets of a branch in units of 8 bytes; ``uip`` only of branches that leave blocks."""

    jip: int
    uip: int | None = None


@dataclass(frozen=True, slots=True)
class EuMessage:
    """Message of a `send`: function control, lengths in registers, end of thread."""

    function: int
    header: int
    response: int
    length: int
    end: int

    @property
    def descriptor(self) -> int:
        """The 32 bits sent to the target."""
        lengths = self.response << 20 | self.length << 25
        return self.function | self.header << 19 | lengths | self.end << 31


Source = SourceRegion | ImmediateOperand
Operand = Controls | EuDestination | SourceRegion | ImmediateOperand | Targets | EuMessage
