"""Lowering of basic blocks to LLVM IR: the vector operations of the algebra, and the loop over strips of lanes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import lcm
from typing import NamedTuple

from pixelflow.simd.errors import InternalError
from pixelflow.simd.lanes.engine import Meaning
from pixelflow.simd.lanes.form import Form, FormStep, Op, Part, form_of, record
from pixelflow.simd.lanes.native.function_text import FunctionText, LaneVector

# Basic blocks of native code: parts one after the other, each with the slots in which its operands come.
#
# A block is the source of one native function. Equal rows share a slot, every other operand has a separate one; so
# different slots of rows are different rows, and blocks that differ only in the places of their rows are equal.


_LONGEST = 6
"""Stores of a part; a longer one is cut where that is possible."""

Slotted = tuple[tuple[Form, tuple[int, ...]], ...]
"""Forms, each with the slot of each operand."""


class Block(NamedTuple):
    """Forms with their slots, and the slots of the rows that are known to hold 255 in every lane before them."""

    forms: Slotted
    full: tuple[int, ...] = ()


def parts_of(meaning: Meaning, places: Mapping[str, int]) -> list[Part]:
    """Return the parts that execute a meaning, one after the other; mostly one.

    A long one is cut into its stores, each with the steps that it needs; not where a store needs an old value.
    """
    whole = record(meaning, places)
    steps, operands, stores = whole.form.steps, whole.operands, whole.form.stores
    if len(stores) <= _LONGEST or any(step.op is Op.AFFINE for step in steps):
        return [whole]
    rows = {at: operands[steps[at].detail] for at in stores}
    cut = []
    for store in stores:
        needed = _needed(whole.form, store)
        for at in needed:
            if steps[at].op is Op.LOAD:
                row = operands[steps[at].detail]
                if any(rows[other] == row for other in stores if at < other < store):
                    return [whole]
        cut.append(_extract(whole, needed))
    return cut


def _needed(form: Form, last: int) -> list[int]:
    """Return the numbers of the steps that a step depends on, and its own, in order."""
    found, waiting = set(), [last]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += form.steps[at].inputs
    return sorted(found)


def _extract(whole: Part, needed: Sequence[int]) -> Part:
    """Return the part that some of the steps make up; none of them is `Op.AFFINE`, so each has one operand at most."""
    number = {at: index for index, at in enumerate(needed)}
    steps, operands = [], []
    for at in needed:
        step = whole.form.steps[at]
        step = step._replace(inputs=tuple(number[each] for each in step.inputs))
        if step.op in (Op.LITERAL, Op.LOAD, Op.STORE):
            operands.append(whole.operands[step.detail])
            step = step._replace(detail=len(operands) - 1)
        steps.append(step)
    return Part(form_of(tuple(steps)), operands)


def slots_of(part: Part, stride: int) -> tuple[tuple[int, ...], list[int]]:
    """Return the slots of a single part and the operand of each slot, as `slotted` does, in less time."""
    slot_of: dict[int, int] = {}
    located: list[int] = []
    slots = []
    for is_row, operand in zip(part.form.is_row, part.operands, strict=True):
        if not is_row:
            slots.append(len(located))
            located.append(operand)
        elif operand in slot_of:
            slots.append(slot_of[operand])
        else:
            slot_of[operand] = len(located)
            slots.append(len(located))
            located.append(operand * stride)
    return tuple(slots), located


def slotted(parts: Sequence[Part], stride: int) -> tuple[Slotted, list[int], dict[int, int]]:
    """Return forms with their slots, the operand of each slot, and the slot of each row.

    Operands that are rows become byte offsets, ``stride`` bytes apart.
    """
    slot_of: dict[int, int] = {}
    located: list[int] = []
    forms = []
    for form, operands in parts:
        slots = []
        for is_row, operand in zip(form.is_row, operands, strict=True):
            slot = slot_of.get(operand) if is_row else None
            if slot is None:
                slot = len(located)
                located.append(operand * stride if is_row else operand)
                if is_row:
                    slot_of[operand] = slot
            slots.append(slot)
        forms.append((form, tuple(slots)))
    return tuple(forms), located, slot_of


def block_of(parts: Sequence[Part], stride: int, full: frozenset[int]) -> tuple[Block, list[int]]:
    """Return the block that parts make up, and the operand of each slot, as `slotted` does.

    ``full`` are the rows that hold 255 in every lane before the block.
    """
    forms, located, slot_of = slotted(parts, stride)
    return Block(forms, tuple(slot for row, slot in slot_of.items() if row in full)), located


# Static analysis of masks: which rows are known to be 255 in every lane, where a block begins and where it ends.
#
# A write under a mask that is known to be full needs no old value and no blend. The knowledge begins at a guard, which
# looks at the rows when the code runs; from there on it follows from the steps alone.


NONE, SOME, ALL = 0, None, 0xFF
"""Knowledge about a value: 0 in every lane, nothing, 255 in every lane; below 0, that it is what a row held."""


def full_after(part: Part, full: frozenset[int]) -> frozenset[int]:
    """Return the rows that are 255 in every lane after a part, given those before it."""
    form, operands = part
    if _changes_nothing(form, None if full.isdisjoint(operands) else tuple([each in full for each in operands])):
        return full
    known: dict[int, int | None] = dict.fromkeys(full, ALL)
    values: list[int | None] = []
    for step in form.steps:
        if step.op is Op.LOAD:
            values.append(known.get(operands[step.detail]))
            continue
        values.append(_value(step, values))
        if step.op is Op.STORE:
            known[operands[step.detail]] = values[step.inputs[0]]
    return frozenset(row for row, value in known.items() if value == ALL)


@lru_cache(maxsize=4096)
def _changes_nothing(form: Form, full: tuple[bool, ...] | None) -> bool:
    """Return whether a form stores to no row that is full, and nothing that is known to be full.

    ``full`` says for each operand whether it is such a row; None without any.
    """
    values: list[int | None] = []
    for step in form.steps:
        if step.op is Op.LOAD:
            values.append(ALL if full is not None and full[step.detail] else SOME)
            continue
        values.append(_value(step, values))
        if step.op is Op.STORE and ((full is not None and full[step.detail]) or values[step.inputs[0]] == ALL):
            return False
    return True


def _value(step: FormStep, values: list[int | None]) -> int | None:
    """Return what is known of the value of a step that is not a load."""
    inputs = [values[at] for at in step.inputs]
    match step.op:
        case Op.CONSTANT:
            return NONE if step.detail == 0 else ALL if step.detail == (1 << step.bits) - 1 else SOME
        case Op.NOT:
            return inputs[0] ^ ALL if inputs[0] in (NONE, ALL) else SOME
        case Op.AND:
            return _both(inputs, NONE, ALL)
        case Op.OR:
            return _both(inputs, ALL, NONE)
        case Op.SELECT:
            where, a, b = inputs
            return a if where == ALL or a == b else b if where == NONE else SOME
        case _:
            return SOME


def rests(part: Part, row: int) -> bool:
    """Return whether a part leaves all rows as they are where a row is 0 in every lane before it."""
    form, operands = part
    values: list[int | None] = []
    for step in form.steps:
        if step.op is Op.LOAD:
            place = operands[step.detail]
            values.append(NONE if place == row else _before(place))
            continue
        values.append(_value(step, values))
        if step.op is Op.STORE:
            place = operands[step.detail]
            if values[step.inputs[0]] != (NONE if place == row else _before(place)):
                return False
    return True


def _before(row: int) -> int:
    """Return the knowledge that a value is what a row holds before a part."""
    return -1 - row


def _both(inputs: Sequence[int | None], strong: int, weak: int) -> int | None:
    if strong in inputs:
        return strong
    return weak if all(each == weak for each in inputs) else SOME


def masks_read(parts: Sequence[Part], masks: Sequence[int]) -> list[int]:
    """Return which of the rows ``masks`` the parts read before they write them, in the order of ``masks``."""
    read: set[int] = set()
    open_ = set(masks)
    for form, operands in parts:
        if open_.isdisjoint(operands):
            continue
        for step in form.steps:
            if step.op in (Op.LOAD, Op.STORE) and (row := operands[step.detail]) in open_:
                open_.remove(row)
                if step.op is Op.LOAD:
                    read.add(row)
        if not open_:
            break
    return [row for row in masks if row in read]


# Words and bits as vectors: the LLVM IR of every operation of the algebra, with as few instructions as are known.
#
# In a row of state a bit is a word of eight equal bits, 0 or 255. Between steps it may stay where it fell off, as the
# top or the bottom bit of a word, or as a vector of single bits (`Bit`); it is spread only where a step needs it so.


ZERO = "zeroinitializer"
FULL = "splat (i8 -1)"
ONE = "splat (i8 1)"
HIGHEST = "splat (i8 -128)"

WORDS = "<16 x i32>"
TERNARY = "llvm.x86.avx512.pternlog.d.512"
MATRIX = "llvm.x86.vgf2p8affineqb.512"
DECLARATIONS = f"""
declare {WORDS} @{TERNARY}({WORDS}, {WORDS}, {WORDS}, i32 immarg)
declare <64 x i8> @{MATRIX}(<64 x i8>, <64 x i8>, i8 immarg)
"""
"""First lines of a module."""

_RIGHT = 0x0204081020408001
_HALF = 0x0204081020408000
"""The matrices over bits that turn a byte right by one and that shift it: the lowest row in the highest byte."""


class Vectors(NamedTuple):
    """Abilities of a processor's vectors; without the special instructions the result is the same, a little later.

    They are used on strips of 64 lanes.
    """

    width: int
    """Bytes of a vector; LLVM splits what the processor has not."""
    ternary: bool = False
    """Any logic of three vectors of 64 bytes is one instruction; additions can leave out the bytes of a mask."""
    matrix: bool = False
    """Multiplying each of 64 bytes by a matrix over bits is one instruction."""


class Bit(NamedTuple):
    """A bit of every lane that no vector holds as 0 and 255 yet."""

    where: str
    """``top`` or ``bottom``: that bit of the bytes of a vector; ``mask``: the elements of a vector of single bits;
    ``carry``: the carry of the sum that a vector holds."""
    vector: str


class Product(NamedTuple):
    """A word where a bit is set, 0 elsewhere, not computed yet."""

    bit: Bit
    word: str


class Deferred:
    """Source of a vector that is only made when needed (`VectorOperations._vector_of`)."""

    __slots__ = ()


Value = str | Bit | Product | Deferred
"""The name of a vector of bytes, a constant, or what may become a vector of bytes."""


def constant(value: int) -> str:
    """Return a byte in every lane."""
    return {0: ZERO, 255: FULL}.get(value, f"splat (i8 {value - 256 if value > 127 else value})")


@dataclass(slots=True)
class VectorOperations(FunctionText):
    """The text of one function as it grows: ``head`` before the loop over strips, ``lines`` inside."""

    vectors: Vectors
    strip: int
    head: list[str] = field(default_factory=list)
    _inverse: dict[str, str] = field(default_factory=dict)
    """The value of which a value is the complement, where it is known."""
    _sums: dict[str, tuple[str, str | Product, str]] = field(default_factory=dict)
    """The two words and the carry of which a value is the sum."""
    _carries: dict[Bit, Bit] = field(default_factory=dict)
    """Known carries."""
    _halves: dict[str, str] = field(default_factory=dict)
    """The word of which a value is the upper seven bits."""
    _merges: set[str] = field(default_factory=set)
    """Results of instructions that can keep the bytes which a mask leaves out."""
    _merged: dict[tuple[Value, str], str] = field(default_factory=dict)
    """The bit and the sum that a vector was merged from."""
    _known: dict[tuple[str, Value], str] = field(default_factory=dict)
    """Other forms of values: ``full`` as 0 and 255, ``mask`` as single bits."""

    @property
    def vector(self) -> str:
        return f"<{self.strip} x i8>"

    @property
    def _wide(self) -> bool:
        return self.vectors.ternary and self.strip == 64

    @property
    def _matrices(self) -> bool:
        return self.vectors.matrix and self.strip == 64

    def _binary(self, name: str, a: str, b: str) -> str:
        return self.line(f"{name} {self.vector} {a}, {b}")

    def _merging(self, value: str) -> str:
        self._merges.add(value)
        return value

    # --- forms ----------------------------------------------------------------------------------------------

    def full(self, value: Value) -> str:
        """Return a value as a vector of bytes."""
        if isinstance(value, str):
            return value
        if ("full", value) not in self._known:
            self._known["full", value] = self._vector_of(value)
        return self._known["full", value]

    def _vector_of(self, value: Bit | Product | Deferred) -> str:
        if isinstance(value, Product):
            return self.logic("and", value.bit, value.word)
        if isinstance(value, Deferred):
            raise InternalError(f"no vector of {value}: only a subclass that defers values has one")
        match self._settled(value):
            case Bit("top", word):
                if self._matrices:
                    return self._matrix(word, 0x8080808080808080)
                return self._binary("ashr", word, "splat (i8 7)")
            case Bit("bottom", word):
                if self._matrices:
                    return self._matrix(word, 0x0101010101010101)
                return self._binary("sub", ZERO, self.logic("and", word, ONE))
            case Bit(_, mask):
                return self.line(f"sext <{self.strip} x i1> {mask} to {self.vector}")

    def _settled(self, bit: Bit) -> Bit:
        """Return a bit that is not a carry any more."""
        if bit.where != "carry":
            return bit
        if bit not in self._carries:
            self._carries[bit] = self._carry(bit.vector)
        return self._carries[bit]

    def _mask(self, value: Value) -> str:
        """Return a bit as a vector of single bits."""
        if ("mask", value) not in self._known:
            match self._settled(value) if isinstance(value, Bit) else value:
                case Bit("mask", vector):
                    mask = vector
                case Bit("bottom", word):
                    mask = self._compare("ne", self.logic("and", word, ONE), ZERO)
                case Bit(_, word):
                    mask = self._compare("slt", word, ZERO)
                case whole:
                    mask = self._compare("slt", self.full(whole), ZERO)
            self._known["mask", value] = mask
        return self._known["mask", value]

    def _compare(self, name: str, a: str, b: str) -> str:
        return self.line(f"icmp {name} {self.vector} {a}, {b}")

    def _matrix(self, word: str, rows: int) -> str:
        """Multiply the bits of each byte by a matrix: bit ``i`` of the product has its row in byte ``7 - i``."""
        table = f"bitcast (<8 x i64> splat (i64 {rows if rows < 1 << 63 else rows - (1 << 64)}) to {self.vector})"
        product = f"call {self.vector} @{MATRIX}({self.vector} {word}, {self.vector} {table}, i8 0)"
        return self._merging(self.line(product))

    def _ternary(self, table: int, *inputs: str) -> str:
        """Return any logic of three vectors by its truth table."""
        words = [self.line(f"bitcast {self.vector} {each} to {WORDS}") for each in inputs]
        arguments = ", ".join(f"{WORDS} {each}" for each in words)
        found = self.line(f"call {WORDS} @{TERNARY}({arguments}, i32 {table})")
        return self.line(f"bitcast {WORDS} {found} to {self.vector}")

    # --- sums -----------------------------------------------------------------------------------------------

    def add(self, a: Value, b: Value, carry: Value) -> str:
        """Return the sum of two words and a bit."""
        a = self.full(a)
        if self._wide and isinstance(b, Product) and carry == ZERO:
            total = self._merge(b.bit, self._binary("add", a, b.word), a)
            self._sums[total] = (a, b, ZERO)
            return total
        b, carry = self.full(b), self.full(carry)
        if carry == FULL and b in self._inverse:
            total = self._binary("sub", a, self._inverse[b])
        else:
            total = self._plus(self._binary("add", a, b), carry)
        self._sums[total] = (a, b, carry)
        return self._merging(total)

    def _plus(self, value: str, bit: str) -> str:
        # A set bit is 255, which is -1.
        return self._merging(value if bit == ZERO else self._binary("sub", value, bit))

    def carry(self, total: str) -> Bit:
        """Return the carry of a sum that `add` returned."""
        return Bit("carry", total)

    def _carry(self, total: str) -> Bit:
        a, b, carry = self._sums[total]
        if isinstance(b, Product):
            return Bit("mask", self._compare("ult", total, a))
        if self._wide:
            if b in self._inverse:
                return Bit("top", self._ternary(0x71, a, self._inverse[b], total))
            return Bit("top", self._ternary(0xD4, a, b, total))
        if carry == ZERO:
            return Bit("mask", self._compare("ult", total, a))
        if carry == FULL and b in self._inverse:
            # a + not x + 1 has a carry exactly where a >= x.
            return Bit("mask", self._compare("uge", a, self._inverse[b]))
        # The majority of a, b and not total: where a and b differ not total decides, elsewhere a does.
        return Bit("top", self._choose(self._binary("xor", a, b), self.complement(total), a))

    # --- logic ----------------------------------------------------------------------------------------------

    def logic(self, name: str, a: Value, b: Value) -> str:
        """Return ``and``, ``or`` or ``xor`` of two words or bits."""
        if name == "or" and self._matrices:
            turned = self._turned(a, b) or self._turned(b, a)
            if turned is not None:
                return turned
        a, b = self.full(a), self.full(b)
        known, other = (a, b) if a in (ZERO, FULL) else (b, a)
        if name == "and" and known in (ZERO, FULL):
            return ZERO if known == ZERO else other
        if name == "or" and known in (ZERO, FULL):
            return other if known == ZERO else FULL
        if name == "xor" and known == ZERO:
            return other
        return self._binary(name, a, b)

    def _turned(self, half: Value, highest: Value) -> str | None:
        """Return seven bits of one word with the bottom bit of another above them; None where that is not asked for."""
        if isinstance(highest, Product) and highest.word == HIGHEST and half in self._halves:
            return self.down(self._halves[half], highest.bit) if highest.bit.where == "bottom" else None
        return None

    def complement(self, a: Value) -> str:
        """Return not a, bit by bit."""
        a = self.full(a)
        if a in (ZERO, FULL):
            return FULL if a == ZERO else ZERO
        inverted = self._binary("xor", a, FULL)
        self._inverse[inverted] = a
        return inverted

    # --- shifts ---------------------------------------------------------------------------------------------

    def up(self, a: Value, into: Value) -> str:
        """Return a word shifted up by one, with a bit at the bottom."""
        a = self.full(a)
        return self._plus(self._binary("add", a, a), self.full(into))

    def down(self, a: Value, into: Value) -> str:
        """Return a word shifted down by one, with a bit at the top."""
        a = self.full(a)
        into = self._settled(into) if isinstance(into, Bit) else into
        if self._matrices and isinstance(into, Bit) and into.where == "bottom":
            # The bit takes the place of the one that falls off, then the byte is turned.
            return self._matrix(self._ternary(0xD8, a, into.vector, ONE), _RIGHT)
        half = self._matrix(a, _HALF) if self._matrices else self._binary("lshr", a, ONE)
        if into == ZERO:
            self._halves[half] = a
            return half
        if self._wide and isinstance(into, Bit) and into.where == "mask":
            return self._merge(into, self._binary("add", half, HIGHEST), half)
        bit = into.vector if isinstance(into, Bit) and into.where == "top" else self.full(into)
        return self._binary("or", half, self.logic("and", bit, HIGHEST))

    # --- masks ----------------------------------------------------------------------------------------------

    def select(self, where: Value, a: Value, b: Value) -> Value:
        """Return a where a bit is set, b elsewhere."""
        if where in (ZERO, FULL):
            return a if where == FULL else b
        if a == b:
            return a
        b = self.full(b)
        if b == ZERO and isinstance(where, Bit) and isinstance(a, str):
            return Product(where, a)
        if self._wide and isinstance(a, Bit) and a.where == "carry":
            # What is carried elsewhere does not count, so the sum may be there merged with something else.
            a = self.full(Bit("carry", self._merged.get((where, a.vector), a.vector)))
        if self._wide and isinstance(a, Bit):
            a = self.full(a)
        if self._wide and a in self._merges:
            return self._merge(where, a, b)
        a = self.full(a)
        return self.logic("and", where, a) if b == ZERO else self._choose(self.full(where), a, b)

    def _merge(self, where: Value, a: str, b: str) -> str:
        """Return a where a bit is set, b elsewhere, by an instruction that makes a and leaves b."""
        merged = self.line(f"select <{self.strip} x i1> {self._mask(where)}, {self.vector} {a}, {self.vector} {b}")
        if a in self._sums:
            self._sums[merged] = self._sums[a]
            self._merged[where, a] = merged
        return merged

    def _choose(self, where: str, a: str, b: str) -> str:
        taken = self.logic("and", where, a)
        return self.logic("or", taken, self.logic("and", self._binary("xor", where, FULL), b))


# Lowering of a basic block to LLVM IR: one function, looped over strips of lanes.
#
# Every function has the type ``code' f(tile, lanes, code, table)``: it executes its block on the first ``lanes`` lanes
# of a tile of state, with the operands that are at ``code``, and returns the address past them. Rows are operands as
# byte offsets into the tile. Different operands are different rows, so a row is loaded once, kept in a register and
# stored once at the end of the block. All that is said about the processor is how wide its vectors are, and which of
# two instructions it has that LLVM does not find by itself.


_NAME = re.compile(r"%(?:v\d+|at)\b")
"""Names that have a separate value in every strip, unless made before the loop."""


def function(name: str, block: Block, vectors: Vectors, strips: int = 1) -> str:
    """Return the text of a function that executes a block, ``strips`` (a power of two) of lanes in each round."""
    steps = (step for form, _ in block.forms for step in form.steps)
    groups = {len(step.lanes) for step in steps if step.lanes}
    body = LoopBody(vectors, lcm(vectors.width, *groups))
    body.rows = dict.fromkeys(block.full, FULL)
    body.before = dict(body.rows)
    for form, operands in block.forms:
        body.part(form, operands)
    body.write_back()
    slots = 1 + max((slot for _, operands in block.forms for slot in operands), default=-1)
    rounds = body.rounds(strips) if strips > 1 else []
    return "\n".join(
        [
            f"define ptr @{name}(ptr %tile, i64 %lanes, ptr %code, ptr %table) nounwind {{",
            "entry:",
            *body.head,
            *(rounds or ["  br label %strip"]),
            "strip:",
            f"  %at = phi i64 [0, %entry], {'[%whole, %rest], ' if rounds else ''}[%next, %strip]",
            *body.lines,
            *body.stores,
            f"  %next = add nuw nsw i64 %at, {body.strip}",
            "  %more = icmp ult i64 %next, %lanes",
            "  br i1 %more, label %strip, label %end",
            "end:",
            f"  %past = getelementptr i8, ptr %code, i64 {8 * slots}",
            "  ret ptr %past",
            "}",
        ]
    )


@dataclass(slots=True)
class LoopBody(VectorOperations):
    """The body of one function: parts, one after the other, on rows that are loaded once and stored once."""

    rows: dict[int, Value] = field(default_factory=dict)
    """Current value of each slot's row, as far as it is known."""
    before: dict[int, Value] = field(default_factory=dict)
    """Value of a row when first seen: it need not be stored again."""
    wide: dict[str, LaneVector] = field(default_factory=dict)
    """Values that are wider than bytes, by name."""
    made: dict[tuple[str, int], str] = field(default_factory=dict)
    """Heads that exist already, by kind and slot."""
    stores: list[str] = field(default_factory=list)
    """Lines that follow: nothing is stored before everything is computed."""

    # --- operands -------------------------------------------------------------------------------------------

    def _head(self, kind: str, slot: int, text: str) -> str:
        """Return what is before the loop for a slot; made once."""
        if (kind, slot) not in self.made:
            name = self.made[kind, slot] = self.name()
            self.head.append(f"  {name} = {text}")
        return self.made[kind, slot]

    def _operand(self, slot: int) -> str:
        place = self._head("place", slot, f"getelementptr i8, ptr %code, i64 {8 * slot}")
        return self._head("operand", slot, f"load i64, ptr {place}")

    def _row(self, slot: int) -> str:
        base = self._head("row", slot, f"getelementptr i8, ptr %tile, i64 {self._operand(slot)}")
        return self.line(f"getelementptr i8, ptr {base}, i64 %at")

    def _splat(self, slot: int, bits: int) -> str:
        """Return an operand in every element of a vector."""
        value, kind = self._operand(slot), f"<{self.strip} x i{bits}>"
        if bits < 64:
            value = self._head(f"narrow {bits}", slot, f"trunc i64 {value} to i{bits}")
        first = self._head(f"first {bits}", slot, f"insertelement {kind} poison, i{bits} {value}, i64 0")
        mask = f"<{self.strip} x i32> zeroinitializer"
        return self._head(f"splat {bits}", slot, f"shufflevector {kind} {first}, {kind} poison, {mask}")

    # --- memory ---------------------------------------------------------------------------------------------

    def load(self, slot: int) -> Value:
        if slot not in self.rows:
            value = self.line(f"load {self.vector}, ptr {self._row(slot)}, align 16")
            self.rows[slot] = self.before[slot] = value
        return self.rows[slot]

    def write_back(self) -> None:
        """Store the rows that have changed, always whole: a load waits long for a store that leaves bytes out."""
        for slot, value in self.rows.items():
            if self.before.get(slot) != value:
                store = f"  store volatile {self.vector} {self.full(value)}, ptr {self._row(slot)}, align 16"
                self.stores.append(store)

    def rounds(self, strips: int) -> list[str]:
        """Return a loop that works on several strips at once, as long as there are this many; none where it cannot."""
        size = strips * self.strip
        if size & (size - 1):
            return []
        return [
            f"  %whole = and i64 %lanes, {-size}",
            "  %any = icmp ne i64 %whole, 0",
            "  br i1 %any, label %round, label %strip",
            "round:",
            "  %at.0 = phi i64 [0, %entry], [%next.round, %round]",
            *self._again(0),
            *(
                line
                for strip in range(1, strips)
                for line in (f"  %at.{strip} = add nuw nsw i64 %at.0, {strip * self.strip}", *self._again(strip))
            ),
            f"  %next.round = add nuw nsw i64 %at.0, {size}",
            "  %again = icmp ult i64 %next.round, %whole",
            "  br i1 %again, label %round, label %rest",
            "rest:",
            "  %left = icmp ult i64 %whole, %lanes",
            "  br i1 %left, label %strip, label %end",
        ]

    def _again(self, strip: int) -> list[str]:
        """Return the lines of the loop once more, with separate names."""
        before = {line.split()[0] for line in self.head}

        def own(name: re.Match[str]) -> str:
            return name[0] if name[0] in before else f"{name[0]}.{strip}"

        return [_NAME.sub(own, line) for line in (*self.lines, *self.stores)]

    # --- steps ----------------------------------------------------------------------------------------------

    def part(self, form: Form, slots: Sequence[int]) -> None:
        """Add a part; ``slots`` are those of its operands."""
        values: list[Value] = []
        for step in form.steps:
            direct = _DIRECT.get(step.op)
            inputs = [values[at] for at in step.inputs]
            values.append(self._other(step, inputs, slots) if direct is None else direct(self, *inputs))

    def _other(self, step: FormStep, inputs: Sequence[Value], slots: Sequence[int]) -> Value:
        """Add a step with a detail."""
        detail = step.detail
        match step.op:
            case Op.LOAD:
                return self.load(slots[detail])
            case Op.STORE:
                self.rows[slots[detail]] = inputs[0]
                return inputs[0]
            case Op.CONSTANT:
                return constant(detail if step.bits > 1 else 255 * detail)
            case Op.LITERAL:
                return self._splat(slots[detail], 8)
            case Op.AFFINE:
                coordinates = [self.full(each) for each in inputs]
                return self._affine(coordinates, slots[detail : detail + 3], step.bits)
            case Op.CUT:
                return self._cut(self.full(inputs[0]), detail)
            case Op.ROUTE:
                return self._route(self.full(inputs[0]), step.lanes)
            case Op.PATTERN:
                return _pattern(step.lanes, self.strip)
        raise ValueError(f"no step {step!r}")

    # --- wider than a byte ----------------------------------------------------------------------------------

    def _bytes(self, name: str) -> LaneVector:
        return LaneVector(self, name, self.strip, "i8")

    def _affine(self, coordinates: Sequence[str], slots: Sequence[int], least: int) -> str:
        bits = next(size for size in (16, 32, 64) if size >= least)
        x_low, x_high, y_low, y_high = (self._bytes(each).converted("zext", f"i{bits}") for each in coordinates)
        c, a, b = (LaneVector(self, self._splat(slots[at], bits), self.strip, f"i{bits}") for at in (2, 0, 1))
        total = c + (x_low | x_high << 8) * a + (y_low | y_high << 8) * b
        self.wide[total.name] = total
        return total.name

    def _cut(self, value: str, index: int) -> str:
        wide = self.wide[value]
        return (wide >> 8 * index if index else wide).converted("trunc", "i8").name

    def _route(self, value: str, sources: tuple[int, ...]) -> str:
        group = len(sources)
        return (
            self._bytes(value).shuffled(None, [at - at % group + sources[at % group] for at in range(self.strip)]).name
        )


def _pattern(bits: tuple[int, ...], strip: int) -> str:
    return "<" + ", ".join(f"i8 {-bits[at % len(bits)]}" for at in range(strip)) + ">"


_DIRECT: dict[Op, Callable[..., Value]] = {
    Op.ADD: LoopBody.add,
    Op.CARRY: LoopBody.carry,
    Op.AND: lambda body, a, b: body.logic("and", a, b),
    Op.OR: lambda body, a, b: body.logic("or", a, b),
    Op.XOR: lambda body, a, b: body.logic("xor", a, b),
    Op.NOT: LoopBody.complement,
    Op.UP: LoopBody.up,
    Op.TOP: lambda body, a: Bit("top", body.full(a)),
    Op.DOWN: LoopBody.down,
    Op.BOTTOM: lambda body, a: Bit("bottom", body.full(a)),
    Op.SELECT: LoopBody.select,
}
"""Lowering of steps that only name their inputs."""
