"""The order of work: when each control value is used, and the batch of 32 bytes that brings it.

Thesis 4.1.3 and table 11: first the point, coordinate by coordinate, then both derivatives, coordinate by coordinate.
A surface is evaluated as the thesis writes it, left multiplication of each column first, then the right one:

    P(u, v) = sum over j of B_j(v) * (sum over i of B_i(u) * b_ij)

so the values are used column by column, and no more than one batch has to be in PE memory. The 120 values of a bicubic
patch make the 15 transfers of table 11. For other nets the stream continues without a gap, which the thesis does not
say (invented; it saves the short last batch of each surface).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import Enum, StrEnum
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from tessellation.plan.mapping import BLOCK_SIDE
from tessellation.plan.memory_map import AXES, BATCH_BYTES, FLOAT_BYTES, MemoryMap
from tessellation.surface.patch import Patch


class Stage(StrEnum):
    """Names of the stages in cycle reports, in the order in which they first run."""

    LOAD = "database load"
    LEE = "LEE configuration"
    ADDRESSES = "base addresses"
    MARKS = "marks for reading"
    BERNSTEIN = "Bernstein values"
    TRIM = "trim"
    FIRST_STALL = "wait for the first transfer"
    STALL = "wait for later transfers"
    COPY = "copy out of the port"
    DISTRIBUTION = "distribution"
    EXCHANGE = "exchange of columns"
    CONTROL_POINTS = "control points"
    POINTS = "points"
    DERIVATIVES = "derivatives"
    INNER = "sums along u"
    OUTER = "sums along v"
    FLOATS = "integers to floats"
    NORMALS = "normals"
    ROUNDING = "rounding to binary32"
    RETURN = "results to the GPs"
    KEEPING = "results to texture memory"
    KEPT_STALL = "wait for kept results"
    PORTS = "wait for free ports"
    """In the texture stream, like the reads."""

    @staticmethod
    def read(number: int) -> str:
        """Return the name of the stage of the texture stream's transfer of that number, starting at 1."""
        return f"read {number}"


