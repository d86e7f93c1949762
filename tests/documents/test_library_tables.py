"""Are the figures of the libraries in the documents those that are executed?

Each marked table is made here from runs and must stand in its document as it is; a failure shows the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest

from microcode.catalogue import (
    FLOAT_LIBRARIES,
    FLOATS,
    INTEGER_BYTES,
    INTEGERS,
    MANTISSA_BYTES,
    ORDERS,
    Entry,
    Kind,
    Library,
    Operation,
    find,
)
from pixelflow.config import TINY
from pixelflow.isa import INSTRUCTIONS
from pixelflow.isa.declarations import Family
from pixelflow.isa.operands import Register
from pixelflow.node import Node, Run
from tessellation import Method, Tessellation, load, tessellate
from tessellation.plan.schedule import MANTISSAS
from tessellation.reproduction.bench import ARITHMETIC, ThesisBench, counted, spent, start_ups
from tessellation.reproduction.thesis import table
from tests.documents.marks import markdown_table, table_after
from tests.library.batch import calling

LIBRARY, PAGE = "microcode/library/README.md", "docs/pages/library.md"
TESSELLATION = "docs/pages/schedules.md"
FLOAT = (
    Operation.FROM_INTEGER,
    Operation.ADD,
    Operation.SUBTRACT,
    Operation.MULTIPLY,
    Operation.DIVIDE,
    Operation.SQUARE_ROOT,
)
PRINTED = {"i2f": "int_to_float", "fadd": "add", "fmul": "multiply", "fdiv": "divide", "fsqrt": "sqrt"}
COLUMNS = (
    (Library.PLAIN, Kind.COMPLETE),
    (Library.TUNED, Kind.COMPLETE),
    (Library.TUNED, Kind.FINITE),
    (Library.GENERIC, Kind.COMPLETE),
    (Library.GENERIC, Kind.FINITE),
)
PLACES = (0, 32, 64, 96)
"""Addresses of results and operands, apart from each other."""


@cache
def called(entry: Entry) -> Run:
    """Return the account of one call of a routine and nothing else."""
    return Node(TINY, "rows").run(calling(entry.include, None, PLACES), entry=entry.name, function=False)


def cycles(library: Library, operation: Operation, size: int = 3, kind: Kind = Kind.COMPLETE) -> int | None:
    """Return the cycles of a routine; None where there is none."""
    try:
        return called(find(library, operation, size, kind)).cycles
    except KeyError:
        return None


def text(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def float_cycles() -> list[str]:
    heads = ["routine", "table 1", "plain", "tuned", "tuned `_finite`", "generic", "generic `_finite`"]
    printed = {row[0]: row[1] for row in table(1).rows}
    rows = []
    for operation in FLOAT:
        name = operation.value
        published = printed[PRINTED[name]] if name in PRINTED else None
        rows.append([name, text(published), *(text(cycles(library, operation, 3, kind)) for library, kind in COLUMNS)])
    return markdown_table(heads, rows)


def generic_start_ups() -> list[str]:
    rows = []
    for operation in FLOAT:
        found = [called(find(Library.GENERIC, operation, 3, kind)) for kind in Kind if _has(operation, kind)]
        cells = [(run.cycles, start_ups(run), run.cycles - start_ups(run)) for run in found]
        rows.append([operation.value, *cells[0], *(map(text, cells[1]) if len(cells) > 1 else ("", "", ""))])
    heads = ["routine", "cycles", "start-ups", "the rest", "`_finite`", "start-ups", "the rest"]
    return markdown_table(heads, rows)


def _has(operation: Operation, kind: Kind) -> bool:
    return kind is Kind.COMPLETE or operation is not Operation.FROM_INTEGER


def wide_cycles() -> list[str]:
    rows = [
        [
            operation.value,
            *(
                " / ".join(text(cycles(library, operation, size, kind)) or "-" for library, kind in COLUMNS)
                for size in MANTISSA_BYTES
                if size > 3
            ),
        ]
        for operation in FLOAT
    ]
    return markdown_table(["routine", "4 bytes", "5 bytes", "6 bytes"], rows)


def order_cycles() -> list[str]:
    operations = [entry.operation for entry in ORDERS if entry.library is Library.PLAIN and entry.size == 3]
    rows = []
    for operation in operations:
        counts = {
            library: [cycles(library, operation, size) or 0 for size in MANTISSA_BYTES] for library in FLOAT_LIBRARIES
        }
        assert counts[Library.PLAIN] == counts[Library.TUNED]
        rows.append([operation.value, *counts[Library.PLAIN], *counts[Library.GENERIC]])
    heads = ["routine", *(f"{size} bytes" for size in MANTISSA_BYTES), *(f"generic, {size}" for size in MANTISSA_BYTES)]
    return markdown_table(heads, rows)


def integer_cycles() -> list[str]:
    operations = list(dict.fromkeys(entry.operation for entry in INTEGERS))
    rows = [
        [operation.value, *(cycles(Library.INTEGER, operation, size) or 0 for size in INTEGER_BYTES)]
        for operation in operations
    ]
    return markdown_table(["routine", *(str(8 * size) for size in INTEGER_BYTES)], rows)


@cache
def bench() -> ThesisBench:
    return ThesisBench()


PASSES = ("plain", "tuned", "generic", "generic-finite")


def pass_cycles() -> list[str]:
    rows = []
    for library in PASSES:
        run = bench().tessellation(4, library=library)
        started = sum(
            n for n, one in zip(run.executed, run.program.instructions, strict=True) if one.mnemonic == "START"
        )
        rows.append([f"`{library}`", spent(run, *ARITHMETIC), counted(run), started])
    return markdown_table(["library", "arithmetic", "whole pass", "START executed"], rows)


_RESULTS = (Family.ARITHMETIC, Family.LOGIC, Family.SHIFT)

ABILITIES: dict[str, Callable] = {
    "`STI`": lambda one: one.mnemonic == "STI",
    "`STE`": lambda one: one.mnemonic == "STE",
    "`SHLP`": lambda one: one.mnemonic == "SHLP",
    "`SHRP`": lambda one: one.mnemonic == "SHRP",
    "`.E`, gated results": lambda one: one.gated,
    "results in S or M but of `LD`": lambda one: (
        one.declaration.family in _RESULTS
        and one.operands[:1] in ((Register.S,), (Register.M,))
        and not one.mnemonic.startswith("CMP")
    ),
    "`STA`": lambda one: one.mnemonic == "STA",
    "`MSTEP`": lambda one: one.mnemonic == "MSTEP",
    "`START`": lambda one: one.mnemonic == "START",
}


def abilities() -> list[str]:
    counts = {}
    for schedule, library in (("thesis", "plain"), ("thesis", "tuned"), ("shared-columns", "tuned-finite")):
        run = bench().tessellation(4, schedule=schedule, library=library)
        found: Counter[str] = Counter()
        for executed, one in zip(run.executed, run.program.instructions, strict=True):
            found.update({name: executed for name, holds in ABILITIES.items() if holds(one)})
        counts[library] = [(found[name], 100 * found[name] / counted(run)) for name in ABILITIES]
    rows = [
        [name, *(f"{each[index][0]:,} ({each[index][1]:.1f} %)" for each in counts.values())]
        for index, name in enumerate(ABILITIES)
    ]
    return markdown_table(["executed", "`plain`", "`tuned`", "`tuned-finite`, shared columns"], rows)


def longer_mantissas() -> list[str]:
    def shown(found: Tessellation, size: int) -> str:
        errors = f"{found.worst_point_error:.2f}, {found.worst_normal_error:.2f}"
        transfers = found.cycles_by_stage["distribution"] // 164
        return f"{errors}; {found.cycles:,} in {transfers}"

    patches = load("teapot").patches
    rows = []
    for size in MANTISSAS:
        ways = [False, True] if size > 3 else [False]
        found = [
            tessellate(patches, 4, library="tuned", method=Method(mantissa_bytes=size, hybrid=hybrid))
            for hybrid in ways
        ]
        rows.append([f"{size} bytes", *(shown(each, size) for each in found), *([""] if size == 3 else [])])
    return markdown_table(["mantissa", "all long", "hybrid"], rows)


TABLES: dict[str, tuple[str, Callable[[], list[str]]]] = {
    "float-cycles": (LIBRARY, float_cycles),
    "generic-start-ups": (PAGE, generic_start_ups),
    "wide-cycles": (PAGE, wide_cycles),
    "order-cycles": (PAGE, order_cycles),
    "integer-cycles": (PAGE, integer_cycles),
    "pass-cycles": (PAGE, pass_cycles),
    "abilities": (PAGE, abilities),
    "longer-mantissas": (TESSELLATION, longer_mantissas),
}


@pytest.mark.parametrize(
    "mark",
    [pytest.param(each, marks=[pytest.mark.slow] * (each in ("longer-mantissas", "wide-cycles"))) for each in TABLES],
)
def test_the_table_is_what_is_executed(mark: str) -> None:
    document, made = TABLES[mark]
    lines = made()
    assert table_after(document, mark) == lines, "\n".join(["", *lines])


def test_what_the_plain_library_does_without_is_declared_so() -> None:
    """The grounds of each instruction of the ALU say whether that library's arithmetic executes it."""
    executed: set[str] = set()
    for entry in FLOATS:
        if entry.library is Library.PLAIN and entry.size == 3:
            run = called(entry)
            executed |= {one.mnemonic for n, one in zip(run.executed, run.program.instructions, strict=True) if n}
    grounds = {mnemonic: INSTRUCTIONS[mnemonic].source for mnemonic in INSTRUCTIONS}
    unused = {mnemonic for mnemonic, text in grounds.items() if "no float arithmetic of the library `plain`" in text}
    used = {mnemonic for mnemonic, text in grounds.items() if "are written with it" in text}
    assert unused == {"STI", "STE", "SHLP", "SHRP"}
    assert not unused & executed and used - executed == set()
