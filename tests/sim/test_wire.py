"""Wires: nothing is seen early, nothing exceeds the bandwidth, and messages name the culprits."""

import re

import pytest

from pixelflow.simd.boxes import Wire, WireError


@pytest.mark.parametrize("latency", [1, 2, 7])
def test_an_item_is_seen_after_the_latency_and_not_before(latency: int) -> None:
    wire = Wire("w", latency=latency)
    assert wire.send(10, "x") == 10 + latency
    assert not wire.ready(10 + latency - 1)
    with pytest.raises(WireError, match=f"cycle {9 + latency}, wire w: nothing has arrived"):
        wire.take(9 + latency)
    assert wire.ready(10 + latency)
    assert wire.take(10 + latency) == "x"
    assert not wire.ready(1000)


@pytest.mark.parametrize("latency", [0, -1])
def test_a_wire_takes_time(latency: int) -> None:
    with pytest.raises(WireError, match=f"wire w: latency {latency} is refused"):
        Wire("w", latency=latency)


def test_a_wire_carries_something() -> None:
    with pytest.raises(WireError, match="wire w: bandwidth 0 is refused"):
        Wire("w", bandwidth=0)


def test_a_bandwidth_violation_names_cycle_wire_and_both_items() -> None:
    wire = Wire("tasic[2].dct_out", unit="words")
    wire.send(20480, "word 16 of PE 96")
    wire.send(20481, "word 17 of PE 96")
    with pytest.raises(WireError) as caught:
        wire.send(20481, "word 18 of PE 96")
    assert re.findall(r"\d+", str(caught.value)) == ["20481", "2", "2", "1", "17", "96", "18", "96"]


def test_bandwidth_counts_amounts_of_one_cycle() -> None:
    wire = Wire("w", bandwidth=8, unit="bytes")
    wire.send(0, "a", 5)
    wire.send(0, "b", 3)
    wire.send(1, "c", 8)
    with pytest.raises(WireError, match=re.escape("cycle 1, wire w: 9 bytes in one cycle, bandwidth 8: c; d")):
        wire.send(1, "d", 1)
    with pytest.raises(WireError, match=re.escape("cycle 2, wire w: 9 bytes in one cycle, bandwidth 8: e")):
        wire.send(2, "e", 9)
    assert wire.take_all(2) == ["a", "b", "c"]


@pytest.mark.parametrize(("amount", "cycles"), [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3), (4096, 1024)])
def test_a_bulk_transfer_occupies_the_wire(amount: int, cycles: int) -> None:
    wire = Wire("w", latency=3, bandwidth=4, unit="bytes")
    assert wire.send_bulk(100, "page", amount) == 100 + cycles - 1 + 3
    for cycle in {100, 100 + cycles // 2, 100 + cycles - 1}:
        for send in (wire.send, wire.send_bulk):
            with pytest.raises(WireError, match=f"cycle {cycle}, wire w: .*page; late"):
                send(cycle, "late", 1)
    wire.send_bulk(100 + cycles, "next", 1)
    assert not wire.ready(101 + cycles)
    assert wire.take_all(102 + cycles) == ["page"]
    assert wire.take_all(103 + cycles) == ["next"]


def test_a_bulk_transfer_is_alone_in_its_cycles() -> None:
    wire = Wire("w", bandwidth=4, unit="bytes")
    wire.send(5, "small", 1)
    with pytest.raises(WireError, match=re.escape("cycle 5, wire w: busy from cycle 5 to 5 (small; page)")):
        wire.send_bulk(5, "page", 8)


def test_time_does_not_go_back() -> None:
    wire = Wire("w")
    wire.send(5, "first")
    with pytest.raises(WireError, match="cycle 4, wire w: sent after something was sent in cycle 5: first; second"):
        wire.send(4, "second")


def test_nothing_is_no_transfer() -> None:
    with pytest.raises(WireError, match="0 bytes are not a transfer"):
        Wire("w", unit="bytes").send(0, "empty", 0)


def test_a_wire_can_be_put_back() -> None:
    wire = Wire("w", bandwidth=2)
    wire.send(3, "a")
    held = wire.snapshot()
    wire.send(3, "b")
    wire.take_all(9)
    wire.restore(held)
    wire.send(3, "c")
    with pytest.raises(WireError, match="a; c; d"):
        wire.send(3, "d")
    assert wire.take_all(4) == ["a", "c"]
