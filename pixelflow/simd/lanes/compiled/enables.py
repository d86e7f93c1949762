"""Static analysis of masks: which rows are known to be 255 in every lane, where a block begins and where it ends.

A write under a mask that is known to be full needs no old value and no blend. The knowledge begins at a guard, which
looks at the rows when the code runs; from there on it follows from the steps alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pixelflow.simd.lanes.compiled.trace import OPERANDS, Part, Steps

__all__ = ["full_after", "masks_read"]

NONE, SOME, ALL = 0, None, 0xFF


def full_after(part: Part, full: frozenset[int]) -> frozenset[int]:
    """Return the rows that are 255 in every lane behind a part, given those before it."""
    steps, operands = part
    if _changes_nothing(steps, None if full.isdisjoint(operands) else tuple([each in full for each in operands])):
        return full
    known = dict.fromkeys(full, ALL)
    values: list[int | None] = []
    at = 0
    for step in steps:
        values.append(_value(step, values, known.get(operands[at]) if step[0] == "load" else SOME))
        if step[0] == "store":
            known[operands[at]] = values[step[1]]
        at += OPERANDS.get(step[0], 0)
    return frozenset(row for row, value in known.items() if value == ALL)


@lru_cache(maxsize=4096)
def _changes_nothing(steps: Steps, full: tuple[bool, ...] | None) -> bool:
    """Return whether steps store to no row that is full, and nothing that is known to be full.

    ``full`` tells for each operand whether it is such a row, None where none is.
    """
    values: list[int | None] = []
    at = 0
    for step in steps:
        known = full is not None and at < len(full) and full[at]
        values.append(_value(step, values, ALL if known and step[0] == "load" else SOME))
        if step[0] == "store" and (known or values[step[1]] == ALL):
            return False
        at += OPERANDS.get(step[0], 0)
    return True


def _value(step: tuple, values: list[int | None], loaded: int | None) -> int | None:
    """Return 0 or 255 where a step gives that in every lane, None where it is not known."""
    match step:
        case ("load",):
            return loaded
        case "constant", (0 | 0xFF) as value:
            return value
        case "not", a:
            return None if values[a] is SOME else values[a] ^ ALL
        case "and", a, b:
            return _both(values[a], values[b], NONE, ALL)
        case "or", a, b:
            return _both(values[a], values[b], ALL, NONE)
        case "select", where, a, b:
            if values[where] is SOME:
                return values[a] if values[a] == values[b] else SOME
            return values[a] if values[where] == ALL else values[b]
        case _:
            return SOME


def _both(a: int | None, b: int | None, strong: int, weak: int) -> int | None:
    if strong in (a, b):
        return strong
    return weak if a == b == weak else SOME


def masks_read(parts: Sequence[Part], masks: Sequence[int]) -> list[int]:
    """Return which of the rows ``masks`` the parts read before they write them, in the order of ``masks``."""
    read: set[int] = set()
    open_ = set(masks)
    for steps, operands in parts:
        if open_.isdisjoint(operands):
            continue
        for name, operand in _accesses(steps, operands):
            if operand in open_:
                open_.remove(operand)
                if name == "load":
                    read.add(operand)
        if not open_:
            break
    return [row for row in masks if row in read]


def _accesses(steps: Steps, operands: Sequence[int]):
    at = 0
    for step in steps:
        if step[0] in ("load", "store"):
            yield step[0], operands[at]
        at += OPERANDS.get(step[0], 0)
