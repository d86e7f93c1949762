"""Runs that are done again from fused scores: the same state and account as where every cycle is gone through.

Every run is compared with one from the same state on an engine that repeats nothing.
"""

from __future__ import annotations

import random
from functools import cache

import pytest

from microcode import assemble
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.node.kernels import macro_engine
from pixelflow.node.run import score
from pixelflow.node.run.perform import prepared
from pixelflow.node.run.score import Again
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.native.toolchain import Toolchain
from tests.kernels.repeated_programs import CHANGES, LINEAR, Pair, change, counted, random_program


def lanes_steps(node: Node, program: Program) -> list:
    (known,) = prepared(node.array, program).scores.values()
    return [step for step in known.steps if isinstance(step, score.Lanes)]


# --- one program, one change ----------------------------------------------------------------------------------------

READING = f"""
{LINEAR}
include "float32/tuned.mc"
repeat i in 0 .. 31
    LD R, [208 + i]
    ST [352 + i], R
end
LD R, [200]
CMP R, #2
EC
EMC_MarkRead
EMC_SetEnab
SIGNAL 0
CALL fmul, [16], [20], [24]
CALL fadd, [16], [16], [28]
CALL fdiv, [32], [16], [36]
WAIT 1
repeat i in 0 .. 3
    LD R, [320 + i]
    ST [40 + i], R
end
CALL fsub, [44], [40], [16]
SIGNAL 0
CALL fless, [48], [44], [16]
WAIT 1
HALT
stream tigc
TAS_SetCrossbar 3, 0
TAS_SetCrossbar 4, 1
WAIT 0
TAS_MemRdBlock4 1
SIGNAL 1
WAIT 0
TAS_SetCounter 2
TAS_SetStep 1
TAS_MemRdBlock4 0
SIGNAL 1
HALT
"""


@cache
def reading() -> Program:
    return assemble(READING)


REPEATED = {
    "nothing": True,
    "data": True,
    "addresses": True,
    "one address": True,
    "texture": True,
    "coordinates": True,
    "marks": False,
    "regular marks": False,
    "tasic": True,
    "enables": True,
    "all enables": True,
}


@pytest.mark.parametrize("what", REPEATED)
def test_one_change_between_fused_runs(what: str) -> None:
    """Only marks decide about the time here: other ones are other rounds or bytes. Linear expressions are folded."""
    pair = Pair(2)
    again = [pair.run(reading(), fuse=number == 2) for number in range(4)]
    assert again == [False, True, True, True]
    assert pair.run(reading(), what, 5) is REPEATED[what]
    assert pair.run(reading()) and pair.run(reading(), fuse=True) and pair.run(reading(), what, 6) is REPEATED[what]


def test_reads_that_come_again_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(2)
    for number in range(4):
        pair.run(reading(), fuse=number == 2)
    made = counted(monkeypatch, macro_engine.RepeatedRows, "is_asked")
    pair.run(reading())
    assert made == [True, True]
    pair.run(reading(), "one address", 3)
    assert made == [True, True, False, False]
    for _ in range(3):
        pair.run(reading())
    assert made[-2:] == [True, True]


def test_other_coordinates_drop_what_is_folded() -> None:
    pair = Pair(3)
    for number in range(3):
        pair.run(reading(), fuse=number == 1)
    first = lanes_steps(pair.nodes[0], reading())[0].actions[0]
    assert first.uses is None
    assert pair.run(reading(), "coordinates", 4)
    assert first.uses is not None and len(first.code) > 70 * 8
    assert pair.run(reading(), fuse=True) and first.uses is None


def test_coordinates_that_the_program_sets_itself() -> None:
    """They are other ones in the second half of each run, and still are when the next one begins."""
    source = READING.replace(
        "WAIT 1\nHALT", f"WAIT 1\nEMC_SetLEE 0, 0, 2, 3, 77\n{LINEAR}\nEMC_SetLEE 0, 0, 2, 3, 5\nHALT"
    )
    program = assemble(source)
    pair = Pair(4)
    again = [pair.run(program, fuse=number in (1, 3)) for number in range(5)]
    assert again == [False, True, True, True, True]


# --- faults, several programs, other ways of running ----------------------------------------------------------------


def test_a_fault_after_several_fused_runs() -> None:
    pair = Pair(5)
    for number in range(4):
        pair.run(reading(), fuse=number == 2)
    messages = []
    for node in pair.nodes:
        change(node, "a bad address", 0)
        with pytest.raises(MachineFault, match="is not a multiple of 4") as caught:
            node.run(reading())
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    pair.same()
    for number in range(4):
        assert pair.run(reading(), "addresses", 1, fuse=number == 2) is (number > 0)


