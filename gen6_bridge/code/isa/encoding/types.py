"""Types of elements: their codes, sizes and ranges, and which of them an instruction computes in."""

from __future__ import annotations

from enum import Enum

__all__ = ["IMMEDIATE_TYPES", "EuType", "ExecutionType"]


class EuType(Enum):
    """The type of an operand's elements; the value is its code, from 16 on for immediates only."""

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
        """Whether an integer type has negative values."""
        return self in (EuType.D, EuType.W, EuType.B, EuType.V)

    @property
    def floats(self) -> bool:
        """Whether elements are floats."""
        return self in (EuType.F, EuType.VF, EuType.DF)

    @property
    def packed(self) -> bool:
        """Whether it is a vector within an immediate."""
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
"""By code: an enumeration's members are slow keys, and sizes are asked for with every operand."""

IMMEDIATE_TYPES = (
    EuType.UD,
    EuType.D,
    EuType.UW,
    EuType.W,
    EuType.UV,
    EuType.VF,
    EuType.V,
    EuType.F,
)
"""Types of immediates, by code."""


class ExecutionType(Enum):
    """What an instruction computes in; the value is the size in bytes. Bytes compute as words."""

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
