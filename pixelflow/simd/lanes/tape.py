"""Recording a meaning as a short list of whole-row operations, and making that list as short as it can be.

The recorder is an algebra whose values are symbols: a row of state, a constant, or the result of an earlier operation.
What it records is then cleaned: results that nobody reads are dropped, results that only move into a row of state are
computed there at once, and a row that is overwritten while its old value is still needed is copied first. The rows
engine binds the cleaned operations to numpy buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

__all__ = ["Form", "Operation", "Recorder", "Value", "clean"]


class Form(Enum):
    """How a value lies in memory: a word, or a bit as 0 and 1, or a bit as 0 and 255."""

    WORD = "word"
    UNIT = "unit"
    MASK = "mask"


@dataclass(eq=False, slots=True)
class Value:
    """One symbol. ``place`` is a row of state, ``constant`` a number; a result of an operation has neither."""

    form: Form
    place: int | None = None
    constant: int | None = None
    inverse: Value | None = None
    """The word of which this one is the complement, where it is known."""
    overwritten_by: Operation | None = None
    """For a view of a row of state, the operation that next writes that row."""


@dataclass(eq=False, slots=True)
class Operation:
    """``out = name(*inputs)``; ``detail`` carries what is not a row (a permutation, coefficients)."""

    name: str
    inputs: tuple[Value, ...]
    out: Value
    detail: object = None


@dataclass(slots=True)
class Recorder:
    """The algebra that records. ``place_of`` gives the row of every register and flag, ``form_of`` a flag's form."""

    place_of: dict[str, int]
    form_of: dict[str, Form]
    operations: list[Operation] = field(default_factory=list)
    _views: dict[int, list[Value]] = field(default_factory=dict)

    def _do(self, name: str, form: Form, *inputs: Value, detail: object = None) -> Value:
        out = Value(form)
        self.operations.append(Operation(name, inputs, out, detail))
        return out

    def _view(self, form: Form, place: int) -> Value:
        view = Value(form, place=place)
        self._views.setdefault(place, []).append(view)
        return view

    def _as(self, form: Form, bit: Value) -> Value:
        """Return a bit in the form that is asked for."""
        if bit.form is form:
            return bit
        if bit.constant is not None:
            return Value(form, constant=_truth(form, bool(bit.constant)))
        if form is Form.MASK:
            return self._do("negative", Form.MASK, bit)
        return self._do("and", Form.UNIT, bit, Value(Form.UNIT, constant=1))

    # --- fetch ----------------------------------------------------------------------------------------------

    def word(self, value: int) -> Value:
        return Value(Form.WORD, constant=value & 0xFF)

    def bit(self, value: bool) -> Value:
        return Value(Form.UNIT, constant=int(value))

    def load(self, row: int) -> Value:
        return self._view(Form.WORD, row)

    def read(self, name: str) -> Value:
        return self._view(Form.WORD, self.place_of[name])

    def flag(self, name: str) -> Value:
        return self._view(self.form_of[name], self.place_of[name])

    def affine(self, a: int, b: int, c: int, words: int) -> list[Value]:
        if a == 0 and b == 0:
            return [self.word(c >> 8 * index) for index in range(words)]
        value = self._do("affine", Form.WORD, detail=(a, b, c, words))
        return [self._do("cut", Form.WORD, value, detail=(words, index)) for index in range(words)]

    # --- operation ------------------------------------------------------------------------------------------

    def add(self, a: Value, b: Value, carry: Value) -> tuple[Value, Value]:
        if carry.constant == 0:
            total = self._do("add", Form.WORD, a, b)
            return total, self._do("less", Form.UNIT, total, a)
        if carry.constant is not None and b.inverse is not None:
            # a + not x + 1 is a - x, and carries out exactly where a >= x.
            return (
                self._do("subtract", Form.WORD, a, b.inverse),
                self._do("greater_equal", Form.UNIT, a, b.inverse),
            )
        partial = self._do("add", Form.WORD, a, b)
        first = self._do("less", Form.UNIT, partial, a)
        total = self._do("add", Form.WORD, partial, self._as(Form.UNIT, carry))
        second = self._do("less", Form.UNIT, total, partial)
        return total, self._do("or", Form.UNIT, first, second)

    def _logic(self, name: str, a: Value, b: Value) -> Value:
        if a.form is Form.WORD:
            return self._do(name, Form.WORD, a, b)
        form = Form.MASK if Form.MASK in (a.form, b.form) else Form.UNIT
        return self._do(name, form, self._as(form, a), self._as(form, b))

    def both(self, a: Value, b: Value) -> Value:
        return self._logic("and", a, b)

    def either(self, a: Value, b: Value) -> Value:
        return self._logic("or", a, b)

    def differ(self, a: Value, b: Value) -> Value:
        return self._logic("xor", a, b)

    def complement(self, a: Value) -> Value:
        if a.constant is not None:
            return Value(a.form, constant=a.constant ^ _truth(a.form, True))
        if a.form is Form.UNIT:
            return self._do("xor", Form.UNIT, a, self.bit(True))
        out = self._do("invert", a.form, a)
        out.inverse = a
        return out

    def shift_left(self, a: Value, into: Value) -> tuple[Value, Value]:
        shifted = self._do("add", Form.WORD, a, a)
        if into.constant != 0:
            shifted = self._do("or", Form.WORD, shifted, self._as(Form.UNIT, into))
        return shifted, self._do("greater_equal", Form.UNIT, a, self.word(0x80))

    def shift_right(self, a: Value, into: Value) -> tuple[Value, Value]:
        shifted = self._do("halve", Form.WORD, a)
        if into.constant != 0:
            shifted = self._do("or", Form.WORD, shifted, self._top(into))
        return shifted, self._do("and", Form.UNIT, a, self.word(1))

    def _top(self, bit: Value) -> Value:
        """Return the word that has ``bit`` as its top bit and nothing else."""
        if bit.form is Form.UNIT:
            return self._do("to_top", Form.WORD, bit)
        return self._do("and", Form.WORD, bit, self.word(0x80))

    # --- mask -----------------------------------------------------------------------------------------------

    def select(self, where: Value, a: Value, b: Value) -> Value:
        if a.constant == 0x80 and b.constant == 0:
            return self._top(where)
        if b.constant == 0 and where.form is Form.UNIT:
            return self._do("multiply", a.form, a, where)
        mask = self._as(Form.MASK, where)
        if b.constant == 0:
            return self._do("and", a.form, a, mask)
        chosen = self._do("and", a.form, self._do("xor", a.form, a, b), mask)
        return self._do("xor", a.form, b, chosen)

    def _write(self, place: int, form: Form, value: Value, where: Value | None) -> None:
        if form is not Form.WORD:
            value = self._as(form, value)
        if where is not None:
            value = self.select(where, value, self._view(form, place))
        write = Operation("copy", (value,), Value(form, place=place))
        for view in self._views.pop(place, ()):
            view.overwritten_by = write
        self.operations.append(write)

    def store(self, row: int, value: Value, where: Value | None = None) -> None:
        self._write(row, Form.WORD, value, where)

    def write(self, name: str, value: Value, where: Value | None = None) -> None:
        self._write(self.place_of[name], Form.WORD, value, where)

    def set_flag(self, name: str, value: Value, where: Value | None = None) -> None:
        self._write(self.place_of[name], self.form_of[name], value, where)

    # --- route ----------------------------------------------------------------------------------------------

    def route(self, value: Value, sources: Sequence[int]) -> Value:
        return self._do("route", value.form, value, detail=tuple(sources))

    def pattern(self, bits: Sequence[bool]) -> Value:
        return self._do("pattern", Form.MASK, detail=tuple(bits))


