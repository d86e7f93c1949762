"""Cloth, sweep and prune, particles against float64 and scipy; phases and instructions counted; what is refused."""

import numpy as np
import pytest

from larrabee_bridge.kernels.cloth import Cloth, ClothLaw, fallen, flat
from larrabee_bridge.kernels.overlaps import overlaps
from larrabee_bridge.kernels.particles import Fluid, FluidLaw, particles_study
from larrabee_bridge.vpu.isa import VectorFamily
from tests.larrabee_kernels.rounding import Bounded, fused, given, products_summed

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
    """Without distances to mend, x(n) = x(0) + f (n + d (n - 1) + ... + d^(n-1)) with damping d.

    A step rounds x - x before, and twice what becomes of x, which is below 2: by 2^-24 each. What is wrong after the
    n-th of six steps goes on as speed, and counts 6 - n times at most.
    """
    law = ClothLaw(share=0, radius=0)
    start = flat(48, law)
    cloth = Cloth(start, law)
    for _ in range(6):
        cloth.step()
    drop = law.fall * sum((6 - n) * law.damping**n for n in range(6))
    np.testing.assert_allclose(
        cloth.points[..., 1] - start[..., 1], drop, atol=sum((6 - n) * 2 * 2.0**-24 for n in range(6))
    )


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


LANE_SUMS = 4
"""Additions of `sum` in `density.mc` and `forces.mc`: sixteen lanes by halves."""


def neighbours(points: np.ndarray) -> list[list[int]]:
    spatial = pytest.importorskip("scipy.spatial", reason="needs scipy")
    exact = points.astype(float)
    lists, more = (spatial.cKDTree(exact).query_ball_point(exact, reach) for reach in (1 - 1e-6, 1 + 1e-6))
    assert list(map(len, lists)) == list(map(len, more)), "rounding would decide who is a neighbour"
    return lists


def away(points: np.ndarray, i: int, near: list[int]) -> tuple[list[Bounded], Bounded]:
    """Return the ways from a particle to others, and their squares, as the programs have them."""
    ways = [given(points[near, axis]) - given(points[i, axis]) for axis in range(3)]
    square = ways[0] * ways[0]
    for way in ways[1:]:
        square = fused(way, way, square)
    return ways, square


def density_at(points: np.ndarray, i: int, near: list[int]) -> Bounded:
    left = given(1.0) - away(points, i, near)[1]
    return products_summed(left * left, left, len(near) + LANE_SUMS)


def test_densities_are_those_of_scipys_tree() -> None:
    """Within what rounding may do: each term, and each addition on its way."""
    points = (RNG.uniform(0, 1, (700, 3)) * (4, 3, 5)).astype(np.float32)
    lists = neighbours(points)
    fluid = Fluid(points)
    run = fluid.densities(None)
    density, near = fluid.back(3), fluid.back(4)
    bounds = [density_at(points, i, each) for i, each in enumerate(lists)]
    wanted, allowed = (np.array([getattr(each, name) for each in bounds]) for name in ("value", "error"))
    assert (np.abs(density - wanted) <= allowed).all() and (allowed / wanted).max() < 1e-5
    assert near.tolist() == list(map(len, lists)) and len(run.pieces) == 11


def test_forces_are_those_of_scipys_tree() -> None:
    """Within what rounding may do, along the operations of `forces.mc`."""
    points = (RNG.uniform(0, 1, (500, 3)) * (4, 3, 4)).astype(np.float32)
    speeds = RNG.normal(size=points.shape).astype(np.float32)
    law, lists = FluidLaw(stiffness=3, rest=2, viscosity=0.75), neighbours(points)
    bounds = [density_at(points, i, each) for i, each in enumerate(lists)]
    density = Bounded(np.array([each.value for each in bounds]), np.array([each.error for each in bounds]))
    fluid = Fluid(points, speeds)
    phases = fluid.forces(law, None)
    found = fluid.back(slice(9, 12)).T
    loosest = 0.0
    for i, each in enumerate(lists):
        near = [j for j in each if j != i]
        if not near:
            assert not found[i].any()
            continue
        ways, square = away(points, i, near)
        mine, theirs = (Bounded(density.value[which], density.error[which]) for which in (i, near))
        root = square.root()
        left = given(1.0) - square * root
        share = theirs.inverse() * left
        pressure = ((mine - law.rest) - law.rest + theirs) * (law.stiffness / 2)
        push, drag = pressure * share * (root * left), share * law.viscosity
        for axis in range(3):
            faster = given(speeds[near, axis]) - given(speeds[i, axis])
            factors = [(given(-1.0) * ways[axis], push), (faster, drag)]
            values, errors = ([np.concatenate([getattr(pair[k], name) for pair in factors]) for k in (0, 1)]
                              for name in ("value", "error"))  # fmt: skip
            total = products_summed(*map(Bounded, values, errors), 2 * len(near) + LANE_SUMS)
            assert abs(found[i, axis] - total.value) <= total.error
            loosest = max(loosest, float(total.error))
    assert loosest < 5e-5 * np.abs(found).max()
    assert len(phases) == 3 and phases[2].cycles > phases[0].cycles > 5 * phases[1].cycles


def forces(points: list, speeds: list, law: FluidLaw) -> np.ndarray:
    fluid = Fluid(np.array(points, np.float32), np.array(speeds, np.float32))
    fluid.forces(law, None)
    return fluid.back(slice(9, 12)).T


def test_two_particles_push_each_other_apart_by_hand() -> None:
    """At a distance of 1/2 densities are 1 + (3/4)^3, pressures twice that, and a quarter of it over itself is left.

    Densities are exact. A reciprocal is off by 2 units of 2^-24 at most and a root by 4 (`rounding.py`), which makes 4
    of what is left of 1 and stands in the direction again; with products that is less than 20 of a force.
    """
    found = forces([[1, 1, 1], [1.5, 1, 1], [9, 9, 9]], np.zeros((3, 3)), FluidLaw(2, 0, 1))
    np.testing.assert_allclose(found, [[-0.5, 0, 0], [0.5, 0, 0], [0, 0, 0]], atol=0.5 * 20 * 2.0**-24)
    pulled = forces([[1, 1, 1], [1.5, 1, 1]], [[0, 0, 0], [0, 1, 0]], FluidLaw(0, 0, 1))
    np.testing.assert_allclose(pulled[:, 1], np.array([1, -1]) / 2 / (1 + 0.75**3), rtol=10 * 2.0**-24)


def test_the_reference_of_a_dam_is_what_its_particles_come_near() -> None:
    assert particles_study(None, None, 300).error < 1e-5


def test_a_point_alone_has_density_one() -> None:
    fluid = Fluid(np.array([[0, 0, 0], [5, 5, 5], [1000, 0, 0]], np.float32))
    fluid.densities(None)
    assert fluid.back(slice(3, 5)).tolist() == [[1, 1, 1], [1, 1, 1]]
