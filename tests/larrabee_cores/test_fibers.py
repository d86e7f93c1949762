"""Fibers of a work thread by formula: by hand, and the fewest against trying."""

from __future__ import annotations

import pytest

from larrabee_bridge.vpu.ring import fewest_fibers, stall_share


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
