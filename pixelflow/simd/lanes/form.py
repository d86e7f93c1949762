"""The recorded form of a meaning: typed steps without operands, the selection of numpy calls, and their interpreter."""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import lru_cache, partial
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.engine import Meaning, Shape

# The one recorded form of a meaning: typed steps without operands, for words of any size, interned.
#
# A meaning is executed once on a `MeaningRecorder`, an algebra whose values are the numbers of steps. What depends
# on a particular operand (a row, a constant, coefficients) goes to the list of operands; the steps that remain are the
# *form* of the meaning. Meanings that differ only in their operands have one form, so that what is made of it (native
# code above all) serves all of them. A form and its operands are a *part* of a program. Back ends read forms step by
# step: numpy (`Interpreter` below) and native code (`native/lowering.py`). The type of a value is in its step: how many
# bits it has in each lane, one where it is a truth value.


COORDINATES = ("x low", "x high", "y low", "y high")
"""Rows of state past the flags that hold the bytes of each lane's x and y."""


class Op(IntEnum):
    """Operation of a step; its inputs are earlier steps, its detail is named in brackets."""

    CONSTANT = 0
    """A constant that code is made for [its value]."""
    LITERAL = 1
    """Any other constant [number of the operand]."""
    LOAD = 2
    """A row of state [number of the operand]."""
    STORE = 3
    """Write a value to a row of state [number of the operand]."""
    AFFINE = 4
    """``a * x + b * y + c`` of the four bytes of coordinates [number of the first of three operands]."""
    CUT = 5
    """A word of a wider value [which, from the lowest]."""
    ADD = 6
    """The sum of two words and a bit."""
    CARRY = 7
    """The carry of a sum."""
    AND = 8
    OR = 9
    XOR = 10
    NOT = 11
    UP = 12
    """A word shifted up by one, with a bit at the bottom."""
    TOP = 13
    """The top bit of a word."""
    DOWN = 14
    """A word shifted down by one, with a bit at the top."""
    BOTTOM = 15
    """The bottom bit of a word."""
    SELECT = 16
    """Where a bit is set the one, elsewhere the other value."""
    ROUTE = 17
    """In lane i of every group what lane ``lanes[i]`` has."""
    PATTERN = 18
    """A bit that is the same in every group: ``lanes[i]`` in lane i."""

    # Of lanes whose words are numbers (`pixelflow.simd.lanes.numbers`).
    SERIES = 19
    """A word that is the same in every group: ``lanes[i]`` in lane i."""
    FETCH = 20
    """Consecutive bytes of memory, in all lanes or where a bit is set, 0 elsewhere [how many]."""
    PUT = 21
    """Write the low bytes of the second word to the address that is the first, all or where a bit is set [how many]."""
    SPREAD = 22
    """In lane i, bit i of a word."""
    COLLECT = 23
    """The number whose bit i is lane i's bit."""
    RANK = 24
    """How many lanes before have the bit set."""
    EQUAL = 25
    LESS = 26
    """True if one word is less than the other [1 where they are signed]."""
    MULTIPLY = 27
    """The low word of a product."""
    MULTIPLY_HIGH = 28
    """The high word of a product [1 where it is signed]."""
    SHIFT_UP = 29
    SHIFT_DOWN = 30
    """A word shifted down by another one [1 where the sign comes in]."""
    FLOAT_ADD = 31
    FLOAT_MULTIPLY = 32
    FLOAT_DIVIDE = 33
    FLOAT_FUSE = 34
    """The product of two floats plus a third, rounded once."""
    FLOAT_EQUAL = 35
    FLOAT_LESS = 36
    TO_FLOAT = 37
    """An integer as the nearest float [1 where it is signed]."""
    TO_INTEGER = 38
    """A float as a signed integer [how it is rounded]."""
    HALF_TO_FLOAT = 39

    # Of pairs of such words: doubles. What is taken are low and high words in turn.
    DOUBLE_ADD = 40
    DOUBLE_MULTIPLY = 41
    DOUBLE_FUSE = 42
    """The product of two doubles plus a third, rounded once."""
    DOUBLE_EQUAL = 43
    DOUBLE_LESS = 44
    TO_DOUBLE = 45
    """An integer as a double [1 where it is signed]."""
    DOUBLE_TO_INTEGER = 46
    """A double as a signed integer [how it is rounded]."""
    FLOAT_TO_DOUBLE = 47
    DOUBLE_TO_FLOAT = 48


