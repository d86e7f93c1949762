"""The microcode of a tessellation, written with the builder: one function per stage.

Docstrings state the cycles of the emitted instructions, so that a reader can check them; no code reads them. Float
arithmetic is CALLs of the library's routines, which enable and disable PEs by themselves and leave the caller's enable
as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from microcode import Imm, Mem, Register
from pixelflow.config import ArrayConfig
from pixelflow.node import figure9
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted
from tessellation.microprogram.method import FloatLibrary
from tessellation.microprogram.ports import Chance, ControlPointSource, Keeping, enable_quadrant, enable_square
from tessellation.plan.mapping import Pass, Placement, size_code
from tessellation.plan.memory_map import AXES, FLOAT_BYTES, MemoryMap
from tessellation.plan.schedule import SINGLE, Stage, StoredFormat, Surface, SurfaceWork, surface_order
from tessellation.surface.patch import bernstein_bits
from tessellation.surface.reference import OUTSIDE
from tessellation.surface.trim_curves import RayCrossing, TrimPolygon, crossings

if TYPE_CHECKING:  # a kept program is found without the assembler
    from microcode import Builder

_AMIDST = 5
"""Values of the last batch, of eight, whose arithmetic ends after two thirds of the time past its read."""

_LEE_MODULES = 8
"""Modules that 7-bit yp registers can distinguish, 16 rows each."""

_LEE_EMCS = 8
"""EMCs of a module that EMC_SetLEE can name."""


def emit_lee(builder: Builder, array: ArrayConfig) -> None:
    """Emit the configuration of every EMC's LEE (figure 9): one cycle a register, once a session.

    Raises InputError for more modules than the registers can distinguish, or more EMCs than the instruction can name.
    """
    if array.modules > _LEE_MODULES:
        raise InputError(Fault(f"figure 9 gives {_LEE_MODULES} modules a place, not {array.modules}"))
    if array.emcs_per_module > _LEE_EMCS:
        reason = f"EMC_SetLEE, with which a tessellation begins, names {_LEE_EMCS} EMCs of a module"
        found = f"array.emcs_per_module: {counted(array.emcs_per_module, 'EMC')} cannot be set up"
        raise InputError(Fault(found, hint=f"allowed: 1 to {_LEE_EMCS} ({reason})"))
    builder.mark(Stage.LEE.value)
    values = figure9(array)
    for module in range(array.modules):
        for emc in range(array.emcs_per_module):
            for register, name in enumerate(values):
                entries = values[name][module, emc].tolist()
                for index, value in enumerate(entries[: array.panels_per_emc] if name == "yp" else entries):
                    builder.emit("EMC_SetLEE", module, emc, register, index, value)


def emit_addresses(
    builder: Builder, memory: MemoryMap, work: Pass, base: Mapping[int, int], place: Mem, *, exclusive: bool = False
) -> None:
    """Emit the load of base addresses and size marks: 1 + 2 + 2 + 4 + 3 = 12 cycles a patch (table 3).

    ``base`` is the begin of each patch's data in each SDRAM; its 24 bits go to ``place``. In place of the cycles of a
    4-byte address and a size mark, two mark bytes are loaded for the Bernstein loads (invented): the size code plus the
    sample's column, and plus its row. PEs beyond a patch's square keep these bytes until their own patch is loaded;
    results of PEs of no patch are never read. With ``exclusive`` a patch's square alone is enabled, by two more
    compares: 16 cycles a patch.
    """
    builder.mark(Stage.ADDRESSES.value)
    mark = Mem(memory["administrative"].start)
    for placement in work.placements:
        (enable_square if exclusive else enable_quadrant)(builder, placement)
        builder.emit("EMC_TreeIntoMem_Li", place, 3, 0, 0, base[placement.patch])
        code = size_code(placement.samples)
        code = (code - placement.x) + 256 * (code - placement.y)
        builder.emit("EMC_TreeIntoMem_Li", mark, 2, 1, 256, code)


def emit_byte_equals(builder: Builder) -> Callable[[Mem, int], None]:
    """Emit the routine that keeps PEs enabled if their byte has a value, 5 cycles; return a function that calls it."""
    with builder.routine("byte_equals", ("byte", "value")) as (byte, value):
        builder.emit("LD", Register.R, byte)
        builder.emit("XOR", Register.R, Imm(value.offset, value.base))
        builder.emit("CMP", Register.R, Imm(1))
        builder.emit("ENC")
    return lambda address, code: builder.call("byte_equals", address, Imm(code))


class Selector(Protocol):
    """Emits the enable of all PEs that make sample ``index`` of ``samples`` along u (0) or v (1)."""

    def __call__(self, direction: int, samples: int, index: int) -> None: ...


def select_by_marks(builder: Builder, memory: MemoryMap) -> Selector:
    """Return the selector that compares mark bytes: 1 + 5 cycles (invented decomposition of table 4's 6)."""
    byte_equals = emit_byte_equals(builder)

    def select(direction: int, samples: int, index: int) -> None:
        builder.emit("EMC_SetEnab")
        byte_equals(Mem(memory["administrative"].start + direction), size_code(samples) + index)

    return select


def emit_bernstein(
    builder: Builder, memory: MemoryMap, work: Pass, select: Selector, loads: Sequence[tuple[int, tuple[bool, ...]]]
) -> None:
    """Emit the load of Bernstein values, for each size, direction and column or row: 1 + 5 + 5 a value (table 4).

    ``loads`` names the direction and which sets: False those of the point, True those of the first differences.
    """
    builder.mark(Stage.BERNSTEIN.value)
    for samples in work.sizes:
        for direction, sets in loads:
            name, count = ("bernstein_v", memory.columns) if direction else ("bernstein_u", memory.rows)
            # The sets of point and first differences follow each other if both are loaded.
            size = memory.value_bytes
            tables = [bernstein_bits(count - 1 - difference, samples, size - 1) for difference in sets]
            for index in range(samples):
                select(direction, samples, index)
                values = [bits for table in tables for bits in table[index]]
                for at, bits in enumerate(values):
                    builder.emit("EMC_TreeIntoMem_Li", Mem(memory[name].start + at * size), size, 0, 0, bits)


FIRST_LOADS = {False: ((0, (False, True)), (1, (False, True))), True: ((0, (False,)), (1, (False,)))}
"""Bernstein values loaded at the start, without and with the order of section 4.2."""

_LATER_LOADS = {Surface.DU: ((0, (True,)),), Surface.DV: ((0, (False,)), (1, (True,)))}


class Evaluation(NamedTuple):
    """The parts from which the evaluation of a pass is built."""

    memory: MemoryMap
    work: Pass
    library: FloatLibrary
    select: Selector
    stored: StoredFormat = SINGLE

    def surfaces(self) -> Iterator[SurfaceWork]:
        """Yield the evaluations in their order."""
        return surface_order(self.memory.rows, self.memory.columns, reordered=self.memory.reordered)

    @property
    def values(self) -> int:
        """Control values of a patch."""
        return max(work.first + work.rows * work.columns for work in self.surfaces())

    def widened(self, builder: Builder, value: Mem, longer: Mem) -> Mem:
        """Emit the widening of a control value to the arithmetic's format, if it is shorter; return its place."""
        if self.stored.value_bytes == self.memory.value_bytes:
            return value
        builder.call("widen", longer, value)
        return longer

    def load_first(self, builder: Builder) -> None:
        """Emit the Bernstein values that the points need, and all others if there is room."""
        emit_bernstein(builder, self.memory, self.work, self.select, FIRST_LOADS[self.memory.reordered])

    def load_for(self, builder: Builder, work: SurfaceWork) -> None:
        """Emit the Bernstein values of this surface that had no room before (4.2); enables all PEs."""
        if self.memory.reordered and work.axis == 0 and work.surface in _LATER_LOADS:
            emit_bernstein(builder, self.memory, self.work, self.select, _LATER_LOADS[work.surface])
            builder.emit("EMC_SetEnab")


def stage_of(work: SurfaceWork) -> Stage:
    """Return the stage of a surface's arithmetic."""
    return Stage.POINTS if work.surface is Surface.POINT else Stage.DERIVATIVES


def emit_surfaces(builder: Builder, evaluation: Evaluation, source: ControlPointSource, keeping: Keeping) -> None:
    """Emit the evaluation of points and derivatives, a batch of control values at a time (4.1.3)."""
    for work in evaluation.surfaces():
        evaluation.load_for(builder, work)
        builder.mark(stage_of(work).value)
        _emit_surface(builder, evaluation, source, work, keeping)


def _emit_surface(
    builder: Builder, evaluation: Evaluation, source: ControlPointSource, work: SurfaceWork, keeping: Keeping
) -> None:
    """Emit one coordinate of one surface: mn + n multiplications and n (m - 1) + n - 1 additions."""
    memory, library, stored = evaluation.memory, evaluation.library, evaluation.stored
    size = memory.value_bytes
    column, product, longer = (Mem(memory["temporaries"].start + index * size) for index in range(3))
    result = Mem(memory[work.result].start)
    in_u, in_v = (memory[name].start for name in work.surface.bernstein)
    control = memory["control_points"].start
    number, amidst = work.first, (evaluation.values - 1) // stored.batch_values * stored.batch_values + _AMIDST
    for j in range(work.columns):
        for i in range(work.rows):
            batch, place = divmod(number, stored.batch_values)
            if place == 0:
                source.emit_batch(builder, batch)
                builder.mark(stage_of(work).value)
            value = evaluation.widened(builder, Mem(control + place * stored.value_bytes), longer)
            library.multiply_add(builder, column, Mem(in_u + i * size), value, product, first=i == 0)
            number += 1
            if number == amidst:
                keeping.emit(builder, Chance.AMIDST, stage_of(work))
        library.multiply_add(builder, result, Mem(in_v + j * size), column, product, first=j == 0)


def emit_normals(builder: Builder, memory: MemoryMap, library: FloatLibrary, keeping: Keeping) -> None:
    """Emit the unit normal: 9 multiplications, 5 additions or subtractions, 1 square root, 3 divisions (4.1.3).

    The length stays in the first temporary; if it is zero, the normal is the library's 0 / 0.
    """
    keeping.emit(builder, Chance.NORMALS, Stage.NORMALS)
    builder.mark(Stage.NORMALS.value)
    length, product = (Mem(memory["temporaries"].start + index * memory.value_bytes) for index in range(2))
    du, dv, normal = ([Mem(memory[f"{axis}_{what}"].start) for axis in AXES] for what in ("du", "dv", "normal"))
    for axis in range(3):
        after, last = (axis + 1) % 3, (axis + 2) % 3
        library.multiply(builder, normal[axis], du[after], dv[last])
        library.multiply(builder, product, du[last], dv[after])
        library.subtract(builder, normal[axis], normal[axis], product)
    keeping.emit(builder, Chance.CROSSED, Stage.NORMALS)
    for axis in range(3):
        library.multiply_add(builder, length, normal[axis], normal[axis], product, first=axis == 0)
    keeping.emit(builder, Chance.SQUARED, Stage.NORMALS)
    library.root(builder, length, length)
    for axis in range(3):
        library.divide(builder, normal[axis], normal[axis], length)


def emit_exchange(builder: Builder, start: int, size: int, columns: int) -> None:
    """Emit the exchange of the sums of a group of 1 to 4 columns among PEs y = 0 .. 3 of a block.

    Slots of ``size`` bytes begin at ``start``. Before, each PE has its own sum in the first slot; after, all have those
    of columns 0, 2, 1, 3 in this order, up to the number of columns. For binary32 that takes 14 + 26 + 18 + 34 cycles
    for four columns, 14 + 26 + 10 + 26 for three, 14 + 10 + 26 for two and 14 + 10 for one.
    """
    builder.mark(Stage.EXCHANGE.value)
    first, second, third = (Mem(start + slot * size) for slot in range(3))
    even = (columns + 1) // 2
    if even == 2:
        builder.emit("EMC_PixSwap", second, first, size, 2)
    builder.emit("EMC_PixCopy", first, first, even * size, 2)
    odd = columns // 2
    if odd:
        builder.emit("EMC_PixSwap", third, first, odd * size, 1)
    builder.emit("EMC_PixCopy", first, first, (2 + odd if odd else 1) * size, 1)


def emit_conversions(builder: Builder, mantissa_bytes: int) -> None:
    """Emit the routines ``widen`` (binary32 to the long format) and ``narrow`` (back, rounded to nearest even).

    ``narrow`` may write over its operand; a mantissa that rounds up carries into the exponent, up to infinity.
    """
    dropped = mantissa_bytes - 3
    with builder.routine("widen", ("long", "short")) as (long, short):
        for index in range(dropped):
            builder.emit("STI", long[index], Imm(0))
        for index in range(FLOAT_BYTES):
            builder.emit("LD", Register.R, short[index])
            builder.emit("ST", long[dropped + index], Register.R)
    with builder.routine("narrow", ("short", "long")) as (short, long):
        builder.emit("LD", Register.S, long[dropped])
        builder.emit("AND", Register.S, Imm(1))
        for index in range(dropped - 1):
            builder.emit("OR", Register.S, long[index])
        builder.emit("CMP", Register.S, Imm(1))
        builder.emit("LD", Register.S, long[dropped - 1])
        # Carries above half, and at half where the kept part is odd or anything is below.
        builder.emit("ADC", Register.S, Imm(0x7F))
        for index in range(FLOAT_BYTES):
            builder.emit("LD", Register.R, long[dropped + index])
            builder.emit("ADC", Register.R, Imm(0))
            builder.emit("ST", short[index], Register.R)


def emit_results(builder: Builder, memory: MemoryMap) -> None:
    """Emit the rounding of points and normals to binary32, in place."""
    builder.mark(Stage.ROUNDING.value)
    for what in ("point", "normal"):
        for axis in AXES:
            place = Mem(memory[f"{axis}_{what}"].start)
            builder.call("narrow", place, place)


_PARITY = 2
"""Place of the parity among the administrative bytes, after the two mark bytes."""

_EDGE_BYTES = 3


class Trims(NamedTuple):
    """The trims of the patches of a pass: their polygons by the number of the patch. Without any, nothing is emitted.

    Each PE counts the trim segments that its sample's ray crosses, modulo 2. The GPs break trim curves into segments
    and form an edge function for each (`surface/trim_curves.py`). The LEE broadcasts it, as for the edges of triangles
    (2.2.2): a PE of the patch in one of the rows that the segment spans toggles a byte if the function is not negative.
    That is executed during the first transfer of control values. In the end PEs with an even count, whose samples are
    outside, get a NaN in place of their normal, so that it takes the way of the results. All of this is invented: of
    trimmed patches "there are significant hurdles that must still be resolved" (5.1).
    """

    memory: MemoryMap
    work: Pass
    polygons: Mapping[int, TrimPolygon]

    @property
    def _parity(self) -> Mem:
        return Mem(self.memory["administrative"].start + _PARITY)

    def emit_crossings(self, builder: Builder) -> None:
        """Emit the count: 3 cycles, 10 a trimmed patch and 16 a segment that a row of samples meets; all PEs are
        enabled after.

        Samples on the side u = 1 that are on such a segment take 12 more.
        """
        if not self.polygons:
            return
        builder.mark(Stage.TRIM.value)
        builder.emit("EMC_SetEnab")
        builder.emit("STI", self._parity, Imm(1))
        for placement in self.work.placements:
            polygon = self.polygons.get(placement.patch)
            if polygon is None:
                continue
            enable_square(builder, placement)
            builder.emit("STI", self._parity, Imm(0))
            for crossing in crossings(polygon, placement.samples):
                self._emit_crossing(builder, placement, crossing)
        builder.emit("EMC_SetEnab")

    def _emit_crossing(self, builder: Builder, place: Placement, crossing: RayCrossing) -> None:
        first = place.samples - 1 if crossing.only_last else 0
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeGEZero_Li", 0, 1, 1, 0, -(place.x + first))
        builder.emit("EMC_TreeLTZero_Li", 0, 1, 1, 0, -(place.x + place.samples))
        builder.emit("EMC_TreeGEZero_Li", 0, 1, 0, 1, -(place.y + crossing.first))
        builder.emit("EMC_TreeLTZero_Li", 0, 1, 0, 1, -(place.y + crossing.last + 1))
        if not crossing.only_last:
            a, b = crossing.a, crossing.b
            c = crossing.c - a * place.x - b * place.y
            builder.emit("EMC_TreeGEZero_Li", 0, _EDGE_BYTES, a, b, c)
        builder.emit("LD", Register.R, self._parity)
        builder.emit("XOR", Register.R, Imm(1))
        builder.emit("ST", self._parity, Register.R)

    def emit_marks(self, builder: Builder) -> None:
        """Emit the marks of samples outside: 9 cycles; all PEs are enabled after."""
        if not self.polygons:
            return
        builder.mark(Stage.TRIM.value)
        builder.emit("EMC_SetEnab")
        builder.emit("LD", Register.R, self._parity)
        builder.emit("CMP", Register.R, Imm(1))
        builder.emit("ENC")
        for index, byte in enumerate(OUTSIDE.to_bytes(FLOAT_BYTES, "little")):
            builder.emit("STI", Mem(self.memory["x_normal"].start + index), Imm(byte))
        builder.emit("EMC_SetEnab")
