"""Do the binary32 routines of all libraries give the bits that the numerics contract asks for?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microcode.catalogue import FLOATS, Entry, Kind, Operation
from pixelflow.config import THESIS, TINY
from pixelflow.simd.lanes import available
from tests.library import operands, oracle
from tests.library.batch import columns, integers, run

ENTRIES = [entry for entry in FLOATS if entry.size == 3]
FILES = {
    Operation.FROM_INTEGER: "i2f",
    Operation.ADD: "add",
    Operation.SUBTRACT: "sub",
    Operation.MULTIPLY: "mul",
    Operation.DIVIDE: "div",
    Operation.SQUARE_ROOT: "sqrt",
}
SEED = 20261120


def _label(entry: Entry) -> str:
    return f"{entry.library.value}-{entry.name}"


every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=_label)


def _wrong(entry: Entry, pairs: operands.Pairs, expected, either=None, **where) -> list[str]:
    """Return the first wrong rows in words; ``either`` marks rows that may also be zero of the expected sign."""
    rows = [columns(values, 4) for values in (pairs.a, pairs.b)[: entry.operands]]
    found = integers(run(entry, rows, **where).result).astype(np.uint32)
    bad = oracle.one_nan(found) != expected
    # One quiet pattern: a NaN that the routine returns may differ from it in sign only.
    bad |= ((found & 0x7FFFFFFF) > 0x7F800000) & ((found & 0x7FFFFFFF) != oracle.QUIET)
    if either is not None:
        bad &= ~(either & (found == (expected & oracle.SIGN)))
    wrong = np.flatnonzero(bad)
    return [
        f"a {pairs.a[i]:08x} b {pairs.b[i]:08x}: {found[i]:08x}, not {expected[i]:08x} ({len(wrong)} wrong)"
        for i in wrong[:5]
    ]


def _random_rows(entry: Entry, count: int, seed: int, **where) -> list[str]:
    pairs = operands.binary32(entry, count, seed)
    expected = oracle.binary32(entry.operation, pairs.a, pairs.b if entry.operands == 2 else None)
    return _wrong(entry, pairs, expected, **where)


@every_entry
def test_a_hundred_thousand_operands_agree_with_numpy(entry: Entry) -> None:
    assert not _random_rows(entry, 100_000, SEED), f"seed {SEED}"


@pytest.mark.parametrize("engine", [name for name in available() if name in ("rows", "compiled")])
@pytest.mark.slow
@every_entry
def test_a_million_operands_agree_with_numpy(entry: Entry, engine: str) -> None:
    assert not _random_rows(entry, 1_200_000, SEED + 1, engine=engine), f"seed {SEED + 1}"


@pytest.mark.skipif("compiled" not in available(), reason="native code cannot be made here")
@every_entry
def test_the_compiled_engine_gives_the_same(entry: Entry) -> None:
    assert not _random_rows(entry, 2 * TINY.lanes, SEED + 3, engine="compiled", config=TINY), f"seed {SEED + 3}"


@every_entry
def test_the_reference_engine_gives_the_same(entry: Entry) -> None:
    assert not _random_rows(entry, 3 * TINY.lanes, SEED + 2, engine="bit-serial", config=TINY), f"seed {SEED + 2}"


@pytest.mark.slow
@every_entry
def test_the_reference_engine_gives_the_same_on_the_whole_array(entry: Entry) -> None:
    assert not _random_rows(entry, 100_000, SEED, engine="bit-serial", config=THESIS), f"seed {SEED}"


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.operation is Operation.MULTIPLY], ids=_label)
def test_products_half_way_between_two_floats_go_to_the_even_one(entry: Entry) -> None:
    pairs = operands.ties(8192, SEED)
    assert not _wrong(entry, pairs, oracle.binary32(entry.operation, pairs.a, pairs.b))


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.operation is Operation.DIVIDE], ids=_label)
def test_a_number_divided_by_zero_is_infinite(entry: Entry) -> None:
    pairs = operands.Pairs(
        np.array([0x3F800000, 0xBF800000, 0x00800000, 0x7F7FFFFF], np.uint32),
        np.array([0, 0, 0x80000000, 0x00000001], np.uint32),
    )
    expected = np.array([0x7F800000, 0xFF800000, 0xFF800000, 0x7F800000], np.uint32)
    assert not _wrong(entry, pairs, expected)


@pytest.mark.parametrize(
    "operation, a, b, expected",
    [
        (Operation.ADD, 0x3F800000, 0x33800000, 0x3F800000),  # 1 + 2^-24: half way, to even
        (Operation.ADD, 0x3F800001, 0x33800000, 0x3F800002),  # and up where the neighbour is odd
        (Operation.SUBTRACT, 0x3F800000, 0x32800000, 0x3F800000),  # 1 - 2^-26: a quarter of the place below 1
        (Operation.SUBTRACT, 0x3F800000, 0x33000000, 0x3F800000),  # 1 - 2^-25: half way below 1, to even
        (Operation.SUBTRACT, 0x3F800000, 0x33800000, 0x3F7FFFFF),
        (Operation.ADD, 0x80000000, 0x80000000, 0x80000000),  # -0 + -0
        (Operation.ADD, 0x80000000, 0x00000000, 0x00000000),
        (Operation.SUBTRACT, 0x80000000, 0x00000000, 0x80000000),  # -0 - +0
        (Operation.ADD, 0x3F800000, 0xBF800000, 0x00000000),  # exact cancellation is +0
        (Operation.ADD, 0x80000001, 0x80000001, 0x80000000),  # subnormal operands are zeros of their sign
        (Operation.SUBTRACT, 0x00800001, 0x00800000, 0x00000000),  # subnormal result
        (Operation.SUBTRACT, 0x80800001, 0x80800000, 0x80000000),
        (Operation.ADD, 0x00800000, 0x80000001, 0x00800000),  # smallest normal less a subnormal stays
        (Operation.MULTIPLY, 0x3F7FFFFF, 0x00800000, 0x00000000),  # rounds up to 2^-126, but is below before rounding
        (Operation.MULTIPLY, 0x7F7FFFFF, 0x40000000, 0x7F800000),
        (Operation.MULTIPLY, 0xFF7FFFFF, 0x3F800001, 0xFF800000),  # overflow by rounding alone
        (Operation.DIVIDE, 0x00800000, 0x40000000, 0x00000000),
        (Operation.DIVIDE, 0x80000000, 0x40000000, 0x80000000),
        (Operation.SQUARE_ROOT, 0x80000000, None, 0x80000000),
        (Operation.SQUARE_ROOT, 0xBF800000, None, 0x7FC00000),
        (Operation.SQUARE_ROOT, 0x40800000, None, 0x40000000),
        (Operation.FROM_INTEGER, 0x80000000, None, 0xCF000000),
        (Operation.FROM_INTEGER, 0xFFFFFFFF, None, 0xBF800000),
        (Operation.FROM_INTEGER, 0x01000001, None, 0x4B800000),  # half way, to even
        (Operation.FROM_INTEGER, 0x01000003, None, 0x4B800002),
    ],
)
def test_rows_by_hand(operation: Operation, a: int, b: int | None, expected: int) -> None:
    pairs = operands.Pairs(np.array([a], np.uint32), np.array([b or 0], np.uint32))
    for entry in ENTRIES:
        if entry.operation is operation:
            assert not _wrong(entry, pairs, np.array([expected], np.uint32)), _label(entry)


@pytest.mark.parametrize("kind", ["", "_hard"])
@every_entry
def test_the_reference_vectors(entry: Entry, kind: str, shared: Path) -> None:
    """TestFloat operands with SoftFloat results, and rows next to half-way points."""
    with np.load(shared / "data" / "fp" / f"{FILES[entry.operation]}{kind}.npz") as file:
        pairs = operands.Pairs(file["a"], file["b"] if "b" in file.files else file["a"])
        rows = operands.allowed(entry, pairs)
        assert rows.sum() > (0.9 if entry.kind is Kind.FINITE else 0.999) * len(rows)
        assert not _wrong(entry, pairs[rows], file["ftz_rne"][rows], file["amb"][rows])
        few = np.flatnonzero(rows)[:: max(1, len(rows) // TINY.lanes)]
        where = {"engine": "bit-serial", "config": TINY}
        assert not _wrong(entry, pairs[few], file["ftz_rne"][few], file["amb"][few], **where)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["", "_hard"])
@every_entry
def test_all_reference_vectors_on_the_reference_engine(entry: Entry, kind: str, shared: Path) -> None:
    with np.load(shared / "data" / "fp" / f"{FILES[entry.operation]}{kind}.npz") as file:
        pairs = operands.Pairs(file["a"], file["b"] if "b" in file.files else file["a"])
        rows = operands.allowed(entry, pairs)
        expected, either = file["ftz_rne"][rows], file["amb"][rows]
        assert not _wrong(entry, pairs[rows], expected, either, engine="bit-serial")
