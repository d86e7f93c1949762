"""Runs that are done again: the same state and the same account as on an engine that goes through every cycle."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

from microcode import assemble
from pixelflow.config import TINY
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.node.run.perform import prepared
from pixelflow.node.texture_addresses import AddressMap, Physical
from pixelflow.observe import Executed
from pixelflow.simd.errors import MachineFault

MARKED_BY_MEMORY = """
; Every PE whose byte 0 is not 0 reads 4 bytes of texture memory, from where byte 4 on says.
repeat i in 0 .. 3
    LD R, [4 + i]
    ST [352 + i], R
end
LD R, [0]
CMP R, #1
EC
EMC_MarkRead
EMC_SetEnab
SIGNAL 0
include "float32/tuned.mc"
CALL fmul, [8], [12], [12]
WAIT 1
LD R, [320]
ST [16], R
HALT
stream tigc
WAIT 0
TAS_MemRdBlock4 1
SIGNAL 1
HALT
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return assemble(MARKED_BY_MEMORY)


def _prepared(node: Node, marked: np.ndarray, seed: int) -> Node:
    generator = np.random.default_rng(seed)
    node.write_memory(0, marked.astype(np.uint8)[None])
    node.write_word(4, 4, 4 * generator.integers(0, 64, node.lanes).astype(np.uint64))
    node.write_memory(12, generator.integers(0, 256, (4, node.lanes), dtype=np.uint8))
    node.set_flag("MR", np.zeros(node.lanes, bool))
    return node


def _both(marks: list[np.ndarray], program: Program) -> list[bool]:
    """Run on both engines with each of the marks in turn; return which runs of the macro engine were repeated."""
    macro, compiled = Node(TINY, "macro"), Node(TINY, "compiled")
    found = []
    for number, marked in enumerate(marks):
        again, full = (_prepared(node, marked, number).run(program) for node in (macro, compiled))
        kept = np.ones(384, bool)
        kept[152:161] = False
        assert (macro.memory[kept] == compiled.memory[kept]).all()
        for name in ("cycles", "executed", "stages", "waits", "routine_cycles", "ledger", "tasic_cycles", "reason"):
            assert getattr(again, name) == getattr(full, name), name
        assert again.beside.waits == full.beside.waits and again.total_cycles == full.total_cycles
        assert macro.texture.moved == compiled.texture.moved
        found.append(again.repeated)
    return found


def test_a_run_with_other_data_but_the_same_marks_is_repeated(program: Program) -> None:
    marked = np.arange(TINY.lanes) % 3 == 0
    assert _both([marked] * 3, program) == [False, True, True]


def test_a_run_whose_transfer_has_other_rounds_is_gone_through(program: Program) -> None:
    few, many = np.arange(TINY.lanes) % 16 == 0, np.arange(TINY.lanes) % 2 == 0
    assert _both([few, many, many, few, few], program) == [False, False, True, False, True]


