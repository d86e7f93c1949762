"""Operand values of an instruction, and the kinds that a declaration may ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import Any, ClassVar

from pixelflow.simd.records import record

__all__ = [
    "COEFFICIENT_BITS",
    "PARAMETERS",
    "Imm",
    "Kind",
    "Mem",
    "Operand",
    "OperandForm",
    "OperandSpec",
    "Register",
]

PARAMETERS = 7
"""Parameter registers P0 to P6 of a sequencer frame (invented)."""

COEFFICIENT_BITS = 64
"""Width of A, B and C in an instruction word (invented: wide enough for every load of 1 to 8 bytes)."""


class Register(Enum):
    """The three 8-bit registers of a PE: accumulator, shift register, multiplicand."""

    R = 0
    S = 1
    M = 2

    def __repr__(self) -> str:
        return self.name


@record
class Mem:
    """A byte of PE memory: an absolute address, or parameter ``base`` plus an offset."""

    offset: int
    base: int | None = None

    def __getitem__(self, index: int) -> Mem:
        return Mem(self.offset + index, self.base)

    def __hash__(self) -> int:
        # Asked for several times with every instruction that is assembled or carried out.
        return self.offset << 3 | (PARAMETERS if self.base is None else self.base)


@record
class Imm:
    """A broadcast byte: a constant, or parameter ``base`` plus a constant, taken modulo 256."""

    value: int
    base: int | None = None


Operand = Any
"""What stands in one operand position: `Register`, `Mem`, `Imm`, a tuple of arguments, what an `OperandForm` makes;
plain integers are counts, coefficients, targets and names."""


class Kind(Enum):
    """What an operand position accepts, and how many bits of the word it takes."""

    REGISTER = "register"
    SOURCE = "source"
    MEMORY = "memory"
    BYTE = "byte"
    COUNT = "count"
    DELTA = "delta"
    COEFFICIENT = "coefficient"
    TARGET = "target"
    ARGUMENTS = "arguments"
    NAME = "name"
    PARAMETER = "parameter"


class OperandForm(ABC):
    """A kind of operand that an instruction set brings along: its fields, its spelling, and what it refuses."""

    value: ClassVar[str]
    """The name of the kind, as those of `Kind` have one."""
    allowed: str
    """What a user may write here, for error messages and the manual."""
    parts: tuple[tuple[str, int, bool], ...]
    """(name, width in bits, signed) of the fields that it takes."""

    @abstractmethod
    def values(self, operand: Any) -> Sequence[int]:
        """Return the field values of an operand; raises ValueError for what is none of this kind."""

    @abstractmethod
    def operand(self, values: Sequence[int]) -> Any:
        """Return the operand whose field values these are; raises ValueError where they mean nothing."""

    @abstractmethod
    def accepted(self, value: Any) -> Any:
        """Return the operand that a value of the language stands for; raises ValueError(message, optional hint)."""

    @abstractmethod
    def text(self, operand: Any) -> str:
        """Return the operand as it is written."""


@record
class OperandSpec:
    """One operand position: its name in the manual, its kind, and the integers it allows.

    ``choices`` narrows a COUNT to a few values. ``optional`` belongs to a trailing SOURCE that defaults to the
    register operand before it (``SHL R`` is ``SHL R, R``).
    """

    name: str
    kind: Kind | OperandForm
    low: int = 0
    high: int = 0
    choices: tuple[int, ...] = ()
    optional: bool = False
    sized_by: str | None = None
    """For MEMORY: the COUNT operand that says how many bytes are touched from this address on; None for one."""

    @property
    def allowed(self) -> str:
        """What a user may write here, for error messages and the manual."""
        match self.kind:
            case OperandForm():
                return self.kind.allowed
            case Kind.REGISTER:
                return "a register: R, S or M"
            case Kind.SOURCE:
                return "a register, a memory byte, or an immediate #-128..#255"
            case Kind.MEMORY:
                return "a memory byte"
            case Kind.BYTE:
                return "an immediate #-128..#255"
            case Kind.COUNT if self.choices:
                return "one of " + ", ".join(str(choice) for choice in self.choices)
            case Kind.COUNT | Kind.DELTA:
                return f"an integer {self.low}..{self.high}"
            case Kind.COEFFICIENT:
                return "a signed 64-bit integer"
            case Kind.TARGET:
                return "a label"
            case Kind.ARGUMENTS:
                return f"up to {PARAMETERS} memory addresses or immediates"
            case Kind.NAME:
                return "a name in quotes"
            case Kind.PARAMETER:
                return f"a parameter of the routine (P0 to P{PARAMETERS - 1})"
