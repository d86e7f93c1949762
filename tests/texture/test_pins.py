"""Do the requests for the pins of a module come one after the other, in cycles that are counted by hand?"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from pixelflow.node.run.tasic_box import Collect, EmcPortsBox, EmcPortsSpec, Fetch
from pixelflow.simd.boxes import Box, Clock, Netlist

EMCS = 8


@dataclass(frozen=True)
class Requests:
    """What to ask for, on which wire, by cycle."""

    by_cycle: dict[int, list[tuple[str, object]]]


@dataclass
class Answers:
    """Requests that are still to be made, and in which cycles everything that was asked for was there, by wire."""

    left: list[int]
    came: dict[str, list[int]] = field(default_factory=dict)


class Asker(Box[Requests, Answers]):
    """Asks in given cycles, and notes when answers come."""

    inputs = ("inbound", "collected")
    outputs = ("fetch", "collect", "outbound")

    def __init__(self, requests: dict[int, list[tuple[str, object]]]) -> None:
        super().__init__("asker", Requests(requests), Answers(sorted(requests)))

    def next_event(self) -> int | None:
        return self.state.left[0] if self.state.left else None

    def tick(self, cycle: int) -> None:
        if self.state.left and self.state.left[0] == cycle:
            for port, request in self.spec.by_cycle[self.state.left.pop(0)]:
                self.wires[port].send(cycle, request)
        for port in self.inputs:
            for _ in self.wires[port].take_all(cycle):
                self.state.came.setdefault(port, []).append(cycle)


def arrivals(requests: dict[int, list[tuple[str, object]]], rate: int = 1) -> dict[str, list[int]]:
    """Return by path when each answer can be read."""
    netlist = Netlist("pins")
    asker = netlist.add(Asker(requests))
    ports = netlist.add(EmcPortsBox(0, EmcPortsSpec(EMCS, rate)))
    for port in asker.outputs:
        netlist.connect(port, (asker, port), (ports, port))
    for port in asker.inputs:
        netlist.connect(port, (ports, port), (asker, port), bandwidth=rate * EMCS, unit="bytes")
    Clock(netlist).run()
    return asker.state.came


@pytest.mark.parametrize("rate", [1, 2, 4])
def test_a_request_alone_takes_its_bytes(rate: int) -> None:
    """Asked for in cycle 10, heard in 11, on the pins for 32 bytes, and read a cycle after the last."""
    assert arrivals({10: [("fetch", Fetch(32))]}, rate) == {"inbound": [11 + 32 // rate]}


def test_two_requests_at_once_follow_each_other() -> None:
    """32 bytes of each EMC for texture memory are on the pins in cycles 11 to 42, 24 for a GP in 43 to 66."""
    both = {10: [("fetch", Fetch(32)), ("collect", Collect(24, 24 * EMCS))]}
    assert arrivals(both) == {"inbound": [11 + 32], "collected": [11 + 32 + 24]}


def test_a_request_waits_for_what_is_left_of_the_one_before() -> None:
    """The second is heard in cycle 31, and the pins are in use up to 42; a third, heard in 71, finds them free."""
    requests = {10: [("fetch", Fetch(32))], 30: [("collect", Collect(4, 4 * EMCS))], 70: [("fetch", Fetch(4))]}
    assert arrivals(requests) == {"inbound": [43, 71 + 4], "collected": [43 + 4]}
