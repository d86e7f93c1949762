"""Cloth, sweep and prune, particles against float64 and scipy; phases and instructions counted; what is refused."""

import numpy as np
import pytest

from larrabee_bridge.kernels.physics.cloth import Cloth, ClothLaw, fallen, flat
from larrabee_bridge.kernels.physics.overlaps import overlaps
from larrabee_bridge.kernels.physics.particles import FluidLaw, densities_of, forces_of
from larrabee_bridge.vpu.isa import VectorFamily
from pixelflow.simd.errors import InputError

RNG = np.random.default_rng(3)


def test_cloth_falls_as_in_float64() -> None:
    """Forty steps, at first free and then on the ball; below 0.001 of the spacing."""
    law = ClothLaw(spacing=0.07)
    start = flat(48, law)
    cloth = Cloth(start, law)
    for _ in range(40):
        cloth.step()
    wanted = fallen(start, 40, law)
    assert np.abs(cloth.points - wanted).max() < 0.001 * law.spacing
    assert np.abs(np.linalg.norm(cloth.points, axis=-1)).min() > 0.999 * law.radius
    assert cloth.points[..., 1].min() < 0.8 < start[..., 1].min()


def test_a_free_point_falls_as_the_series_says() -> None:
    """Without distances to mend, x(n) = x(0) + f (n + d (n - 1) + ... + d^(n-1)) with damping d."""
    law = ClothLaw(share=0, radius=0)
    start = flat(48, law)
    cloth = Cloth(start, law)
    for _ in range(6):
        cloth.step()
    drop = law.fall * sum((6 - n) * law.damping**n for n in range(6))
    np.testing.assert_allclose(cloth.points[..., 1] - start[..., 1], drop, atol=1e-6)


def test_steps_take_the_same_whatever_the_values() -> None:
    law = ClothLaw(spacing=0.07)
    cloth = Cloth(flat(48, law), law)
    first = cloth.timed_step()
    for _ in range(25):
        cloth.step()
    last = cloth.timed_step()
    assert [each.cycles for each in first] == [each.cycles for each in last] and len(first) == 4
    assert first[1].cycles == first[2].cycles == first[3].cycles > 5 * first[0].cycles


def boxes(count: int) -> tuple[np.ndarray, np.ndarray]:
    low = RNG.uniform(0, 12, (count, 3)).astype(np.float32)
    return low, low + RNG.uniform(0, 2, (count, 3)).astype(np.float32)


@pytest.mark.parametrize("count", [1, 2, 17, 400])
def test_pairs_are_those_of_every_box_with_every_other(count: int) -> None:
    low, high = boxes(count)
    meets = ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(-1)
    found, run = overlaps(low, high)
    assert found.tolist() == np.argwhere(np.triu(meets, 1)).tolist()
    assert run.counts[VectorFamily.FUSED] == run.counts[VectorFamily.FLOAT] == 0


def test_boxes_that_touch_or_are_equal_meet() -> None:
    low = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 0], [1.5, 0, 0]])
    assert overlaps(low, low + np.ones(3))[0].tolist() == [[0, 1], [0, 2], [1, 2], [1, 3]]


def test_densities_are_those_of_scipys_tree() -> None:
    spatial = pytest.importorskip("scipy.spatial", reason="needs scipy")
    points = (RNG.uniform(0, 1, (700, 3)) * (4, 3, 5)).astype(np.float32)
    density, near, run = densities_of(points)
    tree = spatial.cKDTree(points.astype(float))
    lists = tree.query_ball_point(points.astype(float), 1.0)
    exact = points.astype(float)
    wanted = [((1 - ((exact[i] - exact[each]) ** 2).sum(1)) ** 3).sum() for i, each in enumerate(lists)]
    np.testing.assert_allclose(density, wanted, rtol=1e-5)
    assert near.tolist() == list(map(len, lists)) and len(run.pieces) == 11


def test_forces_are_those_of_scipys_tree() -> None:
    spatial = pytest.importorskip("scipy.spatial", reason="needs scipy")
    points = (RNG.uniform(0, 1, (500, 3)) * (4, 3, 4)).astype(np.float32)
    speeds = RNG.normal(size=points.shape).astype(np.float32)
    law, exact = FluidLaw(stiffness=3, rest=2, viscosity=0.7), points.astype(float)
    lists = spatial.cKDTree(exact).query_ball_point(exact, 1.0)
    density = np.array([((1 - ((exact[i] - exact[each]) ** 2).sum(1)) ** 3).sum() for i, each in enumerate(lists)])
    wanted = np.zeros_like(exact)
    for i, each in enumerate(lists):
        for j in set(each) - {i}:
            away = exact[i] - exact[j]
            d = np.linalg.norm(away)
            push = law.stiffness * (density[i] + density[j] - 2 * law.rest) / (2 * density[j]) * (1 - d) ** 2
            wanted[i] += push * away / d + law.viscosity * (1 - d) / density[j] * (speeds[j].astype(float) - speeds[i])
    found = forces_of(points, speeds, law)
    np.testing.assert_allclose(found.found, wanted, atol=1e-5 * np.abs(wanted).max())
    assert len(found.phases) == 3 and found.phases[2].cycles > found.phases[0].cycles > 5 * found.phases[1].cycles


def test_two_particles_push_each_other_apart_by_hand() -> None:
    """At a distance of 1/2 densities are 1 + (3/4)^3, pressures twice that, and a quarter of it over itself is left."""
    found = forces_of([[1, 1, 1], [1.5, 1, 1], [9, 9, 9]], np.zeros((3, 3)), FluidLaw(2, 0, 1)).found
    np.testing.assert_allclose(found, [[-0.5, 0, 0], [0.5, 0, 0], [0, 0, 0]], atol=1e-6)
    pulled = forces_of([[1, 1, 1], [1.5, 1, 1]], [[0, 0, 0], [0, 1, 0]], FluidLaw(0, 0, 1)).found
    np.testing.assert_allclose(pulled[:, 1], np.array([1, -1]) / 2 / (1 + 0.75**3), rtol=1e-6)


def test_a_point_alone_has_density_one() -> None:
    density, near, _ = densities_of([[0, 0, 0], [5, 5, 5], [1000, 0, 0]])
    assert density.tolist() == [1, 1, 1] and near.tolist() == [1, 1, 1]


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="a cloth of shape"):
        Cloth(np.zeros((40, 40, 3), np.float32))
    with pytest.raises(InputError, match="2 relaxations a step"):
        Cloth(np.zeros((48, 48, 3), np.float32), ClothLaw(relaxations=2))
    with pytest.raises(InputError, match="boxes of shapes"):
        overlaps(np.zeros((2, 3)), np.zeros((3, 3)))
    with pytest.raises(InputError, match="above its high one"):
        overlaps(np.ones((2, 3)), np.zeros((2, 3)))
    with pytest.raises(InputError, match="points of shape"):
        densities_of(np.zeros((2, 2)))
    with pytest.raises(InputError, match="velocities of shape"):
        forces_of(np.zeros((2, 3)), np.zeros((3, 3)))
    with pytest.raises(InputError, match="out of range"):
        densities_of([[-1, 0, 0]])
