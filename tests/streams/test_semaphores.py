"""Is every deadlock of two streams found, and explained, and no other run called one?"""

from __future__ import annotations

import re

import pytest

import microcode
from pixelflow.config import TINY
from pixelflow.node import Node
from pixelflow.simd.errors import CycleLimitError, DeadlockError, MachineFault
from tests.streams import graphs

SEEDS = [range(50), pytest.param(range(50, 200), marks=pytest.mark.slow)]
"""Of each kind; the seed of a graph is its number."""


@pytest.fixture(scope="module")
def node() -> Node:
    return Node(TINY)


@pytest.mark.parametrize("seeds", SEEDS)
def test_no_correct_program_is_called_a_deadlock(node: Node, seeds: range) -> None:
    for seed in seeds:
        graph = graphs.correct(seed)
        program = microcode.assemble(graph.text())
        run = node.run(program)
        taken = sum(flow.taken for flow in run.ledger.signals.values())
        waits = sum(op.what == "wait" for stream in graphs.STREAMS for op in graph.walk(stream))
        assert taken == waits, seed
        timed = node.run(program, function=False, shuffle_seed=seed)
        assert (timed.cycles, timed.waits, timed.beside.waits) == (run.cycles, run.waits, run.beside.waits), seed


@pytest.mark.parametrize("seeds", SEEDS)
def test_every_deadlock_is_found_and_explained(node: Node, seeds: range) -> None:
    for seed in seeds:
        graph = graphs.deadlocking(seed)
        program = microcode.assemble(graph.text())
        expected = graphs.outcome(graph)
        texts = set()
        for function, shuffle_seed in ((True, None), (False, seed)):
            with pytest.raises(DeadlockError) as caught:
                node.run(program, function=function, shuffle_seed=shuffle_seed)
            texts.add(str(caught.value))
        assert len(texts) == 1, texts
        _check(texts.pop(), graph, expected, seed)


def _check(text: str, graph: graphs.Graph, expected: graphs.Outcome, seed: int) -> None:
    waiting = {
        stream.lower(): (int(line), int(semaphore))
        for stream, line, semaphore in re.findall(r"(EIGC|TIGC)  \S*:(\d+)   waits sem (\d+) \(count 0\) since", text)
    }
    stuck = {stream: (op.line, op.number) for stream, op in expected.stuck.items() if op is not None}
    assert waiting == stuck, f"seed {seed}\n{graph.text()}\n{text}"
    told = re.findall(r"sem (\d+) is signalled by (\w+) \S*:(\d+) \((?:reached, (\d+) times|not reached)\)", text)
    for semaphore, stream, line, times in told:
        assert int(semaphore) in {number for _, number in stuck.values()}
        assert int(times or 0) == expected.signals[stream.lower(), int(line)], f"seed {seed}\n{text}"


EMBRACE = """\
LD R, #1
WAIT 0
SIGNAL 1
stream tigc
TAS_SetStep 1
TAS_SetStep 2
CALL f
SIGNAL 0
proc f()
    WAIT 1
end
"""


def test_the_message_of_a_deadlock(node: Node) -> None:
    with pytest.raises(DeadlockError) as caught:
        node.run(microcode.assemble(EMBRACE))
    lines = [re.sub(r"\S*:(\d+)", r"<\1>", line) for line in str(caught.value).split("\n")[1:]]
    assert " 2: " in str(caught.value).splitlines()[0]
    assert [re.findall(r"[A-Z]{4}|sem \d|<\d+>|cycle \d", line) for line in lines] == [
        ["EIGC", "<2>", "sem 0", "cycle 1"],
        ["sem 0", "TIGC", "<8>"],
        ["TIGC", "<10>", "sem 1", "cycle 2"],
        ["sem 1", "EIGC", "<3>"],
    ]


def test_a_deadlock_beside_a_stream_that_ended(node: Node) -> None:
    with pytest.raises(DeadlockError) as caught:
        node.run(microcode.assemble("loop 2\nWAIT 0\nend\nWAIT 5\nstream tigc\nSIGNAL 0\nTAS_SetStep 1\nSIGNAL 0\n"))
    text = str(caught.value)
    assert re.search(r"sem 5 .* 2\b", text)
    assert re.search(r"TIGC .* 1\b", text)


def test_one_stream_alone_says_that_the_other_does_not_run(node: Node) -> None:
    with pytest.raises(DeadlockError, match=r"sem 0 is signalled by TIGC \S*:8 \(this stream does not run\)"):
        node.run(microcode.assemble(EMBRACE), entry="eigc")


def test_many_signals_in_one_cycle(node: Node) -> None:
    text = "loop 1000\nSIGNAL 1\nSIGNAL 2\nend\nWAIT 0\nstream tigc\nloop 1000\nWAIT 1\nWAIT 2\nend\nSIGNAL 0\n"
    run = node.run(microcode.assemble(text))
    assert run.ledger.signals[1].carried == run.ledger.signals[2].taken == 1000
    assert (run.cycles, run.beside.cycles) == (2, 1)


def test_a_stream_may_signal_itself(node: Node) -> None:
    run = node.run(microcode.assemble("SIGNAL 0\nWAIT 0\nSIGNAL 0\nstream tigc\nTAS_SetStep 1\n"))
    flow = run.ledger.signals[0]
    assert (flow.sent, flow.carried, flow.taken, flow.left) == (2, 0, 1, 1)
    with pytest.raises(DeadlockError):
        node.run(microcode.assemble("SIGNAL 0\nWAIT 0\nWAIT 0\nstream tigc\nTAS_SetStep 1\n"))


def test_only_one_stream_may_wait_for_a_semaphore(node: Node) -> None:
    with pytest.raises(MachineFault, match="both streams wait for semaphore 3"):
        node.run(microcode.assemble("WAIT 3\nstream tigc\nWAIT 3\n"))


SLOW = "WAIT 0\nLD R, #1\nstream tigc\nloop 50\nTAS_SetStep 1\nend\nSIGNAL 0\n"


@pytest.mark.parametrize("function", [True, False])
def test_the_cycle_limit_of_two_streams(node: Node, function: bool) -> None:
    program = microcode.assemble(SLOW)
    run = node.run(program, function=function)
    assert (run.cycles, run.waits, run.beside.cycles) == (52, {"sem 0": 51}, 50)
    assert node.run(program, max_cycles=52, function=function).cycles == 52
    with pytest.raises(CycleLimitError, match=r"cycle limit 51 reached at .*:2 \(EIGC\)"):
        node.run(program, max_cycles=51, function=function)
    with pytest.raises(
        CycleLimitError, match=r"limit 50 reached at .*:1 \(EIGC, where it waits for sem 0 since cycle 0\)"
    ):
        node.run(program, max_cycles=50, function=function)
    with pytest.raises(CycleLimitError, match=r"cycle limit 20 reached at .*:5 \(TIGC\)"):
        node.run(program, max_cycles=20, function=function)
    endless = microcode.assemble("WAIT 0\nstream tigc\nagain: TAS_SetStep 1\nJMP again\n")
    with pytest.raises(CycleLimitError, match=r"cycle limit 1000 reached at .*:3 \(TIGC\)"):
        node.run(endless, max_cycles=1000, function=function)
