"""Do the routines take the cycles they are meant to take: published, reached by the study, and always the same?"""

from __future__ import annotations

from functools import cache

import pytest

from microcode import Totals, assemble, check
from microcode.catalogue import FLOATS, INTEGERS, ORDERS, Entry, Kind, Library, Operation, find, shifts
from pixelflow.config import TINY
from pixelflow.isa import Program
from pixelflow.node import Node

TABLE_1 = {
    Operation.FROM_INTEGER: 157,
    Operation.ADD: 390,
    Operation.SUBTRACT: 390,
    Operation.MULTIPLY: 253,
    Operation.DIVIDE: 704,
    Operation.SQUARE_ROOT: 698,
}
"""Thesis table 1; it has no subtraction, which is held to the addition."""
FINITE = {
    Operation.ADD: 300,
    Operation.SUBTRACT: 300,
    Operation.MULTIPLY: 197,
    Operation.DIVIDE: 460,
    Operation.SQUARE_ROOT: 676,
}
"""Cycles of the instruction set's feasibility study, without infinities and NaNs."""
TABLE_7_BICUBIC = 89_036
"""Thesis table 7, 4 x 4: the arithmetic of one bicubic pass."""
FIXED = {
    Operation.INTEGER_ADD: {2: 7, 4: 13},
    Operation.INTEGER_SUBTRACT: {2: 7, 4: 13},
    Operation.INTEGER_MULTIPLY: {2: 50, 4: 200},
    Operation.INTEGER_DIVIDE: {2: 160, 4: 640},
    Operation.INTEGER_SQUARE_ROOT: {2: 122, 4: 333},
}
"""Fixed-point counts quoted from memory for a later library of the machine; sums exactly, the others at most."""


@cache
def _library_cycles(include: str) -> dict[str, int]:
    """Return the executed cycles of one call of each routine of a library file, which must be the listing's."""
    named = [entry for entry in (*FLOATS, *ORDERS, *INTEGERS, *shifts(4, 7)) if entry.include == include]
    calls = [f"CALL {entry.name}, {', '.join(f'[{32 * i}]' for i in range(len(entry.parameters)))}" for entry in named]
    program = assemble("\n".join([include, *calls]))
    run = Node(TINY).run(program, function=False)
    totals = Totals(program)
    executed = {entry.name: run.by_routine[entry.name].total_cycles for entry in named}
    assert executed == {name: totals.at(program.routine(name).entry).total for name in executed}
    assert run.cycles == sum(executed.values())
    return executed


def _executed(entry: Entry) -> int:
    return _library_cycles(entry.include)[entry.name]


def _float_cycles(library: Library, kind: Kind) -> dict[Operation, int]:
    entries = [entry for entry in FLOATS if (entry.library, entry.kind, entry.size) == (library, kind, 3)]
    return {entry.operation: _executed(entry) for entry in entries}


def test_plain_library_is_within_6_percent_of_every_row_of_table_1() -> None:
    for operation, cycles in _float_cycles(Library.PLAIN, Kind.COMPLETE).items():
        assert abs(cycles / TABLE_1[operation] - 1) <= 0.06, operation


def test_plain_library_rebuilds_the_bicubic_row_of_table_7() -> None:
    """162 multiplications, 116 additions, one root and three divisions make the published number exactly."""
    counts = {Operation.MULTIPLY: 162, Operation.ADD: 116, Operation.SQUARE_ROOT: 1, Operation.DIVIDE: 3}
    assert sum(count * TABLE_1[operation] for operation, count in counts.items()) == TABLE_7_BICUBIC
    executed = counts | {Operation.ADD: 113, Operation.SUBTRACT: 3}
    for library, printed in ((Library.PLAIN, 89_479), (Library.TUNED, 65_973)):
        cycles = _float_cycles(library, Kind.COMPLETE)
        assert sum(count * cycles[operation] for operation, count in executed.items()) == printed


def test_tuned_library_is_at_or_below_every_published_row() -> None:
    for operation, cycles in _float_cycles(Library.TUNED, Kind.COMPLETE).items():
        assert cycles <= TABLE_1[operation], operation
    assert _executed(find(Library.TUNED, Operation.FROM_INTEGER)) <= 135


