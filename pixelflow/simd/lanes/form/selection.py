"""Instruction selection for numpy: a recorded form as the shortest list of whole-row operations that is found for it.

Values are symbols: a row of state, a constant, or the result of an earlier operation. What is selected is then
cleaned: results that nobody reads are dropped, results that only move into a row of state are computed there at once,
and a row that is overwritten while its old value is still needed is copied first. `interpreter.py` binds the cleaned
operations to buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np

from pixelflow.simd.lanes.form.steps import Form, FormStep, Op, Part

__all__ = ["Lie", "NumpyOperation", "Special", "Value", "select"]


class Lie(Enum):
    """How a value lies in memory: a word, or a bit as 0 and 1, or a bit as 0 and 255."""

    WORD = 0
    UNIT = 1
    MASK = 2


class Special(Enum):
    """Operations for which numpy has no function of its own."""

    COPY = 0
    ROUTE = 1
    PATTERN = 2
    AFFINE = 3
    CUT = 4
    HALVE = 5
    TO_TOP = 6


@dataclass(eq=False, slots=True)
class Value:
    """One symbol. ``row`` is the number of a row of state, ``constant`` a value; results of operations have none."""

    lie: Lie
    row: int | None = None
    constant: int | None = None
    inverse: Value | None = None
    """The word of which this one is the complement, where it is known."""
    carry: Value | None = None
    """What this sum carried out."""
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
    """Return the operations that carry a part out, and the places of the rows that they name by number.

    Flags at the places ``units`` lie as 0 and 1.
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
        """Return a bit as it should lie."""
        if bit.lie is lie:
            return bit
        if bit.constant is not None:
            return Value(lie, constant=_truth(lie, bool(bit.constant)))
        if lie is Lie.MASK:
            return self._do(np.negative, lie, bit)
        return self._do(np.bitwise_and, lie, bit, _ONE)

    def _other(self, step: FormStep, inputs: list[Value]) -> Value:
        """Select what has a detail and is no load."""
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
            # a + not x + 1 is a - x, and carries out exactly where a >= x.
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
            # Of two bits, the one that is written lies as the row that it is written to.
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

_LOAD = Op.LOAD

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
