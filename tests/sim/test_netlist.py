"""Netlists: every port once, all faults at once, and a picture in text."""

from dataclasses import dataclass

import pytest

from pixelflow.simd.boxes import Netlist, NetlistError
from pixelflow.simd.errors import InternalError
from tests.sim.parts import Metronome, Worker


def test_all_faults_come_at_once() -> None:
    machine = Netlist("node")
    a = machine.add(Worker("a", (), inputs=["in"], outputs=["out", "spare"]))
    b = machine.add(Worker("b", (), inputs=["data", "other"]))
    machine.add(Worker("a", ()))
    stranger = Worker("c", (), inputs=["in"])
    machine.connect("w", (a, "out"), (b, "data"))
    machine.connect("v", (a, "out"), (b, "dta"))
    machine.connect("u", (a, "spare"), (stranger, "in"))
    machine.connect("w", (a, "spare"), (b, "other"))
    with pytest.raises(NetlistError) as caught:
        machine.check()
    assert str(caught.value).splitlines() == [
        "netlist node: 7 faults",
        "  two boxes have the name a",
        "  a.out is connected twice: w and v",
        "  wire v: box b has no input dta; did you mean data?",
        "  wire u: box c was not added",
        "  two wires have the name w",
        "  a.in is not connected",
        "  b.other is not connected",
    ]


def test_the_picture() -> None:
    machine = Netlist("pair")
    a = machine.add(Worker("tasic[0]", (), inputs=["reply"], outputs=["dct_out", "ask"]))
    b = machine.add(Worker("sdram", (), inputs=["data", "ask"], outputs=["word"]))
    machine.connect("data", (a, "dct_out"), (b, "data"), bandwidth=8, unit="bytes")
    machine.connect("ask", (a, "ask"), (b, "ask"))
    machine.connect("reply", (b, "word"), (a, "reply"), latency=3, bandwidth=4, unit="bytes")
    machine.check()
    assert str(machine).splitlines() == [
        "pair: 2 boxes, 3 wires",
        "tasic[0]  (Worker)",
        "  dct_out --> sdram.data  [data: 8 bytes/cycle, latency 1]",
        "  ask     --> sdram.ask  [ask: 1 items/cycle, latency 1]",
        "sdram  (Worker)",
        "  word --> tasic[0].reply  [reply: 4 bytes/cycle, latency 3]",
    ]


@dataclass
class Loose:
    cycles: int


def test_a_spec_must_be_frozen() -> None:
    with pytest.raises(InternalError, match="box m: its spec must be immutable, not int"):
        Metronome.__mro__[1].__init__(Metronome("m", 1), "m", 3, Loose(1))
    with pytest.raises(InternalError, match="box m: its spec must be immutable, not Loose"):
        Metronome.__mro__[1].__init__(Metronome("m", 1), "m", Loose(1), Loose(1))


def test_a_box_can_be_put_back() -> None:
    box = Metronome("m", 4)
    held = box.snapshot()
    assert held == {"last": 0, "count": 0}
    box.tick(4)
    assert box.snapshot() == {"last": 4, "count": 1}
    box.restore(held)
    assert box.snapshot() == held
    with pytest.raises(InternalError, match="box m: the snapshot has"):
        box.restore({"last": 0})