def test_as_many_rounds_with_fewer_bytes_are_another_account(program: Program) -> None:
    """The EMC with the most marked PEs decides about the time, all of them about the bytes."""
    most = np.arange(TINY.lanes) % 16 == 0
    fewer = most & (np.arange(TINY.lanes) < TINY.lanes // 2)
    assert _both([most, fewer, fewer], program)[:2] == [False, False]


def test_a_fault_comes_in_its_cycle(program: Program) -> None:
    node, other = Node(TINY, "macro"), Node(TINY, "compiled")
    marked = np.ones(TINY.lanes, bool)
    for each in (node, other):
        _prepared(each, marked, 1).run(program)
        _prepared(each, marked, 2).write_word(4, 4, np.full(TINY.lanes, 2, np.uint64))
    messages = []
    for each in (node, other):
        with pytest.raises(MachineFault, match="texture address 0x2 is not a multiple of 4") as caught:
            each.run(program)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_whoever_watches_sees_every_instruction(program: Program) -> None:
    node = Node(TINY, "macro")
    marked = np.ones(TINY.lanes, bool)
    for _ in range(2):
        _prepared(node, marked, 1).run(program)
    told: list = []
    node.bus.subscribe(told.append, Executed)
    assert not _prepared(node, marked, 1).run(program).repeated
    assert len(told) > 200


def test_what_is_kept_of_a_program_goes_with_it() -> None:
    node = Node(TINY, "macro")
    program = assemble("LD R, #3\nST [0], R\nHALT\n")
    node.run(program)
    assert prepared(node.array, program).scores and len(node.array.prepared) == 1
    node.load(assemble("HALT\n"))  # the node knows the ranges of the last one by name
    del program
    gc.collect()
    assert len(node.array.prepared) == 0


def test_the_example_with_texture_memory(repository: Path) -> None:
    text = (repository / "microcode" / "examples" / "texture_copy.mc").read_text()
    program = assemble(text)
    macro, rows = Node(TINY, "macro"), Node(TINY, "rows")
    for number in range(3):
        found, expected = macro.run(program), rows.run(program)
        assert found.repeated is (number > 0) and found.total_cycles == expected.total_cycles
        assert macro.digest() == rows.digest() and found.ledger == expected.ledger


@pytest.mark.parametrize("engine", ["rows", "macro"])
def test_a_read_brings_what_was_written_since_the_last_one(engine: str, program: Program) -> None:
    """Each marked PE reads the four bytes of device 0 at its address; they are what was written there last."""
    node = Node(TINY, engine)
    marked = np.ones(node.lanes, bool)
    number = np.arange(64)
    for value in (3, 3, 7):
        words = np.repeat((value * number).astype("<u4")[:, None], 8, axis=1).view(np.uint8).reshape(64, 8, 4)
        if value != 3 or not node.texture_memory[0].pages:
            where = Physical(np.arange(8)[None], *AddressMap(TINY.sdram).cell(4 * number[:, None]))
            for memory in node.texture_memory:
                memory.write(Physical(*np.broadcast_arrays(*where)), words)
        _prepared(node, marked, 5).run(program)
        assert (node.read_word(320, 4) == value * node.read_word(4, 4) // 4).all()
    few = np.arange(node.lanes) % 5 == 0
    node.write_memory(320, np.full((4, node.lanes), 0x11, np.uint8))
    _prepared(node, few, 5).run(program)
    expected = np.where(few, 7 * node.read_word(4, 4) // 4, 0x11111111)
    assert (node.read_word(320, 4) == expected).all()


READS = """
LD R, #0
repeat i in 0 .. 31
    ST [352 + i], R
end
EMC_MarkRead
SIGNAL 0
WAIT 1
HALT
stream tigc
WAIT 0
TAS_MemRdBlock4 2
SIGNAL 1
HALT
"""
PROMISES = "HALT\nstream tigc\nTAS_SetBanks 1\nHALT\n"


def test_what_another_program_has_told_the_tasics_counts() -> None:
    """After TAS_SetBanks a read takes fewer cycles; registers of the TASICs are kept from run to run."""
    programs = [assemble(READS), assemble(PROMISES)]
    found = {}
    for engine in ("macro", "rows"):
        node = Node(TINY, engine)
        marked = np.zeros(node.lanes, bool)
        marked[:: node.lanes // 4] = True
        found[engine] = []
        for number in (0, 0, 1, 0, 0):
            node.set_flag("E", marked)
            node.set_flag("MR", np.zeros(node.lanes, bool))
            run = node.run(programs[number])
            found[engine].append((run.cycles, run.total_cycles, dict(node.texture.moved)))
    assert found["macro"] == found["rows"]
    cycles = [each[1] for each in found["rows"]]
    assert cycles[0] == cycles[1] > cycles[3] == cycles[4]


def test_the_account_of_a_repeated_run_is_its_own(program: Program) -> None:
    marked = np.arange(TINY.lanes) % 3 == 0
    node = Node(TINY, "macro")
    runs = [_prepared(node, marked, seed).run(program) for seed in range(3)]
    runs[1].waits["sem 99"] = 1
    assert runs[2].repeated and "sem 99" not in runs[2].waits
    assert [any(getattr(part, "label", None) == "repeated" for part in run.report().parts) for run in runs] == [
        False,
        True,
        True,
    ]
    assert "sem 99" not in _prepared(node, marked, 4).run(program).waits
