"""Kinds of values that a key of a scene file may hold, and the check of a table's keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from pixelflow.simd.errors import Fault, Place, nearest
from tessellation.picture import FARTHEST

__all__ = [
    "COORDINATES",
    "FAR",
    "TEXT",
    "TRUTH",
    "ValueKind",
    "check",
    "is_number",
    "number",
    "several",
    "whole",
    "word",
]

FAR = FARTHEST
"""Coordinates and sizes are no larger."""


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What a key may hold."""

    text: str
    holds: Callable[[object], bool]


def number(low: float, high: float) -> ValueKind:
    """Return the kind of numbers in a range, both ends included."""
    return ValueKind(f"a number from {low:g} to {high:g}", lambda value: is_number(value) and low <= value <= high)


def whole(low: int, high: int) -> ValueKind:
    """Return the kind of whole numbers in a range, both ends included."""
    return ValueKind(
        f"a whole number from {low} to {high}", lambda value: is_number(value, whole=True) and low <= value <= high
    )


def several(count: int, each: ValueKind) -> ValueKind:
    """Return the kind of lists of so many values of a kind."""
    return ValueKind(
        f"{count} of {each.text}",
        lambda value: isinstance(value, list) and len(value) == count and all(each.holds(one) for one in value),
    )


def word(*allowed: str) -> ValueKind:
    """Return the kind of words out of these."""
    return ValueKind("one of " + ", ".join(allowed), lambda value: value in allowed)


def is_number(value: object, *, whole: bool = False) -> TypeGuard[float]:
    """Return True for a number of TOML, or for a whole one."""
    return isinstance(value, int if whole else int | float) and not isinstance(value, bool)


TEXT = ValueKind("text", lambda value: isinstance(value, str) and bool(value))
TRUTH = ValueKind("true or false", lambda value: isinstance(value, bool))
COORDINATES = several(3, number(-FAR, FAR))
"""A place in the world."""


def check(
    table: Mapping[str, object],
    kinds: Mapping[str, ValueKind],
    prefix: str,
    name: str,
    faults: list[Fault],
    also: tuple[str, ...] = (),
) -> bool:
    """Report keys that a table may not have, besides ``also``, and values that those may not hold; True for none.

    ``prefix`` says in messages whose keys they are, ``name`` is the file's.
    """
    before = len(faults)
    for key, value in table.items():
        kind = kinds.get(key)
        if kind is None:
            allowed = (*kinds, *also)
            near = nearest(key, allowed)
            hint = f"did you mean {near}?" if near else "allowed: " + ", ".join(allowed)
            faults.append(Fault(f"{prefix}{key} is no key of a scene", Place(name), hint))
        elif not kind.holds(value):
            faults.append(Fault(f"{prefix}{key} is {str(value)[:40]}", Place(name), f"expected {kind.text}"))
    return len(faults) == before
