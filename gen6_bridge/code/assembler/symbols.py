"""Symbols: what directives have declared for the statements after them."""

from __future__ import annotations

from dataclasses import dataclass, field

from gen6_bridge.code.isa.encoding.operands import File, IndirectAddress
from gen6_bridge.code.isa.encoding.types import EuType

__all__ = ["SIZES", "DeclaredRegister", "OperandRules", "Region", "Symbols", "WrittenRegister"]

SIZES = (1, 2, 4, 8, 16, 32)
"""Channels that a statement may have."""
Region = tuple[int, int, int]
"""Vertical stride, width, horizontal stride, in elements."""


@dataclass(frozen=True, slots=True)
class WrittenRegister:
    """A register as it is written; its sub-register counts elements of the type that follows."""

    file: File
    number: int
    sub: int = 0
    address: IndirectAddress | None = None


@dataclass(frozen=True, slots=True)
class DeclaredRegister:
    """A name for a register, with what operands of that name need not say."""

    register: WrittenRegister
    type: EuType
    region: Region
    stride: int


@dataclass(slots=True)
class Symbols:
    """Sizes, types and names that hold from here on in a source."""

    size: int = 8
    """Channels of a statement that names none."""
    type: EuType = EuType.F
    """Of a register without one."""
    registers: dict[str, DeclaredRegister] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OperandRules:
    """How operands of one statement are read."""

    symbols: Symbols
    size: int
    """Channels."""
    wide: bool = False
    """Whether it is in 16-byte mode."""
    scalar: bool = False
    """Whether a region that is not written is that of one element for all channels."""