WRITING = """
EMC_SetEnab
repeat i in 0 .. 31
    LD R, [16 + i]
    ST [352 + i], R
end
EMC_MarkWrite
EMC_MarkRead
include "float32/tuned.mc"
repeat i in 0 .. 1
    SIGNAL 0
    CALL fadd, [16], [16], [20]
    WAIT 1
end
repeat i in 0 .. 31
    LD R, [320 + i]
    ST [64 + i], R
end
HALT
stream tigc
TAS_SetCrossbar 3, 0
TAS_SetStep 1
TAS_SetCounter 0
WAIT 0
TAS_MemWrBlock4 2
SIGNAL 1
TAS_SetCounter 0
WAIT 0
TAS_MemRdBlock4 2
SIGNAL 1
HALT
"""


def test_a_program_that_writes_what_it_reads() -> None:
    pair, program = Pair(6), assemble(WRITING)
    again = [pair.run(program, fuse=number == 1) for number in range(5)]
    assert again == [False, True, True, True, True]
    assert pair.run(program, "texture", 9) and pair.run(program, "data", 10)


def test_two_programs_in_turn() -> None:
    """Each finds texture memory, marks, ports and the counter as the other left them."""
    pair, programs = Pair(7), [assemble(WRITING), reading()]
    again = [pair.run(programs[number % 2], fuse=number in (2, 3)) for number in range(9)]
    assert again[:2] == [False, False] and all(again[4:])


def test_states_that_are_saved_in_between() -> None:
    """From then on every run is gone through, by microcode."""
    pair = Pair(8)
    for number in range(3):
        pair.run(reading(), fuse=number == 1)
    saved: list[list] = [[], []]
    for node, states in zip(pair.nodes, saved, strict=True):
        node.run(reading(), save_at=1000, save=states.append)
    pair.same()
    assert not pair.run(reading())
    for node, (state,) in zip(pair.nodes, saved, strict=True):
        node.resume(reading(), state)
    pair.same()


def refuse(self, texts, level=1):
    raise RuntimeError("no such instruction")


@pytest.mark.parametrize("fused", [False, True])
def test_where_native_code_is_lost(monkeypatch: pytest.MonkeyPatch, fused: bool) -> None:
    """The first new form of code finds no compiler; numpy carries out what is known by then, kept bytes included."""
    pair = Pair(9)
    for number in range(4):
        pair.run(reading(), fuse=fused and number == 2)
    monkeypatch.setattr(Toolchain, "compile", refuse)
    engine = pair.nodes[0].array.engine
    engine._wanted.append(((((("load",), ("not", 0), ("store", 1)), (0, 1)),) * 3, ()))
    engine._native.addresses.append(0)
    monkeypatch.setattr(engine._native, "fetch", lambda wanted: False)
    assert pair.run(reading()) and not engine._is_native
    for what in ("data", "one address", "coordinates", "nothing"):
        assert pair.run(reading(), what, 3)


# --- anything --------------------------------------------------------------------------------------------------------


def anything(seed: int, reference: str) -> int:
    """Run one or two random programs, fused from the third run on, with a random change before each.

    Returns how many runs were repeated.
    """
    rng = random.Random(seed)
    pair = Pair(seed, reference)
    programs = [random_program(2 * seed + each) for each in range(rng.choice([1, 1, 2]))]
    repeated = 0
    for number in range(8):
        what = rng.choice(CHANGES) if number > 2 else "nothing"
        repeated += pair.run(
            rng.choice(programs) if number > 2 else programs[0], what, 10 * seed + number, fuse=number in (2, 5)
        )
    return repeated


@pytest.mark.parametrize("seed", range(2))
def test_random_programs(seed: int) -> None:
    assert anything(seed, "compiled") > 1


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_random_programs_in_full(block: int) -> None:
    for seed in range(100 + 20 * block, 120 + 20 * block):
        anything(seed, "rows")


def test_other_contents_are_read_by_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """What native code gives the ports is renewed, and used when the contents stay as they are."""
    pair = Pair(2)
    for number in range(4):
        pair.run(reading(), fuse=number == 2)
    made = counted(monkeypatch, Again, "is_of")
    for seed in range(3):
        pair.run(reading(), "texture", seed)
        assert pair.run(reading())
    assert made == [False, False, True, True] * 3
