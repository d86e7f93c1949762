"""What does a function-only run report, where does it stop, and which requests does it refuse?"""

from __future__ import annotations

import copy
import gc
import pickle
import re
from dataclasses import fields, replace

import numpy as np
import pytest

import microcode
from pixelflow.config import TINY
from pixelflow.node import Node, UntimedRun
from pixelflow.node.run.analysis import analysis_of
from pixelflow.node.run.as_soon_as_possible import AsSoonAsPossible
from pixelflow.node.run.perform import OnLanes
from pixelflow.node.run.score import AtOnce, Noting, Score
from pixelflow.observe import Executed
from pixelflow.simd.errors import CycleLimitError, DeadlockError, InputError, MachineFault
from pixelflow.simd.report import Fact, Table
from tests.streams import graphs
from tests.untimed.states import SMALL, run_both

EXCHANGE = """\
MARK "ask"
EMC_TreeIntoMem_Li [352], 4, 0, 0, 512
EMC_MarkRead
SIGNAL 0
MARK "use"
WAIT 1
CALL take, [0]
CALL take, [1]
routine take(d)
    LD R, [320]
    ST d, R
end
stream tigc
MARK "fetch"
WAIT 0
TAS_MemRdBlock4 1
SIGNAL 1
"""


def one(text: str, **options) -> UntimedRun:
    return Node(TINY).run(microcode.assemble(text), timing=False, **options)


# --- the account ---------------------------------------------------------------------------------------------------


def test_the_account_counts_and_knows_no_cycles() -> None:
    run = one(EXCHANGE)
    assert not hasattr(run, "cycles") and not any("cycle" in field.name for field in fields(run))
    assert run.stages == ("ask", "use") and run.beside.stages == ("fetch",)
    assert run.calls == {"take": 2} and run.by_stage == {"ask": 1, "use": 1}
    # MARK twice, LEE load, mark, SIGNAL, WAIT, 2 CALL, 2 x (START, LD, ST, RET), HALT; MARK, WAIT, read, SIGNAL, HALT
    assert (run.instructions, run.beside.instructions) == (17, 5)
    assert run.by_mnemonic["LD"] == run.by_mnemonic["ST"] == run.by_mnemonic["RET"] == 2
    assert sum(run.by_mnemonic.values()) == 17
    # Every one of 256 PEs gives an address and gets 32 bytes, 4 from each of 8 SDRAMs.
    assert {way: count for way, count in run.moved.items() if count} == {
        "texture memory to TASICs": 256 * 32,
        "TASICs to PEs": 256 * 32,
    }
    assert run.streams == (run, run.beside)
    assert copy.deepcopy(run) == pickle.loads(pickle.dumps(run)) == run


def test_it_shows_itself() -> None:
    run = one(EXCHANGE)
    assert repr(run).startswith("UntimedRun('program', eigc, 17 ")
    report = run.report()
    assert "22 instructions" in report.title
    assert Fact("none was simulated", "time") in report.parts
    rows = {row for part in report.parts if isinstance(part, Table) for row in part.rows}
    assert {("eigc", 17), ("tigc", 5), ("take", 2), ("use", 1)} <= rows


def test_a_second_run_has_an_account_of_its_own() -> None:
    node, program = Node(TINY), microcode.assemble(EXCHANGE)
    first, second = (node.run(program, timing=False) for _ in range(2))
    assert first == second and first.program is second.program is program
    first.calls.clear()
    first.beside.calls["none"] = 1
    first.moved.clear()
    third = node.run(program, timing=False)
    assert third == second and third != first


def test_what_is_kept_of_a_program_goes_with_it() -> None:
    node = Node(TINY)
    program = microcode.assemble(EXCHANGE)
    run = node.run(program, timing=False)
    assert len(node.array.prepared) == 1
    node.load(microcode.assemble("HALT\n"))  # the node knows the ranges of the last one by name
    del program, run
    gc.collect()
    assert len(node.array.prepared) == 0


@pytest.mark.slow
def test_of_a_long_run_little_is_kept() -> None:
    node = Node(TINY)
    long = microcode.assemble("stream tigc\nloop 120\nloop 1000\nTAS_AddCounter 1\nend\nend\n")
    score = Score()
    lanes = OnLanes(
        analysis_of(long, node.config),
        node.array,
        node.texture,
        node.bus,
        Noting(AtOnce(node.array, node.texture, long), score),
    )
    runner = AsSoonAsPossible(long, node.config, lanes)
    runner.run()
    assert sum(runner.streams[1].executed) > 120_000 and not score.complete(node.array)
    assert len(score.steps) <= 100_000
    first, second = (node.run(long, timing=False) for _ in range(2))
    assert first == second and node.texture.generator.counter == 3 * 120_000 % 65536


# --- where it stops ------------------------------------------------------------------------------------------------


def test_every_deadlock_is_found_and_explained() -> None:
    """Against a reference that plays the graph with tokens, and against the places that a full run names."""
    node, alone = Node(TINY), Node(TINY)
    for seed in range(80):
        graph = graphs.deadlocking(seed)
        program = microcode.assemble(graph.text())
        texts = []
        for each, timing in ((node, True), (alone, False)):
            with pytest.raises(DeadlockError) as caught:
                each.run(program, timing=timing)
            texts.append(str(caught.value))
        full, found = texts
        assert "cycle" not in found
        assert re.sub(r" (at|since) cycle \d+", "", full) == found, seed
        waiting = re.findall(r"(EIGC|TIGC)  \S*:(\d+)   waits sem (\d+) \(count 0\)$", found, re.MULTILINE)
        stuck = graphs.outcome(graph).stuck
        expected = {(stream.upper(), str(op.line), str(op.number)) for stream, op in stuck.items() if op}
        assert set(waiting) == expected, seed


