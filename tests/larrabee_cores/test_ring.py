"""The ring by formula: hops, the clock in which a receiver listens, and links of short rings."""

from __future__ import annotations

from fractions import Fraction

import pytest

from larrabee_bridge.vpu.ring import RingConfig, mean_ride, ride_clocks
from pixelflow.simd.errors import InputError


def test_by_hand_on_one_ring() -> None:
    """Eight stops. From 1 to 4: up, 3 hops; it must arrive in an even clock, so it leaves in an odd one. From 1 to 6:
    down, 3 hops, arrives in an odd clock. From 0 to 4 up and from 1 to 5 down, where both ways are 4 hops."""
    assert [ride_clocks(1, 4, 8, clock) for clock in (0, 1, 2, 3)] == [4, 3, 4, 3]
    assert [ride_clocks(1, 6, 8, clock) for clock in (0, 1, 2, 3)] == [3, 4, 3, 4]
    assert [ride_clocks(0, 4, 8, clock) for clock in (0, 1)] == [4, 5]
    assert [ride_clocks(1, 5, 8, clock) for clock in (0, 1)] == [5, 4]


@pytest.mark.parametrize("agents", [2, 3, 8, 15, 16])
def test_latency_is_the_distance_and_half_a_clock(agents: int) -> None:
    """Over all pairs and both parities: the mean distance of a ring, n^2 / 4 over n - 1 for even n, and 1/2."""
    for a in range(agents):
        for b in set(range(agents)) - {a}:
            hops = min((a - b) % agents, (b - a) % agents)
            assert sorted(ride_clocks(a, b, agents, clock) for clock in (0, 1)) == [hops, hops + 1]
    assert mean_ride(agents) == pytest.approx(float(Fraction(agents**2 // 4, agents - 1) + Fraction(1, 2)))


def test_short_rings_are_linked() -> None:
    """Agent 2 of 48 is 3 stops from its link over stop 0, down: put at 0 it arrives in clock 3. The link takes a clock,
    the ring of links 1 hop down, from 4 to 5; then a clock, and agent 33, stop 1 of ring 2, is 2 hops up: 6 to 8."""
    assert RingConfig().rings(48) == 3
    assert ride_clocks(2, 33, 48) == 8
    assert ride_clocks(2, 33, 48, config=RingConfig(link_clocks=5)) == 16
    assert mean_ride(48) < mean_ride(48, RingConfig(agents_of_a_ring=48))


@pytest.mark.parametrize("name", ["agents_of_a_ring", "hop_clocks"])
def test_rings_are_within_their_ranges(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: 0 is out of range"):
        RingConfig(**{name: 0})
