"""Points and derivatives as sums in fixed point, columns shared: the pass of the schedule ``fixed-sums``.

The columns are shared as in `shared_columns.py`. What differs: control values come as integers of 40 bits with one
exponent a patch (`plan/fixed.py`), and weights are the integers s^d B_i(a / s), so that every sum is exact and needs no
alignment and no rounding. First differences are formed on the array, so that a PE gets 61 bytes and not 132. A number
becomes a float once, when it is complete. What is signed travels with an offset that a sum turns into a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from microcode import Builder, Imm, Mem, Register
from tessellation.microprogram.fixed.floats import emit_point_routine, emit_slope_routine
from tessellation.microprogram.fixed.integers import emit_constant_off, emit_product
from tessellation.microprogram.fixed.normals import emit_reciprocal_normals
from tessellation.microprogram.keeping import Chance, Keeping
from tessellation.microprogram.kernels import Selector, emit_exchange, emit_normals
from tessellation.microprogram.libraries import FloatLibrary
from tessellation.plan.columns import SHARE_BYTES
from tessellation.plan.fixed import COUNTS, VALUE_BYTES, FixedFormat
from tessellation.plan.mapping import BLOCK_SIDE
from tessellation.plan.memory_map import AXES, MemoryMap
from tessellation.plan.stages import Stage

__all__ = ["emit_fixed_sums"]

R, S, M = Register.R, Register.S, Register.M

_SLOTS = (0, 2, 1, 3)
"""Where the exchange leaves the sums of each of four columns."""


@dataclass(frozen=True, slots=True)
class _Sums:
    """The routines of a pass: inner sums of a column, and outer sums of all."""

    memory: MemoryMap
    form: FixedFormat

    def _place(self, name: str) -> Mem:
        return Mem(self.memory[name].start)

    def emit_routines(self, builder: Builder) -> None:
        """Emit ``inner`` (values of a column of a coordinate) and ``outer``; all PEs are enabled then."""
        with builder.routine("inner", ("values",)) as (values,):
            self._emit_inner(builder, values)
        with builder.routine("outer", ("along_u", "along_v")) as (along_u, along_v):
            self._emit_outer(builder, along_u, along_v)
        scratch, form = self._place("scratch"), self.form
        emit_slope_routine(builder, form.outer_bytes, scratch[8])
        divisor, bits = form.steps**6, 8 * VALUE_BYTES - 1
        emit_point_routine(builder, form.outer_bytes, bits, divisor, self._place("control_points"), scratch, scratch[8])

    def _emit_inner(self, builder: Builder, values: Mem) -> None:
        """Emit the sums of a column for the point and for the derivative along u, each in the first of four slots."""
        form, total = self.form, self._place("columns")
        size, each = form.inner_bytes, form.weight_bytes
        weights, slopes = self._place("bernstein_u"), self._place("bernstein_u_difference")
        for i in range(COUNTS[0]):
            value, weight = values[i * VALUE_BYTES], weights[i * each]
            emit_product(builder, total, size, value, VALUE_BYTES, weight, each, first=i == 0)
        slope, step = total[BLOCK_SIDE * size], self._place("difference")
        for i in range(COUNTS[0] - 1):
            _emit_difference(builder, step, values[(i + 1) * VALUE_BYTES], values[i * VALUE_BYTES], VALUE_BYTES)
            for at in range(VALUE_BYTES, size):
                builder.emit("LD", R, Imm(0))
                builder.emit("SBC", R, Imm(0))
                builder.emit("ST", step[at], R)
            emit_product(builder, slope, size, step, size, slopes[i * each], each, first=i == 0)
        _emit_offset(builder, slope, size)

    def _emit_outer(self, builder: Builder, along_u: Mem, along_v: Mem) -> None:
        """Emit point and derivatives: sums over the columns, as two's complement numbers without their offsets."""
        form = self.form
        inner, outer, each, steps = form.inner_bytes, form.outer_bytes, form.weight_bytes, form.steps
        point = self._place("sums")
        weights, slopes = self._place("bernstein_v"), self._place("bernstein_v_difference")
        columns = [self._place("columns")[slot * inner] for slot in _SLOTS]
        for j, column in enumerate(columns):
            weight = weights[j * each]
            emit_product(builder, point, outer, column, inner, weight, each, first=j == 0)
            emit_product(builder, along_u, outer, column[BLOCK_SIDE * inner], inner, weight, each, first=j == 0)
        step = self._place("difference")
        for j in range(COUNTS[1] - 1):
            _emit_difference(builder, step, columns[j + 1], columns[j], inner)
            _emit_offset(builder, step, inner)
            emit_product(builder, along_v, outer, step, inner, slopes[j * each], each, first=j == 0)
        emit_constant_off(builder, point, outer, steps**6 << 8 * VALUE_BYTES - 1)
        emit_constant_off(builder, along_u, outer, steps**3 << 8 * inner - 1)
        emit_constant_off(builder, along_v, outer, steps**2 << 8 * inner - 1)


