"""Basic blocks of native code: parts one after the other, each with the slots in which its operands come.

A block is what one native function is made for. Equal rows share a slot, everything else has one of its own; so
different slots of rows are different rows, and blocks that differ only in where their rows lie are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pixelflow.simd.lanes.engine import Meaning
from pixelflow.simd.lanes.form import Form, Op, Part, form_of, record

__all__ = ["Block", "Slotted", "block_of", "parts_of", "slots_of", "slotted"]

_LONGEST = 6
"""Stores of a part; a longer one is cut where that is possible."""

Slotted = tuple[tuple[Form, tuple[int, ...]], ...]
"""Forms, each with the slot of each operand."""


class Block(NamedTuple):
    """Forms with their slots, and the slots of the rows that are known to hold 255 in every lane before them."""

    forms: Slotted
    full: tuple[int, ...] = ()


def parts_of(meaning: Meaning, places: Mapping[str, int]) -> list[Part]:
    """Return the parts that carry out a meaning, one after the other; mostly one.

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
