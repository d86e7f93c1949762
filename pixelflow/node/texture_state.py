"""What changes in a texture unit while a program runs: its registers, its corner turners, the transfer under way."""

from __future__ import annotations

import copy
from typing import Any

from pixelflow.node.texture_unit import TextureUnit

__all__ = ["restore", "snapshot"]

_PARTS_OF_THE_NODE = frozenset(
    {"_config", "_array", "_engine", "_memories", "_access", "_coming", "_kept", "_scheduled", "gps_of"}
)


def snapshot(unit: TextureUnit) -> dict[str, Any]:
    """Return a copy of all state of a texture unit; the texture memories are not in it."""
    return copy.deepcopy({name: value for name, value in vars(unit).items() if name not in _PARTS_OF_THE_NODE})


def restore(unit: TextureUnit, state: dict[str, Any]) -> None:
    """Put a texture unit into the state of a snapshot."""
    vars(unit).update(copy.deepcopy(state))
