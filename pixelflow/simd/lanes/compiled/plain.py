"""Parts carried out by numpy on the compiled engine's own state: what goes on where native code cannot be made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.compiled.trace import OPERANDS, Part, Step

__all__ = ["carry_out", "value_of"]

Rows = NDArray[np.uint8]
"""A row of state, or a value: uint8[tile, lane of the tile]; a bit is 0 or 255."""


def carry_out(part: Part, memory: NDArray[np.uint8]) -> None:
    """Carry out a part on ``memory``: uint8[tile, place, lane of the tile]."""
    steps, operands = part
    values: list = []
    shape = memory[:, 0].shape
    used = 0
    for step in steps:
        count = OPERANDS.get(step[0], 0)
        own = operands[used : used + count]
        used += count
        match step:
            case ("load",):
                values.append(memory[:, own[0]].copy())
            case "store", value:
                memory[:, own[0]] = _low(values[value])
                values.append(None)
            case _:
                values.append(value_of(step, own, values, shape))


def value_of(step: Step, operands: Sequence[int], values: Sequence, shape: tuple[int, int]) -> NDArray:
    """Return the value of a step that is neither a load nor a store.

    ``operands`` are its own, ``values`` those of the steps before it, ``shape`` the number of tiles and of the lanes of
    each. A value is uint8[tile, lane of the tile], but of a sum all nine bits, of linear expressions all bytes. Values
    may be of one tile and lane where they are the same in all, but for what a route moves.
    """
    match step:
        case "constant", value:
            return np.full(shape, value, np.uint8)
        case ("byte",):
            return np.full(shape, operands[0], np.uint8)
        case "add", a, b, carry:
            return _low(values[a]).astype(np.uint16) + _low(values[b]) + (values[carry] & 1)
        case "carry", total:
            return _bit(values[total] > 0xFF)
        case "affine", *coordinates, words:
            word = np.dtype(f"u{next(size for size in (1, 2, 4, 8) if size >= words)}").type
            x_low, x_high, y_low, y_high = (values[at].astype(word) for at in coordinates)
            a, b, c = (word(each % (1 << 8 * word().nbytes)) for each in operands)
            return a * (x_low | x_high << 8) + b * (y_low | y_high << 8) + c
        case "cut", value, index:
            return (values[value] >> 8 * index).astype(np.uint8)
        case "pattern", bits:
            return np.broadcast_to(np.tile(_bit(np.array(bits)), shape[1] // len(bits)), shape)
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
