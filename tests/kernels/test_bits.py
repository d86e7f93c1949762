"""Does every kernel give the bits of its routine's microcode?

The microcode is executed by the compiled engine, which other tests compare with the reference; the kernel by the macro
engine, from the same program.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microcode.catalogue import Entry, Operation
from tests.kernels.operands import ENTRIES, Numbers, grid, label, random_pairs, rows
from tests.library.batch import run
from tests.library.operands import CORNERS

SEED = 20261121
FILES = {
    Operation.FROM_INTEGER: "i2f",
    Operation.ADD: "add",
    Operation.SUBTRACT: "sub",
    Operation.MULTIPLY: "mul",
    Operation.DIVIDE: "div",
    Operation.SQUARE_ROOT: "sqrt",
}

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=label)


def wrong(entry: Entry, a: Numbers, b: Numbers) -> list[str]:
    """Return the first operands for which kernel and microcode differ, in words."""
    operands = rows(entry, a, b)
    kernel, microcode = (run(entry, operands, engine=engine) for engine in ("macro", "compiled"))
    assert kernel.cycles == microcode.cycles
    at = np.flatnonzero((kernel.result != microcode.result).any(axis=0))
    return [
        f"a {a[i]:x} b {b[i]:x}: {kernel.result[::-1, i].tobytes().hex()}, "
        f"not {microcode.result[::-1, i].tobytes().hex()} ({len(at)} wrong)"
        for i in at[:5]
    ]


@every_entry
def test_every_exponent_with_its_neighbours_and_the_extremes_and_all_signs(entry: Entry) -> None:
    assert not wrong(entry, *grid(entry, SEED, dense=False))


@pytest.mark.slow
@every_entry
def test_all_pairs_of_exponents_and_signs(entry: Entry) -> None:
    assert not wrong(entry, *grid(entry, SEED, dense=True))


@every_entry
def test_a_hundred_thousand_random_operands(entry: Entry) -> None:
    assert not wrong(entry, *random_pairs(entry, 100_000, SEED + 1))


@pytest.mark.slow
@every_entry
def test_ten_million_random_operands(entry: Entry) -> None:
    for part in range(25):
        assert not wrong(entry, *random_pairs(entry, 400_000, SEED + 100 + part)), f"part {part}"


@every_entry
def test_corners_with_corners(entry: Entry) -> None:
    """The operands that tests of the library take for corners, with both signs, each with each."""
    values = np.concatenate([CORNERS, CORNERS | np.uint32(1 << 31)]).astype(np.uint64)
    assert not wrong(entry, np.repeat(values, len(values)), np.tile(values, len(values)))


@pytest.mark.parametrize("kind", ["", "_hard"])
@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.operation in FILES], ids=label)
def test_the_reference_vectors(entry: Entry, kind: str, shared: Path) -> None:
    """All operands of the files, those outside an entry's contract included: its microcode gives something for them."""
    with np.load(shared / "data" / "fp" / f"{FILES[entry.operation]}{kind}.npz") as file:
        a = file["a"].astype(np.uint64)
        assert not wrong(entry, a, file["b"].astype(np.uint64) if "b" in file.files else a)


@pytest.mark.parametrize("other", [Operation.LESS, Operation.EQUAL, Operation.TO_INTEGER, Operation.NEGATE])
def test_the_reference_vectors_in_order(other: Operation, shared: Path) -> None:
    """There are no files for order and whole parts; the operands of sums are as good."""
    (entry,) = (each for each in ENTRIES if each.operation is other)
    with np.load(shared / "data" / "fp" / "add_hard.npz") as file:
        assert not wrong(entry, file["a"].astype(np.uint64), file["b"].astype(np.uint64))
