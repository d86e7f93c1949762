"""Parts carried out by numpy on the compiled engine's own state: what goes on where native code cannot be made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pixelflow.lanes.compiled.trace import OPERANDS, Part, Step

__all__ = ["carry_out"]

Rows = NDArray[np.uint8]
"""A row of state, or a value: uint8[tile, lane of the tile]; a bit is 0 or 255."""


def carry_out(part: Part, memory: NDArray[np.uint8]) -> None:
    """Carry out a part on ``memory``: uint8[tile, place, lane of the tile]."""
    steps, operands = part
    values: list = []
    used = 0
    for step in steps:
        count = OPERANDS.get(step[0], 0)
        values.append(_step(step, operands[used : used + count], values, memory))
        used += count


def _step(step: Step, operands, values: list, memory: NDArray[np.uint8]):
    """Return the value of a step; of a sum all nine bits, of linear expressions all eight bytes."""
    match step:
        case "constant", value:
            return np.full(memory[:, 0].shape, value, np.uint8)
        case ("byte",):
            return np.full(memory[:, 0].shape, operands[0], np.uint8)
        case ("load",):
            return memory[:, operands[0]].copy()
        case "store", value:
            memory[:, operands[0]] = _low(values[value])
            return None
        case "add", a, b, carry:
            return _low(values[a]).astype(np.uint16) + _low(values[b]) + (values[carry] & 1)
        case "carry", total:
            return _bit(values[total] > 0xFF)
        case "affine", *coordinates, _:
            x_low, x_high, y_low, y_high = (values[at].astype(np.uint64) for at in coordinates)
            a, b, c = (np.uint64(each % (1 << 64)) for each in operands)
            return a * (x_low | x_high << np.uint64(8)) + b * (y_low | y_high << np.uint64(8)) + c
        case "cut", value, index:
            return (values[value] >> np.uint64(8 * index)).astype(np.uint8)
        case "pattern", bits:
            lanes = memory.shape[2]
            return np.broadcast_to(np.tile(_bit(np.array(bits)), lanes // len(bits)), memory[:, 0].shape)
        case name, *inputs:
            return _operation(name, inputs, values)


def _operation(name: str, inputs: list, values: list) -> Rows:
    a = _low(values[inputs[0]])
    if name == "route":
        sources = list(inputs[1])
        return a.reshape(len(a), -1, len(sources))[..., sources].reshape(a.shape)
    b = _low(values[inputs[1]]) if len(inputs) > 1 else None
    match name:
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "not":
            return ~a
        case "up":
            return a << 1 | b & 1
        case "top":
            return _bit(a & 0x80)
        case "down":
            return a >> 1 | b & 0x80
        case "bottom":
            return _bit(a & 1)
        case "select":
            return np.where(a, b, _low(values[inputs[2]]))
    raise ValueError(f"no step {name!r}")


def _bit(values: NDArray) -> Rows:
    return np.where(values, np.uint8(0xFF), np.uint8(0))


def _low(value: NDArray) -> Rows:
    """Return a value as bytes: of a sum the low eight bits."""
    return value.astype(np.uint8)
