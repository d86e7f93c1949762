"""Is a node used by one thread at a time, and by any thread between runs?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from microcode import assemble
from pixelflow.config import TINY
from pixelflow.node import Machine, Node, Replay
from pixelflow.observe import RunBegan
from pixelflow.simd.errors import InputError

ADDING = assemble("range total[1]\nLD R, total\nADD R, #1\nST total, R")
BOTH = assemble("SIGNAL 0\nstream tigc\nWAIT 0")

USES: dict[str, Callable[[Node], object]] = {
    "run": lambda node: node.run(ADDING),
    "timing only": lambda node: node.run(ADDING, function=False),
    "function only": lambda node: node.run(ADDING, timing=False),
    "steps": lambda node: next(node.steps(ADDING)),
    "fuse": lambda node: node.fuse(ADDING),
    "replay": lambda node: Replay(node, ADDING),
    "read": lambda node: node["total"],
    "write": lambda node: node.write_word(0, 1, 7),
    "memory": lambda node: node.memory,
    "map": lambda node: node.map("R"),
    "register": lambda node: node.register("R"),
    "flag": lambda node: node.flag("E"),
    "set register": lambda node: node.set_register("R", 1),
    "set flag": lambda node: node.set_flag("E", True),
    "load": lambda node: node.load(ADDING),
    "reset": lambda node: node.reset(),
    "snapshot": lambda node: node.snapshot(),
    "digest": lambda node: node.digest(),
}


@pytest.fixture
def busy() -> Iterator[Node]:
    """A node with another thread in the middle of a run of it."""
    node, begun, leave = Node(TINY), threading.Event(), threading.Event()
    node.run(ADDING)

    def stop(_: RunBegan) -> None:
        begun.set()
        leave.wait(10)

    node.bus.subscribe(stop, RunBegan)
    with ThreadPoolExecutor(1, thread_name_prefix="other") as pool:
        done = pool.submit(node.run, ADDING)
        assert begun.wait(10)
        node.bus.unsubscribe(stop)
        yield node
        leave.set()
        done.result(10)
    assert set(node["total"].tolist()) == {2}


@pytest.mark.parametrize("use", USES)
def test_what_a_second_thread_asks_of_a_node_in_a_run_is_refused(busy: Node, use: str) -> None:
    with pytest.raises(InputError, match="thread other_0 is using this node") as found:
        USES[use](busy)
    assert "thread" in str(found.value)


@pytest.mark.parametrize("use", USES)
def test_a_node_goes_from_thread_to_thread_between_runs(use: str) -> None:
    node = Node(TINY)
    node.run(ADDING)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(USES[use], node).result(10)
    node.reset()
    for total in (1, 2, 3):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(node.run, ADDING).result(10)
        assert set(node["total"].tolist()) == {total}


def test_a_node_that_a_machine_runs_is_in_use() -> None:
    machine = Machine(2, TINY)
    steps = machine.node(1).steps(ADDING)
    next(steps)  # a run of this thread stands here
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(InputError, match="is using this node"):
            pool.submit(machine.run, {0: BOTH, 1: BOTH}).result(10)
        machine.node(0).reset()  # was given back
        steps.close()
        assert set(pool.submit(machine.run, {0: BOTH, 1: BOTH}).result(10).runs) == {0, 1}


def test_a_thread_that_is_no_more_uses_nothing() -> None:
    node, kept = Node(TINY), []

    def begin() -> None:
        kept.append(node.steps(ADDING))
        next(kept[0])

    gone = threading.Thread(target=begin)
    gone.start()
    gone.join()
    assert node.run(ADDING).cycles == 3
