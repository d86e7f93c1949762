"""State as JSON and arrays: what a checkpoint holds besides plain numbers, and how it becomes text and comes back."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import InternalError

__all__ = ["pack", "unpack"]

_ROOMS = ("pixelflow.node.", "pixelflow.simd.boxes.", "pixelflow.isa.tas")
"""Where the classes of saved values may come from; no other name in a file is looked up."""


def pack(value: Any, arrays: list[NDArray]) -> Any:
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


def unpack(packed: Any, arrays: Sequence[NDArray]) -> Any:
    """Return the value that :func:`pack` was given; raises KeyError, TypeError or ValueError for anything else."""
    if not isinstance(packed, dict):
        return packed
    match packed:
        case {"array": int(position)}:
            return arrays[position]
        case {"list": list(items)}:
            return [unpack(each, arrays) for each in items]
        case {"tuple": list(items)}:
            return tuple(unpack(each, arrays) for each in items)
        case {"dict": list(items)}:
            return {unpack(key, arrays): unpack(each, arrays) for key, each in items}
        case {"counter": list(items)}:
            return Counter({unpack(key, arrays): count for key, count in items})
        case {"enum": str(name), "name": str(member)}:
            return _class_of(name)[member]
        case {"class": str(name), "fields": dict(values)}:
            return _class_of(name)(**{key: unpack(each, arrays) for key, each in values.items()})
    raise ValueError(f"no saved value: {sorted(packed)}")


def _name_of(kind: type) -> str:
    if not kind.__module__.startswith(_ROOMS):
        raise InternalError(f"a {kind.__module__}.{kind.__name__} cannot be saved")
    return f"{kind.__module__}:{kind.__name__}"


def _class_of(name: str) -> Any:
    room, _, kind = name.partition(":")
    found = vars(sys.modules[room]).get(kind) if room.startswith(_ROOMS) and room in sys.modules else None
    if not isinstance(found, type) or not (is_dataclass(found) or issubclass(found, Enum)):
        raise ValueError(f"no class of saved values: {name}")
    return found
