"""A kernel: what a float routine computes, and the native function that computes it on rows of bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial, reduce
from operator import or_

from pixelflow.node.parts.kernels.floats import arithmetic, order, quick
from pixelflow.node.parts.kernels.floats.formats import FloatFormat
from pixelflow.node.parts.kernels.floats.planes import LANES, gathered, spread
from pixelflow.node.parts.kernels.floats.vector import LaneVector, Text
from pixelflow.simd.lanes.compiled.native import Foreign

__all__ = ["Call", "Kernel", "KernelOperation"]


class KernelOperation(Enum):
    """What a kernel computes."""

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


_UNARY = frozenset(
    (
        KernelOperation.FROM_INTEGER,
        KernelOperation.SQUARE_ROOT,
        KernelOperation.NEGATE,
        KernelOperation.ABSOLUTE,
        KernelOperation.TO_INTEGER,
    )
)
_QUICK = frozenset(
    (
        KernelOperation.ADD,
        KernelOperation.SUBTRACT,
        KernelOperation.MULTIPLY,
        KernelOperation.DIVIDE,
        KernelOperation.SQUARE_ROOT,
    )
)
_OF_ONE_BYTE = frozenset((KernelOperation.LESS, KernelOperation.EQUAL))


@dataclass(frozen=True, slots=True)
class Kernel:
    """A float operation: which, on mantissas of how many bytes, and whether exponents of 255 are ordinary ones."""

    operation: KernelOperation
    mantissa_bytes: int
    finite: bool = False

    @property
    def operands(self) -> int:
        """How many operands it reads."""
        return 1 if self.operation in _UNARY else 2

    @property
    def operand_bytes(self) -> int:
        """Bytes of each operand."""
        return self.mantissa_bytes + 1

    @property
    def result_bytes(self) -> int:
        """Bytes of the result."""
        return 1 if self.operation in _OF_ONE_BYTE else self.operand_bytes

    def fits(self, result: int, operands: tuple[int, ...]) -> bool:
        """Return whether the result is each operand or apart from it, as a routine's contract asks."""
        ends = self.result_bytes, self.operand_bytes
        return all(result == each or result + ends[0] <= each or each + ends[1] <= result for each in operands)

    def compute(self, *operands: LaneVector) -> LaneVector:
        """Write the operation down on numbers; return the result."""
        return _meaning(self)(FloatFormat(self.mantissa_bytes), *operands)

    @property
    def has_short_way(self) -> bool:
        """Whether there is a shorter way for most operands."""
        return self.mantissa_bytes == 3 and self.operation in _QUICK

    def compute_quickly(self, *operands: LaneVector) -> LaneVector:
        """Write the shorter way down for operands that are flushed; return what is the result unless there is doubt."""
        match self.operation:
            case KernelOperation.MULTIPLY:
                return quick.multiplied(*operands)
            case KernelOperation.DIVIDE:
                return quick.divided(*operands)
            case KernelOperation.SQUARE_ROOT:
                return quick.root(*operands)
        return quick.summed(*operands, subtract=self.operation is KernelOperation.SUBTRACT)

    @property
    def is_sum(self) -> bool:
        """Whether it adds or subtracts."""
        return self.operation in (KernelOperation.ADD, KernelOperation.SUBTRACT)

    @property
    def loses_infinities(self) -> bool:
        """Whether the second operand may be infinite where the result of the shorter way is not."""
        return self.operation is KernelOperation.DIVIDE

    @property
    def function(self) -> Foreign:
        """The native function; its operands are the bytes between rows, the row of the mask, of the result, of a, b."""
        return _function(self)


def _meaning(kernel: Kernel) -> Callable[..., LaneVector]:
    match kernel.operation:
        case KernelOperation.ADD | KernelOperation.SUBTRACT as which:
            return partial(arithmetic.summed, subtract=which is KernelOperation.SUBTRACT, finite=kernel.finite)
        case KernelOperation.MULTIPLY:
            return partial(arithmetic.multiplied, finite=kernel.finite)
        case KernelOperation.DIVIDE:
            return partial(arithmetic.divided, finite=kernel.finite)
        case KernelOperation.SQUARE_ROOT:
            return partial(arithmetic.root, finite=kernel.finite)
    return {
        KernelOperation.FROM_INTEGER: order.from_integer,
        KernelOperation.TO_INTEGER: order.to_integer,
        KernelOperation.NEGATE: order.negated,
        KernelOperation.ABSOLUTE: order.absolute,
        KernelOperation.LESS: order.less,
        KernelOperation.EQUAL: order.equal,
    }[kernel.operation]


