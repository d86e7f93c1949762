"""Operands that find mistakes in float routines, made from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microcode.catalogue import Entry, Kind, Operation
from tests.library import oracle

Bits = NDArray[np.uint32]
EXPONENT = np.uint32(0x7F800000)
CORNERS = np.array(
    [
        *(0, 1, 0x007FFFFF, 0x00800000, 0x00800001, 0x00FFFFFF, 0x3F7FFFFF, 0x3F800000, 0x3F800001),
        *(0x4B7FFFFF, 0x4B800000, 0x7E7FFFFF, 0x7F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF),
    ],
    np.uint32,
)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Operand columns as patterns; ``b`` is there for one-operand operations too and means nothing."""

    a: Bits
    b: Bits

    def __getitem__(self, rows: NDArray[np.bool_]) -> Pairs:
        return Pairs(self.a[rows], self.b[rows])


def binary32(entry: Entry, count: int, seed: int) -> Pairs:
    """Return operands for a binary32 entry: every class of number, close exponents, sparse mantissas, near equals."""
    generator = np.random.default_rng(seed)
    if entry.operation is Operation.FROM_INTEGER:
        values = generator.integers(0, 2**32, count, dtype=np.uint32) >> generator.integers(0, 32, count, np.uint32)
        values = np.where(generator.random(count) < 0.5, -values.view(np.int32), values.view(np.int32))
        return Pairs(values.view(np.uint32), values.view(np.uint32))
    a, b = (generator.integers(0, 2**32, count, dtype=np.uint32) for _ in range(2))

    def some(share: float) -> NDArray[np.bool_]:
        return generator.random(count) < share

    near = np.clip((a >> 23 & 255).astype(np.int64) + generator.integers(-27, 28, count), 0, 255).astype(np.uint32)
    b = np.where(some(0.4), (b & ~EXPONENT) | near << np.uint32(23), b)
    for values in (a, b):
        values[:] = np.where(some(0.15), values & np.uint32(0xFFF80000), values)
        values[:] = np.where(some(0.1), values | np.uint32(0x0007FFFF), values)
        signs = generator.integers(0, 2, count, dtype=np.uint32) << np.uint32(31)
        values[:] = np.where(some(0.1), generator.choice(CORNERS, count) | signs, values)
    b = np.where(some(0.05), a ^ generator.choice(np.array([0, 1, 2, 0x80000000, 0x80000001], np.uint32), count), b)
    pairs = Pairs(a, b)
    return pairs[allowed(entry, pairs)]


def ties(count: int, seed: int) -> Pairs:
    """Return pairs whose product has exactly 25 bits, the last one set: half way between two floats."""
    generator = np.random.default_rng(seed)
    x = generator.integers(2**11, 2**12, count, dtype=np.uint64) | np.uint64(1)
    y = generator.integers(2**12, 2**13, count, dtype=np.uint64) | np.uint64(1)
    keep = x * y >= 2**24
    as_float = [values[keep].astype(np.float32).view(np.uint32) for values in (x, y)]
    return Pairs(as_float[0], as_float[1])


def allowed(entry: Entry, pairs: Pairs) -> NDArray[np.bool_]:
    """Which rows an entry takes: a finite one no infinity and NaN, and no zero divided by zero."""
    rows = np.ones(len(pairs.a), bool)
    if entry.kind is Kind.COMPLETE or entry.operation is Operation.FROM_INTEGER:
        return rows
    used = (pairs.a, pairs.b)[: entry.operands]
    for values in used:
        rows &= (values & EXPONENT) != EXPONENT
    if entry.operation is Operation.DIVIDE:
        rows &= ((pairs.a & EXPONENT) != 0) | ((pairs.b & EXPONENT) != 0)
    return rows


def wide(entry: Entry, count: int, seed: int) -> list[tuple[int, int]]:
    """Return operand pairs of any mantissa size as Python integers."""
    source = random.Random(seed)
    n = entry.size
    pairs = []
    while len(pairs) < count:
        a, b = _number(entry, source), _number(entry, source)
        if source.random() < 0.3:
            near = min(254, max(0, oracle.Float(a, n).exponent + source.randint(-3, 3)))
            b = oracle.assemble(source.getrandbits(1), near, oracle.Float(b, n).fraction, n)
        if source.random() < 0.05:
            b = a ^ source.randrange(4)
        if entry.operation is Operation.FROM_INTEGER:
            a >>= source.randrange(8 * n + 8)
        x, y = oracle.Float(a, n), oracle.Float(b, n)
        if entry.kind is Kind.FINITE and (y.exponent == 255 or (x.zero and y.zero)):
            continue
        pairs.append((a, b))
    return pairs


def _number(entry: Entry, source: random.Random) -> int:
    stored = 8 * entry.size - 1
    exponents = [0, 1, 2, 126, 127, 128, 254, source.randrange(255), source.randrange(100, 150)]
    if entry.kind is Kind.COMPLETE:
        exponents.append(255)
    any_fraction = source.getrandbits(stored)
    sparse = any_fraction & source.getrandbits(stored) & source.getrandbits(stored)
    fraction = source.choice([0, 1, (1 << stored) - 1, any_fraction, any_fraction, sparse])
    return oracle.assemble(source.getrandbits(1), source.choice(exponents), fraction, entry.size)
