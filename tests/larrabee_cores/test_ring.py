"""The ring by formula: hops, the clock in which a receiver listens, and links of short rings."""

from __future__ import annotations

from fractions import Fraction

import pytest

from larrabee_bridge.vpu.ring import RingConfig, mean_ride, ride_clocks
from pixelflow.simd.errors import InputError


@pytest.mark.parametrize("agents", [2, 3, 8, 15, 16])
def test_latency_is_the_distance_and_half_a_clock(agents: int) -> None:
    """Over all pairs and both parities: the mean distance of a ring, n^2 / 4 over n - 1 for even n, and 1/2."""
    for a in range(agents):
        for b in set(range(agents)) - {a}:
            hops = min((a - b) % agents, (b - a) % agents)
            assert sorted(ride_clocks(a, b, agents, clock) for clock in (0, 1)) == [hops, hops + 1]
    assert mean_ride(agents) == pytest.approx(float(Fraction(agents**2 // 4, agents - 1) + Fraction(1, 2)))


def test_short_rings_are_nearer_than_a_long_one() -> None:
    assert RingConfig().rings(48) == 3
    assert mean_ride(48) < mean_ride(48, RingConfig(agents_of_a_ring=48))


@pytest.mark.parametrize("name", ["agents_of_a_ring", "hop_clocks"])
def test_rings_are_within_their_ranges(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: 0 is out of range"):
        RingConfig(**{name: 0})
