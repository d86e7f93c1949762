"""Portfolios in doubles against active sets, within a bound, and closed forms; operations by hand; what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from larrabee_bridge.kernels.dense.portfolio import Market, best_shares, exact_shares, market
from larrabee_bridge.vpu.isa import VectorFamily
from pixelflow.simd.errors import InputError


def test_shares_are_those_of_active_sets_within_what_the_gap_allows() -> None:
    given = market(16, 8)
    found = best_shares(given)
    rows = zip(given.means, given.aversions, strict=True)
    exact = np.array([exact_shares(given.covariance, means, aversion) for means, aversion in rows])
    # The conditions of the least: all gradients are the same where a share is held, and none is less elsewhere.
    pulls = given.aversions[:, None] * (exact @ given.covariance) - given.means
    level = np.where(exact > 0, pulls, -np.inf).max(axis=1, keepdims=True)
    assert np.abs(np.where(exact > 0, pulls - level, 0)).max() < 1e-14 and (pulls >= level - 1e-14).all()
    assert 1 < (exact > 0).sum(axis=1).min() < 16
    bound = given.bound(found.shares, found.duals)
    assert (np.linalg.norm(found.shares - exact, axis=1) <= bound).all() and bound.max() < 1e-5
    assert (found.shares > 0).all() and (found.shares * found.duals).sum(axis=1).max() < 1e-13
    # A sum of sixteen changes in each step, each rounded once: no more than so many halves of 2^-52.
    assert np.abs(found.shares.sum(axis=1) - 1).max() <= 16 * found.steps.max() * 2.0**-53


def test_shares_by_closed_forms() -> None:
    """Assets that nothing ties together and that promise the same: shares go as one over the variance."""
    own = np.linspace(0.01, 0.3, 16)
    given = Market(np.diag(own), np.full((2, 16), 0.1), np.array([1.0, 4.0]))
    found = best_shares(given)
    np.testing.assert_allclose(found.shares, np.tile(1 / own / (1 / own).sum(), (2, 1)), rtol=1e-9)
    # One that promises 10 more than what another saves of gamma times variance is all that is held.
    one = best_shares(replace(given, means=given.means + 10 * np.eye(16)[[3, 13]]))
    np.testing.assert_allclose(one.shares, np.eye(16)[[3, 13]], atol=1e-12)


def test_multiply_adds_are_counted() -> None:
    """Of sixteen assets, two vectors of shares: those of a step, and of the look at x' z that comes once more."""
    found = best_shares(market(16, 5))
    reciprocal, look = 2 * 5, 2
    before = sum(column * (3 - column // 8) for column in range(16))  # two vectors and that of two rows more
    back = sum(1 + 1 - column // 8 for column in range(16))
    step = 16 * 2 + 2 * (reciprocal + 1) + before + 16 * (reciprocal + 1) + reciprocal + back
    step += 2 * (reciprocal + 2) + reciprocal + 2 * 2
    steps = int(found.steps.sum())
    assert found.run.counts[VectorFamily.DOUBLE_FUSED] == steps * step + (steps + 5) * look
    assert found.run.counts[VectorFamily.FUSED] == found.run.counts[VectorFamily.FLOAT] == 0
    assert len(found.run.pieces) == 2 and found.run.flops_per_cycle < 16


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"covariance": np.eye(12)}, "a covariance of shape"),
        ({"covariance": np.eye(72)}, "a covariance of shape"),
        ({"covariance": -np.eye(16)}, "not symmetric with eigenvalues above 0"),
        ({"covariance": np.triu(np.ones((16, 16)))}, "not symmetric"),
        ({"means": np.zeros((8, 8))}, "means of shape"),
        ({"aversions": np.zeros(8)}, "out of range"),
        ({"means": np.full((8, 16), np.nan)}, "out of range"),
    ],
)
def test_what_is_refused(change: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        best_shares(replace(market(16, 8), **change))
