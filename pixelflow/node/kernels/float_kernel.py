"""A kernel: the operation of a float routine, and the native function that computes it on rows of bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial, reduce
from operator import or_

from pixelflow.node.kernels import float_arithmetic as arithmetic
from pixelflow.node.kernels import quick
from pixelflow.node.kernels.vector import FLOAT_BYTES, LaneVector, Text
from pixelflow.simd.lanes.native.compiled_engine import Foreign

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
    each = 8 * _BLOCK // a.bits
    orders = [
        [at + side for block in range(0, a.size, each) for at in range(block + first, block + first + each // 2)
         for side in (0, a.size)]
        for first in (0, each // 2)
    ]  # fmt: skip
    return [a.shuffled(b, order) for order in orders]


def gathered(rows: Sequence[LaneVector], text: Text) -> list[LaneVector]:
    """Return four vectors of 16 numbers from one to four rows of 64 bytes, low byte first."""
    zero = text.constant(0, LANES, 8)
    a, b, c, d = (*rows, *[zero] * (4 - len(rows)))
    pairs = zip(_unpacked(a, b), _unpacked(c, d), strict=True)
    return [word.viewed(32) for low, high in pairs for word in _unpacked(low.viewed(16), high.viewed(16))]


def spread(parts: Sequence[LaneVector], count: int) -> list[LaneVector]:
    """Return the lowest ``count`` rows of 64 bytes of four vectors of 16 numbers, low byte first."""
    order = [block + 4 * lane + byte for block in range(0, LANES, _BLOCK) for byte in range(4) for lane in range(4)]
    sorted_ = [part.viewed(8).shuffled(None, order).viewed(32) for part in parts]
    first, second = _unpacked(*sorted_[:2]), _unpacked(*sorted_[2:])
    pairs = [wide for a, b in zip(first, second, strict=True) for wide in _unpacked(a.viewed(64), b.viewed(64))]
    return [wide.viewed(8) for wide in pairs][:count]


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
    """An operation on binary32, and whether exponents of 255 are ordinary ones."""

    operation: KernelOperation
    finite: bool = False

    @property
    def operands(self) -> int:
        """How many operands it reads."""
        return 1 if self.operation in _UNARY else 2

    @property
    def result_bytes(self) -> int:
        """Bytes of the result."""
        return 1 if self.operation in _OF_ONE_BYTE else FLOAT_BYTES

    def fits(self, result: int, operands: tuple[int, ...]) -> bool:
        """Return whether the result is each operand or apart from it, as a routine's contract asks."""
        ends = self.result_bytes, FLOAT_BYTES
        return all(result == each or result + ends[0] <= each or each + ends[1] <= result for each in operands)

    def compute(self, *operands: LaneVector) -> LaneVector:
        """Write the operation on numbers; return the result."""
        return _meaning(self)(*operands)

    @property
    def has_short_way(self) -> bool:
        """True if there is a shorter way for most operands."""
        return self.operation in _QUICK

    def compute_quickly(self, *operands: LaneVector) -> LaneVector:
        """Write the short way for flushed operands; return the result, valid unless there is doubt."""
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
    others: dict[KernelOperation, Callable[..., LaneVector]] = {
        KernelOperation.FROM_INTEGER: arithmetic.from_integer,
        KernelOperation.TO_INTEGER: arithmetic.to_integer,
        KernelOperation.NEGATE: arithmetic.negated,
        KernelOperation.ABSOLUTE: arithmetic.absolute,
        KernelOperation.LESS: arithmetic.less,
        KernelOperation.EQUAL: arithmetic.equal,
    }
    return others[kernel.operation]


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
    for first, count in ((result, kernel.result_bytes), *((each, FLOAT_BYTES) for each in operands)):
        rows[first] = [first]
        for _ in range(count - 1):
            rows[first].append(text.line(f"add i64 {rows[first][-1]}, {stride}"))
    bases = {row: text.line(f"getelementptr i8, ptr %tile, i64 {row}") for each in rows.values() for row in each}
    text.act("br label %strip")
    text.label("strip")
    last = "sure" if kernel.has_short_way else "strip"
    text.act(f"%at = phi i64 [0, %entry], [%next, %{last}]")
    places = {row: text.line(f"getelementptr i8, ptr {base}, i64 %at") for row, base in bases.items()}

    def load(row: str) -> LaneVector:
        return text.load(LANES, places[row])

    numbers = [gathered([load(row) for row in rows[first]], text) for first in operands]
    parts = _computed(kernel, text, list(zip(*numbers, strict=True)))
    enabled = load(mask)
    for row, value in zip(rows[result], spread(parts, kernel.result_bytes), strict=True):
        old = load(row)
        new = old ^ ((old ^ value) & enabled)
        text.act(f"store {new.kind} {new.name}, ptr {places[row]}, align 16")
    text.act(f"%next = add nuw nsw i64 %at, {LANES}")
    text.act("%more = icmp ult i64 %next, %lanes")
    text.act("br i1 %more, label %strip, label %end")
    text.label("end")
    text.act(f"%past = getelementptr i64, ptr %code, i64 {slots}")
    text.act("ret ptr %past")
    return Foreign("entry:\n" + "\n".join(text.lines), tuple(sorted(text.declared)))


def _computed(kernel: Kernel, text: Text, parts: list[tuple[LaneVector, ...]]) -> list[LaneVector]:
    """Write the operation for each part: on the short way, where there is one, and in full where that is in doubt."""
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
