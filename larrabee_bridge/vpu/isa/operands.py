"""Operands of the vector unit's instructions: registers, memory, and what may stand in braces after them.

Written as in the public descriptions of the instruction set: ``v1{k1}`` is written under mask k1, ``v3{cdab}`` is read
swizzled, ``[r1 + 64]{float16}{1to16}`` is read from memory, widened and replicated.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pixelflow.simd.isa.operands import Mem, RegisterOperand

__all__ = [
    "BRACES",
    "CARRY",
    "CONVERSIONS",
    "FLAGS",
    "LANES",
    "LESS",
    "MASKS",
    "MASK_WORDS",
    "NAMES",
    "NEXT",
    "REPLICATIONS",
    "SCALARS",
    "STOPPED",
    "SWIZZLES",
    "VECTORS",
    "WIDE_LANES",
    "WIDE_REPLICATIONS",
    "ZERO",
    "Conversion",
    "MaskRegister",
    "Memory",
    "Replication",
    "Scalar",
    "Swizzle",
    "Vector",
    "VectorSource",
]

LANES = 16
WIDE_LANES = 8
"""Lanes of 64 bits: each is two of the sixteen, its low word first."""
VECTORS, MASKS, SCALARS = 32, 8, 16
"""Registers v0 to v31, k0 to k7 and r0 to r15 of each hardware thread."""
ZERO, CARRY, LESS = FLAGS = ("zero", "carry", "less")
NEXT = "next"
"""The register that a branch writes: the word address to go on at."""
STOPPED = 0xFFFFFFFF
"""Its value in a thread that has ended."""


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
    """What stands in memory, before it is widened to 32 bits on the way."""

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
    """How many elements are read for the 16 lanes."""

    NONE = "16to16"
    ONE = "1to16"
    FOUR = "4to16"

    @property
    def elements(self) -> int:
        """How many different elements are read."""
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
    """Memory from scalar register ``base`` (None: 0) plus ``offset`` on, in bytes."""

    offset: int
    base: int | None = None
    conversion: Conversion = Conversion.NONE
    replication: Replication = Replication.NONE
    mask: int | None = None


VectorSource: TypeAlias = Vector | Memory
"""What the last source of an instruction may be."""

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
"""What may stand in braces, and what it means."""

BRACES = frozenset((*CONVERSIONS, *REPLICATIONS, *WIDE_REPLICATIONS, *SWIZZLES, *MASK_WORDS))
"""Every word that may stand in braces after some operand."""
