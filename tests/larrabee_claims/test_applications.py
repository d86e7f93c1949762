"""Measures of applications: shares and speed-ups of the pieces that kernels are cut into."""

import numpy as np
import pytest

from larrabee_bridge.claims.bench import SceneBench
from larrabee_bridge.claims.cores import physics_on_cores
from larrabee_bridge.kernels.study import scaled


def test_pieces_on_cores_by_hand() -> None:
    """Five pieces of 1,000 on two cores: three rounds of 1,100, after two lists and an empty front of 100 each."""
    found = scaled([np.full(5, 1000)], (1, 2, 8))
    assert found.cycles == (300 + 5 * 1100, 300 + 3 * 1100, 300 + 1100)
    assert found.efficiencies[1] == pytest.approx(5800 / 3600 / 2)


def test_phases_wait_for_each_other() -> None:
    one = scaled([np.array([500, 900])], (2,)).cycles[0]
    assert scaled([np.array([500, 900])] * 3, (2,)).cycles[0] == 3 * one


@pytest.mark.slow
def test_shares_are_shares() -> None:
    bench = SceneBench()
    found = physics_on_cores(bench, {"share": 0.5, "cores": 64}).figures
    assert all(0 < found[name] <= 1 for name in ("cloth", "sweep-and-prune", "particles", "gjk"))
