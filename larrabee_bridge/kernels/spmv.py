"""Sparse matrix times vector with the gather instruction and with scalar loads in its place: results and cycles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.study import THREADS, CoresRun, run_kernel, shared_out
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, VectorProgram, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory

# Sparse matrices of known patterns, by rows, in slices of sixteen rows.


class Matrix(NamedTuple):
    """A sparse matrix by rows: entries of row r are ``starts[r]`` to ``starts[r + 1]``, columns rising."""

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


def five_point(width: int, height: int) -> Matrix:
    """Return the five-point stencil of a grid, points row by row: 4 on the diagonal, -1 for neighbours on the grid."""
    y, x = np.divmod(np.arange(width * height)[:, None], width)
    dx, dy = np.array([0, -1, 0, 1, 0]), np.array([-1, 0, 0, 0, 1])
    there = (x + dx >= 0) & (x + dx < width) & (y + dy >= 0) & (y + dy < height)
    column = (y + dy) * width + x + dx
    value = np.broadcast_to(np.array([-1, -1, 4, -1, -1], np.float32), column.shape)
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return Matrix(width * height, starts, column[there], value[there])


def banded(rows: int, reach: int, entries: int) -> Matrix:
    """Return a matrix whose rows have ``entries`` entries each, anywhere at most ``reach`` from the diagonal.

    It has 2 * reach columns more than rows, so that no row is at a border; the diagonal begins at column ``reach``.
    """
    rng = np.random.default_rng(1)
    apart = np.stack([rng.choice(2 * reach + 1, entries, replace=False) for _ in range(rows)])
    column = np.sort(apart, axis=1) + np.arange(rows)[:, None]
    return _regular(rows + 2 * reach, column, rng)


def uniform(rows: int, columns: int, entries: int) -> Matrix:
    """Return a matrix whose rows have ``entries`` entries each, each in any column, also one that is taken."""
    rng = np.random.default_rng(1)
    column = np.sort(rng.integers(0, columns, (rows, entries)), axis=1)
    return _regular(columns, column, rng)


def _regular(columns: int, column: NDArray[np.int64], rng: np.random.Generator) -> Matrix:
    rows, entries = column.shape
    value = rng.normal(size=rows * entries).astype(np.float32)
    return Matrix(columns, np.arange(rows + 1) * entries, column.reshape(-1), value)


def lines_of_uniform(lines: int, lanes: int = LANES) -> float:
    """Return the mean number of lines touched by n lanes that each take one of L at random: L(1-(1-1/L)^n)."""
    return lines * (1 - (1 - 1 / lines) ** lanes)


_STEP = 2 * LINE_BYTES
"""Bytes of sixteen offsets and sixteen values."""


class Multiplied(NamedTuple):
    """A product y, float32[rows], and the run."""

    y: NDArray[np.float32]
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
) -> Multiplied:
    """Multiply a matrix with x, float32[columns], on the threads of a core, slices of sixteen rows in equal shares.

    ``hardware`` is False for scalar loads in place of the gather. Each step is one fused multiply-add in float32; lanes
    whose row has ended multiply an element of x, which is finite, by 0.
    """
    elements = np.asarray(x, np.float32)
    steps, column, value = matrix.slices()
    shares = shared_out(len(steps), THREADS)
    threads = len(shares)
    room = _Room([])
    entries = room.put(_interleaved(column, value))
    place = room.put(elements)
    counts = room.put(steps.astype(np.uint32))
    results = room.put(np.zeros((len(steps), LANES), np.float32))
    own = room.put(np.zeros((threads, LINE_BYTES), np.uint8))
    before = np.concatenate([[0], np.cumsum(steps)])
    first = np.array([share[0] for share in shares])
    unit = _unit(shipped("spmv.mc", HARDWARE=int(hardware), X=place), threads, room, own)
    unit.set_scalar(1, entries + _STEP * before[first])
    unit.set_scalar(3, results + LINE_BYTES * first)
    unit.set_scalar(4, counts + 4 * first)
    unit.set_scalar(5, np.array([len(share) for share in shares]))
    timing = run_kernel(unit, gathers=True)
    y = unit.memory.data.view(np.float32)[0, results // 4 :][: matrix.rows]
    return Multiplied(y.copy(), timing)


def _interleaved(column: NDArray[np.int64], value: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Return offsets into x and values as the programs read them: [step, 2, 16]."""
    return np.stack([(4 * column).astype(np.uint32), value.view(np.uint32)], axis=1)


def _unit(program: VectorProgram, threads: int, room: _Room, own: int) -> VectorUnit:
    unit = VectorUnit(program, threads, room.memory())
    unit.set_scalar(6, own + LINE_BYTES * np.arange(threads))
    return unit
