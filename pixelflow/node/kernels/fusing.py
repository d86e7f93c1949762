"""Straight code with calls in it as one native function: between calls, floats stay numbers in registers.

The function processes 64 lanes at a time, for masks that hold 255 in every lane. Values that are overwritten later are
never stored. Calls take the short way (`quick.py`); where one of them is in doubt, nothing has been stored yet, and
the unfused code is executed on these 64 lanes, from a program passed to the function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from pixelflow.node.kernels import quick
from pixelflow.node.kernels.float_arithmetic import FLOAT_BYTES
from pixelflow.node.kernels.float_kernel import LANES, Call, Kernel, gathered, spread
from pixelflow.simd.lanes.form import Form, Part
from pixelflow.simd.lanes.native.compiled_engine import Foreign
from pixelflow.simd.lanes.native.dispatch import WALK
from pixelflow.simd.lanes.native.function_text import LaneVector
from pixelflow.simd.lanes.native.lowering import FULL, Bit, Deferred, LoopBody, Product, Value, Vectors, full_after

_CALLS, _PARTS = 40, 400
"""Most calls and parts of one function: more would take long to compile."""


class FusedItem(NamedTuple):
    """A part, or a call and the row of the mask that enables it; and its code."""

    code: bytes
    what: Part | Call
    mask: int = 0

    def places(self) -> list[int]:
        """Return the rows and other operands: of a part as they are, of a call the mask, the result, the operands."""
        if isinstance(self.what, Part):
            return list(self.what.operands)
        kernel = self.what.kernel
        found = [self.mask, *range(self.what.result, self.what.result + kernel.result_bytes)]
        for first in self.what.operands:
            found += range(first, first + FLOAT_BYTES)
        return found

    def are_rows(self) -> Sequence[bool]:
        """Return which of the places are rows."""
        return self.what.form.is_row if isinstance(self.what, Part) else [True] * len(self.places())

    def full_after(self, full: frozenset[int]) -> frozenset[int]:
        """Return the rows that are 255 in every lane after it."""
        if isinstance(self.what, Part):
            return full_after(self.what, full)
        return full.difference(range(self.what.result, self.what.result + self.what.kernel.result_bytes))


def pieces(items: Iterable[FusedItem], full: frozenset[int]) -> Iterator[tuple[list[FusedItem], frozenset[int]]]:
    """Cut code into what becomes one function each, with the rows that hold 255 in every lane before it."""
    some: list[FusedItem] = []
    calls = 0
    before = full
    for item in items:
        if calls == _CALLS or len(some) - calls == _PARTS:
            yield some, before
            some, calls, before = [], 0, full
        some.append(item)
        calls += not isinstance(item.what, Part)
        full = item.full_after(full)
    if some:
        yield some, before


_NEAR = 8
"""Distance of rows that share one address."""

Place = tuple[int, int]
"""The number of an operand, and the distance of a row from it in bytes."""

Slotted = tuple[tuple[Form | Kernel, tuple[int, ...]], ...]
"""Parts and calls with the slot of each place: equal rows share a slot, everything else has a separate one."""


def fused(items: Sequence[FusedItem], full: frozenset[int], stride: int, vectors: Vectors) -> tuple[Foreign, list[int]]:
    """Return a function for code, and its operands without the last: the address of the code as a program.

    ``full`` are the rows that hold 255 in every lane before, ``stride`` is the bytes from row to row.
    """
    rows = sorted({place for item in items for row, place in zip(item.are_rows(), item.places(), strict=True) if row})
    operands: list[int] = []
    places: list[Place] = []
    for row, before in zip(rows, [None, *rows], strict=False):
        if before is None or row - before > _NEAR:
            first = row
            operands.append(row * stride)
        places.append((len(operands) - 1, (row - first) * stride))
    slot_of = {row: slot for slot, row in enumerate(rows)}
    form = []
    for item in items:
        slots = []
        for is_row, place in zip(item.are_rows(), item.places(), strict=True):
            slots.append(slot_of[place] if is_row else len(places))
            if not is_row:
                places.append((len(operands), 0))
                operands.append(place)
        form.append((item.what.form if isinstance(item.what, Part) else item.what.kernel, tuple(slots)))
    known = tuple(slot for row, slot in slot_of.items() if row in full)
    return _function(tuple(form), known, tuple(places), vectors), operands


@lru_cache(maxsize=256)
def _function(slotted: Slotted, full: tuple[int, ...], where: tuple[Place, ...], vectors: Vectors) -> Foreign:
    body = _Body(vectors, LANES)
    body.where = where
    slots = 1 + max(number for number, _ in where)
    body.rows = dict.fromkeys(full, FULL)
    body.before = dict(body.rows)
    for what, places in slotted:
        if isinstance(what, Kernel):
            body.add_call(what, places)
        else:
            body.part(what, places)
    doubts = [found for each in body.doubts if (found := each.anywhere()) is not None]
    doubt = reduce(or_, doubts).anywhere().name if doubts else "false"
    # Rows are assembled from numbers before the doubt is evaluated, which costs nothing.
    body.write_back()
    lines = [
        "entry:",
        *body.head,
        f"  %plain.place = getelementptr i64, ptr %code, i64 {slots}",
        "  %plain = load ptr, ptr %plain.place",
        f"  %walk.place = getelementptr ptr, ptr %table, i64 {WALK}",
        "  %walk = load ptr, ptr %walk.place",
        "  br label %strip",
        "strip:",
        "  %at = phi i64 [0, %entry], [%next, %onward]",
        "  %here = getelementptr i8, ptr %tile, i64 %at",
        *body.lines,
        f"  br i1 {doubt}, label %again, label %sure",
        "again:",
        f"  %done = call ptr %walk(ptr %here, i64 {LANES}, ptr %plain, ptr %table)",
        "  br label %onward",
        "sure:",
        *body.stores,
        "  br label %onward",
        "onward:",
        f"  %next = add nuw nsw i64 %at, {LANES}",
        "  %more = icmp ult i64 %next, %lanes",
        "  br i1 %more, label %strip, label %end",
        "end:",
        f"  %past = getelementptr i64, ptr %code, i64 {slots + 1}",
        "  ret ptr %past",
    ]
    return Foreign("\n".join(lines), tuple(sorted(body.declared)))


@dataclass(frozen=True, slots=True)
class _Byte(Deferred):
    """A byte of a number."""

    number: int
    index: int


@dataclass(slots=True)
class _Body(LoopBody):
    """The body of a function on numbers as well as rows."""

    where: tuple[Place, ...] = ()
    numbers: list[list[LaneVector]] = field(default_factory=list)
    """Each in four vectors of 16 lanes."""
    doubts: list[quick.Doubts] = field(default_factory=lambda: [quick.Doubts() for _ in range(4)])
    """Of each of the four vectors."""
    bytes_of: dict[int, int] = field(default_factory=dict)
    """Bytes of each number that belong to a float or a result."""
    _here: dict[int, str] = field(default_factory=dict)
    """Rows named by operands, in the current lanes."""
    _gathered: dict[tuple[Value, ...], int] = field(default_factory=dict)
    _coarse: set[int] = field(default_factory=set)
    """Numbers that are 0 or not small unless there is doubt."""
    _spread: dict[int, list[LaneVector]] = field(default_factory=dict)

    def _vector_of(self, value: Bit | Product | Deferred) -> str:
        if not isinstance(value, _Byte):
            return LoopBody._vector_of(self, value)
        rows = self._spread.get(value.number)
        if rows is None:
            rows = spread(self.numbers[value.number], self.bytes_of[value.number])
            self._spread[value.number] = rows
        return rows[value.index].name

    def _operand(self, slot: int) -> str:
        number = self.where[slot][0]
        place = self._head("place", number, f"getelementptr i8, ptr %code, i64 {8 * number}")
        return self._head("operand", number, f"load i64, ptr {place}")

    def _row(self, slot: int) -> str:
        number, behind = self.where[slot]
        base = self._head("base", number, f"getelementptr i8, ptr %tile, i64 {self._operand(slot)}")
        if number not in self._here:
            self._here[number] = self.line(f"getelementptr i8, ptr {base}, i64 %at")
        return self.line(f"getelementptr i8, ptr {self._here[number]}, i64 {behind}")

    def add_call(self, kernel: Kernel, places: Sequence[int]) -> None:
        """Append the code of a call; ``places`` are the slots of the mask, the result, the operands."""
        mask, *rest = places
        result, rest = rest[: kernel.result_bytes], rest[kernel.result_bytes :]
        operands = [self._number(rest[at : at + FLOAT_BYTES]) for at in range(0, len(rest), FLOAT_BYTES)]
        found = self._new(self._computed(kernel, operands), kernel.result_bytes)
        if kernel.is_sum:
            self._coarse.add(found)
        elif kernel.has_short_way:
            self._look_at(found)
        enabled = self.load(mask)
        for index, slot in enumerate(result):
            byte = _Byte(found, index)
            self.rows[slot] = byte if enabled == FULL else self.select(enabled, self.full(byte), self.load(slot))

    def _computed(self, kernel: Kernel, operands: list[int]) -> list[LaneVector]:
        parts = list(zip(*(self.numbers[each] for each in operands), strict=True))
        if not kernel.has_short_way:
            return [kernel.compute(*part) for part in parts]
        for each in operands:
            self._look_at(each)
        found = [kernel.compute_quickly(*part) for part in parts]
        for doubts, result, part in zip(self.doubts, found, parts, strict=True):
            doubts.add(result, part[:1] if kernel.loses_infinities else part)
            if kernel.loses_infinities and kernel.finite:
                doubts.keep_open(part[1])
        return found

    def _look_at(self, number: int) -> None:
        """Doubt the lanes in which a number may be below the least normal one."""
        if number not in self._coarse:
            self._coarse.add(number)
            for doubts, part in zip(self.doubts, self.numbers[number], strict=True):
                doubts.look_at(part)

    def _new(self, parts: list[LaneVector], size: int) -> int:
        self.numbers.append(parts)
        self.bytes_of[len(self.numbers) - 1] = size
        return len(self.numbers) - 1

    def _number(self, slots: Sequence[int]) -> int:
        """Return the number that rows hold."""
        values = tuple(self.load(slot) for slot in slots)
        first = values[0]
        if (
            isinstance(first, _Byte)
            and self.bytes_of[first.number] == len(values)
            and values == tuple(_Byte(first.number, index) for index in range(len(values)))
        ):
            return first.number
        if values not in self._gathered:
            rows = [LaneVector(self, self.full(value), LANES, "i8") for value in values]
            self._gathered[values] = self._new(gathered(rows, self), len(values))
        return self._gathered[values]
