"""Closed formulas of the thesis. Every number from here is a *formula*, never a measurement.

Only reports and tests read this file; the machine counts what it executes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

ADDRESS_CYCLES = 12
"""Cycles to load one base address (table 3)."""


@dataclass(frozen=True, slots=True)
class Operations:
    """Float operations of one sample; a subtraction counts as an addition."""

    multiplies: int = 0
    adds: int = 0
    roots: int = 0
    divides: int = 0

    def __add__(self, other: Operations) -> Operations:
        return Operations(
            self.multiplies + other.multiplies,
            self.adds + other.adds,
            self.roots + other.roots,
            self.divides + other.divides,
        )

    def __mul__(self, times: int) -> Operations:
        return Operations(self.multiplies * times, self.adds * times, self.roots * times, self.divides * times)

    @property
    def total(self) -> int:
        """All operations (section 5 prints 282 for a bicubic patch)."""
        return self.multiplies + self.adds + self.roots + self.divides


class RoutineCycles(NamedTuple):
    """Cycles of one float operation of each kind."""

    multiply: int
    add: int
    root: int
    divide: int

    def of(self, operations: Operations) -> int:
        """Return the cycles of this many operations."""
        return (
            operations.multiplies * self.multiply
            + operations.adds * self.add
            + operations.roots * self.root
            + operations.divides * self.divide
        )


THESIS_CYCLES = RoutineCycles(multiply=253, add=390, root=698, divide=704)
"""Table 1."""


def address_cycles(patches: int) -> int:
    """Return the cycles to load the base addresses of this many patches (table 3)."""
    return ADDRESS_CYCLES * patches


def bernstein_cycles(rows: int, columns: int, sizes: tuple[int, ...]) -> int:
    """Return the cycles to load the Bernstein values for these sample counts (table 4: 5 (2n - 1) + 6 a column)."""
    per_u, per_v = (5 * (2 * count - 1) + 6 for count in (rows, columns))
    return sum(size * (per_u + per_v) for size in sizes)


def point_operations(rows: int, columns: int) -> Operations:
    """Return the operations for one coordinate of one point (4.1.3: mn + n and n(m-1) + n - 1)."""
    return Operations(rows * columns + columns, columns * (rows - 1) + columns - 1)


def derivative_operations(rows: int, columns: int) -> Operations:
    """Return the operations for one coordinate of both derivatives (4.1.3: 2nm - m + n - 1 and 2nm - n - m - 2)."""
    m, n = rows, columns
    return Operations(2 * n * m - m + n - 1, 2 * n * m - n - m - 2)


def surfaces(rows: int, columns: int) -> list[tuple[int, int]]:
    """Return the control values of the nine surfaces of a patch: three points, then du and dv of each coordinate."""
    return [(rows, columns)] * 3 + [(rows - 1, columns), (rows, columns - 1)] * 3


def transfer_operations(counts: Iterable[tuple[int, int]], values: int = 8) -> list[Operations]:
    """Return the operations enabled by each transfer of ``values`` control values (4.1.3).

    ``counts`` are the control values along u and v of successive surfaces, each column by column. A value is multiplied
    and added to those of its column; a complete column is multiplied and added to the result.
    """
    found: list[Operations] = []
    number = 0
    for rows, columns in counts:
        for j in range(columns):
            for i in range(rows):
                if number % values == 0:
                    found.append(Operations())
                found[-1] += Operations(1, int(i > 0))
                number += 1
            found[-1] += Operations(1, int(j > 0))
    return found


def cross_operations() -> Operations:
    """Return the operations from the derivatives to the unit normal (4.1.3)."""
    return Operations(9, 5, 1, 3)


def total_operations(rows: int, columns: int) -> Operations:
    """Return all operations of one sample: three coordinates and the normal."""
    return (point_operations(rows, columns) + derivative_operations(rows, columns)) * 3 + cross_operations()


def computation_cycles(rows: int, columns: int, routines: RoutineCycles = THESIS_CYCLES) -> int:
    """Return the cycles of table 7, or its equivalent for other routines."""
    return routines.of(total_operations(rows, columns))


def memory_bytes(n: int) -> int:
    """Return the PE memory of table 8 for an n x n net: 166 for n = 4, 98 + 20 n above (decoded)."""
    temporaries = 8 if n <= 4 else 4 * (n + 1)
    return 48 + (16 * n - 8) + 36 + 4 + temporaries + 14


def pixcopy_cycles(distance: int, size: int) -> int:
    """Return the cycles of a PixCopy of ``size`` bytes over ``distance`` PEs: (N + 1) B + 2 (fitted to table 6)."""
    return (distance + 1) * size + 2


def distribution_cycles(sends: int, size: int = 32) -> int:
    """Return the EMC cycles that spread a batch over a block (table 6): PixCopies over 8, 4, 2, 1 PEs, as needed."""
    return sum(pixcopy_cycles(distance, size) for distance in (8, 4, 2, 1) if distance * sends <= 8)


def tasic_cycles(sends: int) -> int:
    """Return the TASIC cycles of one 32-byte transfer to every block (table 6: 128 reads of 12, 512 a send)."""
    return 128 * 12 + 512 * sends


def access_cycles(size: int, *, alternate: bool) -> int:
    """Return the cycles of one SDRAM access of ``size`` bytes (table 2: 7 and one a byte, half in alternate banks)."""
    return -(-(7 + size) // 2) if alternate else 7 + size


def write_back_cycles(size: int, lanes: int = 8192) -> int:
    """Return the cycles in which ``size`` bytes of every PE go to a GP (4.1.4: 2 bytes a cycle)."""
    return size * lanes // 2


def pass_cycles(n: int, batches: int) -> int:
    """Return the cycles of a pass of n x n nets at 4x4 samples, all counted, at the thesis's own costs.

    Base addresses, the first transfer overlapped with the Bernstein values, distribution and arithmetic: 101,224 for a
    bicubic net of 15 batches.
    """
    first = max(tasic_cycles(4), bernstein_cycles(n, n, (4,)))
    return address_cycles(512) + first + distribution_cycles(4) * batches + computation_cycles(n, n)


def lee_load_cycles(size: int) -> int:
    """Return the cycles of a LEE load of ``size`` bytes (table 4 has 5 for 4 bytes)."""
    return size + 1


def caching_cycles(writes: int, *, alternate: bool = False) -> int:
    """Return the cycles of appendix B for ``writes`` of every EMC: one access each, for 8 EMCs in turn."""
    return access_cycles(4, alternate=alternate) * writes * 8


def long_multiply_cycles(size: int) -> int:
    """Return the cycles of a multiplication with ``size`` bytes of mantissa by the rule of table 13 (decoded)."""
    return 25 * (1 + 3 * size)


def long_add_cycles(size: int) -> int:
    """Return the cycles of an addition with ``size`` bytes of mantissa by the rule of table 13 (decoded)."""
    return 280 + 40 * size


def triangles(samples: int) -> int:
    """Return the triangles of a patch of that many samples a side (section 1)."""
    return 2 * (samples - 1) ** 2
