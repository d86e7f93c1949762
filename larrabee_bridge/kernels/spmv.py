"""Sparse matrix times vector with the gather instruction and with scalar loads in its place: results and cycles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.matrices import Matrix
from larrabee_bridge.kernels.timing import THREADS, Timed, shared_out, timed
from larrabee_bridge.vpu.core import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.unit.program import LINE_BYTES, VectorProgram, shipped
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

__all__ = ["Multiplied", "Products", "multiply", "products"]

_STEP = 2 * LINE_BYTES
"""Bytes of sixteen offsets and sixteen values."""


@dataclass(frozen=True, slots=True, eq=False)
class Multiplied:
    """A product y, float32[rows], and what it took."""

    y: NDArray[np.float32]
    timing: Timed
    bytes: int
    """Memory that matrix, x and y take; all of it is taken to be in the L1 cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """The products of single entries, float32[entries], and what they took."""

    values: NDArray[np.float32]
    timing: Timed


@dataclass
class _Room:
    """Memory that is handed out line by line."""

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
        """Return a memory that holds it all, and nothing else."""
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

    ``hardware`` is False for scalar loads in place of the gather. Each step is one fused multiply-add in float32.
    Raises InputError for a matrix without rows, an x of another length or with a value that is not finite (lanes whose
    row has ended multiply it by 0), and less than one thread.
    """
    elements = _elements(matrix, x)
    if not np.isfinite(elements).all():
        raise InputError(Fault("an element of x that is not finite", hint="rows that end early multiply it by 0"))
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
    timing = timed(unit, config)
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
    """Multiply each entry with its element of x, float32[columns], sixteen entries at a time in the order of rows.

    Raises InputError for a matrix without entries, an x of another length, and less than one thread.
    """
    elements = _elements(matrix, x)
    if not matrix.entries:
        raise InputError(Fault(f"{matrix.name}: no entries"))
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
    timing = timed(unit, config)
    found = unit.memory.data.view(np.float32)[0, results // 4 :][: matrix.entries]
    return Products(found.copy(), timing)


def _elements(matrix: Matrix, x: NDArray[np.floating]) -> NDArray[np.float32]:
    elements = np.asarray(x, np.float32)
    if not matrix.rows or not matrix.columns:
        raise InputError(Fault(f"{matrix.name}: {matrix.rows} rows and {matrix.columns} columns", hint="1 or more"))
    if elements.shape != (matrix.columns,):
        raise InputError(Fault(f"an x of shape {elements.shape}", hint=f"{matrix.columns} elements, one a column"))
    return elements


def _interleaved(column: NDArray[np.int64], value: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Return offsets into x and values as the programs read them: [step, 2, 16]."""
    return np.stack([(4 * column).astype(np.uint32), value.view(np.uint32)], axis=1)


def _unit(program: VectorProgram, threads: int, room: _Room, own: int) -> VectorUnit:
    unit = VectorUnit(program, threads, room.memory())
    unit.set_scalar(6, own + LINE_BYTES * np.arange(threads))
    return unit
