"""Operands of shader instructions: destinations with masks, sources with swizzles, texture units; and their kinds.

The public descriptions give no encoding of instructions; the fields here are invented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum

from pixelflow.simd.isa.operands import NotThisKind, Operand, OperandKind, OperandSpec
from pixelflow.simd.lanes.engine import Shape

# Registers of a shader: banks, and the rows and registers of the lanes that hold them.


COMPONENTS = 4
INPUTS_OF_GROUP = 4
"""Vertices or fragments that are executed together."""
GROUP_LANES = COMPONENTS * INPUTS_OF_GROUP
"""Component c of input i is lane 4 i + c of the group."""
ADDRESS_WORD = "a0"
POINTER = "ip"
"""Continuation of a stretch of native code; unused, as programs have no branches."""
KILLED = "killed"
"""The flag of inputs that the program has killed, the same in their four lanes."""


class ShaderStage(Enum):
    """Kind of input that a program shades."""

    VERTEX = "vertex"
    FRAGMENT = "fragment"


class RegisterBank(IntEnum):
    """Banks of registers that instructions name."""

    INPUT = 0
    OUTPUT = 1
    TEMPORARY = 2
    CONSTANT = 3
    ADDRESS = 4

    @property
    def letter(self) -> str:
        """First letter of the registers in the text of a loaded program."""
        return "iorca"[self]


BANK_SIZES = {
    RegisterBank.INPUT: 16,
    RegisterBank.OUTPUT: 16,
    RegisterBank.TEMPORARY: 32,
    RegisterBank.CONSTANT: 256,
    RegisterBank.ADDRESS: 1,
}
_FIRST_ROW = {
    RegisterBank.INPUT: 0,
    RegisterBank.OUTPUT: 16,
    RegisterBank.TEMPORARY: 32,
    RegisterBank.CONSTANT: 64,
}
ROWS = 64 + BANK_SIZES[RegisterBank.CONSTANT]


def register_id(bank: RegisterBank, number: int) -> int:
    """Return the number of a register among those of all banks: bank x 256 + number in the bank."""
    return int(bank) << 8 | number


ADDRESS_REGISTER = register_id(RegisterBank.ADDRESS, 0)


def row_of(bank: RegisterBank, number: int) -> int:
    """Return the row of the lanes that holds a register; the address register is a word of the lanes instead."""
    return _FIRST_ROW[bank] + number


def shader_shape(groups: int) -> Shape:
    """Return the shape of a number of groups."""
    return Shape(
        lanes=groups * GROUP_LANES,
        group=GROUP_LANES,
        rows=ROWS,
        words=(ADDRESS_WORD, POINTER),
        carries=(),
        masks=(KILLED,),
        bits=32,
    )


ALL = 0b1111
STRAIGHT = (0, 1, 2, 3)
_LETTERS = "xyzw"
_UNITS = 16


@dataclass(frozen=True, slots=True)
class ShaderDestination:
    """The register written, its components (bit 0 is x), and whether results are clamped to 0..1."""

    bank: RegisterBank
    number: int
    mask: int = ALL
    saturate: bool = False

    @property
    def is_whole(self) -> bool:
        """True if all components are written."""
        return self.mask == ALL

    def __str__(self) -> str:
        letters = "".join(letter for at, letter in enumerate(_LETTERS) if self.mask >> at & 1)
        return f"{self.bank.letter}{self.number}{'' if self.mask == ALL else '.' + letters}"


@dataclass(frozen=True, slots=True)
class ShaderSource:
    """A register read: component c of the operand is component ``swizzle[c]`` of the register.

    ``relative`` adds the number to the address register.
    """

    bank: RegisterBank
    number: int
    swizzle: tuple[int, int, int, int] = STRAIGHT
    negate: bool = False
    absolute: bool = False
    relative: bool = False

    def __str__(self) -> str:
        letters = "".join(_LETTERS[each] for each in self.swizzle)
        if len(set(letters)) == 1:
            letters = letters[0]
        name = f"{self.bank.letter}[a0 + {self.number}]" if self.relative else f"{self.bank.letter}{self.number}"
        text = name + ("" if self.swizzle == STRAIGHT else f".{letters}")
        if self.absolute:
            text = f"|{text}|"
        return f"-{text}" if self.negate else text


@dataclass(frozen=True, slots=True)
class TextureOperand:
    """A texture unit by its number."""

    number: int

    def __str__(self) -> str:
        return f"t{self.number}"


class _ShaderKind(OperandKind):
    """Kind of operands of one class."""

    made: type[Operand]

    def accepted(self, value: object) -> Operand:
        if not isinstance(value, self.made):
            raise NotThisKind
        self.values(value)
        return value


class _DestinationKind(_ShaderKind):
    value = "destination"
    made = ShaderDestination
    parts: Sequence[tuple[str, int, bool]] = (
        ("bank", 3, False),
        ("number", 8, False),
        ("mask", 4, False),
        ("saturate", 1, False),
    )
    allowed = "an output, temporary or address register with a write mask"

    def values(self, operand: Operand) -> Sequence[int]:
        if not isinstance(operand, ShaderDestination):
            raise ValueError(f"{operand!r} is not {self.allowed}")
        if operand.bank in (RegisterBank.INPUT, RegisterBank.CONSTANT):
            raise ValueError(f"{operand} cannot be written")
        _check(operand.bank, operand.number)
        return [int(operand.bank), operand.number, operand.mask, int(operand.saturate)]

    def operand(self, values: Sequence[int]) -> Operand:
        bank, number, mask, saturate = values
        return self.accepted(ShaderDestination(_bank(bank), number, mask, bool(saturate)))


class _SourceKind(_ShaderKind):
    value = "source"
    made = ShaderSource
    parts: Sequence[tuple[str, int, bool]] = (
        ("bank", 3, False),
        ("number", 8, False),
        ("swizzle", 8, False),
        ("negate", 1, False),
        ("absolute", 1, False),
        ("relative", 1, False),
    )
    allowed = "a register with a swizzle, a sign and bars"

    def values(self, operand: Operand) -> Sequence[int]:
        if not isinstance(operand, ShaderSource):
            raise ValueError(f"{operand!r} is not {self.allowed}")
        _check(operand.bank, operand.number)
        if operand.relative and operand.bank is not RegisterBank.CONSTANT:
            raise ValueError("only constants are addressed by a register")
        packed = sum(each << 2 * at for at, each in enumerate(operand.swizzle))
        flags = (operand.negate, operand.absolute, operand.relative)
        return [int(operand.bank), operand.number, packed, *map(int, flags)]

    def operand(self, values: Sequence[int]) -> Operand:
        bank, number, packed, negate, absolute, relative = values
        x, y, z, w = (packed >> 2 * at & 3 for at in range(COMPONENTS))
        source = ShaderSource(_bank(bank), number, (x, y, z, w), bool(negate), bool(absolute), bool(relative))
        return self.accepted(source)


class _UnitKind(_ShaderKind):
    value = "texture unit"
    made = TextureOperand
    parts: Sequence[tuple[str, int, bool]] = (("unit", 4, False),)
    allowed = f"a texture unit 0..{_UNITS - 1}"

    def values(self, operand: Operand) -> Sequence[int]:
        if not isinstance(operand, TextureOperand) or not 0 <= operand.number < _UNITS:
            raise ValueError(f"{operand!r} is not {self.allowed}")
        return [operand.number]

    def operand(self, values: Sequence[int]) -> Operand:
        return TextureOperand(values[0])


def _bank(number: int) -> RegisterBank:
    try:
        return RegisterBank(number)
    except ValueError:
        raise ValueError(f"{number} is not a bank of registers") from None


def _check(bank: RegisterBank, number: int) -> None:
    if not 0 <= number < BANK_SIZES[bank]:
        raise ValueError(f"{bank.letter}{number} is past the last register, {bank.letter}{BANK_SIZES[bank] - 1}")


_SOURCE = _SourceKind()
DST = OperandSpec("dst", _DestinationKind())
SRC = OperandSpec("src", _SOURCE)
SRC0, SRC1, SRC2 = (OperandSpec(f"src{at}", _SOURCE) for at in range(3))
SAMPLER = OperandSpec("unit", _UnitKind())
"""Operands of instructions, each with its kind."""
