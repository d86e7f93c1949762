"""Portfolios in doubles against active sets, within a bound, and closed forms; operations by hand; what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from larrabee_bridge.kernels.portfolio import Market, best_shares, exact_shares, market
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


def test_active_sets_take_an_asset_back_by_hand() -> None:
    """Five assets, the last of which is dropped on the way and belongs to what is held: 22, 3 and 1 of 26.

    Gradients of those held are (308 - 36 + 1) / 26 + 3, (-264 + 66 + 3) / 26 + 21 and (22 + 9 + 8) / 26 + 12: 13.5 all;
    those of the others (22 + 9 - 7) / 26 + 24 and (66 - 27 - 7) / 26 + 18, which is more.
    """
    rows = [[17, 8, 1, 3, -7], [8, 30, 3, -9, -7], [1, 3, 14, -12, 1], [3, -9, -12, 22, 3], [-7, -7, 1, 3, 8]]
    found = exact_shares(rows, [-24, -18, -3, -21, -12], 1.0)
    np.testing.assert_allclose(found, np.array([0, 0, 22, 3, 1]) / 26, rtol=0, atol=1e-14)


def test_how_far_shares_may_be_off_by_hand() -> None:
    """Eight assets of variance 4, aversion 2: gradients are 8 x, the best shares 1/8 each.

    1/8 moved from one to another makes gradients differ by 2, duals of 1/64 make x' z 1/64: the excess is 4 + 1/64 at
    most, and half of the curvature 8 / 2 times the square of the distance.
    """
    given = Market(4 * np.eye(8), np.zeros((1, 8)), np.array([2.0]))
    shares = np.full((1, 8), 1 / 8) + np.array([1, -1, *[0] * 6]) / 8
    duals = np.full((1, 8), 1 / 64)
    assert given.residue(shares, duals).tolist() == [2]
    assert given.bound(shares, duals) == pytest.approx([np.sqrt((4 + 1 / 64) / 4)])
    assert given.bound(shares, duals)[0] > np.sqrt(2) / 8  # how far they are


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
        ({"covariance": np.array(3.0)}, "a covariance of shape"),
        ({"covariance": np.full((16, 16), np.inf)}, "not finite"),
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


def test_shares_that_steps_do_not_come_to_are_refused() -> None:
    """Numbers that doubles cannot hold beside each other: 1 + 1e-300 is 1."""
    given = market(16, 3)
    with pytest.raises(InputError, match=r"investor 0: x' z is \S+ and shares make up 1 after 60 steps"):
        best_shares(replace(given, covariance=given.covariance * 1e300))
    # Means of 1e12 beside risks of 0.1: x' z is small, and what the shares make up is lost in rounding.
    with pytest.raises(InputError, match=r"x' z is \S+e-14 and shares make up (0\.99|1\.00)"):
        best_shares(replace(given, means=given.means * 1e12))


@pytest.mark.slow
def test_every_count_of_vectors_gives_the_shares_of_active_sets() -> None:
    """One vector of shares, and as many as there are: loops over those that follow are empty, or the longest."""
    for assets in (8, 64):
        given = market(assets, 3, seed=assets)
        found = best_shares(given)
        rows = zip(given.means, given.aversions, strict=True)
        exact = np.array([exact_shares(given.covariance, means, aversion) for means, aversion in rows])
        bound = given.bound(found.shares, found.duals)
        assert (np.linalg.norm(found.shares - exact, axis=1) <= bound).all() and bound.max() < 1e-5
        assert (exact > 0).any(axis=0).sum() > 1
