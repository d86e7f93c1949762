"""Distances of convex bodies against closed forms, hulls of differences (scipy), and features in float64."""

import numpy as np
import pytest

from larrabee_bridge.kernels.convex import CORNERS, distances, exact_distances, icosahedra

RNG = np.random.default_rng(8)


def boxes(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return boxes as bodies of twelve corners, four of which stand twice."""
    which = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, 8).T
    corners = np.where(which[None] == 0, low[:, None], high[:, None])
    return np.concatenate([corners, corners[:, :4]], axis=1).astype(np.float32)


def allowed(exact: np.ndarray, bodies: np.ndarray) -> np.ndarray:
    """Return how far a distance that was found may be off.

    The search ends where the nearest point is at most 1e-6 of its distance farther than a plane that parts the bodies.
    A point is the mean of three differences of corners: each difference is rounded, so are three products, three
    weights, and their length in the end; where the point lies along its face does not count.
    """
    farthest = np.linalg.norm(np.ptp(bodies.reshape(-1, 3), axis=0))
    return 1e-6 * exact + 8 * 2.0**-24 * farthest


def every_pair(count: int) -> np.ndarray:
    return np.stack(np.triu_indices(count, 1), axis=1)


def test_boxes_are_as_far_apart_as_their_gaps_say() -> None:
    """Of each axis the gap between two spans, or 0; many touch or are one within another, since places are whole."""
    low = RNG.integers(0, 6, (20, 3)).astype(float)
    high = low + RNG.integers(1, 3, (20, 3))
    pairs = every_pair(20)
    one, other = pairs.T
    gaps = np.maximum(np.maximum(low[one] - high[other], low[other] - high[one]), 0)
    wanted = np.linalg.norm(gaps, axis=1)
    assert (wanted == 0).sum() > 20
    bodies = boxes(low, high)
    assert (np.abs(distances(bodies, pairs).found - wanted) <= allowed(wanted, bodies)).all()


def test_distances_are_those_of_hulls_of_differences() -> None:
    spatial = pytest.importorskip("scipy.spatial", reason="needs scipy")
    bodies, pairs = icosahedra(12, 3.5), every_pair(12)
    found, exact = distances(bodies, pairs).found, exact_distances(bodies, pairs)
    assert 0 < (exact == 0).mean() < 1
    off = allowed(exact, bodies)
    assert (np.abs(found - exact) <= off).all()
    for (one, other), near, slack in zip(pairs.tolist(), found, off, strict=True):
        difference = (bodies[one].astype(float)[:, None] - bodies[other].astype(float)).reshape(-1, 3)
        planes = spatial.ConvexHull(difference).equations
        # The farthest plane past which the origin is: a lower bound of the distance, which is reached at a face.
        bound = planes[:, 3].max()
        assert (near == 0) == (bound <= 0)
        assert near >= bound - slack


def test_points_and_lines_are_bodies_too() -> None:
    line = np.linspace((0, 0, 1), (4, 0, 1), CORNERS)
    bodies = np.stack([np.zeros((CORNERS, 3)), line, line + np.array([2, 0, 2]), np.full((CORNERS, 3), 3.0)])
    found = distances(bodies, every_pair(4)).found
    exact = np.sqrt([1, 4 + 9, 27, 4, 9 + 4, 9])
    assert (np.abs(found - exact) <= allowed(exact, bodies)).all()


def test_the_last_sixteen_need_not_be_full() -> None:
    bodies, pairs = icosahedra(30, 5), every_pair(30)[:37]
    found = distances(bodies, pairs)
    assert len(found.found) == 37 and len(found.run.pieces) == 1
    assert found.iterations <= found.taking_part <= 16 * found.iterations
    exact = exact_distances(bodies, pairs)
    assert (np.abs(found.found - exact) <= allowed(exact, bodies)).all()
