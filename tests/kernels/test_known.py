"""Which routines get a kernel: those of the library, by their words alone, and no other."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from microcode import assemble
from microcode.catalogue import FLOATS, ORDERS, Library, Operation, find
from pixelflow.config import TINY
from pixelflow.isa import EncodingError, Program
from pixelflow.node import Node
from pixelflow.node.kernels.float_kernel import Kernel
from pixelflow.node.kernels.float_kernel import KernelOperation as Computed
from pixelflow.node.kernels.macro_engine import KernelAction, digest, kernel_of, known
from pixelflow.node.run.perform import prepared
from pixelflow.simd.errors import InputError
from tests.kernels.operands import kernel_for, label
from tests.library.batch import OPERANDS, calling


@pytest.mark.parametrize("library", [Library.PLAIN, Library.TUNED])
def test_every_float_routine_of_the_library_has_its_kernel(library: Library) -> None:
    entries = [e for e in (*FLOATS, *ORDERS) if e.library is library and e.size == 3]
    program = calling(entries[0].include, None, OPERANDS)
    assert {r.name for r in program.routines} == {entry.name for entry in entries}
    for entry in entries:
        routine = program.routine(entry.name)
        found = kernel_of(program, routine)
        assert found == kernel_for(entry), f"{label(entry)} has the digest {digest(program, routine)}"
        assert found.operands == entry.operands and found.result_bytes == entry.result_bytes


def test_no_digest_is_of_a_routine_that_is_not_there() -> None:
    found = set()
    for entry in (each for each in (*FLOATS, *ORDERS) if each.size == 3):
        program = calling(entry.include, None, OPERANDS)
        if entry.library is not Library.GENERIC:
            found.add(digest(program, program.routine(entry.name)))
        else:
            assert digest(program, program.routine(entry.name)) is None, "a sequence of calls is no straight code"
    assert found == set(known())


def test_scratch_may_lie_anywhere() -> None:
    entry = find(Library.TUNED, Operation.MULTIPLY)
    program = assemble(f"{entry.include_at(90)}\nHALT\n")
    assert kernel_of(program, program.routine("fmul")) == kernel_for(entry)


def test_a_routine_that_differs_in_one_bit_has_none() -> None:
    """Some bits of a word mean nothing; with those changed it is the same routine."""
    lines = [f"LD R, a[{at}]\nST d[{at}], R\n" for at in range(3)]
    program = assemble(f"routine other(d, a)\n{''.join(lines)}LD R, a[3]\nXOR R, #0x80\nST d[3], R\nend\nHALT\n")
    routine = program.routine("other")
    assert kernel_of(program, routine) == Kernel(Computed.NEGATE), "the name plays no part"
    changed = 0
    for word in range(routine.entry, routine.end):
        for bit in range(32):
            words = list(program.words)
            words[word] ^= 1 << bit
            other = replace(program, words=tuple(words))
            try:
                same = other.instructions == program.instructions
            except (EncodingError, InputError):  # no instruction any more
                continue
            changed += not same
            ends = routine.end in (len(words), *other.index_of)
            assert same == (ends and digest(other, routine) in known()), (word, bit)
    assert changed > 100


def test_a_name_alone_gives_no_kernel() -> None:
    program = assemble("routine fmul(d, a, b)\nLD R, a[0]\nST d[0], R\nend\nHALT\n")
    assert kernel_of(program, program.routine("fmul")) is None


def test_scratch_that_another_routine_declares_makes_no_other_kernel() -> None:
    """The words name addresses; where these do not lie in the declared scratch memory, nothing is recognised."""
    program = calling(find(Library.TUNED, Operation.MULTIPLY).include, None, OPERANDS)
    routine = program.routine("fmul")
    assert kernel_of(program, routine) is not None
    for scratch in ((), ((153, 9),), ((151, 9),), ((152, 3),), ((152, 9), (200, 1))):
        assert kernel_of(program, routine._replace(scratch=scratch)) is None


PLACES = [
    ("[0], [4], [8]", True),
    ("[0], [0], [0]", True),
    ("[0], [4], [6]", True),  # operands may overlap each other
    ("[0], [2], [8]", False),  # the result by a part
    ("[3], [0], [8]", False),
    ("[150], [4], [8]", False),  # scratch
    ("[0], [150], [8]", False),
    ("[0], [4], [161]", True),  # just behind it
]


@cache
def _calls() -> Program:
    """Return a program with an entry for each of ``PLACES``."""
    entry = find(Library.TUNED, Operation.MULTIPLY)
    lines = [f"at{number}: CALL fmul, {operands}\nHALT" for number, (operands, _) in enumerate(PLACES)]
    program = assemble("\n".join([entry.include_at(152), *lines]))
    return replace(program, entries={where: program.labels[f"at{at}"] for at, (where, _) in enumerate(PLACES)})


@pytest.mark.parametrize("operands, by_kernel", PLACES)
def test_a_call_gets_the_kernel_where_its_operands_lie_as_the_contract_asks(operands: str, by_kernel: bool) -> None:
    node, program = Node(TINY, "macro"), _calls()
    node.run(program, entry=operands)
    actions = [each for found in prepared(node.array, program)._actions_of.values() for each in found]
    assert any(isinstance(action, KernelAction) for action in actions) is by_kernel