class FormStep(NamedTuple):
    """An operation; ``bits`` is the size of the result in each lane, ``inputs`` are the numbers of earlier steps."""

    op: Op
    bits: int
    inputs: tuple[int, ...] = ()
    detail: int = 0
    lanes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """The steps of a meaning. Forms are interned (`form_of`) and stay: equal ones are the same object."""

    steps: tuple[FormStep, ...]
    is_row: tuple[bool, ...]
    """Which of the operands are rows of state."""
    stores: tuple[int, ...]
    """The numbers of the steps that write."""

    def __reduce__(self) -> tuple[object, ...]:
        return _form_with, (tuple([tuple(each) for each in self.steps]),)

    @property
    def digest(self) -> str:
        """A hash of the steps, the same in every process."""
        return _digest(self)


@lru_cache(maxsize=4096)
def _digest(form: Form) -> str:
    return hashlib.sha256(repr([(int(op), *others) for op, *others in form.steps]).encode()).hexdigest()


class Part(NamedTuple):
    """A form and its operands: places of rows, constants, coefficients, in the order in which the steps name them."""

    form: Form
    operands: Sequence[int]


_forms: dict[tuple[FormStep, ...], Form] = {}

_OPERANDS = {Op.LITERAL: (False,), Op.LOAD: (True,), Op.STORE: (True,), Op.AFFINE: (False,) * 3}
"""Of the operands of a step, which are rows."""


def form_of(steps: tuple[FormStep, ...]) -> Form:
    """Return the one form that these steps are."""
    form = _forms.get(steps)
    if form is None:
        is_row = tuple(row for each in steps for row in _OPERANDS.get(each.op, ()))
        stores = tuple(at for at, each in enumerate(steps) if each.op is Op.STORE)
        form = _forms.setdefault(steps, Form(steps, is_row, stores))
    return form


def _form_with(steps: tuple[tuple[object, ...], ...]) -> Form:
    """Return the form of steps from a pickle, where they are plain tuples, which are equal to steps."""
    known = cast("tuple[FormStep, ...]", steps)
    return _forms.get(known) or form_of(tuple([FormStep(*each) for each in known]))


def places_of(shape: Shape) -> dict[str, int]:
    """Return the rows of state, past those of memory, that hold registers, flags, coordinates and counters."""
    named = (*shape.words, *shape.carries, *shape.masks, *COORDINATES, *shape.counters)
    return {name: shape.rows + index for index, name in enumerate(named)}


