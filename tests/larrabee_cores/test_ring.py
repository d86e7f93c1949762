"""The ring: latency by distance, and that nothing on it ever meets anything else."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from larrabee_bridge.vpu.ring import Leg, RingConfig, RingDirection, RingMessage, RingNetwork
from pixelflow.simd.boxes import Sent
from pixelflow.simd.errors import InputError


def traffic(agents: int, count: int, clocks: int, seed: int = 1) -> list[RingMessage]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        source, to = rng.choice(agents, 2, replace=False).tolist()
        found.append(RingMessage(source, to, int(rng.integers(clocks))))
    return found


def test_by_hand_on_one_ring() -> None:
    """Eight stops. From 1 to 4: up, 3 hops; it must arrive in an even clock, so it leaves in an odd one. From 6 to 1:
    up over the end, 3 hops. From 1 to 6: down, arrives in an odd clock. From 0 to 4 and 1 to 5 both ways are equal."""
    ring = RingNetwork(8)
    assert ring.way(1, 4) == (Leg(0, 1, 4, RingDirection.UP, 3),)
    assert ring.way(6, 1) == (Leg(0, 6, 1, RingDirection.UP, 3),)
    assert ring.way(1, 6) == (Leg(0, 1, 6, RingDirection.DOWN, 3),)
    assert ring.way(0, 4)[0].direction is RingDirection.UP
    assert ring.way(1, 5)[0].direction is RingDirection.DOWN
    assert [ring.latency(1, 4, clock) for clock in (0, 1, 2, 3)] == [4, 3, 4, 3]
    assert [ring.latency(1, 6, clock) for clock in (0, 1, 2, 3)] == [3, 4, 3, 4]


@pytest.mark.parametrize("agents", [2, 3, 8, 15, 16])
def test_latency_is_the_distance_and_half_a_clock(agents: int) -> None:
    """Over all pairs and both parities: the mean distance of a ring, n^2 / 4 over n - 1 for even n, and 1/2."""
    ring = RingNetwork(agents)
    pairs = [(a, b) for a in range(agents) for b in range(agents) if a != b]
    for a, b in pairs:
        hops = min((a - b) % agents, (b - a) % agents)
        assert sorted(ring.latency(a, b, clock) for clock in (0, 1)) == [hops, hops + 1]
    mean = Fraction(sum(ring.latency(*pair, clock) for pair in pairs for clock in (0, 1)), 2 * len(pairs))
    distance = Fraction(agents**2 // 4, agents - 1)
    assert mean == distance + Fraction(1, 2)


@pytest.mark.parametrize(("agents", "hop", "link"), [(16, 1, 1), (16, 3, 1), (17, 1, 0), (48, 1, 1), (40, 2, 5)])
def test_a_message_alone_takes_the_closed_form(agents: int, hop: int, link: int) -> None:
    ring = RingNetwork(agents, RingConfig(hop_clocks=hop, link_clocks=link))
    # So far apart that no two are on the rings at the same time.
    rng = np.random.default_rng(agents)
    messages = [
        RingMessage(*rng.choice(agents, 2, replace=False).tolist(), 1000 * number + int(rng.integers(2)))
        for number in range(30)
    ]
    for each in ring.run(messages):
        assert each.latency == ring.latency(each.message.source, each.message.to, each.message.clock)


@pytest.mark.parametrize(("agents", "count", "clocks"), [(8, 300, 100), (15, 400, 40), (16, 500, 500), (48, 600, 100)])
def test_nothing_meets_anything(agents: int, count: int, clocks: int) -> None:
    """Under dense traffic: one message a wire and clock, every ride exactly its hops long (so nothing was stored), each
    acceptance in its direction's clock, at most one an agent and clock; and everything arrives where it should."""
    hops: list[Sent] = []
    ring = RingNetwork(agents)
    messages = traffic(agents, count, clocks)
    found = ring.run(messages, watchers=(hops.append,))
    assert Counter(each.message for each in found) == Counter(messages)
    assert max(Counter((each.wire, each.sent) for each in hops).values()) == 1
    accepted = Counter()
    for each in found:
        assert tuple(ride.leg for ride in each.rides) == ring.way(each.message.source, each.message.to)
        assert each.latency >= ring.latency(each.message.source, each.message.to, each.message.clock)
        for ride in each.rides:
            assert ride.accepted - ride.put == ride.leg.hops
            assert ride.accepted % 2 == ride.leg.direction
            accepted[ride.leg.ring, ride.leg.end, ride.accepted] += 1
    assert max(accepted.values()) == 1
    assert len(hops) == sum(ride.leg.hops for each in found for ride in each.rides)
    assert any(each.latency > ring.latency(each.message.source, each.message.to, each.message.clock) for each in found)


def test_an_agent_accepts_one_message_in_every_clock() -> None:
    """Both neighbours of agent 0 send to it without pause: each gets every second clock."""
    messages = [RingMessage(source, 0, 0) for source in (1, 7) for _ in range(20)]
    found = RingNetwork(8).run(messages)
    assert sorted(each.rides[0].accepted for each in found) == list(range(1, 41))


def test_short_rings_are_linked() -> None:
    ring = RingNetwork(48)
    assert ring.rings == 3
    assert [ring.stops(each) for each in (0, 1, 2, -1)] == [17, 17, 17, 3]
    # Agent 2 is 3 stops from its link over stop 0, agent 33 is stop 1 of ring 2, 2 from its link.
    assert [(leg.ring, leg.hops) for leg in ring.way(2, 33)] == [(0, 3), (-1, 1), (2, 2)]
    one = RingNetwork(48, RingConfig(agents_of_a_ring=48))
    ends = range(48)
    pairs = [(a, b) for a in ends for b in ends if a != b]
    assert sum(ring.latency(*pair) for pair in pairs) < sum(one.latency(*pair) for pair in pairs)


@pytest.mark.parametrize("pair", [(0, 0), (0, 8), (-1, 2)])
def test_messages_to_nowhere_are_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="a message from agent"):
        RingNetwork(8).way(*pair)


def test_a_ring_has_two_agents() -> None:
    with pytest.raises(InputError, match="a ring of 1"):
        RingNetwork(1)


def test_no_ring_runs_before_its_first_clock() -> None:
    with pytest.raises(InputError, match="a message at clock -5"):
        RingNetwork(4).run([RingMessage(0, 2, 3), RingMessage(0, 2, -5)])


@pytest.mark.parametrize("name", ["agents_of_a_ring", "hop_clocks"])
def test_rings_are_within_their_ranges(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: 0 is out of range"):
        RingConfig(**{name: 0})
