"""Measures of applications: shares and speed-ups of the pieces that kernels are cut into."""

import numpy as np
import pytest

from larrabee_bridge.claims.bench import SceneBench
from larrabee_bridge.claims.cores import physics_on_cores
from larrabee_bridge.kernels.study import CoresRun, scaled


def phase(*pieces: int, moved: int = 0) -> CoresRun:
    nothing = np.zeros(0, np.int64)
    return CoresRun(np.array(pieces), np.full(len(pieces), moved), nothing, {}, nothing)


def test_pieces_on_cores_by_hand() -> None:
    """Five pieces of 1,000 on two cores: three rounds of 1,100, after two lists and an empty front of 100 each."""
    found = scaled([phase(*[1000] * 5)], (1, 2, 8))
    assert found.cycles == (300 + 5 * 1100, 300 + 3 * 1100, 300 + 1100)
    assert found.efficiencies[1] == pytest.approx(5800 / 3600 / 2)


def test_phases_wait_for_each_other() -> None:
    one = scaled([phase(500, 900)], (2,)).cycles[0]
    assert scaled([phase(500, 900)] * 3, (2,)).cycles[0] == 3 * one


def test_pieces_share_one_memory() -> None:
    """Two of 1,100 cycles with their lock want 115 bytes a cycle each, which is all that memory has: half the pace."""
    assert scaled([phase(1000, 1000, moved=115 * 1100)], (1, 2)).cycles == (300 + 2 * 1100, 300 + 2200)


@pytest.mark.slow
def test_shares_are_shares() -> None:
    bench = SceneBench()
    found = physics_on_cores(bench, {"share": 0.5, "cores": 64}).figures
    assert all(0 < found[name] <= 1 for name in ("cloth", "sweep-and-prune", "particles", "gjk"))
