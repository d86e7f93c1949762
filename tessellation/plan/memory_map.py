"""Layout of PE memory during a tessellation (thesis 4.2, tables 8 and 9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from pixelflow.simd.errors import Fault, InputError
from tessellation.surface.patch import MAX_COUNT, MIN_COUNT

FLOAT_BYTES = 4
BATCH_BYTES = 32
"""One transfer of control points: 8 floats (thesis 3.6)."""

AVAILABLE = 320
"""Bytes of a PE without its two local ports: 256 main and 64 image composition (thesis 3.6, footnote)."""

AXES = "xyz"

RESULTS = tuple(f"{axis}_{what}" for what in ("point", "normal") for axis in AXES)
"""The ranges of PE memory that a PE sends, in this order."""


class MemoryUse(NamedTuple):
    """A named range of PE memory: ``size`` bytes from address ``start``."""

    name: str
    start: int
    size: int

    @property
    def end(self) -> int:
        """One past the last byte of the range."""
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """The layout for control nets of ``rows`` x ``columns`` points (rows with u, columns with v).

    ``ranges`` are in address order and do not overlap; for 4x4 they are table 9 to the byte. Bytes at ``used`` and
    above are free.
    """

    rows: int
    columns: int
    ranges: tuple[MemoryUse, ...]
    reordered: bool = False
    """The Bernstein values of one surface at a time: those of the next take their place (thesis 4.2)."""
    value_bytes: int = FLOAT_BYTES
    """Bytes of a float in the computation."""

    def __getitem__(self, name: str) -> MemoryUse:
        for use in self.ranges:
            if use.name == name:
                return use
        raise KeyError(name)

    def __iter__(self) -> Iterator[MemoryUse]:
        return iter(self.ranges)

    @property
    def used(self) -> int:
        """Bytes needed: the number of table 8."""
        return max(use.end for use in self.ranges)

    @property
    def fits(self) -> bool:
        """True if the layout leaves the two local ports free."""
        return self.used <= AVAILABLE


def memory_map(
    rows: int,
    columns: int,
    *,
    reordered: bool = False,
    extra: tuple[tuple[str, int], ...] = (),
    value_bytes: int = FLOAT_BYTES,
) -> MemoryMap:
    """Return the layout for nets of ``rows`` x ``columns`` control points, 3 to 12 each.

    Table 9's line "control patch (after local port)" has 36 bytes for a batch of 32; here the other 4 hold the base
    address for control values through the LEE (invented). The thesis needs two floats of temporaries for a bicubic
    patch and n + 1 above (decoded from table 8); this program uses the first two. ``extra`` ranges follow.

    With ``reordered`` the values for points and for first differences share their place, as section 4.2 proposes for
    nets of 12x12: the derivatives need both sets of a direction, but those in u and those in v one after the other.
    Floats of more than 4 bytes (appendix A) take three temporaries, one of them for a widened value.
    """
    for count in (rows, columns):
        if not MIN_COUNT <= count <= MAX_COUNT:
            raise InputError(
                Fault(f"a control net of {rows}x{columns} points", hint=f"allowed: {MIN_COUNT} to {MAX_COUNT} a side")
            )
    widest = max(rows, columns)
    ranges: list[MemoryUse] = []

    def place(name: str, size: int) -> None:
        ranges.append(MemoryUse(name, ranges[-1].end if ranges else 0, size))

    for axis in AXES:
        for what in ("point", "du", "dv", "normal"):
            place(f"{axis}_{what}", value_bytes)
    for name, count in (("bernstein_u", rows), ("bernstein_v", columns)):
        place(name, value_bytes * count)
        if reordered:
            points = ranges[-1]
            ranges[-1:] = [MemoryUse(f"{name}_difference", points.start, 0), points]
        else:
            place(f"{name}_difference", value_bytes * (count - 1))
    temporaries = 8 if widest <= 4 else FLOAT_BYTES * (widest + 1)
    place("control_points", BATCH_BYTES)
    place("base_address", FLOAT_BYTES)
    place("administrative", 4)
    place("temporaries", temporaries if value_bytes == FLOAT_BYTES else 3 * value_bytes)
    place("scratch", 14 if value_bytes == FLOAT_BYTES else 3 * value_bytes)
    for name, size in extra:
        place(name, size)
    return MemoryMap(rows, columns, tuple(ranges), reordered, value_bytes)


@cache
def fitting_map(
    rows: int, columns: int, *, extra: tuple[tuple[str, int], ...] = (), value_bytes: int = FLOAT_BYTES
) -> MemoryMap:
    """Return the layout that fits a PE: the plain one if it does, else the one of section 4.2.

    Raises InputError if neither fits, which happens only for floats of more than 4 bytes.
    """
    for reordered in (False, True):
        layout = memory_map(rows, columns, reordered=reordered, extra=extra, value_bytes=value_bytes)
        if layout.fits:
            return layout
    message = f"a net of {rows}x{columns} points needs {layout.used} bytes with floats of {value_bytes} bytes"
    raise InputError(Fault(message, hint=f"a PE has {AVAILABLE}: take shorter mantissas"))
