"""Catalogue of the microcode library: operation, parameters, scratch and file of every routine, as plain data.

Tests, reports and programs iterate over `FLOATS`, `ORDERS` and `INTEGERS` instead of repeating names of routines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

MANTISSA_BYTES = range(3, 7)
"""Sizes of float mantissas, in bytes with the leading bit; 3 is IEEE binary32."""
INTEGER_BYTES = range(1, 9)
SCRATCH_AT = 152
"""Default address of scratch: thesis table 9."""


class Library(Enum):
    """Set of routines that one line includes."""

    PLAIN = "plain"
    TUNED = "tuned"
    GENERIC = "generic"
    INTEGER = "integer"


FLOAT_LIBRARIES = (Library.PLAIN, Library.TUNED, Library.GENERIC)
"""The libraries of float routines; all give the same bits."""


class Kind(Enum):
    """Operands that an entry accepts."""

    COMPLETE = "complete"
    """All, with infinities and NaNs."""
    FINITE = "finite"
    """No infinities and NaNs; overflow and division by zero still give infinities."""


class Operation(Enum):
    """Function of a routine; the value is the stem of its name."""

    FROM_INTEGER = "i2f"
    ADD = "fadd"
    SUBTRACT = "fsub"
    MULTIPLY = "fmul"
    DIVIDE = "fdiv"
    SQUARE_ROOT = "fsqrt"
    NEGATE = "fneg"
    ABSOLUTE = "fabs"
    LESS = "fless"
    EQUAL = "fequal"
    TO_INTEGER = "f2i"
    INTEGER_ADD = "iadd"
    INTEGER_SUBTRACT = "isub"
    INTEGER_MULTIPLY = "imul"
    INTEGER_DIVIDE = "idiv"
    INTEGER_SQUARE_ROOT = "isqrt"
    INTEGER_MULTIPLY_LOW = "imullo"
    INTEGER_NEGATE = "ineg"
    INTEGER_ABSOLUTE = "iabs"
    INTEGER_LESS = "iless"
    INTEGER_SIGNED_LESS = "isless"
    INTEGER_EQUAL = "iequal"
    SHIFT_LEFT = "ishl"
    SHIFT_RIGHT = "ishr"
    SHIFT_RIGHT_SIGNED = "isar"


@dataclass(frozen=True, slots=True)
class Entry:
    """Routine; ``size`` is bytes of a float's mantissa or of an integer operand, ``count`` the bits of a shift.

    Scratch and result are sizes in bytes. Of two results, which have equal sizes, the first is meant.
    """

    library: Library
    operation: Operation
    kind: Kind
    size: int
    parameters: tuple[str, ...]
    scratch_bytes: int
    result_bytes: int
    count: int | None = None

    @property
    def name(self) -> str:
        if self.library is Library.INTEGER:
            count = "" if self.count is None else f"_{self.count}"
            return f"{self.operation.value}{8 * self.size}{count}"
        width = "" if self.size == 3 else str(self.size)
        return f"{self.operation.value}{width}{'_finite' if self.kind is Kind.FINITE else ''}"

    @property
    def operand_bytes(self) -> int:
        """Bytes of each operand."""
        return self.size if self.library is Library.INTEGER else self.size + 1

    @property
    def operands(self) -> int:
        """Count of operands that the routine reads."""
        return self.parameters.count("a") + self.parameters.count("b")

    @property
    def file(self) -> str:
        if self.count is not None:
            return "integer/shift.mc"
        return {
            Library.PLAIN: "float32/plain.mc",
            Library.TUNED: "float32/tuned.mc",
            Library.GENERIC: "float32/generic.mc",
            Library.INTEGER: "integer/arithmetic.mc",
        }[self.library]

    def include_at(self, scratch: int) -> str:
        """Return the line that includes the routine with scratch at an address."""
        if self.count is not None:
            return f'include "{self.file}" with BYTES = {self.size}, COUNT = {self.count}'
        return f'include "{self.file}" with BYTES = {self.size}, SCRATCH = {scratch}'

    @property
    def include(self) -> str:
        return self.include_at(SCRATCH_AT)


def _floats() -> Iterator[Entry]:
    """Scratch sizes equal those of ``uses`` in the sources, as a test checks."""
    for size in MANTISSA_BYTES:
        for library in FLOAT_LIBRARIES:
            for kind in (Kind.COMPLETE,) if library is Library.PLAIN else tuple(Kind):
                yield from _of_kind(library, kind, size)


def _scratch(library: Library, kind: Kind, n: int) -> tuple[int, int, int, int, int]:
    """Return the bytes of scratch of i2f, sums, products, quotients and roots."""
    if library is Library.PLAIN:
        return n + 2, 2 * n + 7, 2 * n + 4, 3 * n + 3, 3 * n + 3
    if library is Library.GENERIC:
        return n + 7, 2 * n + 7, 3 * n + 3, 3 * n + 3, 2 * n + 4
    flag = int(kind is Kind.COMPLETE)
    return n + 1, 2 * n + 5 + flag, 2 * n + 2 + flag, 14 if n == 3 else 3 * n + 1, 3 * n + 2


def _of_kind(library: Library, kind: Kind, n: int) -> Iterator[Entry]:
    two, one = ("d", "a", "b"), ("d", "a")
    convert, add, multiply, divide, root = _scratch(library, kind, n)
    if kind is Kind.COMPLETE:  # integers are finite: the complete routine is the only one
        yield Entry(library, Operation.FROM_INTEGER, kind, n, one, convert, n + 1)
    for operation, parameters, scratch in (
        (Operation.ADD, two, add),
        (Operation.SUBTRACT, two, add),
        (Operation.MULTIPLY, two, multiply),
        (Operation.DIVIDE, two, divide),
        (Operation.SQUARE_ROOT, one, root),
    ):
        yield Entry(library, operation, kind, n, parameters, scratch, n + 1)


def _orders(library: Library, n: int) -> Iterator[Entry]:
    three, two = ("d", "a", "b"), ("d", "a")
    compare = 2 * n + 5 if library is Library.GENERIC else 1
    for operation, parameters, scratch, result in (
        (Operation.NEGATE, two, 0, n + 1),
        (Operation.ABSOLUTE, two, 0, n + 1),
        (Operation.LESS, three, compare, 1),
        (Operation.EQUAL, three, compare, 1),
        (Operation.TO_INTEGER, two, n + 4, n + 1),
    ):
        yield Entry(library, operation, Kind.COMPLETE, n, parameters, scratch, result)


def _integers(n: int) -> Iterator[Entry]:
    three, two = ("d", "a", "b"), ("d", "a")
    for operation, parameters, scratch, result in (
        (Operation.INTEGER_ADD, three, 0, n),
        (Operation.INTEGER_SUBTRACT, three, 0, n),
        (Operation.INTEGER_NEGATE, two, 0, n),
        (Operation.INTEGER_ABSOLUTE, two, 0, n),
        (Operation.INTEGER_MULTIPLY, three, 0, 2 * n),
        (Operation.INTEGER_MULTIPLY_LOW, three, 0, n),
        (Operation.INTEGER_DIVIDE, ("q", "r", "a", "b"), 2 * n, n),
        (Operation.INTEGER_SQUARE_ROOT, two, 3 * (n + 1), (n + 1) // 2),
        (Operation.INTEGER_LESS, three, 0, 1),
        (Operation.INTEGER_SIGNED_LESS, three, 0, 1),
        (Operation.INTEGER_EQUAL, three, 0, 1),
    ):
        yield Entry(Library.INTEGER, operation, Kind.COMPLETE, n, parameters, scratch, result)


def shifts(size: int, count: int) -> tuple[Entry, ...]:
    """Return the shifts of integers of ``size`` bytes by ``count`` < 8 * size bits: left, right, signed right."""
    operations = (Operation.SHIFT_LEFT, Operation.SHIFT_RIGHT, Operation.SHIFT_RIGHT_SIGNED)
    return tuple(
        Entry(Library.INTEGER, operation, Kind.COMPLETE, size, ("d", "a"), 0, size, count) for operation in operations
    )


FLOATS: tuple[Entry, ...] = tuple(_floats())
"""Arithmetic."""
ORDERS: tuple[Entry, ...] = tuple(
    entry for library in FLOAT_LIBRARIES for size in MANTISSA_BYTES for entry in _orders(library, size)
)
"""Sign, order and whole part of floats."""
INTEGERS: tuple[Entry, ...] = tuple(entry for size in INTEGER_BYTES for entry in _integers(size))


def find(library: Library, operation: Operation, size: int = 3, kind: Kind = Kind.COMPLETE) -> Entry:
    """Return an entry; raises KeyError for one that the library does not have."""
    for entry in FLOATS + ORDERS + INTEGERS:
        if (entry.library, entry.operation, entry.size, entry.kind) == (library, operation, size, kind):
            return entry
    raise KeyError((library, operation, size, kind))


def routine_named(name: str) -> Entry | None:
    """Return a routine by name, from the float libraries the tuned one; None for an unknown name."""
    known = {entry.name: entry for entry in FLOATS + ORDERS + INTEGERS if entry.library is not Library.GENERIC}
    return known.get(name)
