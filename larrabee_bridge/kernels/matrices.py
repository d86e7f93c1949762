"""Sparse matrices of known patterns, by rows, and the two orders in which a vector unit takes their entries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.isa import LANES
from pixelflow.simd.errors import Fault, InputError

__all__ = ["Matrix", "banded", "five_point", "lines_of_uniform", "uniform"]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """A sparse matrix by rows: entries of row r are ``starts[r]`` to ``starts[r + 1]``, columns rising.

    Raises InputError for rows that do not share out the entries, and for columns that are not there.
    """

    name: str
    columns: int
    starts: NDArray[np.int64]
    column: NDArray[np.int64]
    value: NDArray[np.float32]

    def __post_init__(self) -> None:
        ends = (0, len(self.column))
        if not len(self.starts) or (self.starts[0], self.starts[-1]) != ends or (np.diff(self.starts) < 0).any():
            raise InputError(Fault(f"{self.name}: rows that do not begin at entry 0, rise, and end at {ends[1]}"))
        if len(self.value) != ends[1]:
            raise InputError(Fault(f"{self.name}: {len(self.value)} values in {ends[1]} columns"))
        if ends[1] and not 0 <= self.column.min() <= self.column.max() < self.columns:
            given = f"{self.name}: entries in columns {self.column.min()} to {self.column.max()}"
            raise InputError(Fault(given, hint=f"there are {self.columns}, numbered from 0"))

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.starts) - 1

    @property
    def entries(self) -> int:
        """How many entries."""
        return len(self.column)

    def times(self, x: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the product with a vector in float64."""
        row = np.repeat(np.arange(self.rows), np.diff(self.starts).astype(np.intp))
        products = self.value.astype(np.float64) * x.astype(np.float64)[self.column]
        return np.asarray(np.bincount(row, products, self.rows), np.float64)

    def slices(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Return the steps of each slice of sixteen rows, and columns and values of all steps, [step, 16].

        Rows that are shorter than the longest of their slice repeat their last column, with the value 0; rows that
        are missing in the last slice, or empty, have column 0. Each slice has one step at least.
        """
        length = np.zeros(-(-self.rows // LANES) * LANES, np.int64)
        length[: self.rows] = np.diff(self.starts)
        by_slice = length.reshape(-1, LANES)
        steps = np.maximum(by_slice.max(axis=1), 1)
        first = np.zeros(len(length), np.int64)
        first[: self.rows] = self.starts[:-1]
        column, value = (np.zeros((steps.sum(), LANES), kind) for kind in (np.int64, np.float32))
        if not self.entries:
            return steps, column, value
        at = 0
        for number, count in enumerate(steps.tolist()):
            lane = slice(number * LANES, (number + 1) * LANES)
            j = np.arange(count)[:, None]
            there = j < length[lane]
            place = np.minimum(first[lane] + np.minimum(j, np.maximum(length[lane] - 1, 0)), self.entries - 1)
            column[at : at + count] = np.where(length[lane] > 0, self.column[place], 0)
            value[at : at + count] = np.where(there, self.value[place], 0)
            at += count
        return steps, column, value

    def by_rows(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return columns and values in the order of the rows, [n, 16]; the last column is repeated with the value 0."""
        more = -self.entries % LANES
        column = np.pad(self.column, (0, more), mode="edge").reshape(-1, LANES)
        return column, np.pad(self.value, (0, more)).reshape(-1, LANES)


def five_point(width: int, height: int) -> Matrix:
    """Return the five-point stencil of a grid, points row by row: 4 on the diagonal, -1 for neighbours on the grid."""
    y, x = np.divmod(np.arange(width * height)[:, None], width)
    dx, dy = np.array([0, -1, 0, 1, 0]), np.array([-1, 0, 0, 0, 1])
    there = (x + dx >= 0) & (x + dx < width) & (y + dy >= 0) & (y + dy < height)
    column = (y + dy) * width + x + dx
    value = np.broadcast_to(np.array([-1, -1, 4, -1, -1], np.float32), column.shape)
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return Matrix(f"five-point stencil, {width} x {height}", width * height, starts, column[there], value[there])


def banded(rows: int, reach: int, entries: int, seed: int = 1) -> Matrix:
    """Return a matrix whose rows have ``entries`` entries each, anywhere at most ``reach`` from the diagonal.

    It has 2 * reach columns more than rows, so that no row lies at a border; the diagonal begins at column ``reach``.
    """
    rng = np.random.default_rng(seed)
    apart = np.stack([rng.choice(2 * reach + 1, entries, replace=False) for _ in range(rows)])
    column = np.sort(apart, axis=1) + np.arange(rows)[:, None]
    return _regular(f"band of {reach} on either side", rows + 2 * reach, column, rng)


def uniform(rows: int, columns: int, entries: int, seed: int = 1) -> Matrix:
    """Return a matrix whose rows have ``entries`` entries each, each in any column, also one that is taken."""
    rng = np.random.default_rng(seed)
    column = np.sort(rng.integers(0, columns, (rows, entries)), axis=1)
    return _regular(f"uniform over {columns:,} columns", columns, column, rng)


def _regular(name: str, columns: int, column: NDArray[np.int64], rng: np.random.Generator) -> Matrix:
    rows, entries = column.shape
    value = rng.normal(size=rows * entries).astype(np.float32)
    return Matrix(name, columns, np.arange(rows + 1) * entries, column.reshape(-1), value)


def lines_of_uniform(lines: int, lanes: int = LANES) -> float:
    """Return how many of L lines n lanes touch in the mean that each take any of them: L(1-(1-1/L)^n)."""
    return lines * (1 - (1 - 1 / lines) ** lanes)
