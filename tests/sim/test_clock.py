"""The clock: skips idle stretches, does not depend on the order of boxes, stops, continues, and can be put back."""

import random

import pytest

from pixelflow.simd.boxes import Clock, Netlist, Sent, WireError
from pixelflow.simd.errors import CycleLimitError, InternalError
from tests.sim import graphs
from tests.sim.parts import Metronome, Worker


def pair(sender_steps, reader_steps, **wire) -> Netlist:
    machine = Netlist("pair")
    a = machine.add(Worker("a", sender_steps, outputs=["out"]))
    b = machine.add(Worker("b", reader_steps, inputs=["in"]))
    machine.connect("w", (a, "out"), (b, "in"), **wire)
    return machine


def test_idle_cycles_cost_nothing() -> None:
    machine = pair([("work", 10**12), ("send", "out")], [("receive", "in"), ("work", 10**12), ("work", 1)], latency=7)
    """Walked cycle by cycle this would not end."""
    clock = Clock(machine)
    assert clock.run() == 10**12 + 7 + 1 + 10**12


def test_an_arrived_item_that_is_never_read_is_an_error() -> None:
    clock = Clock(pair([("send", "out"), ("send", "out")], [("receive", "in")], latency=2))
    with pytest.raises(WireError) as caught:
        clock.run()
    assert "cycle 3: 1 " in str(caught.value) and "a#1, " in str(caught.value)


def test_the_cycle_limit() -> None:
    clock = Clock(pair([("work", 50), ("send", "out")], [("receive", "in")], latency=2))
    with pytest.raises(
        CycleLimitError, match=r"cycle limit 50 reached: the next event is at cycle 50 \(not done: a, b\)"
    ):
        clock.run(max_cycles=50)
    assert clock.cycle == 0
    assert clock.run() == 52
    assert Clock(pair([("work", 50), ("send", "out")], [("receive", "in")], latency=2)).run(max_cycles=53) == 52


def test_a_machine_of_nothing_is_done() -> None:
    assert Clock(Netlist("empty")).run() == -1


def test_what_goes_on_for_ever_does_not_keep_a_finished_run_alive() -> None:
    machine = pair([("work", 100), ("send", "out")], [("receive", "in")])
    metronome = machine.add(Metronome("m", 10))
    assert Clock(machine).run() == 101
    assert metronome.state.count == 10


class Stubborn(Metronome):
    def next_event(self) -> int:
        return 5

    done = False


class Lost(Metronome):
    def next_event(self) -> None:
        return None

    done = False


class Hasty(Worker):
    def tick(self, cycle: int) -> None:
        super().tick(cycle)
        self.wires["out"].send(cycle + 1, "early bird")


def test_a_box_that_breaks_its_contract_is_named() -> None:
    for kind, message in ((Stubborn, "its next event is cycle 5, which has gone"), (Lost, "nothing scheduled: m")):
        machine = Netlist("one")
        machine.add(kind("m", 1))
        with pytest.raises(InternalError, match=message):
            Clock(machine).run()
    machine = Netlist("hasty")
    a = machine.add(Hasty("a", [("work", 1)], outputs=["out"]))
    b = machine.add(Worker("b", [("receive", "in")], inputs=["in"]))
    machine.connect("w", (a, "out"), (b, "in"))
    with pytest.raises(WireError, match="cycle 0, wire w: sent for cycle 1: early bird"):
        Clock(machine).run()


def run(graph: graphs.Graph, shuffle_seed: int | None) -> tuple[int, list[Sent], dict]:
    log: list[Sent] = []
    clock = Clock(graphs.netlist(graph), watchers=(log.append,), shuffle_seed=shuffle_seed)
    return clock.run(), log, clock.snapshot()


def test_watchers_see_every_transfer() -> None:
    log: list[Sent] = []
    Clock(
        pair([("send", "out"), ("work", 5), ("send", "out")], [("receive", "in")] * 2, latency=3),
        watchers=(log.append,),
    ).run()
    assert log == [Sent("w", 0, 3, 1, "a#0"), Sent("w", 6, 9, 1, "a#2")]


def test_a_seed_changes_the_order_of_boxes() -> None:
    orders = set()
    for seed in (None, *range(20)):
        ticked: list[str] = []

        class Noted(Worker):
            def tick(self, cycle: int, ticked: list[str] = ticked) -> None:
                super().tick(cycle)
                ticked.append(self.name)

        machine = Netlist("three")
        for name in "abc":
            machine.add(Noted(name, [("work", 1)]))
        Clock(machine, shuffle_seed=seed).run()
        orders.add("".join(ticked))
        assert seed is not None or ticked == ["a", "b", "c"]
    assert len(orders) == 6


@pytest.mark.parametrize("seed", range(60))
def test_the_order_of_boxes_within_a_cycle_does_not_matter(seed: int) -> None:
    graph = graphs.correct(random.Random(seed))
    first = run(graph, None)
    assert len(first[1]) >= sum(kind == "send" for script in graph.scripts for kind, _ in script)
    assert first[1] == sorted(first[1], key=lambda transfer: transfer.sent)
    for shuffle_seed in range(4):
        assert run(graph, shuffle_seed) == first


@pytest.mark.parametrize("seed", range(40))
def test_a_run_can_be_stopped_and_continued_elsewhere(seed: int) -> None:
    rng = random.Random(seed)
    graph = graphs.correct(rng)
    end, _, last = run(graph, None)
    clock = Clock(graphs.netlist(graph))
    with pytest.raises(CycleLimitError):
        clock.run(max_cycles=rng.randrange(end + 1))
    other = Clock(graphs.netlist(graph))
    other.restore(clock.snapshot())
    assert other.run() == end
    assert other.snapshot() == last
