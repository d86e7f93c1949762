"""Recording a meaning as a shape and its operands.

The recorder is an algebra whose values are the numbers of steps. What depends on where an operand lies (a row, a
constant, coefficients) goes to ``operands``; the steps that remain are the *shape* of the meaning. Meanings that differ
only in their operands have equal shapes, so that one piece of native code serves all of them.

A bit is a word of eight equal bits here, 0 or 255: logic is then the same for both, and a mask needs no widening.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

__all__ = [
    "COORDINATES",
    "OPERANDS",
    "Block",
    "Form",
    "Part",
    "Steps",
    "Trace",
    "block_of",
    "record",
    "rows_of",
    "slots_of",
]

Step = tuple
Steps = tuple[Step, ...]
"""One step each: (name, step numbers and fixed details...)."""

COORDINATES = ("x low", "x high", "y low", "y high")
"""Rows of state behind the flags that hold the bytes of each lane's x and y."""

_FIXED = frozenset({0, 1, 0x80, 0xFF})
"""Constants that code is made for; all others are operands."""

_LOAD = ("load",)

_LONGEST = 6
"""Stores of a shape; a longer meaning is cut into statements where that is possible."""


class Trace:
    """The algebra that records: ``steps`` without operands, ``operands`` in the order in which the steps use them."""

    __slots__ = ("operands", "place_of", "steps")

    def __init__(self, place_of: dict[str, int]) -> None:
        self.place_of = place_of
        self.steps: list[Step] = []
        self.operands: list[int] = []

    def _do(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    # --- fetch ----------------------------------------------------------------------------------------------

    def word(self, value: int) -> int:
        value &= 0xFF
        if value in _FIXED:
            return self._do(("constant", value))
        self.operands.append(value)
        return self._do(("byte",))

    def bit(self, value: bool) -> int:
        return self._do(("constant", 0xFF if value else 0))

    def load(self, row: int) -> int:
        self.operands.append(row)
        self.steps.append(_LOAD)
        return len(self.steps) - 1

    def read(self, name: str) -> int:
        self.operands.append(self.place_of[name])
        self.steps.append(_LOAD)
        return len(self.steps) - 1

    flag = read

    def affine(self, a: int, b: int, c: int, words: int) -> list[int]:
        if a == 0 and b == 0:
            return [self.word(c >> 8 * index) for index in range(words)]
        coordinates = [self.read(name) for name in COORDINATES]
        self.operands += [_signed(a), _signed(b), _signed(c)]
        value = self._do(("affine", *coordinates, words))
        return [self._do(("cut", value, index)) for index in range(words)]

    # --- operation ------------------------------------------------------------------------------------------

    def add(self, a: int, b: int, carry: int) -> tuple[int, int]:
        total = self._do(("add", a, b, carry))
        return total, self._do(("carry", total))

    def both(self, a: int, b: int) -> int:
        return self._do(("and", a, b))

    def either(self, a: int, b: int) -> int:
        return self._do(("or", a, b))

    def differ(self, a: int, b: int) -> int:
        return self._do(("xor", a, b))

    def complement(self, a: int) -> int:
        return self._do(("not", a))

    def shift_left(self, a: int, into: int) -> tuple[int, int]:
        return self._do(("up", a, into)), self._do(("top", a))

    def shift_right(self, a: int, into: int) -> tuple[int, int]:
        return self._do(("down", a, into)), self._do(("bottom", a))

    # --- mask -----------------------------------------------------------------------------------------------

    def select(self, where: int, a: int, b: int) -> int:
        return self._do(("select", where, a, b))

    def store(self, row: int, value: int, where: int | None = None) -> None:
        if where is not None:
            value = self.select(where, value, self.load(row))
        self.operands.append(row)
        self.steps.append(("store", value))

    def write(self, name: str, value: int, where: int | None = None) -> None:
        self.store(self.place_of[name], value, where)

    set_flag = write

    # --- route ----------------------------------------------------------------------------------------------

    def route(self, value: int, sources: Sequence[int]) -> int:
        return self._do(("route", value, tuple(sources)))

    def pattern(self, bits: Sequence[bool]) -> int:
        return self._do(("pattern", tuple(bool(bit) for bit in bits)))


def _signed(value: int) -> int:
    """Return a number modulo 2^64 as a signed 64-bit integer."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


OPERANDS = {"load": 1, "byte": 1, "store": 1, "affine": 3}
"""How many operands a step uses; the others use none."""

ROWS = frozenset({"load", "store"})
"""The steps whose operand is a row of state."""

Part = tuple[Steps, Sequence[int]]
"""A shape and its operands."""

Form = tuple[tuple[Steps, tuple[int, ...]], ...]
"""Parts with the slot of each operand: equal rows share a slot, everything else has one of its own."""

Block = tuple[Form, tuple[int, ...]]
"""A form, and the slots of the rows that are known to hold 255 in every lane before it."""

ARGUMENTS = {
    **dict.fromkeys(("carry", "cut", "not", "top", "bottom", "store", "route"), 1),
    **dict.fromkeys(("and", "or", "xor", "up", "down"), 2),
    **dict.fromkeys(("add", "select"), 3),
    "affine": 4,
}
"""How many of the fields behind a step's name are numbers of earlier steps."""


def record(meaning, place_of: dict[str, int]) -> list[Part]:
    """Return the shapes and operands that carry out a meaning, one after the other; mostly one."""
    trace = Trace(place_of)
    meaning(trace)
    found = tuple(trace.steps)
    steps = _known.get(found)
    if steps is None:
        return [(_known.setdefault(part, part), operands) for part, operands in statements(found, trace.operands)]
    return [(steps, trace.operands)]


_known: dict[Steps, Steps] = {}
"""Shapes that have been recorded: equal ones are the same object, which stays. None of them is ever cut."""


def statements(steps: Steps, operands: list[int]) -> list[Part]:
    """Cut a long shape into its stores, each with the steps that it needs; whole where a store needs an old value."""
    stores = [at for at, step in enumerate(steps) if step[0] == "store"]
    if len(stores) <= _LONGEST or any(step[0] == "affine" for step in steps):
        return [(steps, operands)]
    operands_of = _operands_of(steps, operands)
    rows = {at: operands_of[at][0] for at in stores}
    cut = []
    for store in stores:
        needed = _needed(steps, store)
        for at in needed:
            if steps[at][0] == "load" and any(rows[s] == operands_of[at][0] for s in stores if at < s < store):
                return [(steps, operands)]
        number = {at: index for index, at in enumerate(needed)}
        part = tuple(_renumbered(steps[at], number) for at in needed)
        cut.append((part, [operand for at in needed for operand in operands_of[at]]))
    return cut


def _operands_of(steps: Steps, operands: Sequence[int]) -> list[Sequence[int]]:
    of, used = [], 0
    for step in steps:
        count = OPERANDS.get(step[0], 0)
        of.append(operands[used : used + count])
        used += count
    return of


def _needed(steps: Steps, last: int) -> list[int]:
    """Return the numbers of the steps that a step depends on, and its own, in order."""
    found, waiting = set(), [last]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += steps[at][1 : 1 + ARGUMENTS.get(steps[at][0], 0)]
    return sorted(found)


def _renumbered(step: Step, number: dict[int, int]) -> Step:
    count = ARGUMENTS.get(step[0], 0)
    return (step[0], *(number[at] for at in step[1 : 1 + count]), *step[1 + count :])


def slots_of(part: Part, stride: int) -> tuple[tuple[int, ...], list[int]]:
    """Return the slots of a single part and the operand of each slot, as `form_of` does, in less time."""
    steps, operands = part
    slot_of: dict[int, int] = {}
    located: list[int] = []
    slots = []
    for is_row, operand in zip(rows_of(steps), operands, strict=True):
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


def form_of(parts: Sequence[Part], stride: int) -> tuple[Form, list[int], dict[int, int]]:
    """Return the form of a block, the operand of each slot, and the slot of each row.

    Operands that are rows become byte offsets, ``stride`` bytes apart.
    """
    slot_of: dict[int, int] = {}
    located: list[int] = []
    form = []
    for steps, operands in parts:
        slots = []
        for is_row, operand in zip(rows_of(steps), operands, strict=True):
            slot = slot_of.get(operand) if is_row else None
            if slot is None:
                slot = len(located)
                located.append(operand * stride if is_row else operand)
                if is_row:
                    slot_of[operand] = slot
            slots.append(slot)
        form.append((steps, tuple(slots)))
    return tuple(form), located, slot_of


def block_of(parts: Sequence[Part], stride: int, full: frozenset[int]) -> tuple[Block, list[int]]:
    """Return the block that parts make up, and the operand of each slot, as `form_of` does.

    ``full`` are the rows that hold 255 in every lane before the block.
    """
    form, located, slot_of = form_of(parts, stride)
    return (form, tuple(slot for row, slot in slot_of.items() if row in full)), located


@lru_cache(maxsize=4096)
def rows_of(steps: Steps) -> tuple[bool, ...]:
    """Return which of a shape's operands are rows."""
    return tuple(step[0] in ROWS for step in steps for _ in range(OPERANDS.get(step[0], 0)))
