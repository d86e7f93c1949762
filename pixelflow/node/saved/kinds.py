"""Kinds of saved values: what a class declares of its fields, and what a node's own state looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Union, get_args, get_origin, get_type_hints

import numpy as np

__all__ = ["has_fields", "is_like"]


def has_fields(kind: type, values: Mapping[str, object]) -> bool:
    """Return whether values are those of all fields of a dataclass, each of the type that it declares."""
    hints = _hints(kind)
    return hints.keys() == values.keys() and all(_is(values[name], hint) for name, hint in hints.items())


@cache
def _hints(kind: type) -> Mapping[str, object]:
    """Return the types of a dataclass's fields."""
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _is(value: object, hint: object) -> bool:
    """Return whether a value is of a declared type; a truth value is no number."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint is None or hint is type(None):
        return value is None
    if origin in (Union, UnionType):
        return any(_is(value, each) for each in inside)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(inside[1])[0]
    if origin is list:
        return isinstance(value, list) and all(_is(each, inside[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(_is(k, inside[0]) and _is(v, inside[1]) for k, v in value.items())
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if inside[-1] is Ellipsis:
            return all(_is(each, inside[0]) for each in value)
        return len(value) == len(inside) and all(map(_is, value, inside))
    if getattr(hint, "__supertype__", None) is int:
        hint = int
    if isinstance(hint, type) and issubclass(hint, int) and hint is not bool:
        known = not issubclass(hint, Enum) or value in {each.value for each in hint}
        return known and isinstance(value, int) and not isinstance(value, bool)
    anything = not isinstance(hint, type) or hint.__module__ == "typing"
    return anything or isinstance(value, hint)


def is_like(found: object, like: object) -> bool:
    """Return whether a value has the form of another: types, members, lengths, and the elements of arrays.

    An array may be longer or shorter along its first axis where the other one is empty there.
    """
    if isinstance(like, np.ndarray):
        same = isinstance(found, np.ndarray) and found.dtype == like.dtype and found.ndim == like.ndim
        return same and (found.shape == like.shape or (not len(like) and found.shape[1:] == like.shape[1:]))
    if isinstance(like, dict):
        same = isinstance(found, dict) and found.keys() == like.keys()
        return same and all(is_like(found[key], value) for key, value in like.items())
    if isinstance(like, list | tuple):
        return type(found) is type(like) and len(found) == len(like) and all(map(is_like, found, like))
    if is_dataclass(like):
        # What its fields may hold is checked where it is made; what has a size here has that size always.
        return type(found) is type(like) and all(
            is_like(getattr(found, each.name), value)
            for each in fields(like)
            if isinstance(value := getattr(like, each.name), list | np.ndarray)
        )
    return True
