"""Operands of the vector unit's instructions: registers, memory, and the modifiers in braces after them.

Written as in the public descriptions of the instruction set: ``v1{k1}`` is written under mask k1, ``v3{cdab}`` is read
swizzled, ``[r1 + 64]{float16}{1to16}`` is read from memory, widened and replicated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import ClassVar, TypeAlias, TypeVar

from microcode.language import Modified, Range, binary32, shown
from pixelflow.simd.isa.operands import Imm, Mem, Operand, OperandKind, RegisterOperand

LANES = 16
WIDE_LANES = 8
"""Lanes of 64 bits: each is two of the sixteen, its low word first."""
VECTORS, MASKS, SCALARS = 32, 8, 16
"""Registers v0 to v31, k0 to k7 and r0 to r15 of each hardware thread."""
ZERO, CARRY, LESS = FLAGS = ("zero", "carry", "less")
NEXT = "next"
"""Register that a branch writes: the word address to continue at."""
STOPPED = 0xFFFFFFFF
"""Value of that register in a thread that has ended."""


class Swizzle(Enum):
    """How a register's lanes are read, within each four; written most significant first."""

    NONE = "dcba"
    CDAB = "cdab"
    BADC = "badc"
    DACB = "dacb"
    AAAA = "aaaa"
    BBBB = "bbbb"
    CCCC = "cccc"
    DDDD = "dddd"

    @property
    def sources(self) -> tuple[int, ...]:
        """For each of 16 lanes, the lane that it takes its value from."""
        four = ["abcd".index(letter) for letter in reversed(self.value)]
        return tuple(lane & ~3 | four[lane & 3] for lane in range(LANES))


class Conversion(Enum):
    """Format in memory, widened to 32 bits by the load."""

    NONE = "32"
    UINT8 = "uint8"
    UNORM8 = "unorm8"
    SINT16 = "sint16"
    FLOAT16 = "float16"

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return {"32": 4, "uint8": 1, "unorm8": 1, "sint16": 2, "float16": 2}[self.value]


class Replication(Enum):
    """Number of elements read for the 16 lanes."""

    NONE = "16to16"
    ONE = "1to16"
    FOUR = "4to16"

    @property
    def elements(self) -> int:
        """Number of different elements read."""
        return {"16to16": 16, "1to16": 1, "4to16": 4}[self.value]


@dataclass(frozen=True, slots=True)
class Vector(RegisterOperand):
    """A vector register as it is read (with a swizzle) or written (under a mask register, or in all lanes)."""

    number: int
    swizzle: Swizzle = Swizzle.NONE
    mask: int | None = None


@dataclass(frozen=True, slots=True)
class MaskRegister(RegisterOperand):
    """A mask register, itself written under another one or in all lanes."""

    number: int
    mask: int | None = None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar register."""

    number: int


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory starting at scalar register ``base`` (None: 0) plus ``offset``, in bytes."""

    offset: int
    base: int | None = None
    conversion: Conversion = Conversion.NONE
    replication: Replication = Replication.NONE
    mask: int | None = None


VectorSource: TypeAlias = Vector | Memory
"""Last source of an instruction."""

NAMES: dict[str, Vector | MaskRegister | Mem] = {
    **{f"v{number}": Vector(number) for number in range(VECTORS)},
    **{f"k{number}": MaskRegister(number) for number in range(MASKS)},
    # An address is a register plus a number, as a routine's parameter plus a number is in the language.
    **{f"r{number}": Mem(0, number) for number in range(SCALARS)},
}
"""The registers by their names in the language."""

CONVERSIONS = {each.value: each for each in Conversion if each is not Conversion.NONE}
REPLICATIONS = {each.value: each for each in Replication if each is not Replication.NONE}
WIDE_REPLICATIONS = {"1to8": Replication.ONE, "4to8": Replication.FOUR}
"""The same for elements of 64 bits."""
SWIZZLES = {each.value: each for each in Swizzle}
MASK_WORDS = {f"k{number}": number for number in range(MASKS)}
"""Words in braces, with their meanings."""

