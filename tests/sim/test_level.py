"""Wires that always carry a value, and items with a latency of their own."""

import re

import pytest

from pixelflow.simd.boxes import Level, Wire, WireError
from pixelflow.simd.errors import InternalError
from tests.sim.parts import Worker


def test_a_level_is_seen_after_its_latency() -> None:
    level = Level("ready", True, latency=2)
    assert level.value(0) is True
    level.drive(10, False)
    assert level.value(11) is True
    assert level.value(12) is False
    assert level.value(1000) is False


def test_a_level_sends_changes_only() -> None:
    level = Level("state", 0)
    level.drive(1, 0)
    assert level.unread == ()
    level.drive(1, 3)
    level.drive(2, 3)
    level.drive(3, 4)
    assert [each.item for each in level.unread] == [3, 4]
    assert level.value(3) == 3
    assert level.value(4) == 4


def test_a_level_that_nobody_reads_loses_nothing() -> None:
    level = Level("state", 0)
    level.drive(1, 1)
    assert level.unread and level.lost == ()


def test_a_level_goes_on_from_a_snapshot() -> None:
    level, other = Level("state", 0, latency=3), Level("state", 0, latency=3)
    level.drive(1, 1)
    level.drive(2, 2)
    assert level.value(4) == 1
    other.restore(level.snapshot())
    assert (other.value(4), other.value(5), other.driven) == (1, 2, 2)


def test_items_may_be_faster_than_their_wire() -> None:
    """They are read in the order of their arrival, whatever the order in which they were sent."""
    wire = Wire("w", latency=9)
    wire.send(10, "slow")
    wire.send(11, "fast", latency=3)
    wire.send(12, "middle", latency=7)
    assert wire.take(14) == "fast"
    assert not wire.ready(18)
    assert wire.take_all(19) == ["slow", "middle"]


@pytest.mark.parametrize("latency", [0, 10])
def test_no_item_is_slower_than_its_wire(latency: int) -> None:
    wire = Wire("w", latency=9)
    with pytest.raises(
        WireError, match=re.escape(f"cycle 1, wire w: latency {latency} of an item, the wire's is 1 to 9: x")
    ):
        wire.send(1, "x", latency=latency)


def test_a_box_names_the_port_that_carries_items() -> None:
    worker = Worker("w", (), inputs=("items", "value"))
    worker.wires = {"items": Wire("items"), "value": Level("value", 1)}
    assert worker.level("value").value(0) == 1
    with pytest.raises(InternalError, match="box w: the wire at items carries items, not a value"):
        worker.level("items")
