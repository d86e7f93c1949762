"""Do the totals of listing and symbol file equal what a run executes, and do they say what they should?"""

from __future__ import annotations

import json

import pytest

from microcode import LIBRARY, Program, Total, Totals, assemble, listing, symbols
from pixelflow.config import TINY
from pixelflow.node import Node
from tests.microcode.sources import EXAMPLES, MIXED

CONTROL = {
    "straight": "LD R, S\nMSTEP\n",
    "loops": "loop 3\nLD R, S\nloop 4\nMSTEP\nend\nloop 0\nSHLP\nend\nend\n",
    "loop of none inside": "loop 0\nloop 5\nMSTEP\nend\nend\nLD R, S\n",
    "calls": "loop 3\nCALL f\nend\nroutine f()\nMSTEP\nCALL g\nend\nproc g()\nloop 2\nSHRP\nend\nend\n",
    "jump ahead": "LD R, S\nJMP on\nMSTEP\non: SHLP\n",
    "jump inside a loop": "loop 3\nLD R, S\nJMP on\nMSTEP\non: SHLP\nend\nMSTEP\n",
    "loops after a jump": "JMP on\nMSTEP\non: loop 3\nloop 2\nSHLP\nend\nend\n",
    "halt in a procedure": "CALL f\nMSTEP\nproc f()\nSHLP\nHALT\nSHLP\nend\n",
    "tree and pixel instructions": "EMC_TreeIntoMem_Li [0], 4, 1, 2, 3\nEMC_PixCopy [0], [32], 32, 4\n",
}


def executed(program: Program):
    node = Node(TINY)
    node.load(program)
    return node.run(program, max_cycles=1_000_000)


@pytest.mark.parametrize("name", CONTROL)
def test_the_total_of_a_program_is_what_it_executes(name: str) -> None:
    program = assemble(CONTROL[name])
    assert Totals(program).at(0).total == executed(program).cycles


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_routine_of_the_examples(path) -> None:
    program = assemble(path)
    run = executed(program)
    totals = Totals(program)
    assert totals.at(0).total == run.cycles - sum(run.waits.values())
    for name, use in run.by_routine.items():
        if use.calls and name in {routine.name for routine in program.routines}:
            assert totals.at(program.routine(name).entry).total * use.calls == use.total_cycles


@pytest.mark.parametrize(
    "text",
    [
        "again: JMP again\n",
        "CALL f\nproc f()\nCALL f\nend\n",
        "loop 65535\nloop 65535\nJMP on\non: LD R, S\nend\nend\n",
    ],
)
def test_long_programs_have_no_total(text: str) -> None:
    program = assemble(text)
    assert Totals(program).at(0) is None
    assert "?" in listing(program)


def test_own_cycles_leave_out_calls() -> None:
    program = assemble("LD R, S\nCALL f\nroutine f()\nMSTEP\nend\n")
    assert Totals(program).at(0) == Total(own=1, total=3)


def test_the_listing_line_by_line() -> None:
    text = "range x[4] at 8\nLD R, x[1]      ; first\nloop 3\n  MSTEP\nend\nCALL f, x\nroutine f(d)\nST d, R\nend\n"
    assert listing(assemble(text)) == (
        """\
program: 9 instructions, 13 words
  addr  words              cycles     total  source

stream eigc    ; 6 cycles, 4 of them its own
     0  10080240                1         1  LD R, [9]                     ; <text>:2  LD R, x[1]
     1  04000300                0         1  LOOP 3                        ; <text>:3  loop 3
     2  36000000                1         2  MSTEP                         ; <text>:4
     3  05000000                0         4  ENDL                          ; <text>:5  end
     4  0200000a 20010000       0         6  CALL f, [8]                   ; <text>:6  CALL f, x
        00000000 00000000
        00000000
     9  01000000                0         6  HALT

routine f(d)    ; 2 cycles
    10  08000000                1         1  START                         ; <text>:7  routine f(d)
    11  11200000                1         2  ST [P0], R                    ; <text>:8  ST d, R
    12  03000000                0         2  RET                           ; <text>:9  end

  words       own     total  name
                4         6  stream eigc
      3         2         2  f
"""
    )


def test_the_last_running_total_of_a_routine_is_its_total() -> None:
    program = assemble("CALL f\nroutine f()\nloop 3\nMSTEP\nloop 2\nSHLP\nend\nCALL g\nend\nend\nproc g()\nSHRP\nend\n")
    ret = [line for line in listing(program).split("\n") if "  RET" in line]
    assert (
        [int(line.split()[3]) for line in ret]
        == [Totals(program).at(r.entry).total for r in program.routines]
        == [13, 1]
    )


def test_the_symbol_file() -> None:
    program = assemble(MIXED)
    found = json.loads(symbols(program))
    assert found["schema"] == "pixelflow.symbols/1"
    assert found["program"]["sha256"] == program.sha256
    assert found["labels"]["begin"] == 0
    assert found["routines"]["fadd3"]["parameters"] == ["d", "a", "b"]
    assert found["routines"]["fadd3"]["scratch"] == [[200, 14], [230, 2]]
    assert found["routines"]["go"]["cycles"] == 3
    assert found["ranges"]["z"] == {"start": 8, "size": 8}
    assert len(found["lines"]) == len(program.instructions)


def test_a_narrow_listing_says_the_same_in_more_lines() -> None:
    program = assemble(LIBRARY.parent / "examples" / "mandelbrot.mc")
    wide, narrow = listing(program), listing(program, width=80)
    assert max(map(len, narrow.splitlines())) <= 80 < max(map(len, wide.splitlines()))
    assert sorted(narrow.split()) == sorted(wide.split())
