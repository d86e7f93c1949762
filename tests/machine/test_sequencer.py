"""Does a stream go where the program says, count what executed, and stop with a reason where it cannot go on?"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import microcode
from pixelflow.config import THESIS, TINY
from pixelflow.isa import INSTRUCTIONS, Family, Imm, Mem, Program, Register
from pixelflow.node import Node, guesses
from pixelflow.node.run import stream as control
from pixelflow.simd.errors import CycleLimitError, DeadlockError, InputError, MachineFault
from pixelflow.simd.lanes import ENGINES

ADDER = """\
range x[4] at 0
range y[4] at 4
MARK "load"
EMC_TreeIntoMem_Li x, 4, 0, 0, 1000
MARK "add"
LOOP 5
    CALL add32, y, x
ENDL
MARK "rest"
routine add32(d, a)
    LD R, d[0]
    ADD R, a[0]
    ST d[0], R
    repeat i in 1 .. 3
        LD R, d[i]
        ADC R, a[i]
        ST d[i], R
    end
end
"""


@pytest.fixture
def node() -> Node:
    return Node(TINY)


def _words(*instructions) -> Program:
    return Program(tuple(word for one in instructions for word in one.encode()))


def _run(node: Node, text: str, **options):
    return node.run(microcode.assemble(text), **options)


@pytest.mark.parametrize("function", [True, False])
def test_the_account_of_a_run(function: bool) -> None:
    """5 for the load; 5 calls of 1 + 12 = 13 cycles, the published cost of a 32-bit add."""
    node = Node(TINY)
    run = node.run(microcode.assemble(ADDER), function=function)
    assert run.cycles == 5 + 5 * 13
    assert run.by_stage == {"load": 5, "add": 65, "rest": 0}
    assert run.by_family == {Family.STARTUP: 5, Family.MOVE: 40, Family.ARITHMETIC: 20, Family.LEE: 5}
    use = run.by_routine["add32"]
    assert (use.calls, use.own_cycles, use.total_cycles) == (5, 65, 65)
    assert run.by_routine["(main)"].own_cycles == 5
    assert sum(run.by_line.values()) == run.cycles
    by_line = {line.line: cycles for line, cycles in run.by_line.items() if line}
    assert by_line[4] == 5 and by_line[11] == 5 and by_line[15] == 15
    assert run.seconds_at_clock == pytest.approx(70e-8)
    assert node.read_word(4, 4).tolist() == [5000 if function else 0] * node.lanes


@pytest.mark.parametrize("function", [True, False])
def test_control_takes_what_the_configuration_says_and_a_mark_nothing(function: bool) -> None:
    """At 2 cycles: LOOP, five times CALL, RET and ENDL, and HALT are 17 instructions; the three marks are none."""
    config = replace(TINY, igc=replace(TINY.igc, control_cycles=2))
    run = Node(config).run(microcode.assemble(ADDER), function=function)
    assert run.cycles == 5 + 5 * 13 + 2 * 17
    assert run.by_stage == {"load": 5, "add": 65 + 2 * 16, "rest": 2}
    assert [(each.key, each.cycles) for each in guesses([run], config).weights if each.key == "igc.control_cycles"] == [
        ("igc.control_cycles", -17)
    ]


def test_nested_calls_add_up() -> None:
    """outer: 1 + 1 + two inner of 1 + 2."""
    outer = "routine outer()\nLD R, #0\nCALL inner\nCALL inner\nend\n"
    inner = "routine inner()\nADD R, #1\nADD R, #1\nend\n"
    node = Node(TINY)
    run = _run(node, "CALL outer\n" + outer + inner)
    assert run.by_routine["inner"].total_cycles == 6
    assert run.by_routine["outer"].own_cycles == 2
    assert run.by_routine["outer"].total_cycles == run.cycles == 8
    assert set(node.register("R")) == {4}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_nested_routine_cannot_reach_pes_that_the_first_caller_disabled(engine: str) -> None:
    text = """\
