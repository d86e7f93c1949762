"""The order of work: which control value is used when, and which batch of 32 bytes brings it.

Thesis 4.1.3 and table 11: first the point, coordinate by coordinate, then both derivatives, coordinate by coordinate.
A surface is evaluated as the thesis writes it, left multiplication of each column first, then the right one:

    P(u, v) = sum over j of B_j(v) * (sum over i of B_i(u) * b_ij)

so the values are wanted column by column, and no more than one batch has to be in PE memory. For a bicubic patch the
120 values make the 15 transfers of table 11. For other nets the stream runs on without a gap, which the thesis does
not say (invented; it saves the short last batch of each surface).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

import numpy as np

from tessellation.plan.memory_map import AXES, BATCH_BYTES, FLOAT_BYTES, fitting_map
from tessellation.surface.patch import Patch

__all__ = [
    "BATCH_VALUES",
    "Surface",
    "SurfaceWork",
    "batch_count",
    "control_values",
    "point_batches",
    "surface_order",
    "surface_places",
    "surface_values",
    "value_count",
    "value_stream",
]

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
        """Return the control values of this surface, formed in binary32 from binary32 points, as the GPs do it."""
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


@dataclass(frozen=True, slots=True)
class SurfaceWork:
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

    Where ``reordered``, all derivatives in u come before those in v, so that a surface's Bernstein values are wanted
    only once (section 4.2, for nets whose values do not fit all at a time).
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
    """Return the batches of one patch: 15 for a bicubic one whose values have 4 bytes, 8 in a batch."""
    return -(-value_count(rows, columns) // batch_values)


def point_batches(
    rows: int, columns: int, *, reordered: bool = False, batch_values: int = BATCH_VALUES
) -> tuple[int, ...]:
    """Return the batch, from 0 on, with whose arithmetic each coordinate of the points is complete."""
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
    """Return for each surface where its control values are in `surface_values`, in the shape of its net."""
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


def control_values(patch: Patch, *, reordered: bool | None = None) -> np.ndarray:
    """Return the stream of control values of a patch as binary32 patterns: uint32[value_count].

    Without ``reordered`` the order is that of the layout for binary32.
    """
    if reordered is None:
        reordered = fitting_map(*patch.counts).reordered
    return value_stream(patch.points32, reordered=reordered).view(np.uint32)