@cache
def _function(kernel: Kernel) -> Foreign:
    """Return the text of a kernel: for every 64 lanes, rows to numbers, the operation, and back where enabled."""
    text = Text()
    slots = 3 + kernel.operands
    offsets = []
    for slot in range(slots):
        place = text.line(f"getelementptr i64, ptr %code, i64 {slot}")
        offsets.append(text.line(f"load i64, ptr {place}"))
    stride, mask, result, *operands = offsets
    rows = {mask: [mask]}
    for first, count in ((result, kernel.result_bytes), *((each, kernel.operand_bytes) for each in operands)):
        rows[first] = [first]
        for _ in range(count - 1):
            rows[first].append(text.line(f"add i64 {rows[first][-1]}, {stride}"))
    bases = {row: text.line(f"getelementptr i8, ptr %tile, i64 {row}") for each in rows.values() for row in each}
    text.act("br label %strip")
    text.label("strip")
    last = "sure" if kernel.has_short_way else "strip"
    text.act(f"%at = phi i64 [0, %entry], [%next, %{last}]")
    place = {row: text.line(f"getelementptr i8, ptr {base}, i64 %at") for row, base in bases.items()}

    def load(row: str) -> LaneVector:
        return text.load(LANES, place[row])

    numbers = [gathered([load(row) for row in rows[first]], text) for first in operands]
    parts = _computed(kernel, text, list(zip(*numbers, strict=True)))
    enabled = load(mask)
    for row, value in zip(rows[result], spread(parts, kernel.result_bytes), strict=True):
        old = load(row)
        new = old ^ ((old ^ value) & enabled)
        text.act(f"store {new.kind} {new.name}, ptr {place[row]}, align 16")
    text.act(f"%next = add nuw nsw i64 %at, {LANES}")
    text.act("%more = icmp ult i64 %next, %lanes")
    text.act("br i1 %more, label %strip, label %end")
    text.label("end")
    text.act(f"%past = getelementptr i64, ptr %code, i64 {slots}")
    text.act("ret ptr %past")
    return Foreign("entry:\n" + "\n".join(text.lines), tuple(sorted(text.declared)))


def _computed(kernel: Kernel, text: Text, parts: list[tuple[LaneVector, ...]]) -> list[LaneVector]:
    """Write the operation down for each part: on the short way, where there is one, and again where that doubts."""
    if not kernel.has_short_way:
        return [kernel.compute(*part) for part in parts]
    found = [kernel.compute_quickly(*map(quick.flushed, part)) for part in parts]
    doubts = [quick.doubtful(each) for each in found]
    if kernel.loses_infinities and kernel.finite:
        doubts += [quick.infinite(divisor) for _, divisor in parts]
    doubt = reduce(or_, doubts)
    text.act(f"br i1 {doubt.anywhere()}, label %again, label %sure")
    text.label("again")
    again = [kernel.compute(*part) for part in parts]
    text.act("br label %sure")
    text.label("sure")
    return [text.joined(short, "strip", slow, "again") for short, slow in zip(found, again, strict=True)]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a routine with a kernel: rows of the result, of the operands and of scratch (first, count).

    ``mask`` is the flag that enables the call, ``left`` what the routine leaves with anything besides scratch.
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
        operands = ((each, self.kernel.operand_bytes) for each in self.operands)
        return ((self.result, self.kernel.result_bytes), *operands, self.scratch)

    @property
    def possible(self) -> bool:
        """Whether the operands, the result and scratch lie as the routine's contract asks."""
        *places, (first, count) = self.places
        apart = all(at + size <= first or first + count <= at for at, size in places)
        return (apart or not count) and self.kernel.fits(self.result, self.operands)