def without_configuration(stages: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """Return the cycles by stage without the configuration of the LEE, and the cycles of that.

    The first pass of a node configures the LEE once for a session, so an account of single pictures has it apart.
    """
    rest = {stage: cycles for stage, cycles in stages.items() if stage != Stage.LEE.value}
    return rest, stages.get(Stage.LEE.value, 0)


BATCH_VALUES = BATCH_BYTES // FLOAT_BYTES
"""Floats of one transfer, 8."""


class Surface(Enum):
    """The three surfaces that are evaluated: the patch and its two surfaces of first differences."""

    POINT = "point"
    DU = "du"
    DV = "dv"

    def counts(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the control values along u and v of this surface of a net of ``rows`` x ``columns`` points."""
        match self:
            case Surface.POINT:
                return rows, columns
            case Surface.DU:
                return rows - 1, columns
            case Surface.DV:
                return rows, columns - 1

    def net(self, points: np.ndarray) -> np.ndarray:
        """Return the control values of this surface, formed in binary32 from binary32 points, as by the GPs."""
        match self:
            case Surface.POINT:
                return points
            case Surface.DU:
                return points[1:] - points[:-1]
            case Surface.DV:
                return points[:, 1:] - points[:, :-1]

    @property
    def bernstein(self) -> tuple[str, str]:
        """Names of the memory ranges with its Bernstein values in u and in v."""
        return (
            "bernstein_u_difference" if self is Surface.DU else "bernstein_u",
            "bernstein_v_difference" if self is Surface.DV else "bernstein_v",
        )


class SurfaceWork(NamedTuple):
    """One coordinate of one surface; its control values are numbers ``first`` .. of the stream, column by column."""

    surface: Surface
    axis: int
    rows: int
    columns: int
    first: int

    @property
    def result(self) -> str:
        """Name of the memory range that receives the value."""
        return f"{AXES[self.axis]}_{self.surface.value}"


def surface_order(rows: int, columns: int, *, reordered: bool = False) -> Iterator[SurfaceWork]:
    """Yield the nine evaluations of a net of ``rows`` x ``columns`` points in the order of table 11.

    With ``reordered`` all derivatives in u come before those in v, so that a surface's Bernstein values are needed only
    once (section 4.2, for nets whose values do not all fit at a time).
    """
    order = [(Surface.POINT, axis) for axis in range(3)]
    if reordered:
        order += [(surface, axis) for surface in (Surface.DU, Surface.DV) for axis in range(3)]
    else:
        order += [(surface, axis) for axis in range(3) for surface in (Surface.DU, Surface.DV)]
    first = 0
    for surface, axis in order:
        counts = surface.counts(rows, columns)
        yield SurfaceWork(surface, axis, *counts, first)
        first += counts[0] * counts[1]


def value_count(rows: int, columns: int) -> int:
    """Return the control values of one patch: 120 (480 bytes) for a bicubic one."""
    return sum(work.rows * work.columns for work in surface_order(rows, columns))


def batch_count(rows: int, columns: int, batch_values: int = BATCH_VALUES) -> int:
    """Return the batches of one patch: 15 for a bicubic one with values of 4 bytes, 8 in a batch."""
    return -(-value_count(rows, columns) // batch_values)


def point_batches(
    rows: int, columns: int, *, reordered: bool = False, batch_values: int = BATCH_VALUES
) -> tuple[int, ...]:
    """Return the batch, starting at 0, whose arithmetic completes each coordinate of the points."""
    points = [work for work in surface_order(rows, columns, reordered=reordered) if work.surface is Surface.POINT]
    return tuple((work.first + work.rows * work.columns - 1) // batch_values for work in points)


def value_stream(points: np.ndarray, *, reordered: bool = False) -> np.ndarray:
    """Return the control values of a net in the order of use, in the precision of ``points``: [value_count].

    A first difference of binary32 points is rounded to nearest even; one that overflows becomes an infinity.
    """
    return surface_values(points)[_stream_order(*points.shape[:2], reordered)]


def surface_values(points: np.ndarray) -> np.ndarray:
    """Return the control values of all surfaces of a net, one surface after the other, and a zero after the last."""
    with np.errstate(over="ignore"):
        nets = [surface.net(points).reshape(-1) for surface in Surface]
    return np.concatenate([*nets, np.zeros(1, points.dtype)])


def surface_places(rows: int, columns: int) -> dict[Surface, np.ndarray]:
    """Return the places of each surface's control values in `surface_values`, in the shape of its net."""
    places, size = {}, 0
    for surface in Surface:
        shape = (*surface.counts(rows, columns), len(AXES))
        places[surface] = size + np.arange(math.prod(shape)).reshape(shape)
        size += math.prod(shape)
    return places


@cache
def _stream_order(rows: int, columns: int, reordered: bool) -> np.ndarray:
    """Return the order of use as places in `surface_values`."""
    places = surface_places(rows, columns)
    order = surface_order(rows, columns, reordered=reordered)
    return np.concatenate([places[work.surface][..., work.axis].T.reshape(-1) for work in order])


# Floats with longer mantissas (thesis appendix A).
#
# A float of n bytes of mantissa has n + 1 bytes; 3 are binary32 and 4 to 6 have the same sign and exponent, so that a
# short number becomes a long one by zeros at its low end. There are two ways. *Long throughout*: the database, the
# Bernstein values and all arithmetic; a batch of 32 bytes brings fewer values, so there are more transfers.
# *Hybrid*: the database stays binary32 and each value is widened when it is used. Either way points and normals are
# rounded to binary32 at the end, so that the same number of bytes go to the GPs.


MANTISSAS = (3, 4, 5, 6)
"""Bytes of mantissa of table 13; 3 is binary32."""


class StoredFormat(NamedTuple):
    """Format of stored control values: bytes of each, packed from the first byte of a batch or of a PE's share."""

    value_bytes: int = FLOAT_BYTES

    def fitting(self, size: int) -> int:
        """Return the number of whole values in this many bytes."""
        return size // self.value_bytes

    @property
    def batch_values(self) -> int:
        """Values of a batch: 8 of 4 bytes, 6, 5 or 4 of 5, 6 or 7."""
        return self.fitting(BATCH_BYTES)

    def points(self, patch: Patch) -> np.ndarray:
        """Return the control points of a patch rounded to the format: float32, or float64 for longer values."""
        if self.value_bytes == FLOAT_BYTES:
            return patch.points32
        fraction, exponent = np.frexp(patch.points.astype(np.float64))
        bits = 8 * (self.value_bytes - 1)
        return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)

    def patterns(self, values: np.ndarray) -> np.ndarray:
        """Return the patterns of values in the precision of `points`, rounded once more: uint64 of the same shape."""
        if self.value_bytes == FLOAT_BYTES:
            return np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
        return float_patterns(values, self.value_bytes - 1)

    def packed(self, patterns: np.ndarray, run_bytes: int = BATCH_BYTES) -> np.ndarray:
        """Return patterns uint64[n] as words, uint32: run after run of this many bytes, with whole values in each."""
        each = self.fitting(run_bytes)
        if self.value_bytes == FLOAT_BYTES:  # a value is a word
            words = np.zeros(-(-len(patterns) // each) * each, np.uint32)
            words[: len(patterns)] = patterns
            return words
        data = patterns.astype("<u8").view(np.uint8).reshape(-1, 8)[:, : self.value_bytes]
        data = np.pad(data, ((0, -len(data) % each), (0, 0))).reshape(-1, each * self.value_bytes)
        padded = np.pad(data, ((0, 0), (0, run_bytes - data.shape[1])))
        return np.ascontiguousarray(padded).reshape(-1).view("<u4").astype(np.uint32)


SINGLE = StoredFormat()
"""binary32: the thesis's database."""


def stored_patterns(patch: Patch, stored: StoredFormat, *, reordered: bool) -> np.ndarray:
    """Return the control values of a patch in the order of use, as patterns of a format: uint64[value_count].

    First differences are formed from rounded points, in binary32 or in float64, and rounded once more.
    """
    return stored.patterns(value_stream(stored.points(patch), reordered=reordered))


def float_patterns(values: np.ndarray, mantissa_bytes: int) -> np.ndarray:
    """Return the patterns nearest to float64 values, ties to even: uint64.

    A magnitude below 2^-126 becomes zero, one beyond the range infinity; the sign stays.
    """
    bits = 8 * mantissa_bytes
    fraction, exponent = np.frexp(np.abs(values))
    significand = np.rint(np.ldexp(fraction, bits)).astype(np.uint64)
    carried = significand >> np.uint64(bits)
    biased = exponent + 126 + carried.astype(np.int64)
    # A significand rounded up to the next power of two has only zeros below its leading bit.
    low = np.where(carried == 1, np.uint64(0), significand & np.uint64((1 << bits - 1) - 1))
    pattern = low | biased.clip(0, 255).astype(np.uint64) << np.uint64(bits - 1)
    pattern = np.where(biased > 254, np.uint64(255 << bits - 1), pattern)
    pattern = np.where((biased < 1) | (significand == 0), np.uint64(0), pattern)
    return pattern | np.signbit(values).astype(np.uint64) << np.uint64(bits + 7)


# The order of the control values in the schedule of shared columns: each of four PEs gets those of its columns.
#
# For each evaluation and each group of four columns, PE y = 0 .. 3 of a block takes column y of the group, row by row.
# One transfer brings 16 bytes to each of the four, with as many whole values as fit: 4 of binary32, 3, 2 and 2 of 5, 6
# and 7 bytes.


SHARE_BYTES = 16
"""Bytes that one transfer brings to a PE."""

_BATCHES = 2
"""Units of 32 bytes in texture memory that one transfer reads."""


def extra_memory(value_bytes: int) -> tuple[tuple[str, int], ...]:
    """Return the PE memory beyond table 9: the inner sums of four columns."""
    return (("columns", BLOCK_SIDE * value_bytes),)


def groups_of(columns: int) -> int:
    """Return the number of groups of four for this many columns."""
    return -(-columns // BLOCK_SIDE)


def reads_of(batches: int) -> int:
    """Return the transfers of a pass whose patches take this many units of 32 bytes."""
    return batches // _BATCHES


def _ends(memory: MemoryMap) -> list[int]:
    """Return the number of values that each PE has used when each surface is complete."""
    surfaces = surface_order(memory.rows, memory.columns, reordered=memory.reordered)
    return list(accumulate(work.rows * groups_of(work.columns) for work in surfaces))


def share_values(memory: MemoryMap) -> int:
    """Return the values that each PE gets: 33 for a bicubic net."""
    return _ends(memory)[-1]


def point_reads(memory: MemoryMap, stored: StoredFormat = SINGLE) -> tuple[int, ...]:
    """Return the transfer, starting at 0, whose arithmetic completes each coordinate of the points."""
    return tuple((end - 1) // stored.fitting(SHARE_BYTES) for end in _ends(memory)[: len(AXES)])


def column_values(patch: Patch, stored: StoredFormat = SINGLE, *, reordered: bool = False) -> np.ndarray:
    """Return the words of a patch in the order of this schedule: uint32[16 n], 16 for each transfer.

    The share of PE y = 0 comes first; columns beyond the net are zeros.
    """
    order = _column_order(*patch.counts, stored.fitting(SHARE_BYTES), reordered)
    return stored.packed(stored.patterns(surface_values(stored.points(patch))[order]), SHARE_BYTES)


@cache
def _column_order(rows: int, columns: int, each: int, reordered: bool) -> np.ndarray:
    """Return this order as places in `surface_values`; its last place is a zero. A share has ``each`` whole values."""
    places = surface_places(rows, columns)
    zero = 1 + max(int(of.max()) for of in places.values())
    pieces = []
    for work in surface_order(rows, columns, reordered=reordered):
        net = places[work.surface][..., work.axis]
        padded = np.pad(net, ((0, 0), (0, -work.columns % BLOCK_SIDE)), constant_values=zero)
        pieces += np.split(padded, groups_of(work.columns), axis=1)
    stream = np.concatenate(pieces)
    stream = np.pad(stream, ((0, -len(stream) % each), (0, 0)), constant_values=zero)
    return stream.reshape(-1, each, BLOCK_SIDE).swapaxes(1, 2).reshape(-1)
