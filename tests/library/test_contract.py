"""Does every routine leave alone what its contract says it leaves alone?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

from microcode import assemble
from microcode.catalogue import FLOATS, INTEGERS, ORDERS, Entry, Library, Operation, shifts
from pixelflow.config import TINY
from pixelflow.node import Node
from tests.library import operands
from tests.library.batch import columns, run

MEMORY = 384
CALL_AT = {"d": 0, "q": 0, "r": 16, "a": 32, "b": 64}
SEED = 7
EVERY = (*FLOATS, *ORDERS, *INTEGERS, *shifts(4, 5), *shifts(3, 1), *shifts(2, 8), *shifts(8, 27))


def _label(entry: Entry) -> str:
    return f"{entry.library.value}-{entry.name}"


def _entries(entries: Iterable[Entry]) -> pytest.MarkDecorator:
    """Parametrize a test by entries; the other sizes only where time does not matter."""
    usual = {Library.PLAIN: (3,), Library.TUNED: (3,), Library.GENERIC: (3,), Library.INTEGER: (4,)}
    rows = [
        pytest.param(entry, id=_label(entry), marks=[] if entry.size in usual[entry.library] else pytest.mark.slow)
        for entry in entries
    ]
    return pytest.mark.parametrize("entry", rows)


def _results(entry: Entry) -> list[int]:
    """Return the addresses of all result bytes of a call at ``CALL_AT``."""
    places = [name for name in entry.parameters if name in "dqr"]
    return [CALL_AT[name] + index for name in places for index in range(entry.result_bytes)]


def _after_a_call(entry: Entry, before: NDArray[np.uint8], enabled: NDArray[np.bool_], scratch: int) -> Node:
    addresses = ", ".join(f"[{CALL_AT[name]}]" for name in entry.parameters)
    node = Node(TINY)
    node.write_memory(0, before)
    node.set_flag("E", enabled)
    node.run(assemble(f"{entry.include_at(scratch)}\nCALL {entry.name}, {addresses}\n"))
    return node


@_entries(EVERY)
def test_only_the_result_and_the_named_scratch_of_enabled_pes_change(entry: Entry) -> None:
    scratch = 201
    generator = np.random.default_rng(SEED)
    before = generator.integers(0, 256, (MEMORY, TINY.lanes), dtype=np.uint8)
    enabled = generator.random(TINY.lanes) < 0.7
    node = _after_a_call(entry, before, enabled, scratch)
    changed = node.memory != before
    assert not changed[:, ~enabled].any(), "a disabled PE changed"
    may_change = {*_results(entry), *range(scratch, scratch + entry.scratch_bytes)}
    assert {int(address) for address in np.flatnonzero(changed.any(axis=1))} <= may_change
    assert (node.flag("E") == enabled).all(), "the caller's enable is not what it was"
    assert node.flag("L").all(), "a latch stayed behind"


@pytest.mark.parametrize("library", Library)
def test_the_catalogue_agrees_with_the_sources(library: Library) -> None:
    entries = [entry for entry in (*FLOATS, *ORDERS, *INTEGERS) if entry.library is library]
    for size in {entry.size for entry in entries}:
        listed = {entry.name: entry for entry in entries if entry.size == size}
        program = assemble(f"{next(iter(listed.values())).include}\nHALT\n")
        routines = {routine.name: routine for routine in program.routines}
        assert set(listed) == set(routines) if library is not Library.GENERIC else set(listed) < set(routines)
        for name, entry in listed.items():
            routine = routines[name]
            assert tuple(routine.parameters) == entry.parameters
            assert tuple(routine.scratch) == (((152, entry.scratch_bytes),) if entry.scratch_bytes else ())


def test_binary32_keeps_within_the_scratch_of_table_9() -> None:
    assert max(entry.scratch_bytes for entry in FLOATS if entry.size == 3) <= 14


def _three(entry: Entry) -> list[NDArray[np.uint8]]:
    pairs = operands.binary32(entry, 4000, SEED)
    wide = [values.astype(np.uint64) << np.uint64(8 * (entry.size - 3)) for values in (pairs.a, pairs.b)]
    return [columns(values, entry.operand_bytes) for values in wide[: entry.operands]]


@_entries((*FLOATS, *ORDERS))
def test_the_result_may_take_the_place_of_an_operand(entry: Entry) -> None:
    rows = _three(entry)
    expected = run(entry, rows).result
    for result in range(entry.operands):
        addresses = (32, 32, 64) if result == 0 else (64, 32, 64)
        assert (run(entry, rows, addresses=addresses).result == expected).all()


@_entries(entry for entry in FLOATS if entry.operands == 2)
def test_both_operands_and_the_result_may_be_one(entry: Entry) -> None:
    rows = [_three(entry)[0]] * 2
    if entry.operation is Operation.DIVIDE:
        exponents = rows[0][-1] & 0x7F | rows[0][-2] & 0x80
        rows = [rows[0][:, exponents != 0]] * 2
    expected = run(entry, rows).result
    assert (run(entry, rows, addresses=(32, 32, 32)).result == expected).all()


APART = (Operation.INTEGER_MULTIPLY, Operation.INTEGER_MULTIPLY_LOW, Operation.INTEGER_DIVIDE)
"""Integer routines whose results must stay apart from operands: they grow in place."""


@_entries(e for e in (*INTEGERS, *shifts(4, 5), *shifts(4, 9), *shifts(4, 1)) if e.operation not in APART)
def test_an_integer_result_may_take_the_place_of_an_operand(entry: Entry) -> None:
    generator = np.random.default_rng(SEED)
    rows = [generator.integers(0, 256, (entry.size, 2000), dtype=np.uint8) for _ in range(entry.operands)]
    expected = run(entry, rows).result
    assert (run(entry, rows, addresses=(32, 32, 64)).result == expected).all()
