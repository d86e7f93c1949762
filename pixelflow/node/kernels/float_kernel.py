"""A kernel: the operation of a float routine, and the native function that computes it on rows of bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache, partial, reduce
from operator import or_
from typing import NamedTuple

from pixelflow.node.kernels import float_arithmetic as arithmetic
from pixelflow.node.kernels import quick
from pixelflow.node.kernels.float_arithmetic import FLOAT_BYTES
from pixelflow.simd.lanes.native.compiled_engine import Foreign
from pixelflow.simd.lanes.native.function_text import FunctionText, LaneVector

# Numbers out of rows of bytes, and back: 64 lanes at a time, in four parts of 16.
#
# The bytes of a number are in consecutive rows. They are brought together by unpacking within blocks of 16 bytes, which
# vector units do in one step; the lanes of a part are therefore 0 to 3 of every block of 16, those of the next one 4 to
# 7, and so on. `spread` undoes that order.


LANES = 64
"""Lanes that are processed together."""

_PARTS = 4
_BLOCK = 16


def _unpacked(a: LaneVector, b: LaneVector) -> list[LaneVector]:
    """Return the elements of two vectors in turn, block by block of 16 bytes: the lower halves, then the upper ones."""
    each = 8 * _BLOCK // int(a.element[1:])
    orders = [
        [at + side for block in range(0, a.size, each) for at in range(block + first, block + first + each // 2)
         for side in (0, a.size)]
        for first in (0, each // 2)
    ]  # fmt: skip
    return [a.shuffled(b, order) for order in orders]


def gathered(rows: Sequence[LaneVector], text: FunctionText) -> list[LaneVector]:
    """Return four vectors of 16 numbers from one to four rows of 64 bytes, low byte first."""
    zero = text.constant(0, LANES, "i8")
    a, b, c, d = (*rows, *[zero] * (4 - len(rows)))
    pairs = zip(_unpacked(a, b), _unpacked(c, d), strict=True)
    return [word.viewed("i32") for low, high in pairs for word in _unpacked(low.viewed("i16"), high.viewed("i16"))]


def spread(parts: Sequence[LaneVector], count: int) -> list[LaneVector]:
    """Return the lowest ``count`` rows of 64 bytes of four vectors of 16 numbers, low byte first."""
    order = [block + 4 * lane + byte for block in range(0, LANES, _BLOCK) for byte in range(4) for lane in range(4)]
    sorted_ = [part.viewed("i8").shuffled(None, order).viewed("i32") for part in parts]
    first, second = _unpacked(*sorted_[:2]), _unpacked(*sorted_[2:])
    pairs = [wide for a, b in zip(first, second, strict=True) for wide in _unpacked(a.viewed("i64"), b.viewed("i64"))]
    return [wide.viewed("i8") for wide in pairs][:count]


class KernelOperation(Enum):
    """The operation of a kernel."""

    FROM_INTEGER = "from_integer"
    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    SQUARE_ROOT = "square_root"
    NEGATE = "negate"
    ABSOLUTE = "absolute"
    LESS = "less"
    EQUAL = "equal"
    TO_INTEGER = "to_integer"


class _Operation(NamedTuple):
    meaning: Callable[..., LaneVector]
    operands: int = 2
    result_bytes: int = FLOAT_BYTES
    step: str = ""
    """The host's instruction or function on the short way, which also has a form without infinite operands."""


_OPERATIONS = {
    KernelOperation.FROM_INTEGER: _Operation(arithmetic.from_integer, 1),
    KernelOperation.ADD: _Operation(arithmetic.summed, step="fadd"),
    KernelOperation.SUBTRACT: _Operation(partial(arithmetic.summed, subtract=True), step="fsub"),
    KernelOperation.MULTIPLY: _Operation(arithmetic.multiplied, step="fmul"),
    KernelOperation.DIVIDE: _Operation(arithmetic.divided, step="fdiv"),
    KernelOperation.SQUARE_ROOT: _Operation(arithmetic.root, 1, step="sqrt"),
    KernelOperation.NEGATE: _Operation(arithmetic.negated, 1),
    KernelOperation.ABSOLUTE: _Operation(arithmetic.magnitude_of, 1),
    KernelOperation.LESS: _Operation(arithmetic.less, result_bytes=1),
    KernelOperation.EQUAL: _Operation(arithmetic.equal, result_bytes=1),
    KernelOperation.TO_INTEGER: _Operation(arithmetic.to_integer, 1),
}