def test_finite_entries_are_at_or_below_the_study() -> None:
    for operation, cycles in _float_cycles(Library.TUNED, Kind.FINITE).items():
        assert cycles <= FINITE[operation], operation


def test_generic_routines_are_generic_instructions_and_enables_alone() -> None:
    """Every instruction of a routine is a call of an instruction with START, or an enable of one cycle.

    What it takes is the sum of the listing: of the instructions that it calls and of those enables.
    """
    generic = [entry for entry in (*FLOATS, *ORDERS) if entry.library is Library.GENERIC]
    for include in {entry.include for entry in generic}:
        program = assemble(f"{include}\nHALT\n")
        at = {routine.entry: routine for routine in program.routines}
        totals = Totals(program)
        for entry in (entry for entry in generic if entry.include == include):
            routine = program.routine(entry.name)
            first, end = program.index_of[routine.entry], program.index_of.get(routine.end, len(program.instructions))
            *issued, last = program.instructions[first:end]
            assert last.mnemonic == "RET" and not routine.started
            called = [at[one.operands[0]] for one in issued if one.mnemonic == "CALL"]
            assert called and all(one.started and one.name.startswith("i") and not one.scratch for one in called)
            alone = [one for one in issued if one.mnemonic != "CALL"]
            assert {one.mnemonic for one in alone} <= {"EPUSH", "EPOP"} and all(one.cycles == 1 for one in alone)
            assert _executed(entry) == sum(totals.at(one.entry).total for one in called) + len(alone)


def _instructions() -> Program:
    widths = "\n".join(f'include "integer/{name}.mc" with BYTES = {n}' for name in ("sums", "generic") for n in (1, 4))
    return assemble(f'{widths}\ninclude "integer/shift.mc" with BYTES = 4, COUNT = 1\nHALT\n')


@pytest.mark.parametrize(
    ("name", "cycles"),
    [
        ("imove32", 1 + 4 * 2),  # load and store a byte
        ("ifill32", 1 + 1 + 4),
        ("iswap32", 1 + 4 * 4),
        ("iadd32", 1 + 4 * 3),
        ("iadd32_byte", 1 + 4 * 3),
        ("isub32_by", 1 + 4 * 3),
        ("ishl32_1", 1 + 4 * 2),  # the shifter sits after the operand multiplexer
        ("imul32_byte", 1 + 2 + 4 * (1 + 8 + 1) + 1),  # eight multiply steps a byte, and the last byte
        ("imac32_byte", 1 + 2 + 4 * (1 + 8 + 1) + 3 * 2 + 1),  # and an addition to each byte but the first
        ("ikeep32_below", 1 + 4 * 2 + 1),
        ("ikeep32_zero", 1 + 4 + 2),
        ("ior8_by", 1 + 3),
        ("ikeep8_bits", 1 + 4),
    ],
)
def test_generic_instructions_by_hand(name: str, cycles: int) -> None:
    program = _instructions()
    assert Totals(program).at(program.routine(name).entry).total == cycles


def test_fixed_point_sums_take_three_cycles_a_byte_and_one() -> None:
    for entry in INTEGERS:
        if entry.operation in (Operation.INTEGER_ADD, Operation.INTEGER_SUBTRACT):
            assert _executed(entry) == 3 * entry.size + 1


@pytest.mark.parametrize("operation", FIXED)
def test_fixed_point_routines_are_at_or_below_the_given_figures(operation: Operation) -> None:
    for size, given in FIXED[operation].items():
        assert _executed(find(Library.INTEGER, operation, size)) <= given


def test_every_routine_executes_the_cycles_of_its_listing() -> None:
    for include in {entry.include for entry in (*FLOATS, *ORDERS, *INTEGERS, *shifts(4, 7))}:
        assert min(_library_cycles(include).values()) > 0


@pytest.mark.parametrize(
    "include",
    [
        pytest.param(include, marks=[] if "BYTES = 3" in include or "BYTES = 4" in include else pytest.mark.slow)
        for include in sorted({entry.include for entry in (*FLOATS, *INTEGERS)})
    ],
)
def test_the_static_checks_find_nothing(include: str) -> None:
    assert not check(assemble(f"{include}\nHALT\n"))