def coordinate_bytes(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the rows of `COORDINATES` for each lane's x and y: uint8[4, lanes]."""
    return np.array([part & 0xFF for value in (x, y) for part in (value, value >> 8)], np.uint8)


def record(meaning: Meaning, places: Mapping[str, int], recorder: MeaningRecorder | None = None) -> Part:
    """Return the form and the operands of a meaning, on words of 8 bits unless a recorder of other ones is given.

    ``places`` are the rows of state that hold registers, flags and coordinates.
    """
    recorder = recorder or MeaningRecorder(places)
    meaning(recorder)
    fields = tuple(recorder.steps)
    form = _recorded.get(fields)
    if form is None:
        form = _recorded[fields] = form_of(tuple([FormStep(*each) for each in fields]))
    return Part(form, recorder.operands)


Fields = tuple[Op, int, tuple[int, ...], int] | tuple[Op, int, tuple[int, ...], int, tuple[int, ...]]
"""Those of a step; they are made much faster than the step, and most forms that are recorded are known."""

_recorded: dict[tuple[Fields, ...], Form] = {}

# Names of members are looked up slowly; recording is on the way of every cold start.
_CONSTANT, _LITERAL, _LOAD, _STORE, _AFFINE, _CUT = Op.CONSTANT, Op.LITERAL, Op.LOAD, Op.STORE, Op.AFFINE, Op.CUT
_ADD, _CARRY, _AND, _OR, _XOR, _NOT = Op.ADD, Op.CARRY, Op.AND, Op.OR, Op.XOR, Op.NOT
_UP, _TOP, _DOWN, _BOTTOM, _SELECT = Op.UP, Op.TOP, Op.DOWN, Op.BOTTOM, Op.SELECT


class MeaningRecorder:
    """The algebra that records: ``steps`` without operands, and ``operands``."""

    __slots__ = ("_all", "_bits", "_fixed", "_places", "operands", "steps")

    def __init__(self, places: Mapping[str, int], bits: int = 8) -> None:
        self._places, self._bits = places, bits
        self._all = (1 << bits) - 1
        self._fixed = (0, 1, 1 << bits - 1, self._all)
        """Constants that code is made for; all others are operands."""
        self.steps: list[Fields] = []
        self.operands: list[int] = []

    def _do(self, op: Op, bits: int, inputs: tuple[int, ...] = (), detail: int = 0) -> int:
        self.steps.append((op, bits, inputs, detail))
        return len(self.steps) - 1

    def _with(self, operand: int, op: Op, bits: int, inputs: tuple[int, ...] = ()) -> int:
        """Record a step with an operand."""
        self.steps.append((op, bits, inputs, len(self.operands)))
        self.operands.append(operand)
        return len(self.steps) - 1

    def _bits_of(self, value: int) -> int:
        return self.steps[value][1]

    # --- fetch ----------------------------------------------------------------------------------------------

    def word(self, value: int) -> int:
        value &= self._all
        if value in self._fixed:
            return self._do(_CONSTANT, self._bits, (), value)
        return self._with(value, _LITERAL, self._bits)

    def bit(self, value: bool) -> int:
        return self._do(_CONSTANT, 1, (), int(value))

    def load(self, row: int) -> int:
        self.steps.append((_LOAD, self._bits, (), len(self.operands)))  # as `_with`, which takes longer
        self.operands.append(row)
        return len(self.steps) - 1

    def read(self, name: str) -> int:
        return self._with(self._places[name], _LOAD, self._bits)

    def flag(self, name: str) -> int:
        return self._with(self._places[name], _LOAD, 1)

    def affine(self, a: int, b: int, c: int, words: int) -> list[int]:
        if a == 0 and b == 0:
            return [self.word(c >> self._bits * index) for index in range(words)]
        coordinates = tuple([self.read(name) for name in COORDINATES])
        value = self._do(_AFFINE, self._bits * words, coordinates, len(self.operands))
        self.operands += [_signed(a), _signed(b), _signed(c)]
        return [self._do(_CUT, self._bits, (value,), index) for index in range(words)]

    # --- operation ------------------------------------------------------------------------------------------

    def add(self, a: int, b: int, carry: int) -> tuple[int, int]:
        total = self._do(_ADD, self._bits, (a, b, carry))
        return total, self._do(_CARRY, 1, (total,))

    def both(self, a: int, b: int) -> int:
        return self._do(_AND, self._bits_of(a), (a, b))

    def either(self, a: int, b: int) -> int:
        return self._do(_OR, self._bits_of(a), (a, b))

    def differ(self, a: int, b: int) -> int:
        return self._do(_XOR, self._bits_of(a), (a, b))

    def complement(self, a: int) -> int:
        return self._do(_NOT, self._bits_of(a), (a,))

    def shift_left(self, a: int, into: int) -> tuple[int, int]:
        return self._do(_UP, self._bits, (a, into)), self._do(_TOP, 1, (a,))

    def shift_right(self, a: int, into: int) -> tuple[int, int]:
        return self._do(_DOWN, self._bits, (a, into)), self._do(_BOTTOM, 1, (a,))

    # --- mask -----------------------------------------------------------------------------------------------

    def select(self, where: int, a: int, b: int) -> int:
        return self._do(_SELECT, self._bits_of(a), (where, a, b))

    def _write(self, place: int, bits: int, value: int, where: int | None) -> None:
        if where is not None:
            value = self._do(_SELECT, bits, (where, value, self._with(place, _LOAD, bits)))
        self._with(place, _STORE, bits, (value,))

    def store(self, row: int, value: int, where: int | None = None) -> None:
        self._write(row, self._bits, value, where)

    def write(self, name: str, value: int, where: int | None = None) -> None:
        self._write(self._places[name], self._bits, value, where)

    def set_flag(self, name: str, value: int, where: int | None = None) -> None:
        self._write(self._places[name], 1, value, where)

    # --- route ----------------------------------------------------------------------------------------------

    def route(self, value: int, sources: Sequence[int]) -> int:
        self.steps.append((Op.ROUTE, self._bits_of(value), (value,), 0, tuple(sources)))
        return len(self.steps) - 1

    def pattern(self, bits: Sequence[bool]) -> int:
        self.steps.append((Op.PATTERN, 1, (), 0, tuple([int(bool(bit)) for bit in bits])))
        return len(self.steps) - 1


def _signed(value: int) -> int:
    """Return a number modulo 2^64 as a signed 64-bit integer."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


# Instruction selection for numpy: a recorded form as the shortest list of whole-row operations that is found for it.
#
# Values are symbols: a row of state, a constant, or the result of an earlier operation. What is selected is then
# cleaned: unused results are dropped, results that only move into a row of state are computed there at once,
# and a row that is overwritten while its old value is still needed is copied first. `Interpreter` binds the cleaned
# operations to buffers.


class Lie(Enum):
    """How a value is stored in memory: a word, or a bit as 0 and 1, or a bit as 0 and 255."""

    WORD = 0
    UNIT = 1
    MASK = 2


class Special(Enum):
    """Operations for which numpy has no function."""

    COPY = 0
    ROUTE = 1
    PATTERN = 2
    AFFINE = 3
    CUT = 4
    HALVE = 5
    TO_TOP = 6


@dataclass(eq=False, slots=True)
class Value:
    """One symbol. ``row`` is the number of a row of state, ``constant`` a value; results of operations have neither."""

    lie: Lie
    row: int | None = None
    constant: int | None = None
    inverse: Value | None = None
    """The word of which this one is the complement, where it is known."""
    carry: Value | None = None
    """The carry of this sum."""
    overwritten_by: NumpyOperation | None = None
    """For a view of a row of state, the operation that next writes that row."""


@dataclass(eq=False, slots=True)
class NumpyOperation:
    """``out = what(*inputs)``; ``detail`` carries what is not a row (a permutation, coefficients)."""

    what: np.ufunc | Special
    inputs: tuple[Value, ...]
    out: Value
    detail: tuple[int, ...] = ()


def select(part: Part, units: Collection[int]) -> tuple[Sequence[NumpyOperation], list[int]]:
    """Return the operations that execute a part, and the places of the rows that they name by number.

    Flags at the places ``units`` are 0 and 1.
    """
    numbers: dict[int, int] = {}
    operands = []
    for is_row, operand in zip(part.form.is_row, part.operands, strict=True):
        operands.append(numbers.setdefault(operand, len(numbers)) if is_row else operand)
    lie_as_units = tuple([number for place, number in numbers.items() if place in units])
    return _selected(part.form, tuple(operands), lie_as_units), list(numbers)


@lru_cache(maxsize=4096)
def _selected(form: Form, operands: tuple[int, ...], units: tuple[int, ...]) -> Sequence[NumpyOperation]:
    selection = _Selection(form, operands, units)
    return tuple(_redirect(_save_overwritten(_drop_unread(selection.operations))))


class _Selection:
    """The operations of a part as they are selected, step by step."""

    def __init__(self, form: Form, operands: Sequence[int], units: Collection[int]) -> None:
        self._form, self._operands, self._units = form, operands, units
        self.operations: list[NumpyOperation] = []
        self._views: dict[int, list[Value]] = {}
        values: list[Value] = []
        for step in self._form.steps:
            direct = _DIRECT.get(step.op)
            if direct is not None:
                values.append(direct(self, *[values[at] for at in step.inputs]))
            elif step.op is _LOAD:
                values.append(self._view(self._operands[step.detail], step.bits))
            else:
                values.append(self._other(step, [values[at] for at in step.inputs]))

    def _do(self, what: np.ufunc | Special, lie: Lie, *inputs: Value, detail: tuple[int, ...] = ()) -> Value:
        out = Value(lie)
        self.operations.append(NumpyOperation(what, inputs, out, detail))
        return out

    def _view(self, row: int, bits: int) -> Value:
        view = Value(self._lie(row, bits), row)
        self._views.setdefault(row, []).append(view)
        return view

    def _lie(self, row: int, bits: int) -> Lie:
        return Lie.WORD if bits > 1 else Lie.UNIT if row in self._units else Lie.MASK

    def _as(self, lie: Lie, bit: Value) -> Value:
        """Return a bit in the given representation."""
        if bit.lie is lie:
            return bit
        if bit.constant is not None:
            return Value(lie, constant=_truth(lie, bool(bit.constant)))
        if lie is Lie.MASK:
            return self._do(np.negative, lie, bit)
        return self._do(np.bitwise_and, lie, bit, _ONE)

    def _other(self, step: FormStep, inputs: list[Value]) -> Value:
        """Select what has a detail and is not a load."""
        detail = step.detail
        match step.op:
            case Op.STORE:
                return self._store(self._operands[detail], step.bits, inputs[0])
            case Op.CONSTANT:
                return Value(Lie.WORD if step.bits > 1 else Lie.UNIT, constant=detail)
            case Op.LITERAL:
                return Value(Lie.WORD, constant=self._operands[detail])
            case Op.AFFINE:
                coefficients = self._operands[detail : detail + 3]
                return self._do(Special.AFFINE, Lie.WORD, detail=(*coefficients, step.bits))
            case Op.CUT:
                return self._do(
                    Special.CUT, Lie.WORD, inputs[0], detail=(self._form.steps[step.inputs[0]].bits, detail)
                )
            case Op.ROUTE:
                return self._do(Special.ROUTE, inputs[0].lie, inputs[0], detail=step.lanes)
            case Op.PATTERN:
                return self._do(Special.PATTERN, Lie.MASK, detail=step.lanes)
        raise ValueError(f"no step {step!r}")

    def _store(self, row: int, bits: int, value: Value) -> Value:
        lie = self._lie(row, bits)
        write = NumpyOperation(Special.COPY, (value if bits > 1 else self._as(lie, value),), Value(lie, row))
        for view in self._views.pop(row, ()):
            view.overwritten_by = write
        self.operations.append(write)
        return write.out

    # --- operation ------------------------------------------------------------------------------------------

    def _add(self, a: Value, b: Value, carry: Value) -> Value:
        if carry.constant == 0:
            total = self._do(np.add, Lie.WORD, a, b)
            total.carry = self._do(np.less, Lie.UNIT, total, a)
        elif carry.constant is not None and b.inverse is not None:
            # a + not x + 1 is a - x, with a carry exactly where a >= x.
            total = self._do(np.subtract, Lie.WORD, a, b.inverse)
            total.carry = self._do(np.greater_equal, Lie.UNIT, a, b.inverse)
        else:
            partial = self._do(np.add, Lie.WORD, a, b)
            first = self._do(np.less, Lie.UNIT, partial, a)
            total = self._do(np.add, Lie.WORD, partial, self._as(Lie.UNIT, carry))
            second = self._do(np.less, Lie.UNIT, total, partial)
            total.carry = self._do(np.bitwise_or, Lie.UNIT, first, second)
        return total

    def _logic(self, what: np.ufunc, a: Value, b: Value) -> Value:
        if a.lie is Lie.WORD:
            return self._do(what, Lie.WORD, a, b)
        lie = Lie.MASK if Lie.MASK in (a.lie, b.lie) else Lie.UNIT
        return self._do(what, lie, self._as(lie, a), self._as(lie, b))

    def _not(self, a: Value) -> Value:
        if a.constant is not None:
            return Value(a.lie, constant=a.constant ^ _truth(a.lie, True))
        if a.lie is Lie.UNIT:
            return self._do(np.bitwise_xor, Lie.UNIT, a, _ONE)
        out = self._do(np.invert, a.lie, a)
        out.inverse = a
        return out

    def _up(self, a: Value, into: Value) -> Value:
        shifted = self._do(np.add, Lie.WORD, a, a)
        if into.constant == 0:
            return shifted
        return self._do(np.bitwise_or, Lie.WORD, shifted, self._as(Lie.UNIT, into))

    def _down(self, a: Value, into: Value) -> Value:
        shifted = self._do(Special.HALVE, Lie.WORD, a)
        return shifted if into.constant == 0 else self._do(np.bitwise_or, Lie.WORD, shifted, self._at_top(into))

    def _at_top(self, bit: Value) -> Value:
        """Return the word that has ``bit`` as its top bit and nothing else."""
        if bit.lie is Lie.UNIT:
            return self._do(Special.TO_TOP, Lie.WORD, bit)
        return self._do(np.bitwise_and, Lie.WORD, bit, Value(Lie.WORD, constant=0x80))

    def _select(self, where: Value, a: Value, b: Value) -> Value:
        if a.lie is not Lie.WORD:
            # Of two bits, the one that is written is stored as the row that it is written to.
            a, b = self._as(b.lie, a), b
        if a.constant == 0x80 and b.constant == 0:
            return self._at_top(where)
        if b.constant == 0 and where.lie is Lie.UNIT:
            return self._do(np.multiply, a.lie, a, where)
        mask = self._as(Lie.MASK, where)
        if b.constant == 0:
            return self._do(np.bitwise_and, a.lie, a, mask)
        chosen = self._do(np.bitwise_and, a.lie, self._do(np.bitwise_xor, a.lie, a, b), mask)
        return self._do(np.bitwise_xor, a.lie, b, chosen)


_DIRECT: dict[Op, Callable[..., Value]] = {
    Op.ADD: _Selection._add,
    Op.CARRY: lambda self, total: total.carry,
    Op.AND: lambda self, a, b: self._logic(np.bitwise_and, a, b),
    Op.OR: lambda self, a, b: self._logic(np.bitwise_or, a, b),
    Op.XOR: lambda self, a, b: self._logic(np.bitwise_xor, a, b),
    Op.NOT: _Selection._not,
    Op.UP: _Selection._up,
    Op.TOP: lambda self, a: self._do(np.greater_equal, Lie.UNIT, a, Value(Lie.WORD, constant=0x80)),
    Op.DOWN: _Selection._down,
    Op.BOTTOM: lambda self, a: self._do(np.bitwise_and, Lie.UNIT, a, Value(Lie.WORD, constant=1)),
    Op.SELECT: _Selection._select,
}
"""The selection for steps that are nothing but what they take."""


_ONE = Value(Lie.UNIT, constant=1)


def _truth(lie: Lie, value: bool) -> int:
    if not value:
        return 0
    return 1 if lie is Lie.UNIT else 0xFF


def _drop_unread(operations: list[NumpyOperation]) -> list[NumpyOperation]:
    wanted: set[Value] = set()
    kept = []
    for operation in reversed(operations):
        if operation.out.row is not None or operation.out in wanted:
            wanted.update(operation.inputs)
            kept.append(operation)
    return kept[::-1]


def _save_overwritten(operations: list[NumpyOperation]) -> list[NumpyOperation]:
    """Copy a row of state before it is overwritten, where a view taken earlier is still read afterwards.

    Readers before the overwriting operation, and that operation itself, keep the view; later ones read the copy.
    """
    position = {operation: index for index, operation in enumerate(operations)}
    copy_of: dict[Value, Value] = {}
    copies: dict[NumpyOperation, list[NumpyOperation]] = {}
    for index, operation in enumerate(operations):
        inputs = []
        for value in operation.inputs:
            by = value.overwritten_by
            if value.row is not None and by is not None and position.get(by, index) < index:
                if value not in copy_of:
                    copy_of[value] = Value(value.lie)
                    copies.setdefault(by, []).append(NumpyOperation(Special.COPY, (value,), copy_of[value]))
                value = copy_of[value]
            inputs.append(value)
        operation.inputs = tuple(inputs)
    return [op for operation in operations for op in (*copies.get(operation, ()), operation)]


_STAYS = (Special.ROUTE, Special.CUT, Special.PATTERN)
"""Operations whose result is not computed where it would be copied to."""


def _redirect(operations: list[NumpyOperation]) -> list[NumpyOperation]:
    """Compute a result in the row of state that it would be copied to."""
    operations = list(operations)
    maker = {operation.out: operation for operation in operations}
    for copy in [operation for operation in operations if operation.what is Special.COPY]:
        (value,), row = copy.inputs, copy.out.row
        made = maker.get(value)
        if row is None or made is None or value.row is not None or made.what in _STAYS:
            continue
        at, first = operations.index(copy), operations.index(made)
        between = operations[first + 1 : at]
        if any(row == v.row for operation in between for v in (*operation.inputs, operation.out)):
            continue
        after = operations[at + 1 :]
        next_write = next((i for i, operation in enumerate(after) if operation.out.row == row), len(after))
        if any(value in operation.inputs for operation in after[next_write + 1 :]):
            continue
        value.row = row
        del operations[at]
    return operations


# Interpreter of recorded forms: numpy calls on whole rows of state, bound once, executed any number of times.
#
# It needs nothing but numpy. The rows engine is this and its state; the compiled engine continues with it, on its own
# state, where native code cannot be made.


Call = Callable[[], object]
Calls = tuple[Call, ...]
"""Calls that execute a part, in order, without arguments."""

Row = NDArray[np.uint8]

_COMPARES = (np.less, np.greater_equal)
_WIDTHS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def _width(bits: int) -> int:
    return next(width for width in _WIDTHS if width >= bits)


class Interpreter:
    """Binds parts to a state of bytes.

    ``state`` is uint8[place, ..., lane]: of each row all lanes, in one axis or in tiles; the last axis is whole groups
    of ``group`` lanes, a multiple of 8 and without gaps. Flags at the places ``units`` are 0 and 1, all others 0
    and 255. ``coordinates`` are the four places of the bytes of each lane's x and y.
    """

    def __init__(
        self, state: NDArray[np.uint8], group: int, coordinates: Sequence[int], units: Collection[int] = ()
    ) -> None:
        self._state, self._group, self._coordinates, self._units = state, group, coordinates, units
        self._shape = shape = state.shape[1:]
        self._constants: dict[int, Row] = {}
        self._patterns: dict[tuple[int, ...], Row] = {}
        self._routes: dict[tuple[int, ...], NDArray[np.intp]] = {}
        self._one = np.full((*shape[:-1], shape[-1] // 8), 1, np.uint64)
        self._seven = np.full_like(self._one, 7)
        self._low_seven = np.full(shape, 0x7F, np.uint8).view(np.uint64)
        self._scratch: list[Row] = []
        # x and y in every width that `affine` computes in; refilled in place, so that bound calls see the change.
        self._x = {width: np.zeros(shape, kind) for width, kind in _WIDTHS.items()}
        self._y = {width: np.zeros(shape, kind) for width, kind in _WIDTHS.items()}
        self._sum = {width: np.zeros(shape, kind) for width, kind in _WIDTHS.items()}
        self._term = {width: np.zeros(shape, kind) for width, kind in _WIDTHS.items()}
        self.look_at_coordinates()

    def look_at_coordinates(self) -> None:
        """Take the coordinates of each lane from the state, where they are others now."""
        x_low, x_high, y_low, y_high = (self._state[place].astype(np.uint64) for place in self._coordinates)
        for width in _WIDTHS:
            self._x[width][...] = x_low | x_high << np.uint64(8)
            self._y[width][...] = y_low | y_high << np.uint64(8)

    def bind(self, part: Part) -> Calls:
        """Return the calls that execute a part."""
        operations, places = select(part, self._units)
        rows = [self._state[place] for place in places]
        last_use = {value: index for index, op in enumerate(operations) for value in (*op.inputs, op.out)}
        buffers: dict[Value, Row] = {}
        free: list[int] = []
        owner: dict[Value, int] = {}
        others = itertools.count()
        calls: list[Call] = []
        for index, operation in enumerate(operations):
            out = operation.out
            if out.row is None and out not in owner:
                owner[out] = free.pop() if free else next(others)
                buffers[out] = self._scratch_row(owner[out])
            inputs = [self._buffer(value, rows, buffers) for value in operation.inputs]
            calls += self._calls(operation, inputs, self._buffer(out, rows, buffers))
            for value in {*operation.inputs, out}:
                if value in owner and last_use[value] == index:
                    free.append(owner[value])
        return tuple(calls)

    def _scratch_row(self, index: int) -> Row:
        while len(self._scratch) <= index:
            self._scratch.append(np.zeros(self._shape, np.uint8))
        return self._scratch[index]

    def _buffer(self, value: Value, rows: Sequence[Row], buffers: dict[Value, Row]) -> Row:
        if value.row is not None:
            return rows[value.row]
        if value.constant is not None:
            if value.constant not in self._constants:
                self._constants[value.constant] = np.full(self._shape, value.constant, np.uint8)
            return self._constants[value.constant]
        return buffers[value]

    def _calls(self, operation: NumpyOperation, inputs: list[Row], out: Row) -> list[Call]:
        match operation.what:
            case Special.COPY:
                return [partial(np.copyto, out, inputs[0])]
            case Special.ROUTE:
                return [partial(np.take, inputs[0], self._route(operation.detail), -1, out, "clip")]
            case Special.PATTERN:
                return [partial(np.copyto, out, self._pattern(operation.detail))]
            case Special.AFFINE:
                return self._affine(*operation.detail)
            case Special.CUT:
                return [partial(np.copyto, out, self._cut(*operation.detail))]
            case Special.HALVE:
                # numpy shifts bytes one by one but 64-bit words in vectors; the mask removes the neighbour's bit.
                wide = out.view(np.uint64)
                return [
                    partial(np.right_shift, inputs[0].view(np.uint64), self._one, wide),
                    partial(np.bitwise_and, wide, self._low_seven, wide),
                ]
            case Special.TO_TOP:
                # A bit in each byte is 0 or 1, so nothing crosses into the neighbour.
                return [partial(np.left_shift, inputs[0].view(np.uint64), self._seven, out.view(np.uint64))]
            case call:
                return [partial(call, *inputs, out.view(np.bool_) if call in _COMPARES else out)]

    def _route(self, sources: tuple[int, ...]) -> NDArray[np.intp]:
        if sources not in self._routes:
            starts = np.arange(0, self._shape[-1], self._group)
            self._routes[sources] = (starts[:, None] + np.array(sources)).ravel()
        return self._routes[sources]

    def _pattern(self, bits: tuple[int, ...]) -> Row:
        if bits not in self._patterns:
            mask = np.array(bits, np.uint8) * np.uint8(0xFF)
            self._patterns[bits] = np.tile(mask, self._shape[-1] // self._group)
        return self._patterns[bits]

    def _affine(self, a: int, b: int, c: int, bits: int) -> list[Call]:
        """Compute the value in every lane, in the narrowest width that holds this many bits."""
        width = _width(bits)
        kind, total, term = _WIDTHS[width], self._sum[width], self._term[width]
        limit = 1 << width
        return [
            partial(np.multiply, self._x[width], kind(a % limit), total),
            partial(np.multiply, self._y[width], kind(b % limit), term),
            partial(np.add, total, term, total),
            partial(np.add, total, kind(c % limit), total),
        ]

    def _cut(self, bits: int, index: int) -> Row:
        """Return the view of one byte of the value of this many bits that `_affine` computed."""
        width = _width(bits)
        size = width // 8
        column = index if sys.byteorder == "little" else size - 1 - index
        return self._sum[width].view(np.uint8).reshape(*self._shape, size)[..., column]
