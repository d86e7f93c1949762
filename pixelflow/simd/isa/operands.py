"""Operand values of an instruction, and the kinds that a declaration may ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from operator import index
from typing import Any, ClassVar, NamedTuple, SupportsIndex, TypeGuard

from pixelflow.simd.errors import must_be

_MOST_TRIED = 3
"""Fields of which all combinations are tried."""


@dataclass(frozen=True, slots=True)
class Mem:
    """A byte of memory: an absolute address, or parameter ``base`` of the running frame plus an offset."""

    offset: int
    base: int | None = None

    def __post_init__(self) -> None:
        if type(self.offset) is not int:
            _whole(self, "offset", self.offset, "the address of a byte")

    def __getitem__(self, index: int) -> Mem:
        return Mem(self.offset + index, self.base)

    def __hash__(self) -> int:
        # Asked for several times with every instruction that is assembled or executed.
        return self.offset << 5 | (31 if self.base is None else self.base)

    def __str__(self) -> str:
        if self.base is None:
            return f"[{self.offset}]"
        return f"[P{self.base}{self.offset:+d}]" if self.offset else f"[P{self.base}]"


@dataclass(frozen=True, slots=True)
class Imm:
    """A broadcast byte: a constant, or parameter ``base`` plus a constant, taken modulo 256."""

    value: int
    base: int | None = None

    def __post_init__(self) -> None:
        if type(self.value) is not int:
            _whole(self, "value", self.value, "an immediate byte")

    def __str__(self) -> str:
        if self.base is None:
            return f"#{self.value}"
        return f"#P{self.base}{self.value:+d}" if self.value else f"#P{self.base}"


@dataclass(frozen=True, slots=True)
class RegisterOperand:
    """A register by its name in the language, where registers are more than the members of an enumeration."""


def _whole(operand: Mem | Imm, name: str, given: SupportsIndex, what: str) -> None:
    """Make a plain whole number of what is one (numpy's, say); raises InputError for anything else."""
    must_be(given, SupportsIndex, f"a whole number as {what}")
    object.__setattr__(operand, name, index(given))


Operand = Any
"""Value of one operand position: whatever its kind makes. Plain integers are counts, targets and names."""


class NotAllowed(ValueError):
    """A value of the language is of the right kind, but outside of what is allowed."""


class NotThisKind(ValueError):
    """A value of the language is of another kind; what it is given, if anything, is a hint for who wrote it."""


class OperandKind(ABC):
    """A kind of operand: its fields in the instruction word, its spelling, and what it refuses."""

    value: ClassVar[str]
    """The name of the kind, in the manual."""
    takes_memory: ClassVar[bool] = False
    """True if a memory address may be here."""
    is_coefficient: ClassVar[bool] = False
    """True if it is a number of 64 bits, in two words, on which neither cycles nor the memory touched depend."""
    most: ClassVar[int | None] = None
    """For a kind that gathers all remaining values: their maximum number; None for one value."""
    allowed: str
    """Values that a user may write here, for error messages and the manual."""
    parts: Sequence[tuple[str, int, bool]]
    """(name, width in bits, signed) of the fields that it takes."""

    @abstractmethod
    def values(self, operand: Operand) -> Sequence[int]:
        """Return the field values of an operand; raises ValueError for what is none of this kind."""

    @abstractmethod
    def operand(self, values: Sequence[int]) -> Operand:
        """Return the operand whose field values these are; raises ValueError where they mean nothing."""

    @abstractmethod
    def accepted(self, value: object) -> Operand:
        """Return the operand that a value of the language stands for.

        Raises NotThisKind, NotAllowed, or ValueError(message, optional hint).
        """

    def text(self, operand: Operand) -> str:
        """Return the operand as it is written."""
        return str(operand)

    def text_within(self, operand: Operand, parameters: Sequence[str]) -> str:
        """Return the operand as it is written in a routine with these parameters."""
        return self.text(operand)

    def examples(self, position: int) -> Sequence[Operand]:
        """Return a few operands of every sort without parameters, to try a meaning on; memory differs by position.

        Here those whose fields are 0, 1 or full, as far as they mean anything.
        """
        full = [(0, 1, -1 if signed else (1 << bits) - 1) for _, bits, signed in self.parts]
        found: list[Operand] = []
        for values in product(*full) if len(full) <= _MOST_TRIED else zip(*full, strict=True):
            try:
                operand = self.operand(values)
            except ValueError:
                continue
            if operand not in found and getattr(operand, "base", None) is None:
                found.append(operand)
        return found


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer and no truth value."""
    return value.__class__ is int or (isinstance(value, int) and not isinstance(value, bool))


class Number(OperandKind):
    """An integer, written as it is, in one field."""

    @abstractmethod
    def holds(self, number: int) -> bool:
        """Return whether an integer is allowed."""

    def values(self, operand: Operand) -> Sequence[int]:
        if not is_whole(operand) or not self.holds(operand):
            raise ValueError(f"{operand!r} is not {self.allowed}")
        return [operand]

    def operand(self, values: Sequence[int]) -> Operand:
        if not self.holds(values[0]):
            raise ValueError(f"{values[0]} is not {self.allowed}")
        return values[0]

    def accepted(self, value: object) -> Operand:
        if isinstance(value, Imm) and value.base is None:
            raise NotThisKind(f"write {value.value} without the #")
        if not is_whole(value):
            raise NotThisKind
        if not self.holds(value):
            raise NotAllowed
        return value


class Count(Number):
    """An integer ``low`` to ``high``, not negative; ``choices`` narrows it to a few values."""

    value = "count"

    def __init__(self, low: int, high: int, choices: Sequence[int] = ()) -> None:
        self.low, self.high, self.choices = low, high, tuple(choices)
        self.parts = (("value", max(1, high.bit_length()), False),)
        few = "one of " + ", ".join(str(choice) for choice in choices)
        self.allowed = few if choices else f"an integer {low}..{high}"

    def holds(self, number: int) -> bool:
        """Return whether an integer is allowed."""
        return number in self.choices if self.choices else self.low <= number <= self.high

    def examples(self, position: int) -> Sequence[int]:
        numbers = self.choices or (self.low, self.low + 1, self.high)
        return [number for number in dict.fromkeys(numbers) if self.holds(number)]


class Delta(Number):
    """A signed integer of ``bits`` bits."""

    value = "delta"

    def __init__(self, bits: int) -> None:
        self.low, self.high = -(1 << bits - 1), (1 << bits - 1) - 1
        self.parts = (("value", bits, True),)
        self.allowed = f"an integer {self.low}..{self.high}"

    def holds(self, number: int) -> bool:
        """Return whether an integer is allowed."""
        return self.low <= number <= self.high


class _Index(OperandKind):
    """A number that stands for something else; the assembler finds it."""

    bits: ClassVar[int]

    def __init__(self) -> None:
        self.parts = (("value", self.bits, False),)

    def values(self, operand: Operand) -> Sequence[int]:
        if not is_whole(operand) or not 0 <= operand < 1 << self.bits:
            raise ValueError(f"{operand!r} is not {self.allowed}")
        return [operand]

    def operand(self, values: Sequence[int]) -> Operand:
        return values[0]

    def accepted(self, value: object) -> Operand:
        raise NotThisKind


class Target(_Index):
    """The word address of a label."""

    value = "target"
    bits = 24
    allowed = "a label"


class Name(_Index):
    """The position of a name in the program's table of names."""

    value = "name"
    bits = 16
    allowed = "a name in quotes"


class OperandSpec(NamedTuple):
    """One operand position: its name in the manual, and its kind.

    ``optional`` belongs to a trailing source that defaults to the operand before it (``SHL R`` is ``SHL R, R``).
    """

    name: str
    kind: OperandKind
    optional: bool = False
    sized_by: str | None = None
    """For memory: the count of bytes touched, starting at this address; None for one."""

    @property
    def allowed(self) -> str:
        """Values that a user may write here, for error messages and the manual."""
        return self.kind.allowed
