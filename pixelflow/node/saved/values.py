"""State as JSON and arrays: what a checkpoint holds besides plain numbers, and how it becomes text and comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.saved.kinds import has_fields
from pixelflow.node.saved.stable_names import ADDED, CLASS_OF, NAME_OF
from pixelflow.simd.errors import InternalError

__all__ = ["pack", "unpack"]

_BITS = 64
"""Of the longest whole number that a state holds."""


def pack(value: object, arrays: list[NDArray[np.generic]]) -> object:
    """Return a value as JSON can hold it; arrays are appended to ``arrays`` and referred to by position.

    Tuples, lists, dicts, enums and dataclasses of the node and of its boxes come back as what they were.
    """
    match value:
        case None | bool() | str():
            return value
        case Enum():
            return {"enum": _name_of(type(value)), "name": value.name}
        case int() | np.integer():
            return int(value)
        case np.ndarray():
            arrays.append(value)
            return {"array": len(arrays) - 1}
        case list():
            return {"list": [pack(each, arrays) for each in value]}
        case tuple():
            return {"tuple": [pack(each, arrays) for each in value]}
        case Counter():
            return {"counter": [[pack(key, arrays), count] for key, count in value.items()]}
        case dict():
            return {"dict": [[pack(key, arrays), pack(each, arrays)] for key, each in value.items()]}
    if is_dataclass(value) and not isinstance(value, type):
        values = {each.name: pack(getattr(value, each.name), arrays) for each in fields(value)}
        return {"class": _name_of(type(value)), "fields": values}
    raise InternalError(f"a {type(value).__name__} cannot be saved: {value!r}")


def unpack(packed: object, arrays: Sequence[NDArray[np.generic]], names: Mapping[str, type] = CLASS_OF) -> Any:
    """Return the value that :func:`pack` was given; raises KeyError, TypeError or ValueError for anything else.

    ``names`` are those that stand for classes; no other one is looked up.
    """
    if not isinstance(packed, dict):
        if isinstance(packed, list | float) or (isinstance(packed, int) and abs(packed) >> _BITS):
            raise ValueError("a state has no such numbers")
        return packed
    match packed:
        case {"array": int(position)}:
            return arrays[position]
        case {"list": list(items)}:
            return [unpack(each, arrays, names) for each in items]
        case {"tuple": list(items)}:
            return tuple(unpack(each, arrays, names) for each in items)
        case {"dict": list(items)}:
            return {unpack(key, arrays, names): unpack(each, arrays, names) for key, each in items}
        case {"counter": list(items)}:
            return Counter({unpack(key, arrays, names): int(count) for key, count in items})
        case {"enum": str(name), "name": str(member)}:
            return names[name][member]
        case {"class": str(name), "fields": dict(values)}:
            found = {**ADDED.get(name, {}), **{key: unpack(each, arrays, names) for key, each in values.items()}}
            if names is CLASS_OF and not has_fields(names[name], found):
                raise ValueError(f"no {name}")
            return names[name](**found)
    raise ValueError(f"no saved value: {sorted(packed)}")


def _name_of(kind: type) -> str:
    name = NAME_OF.get(kind)
    if name is None:
        raise InternalError(f"a {kind.__module__}.{kind.__name__} cannot be saved")
    return name
