"""What changes in a texture unit while a program runs: its registers, its corner turners, the transfer under way."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from pixelflow.node.address_generator import AddressGenerator
from pixelflow.node.texture_unit import TextureUnit
from pixelflow.node.transfer import Destination, Transfer

__all__ = ["is_in", "restore", "snapshot"]

_PARTS_OF_THE_NODE = frozenset(
    {"_config", "_array", "_engine", "_memories", "_access", "_coming", "_kept", "_scheduled", "gps_of"}
)


def snapshot(unit: TextureUnit) -> dict[str, Any]:
    """Return a copy of all state of a texture unit; the texture memories are not in it."""
    return {name: _copied(value) for name, value in vars(unit).items() if name not in _PARTS_OF_THE_NODE}


def is_in(unit: TextureUnit, state: dict[str, Any]) -> bool:
    """Return whether a texture unit is in a state, as far as that says; never while a transfer is under way."""
    now = vars(unit)
    return unit.is_idle and all(
        np.array_equal(value, now[name]) if np.ndarray in (type(value), type(now[name])) else value == now[name]
        for name, value in state.items()
    )


def restore(unit: TextureUnit, state: dict[str, Any]) -> None:
    """Put a texture unit into the state of a snapshot."""
    vars(unit).update({name: _copied(value) for name, value in state.items()})


def _copied(value: Any) -> Any:
    """Return a value for somebody else, who may change it; most are cheaper to copy than `deepcopy` finds out."""
    match value:
        case None | bool() | int() | Transfer():
            return value
        case np.ndarray() | dict():
            return value.copy()
        case [*destinations] if all(isinstance(each, Destination) for each in destinations):
            return destinations
        case AddressGenerator():
            return replace(value, crossbar=list(value.crossbar))
    return copy.deepcopy(value)
