"""Sparse matrix times vector with the gather instruction and with scalar loads in its place: results and cycles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.study import THREADS, CoresRun, run_kernel, shared_out
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, VectorProgram, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory

# Sparse matrices of known patterns, by rows, and the two orders in which a vector unit takes their entries.


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """A sparse matrix by rows: entries of row r are ``starts[r]`` to ``starts[r + 1]``, columns rising."""

    name: str
    columns: int
    starts: NDArray[np.int64]
    column: NDArray[np.int64]
    value: NDArray[np.float32]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.starts) - 1

    @property
    def entries(self) -> int:
        """Number of entries."""
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

    It has 2 * reach columns more than rows, so that no row is at a border; the diagonal begins at column ``reach``.
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
    """Return the mean number of lines touched by n lanes that each take one of L at random: L(1-(1-1/L)^n)."""
    return lines * (1 - (1 - 1 / lines) ** lanes)


_STEP = 2 * LINE_BYTES
"""Bytes of sixteen offsets and sixteen values."""


@dataclass(frozen=True, slots=True, eq=False)
class Multiplied:
    """A product y, float32[rows], and the run."""

    y: NDArray[np.float32]
    timing: CoresRun
    bytes: int
    """Memory that matrix, x and y take; all of it is taken to be in the L1 cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """The products of single entries, float32[entries], and the run."""

    values: NDArray[np.float32]
    timing: CoresRun


@dataclass
class _Room:
    """Memory allocated line by line."""

    data: list[NDArray[np.uint8]]
    at: int = 0

    def put(self, values: NDArray[np.generic]) -> int:
        """Lay an array down at the next line; return where."""
        start, raw = self.at, np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        raw = np.pad(raw, (0, -len(raw) % LINE_BYTES))
        self.data.append(raw)
        self.at += len(raw)
        return start

    def memory(self) -> ByteMemory:
        """Return a memory with what was put into it."""
        memory = ByteMemory(max(self.at, LINE_BYTES))
        memory.data[0, : self.at] = np.concatenate(self.data)
        return memory


def multiply(
    matrix: Matrix,
    x: NDArray[np.floating],
    *,
    hardware: bool = True,
    threads: int = THREADS,
    config: CoreConfig | None = None,
) -> Multiplied:
    """Multiply a matrix with x, float32[columns], on the threads of a core, slices of sixteen rows in equal shares.

    ``hardware`` is False for scalar loads in place of the gather. Each step is one fused multiply-add in float32; lanes
    whose row has ended multiply an element of x, which is finite, by 0.
    """
    elements = np.asarray(x, np.float32)
    steps, column, value = matrix.slices()
    shares = shared_out(len(steps), threads)
    threads = len(shares)
    room = _Room([])
    entries = room.put(_interleaved(column, value))
    place = room.put(elements)
    counts = room.put(steps.astype(np.uint32))
    results = room.put(np.zeros((len(steps), LANES), np.float32))
    used = room.at
    own = room.put(np.zeros((threads, LINE_BYTES), np.uint8))
    before = np.concatenate([[0], np.cumsum(steps)])
    first = np.array([share[0] for share in shares])
    unit = _unit(shipped("spmv.mc", HARDWARE=int(hardware), X=place), threads, room, own)
    unit.set_scalar(1, entries + _STEP * before[first])
    unit.set_scalar(3, results + LINE_BYTES * first)
    unit.set_scalar(4, counts + 4 * first)
    unit.set_scalar(5, np.array([len(share) for share in shares]))
    timing = run_kernel(unit, config, gathers=True)
    y = unit.memory.data.view(np.float32)[0, results // 4 :][: matrix.rows]
    return Multiplied(y.copy(), timing, used)


def products(
    matrix: Matrix,
    x: NDArray[np.floating],
    *,
    hardware: bool = True,
    threads: int = THREADS,
    config: CoreConfig | None = None,
) -> Products:
    """Multiply each entry with its element of x, float32[columns], sixteen entries at a time in the order of rows."""
    elements = np.asarray(x, np.float32)
    column, value = matrix.by_rows()
    shares = shared_out(len(column), threads)
    threads = len(shares)
    room = _Room([])
    entries = room.put(_interleaved(column, value))
    place = room.put(elements)
    results = room.put(np.zeros((len(column), LANES), np.float32))
    own = room.put(np.zeros((threads, LINE_BYTES), np.uint8))
    first = np.array([share[0] for share in shares])
    unit = _unit(shipped("products.mc", HARDWARE=int(hardware), X=place), threads, room, own)
    unit.set_scalar(1, entries + _STEP * first)
    unit.set_scalar(3, results + LINE_BYTES * first)
    unit.set_scalar(4, np.array([len(share) for share in shares]))
    timing = run_kernel(unit, config, gathers=True)
    found = unit.memory.data.view(np.float32)[0, results // 4 :][: matrix.entries]
    return Products(found.copy(), timing)


def _interleaved(column: NDArray[np.int64], value: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Return offsets into x and values as the programs read them: [step, 2, 16]."""
    return np.stack([(4 * column).astype(np.uint32), value.view(np.uint32)], axis=1)


def _unit(program: VectorProgram, threads: int, room: _Room, own: int) -> VectorUnit:
    unit = VectorUnit(program, threads, room.memory())
    unit.set_scalar(6, own + LINE_BYTES * np.arange(threads))
    return unit
