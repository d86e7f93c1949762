"""If and else under masks: the same values with branches and without, and cycles that follow the masks exactly."""

import numpy as np
import pytest

from larrabee_bridge.kernels.clauses import densities, piecewise, taken_share
from larrabee_bridge.kernels.study import Timed
from pixelflow.simd.errors import InputError

DEGREE = 8
BELOW, ABOVE = np.random.default_rng(1).normal(size=(2, DEGREE + 1)).astype(np.float32)


def at_density(density: float, turns: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((turns, 16)) < density, -1, 1) * rng.uniform(0.5, 1, (turns, 16)).astype(np.float32)


@pytest.mark.parametrize("density", [0, 0.05, 0.5, 1])
def test_both_pieces_are_what_float64_says(density: float) -> None:
    x = at_density(density, 20)
    exact = np.where(x < 0, np.polyval(BELOW.astype(float), x), np.polyval(ABOVE.astype(float), x))
    skipping, both = (piecewise(x, BELOW, ABOVE, skip=skip).y for skip in (True, False))
    np.testing.assert_allclose(both, exact, atol=2 * DEGREE * 2.0**-24 * np.abs([BELOW, ABOVE]).sum(axis=1).max())
    assert (skipping.view(np.uint32) == both.view(np.uint32)).all()


def alone(x: np.ndarray) -> int:
    return sum(piecewise(x, BELOW, ABOVE, threads=1).timing.alone)


def test_a_piece_that_is_left_out_by_hand() -> None:
    """Nine instructions, each waiting four cycles for the one before.

    The if takes cycles 0, 4 .. 32, and what follows is at 33. The else waits 4 cycles for its mask, 32 for its eight
    further instructions, and the store 4 for the last of them.
    """
    mixed, empty, full = (
        np.concatenate([signs * np.ones(16, np.float32)] * 6)
        for signs in (np.where(np.arange(16) % 2, 1, -1), np.ones(16), -np.ones(16))
    )
    assert (alone(mixed) - alone(empty)) / 6 == 33
    assert (alone(mixed) - alone(full)) / 6 == 40


@pytest.mark.parametrize("density", [0.02, 0.1, 0.9, 0.98])
def test_cycles_follow_the_masks(density: float) -> None:
    x = at_density(density, 24)
    one = np.where(np.arange(16) % 2, 1.0, -1.0)
    whole = alone(np.tile(one, (24, 1)))
    none, every = (x > 0).all(axis=1).sum(), (x < 0).all(axis=1).sum()
    assert alone(x) == whole - 33 * none - 40 * every


def test_masks_are_as_often_empty_as_they_must_be() -> None:
    """(1 - p)^16 and p^16, by counting all masks of four lanes, and within what 4,000 draws can be off."""
    for density in (0.1, 0.5, 0.8):
        every = [bin(mask).count("1") for mask in range(16)]
        likely = [density**ones * (1 - density) ** (4 - ones) for ones in every]
        taken = sum(share for share, ones in zip(likely, every, strict=True) if ones)
        other = sum(share for share, ones in zip(likely, every, strict=True) if ones < 4)
        assert taken_share(density, 4) == pytest.approx((taken, other))
    drawn = at_density(0.05, 4000) < 0
    share = taken_share(0.05)[0]
    assert drawn.any(axis=1).mean() == pytest.approx(share, abs=4 * (share * (1 - share) / 4000) ** 0.5)


def test_branches_gain_at_both_ends_and_lose_between() -> None:
    rows = densities([0, 0.5, 1], turns=16)
    saved = [row.saved for row in rows]
    assert saved[0] > 0 and saved[2] > 0 > saved[1]
    assert [(row.empty, row.full) for row in rows] == [(16, 0), (0, 0), (0, 16)]
    assert all(isinstance(row.both, Timed) and row.both.core == rows[0].both.core for row in rows)


@pytest.mark.parametrize(
    ("x", "below", "above", "message"),
    [(np.ones(15), [1, 2], [1, 2], "15 values"), (np.ones(16), [1, 2], [1], "polynomials of 2 and 1")],
)
def test_what_is_refused(x: np.ndarray, below: list, above: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        piecewise(x, below, above)