class Kernel(NamedTuple):
    """An operation on binary32, and whether exponents of 255 are ordinary ones."""

    operation: KernelOperation
    finite: bool = False

    @property
    def operands(self) -> int:
        """How many operands it reads."""
        return _OPERATIONS[self.operation].operands

    @property
    def result_bytes(self) -> int:
        """Bytes of the result."""
        return _OPERATIONS[self.operation].result_bytes

    def fits(self, result: int, operands: tuple[int, ...]) -> bool:
        """Return whether the result is each operand or apart from it, as a routine's contract asks."""
        ends = self.result_bytes, FLOAT_BYTES
        return all(result == each or result + ends[0] <= each or each + ends[1] <= result for each in operands)

    def compute(self, *operands: LaneVector) -> LaneVector:
        """Write the operation on numbers; return the result."""
        meaning = _OPERATIONS[self.operation].meaning
        return meaning(*operands, finite=self.finite) if self.has_short_way else meaning(*operands)

    @property
    def has_short_way(self) -> bool:
        """True if there is a shorter way for most operands."""
        return bool(_OPERATIONS[self.operation].step)

    def compute_quickly(self, *operands: LaneVector) -> LaneVector:
        """Write the short way for flushed operands; return the result, valid unless there is doubt."""
        return quick.computed(_OPERATIONS[self.operation].step, *operands)

    @property
    def is_sum(self) -> bool:
        """True if it adds or subtracts."""
        return self.operation in (KernelOperation.ADD, KernelOperation.SUBTRACT)

    @property
    def loses_infinities(self) -> bool:
        """True if the second operand may be infinite where the result of the shorter way is not."""
        return self.operation is KernelOperation.DIVIDE

    @property
    def function(self) -> Foreign:
        """The native function; its operands are the bytes between rows, the row of the mask, of the result, of a, b."""
        return _function(self)


@cache
def _function(kernel: Kernel) -> Foreign:
    """Return the text of a kernel: for every 64 lanes, rows to numbers, the operation, and back where enabled."""
    text = FunctionText()
    slots = 3 + kernel.operands
    offsets = []
    for slot in range(slots):
        place = text.line(f"getelementptr i64, ptr %code, i64 {slot}")
        offsets.append(text.line(f"load i64, ptr {place}"))
    stride, mask, result, *operands = offsets
    rows = {mask: [mask]}
    for first, count in ((result, kernel.result_bytes), *((each, FLOAT_BYTES) for each in operands)):
        rows[first] = [first]
        for _ in range(count - 1):
            rows[first].append(text.line(f"add i64 {rows[first][-1]}, {stride}"))
    bases = {row: text.line(f"getelementptr i8, ptr %tile, i64 {row}") for each in rows.values() for row in each}
    text.go("strip")
    text.begin("strip")
    last = "sure" if kernel.has_short_way else "strip"
    text.do(f"%at = phi i64 [0, %entry], [%next, %{last}]")
    places = {row: text.line(f"getelementptr i8, ptr {base}, i64 %at") for row, base in bases.items()}

    def load(row: str) -> LaneVector:
        return LaneVector(text, text.line(f"load <{LANES} x i8>, ptr {places[row]}, align 16"), LANES, "i8")

    numbers = [gathered([load(row) for row in rows[first]], text) for first in operands]
    parts = _computed(kernel, text, list(zip(*numbers, strict=True)))
    enabled = load(mask)
    for row, value in zip(rows[result], spread(parts, kernel.result_bytes), strict=True):
        old = load(row)
        new = old ^ ((old ^ value) & enabled)
        text.do(f"store {new.typed}, ptr {places[row]}, align 16")
    text.do(f"%next = add nuw nsw i64 %at, {LANES}")
    text.do("%more = icmp ult i64 %next, %lanes")
    text.branch("%more", "strip", "end")
    text.begin("end")
    text.do(f"%past = getelementptr i64, ptr %code, i64 {slots}")
    text.do("ret ptr %past")
    return Foreign("entry:\n" + "\n".join(text.lines), tuple(sorted(text.declared)))


def _computed(kernel: Kernel, text: FunctionText, parts: list[tuple[LaneVector, ...]]) -> list[LaneVector]:
    """Write the operation for each part: on the short way, where there is one, and in full where that is in doubt."""
    if not kernel.has_short_way:
        return [kernel.compute(*part) for part in parts]
    found = [kernel.compute_quickly(*map(quick.flushed, part)) for part in parts]
    doubts = [quick.doubtful(each) for each in found]
    if kernel.loses_infinities and kernel.finite:
        doubts += [quick.infinite(divisor) for _, divisor in parts]
    doubt = reduce(or_, doubts)
    text.branch(doubt.anywhere().name, "again", "sure")
    text.begin("again")
    again = [kernel.compute(*part) for part in parts]
    text.go("sure")
    text.begin("sure")
    return [text.joined(short, "strip", slow, "again") for short, slow in zip(found, again, strict=True)]


class Call(NamedTuple):
    """A call of a routine with a kernel: rows of the result, of the operands and of scratch (first, count).

    ``mask`` is the flag that enables the call, ``left`` the state other than scratch that the routine leaves undefined.
    """

    kernel: Kernel
    mask: str
    result: int
    operands: tuple[int, ...]
    scratch: tuple[int, int]
    left: tuple[str, ...]

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """All rows that the routine touches, as (first, count): those of the result first, those of scratch last."""
        operands = ((each, FLOAT_BYTES) for each in self.operands)
        return ((self.result, self.kernel.result_bytes), *operands, self.scratch)

    @property
    def possible(self) -> bool:
        """True if operands, result and scratch are placed as the routine's contract requires."""
        *places, (first, count) = self.places
        apart = all(at + size <= first or first + count <= at for at, size in places)
        return (apart or not count) and self.kernel.fits(self.result, self.operands)
