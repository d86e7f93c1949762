"""The one recorded form of a meaning: typed steps without operands, for words of any size, interned.

A meaning is carried out once on a `MeaningRecorder`, an algebra whose values are the numbers of steps. What depends
on where an operand lies (a row, a constant, coefficients) goes to the list of operands; the steps that remain are the
*form* of the meaning. Meanings that differ only in their operands have one form, so that what is made of it (native
code above all) serves all of them. A form and its operands are a *part* of a program. Back ends read forms step by
step: numpy (`interpreter.py`) and native code (`compiled/`). The type of a value stands in its step: how many bits it
has in each lane, one where it is a truth value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.engine import Meaning
from pixelflow.simd.lanes.shape import Shape

__all__ = [
    "COORDINATES",
    "Form",
    "FormStep",
    "MeaningRecorder",
    "Op",
    "Part",
    "coordinate_bytes",
    "form_of",
    "places_of",
    "record",
]

COORDINATES = ("x low", "x high", "y low", "y high")
"""Rows of state past the flags that hold the bytes of each lane's x and y."""


class Op(IntEnum):
    """What a step does; what it takes are earlier steps, its detail is named in brackets."""

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
    """The carry out of a sum."""
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

    # Of lanes whose words are numbers (`pixelflow.simd.lanes.wide.numbers`).
    SERIES = 19
    """A word that is the same in every group: ``lanes[i]`` in lane i."""
    FETCH = 20
    """Bytes of memory from an address on, in all lanes or where a bit is set, 0 elsewhere [how many]."""
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
    """Whether one word is less than the other [1 where they are signed]."""
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
    """What is done; ``bits`` is the size of the result in each lane, ``inputs`` are the numbers of earlier steps."""

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


def places_of(shape: Shape) -> dict[str, int]:
    """Return the rows of state, past those of memory, that hold registers, flags and coordinates."""
    named = (*shape.words, *shape.carries, *shape.masks, *COORDINATES)
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
