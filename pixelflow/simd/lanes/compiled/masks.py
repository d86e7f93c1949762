"""Static analysis of masks: which rows are known to be 255 in every lane, where a block begins and where it ends.

A write under a mask that is known to be full needs no old value and no blend. The knowledge begins at a guard, which
looks at the rows when the code runs; from there on it follows from the steps alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pixelflow.simd.lanes.form import Form, FormStep, Op, Part

__all__ = ["full_after", "masks_read"]

NONE, SOME, ALL = 0, None, 0xFF
"""What is known of a value: 0 in every lane, nothing, 255 in every lane."""


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

    ``full`` tells for each operand whether it is such a row, None where none is.
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
    """Return what is known of the value of a step that is no load."""
    inputs = [values[at] for at in step.inputs]
    match step.op:
        case Op.CONSTANT:
            return NONE if step.detail == 0 else ALL if step.detail == (1 << step.bits) - 1 else SOME
        case Op.NOT:
            return None if inputs[0] is None else inputs[0] ^ ALL
        case Op.AND:
            return _both(inputs, NONE, ALL)
        case Op.OR:
            return _both(inputs, ALL, NONE)
        case Op.SELECT:
            where, a, b = inputs
            if where is SOME:
                return a if a == b else SOME
            return a if where == ALL else b
        case _:
            return SOME


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