BRACES = frozenset((*CONVERSIONS, *REPLICATIONS, *WIDE_REPLICATIONS, *SWIZZLES, *MASK_WORDS))
"""Every word that is allowed in braces after some operand."""


# Kinds of operand of the vector unit's instructions: fields in the words, spelling, and errors.


Member = TypeVar("Member", bound=Enum)


def _braces(*words: str) -> str:
    return "".join(f"{{{word}}}" for word in words)


def _bare(value: object) -> tuple[object, tuple[str, ...]]:
    """Return a value of the language and the words in braces after it."""
    return (value.value, value.words) if isinstance(value, Modified) else (value, ())


def _wrong(value: object, allowed: str) -> ValueError:
    bare, words = _bare(value)
    named = next((name for name, each in NAMES.items() if each == bare), None)
    return ValueError(f"{f'register {named}' if named else shown(bare)}{_braces(*words)} is not {allowed}")


def _taken(words: Sequence[str], allowed: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return the fields that words in braces set, each with its word; ``allowed`` says which words set which field."""
    found: dict[str, str] = {}
    for word in words:
        field = next((field for field, known in allowed.items() if word in known), None)
        if field is None:
            known = ", ".join(_braces(each) for words in allowed.values() for each in words)
            raise ValueError(f"{{{word}}} is not allowed here", f"allowed: {known}" if known else "no braces here")
        if field in found:
            raise ValueError(f"{{{word}}} is one {field} too many")
        found[field] = word
    return found


def _mask(words: Sequence[str], *, allowed: bool) -> int | None:
    """Return the mask that is in braces, None without one."""
    return MASK_WORDS.get(_taken(words, {"mask": MASK_WORDS} if allowed else {}).get("mask", ""))


def _mask_field(mask: int | None) -> int:
    return 0 if mask is None else mask + 1


def _mask_of(field: int) -> int | None:
    if field > MASKS:
        raise ValueError(f"mask {field - 1} does not exist")
    return field - 1 if field else None


@cache
def _members(kind: type[Member]) -> list[Member]:
    return list(kind)


def _member(kind: type[Member], index: int) -> Member:
    members = _members(kind)
    if index >= len(members):
        raise ValueError(f"{kind.__name__.lower()} {index} does not exist")
    return members[index]


def _index(member: Enum) -> int:
    return _members(type(member)).index(member)


class _RegisterForm(OperandKind):
    """A register of one kind; where ``written``, a mask register may be in braces after it."""

    letter: ClassVar[str]
    kind: ClassVar[type[Vector] | type[MaskRegister]]
    count: ClassVar[int]
    what: ClassVar[str]

    def __init__(self, *, written: bool) -> None:
        self.written = written
        number = (("number", (self.count - 1).bit_length(), False),)
        self.parts = (*number, ("mask", 4, False)) if written else number
        span = f"{self.what}, {self.letter}0..{self.letter}{self.count - 1}"
        self.allowed = f"{span}, or {self.letter}1{{k1}}" if written else span

    def values(self, operand: Operand) -> Sequence[int]:
        if not isinstance(operand, self.kind) or operand != self.kind(operand.number, mask=operand.mask):
            raise ValueError(f"{operand!r} is not {self.allowed}")
        if self.written:
            return operand.number, _mask_field(operand.mask)
        if operand.mask is not None:
            raise ValueError("a register that is only read has no mask")
        return (operand.number,)

    def operand(self, values: Sequence[int]) -> Vector | MaskRegister:
        return self.kind(values[0], mask=_mask_of(values[1]) if self.written else None)

    def accepted(self, value: object) -> Vector | MaskRegister:
        bare, words = _bare(value)
        if not isinstance(bare, self.kind):
            raise _wrong(value, self.allowed)
        return replace(bare, mask=_mask(words, allowed=self.written))

    def text(self, operand: Operand) -> str:
        return f"{self.letter}{operand.number}" + (f"{{k{operand.mask}}}" if operand.mask is not None else "")


class VectorForm(_RegisterForm):
    """A vector register: ``v1``, or where it is written ``v1{k1}``."""

    value = "vector register"
    letter, kind, count, what = "v", Vector, VECTORS, "a vector register"


class MaskForm(_RegisterForm):
    """A mask register: ``k1``, or where a compare writes it ``k1{k2}``."""

    value = "mask register"
    letter, kind, count, what = "k", MaskRegister, MASKS, "a mask register"


_ADDRESS_PARTS = (("base", 5, False), ("offset", 32, True))


def _address_values(operand: Memory) -> tuple[int, int]:
    return 0 if operand.base is None else operand.base + 1, _offset(operand.offset)


def _offset(offset: int) -> int:
    if not -(1 << 31) <= offset < 1 << 31:
        raise ValueError(f"offset {offset} does not fit 32 bits, allowed: {-(1 << 31)}..{(1 << 31) - 1}")
    return offset


def _address_of(base: int, offset: int) -> tuple[int, int | None]:
    if base > SCALARS:
        raise ValueError(f"scalar register {base - 1} does not exist")
    return offset, base - 1 if base else None


def _address_text(operand: Memory) -> str:
    if operand.base is None:
        return f"[{operand.offset}]"
    sign = f" {'-' if operand.offset < 0 else '+'} {abs(operand.offset)}" if operand.offset else ""
    return f"[r{operand.base}{sign}]"


def _memory(bare: object) -> Memory | None:
    match bare:
        case Mem(offset, base):
            return Memory(_offset(offset), base)
        case Range(_, start):
            return Memory(start)
    return None


class MemoryForm(OperandKind):
    """Memory by its first byte: ``[r1 + 64]``, or where lanes are written one by one ``[r1 + 64]{k1}``."""

    value = "memory"

    def __init__(self, *, masked: bool) -> None:
        self.masked = masked
        self.parts = (*_ADDRESS_PARTS, ("mask", 4, False)) if masked else _ADDRESS_PARTS
        self.allowed = "memory, [r1 + offset]" + (" or [r1 + offset]{k1}" if masked else "")

    def values(self, operand: Memory) -> Sequence[int]:
        plain = isinstance(operand, Memory) and operand == Memory(operand.offset, operand.base, mask=operand.mask)
        if not plain or (operand.mask is not None and not self.masked):
            raise ValueError(f"{operand!r} is not {self.allowed}")
        return (*_address_values(operand), _mask_field(operand.mask)) if self.masked else _address_values(operand)

    def operand(self, values: Sequence[int]) -> Memory:
        return Memory(*_address_of(values[0], values[1]), mask=_mask_of(values[2]) if self.masked else None)

    def accepted(self, value: object) -> Memory:
        bare, words = _bare(value)
        memory = _memory(bare)
        if memory is None:
            raise _wrong(value, self.allowed)
        return replace(memory, mask=_mask(words, allowed=self.masked))

    def text(self, operand: Memory) -> str:
        return _address_text(operand) + (f"{{k{operand.mask}}}" if operand.mask is not None else "")


class SourceForm(OperandKind):
    """The last source: a register with a swizzle, or memory that is widened and replicated on the way."""

    value = "vector source"
    allowed = "a vector register or memory: v3, v3{cdab}, [r1 + 64]{uint8}{1to16}"
    parts = (
        ("memory", 1, False),
        ("number", 5, False),
        ("how", 3, False),
        ("replication", 2, False),
        _ADDRESS_PARTS[1],
    )
    conversions: ClassVar[Mapping[str, Conversion]] = CONVERSIONS
    replications: ClassVar[Mapping[str, Replication]] = REPLICATIONS

    def values(self, operand: VectorSource) -> Sequence[int]:
        match operand:
            case Vector(number, swizzle, None):
                return 0, number, _index(swizzle), 0, 0
            case Memory(_, _, conversion, replication, None):
                base, offset = _address_values(operand)
                return 1, base, _index(conversion), _index(replication), offset
        raise ValueError(f"{operand!r} is not {self.allowed}")

    def operand(self, values: Sequence[int]) -> VectorSource:
        memory, number, how, replication, offset = values
        if not memory:
            return Vector(number, _member(Swizzle, how))
        return Memory(*_address_of(number, offset), _member(Conversion, how), _member(Replication, replication))

    def accepted(self, value: object) -> VectorSource:
        bare, words = _bare(value)
        if isinstance(bare, Vector):
            swizzle = _taken(words, {"swizzle": SWIZZLES}).get("swizzle", "")
            return replace(bare, swizzle=SWIZZLES.get(swizzle, bare.swizzle))
        memory = _memory(bare)
        if memory is None:
            raise _wrong(value, self.allowed)
        taken = _taken(words, {"conversion": self.conversions, "replication": self.replications})
        conversion = self.conversions.get(taken.get("conversion", ""), Conversion.NONE)
        replication = self.replications.get(taken.get("replication", ""), Replication.NONE)
        return replace(memory, conversion=conversion, replication=replication)

    def text(self, operand: VectorSource) -> str:
        if isinstance(operand, Vector):
            swizzled = operand.swizzle is not Swizzle.NONE
            return f"v{operand.number}" + (_braces(operand.swizzle.value) if swizzled else "")
        known = {**self.conversions, **self.replications}
        words = [word for word, each in known.items() if each in (operand.conversion, operand.replication)]
        return _address_text(operand) + _braces(*words)


class WideSourceForm(SourceForm):
    """The last source in lanes of 64 bits: swizzled within four of them, or memory that is replicated."""

    value = "vector source of 64 bits"
    allowed = "a vector register or memory: v3, v3{cdab}, [r1 + 64]{1to8}"
    conversions: ClassVar[Mapping[str, Conversion]] = {}
    replications: ClassVar[Mapping[str, Replication]] = WIDE_REPLICATIONS

    def values(self, operand: VectorSource) -> Sequence[int]:
        if isinstance(operand, Memory) and operand.conversion is not Conversion.NONE:
            raise ValueError(f"{operand!r} is not {self.allowed}")
        return super().values(operand)


class ScalarForm(OperandKind):
    """A scalar register."""

    value = "scalar register"
    allowed = "a scalar register, r0..r15"
    parts = (("number", 4, False),)

    def values(self, operand: Scalar) -> Sequence[int]:
        if not isinstance(operand, Scalar):
            raise ValueError(f"{operand!r} is not {self.allowed}")
        return (operand.number,)

    def operand(self, values: Sequence[int]) -> Scalar:
        return Scalar(values[0])

    def accepted(self, value: object) -> Scalar:
        match value:
            case Mem(0, base) if base is not None:
                return Scalar(base)
        raise _wrong(value, self.allowed)

    def text(self, operand: Scalar) -> str:
        return f"r{operand.number}"


class ScalarSourceForm(OperandKind):
    """A scalar register, or a constant of 32 bits: an integer, the bits of a float, or the address of a range."""

    value = "scalar source"
    allowed = "a scalar register, r0..r15, or a constant of 32 bits"
    parts = (("constant", 1, False), ("number", 4, False), ("value", 32, False))

    def values(self, operand: Scalar | int) -> Sequence[int]:
        match operand:
            case Scalar(number):
                return 0, number, 0
            case bool():
                pass
            case int() if 0 <= operand < 1 << 32:
                return 1, 0, operand
        raise ValueError(f"{operand!r} is not {self.allowed}")

    def operand(self, values: Sequence[int]) -> Scalar | int:
        return values[2] if values[0] else Scalar(values[1])

    def accepted(self, value: object) -> Scalar | int:
        match value:
            case Mem(0, base) if base is not None:
                return Scalar(base)
            case int() | Imm(int(), None):
                number = value.value if isinstance(value, Imm) else int(value)
                if not -(1 << 31) <= number < 1 << 32:
                    raise ValueError(f"{number} does not fit 32 bits")
                return number & 0xFFFFFFFF
            case float():
                return binary32(value)
            case Range(_, start):
                return start
        raise _wrong(value, self.allowed)

    def text(self, operand: Scalar | int) -> str:
        return f"r{operand.number}" if isinstance(operand, Scalar) else str(operand)