def test_a_stream_alone_waits_in_vain() -> None:
    with pytest.raises(DeadlockError, match=r"sem 1 is signalled by TIGC \S*:\d+ \(this stream does not run\)"):
        one(EXCHANGE, entry="eigc")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LD R, #1\nST [0], R\nCALL f, [383]\nroutine f(d)\nLD R, d[1]\nend\n", r":5: .*bytes 384..384 are outside"),
        ('ST [0], R\nMARK "a"\nloop 1\nloop 1\nCALL f\nend\nend\nproc f()\nCALL f\nend\n', r":9: more than 16 calls"),
        ("WAIT 3\nstream tigc\nWAIT 3\n", "both streams wait for semaphore 3"),
    ],
    ids=["memory", "calls", "semaphores"],
)
def test_faults_have_their_place_and_no_cycle(text: str, message: str) -> None:
    with pytest.raises(MachineFault, match=message) as caught:
        one(text)
    assert "cycle" not in str(caught.value)


def test_instructions_of_the_other_stream() -> None:
    """The assembler puts none there; object files may."""
    program = microcode.assemble("LD R, #1\nstream tigc\nTAS_SetStep 1\n")
    with pytest.raises(MachineFault, match=r":3: TAS_SetStep 1: not an instruction of the EMCs"):
        Node(TINY).run(program, timing=False, entry="tigc")
    eigc, tigc = program.entries.values()
    with pytest.raises(MachineFault, match=r":1: LD R, #1: not an instruction of the TASICs"):
        Node(TINY).run(replace(program, entries={"eigc": tigc, "tigc": eigc}), timing=False)


ADDRESSES = """\
repeat i in 0 .. 3
    LD R, [4 + i]
    ST [352 + i], R
end
EMC_MarkRead
SIGNAL 0
WAIT 1
LD R, #9
ST [0], R
stream tigc
WAIT 0
TAS_MemRdBlock4 1
SIGNAL 1
"""


def test_a_transfer_that_faults_does_so_in_every_run() -> None:
    program, node = microcode.assemble(ADDRESSES), Node(TINY)
    for address in (8, 2, 8, 2):
        node.reset()
        node.write_word(4, 4, np.full(node.lanes, address, np.uint64))
        if address == 8:
            node.run(program, timing=False)
            assert (node.memory[0] == 9).all()
            continue
        with pytest.raises(MachineFault, match=r":12: texture address 0x2 is not a multiple of 4 below"):
            node.run(program, timing=False)
        assert not node.memory[0].any() and (node.memory[352] == 2).all()


def test_the_limit_counts_a_streams_own_cycles() -> None:
    """52 cycles go by until the EMC stream has ended, 51 of which it waits; the texture stream has 50 of its own."""
    text = "WAIT 0\nLD R, #1\nstream tigc\nloop 50\nTAS_SetStep 1\nend\nSIGNAL 0\n"
    one(text, max_cycles=50)
    with pytest.raises(CycleLimitError, match=r"cycle limit 49 reached at \S*:5 \(TIGC, its own cycles without waits"):
        one(text, max_cycles=49)
    with pytest.raises(CycleLimitError, match=r"cycle limit 50 reached at"):
        Node(TINY).run(microcode.assemble(text), max_cycles=50)


@pytest.mark.parametrize(
    "text",
    ["again: LD R, #1\nJMP again\n", "WAIT 0\nstream tigc\nagain: TAS_SetStep 1\nSIGNAL 0\nJMP again\n"],
    ids=["EMC stream", "texture stream"],
)
def test_endless_loops_end(text: str) -> None:
    with pytest.raises(CycleLimitError, match="cycle limit 1000 reached"):
        one(text, max_cycles=1000)


def test_a_limit_that_a_full_run_keeps_is_kept() -> None:
    program = microcode.assemble(EXCHANGE)
    run, _ = run_both(program, TINY)
    one(EXCHANGE, max_cycles=run.total_cycles)


# --- order ---------------------------------------------------------------------------------------------------------


def test_a_transfer_comes_at_the_signal_and_not_later() -> None:
    """What the PEs write into the port after the signal is too late, though no semaphore says so: as in time."""
    text = """\
EMC_TreeIntoMem_Li [352], 4, 0, 0, 1
EMC_MarkWrite
EMC_MarkRead
SIGNAL 0
{}EMC_TreeIntoMem_Li [352], 4, 0, 0, 2
LD R, [320]
ST [0], R
stream tigc
WAIT 0
TAS_LoopBack
"""
    waiting = "loop 200\nADD S, #1\nend\n"
    run_both(microcode.assemble(text.format(waiting * 60)), TINY)
    alone, full = Node(TINY), Node(TINY)
    alone.run(microcode.assemble(text.format("")), timing=False)
    assert (alone.memory[0] == 1).all()
    with pytest.raises(MachineFault, match="port conflict"):  # a full run sees that there was no time for it
        full.run(microcode.assemble(text.format("")))


# --- what is refused -----------------------------------------------------------------------------------------------


def test_requests_that_need_time_or_leave_nothing() -> None:
    node, program = Node(SMALL), microcode.assemble(EXCHANGE)
    with pytest.raises(InputError, match=r"without PE data .* and without time .* does nothing"):
        node.run(program, function=False, timing=False)
    with pytest.raises(InputError, match="no cycle to save the state at"):
        node.run(program, timing=False, save_at=3, save=print)
    node.bus.subscribe(print, Executed)
    with pytest.raises(InputError, match="no events for subscribers"):
        node.run(program, timing=False)
    node.bus.unsubscribe(print)
    assert node.run(program, timing=False).beside is not None
