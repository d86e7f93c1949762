"""Operands for kernels: every exponent with every other, and random ones that find mistakes; and who is compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microcode.catalogue import FLOATS, ORDERS, Entry, Kind, Library, Operation
from pixelflow.node.kernels.float_kernel import Kernel
from pixelflow.node.kernels.float_kernel import KernelOperation as Computed
from tests.library.batch import columns

__all__ = ["ENTRIES", "Numbers", "grid", "kernel_for", "label", "random_pairs", "rows"]

Numbers = NDArray[np.uint64]
"""Float patterns."""

# Of binary32, which alone has kernels. Order and signs are the same routines in the libraries plain and tuned; those of
# the library generic are sequences of calls, which have no kernel.
ENTRIES = (
    *(entry for entry in FLOATS if entry.library is not Library.GENERIC and entry.size == 3),
    *(entry for entry in ORDERS if entry.library is Library.TUNED and entry.size == 3),
)

COMPUTED = {
    Operation.FROM_INTEGER: Computed.FROM_INTEGER,
    Operation.ADD: Computed.ADD,
    Operation.SUBTRACT: Computed.SUBTRACT,
    Operation.MULTIPLY: Computed.MULTIPLY,
    Operation.DIVIDE: Computed.DIVIDE,
    Operation.SQUARE_ROOT: Computed.SQUARE_ROOT,
    Operation.NEGATE: Computed.NEGATE,
    Operation.ABSOLUTE: Computed.ABSOLUTE,
    Operation.LESS: Computed.LESS,
    Operation.EQUAL: Computed.EQUAL,
    Operation.TO_INTEGER: Computed.TO_INTEGER,
}


def kernel_for(entry: Entry) -> Kernel:
    """Return the kernel that an entry of the library must be recognised as."""
    return Kernel(COMPUTED[entry.operation], entry.kind is Kind.FINITE)


def label(entry: Entry) -> str:
    return f"{entry.library.value}-{entry.name}"


def rows(entry: Entry, a: Numbers, b: Numbers) -> list[NDArray[np.uint8]]:
    """Return the operand columns of an entry."""
    return [columns(values, entry.operand_bytes) for values in (a, b)[: entry.operands]]


def _assembled(size: int, sign: NDArray, exponent: NDArray, fraction: NDArray) -> Numbers:
    stored = 8 * size - 1
    parts = (sign, stored + 8), (exponent, stored), (fraction, 0)
    return np.bitwise_or.reduce([values.astype(np.uint64) << np.uint64(shift) for values, shift in parts])


def _fractions(size: int, count: int, generator: np.random.Generator) -> Numbers:
    """Return stored mantissas: some with all bits, with none, with few at one end, the rest random."""
    stored = 8 * size - 1
    found = generator.integers(0, 1 << stored, count, dtype=np.uint64)
    sparse = found & generator.integers(0, 1 << stored, count, dtype=np.uint64)
    special = [np.full(count, (1 << stored) - 1), np.zeros(count), sparse >> np.uint64(stored - 4), sparse]
    kind = generator.integers(0, 8, count)
    for which, values in enumerate(special):
        found = np.where(kind == which, np.asarray(values, np.uint64), found)
    return found


def grid(entry: Entry, seed: int, *, dense: bool) -> tuple[Numbers, Numbers]:
    """Return all exponents with all signs, pairwise for two operands; ``dense`` is all, else each with some 33 others.

    Exponents of neighbouring lanes are alike, so that they are worked on together without any extreme one among them.
    """
    generator = np.random.default_rng(seed)
    ends = np.array([0, 1, 2, 125, 126, 127, 128, 129, 253, 254, 255])
    every = np.arange(256)
    if entry.operands == 1:
        exponent = np.repeat(every, 2 * (512 if dense else 64))
        sign = np.arange(len(exponent)) % 2
        a = _assembled(entry.size, sign, exponent, _fractions(entry.size, len(exponent), generator))
        return a, a
    others = [every if dense else np.unique([*ends, *np.clip(e + np.arange(-11, 12), 0, 255)]) for e in every]
    first = np.concatenate([np.repeat(e, 4 * len(other)) for e, other in zip(every, others, strict=True)])
    second = np.concatenate([np.tile(other, 4) for other in others])
    signs = np.concatenate([np.repeat(np.arange(4), len(other)) for other in others])
    pairs = ((first, signs >> 1), (second, signs & 1))
    a, b = (
        _assembled(entry.size, sign, exponent, _fractions(entry.size, len(exponent), generator))
        for exponent, sign in pairs
    )
    return a, np.where(generator.random(len(a)) < 0.05, a ^ (b & np.uint64(1)), b)


def random_pairs(entry: Entry, count: int, seed: int) -> tuple[Numbers, Numbers]:
    """Return random patterns: any bits, near exponents, near equals; a quarter of them without extreme exponents."""
    generator = np.random.default_rng(seed)
    stored = np.uint64(8 * entry.size - 1)
    exponents = generator.integers(0, 256, count), generator.integers(0, 256, count)
    near = np.clip(exponents[0] + generator.integers(-9 * entry.size, 9 * entry.size + 1, count), 0, 255)
    chosen = (exponents[0], np.where(generator.random(count) < 0.4, near, exponents[1]))
    usual = np.arange(count) < count // 4
    a, b = (
        _assembled(
            entry.size,
            generator.integers(0, 2, count),
            np.where(usual, 64 + each // 2, each),
            _fractions(entry.size, count, generator),
        )
        for each in chosen
    )
    other = a ^ (b & np.uint64(3)) ^ (b >> (stored + np.uint64(8)) << (stored + np.uint64(8)))
    return a, np.where(generator.random(count) < 0.05, other, b)
