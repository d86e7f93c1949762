"""Do the routines for sign, order and whole part of floats give what the numbers say?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from microcode.catalogue import ORDERS, Entry, Operation
from pixelflow.config import TINY
from tests.library import operands, oracle
from tests.library.batch import columns, integers, run

SEED = 754


def _value(x: oracle.Float) -> Fraction | float:
    if x.infinite:
        return float("-inf") if x.negative else float("inf")
    return (-1) ** x.negative * x.mantissa * Fraction(2) ** x.power


def _whole(x: oracle.Float, n: int) -> int:
    """Return the whole part, cut to the range of a signed integer of n + 1 bytes."""
    if x.nan:
        return 0
    end = 1 << (8 * n + 7)
    if x.infinite:
        return -end if x.negative else end - 1
    return min(max(int(_value(x)), -end), end - 1)


def _expected(operation: Operation, a: int, b: int, n: int) -> int:
    x, y = oracle.Float(a, n), oracle.Float(b, n)
    sign = 1 << (8 * n + 7)
    ordered = not x.nan and not y.nan
    match operation:
        case Operation.NEGATE:
            return a ^ sign
        case Operation.ABSOLUTE:
            return a & ~sign
        case Operation.LESS:
            return int(ordered and _value(x) < _value(y))
        case Operation.EQUAL:
            return int(ordered and _value(x) == _value(y))
        case Operation.TO_INTEGER:
            return _whole(x, n) & (2 * sign - 1)
    raise ValueError(operation)


def _wrong(entry: Entry, count: int, **where) -> list[str]:
    pairs = operands.wide(entry, count, SEED)
    rows = [columns(np.array(values, np.uint64), entry.operand_bytes) for values in zip(*pairs, strict=True)]
    found = integers(run(entry, rows[: entry.operands], **where).result).tolist()
    expected = [_expected(entry.operation, a, b, entry.size) for a, b in pairs]
    return [
        f"a {a:x} b {b:x}: {got:x}, not {want:x}"
        for (a, b), got, want in zip(pairs, found, expected, strict=True)
        if got != want
    ][:5]


every_entry = pytest.mark.parametrize("entry", ORDERS, ids=lambda entry: f"{entry.library.value}-{entry.name}")


@every_entry
def test_results_are_those_of_exact_arithmetic(entry: Entry) -> None:
    assert not _wrong(entry, 500), f"seed {SEED}"


@every_entry
def test_the_reference_engine_gives_the_same(entry: Entry) -> None:
    assert not _wrong(entry, TINY.lanes, engine="bit-serial", config=TINY), f"seed {SEED}"
