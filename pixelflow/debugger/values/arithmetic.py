"""Arithmetic of the .mc language on one value for every PE: whole numbers are exact, as in the language itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microcode.language.functions import NUMBER_BITS, arithmetic
from pixelflow.simd.errors import InputError

__all__ = ["PerPe", "Quantity", "apply", "negated", "of_pes", "truth"]

PerPe = NDArray[np.generic]
"""One value for each PE: bool, int64, float64, or object with whole numbers that int64 cannot hold."""
Quantity = int | float | PerPe

_COMPARE: dict[str, Callable[[PerPe, PerPe], PerPe]] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
_PLAIN: dict[str, Callable[[PerPe, PerPe], PerPe]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.floor_divide, "%": np.remainder,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "<<": np.left_shift, ">>": np.right_shift,
}  # fmt: skip
_ON_FLOATS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_SAFE_BITS = 62
"""Numbers of so many bits never leave int64 in a sum."""


def apply(operator: str, left: Quantity, right: Quantity) -> Quantity:
    """Return ``left operator right``, PE by PE where either is of PEs; raises InputError."""
    if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
        try:
            found = arithmetic(operator, left, right)
        except ValueError as error:
            raise InputError(str(error)) from None
        return found if isinstance(found, int | float) else 0
    first, second = of_pes(left), of_pes(right)
    if operator in ("/", "%") and not np.all(second != 0):
        raise InputError("division by zero")
    if first.dtype.kind == "f" or second.dtype.kind == "f":
        return _on_floats(operator, first, second)
    if operator in _COMPARE:
        return np.asarray(_COMPARE[operator](first, second), bool)
    return _on_whole(operator, first, second)


def _on_floats(operator: str, left: PerPe, right: PerPe) -> PerPe:
    left, right = left.astype(np.float64), right.astype(np.float64)
    if operator in _COMPARE:
        return _COMPARE[operator](left, right)
    if operator not in _ON_FLOATS:
        raise InputError(f"{operator} needs integers")
    with np.errstate(all="ignore"):
        return _ON_FLOATS[operator](left, right)


def _on_whole(operator: str, left: PerPe, right: PerPe) -> PerPe:
    """Return whole numbers, in Python's integers where int64 might not hold them."""
    if operator in ("<<", ">>"):
        bad = (right < 0) | (right > NUMBER_BITS)
        if np.any(bad):
            raise InputError(f"a shift by {right[bad][0]} bits, allowed: 0..{NUMBER_BITS}")
    if _bits_after(operator, left, right) > _SAFE_BITS:
        left, right = left.astype(object), right.astype(object)
    found = _PLAIN[operator](left, right)
    if found.dtype == object and max((int(each).bit_length() for each in found.flat), default=0) > NUMBER_BITS:
        raise InputError(f"the number is too large: more than {NUMBER_BITS} bits")
    return found


def _bits_after(operator: str, left: PerPe, right: PerPe) -> int:
    """Return how many bits the result may need, or an operand has."""
    first, second = _bits(left), _bits(right)
    match operator:
        case "*":
            return first + second
        case "<<":
            return first + int(right.max())
        case ">>":
            return max(first, int(right.max()))
    return max(first, second) + 1


def _bits(values: PerPe) -> int:
    return max(int(values.max()).bit_length(), int(values.min()).bit_length())


def of_pes(value: Quantity) -> PerPe:
    """Return an array; flags count as 0 and 1, and numbers that int64 cannot hold are Python's."""
    found = np.atleast_1d(np.asarray(value))
    if found.dtype.kind == "b":
        return found.astype(np.int64)
    if found.dtype.kind == "u":
        return found.astype(np.int64 if int(found.max()) < 1 << 63 else object)
    return found.astype(np.float64) if found.dtype.kind == "f" else found


def negated(operator: str, value: Quantity) -> Quantity:
    """Return ``-value``, ``+value``, ``~value`` or ``!value``; raises InputError."""
    match operator:
        case "!":
            held = truth(value)
            return ~held if isinstance(held, np.ndarray) else int(not held)
        case "~":
            if not _is_whole(value):
                raise InputError("~ needs integers")
            return apply("-", apply("*", value, -1), 1)
        case "-":
            return apply("*", value, -1)
    return value


def _is_whole(value: Quantity) -> bool:
    return value.dtype.kind != "f" if isinstance(value, np.ndarray) else isinstance(value, int)


def truth(value: Quantity) -> bool | NDArray[np.bool_]:
    """Return whether a value is other than 0, of each PE where it is of PEs."""
    return np.asarray(value != 0, bool) if isinstance(value, np.ndarray) else value != 0
