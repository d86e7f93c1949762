"""Does each static check find its mistake, and nothing in sound programs?"""

from __future__ import annotations

import pytest

from microcode import assemble, check
from microcode.checks import footprint
from pixelflow.isa import INSTRUCTIONS, Mem, Register
from pixelflow.simd.errors import InputError
from tests.microcode.sources import EXAMPLES, LIBRARIES

FOUND = {
    "jump into a routine": ("macro m(t)\nJMP t\nend\nJMP f\nroutine f()\nend",
        ["<text>:4:1: warning: jump into routine f"]),
    "jump out of a routine": ("top: CALL f\nroutine f()\nJMP top\nend", ["<text>:3:1: warning: jump out of routine f"]),
    "call of a label": ("CALL here\nhere: LD R, S",
        ["<text>:1:1: warning: the call's target is not the start of a routine or proc"]),
    "write outside": ("CALL f, [4]\nroutine f(d) uses 10, 2\nST d, R\nST [11], R\nST [12], R\nend",
        ["<text>:5:1: warning: routine f writes byte 12, which is neither a parameter nor declared scratch"]),
    "wide write outside": ("CALL f\nroutine f() uses 10, 2\nEMC_TreeIntoMem_Li [10], 3, 0, 0, 0\nend",
        ["<text>:3:1: warning: routine f writes byte 12, which is neither a parameter nor declared scratch"]),
    "argument in scratch": ("range x[4] at 8\nCALL f, x\nroutine f(d) uses 10, 4\nend",
        ["<text>:2:1: warning: x, passed as d, is in the scratch of f"]),
    "EPUSH alone": ("EPUSH\nEPUSH\nEPOP", ["<text>:2:1: warning: EPUSH without EPOP"]),
    "EPOP alone": ("EPOP", ["<text>:1:1: warning: EPOP without EPUSH in stream eigc"]),
    "enable stack too deep": ("EPUSH\n" * 5 + "EPOP\n" * 5,
        ["<text>:5:1: warning: the enable stack is 4 deep; this EPUSH is one too many"]),
    "recursion": ("CALL f\nroutine f()\nCALL f\nend",
        ["<text>:1:1: warning: calls nest deeper than the latch stack (4), or f calls itself"]),
    "five routines deep": (
        "CALL r1\n" + "".join(f"routine r{n}()\nCALL r{n + 1}\nend\n" for n in range(1, 5)) + "routine r5()\nend",
        ["<text>:1:1: warning: calls nest deeper than the latch stack (4), or r1 calls itself"]),
    "unreachable": ("JMP on\nMSTEP\nMSTEP\non: LD R, S", ["<text>:2:1: warning: this is never executed"]),
    "wait without signal": ("WAIT 2", ["<text>:1:1: warning: semaphore 2 is waited for but never signalled"]),
    "signal without wait": ("SIGNAL 2", ["<text>:1:1: warning: semaphore 2 is signalled but never waited for"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_a_mistake_is_found(name: str) -> None:
    text, expected = FOUND[name]
    assert [str(finding).split("\n")[0] for finding in check(assemble(text + "\n"))] == expected


def test_a_finding_shows_the_line_and_the_cure() -> None:
    (finding,) = check(assemble("CALL f\nroutine f()\n  ST [12], R\nend\n"))
    assert str(finding).split("\n")[1:] == ["    3 |   ST [12], R", "    declare it: uses 12, size"]


STRANGERS = {
    "top of eigc": ("x: TAS_SetStep 1 ; TAS_SetStep", "<text>:1:4", "stream tigc"),
    "top of tigc": ("stream tigc\nLD R, S", "<text>:2:1", "stream eigc"),
    "LEE in tigc": ("stream tigc\n  EMC_TreeIntoMem_Li [0], 1, 0, 0, 0", "<text>:2:3", "stream eigc"),
    "gated": ("stream tigc\nLD.E R, S", "<text>:2:1", "stream eigc"),
    "called": ("stream tigc\nCALL f\nproc f()\nCALL g\nend\nproc g()\nLD R, S\nend", "<text>:7:1", "stream eigc"),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_an_instruction_of_the_other_stream_is_an_error(name: str) -> None:
    text, place, belongs = STRANGERS[name]
    with pytest.raises(InputError) as caught:
        assemble(text + "\n")
    (fault,) = caught.value.faults
    assert str(fault).startswith(f"{place}: error: ") and "is not an instruction of stream" in fault.message
    assert fault.hint == f"it belongs after `{belongs}`"


def test_each_stream_may_call_its_own_routines_and_both_the_neutral_ones() -> None:
    assemble("LD R, S\nCALL f\nstream tigc\nCALL f\nCALL g\nproc f()\nSIGNAL 0\nend\nproc g()\nTAS_SetStep 1\nend\n")


@pytest.mark.parametrize("path", [*EXAMPLES, *LIBRARIES], ids=lambda path: path.name)
def test_the_programs_of_the_repository_are_clean(path) -> None:
    assert check(assemble(path)) == []


def test_footprints_come_from_the_meaning() -> None:
    load = footprint(INSTRUCTIONS.make("ADD", Register.S, Mem(3, 2)))
    assert (load.reads, load.writes, load.registers) == ({(2, 3)}, set(), {"S", "C"})
    copy = footprint(INSTRUCTIONS.make("EMC_PixCopy", Mem(10), Mem(-2, 0), 2, 1))
    assert (copy.reads, copy.writes) == ({(0, -2), (0, -1)}, {(None, 10), (None, 11)})
