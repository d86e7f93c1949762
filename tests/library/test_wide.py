"""Do the routines for mantissas of 4, 5 and 6 bytes round like those for 3?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microcode.catalogue import FLOAT_LIBRARIES, FLOATS, MANTISSA_BYTES, Entry, Library, Operation, find
from pixelflow.config import TINY
from tests.library import operands, oracle
from tests.library.batch import columns, integers, run

SEED = 19950401


def _label(entry: Entry) -> str:
    return f"{entry.library.value}-{entry.name}"


every_entry = pytest.mark.parametrize("entry", FLOATS, ids=_label)


def _wrong(entry: Entry, pairs: list[tuple[int, int]], expected: list[int], **where) -> list[str]:
    rows = [columns(np.array(values, np.uint64), entry.operand_bytes) for values in zip(*pairs, strict=True)]
    found = integers(run(entry, rows[: entry.operands], **where).result).tolist()
    return [
        f"a {a:x} b {b:x}: {got:x}, not {want:x}"
        for (a, b), got, want in zip(pairs, found, expected, strict=True)
        if not oracle.same(got, want, entry.size)
    ][:5]


def _random_rows(entry: Entry, count: int, seed: int, **where) -> list[str]:
    pairs = operands.wide(entry, count, seed)
    expected = [oracle.exact(entry.operation, a, b, entry.size) for a, b in pairs]
    return _wrong(entry, pairs, expected, **where)


@every_entry
def test_results_are_those_of_exact_arithmetic(entry: Entry) -> None:
    assert not _random_rows(entry, 600, SEED), f"seed {SEED}"


@pytest.mark.slow
@every_entry
def test_results_are_those_of_exact_arithmetic_at_length(entry: Entry) -> None:
    assert not _random_rows(entry, 40_000, SEED + 1), f"seed {SEED + 1}"


@every_entry
def test_the_reference_engine_gives_the_same(entry: Entry) -> None:
    assert not _random_rows(entry, TINY.lanes, SEED + 2, engine="bit-serial", config=TINY), f"seed {SEED + 2}"


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.MULTIPLY], ids=["add", "mul"])
@pytest.mark.parametrize("library", FLOAT_LIBRARIES, ids=lambda library: library.value)
@pytest.mark.parametrize("size", MANTISSA_BYTES)
def test_the_reference_vectors(size: int, library: Library, operation: Operation, shared: Path) -> None:
    """The file has no exponent limit; every row is moved as a whole to where the format has its exponents."""
    entry = find(library, operation, size)
    prefix = f"{'add' if operation is Operation.ADD else 'mul'}{8 * size}_"
    with np.load(shared / "data" / "fp" / "wide.npz") as file:
        row = {name: file[prefix + name] for name in ("sa", "ea", "ma", "sb", "eb", "mb", "rne_s", "rne_e", "rne_m")}
    pairs, expected = _fitted(row, size, operation)
    assert len(pairs) > 1000
    assert not _wrong(entry, pairs, expected)


def _fitted(row: dict[str, np.ndarray], n: int, operation: Operation) -> tuple[list[tuple[int, int]], list[int]]:
    pairs, expected = [], []
    for sa, ea, ma, sb, eb, mb, sr, er, mr in zip(*(column.tolist() for column in row.values()), strict=True):
        # A sum moves with its operands, both by as much; a product by the sum of what its operands move.
        move_b = -ea if operation is Operation.ADD else -eb
        move_r = -ea if operation is Operation.ADD else -ea - eb
        biased = (127, eb + move_b + 127, er + move_r + 127)
        if not all(0 < exponent < 255 for exponent, m in zip(biased, (ma, mb, mr), strict=True) if m):
            continue
        a, b, result = (
            oracle.assemble(int(sign), exponent if m else 0, m & ((1 << 8 * n - 1) - 1), n)
            for sign, exponent, m in zip((sa, sb, sr), biased, (ma, mb, mr), strict=True)
        )
        pairs.append((a, b))
        expected.append(result)
    return pairs, expected