def _truth(form: Form, value: bool) -> int:
    if not value:
        return 0
    return 1 if form is Form.UNIT else 0xFF


def clean(operations: list[Operation]) -> list[Operation]:
    """Return the shortest list found that leaves the same state. The operations may be changed."""
    return _redirect(_save_overwritten(_drop_unread(operations)))


def _drop_unread(operations: list[Operation]) -> list[Operation]:
    wanted: set[Value] = set()
    kept = []
    for operation in reversed(operations):
        if operation.out.place is not None or operation.out in wanted:
            wanted.update(operation.inputs)
            kept.append(operation)
    return kept[::-1]


def _save_overwritten(operations: list[Operation]) -> list[Operation]:
    """Copy a row of state before it is overwritten, where a view taken earlier is still read afterwards.

    Readers before the overwriting operation, and that operation itself, keep the view; later ones read the copy.
    """
    position = {operation: index for index, operation in enumerate(operations)}
    copy_of: dict[Value, Value] = {}
    copies: dict[Operation, list[Operation]] = {}
    for index, operation in enumerate(operations):
        inputs = []
        for value in operation.inputs:
            by = value.overwritten_by
            if value.place is not None and by is not None and position.get(by, index) < index:
                if value not in copy_of:
                    copy_of[value] = Value(value.form)
                    copies.setdefault(by, []).append(Operation("copy", (value,), copy_of[value]))
                value = copy_of[value]
            inputs.append(value)
        operation.inputs = tuple(inputs)
    return [op for operation in operations for op in (*copies.get(operation, ()), operation)]


def _redirect(operations: list[Operation]) -> list[Operation]:
    """Compute a result in the row of state that it would be copied to."""
    operations = list(operations)
    maker = {operation.out: operation for operation in operations}
    for copy in [operation for operation in operations if operation.name == "copy"]:
        (value,), place = copy.inputs, copy.out.place
        made = maker.get(value)
        if place is None or made is None or value.place is not None or made.name in ("route", "cut", "pattern"):
            continue
        at, first = operations.index(copy), operations.index(made)
        between = operations[first + 1 : at]
        if any(place == v.place for operation in between for v in (*operation.inputs, operation.out)):
            continue
        after = operations[at + 1 :]
        next_write = next((i for i, operation in enumerate(after) if operation.out.place == place), len(after))
        if any(value in operation.inputs for operation in after[next_write + 1 :]):
            continue
        value.place = place
        del operations[at]
    return operations