def _emit_difference(builder: Builder, result: Mem, a: Mem, b: Mem, size: int) -> None:
    """Emit result = a - b; C is 0 where it is negative: 3 cycles a byte."""
    for at in range(size):
        builder.emit("LD", R, a[at])
        builder.emit("SBC" if at else "SUB", R, b[at])
        builder.emit("ST", result[at], R)


def _emit_offset(builder: Builder, number: Mem, size: int) -> None:
    """Emit the addition of half the range to a two's complement number, which makes it unsigned: 3 cycles."""
    builder.emit("LD", R, number[size - 1])
    builder.emit("XOR", R, Imm(0x80))
    builder.emit("ST", number[size - 1], R)


def _emit_weights(builder: Builder, memory: MemoryMap, form: FixedFormat, select: Selector) -> None:
    """Emit the load of integer Bernstein values, for each direction and column or row, 1 + their bytes each."""
    builder.mark(Stage.BERNSTEIN.value)
    for direction, name in enumerate(("bernstein_u", "bernstein_v")):
        degree = COUNTS[direction] - 1
        tables = (form.weights(degree), form.weights(degree - 1))
        for index in range(form.samples):
            select(direction, form.samples, index)
            at = memory[name].start
            for value in (value for table in tables for value in table[index]):
                builder.emit("EMC_TreeIntoMem_Li", Mem(at), form.weight_bytes, 0, 0, value)
                at += form.weight_bytes


class ShareWay(Protocol):
    """Brings 16 bytes after the other to each PE, into ``control_points``."""

    def emit_start(self, builder: Builder) -> None:
        """Emit what begins the way of the first."""

    def emit_next(self, builder: Builder, number: int) -> None:
        """Emit the wait for a transfer and what takes it to its place; all PEs are enabled after."""


def emit_fixed_sums(
    builder: Builder,
    memory: MemoryMap,
    samples: int,
    library: FloatLibrary | None,
    select: Selector,
    transfers: ShareWay,
    keeping: Keeping,
) -> None:
    """Emit a pass of bicubic patches at k samples a side past its addresses.

    With a library its floats make the normals, without one a reciprocal root in fixed point does.
    """
    form = FixedFormat(samples)
    place = memory["control_points"].start
    transfers.emit_start(builder)
    _emit_weights(builder, memory, form, select)
    sums = _Sums(memory, form)
    sums.emit_routines(builder)
    arrived = 0
    for index, axis in enumerate(AXES):
        begin = 1 + index * COUNTS[0] * VALUE_BYTES
        while arrived * SHARE_BYTES < begin + COUNTS[0] * VALUE_BYTES:
            transfers.emit_next(builder, arrived)
            arrived += 1
        builder.mark(Stage.INNER.value)
        builder.call("inner", Mem(place + begin))
        for half in range(2):
            start = memory["columns"].start + half * BLOCK_SIDE * form.inner_bytes
            emit_exchange(builder, start, form.inner_bytes, BLOCK_SIDE)
        if axis == AXES[-1]:
            keeping.emit(builder, Chance.AMIDST, Stage.EXCHANGE)
        builder.mark(Stage.OUTER.value)
        slopes = [Mem(memory["slopes"].start + at * form.outer_bytes) for at in (index, 3 + index)]
        builder.call("outer", *slopes)
        builder.mark(Stage.FLOATS.value)
        builder.call("place", Mem(memory[f"{axis}_point"].start), Mem(memory["sums"].start))
        if library is not None:
            for name, slope in zip(("du", "dv"), slopes, strict=True):
                builder.call("slope", Mem(memory[f"{axis}_{name}"].start), slope)
    if library is None:
        emit_reciprocal_normals(builder, memory, form.outer_bytes, keeping)
    else:
        emit_normals(builder, memory, library, keeping)
