"""What a name or an expression of the .mc language can stand for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from pixelflow.simd.errors import InputError, Place
from pixelflow.simd.isa.operands import Imm, Mem, RegisterOperand
from pixelflow.simd.report import counted

__all__ = ["Broken", "LabelReference", "Modified", "Range", "Symbol", "Value", "Written", "shown"]


@dataclass(frozen=True, slots=True)
class Range:
    """A named range of PE memory: ``size`` bytes from address ``start``. Indexing gives a checked byte of it."""

    name: str
    start: int
    size: int

    def __getitem__(self, index: int) -> Mem:
        if not 0 <= index < self.size:
            raise InputError(f"{self.name}[{index}] is outside the range: {self.name} has {counted(self.size, 'byte')}")
        return Mem(self.start + index)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Mem]:
        return (Mem(self.start + index) for index in range(self.size))

    @property
    def mem(self) -> Mem:
        """The first byte."""
        return Mem(self.start)

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class LabelReference:
    """A label or routine by name, as seen from a place in the program; resolved when the program is put together.

    ``scope`` is where the search begins (None: where the instruction stands).
    """

    name: str
    scope: object | None = None
    place: Place | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that means nothing as a value, handed to a macro: a label, or a mistake that its use will show."""

    name: str
    scope: object | None
    place: Place
    hint: str | None
    silent: bool = False
    """Whether a line that could not be read may be why the name means nothing."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The value of a name whose definition was already reported; using it is silent."""


@dataclass(frozen=True, slots=True)
class Modified:
    """A value with words in braces after it: ``v1{k1}``, ``[r1 + 64]{float16}{1to16}``."""

    value: object
    words: tuple[str, ...]


Value = int | float | str | Enum | Imm | Mem | Range | Symbol | Broken | Modified | RegisterOperand
"""Registers are the members of an enumeration, or operands of their own that an instruction set has."""
Written = Value | LabelReference
"""What may be given for an operand."""


def shown(value: object) -> str:
    """Return what a value is, in words, for messages."""
    match value:
        case bool() | int() | float():
            return f"the number {value}"
        case str():
            return f'the text "{value}"'
        case Enum():
            return f"register {value.name}"
        case RegisterOperand():
            return "a register"
        case Range(name):
            return f"range {name}"
        case Mem(offset, None):
            return f"the memory byte [{offset}]"
        case Mem():
            return "a parameter"
        case Imm(number, None):
            return f"the immediate #{number}"
        case Imm():
            return "an immediate parameter"
        case Symbol(name):
            return f"the name {name}"
        case Modified(value, words):
            return shown(value) + "".join(f" with {{{word}}}" for word in words)
    return "nothing"
