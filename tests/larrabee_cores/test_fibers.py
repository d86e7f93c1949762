"""Fibers of a work thread by formula: by hand, and the fewest against trying."""

from __future__ import annotations

import pytest

from larrabee_bridge.vpu.ring import fewest_fibers, stall_share


def test_a_round_by_hand() -> None:
    """A turn of 20 cycles and a latency of 100: three fibers fill 40 of it; with a switch of 5, 2 * 25 of 95."""
    assert stall_share(3, 20, 100) == 60 / (60 + 60)
    assert stall_share(3, 20, 100, switch=5) == 45 / (75 + 45)
    assert stall_share(6, 20, 100) == 0 < stall_share(5, 20, 100)
    assert stall_share(1, 20, 100) == 100 / 120


@pytest.mark.parametrize("switch", [0, 3])
@pytest.mark.parametrize("between", [8, 25, 60])
@pytest.mark.parametrize("latency", [50, 150, 300, 500])
def test_the_fewest_fibers_are_found_by_trying(latency: int, between: int, switch: int) -> None:
    wanted = fewest_fibers(between, latency, switch)
    assert stall_share(wanted, between, latency, switch) < 0.05
    assert wanted == 1 or stall_share(wanted - 1, between, latency, switch) >= 0.05


def test_no_work_fills_no_latency() -> None:
    with pytest.raises(ValueError, match="0 cycles of work and 0 of a switch"):
        fewest_fibers(0, 100)
