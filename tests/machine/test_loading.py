"""Does a run begin with its program's data, once, and leave what was written since?"""

from __future__ import annotations

import numpy as np
import pytest

from microcode import assemble
from pixelflow.config import TINY, load_config
from pixelflow.isa import Program
from pixelflow.node import Checkpoint, Machine, Node, Replay, SavedRun
from pixelflow.simd.errors import InputError

COUNTING = "range count[1]\nrange own[2]\ndata count: byte 5\ndata own: lane\nLD R, count\nADD R, #1\nST count, R\n"
ANOTHER = COUNTING.replace("byte 5", "byte 40")


def counting(text: str = COUNTING) -> Program:
    return assemble(text)


def count(node: Node) -> int:
    (found,) = set(node["count"].tolist())
    return found


@pytest.mark.parametrize("engine", ["rows", "auto"])
@pytest.mark.parametrize("how", [{}, {"timing": False}, {"max_cycles": 100}, {"entry": "eigc"}])
def test_the_first_run_loads_the_data_and_later_ones_go_on(how: dict[str, object], engine: str) -> None:
    node, program = Node(TINY, engine), counting()
    for expected in (6, 7, 8, 9):
        node.run(program, **how)
        assert count(node) == expected
    assert (node["own"] == np.arange(node.lanes)).all()


def test_a_stream_that_is_stepped_through_has_its_data() -> None:
    node = Node(TINY)
    assert len(list(node.steps(counting()))) == 3
    assert count(node) == 6


def test_what_is_written_after_load_stays_and_load_loads_again() -> None:
    node, program = Node(TINY), counting()
    node.load(program)
    node["count"] = 100
    node.run(program)
    assert count(node) == 101
    node.load(program)
    assert count(node) == 5


def test_each_program_has_its_own_data_once_and_equal_programs_are_one() -> None:
    node = Node(TINY)
    found = []
    for text in (COUNTING, ANOTHER, COUNTING, ANOTHER):
        node.run(counting(text))
        found.append(count(node))
    assert found == [6, 41, 42, 43]


def test_a_node_that_was_reset_has_the_data_anew() -> None:
    node, program = Node(TINY), counting()
    node.run(program)
    node.reset()
    node.run(program)
    assert count(node) == 6


def test_a_state_knows_whether_the_data_are_in_it() -> None:
    node, program = Node(TINY), counting()
    fresh = node.snapshot()
    node.load(program)
    node["count"] = 100
    changed = node.snapshot()
    node.run(program)
    node.restore(fresh)
    node.run(program)
    assert count(node) == 6
    other = Node(TINY, "rows")
    other.restore(changed)
    other.run(program)
    assert count(other) == 101


def test_a_timing_only_run_loads_nothing() -> None:
    node, program = Node(TINY), counting()
    assert node.run(program, function=False).cycles == 3
    assert not node.memory.any()
    node.run(program)
    assert count(node) == 6


def test_a_run_that_goes_on_from_a_checkpoint_loads_nothing() -> None:
    program, found = counting(), []
    Node(TINY).run(program, save_at=3, save=found.append)
    node = Node(TINY)
    node.resume(program, Checkpoint.from_bytes(found[0].to_bytes()))
    assert count(node) == 6
    node.run(program)
    assert count(node) == 7


def test_a_replay_begins_with_the_data_and_a_saved_one_with_what_was_there() -> None:
    program = counting()
    replay = Replay(Node(TINY), program)
    replay.goto(100)
    assert count(replay.node) == 6
    node = Node(TINY)
    node.load(program)
    node["count"] = 100
    saved = SavedRun.from_bytes(SavedRun.of(Replay(node, program), "a test").to_bytes())
    again = saved.replay()
    again.goto(100)
    assert count(again.node) == 101


def test_nodes_of_a_machine_have_their_data() -> None:
    machine = Machine(2, TINY)
    programs = {number: counting(f"{text}stream tigc\nHALT\n") for number, text in enumerate((COUNTING, ANOTHER))}
    machine.run(programs)
    assert [count(machine.node(number)) for number in programs] == [6, 41]


def test_data_outside_the_pe_are_refused_by_the_run() -> None:
    small = load_config(None, ["array.main_bytes=128"], "tiny")
    with pytest.raises(InputError, match="data at 200: 1 bytes are outside the PE"):
        Node(small).run(assemble("data [200]: byte 1\nHALT\n"))
