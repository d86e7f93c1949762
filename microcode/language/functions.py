"""Arithmetic and functions of .mc expressions. Everything raises ValueError with a message for the user."""

from __future__ import annotations

import struct
from collections.abc import Callable

from microcode.language.values import Range, Value, shown
from pixelflow.simd.isa.operands import Mem

__all__ = ["ARITHMETIC", "FUNCTIONS", "NUMBERS", "arithmetic", "binary32"]

NUMBERS: dict[str, Value] = {"inf": float("inf"), "nan": float("nan")}
"""Numbers with a name."""

NUMBER_BITS = 128
"""Integers beyond this are a mistake; the limit keeps ``1 << 1000000000`` from filling the memory."""


def _limited(value: int) -> int:
    if value.bit_length() > NUMBER_BITS:
        raise ValueError(f"the number is too large: more than {NUMBER_BITS} bits")
    return value


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise ValueError("division by zero")
    return left // right


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise ValueError("division by zero")
    return left % right


def _shift(left: int, right: int, *, up: bool) -> int:
    if not 0 <= right <= NUMBER_BITS:
        raise ValueError(f"a shift by {right} bits, allowed: 0..{NUMBER_BITS}")
    return _limited(left << right) if up else left >> right


# fmt: off
_COMPARE: dict[str, Callable[[float, float], int]] = {
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
}
ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: _limited(left + right),
    "-": lambda left, right: _limited(left - right),
    "*": lambda left, right: _limited(left * right),
    "/": _divide,
    "%": _remainder,
    "<<": lambda left, right: _shift(left, right, up=True),
    ">>": lambda left, right: _shift(left, right, up=False),
    "&": lambda left, right: left & right,
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    **_COMPARE,
}
# fmt: on
_ON_FLOATS: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """Apply an operator to any two values: integers, floats, or places in memory."""
    if isinstance(left, int) and isinstance(right, int):
        return ARITHMETIC[operator](left, right)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _floats(operator, float(left), float(right))
    if isinstance(left, str) and isinstance(right, str) and operator in ("==", "!="):
        return int((left == right) == (operator == "=="))
    return _places(operator, _mem(left), _mem(right), (left, right))


def _floats(operator: str, left: float, right: float) -> int | float:
    if operator in _COMPARE:
        return _COMPARE[operator](left, right)
    if operator not in _ON_FLOATS:
        raise ValueError(f"{operator} needs integers")
    if operator == "/" and right == 0:
        raise ValueError("division by zero")
    return _ON_FLOATS[operator](left, right)


def _mem(value: Value) -> Value:
    return value.mem if isinstance(value, Range) else value


def _places(operator: str, left: Value, right: Value, given: tuple[Value, Value]) -> Value:
    match operator, left, right:
        case "+", Mem(), int():
            return left[right]
        case "+", int(), Mem():
            return right[left]
        case "-", Mem(), int():
            return left[-right]
        case "-", Mem(), Mem() if left.base == right.base:
            return left.offset - right.offset
        case (("==" | "!="), Mem(), Mem()):
            return int((left == right) == (operator == "=="))
        case (("<" | "<=" | ">" | ">="), Mem(), Mem()) if left.base == right.base:
            return ARITHMETIC[operator](left.offset, right.offset)
        case (("==" | "!="), _, _) if left.__class__ is right.__class__:
            return int((left == right) == (operator == "=="))
    raise ValueError(f"{operator} does not work on {shown(given[0])} and {shown(given[1])}")


def _number(value: Value) -> int | float:
    if not isinstance(value, int | float):
        raise ValueError(f"a number is needed, not {shown(value)}")
    return value


def _log2(value: Value) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"log2 needs a positive integer, not {shown(value)}")
    return value.bit_length() - 1


def binary32(value: Value) -> int:
    """Return the bits of a number as IEEE binary32, rounded to nearest even."""
    number = _number(value)
    try:
        return int.from_bytes(struct.pack("<f", number), "little")
    except (OverflowError, struct.error):  # a float past the largest one; an integer of more than 128 bits
        raise ValueError(f"{number} does not fit binary32: the largest is 3.4028235e38") from None


def _byte(value: Value, index: Value) -> int:
    if not isinstance(value, int) or not isinstance(index, int) or not 0 <= index < NUMBER_BITS // 8:
        raise ValueError(f"byte(x, i) needs two integers with i in 0..{NUMBER_BITS // 8 - 1}")
    return value >> 8 * index & 0xFF


def _size(value: Value) -> int:
    if not isinstance(value, Range):
        raise ValueError(f"only a range has a size, not {shown(value)}")
    return value.size


def _address(value: Value) -> int:
    found = _mem(value)
    if not isinstance(found, Mem) or found.base is not None:
        raise ValueError(f"{shown(value)} has no address that is known now")
    return found.offset


_MANY = 1 << 16
FUNCTIONS: dict[str, tuple[int, int, Callable[..., Value]]] = {
    "min": (1, _MANY, lambda *values: min([_number(value) for value in values])),
    "max": (1, _MANY, lambda *values: max([_number(value) for value in values])),
    "abs": (1, 1, lambda value: abs(_number(value))),
    "log2": (1, 1, _log2),
    "float": (1, 1, binary32),
    "byte": (2, 2, _byte),
    "size": (1, 1, _size),
    "addr": (1, 1, _address),
}
"""Each function: fewest and most arguments, and what it gives."""