EMC_TreeLTZero_Li 0, 1, 1, 0, -4     ; x < 4
CALL outer
STI [2], #3
routine outer()
    ENOT                             ; none of them
    EMC_SetEnab
    CALL inner
    STA [1], M
end
routine inner()
    LD M, #9
    EMC_SetEnab
    ST [0], M
end
"""
    node = Node(TINY, engine=engine)
    _run(node, text)
    x, _ = node.coordinates()
    expected = np.where(x < 4, 9, 0)
    assert np.array_equal(node.memory[0], expected)
    assert np.array_equal(node.memory[1], expected)
    assert np.array_equal(node.memory[2], np.where(x < 4, 3, 0))
    assert node.flag("L").all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("again: JMP again\n", "1: 1,000,000 control instructions and no other: a loop that takes no time"),
        ("LOOP 2\nJMP b\nENDL\nLOOP 3\nb: LD R, #1\nENDL\n", "6: ENDL reached outside its loop"),
        ("EPOP\n", "1: EPOP without EPUSH in this routine"),
        ("EPUSH\n" * 5, "5: EPUSH: the enable stack holds 4"),
        ("CALL f\nroutine f()\nEPUSH\nend\n", "routine f returns with 1 enable still on the stack"),
        ("routine f()\nCALL f\nend\nCALL f\n", "more than 4 started routines inside each other"),
        ("proc f()\nCALL f\nend\nCALL f\n", "more than 16 calls inside calls"),
        ("CALL f, [380]\nproc f(a)\nLD R, a[4]\nend\n", r"3: LD R, \[384\]: bytes 384..384 are outside the PE"),
        ("CALL f, [2]\nproc f(a)\nLD R, a[-3]\nend\n", r"3: LD R, \[-1\]: bytes -1..-1 are outside the PE"),
        ("ADD R, #1\nEMC_SetLEE 7, 0, 0, 0, 0\n", "2: EMC_SetLEE: there is no EMC 0 of module 7"),
    ],
)
def test_machine_faults_say_where_and_what(node: Node, text: str, message: str) -> None:
    with pytest.raises(MachineFault, match=message):
        _run(node, text)


def test_only_control_instructions_of_one_cycle_count_as_a_loop_that_takes_no_time(monkeypatch, node: Node) -> None:
    monkeypatch.setattr(control, "_CONTROL_LIMIT", 4)
    assert _run(node, "LOOP 20\nMSTEP\nENDL\n").cycles == 20
    with pytest.raises(MachineFault, match="4 control instructions and no other"):
        _run(node, "LD R, #1\nagain: JMP again\n")


def test_faults_of_raw_words(node: Node) -> None:
    make = INSTRUCTIONS.make
    for instructions, message in [
        ((make("LD", Register.R, Imm(1)),), "execution ran past the end"),
        ((make("RET"),), "RET without CALL"),
        ((), "word 0 is not the start of an instruction"),
        ((make("JMP", 7),), "word 7 is not the start of an instruction"),
        ((make("JMP", 2),), "word 2 is not the start of an instruction"),
        ((make("LOOP", 2),), "LOOP without ENDL"),
        ((make("ENDL"),), "ENDL without LOOP"),
        ((make("START"), make("HALT")), "START outside a routine"),
        ((make("LD", Register.R, Mem(0, 3)), make("HALT")), "parameter P3 was not passed"),
        ((make("LD", Register.R, Mem(400)), make("HALT")), r"bytes 400..400 are outside the PE"),
        ((make("EMC_TreeIntoMem_Li", Mem(380), 8, 0, 0, 1), make("HALT")), r"bytes 380..387 are outside the PE"),
        ((make("EMC_SetLEE", 7, 0, 0, 0, 0), make("HALT")), "there is no EMC 0 of module 7"),
        ((make("EMC_SetLEE", 0, 0, 0, 0, 4), make("HALT")), "4 does not fit the 2 bits of xe"),
        ((make("EMC_SetLEE", 0, 0, 3, 8, 4), make("HALT")), r"register yp has indices 0..7, not 8"),
        ((make("MARK", 3), make("HALT")), "MARK 3: the program names only 0 stages"),
        ((make("MARK", 0), make("HALT")), "MARK 0: the program names only 0 stages"),
    ]:
        with pytest.raises(MachineFault, match=message):
            node.run(_words(*instructions))


def test_a_jump_out_of_a_loop_ends_it(node: Node) -> None:
    """The inner loop is left in its first round, 20 times over: more often than loops may be open."""
    text = "LOOP 20\nLOOP 5\nADD R, #1\nJMP out\nENDL\nout: ADD S, #1\nENDL\n"
    assert _run(node, text).cycles == 40
    assert (set(node.register("R")), set(node.register("S"))) == ({20}, {20})


def test_loops_nest_as_deep_as_the_configuration_says(node: Node) -> None:
    def nested(depth: int) -> Program:
        return microcode.assemble("loop 1\n" * depth + "ADD R, #1\n" + "end\n" * depth)

    depth = node.config.igc.loop_depth
    assert node.run(nested(depth)).cycles == 1
    with pytest.raises(MachineFault, match=f"more than {depth} loops inside loops"):
        node.run(nested(depth + 1))


def test_cycle_limit(node: Node) -> None:
    text = "again: LD R, #1\nJMP again\n"
    with pytest.raises(CycleLimitError, match=r"cycle limit 1000 reached at .*:1"):
        _run(node, text, max_cycles=1000)
    assert _run(node, "LD R, #1\n", max_cycles=1).cycles == 1


def test_a_wait_that_nobody_can_end_is_a_deadlock(node: Node) -> None:
    with pytest.raises(DeadlockError) as caught:
        _run(node, "LD R, #1\nWAIT 3\n")
    assert re.search(r":2 .* 3 \(count 0\)", str(caught.value))


def test_state_survives_between_runs_and_reset_clears_it(node: Node) -> None:
    _run(node, "LD R, #5\nST [0], R\n")
    _run(node, "LD S, [0]\nADD S, R\n")
    assert set(node.register("S")) == {10}
    node.reset()
    assert not node.memory.any() and node.flag("E").all()


def test_data_sections_are_loaded(node: Node) -> None:
    program = microcode.assemble("range a[4] at 0\nrange b[2] at 4\ndata a: float 1.5\ndata b: lane\nHALT\n")
    node.load(program)
    assert set(node.read_float(0)) == {1.5}
    assert node.read_word(4, 2).tolist() == list(range(node.lanes))


def test_memory_access_from_outside_is_checked(node: Node) -> None:
    with pytest.raises(InputError, match=r"uint8\[bytes, 256\], found int64\[1, 256\]"):
        node.write_memory(0, np.zeros((1, node.lanes), int))
    with pytest.raises(InputError, match=r"bytes 383\.\.384 are outside the PE"):
        node.read_memory(383, 2)


def test_steps_keep_the_state_up_to_date(node: Node) -> None:
    program = microcode.assemble("LD R, #1\nADD R, #1\nADD R, #1\n")
    seen = [(stream.cycle, int(node.register("R")[0])) for stream in node.steps(program)]
    assert seen == [(1, 1), (2, 2), (3, 3)]


def test_all_8192_pes() -> None:
    node = Node(THESIS)
    _run(node, "EMC_TreeIntoMem_Li [0], 2, 1, 128, 0\n")
    x, y = node.coordinates()
    assert node.lanes == 8192
    assert sorted(node.read_word(0, 2).tolist()) == list(range(8192))  # every point of the 128 x 64 region once
    assert np.array_equal(node.read_word(0, 2), x + 128 * y)


def test_wrong_arguments_of_a_node_are_refused_by_name() -> None:
    node = Node(TINY, engine="rows")
    for program, kind in (("LD R, #1", "str"), (None, "NoneType")):
        with pytest.raises(InputError, match=f"expected a Program, found {kind}"):
            node.run(program)
    with pytest.raises(InputError, match=r"there is no register 'Q': it is one of R, S, M"):
        node.register("Q")
    with pytest.raises(InputError, match=r"there is no flag 'Z': it is one of C, E, L"):
        node.flag("Z")
