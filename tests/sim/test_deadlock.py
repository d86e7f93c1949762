"""Deadlocks: every one is found, with every blocked box and its reason, and nothing else is called one."""

import random
import re

import pytest

from pixelflow.simd.boxes import STILL, Clock, Netlist
from pixelflow.simd.errors import DeadlockError, InternalError
from tests.sim import graphs
from tests.sim.parts import Metronome, Worker

GRAPHS = 200


def test_two_that_wait_for_each_other() -> None:
    machine = Netlist("embrace")
    a = machine.add(Worker("eigc", [("work", 3), ("receive", "b"), ("send", "a")], ["b"], ["a"]))
    b = machine.add(Worker("b", [("receive", "a"), ("send", "b")], ["a"], ["b"]))
    machine.connect("ab", (a, "a"), (b, "a"))
    machine.connect("ba", (b, "b"), (a, "b"))
    machine.add(Metronome("refresh", 2))
    with pytest.raises(DeadlockError) as caught:
        Clock(machine).run()
    assert [re.sub(r":.*,", ",", line).split() for line in str(caught.value).splitlines()[1:]] == [
        ["eigc", "step", "1,", "since", "cycle", "3"],
        ["b", "step", "0,", "since", "cycle", "0"],
    ]
    assert caught.value.exit_code == 4


def test_what_lies_unread_is_listed() -> None:
    machine = Netlist("crossed")
    a = machine.add(Worker("a", [("send", "x")], [], ["x", "y"]))
    b = machine.add(Worker("b", [("receive", "y"), ("receive", "x")], ["x", "y"], []))
    machine.connect("x", (a, "x"), (b, "x"), latency=9)
    machine.connect("y", (a, "y"), (b, "y"))
    with pytest.raises(DeadlockError, match=r"(?s)deadlock at cycle 9: .*since cycle 0\n  unread on wire x: a#0"):
        Clock(machine).run()


class Poller(Metronome):
    """Tries again in every cycle, and has worked in each of the first ones."""

    done = False

    def __init__(self, works: int, reason: str | None = "waits for room") -> None:
        super().__init__("poller", 1)
        self.works, self.reason = works, reason

    def why_blocked(self) -> str | None:
        return self.reason

    @property
    def worked(self) -> int:
        return min(self.works, self.state.count)


@pytest.mark.parametrize("works", [1, pytest.param(3 * STILL, marks=pytest.mark.slow)])
def test_trying_again_for_ever_is_a_deadlock(works: int) -> None:
    """Work that no wire carries is no standstill: a box may do as much of it as it likes."""
    machine = Netlist("tries")
    machine.add(Poller(works))
    clock = Clock(machine)
    with pytest.raises(DeadlockError, match="nothing was carried for 100,000 cycles\n  poller  waits for room"):
        clock.run()
    assert works + STILL <= clock.cycle <= works + 1.2 * STILL


def test_trying_again_without_a_reason_breaks_the_contract() -> None:
    machine = Netlist("tries")
    machine.add(Poller(0, reason=None))
    with pytest.raises(InternalError, match="not done, not blocked, and nothing carried: poller"):
        Clock(machine).run()


def test_what_is_carried_now_and_then_is_no_deadlock() -> None:
    machine = Netlist("slow")
    a = machine.add(Worker("a", [step for _ in range(4) for step in (("work", STILL - 10), ("send", "x"))], [], ["x"]))
    b = machine.add(Worker("b", [("receive", "x")] * 4, ["x"], []))
    machine.connect("x", (a, "x"), (b, "x"))
    poller = machine.add(Poller(0, reason=None))
    clock = Clock(machine)
    clock.run_until(4 * STILL)
    assert b.state.step == 4 and poller.state.count == clock.cycle


def test_an_item_on_its_way_is_no_deadlock() -> None:
    machine = Netlist("far")
    a = machine.add(Worker("a", [("send", "x")], [], ["x"]))
    b = machine.add(Worker("b", [("receive", "x")], ["x"], []))
    machine.connect("x", (a, "x"), (b, "x"), latency=10_000)
    assert Clock(machine).run() == 10_000


def test_no_correct_graph_is_called_a_deadlock() -> None:
    for seed in range(GRAPHS):
        graph = graphs.correct(random.Random(seed))
        assert not graphs.stuck(graph), seed
        machine = graphs.netlist(graph)
        Clock(machine, shuffle_seed=seed).run(max_cycles=100_000)
        finished = [box.state.step for box in machine.boxes if isinstance(box, Worker)]
        assert finished == [len(script) for script in graph.scripts], seed


def test_every_deadlock_is_found_and_explained() -> None:
    for seed in range(GRAPHS):
        graph = graphs.deadlocking(random.Random(seed))
        clock = Clock(graphs.netlist(graph), shuffle_seed=seed)
        with pytest.raises(DeadlockError) as caught:
            clock.run(max_cycles=100_000)
        told = {}
        for line in str(caught.value).splitlines()[1:]:
            if line.startswith("  w"):
                name, _, step = line.split(":")[0].split()
                told[int(name[1:])] = int(step)
        assert told == graphs.stuck(graph), f"seed {seed}\n{caught.value}"
