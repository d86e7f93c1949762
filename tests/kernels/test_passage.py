"""Repeated runs in one piece: only where all transfers are known, and the same as where every cycle is gone through."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from microcode import assemble
from pixelflow.isa import Program
from pixelflow.node.run.perform import prepared
from pixelflow.node.run.score import InOnePiece
from tests.kernels.repeated_programs import LINEAR, Pair, counted

PASSING = f"""
EMC_SetEnab
{LINEAR}
include "float32/tuned.mc"
repeat i in 0 .. 7
    EMC_TreeIntoMem_Li [352 + 4 * i], 4, 8, 16, 32 * i
end
EMC_TreeNEZero_Li 0, 1, 64, 0, 0
EMC_MarkRead
EMC_SetEnab
repeat k in 0 .. 1
    SIGNAL 0
    CALL fmul, [16], [20], [24]
    CALL fadd, [16 + 4 * k], [16], [28]
    WAIT 1
    repeat i in 0 .. 3
        LD R, [320 + i]
        ST [40 + i], R
        ST [100 + i], R
    end
    CALL fsub, [44], [40], [16]
end
HALT
stream tigc
TAS_SetCrossbar 3, 0
TAS_SetCrossbar 4, 1
WAIT 0
TAS_MemRdBlock4 0
SIGNAL 1
WAIT 0
TAS_MemRdBlock4 2
TAS_SetCounter 2
TAS_SetStep 1
SIGNAL 1
HALT
"""
PASSED = dict.fromkeys(("nothing", "data", "texture", "all enables"), True) | dict.fromkeys(
    ("tasic", "coordinates", "enables", "latches"), False
)


@cache
def passing() -> Program:
    return assemble(PASSING)


@pytest.mark.parametrize("what", PASSED)
def test_one_change_between_runs_in_one_piece(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Marks and addresses follow from the places of the PEs; another run between two is one that is gone through."""
    pair = Pair(3)
    for number in range(5):
        pair.run(passing(), fuse=number == 4)
    made = counted(monkeypatch, InOnePiece, "run")
    assert pair.run(passing()) and pair.run(passing(), "data", 1) and made == [True, True]
    # With other latches fewer PEs are marked, and fewer bytes move.
    assert pair.run(passing(), what, 5) is (what != "latches") and made == [True, True, PASSED[what]]
    pair.run(passing(), "all enables")
    for number in range(4):
        pair.run(passing(), fuse=number == 3)
    assert pair.run(passing()) and made[-1]


def test_what_is_in_texture_memory_is_read_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also from rows of the SDRAMs that were not there when the addresses were looked up."""
    pair = Pair(3)
    for number in range(5):
        pair.run(passing(), fuse=number == 4)
    made, found = counted(monkeypatch, InOnePiece, "run"), set()
    for seed in range(4):
        assert pair.run(passing(), "texture", seed)
        found.add(pair.nodes[0].read_memory(40, 4).tobytes())
        if seed == 1:
            for memory in (memory for node in pair.nodes for memory in node.texture_memory):
                held = memory.snapshot()
                memory.clear()
                memory.restore({name: values[::-1] for name, values in held.items()})
    assert made == [True] * 4 and len(found) == 4


def test_what_was_read_with_other_registers_is_not_kept_for_these(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program has the generator begin elsewhere, and then where it did: the run in one piece reads there.

    The last read has addresses from PEs, so that the corner turners hold the same behind every run.
    """
    pair = Pair(3)
    text = PASSING.replace("TAS_SetCounter 2\nTAS_SetStep 1\n", "").replace("Block4 0", "Block4 once")
    text = text.replace("Block4 2", "Block4 0").replace("Block4 once", "Block4 2")
    reading = assemble(text.replace("ST [100 + i], R", "ST [100 + 4 * k + i], R"))
    begins = [assemble(f"HALT\nstream tigc\nTAS_SetStep 0\nTAS_SetCounter {counter}\nHALT\n") for counter in (0, 3)]
    pair.run(reading, "texture", 1)
    for number in range(6):
        pair.run(begins[0])
        pair.run(reading, fuse=number == 4)
    for known in prepared(pair.nodes[0].array, reading).scores.values():
        known.look_at = 1_000_000  # no other run in one piece takes its place
    made, found = counted(monkeypatch, InOnePiece, "run"), []
    begun = (0, 0, 1, 1, 0, 1, 0)
    for begin in begun:
        pair.run(begins[begin])
        assert pair.run(reading)
        found.append(pair.nodes[0].read_memory(100, 4)[:, pair.nodes[0].flag("MR")].tobytes())
    assert made == [begin == 0 for begin in begun] and found[0] != found[2] and found[0] == found[-1]


MARKING = "EMC_TreeNEZero_Li 0, 1, 64, 0, 0"
UNKNOWN = {
    "marks": "LD R, [200]\nCMP R, #2\nEC\n",
    "addresses": f"LD R, [208]\nST [352], R\n{MARKING}",
    "a result": f"LD R, #0\nST [60], R\nCALL fmul, [60], [52], [56]\nLD R, [60]\nST [352], R\n{MARKING}",
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_follows_from_data_keeps_a_run_in_pieces(what: str) -> None:
    """Also where it is 0 to begin with, as it is known to be before it is computed. Later 1 * (1 + 2^-20) ends in 8."""
    assert PASSING.count(MARKING) == 1
    pair, program = Pair(3), assemble(PASSING.replace(MARKING, UNKNOWN[what]))
    for node in pair.nodes:
        node.write_word(52, 4, np.zeros(node.lanes, np.uint64))
        node.write_memory(208, np.zeros((1, node.lanes), np.uint8))
    for number in range(5):
        pair.run(program, fuse=number == 4)
    assert [known.whole for known in prepared(pair.nodes[0].array, program).scores.values()] == [None]
    for node in pair.nodes:
        node.write_float(52, 1)
        node.write_word(56, 4, np.full(node.lanes, 0x3F800008, np.uint64))
        node.write_memory(208, np.full((1, node.lanes), 8, np.uint8))
        node.write_memory(200, node.read_memory(200)[:, ::-1])
    assert pair.run(program)


def test_a_run_in_one_piece_leaves_the_tasics_as_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program sets the counter back each time, so that each run begins in one state and ends in another."""
    pair, other = Pair(3), assemble("HALT\nstream tigc\nTAS_SetStep 0\nTAS_SetCounter 1\nHALT\n")
    made = counted(monkeypatch, InOnePiece, "run")
    for number in range(6):
        pair.run(other)
        pair.run(passing(), fuse=number == 3)
    assert made == [True, True]


def test_a_register_of_the_tasics_that_is_there_for_the_first_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read in which nobody takes part leaves data in corner turners that held none; nothing else has changed."""
    pair = Pair(3)
    programs = [assemble(f"LD R, [16]\nST [99], R\nHALT\nstream tigc\n{line}TAS_SetCounter 0\nHALT")
                for line in ("", "TAS_MemRdBlock4 2\n")]  # fmt: skip
    made = counted(monkeypatch, InOnePiece, "run")
    for number in (0, 0, 0, 1, 0, 0):
        pair.run(programs[number], fuse=True)
    assert True in made and False in made
