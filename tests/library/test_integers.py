"""Do the integer routines give what Python's integers give, at every size?"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np
import pytest

from microcode import assemble
from microcode.catalogue import INTEGER_BYTES, INTEGERS, Entry, Operation, shifts
from pixelflow.config import TINY, NodeConfig
from pixelflow.node import Node
from tests.library.batch import columns, integers

PLACES = {"d": 0, "q": 0, "r": 16, "a": 32, "b": 64}
SEED = 32


def _signed(value: int, n: int) -> int:
    return value - (1 << 8 * n) if value >> (8 * n - 1) else value


EXPECTED: dict[Operation, Callable[[int, int, int], int]] = {
    Operation.INTEGER_ADD: lambda a, b, n: a + b,
    Operation.INTEGER_SUBTRACT: lambda a, b, n: a - b,
    Operation.INTEGER_NEGATE: lambda a, b, n: -a,
    Operation.INTEGER_ABSOLUTE: lambda a, b, n: abs(_signed(a, n)),
    Operation.INTEGER_MULTIPLY: lambda a, b, n: a * b,
    Operation.INTEGER_MULTIPLY_LOW: lambda a, b, n: a * b,
    Operation.INTEGER_DIVIDE: lambda a, b, n: a // b if b else -1,
    Operation.INTEGER_SQUARE_ROOT: lambda a, b, n: isqrt(a),
    Operation.INTEGER_LESS: lambda a, b, n: int(a < b),
    Operation.INTEGER_SIGNED_LESS: lambda a, b, n: int(_signed(a, n) < _signed(b, n)),
    Operation.INTEGER_EQUAL: lambda a, b, n: int(a == b),
}
"""Results, before they are cut to the size of the result."""


def _operands(n: int, count: int) -> tuple[list[int], list[int]]:
    """Return pairs of every magnitude, with ends of the range, zeros and equals among them."""
    generator = np.random.default_rng(SEED + n)
    columns_of = []
    for _ in range(2):
        values = generator.integers(0, 2**64, count, dtype=np.uint64)
        values >>= generator.integers(64 - 8 * n, 64, count).astype(np.uint64)
        top = np.uint64((1 << 8 * n) - 1)
        ends = np.array([0, 1, 2, (1 << 8 * n - 1) - 1, 1 << 8 * n - 1, int(top) - 1, int(top)], np.uint64)
        values = np.where(generator.random(count) < 0.1, top - values, values)
        columns_of.append(np.where(generator.random(count) < 0.1, generator.choice(ends, count), values))
    a, b = columns_of
    b = np.where(generator.random(count) < 0.05, a, b)
    return a.tolist(), b.tolist()


def _called(entry: Entry, a: list[int], b: list[int], config: NodeConfig, engine: str) -> Node:
    node = Node(config, engine)
    for name, values in (("a", a), ("b", b)):
        rows = np.zeros((entry.size, node.lanes), np.uint8)
        rows[:, : len(values)] = columns(np.array(values, np.uint64), entry.size)
        node.write_memory(PLACES[name], rows)
    addresses = ", ".join(f"[{PLACES[name]}]" for name in entry.parameters)
    node.run(assemble(f"{entry.include}\nCALL {entry.name}, {addresses}\n"))
    return node


def _result(node: Node, start: int, size: int, count: int) -> list[int]:
    """Return results of any number of bytes."""
    rows = node.read_memory(start, size)[:, :count]
    low = integers(rows[:8]).tolist()
    high = integers(rows[8:]).tolist() if size > 8 else [0] * count
    return [small | large << 64 for small, large in zip(low, high, strict=True)]


def _check(entry: Entry, config: NodeConfig, engine: str) -> None:
    count = min(4000, config.lanes)
    a, b = _operands(entry.size, count)
    node = _called(entry, a, b, config, engine)
    found = _result(node, 0, entry.result_bytes, count)
    cut = (1 << 8 * entry.result_bytes) - 1
    expected = [EXPECTED[entry.operation](x, y, entry.size) & cut for x, y in zip(a, b, strict=True)]
    assert found == expected, f"seed {SEED}"
    if entry.operation is Operation.INTEGER_DIVIDE:
        remainders = [x % y if y else x for x, y in zip(a, b, strict=True)]
        assert _result(node, PLACES["r"], entry.size, count) == remainders, f"seed {SEED}"


every_entry = pytest.mark.parametrize("entry", INTEGERS, ids=lambda entry: entry.name)


@every_entry
def test_results_are_those_of_python(entry: Entry) -> None:
    _check(entry, NodeConfig(), "rows")


@pytest.mark.parametrize(
    "entry",
    [pytest.param(each, id=each.name, marks=[pytest.mark.slow] * (each.size not in (1, 4))) for each in INTEGERS],
)
def test_the_reference_engine_gives_the_same(entry: Entry) -> None:
    _check(entry, TINY, "bit-serial")


def test_sixteen_bit_roots_are_exact_for_every_operand() -> None:
    entry = next(e for e in INTEGERS if e.operation is Operation.INTEGER_SQUARE_ROOT and e.size == 2)
    for first in range(0, 1 << 16, 8192):
        a = list(range(first, first + 8192))
        node = _called(entry, a, a, NodeConfig(), "rows")
        assert _result(node, 0, 1, 8192) == [isqrt(value) for value in a]


@pytest.mark.parametrize("size", INTEGER_BYTES)
def test_shifts_by_every_count(size: int) -> None:
    counts = range(8 * size) if size < 4 else (0, 1, 2, 3, 5, 7, 8, 9, 12, 15, 16, 8 * size - 9, 8 * size - 1)
    a, _ = _operands(size, TINY.lanes)
    cut = (1 << 8 * size) - 1
    for count in counts:
        left, right, signed = (_called(entry, a, a, TINY, "rows") for entry in shifts(size, count))
        assert _result(left, 0, size, len(a)) == [value << count & cut for value in a]
        assert _result(right, 0, size, len(a)) == [value >> count for value in a]
        assert _result(signed, 0, size, len(a)) == [_signed(value, size) >> count & cut for value in a]
