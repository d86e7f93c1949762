"""Do sums in fixed point keep the limits of error, refuse what they cannot do, and take the cycles that are stated?"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from pixelflow.config import THESIS, ArrayConfig, NodeConfig
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import available
from tessellation import Method, Patch, PatchManager, tessellate
from tessellation.host.session import Session
from tessellation.microprogram.fixed_sums import MOVED
from tessellation.microprogram.method import library_named
from tessellation.plan.fixed import FixedFormat, fixed_map, only_residues, refusal
from tessellation.plan.schedule import Stage
from tessellation.reproduction.own_schedules import fixed_prediction
from tessellation.studies import INPUTS, pass_of
from tests.tessellation.test_texture_path import bicubic_pass, same_bits

FIXED = Method(schedule="fixed-sums")
SHARED = Method(schedule="shared-columns")
SMALL = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=2))


def net(points: np.ndarray) -> Patch:
    return Patch(np.asarray(points, np.float32))


def random_patches(count: int, scale: float = 1.0, seed: int = 8) -> list[Patch]:
    generator = np.random.default_rng(seed)
    return [net(scale * generator.uniform(-1, 1, (4, 4, 3))) for _ in range(count)]


def nearly_degenerate(count: int) -> list[Patch]:
    """Return patches with an edge that is almost a point, a nearly flat net, or two columns almost on each other."""
    generator = np.random.default_rng(21)
    found = []
    for index in range(count):
        points = generator.uniform(1, 2, (4, 4, 3))
        noise = 10.0 ** generator.uniform(-7, -2) * generator.uniform(-1, 1, (4, 4, 3))
        if index % 3 == 0:
            points[0] = points[0, 0] + noise[0]
        elif index % 3 == 1:
            points[..., 2] = 1 + noise[..., 2]
        else:
            points[:, 1] = points[:, 0] + noise[:, 1]
        found.append(net(points))
    return found


def test_a_bicubic_pass_of_512_patches_is_within_the_limits():
    ours = bicubic_pass("fixed-sums", None)
    counted = ours.cycles - ours.cycles_by_stage[Stage.LEE.value]
    print(f"sums in fixed point: {counted} cycles for 512 bicubic patches, {ours.cycles_by_stage}")
    assert len(ours.plans) == 1 and ours.plans[0].fixed and not ours.refused
    assert counted == pass_of(FIXED, "tuned-finite").on(ours.config).cycles <= 24_000
    assert counted == fixed_prediction(ours.config).value, "by a formula of its own"
    assert ours.within_limits and not ours.lost_normals
    theirs = bicubic_pass("shared-columns", None)
    assert [each.undetermined.sum() for each in ours.patches] == [each.undetermined.sum() for each in theirs.patches]
    assert ours.worst_point_error < theirs.worst_point_error, "sums are exact"


@pytest.mark.parametrize("k", [2, 7, 16, *(pytest.param(each, marks=pytest.mark.slow) for each in (3, 5, 6, 8, 13))])
def test_any_number_of_samples_is_within_the_limits(k, teapot, enneper):
    found = tessellate([*teapot[:5], *enneper[:1], *random_patches(2)], k, config=SMALL, method=FIXED)
    assert found.within_limits and not found.refused and all(plan.fixed for plan in found.plans)


@pytest.mark.parametrize(
    ("family", "patches"),
    [
        ("random", random_patches(64)),
        ("nearly degenerate", nearly_degenerate(60)),
        ("huge", random_patches(16, 2.0**120)),
        ("tiny", random_patches(16, 2.0**-60)),
        ("far from the origin", [net(patch.points + 1000) for patch in random_patches(16)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_families_are_within_the_limits(family, patches):
    found = tessellate(patches, 4, method=FIXED)
    print(f"{family}: point {found.worst_point_error:.3f}, normal {found.worst_normal_error:.3f}, {found.refused}")
    assert found.worst_point_error < 1.1 and found.worst_normal_error < 1.5, "the README says so; 8 is the limit"
    assert not found.refused and all(plan.fixed for plan in found.plans)
    assert found.lost_normals == 0, "the scale does not matter to normals"


def test_normals_by_the_library_and_by_the_reciprocal_root_agree(teapot):
    patches = [*teapot, *random_patches(32)]
    ours, floats = (
        tessellate(patches, 4, config=SMALL, method=Method(schedule="fixed-sums", normals=each))
        for each in ("fixed", "float")
    )
    assert floats.within_limits and ours.cycles < floats.cycles
    assert ours.worst_normal_error < floats.worst_normal_error
    for a, b in zip(ours.patches, floats.patches, strict=True):
        assert a.points.tobytes() == b.points.tobytes()


def test_normals_along_an_axis_are_exact():
    across = np.stack(np.meshgrid(np.arange(4.0), np.arange(4.0), [0.0], indexing="ij"), axis=-1)[:, :, 0]
    nets = [np.roll(across * sign, turn, axis=-1) for turn in range(3) for sign in ([1, 1, 1], [1, -1, 1])]
    found = tessellate([net(each) for each in nets], 4, config=SMALL, method=FIXED)
    for patch, (turn, sign) in zip(found.patches, ((turn, sign) for turn in range(3) for sign in (1, -1)), strict=True):
        expected = np.roll([0, 0, sign], turn)
        assert np.abs(patch.normals - expected).max() <= 2.0**-24


def test_what_cannot_be_trusted_takes_a_pass_of_floats(teapot):
    small = teapot[0].points.astype(np.float32).copy()
    small[0, 0, 0] = np.float32(2**-20 * 1.2345678)
    higher = np.random.default_rng(3).normal(size=(4, 5, 3))
    patches = [teapot[1], net(small), teapot[2], net(2.0**-80 * teapot[3].points), Patch(higher)]
    found = tessellate(patches, 4, config=SMALL, method=FIXED)
    assert found.refused == {
        1: "a coordinate is too small for the largest",
        3: "its coordinates are too small",
        4: "its net is not bicubic",
    }
    assert [plan.fixed for plan in found.plans] == [True, False, False] and found.within_limits
    plain = tessellate([patches[1], patches[3]], 4, config=SMALL, method=SHARED, library=found.library)
    for ours, theirs in zip((found.patches[1], found.patches[3]), plain.patches, strict=True):
        assert ours.points.tobytes() == theirs.points.tobytes()


def test_one_refused_patch_costs_less_than_a_pass_where_the_gps_take_it(teapot):
    """Two patches with residues among 64: a pass of floats, or section 5's operations at the rate of two GPs."""
    points = teapot[0].points32.copy()
    points[0, 0, 0] = 6e-17
    patches = [net(points), *teapot[1:]] * 2
    whole, left = (tessellate(patches, 4, config=SMALL, method=FIXED, passes=passes) for passes in (None, 1))
    assert only_residues(patches[0]) and [plan.fixed for plan in whole.plans] == [True, False]
    assert list(left.refused) == list(left.on_gps) == [0, 32] and len(left.plans) == 1
    assert (
        left.cycles == whole.runs[0].cycles and left.gp_cycles == 2 * 16 * 282 * 100 // 480 < whole.runs[1].cycles / 8
    )
    assert left.within_limits and "PF205" in left.not_counted[-1] and len(left.patches) == len(patches)
    for one, other in zip(whole.patches[1:32], left.patches[1:32], strict=True):
        assert one.points.tobytes() == other.points.tobytes() and one.normals.tobytes() == other.normals.tobytes()


def quarter_turn(patch: Patch, axis: int) -> Patch:
    """Return a patch turned by 90 degrees in floating point, which leaves residues of some 6e-17 in place of zeros."""
    i, j = (each for each in range(3) if each != axis)
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = np.cos(np.pi / 2)
    matrix[i, j], matrix[j, i] = -np.sin(np.pi / 2), np.sin(np.pi / 2)
    return Patch(patch.points @ matrix.T)


@pytest.mark.parametrize(("axis", "refused"), [(0, 32), (1, 24), (2, 32)])
def test_residues_of_a_turn_are_all_that_is_refused(axis, refused, teapot):
    """On the edges of the model a residue is the whole coordinate of a sample, so that the limits forbid to drop it."""
    turned = [quarter_turn(patch, axis) for patch in teapot]
    assert sum(refusal(patch) is not None for patch in turned) == refused
    assert sum(only_residues(patch) for patch in turned) == refused


def test_what_the_limits_allow_is_taken(teapot):
    """Losses of the grid of up to half of the limit, of inner control points and of first differences."""
    source = np.random.default_rng(11)
    patches = [net(source.uniform(-1, 1, (4, 4, 3)) * 2.0 ** source.uniform(-22, 0, (4, 4, 3))) for _ in range(300)]
    inner = teapot[0].points32 + 1
    inner[1, 2, 2] = 6e-17
    assert refusal(net(inner)) is None and not only_residues(net(inner))
    taken = [patch for patch in patches if refusal(patch) is None]
    assert 40 < len(taken) < 60
    for k in (2, 4, 7):
        done = tessellate(taken, k, method=FIXED)
        assert not done.refused and done.within_limits and 3 < done.worst_point_error < 5.1
    # Of two columns that are almost on each other, the only differences along v are those that the grid loses.
    close = np.zeros((4, 4, 3))
    close[..., 0] = np.arange(4)[:, None] / 4
    close[..., 1] = (1 + np.arange(4) * 2.0**-23) * 2.0**-17
    assert refusal(net(close)) == "a first difference is too small for the coordinates"


def test_what_is_exact_on_the_grid_is_never_refused():
    points = np.zeros((4, 4, 3), np.float32)
    points[3, 3] = 1
    points[1, 2, 0] = 2.0**-38
    assert refusal(Patch(points)) is None
    points[1, 2, 0] = np.float32(2.0**-21 + 2.0**-39)
    assert refusal(Patch(points)) is not None


@pytest.mark.parametrize("normals", ["fixed", "float"])
@pytest.mark.parametrize("k", [16, *(pytest.param(each, marks=pytest.mark.slow) for each in (6, 7, 12))])
def test_a_step_of_the_grid_is_not_lost(k, normals):
    """Steps are 2^-39, as the largest coordinate is 3/4. A single x is not 0, and makes the only slopes along u."""
    powers = (-39, -37, -32, -31)
    points = np.zeros((len(powers), 4, 4, 3))
    points[..., 1] = np.arange(4) / 4
    points[:, 3, 3, 0] = np.exp2(powers)
    found = tessellate(
        [net(each) for each in points], k, config=SMALL, method=Method(schedule="fixed-sums", normals=normals)
    )
    assert not found.refused and found.within_limits and not found.lost_normals
    for power, patch in zip(powers, found.patches, strict=True):
        for i, j in np.ndindex(k, k):
            exact = Fraction(i * j, (k - 1) ** 2) ** 3 * Fraction(2) ** power
            assert abs(Fraction(float(patch.points[i, j, 0])) - exact) <= exact * Fraction(1.1) / 2**24


@pytest.mark.parametrize("k", range(2, 17))
def test_weights_are_the_bernstein_polynomials_and_sums_fit(k):
    form = FixedFormat(k)
    for degree in (2, 3):
        for a, row in enumerate(form.weights(degree)):
            t = Fraction(a, k - 1)
            expected = [comb(degree, i) * t**i * (1 - t) ** (degree - i) for i in range(degree + 1)]
            assert [Fraction(value, (k - 1) ** degree) for value in row] == expected
            assert max(row) < 1 << 8 * form.weight_bytes
    assert form.weight_bytes == (1 if k <= 6 else 2), "2 * 5**3 is below 256, 2 * 6**3 is not"
    largest = form.steps**3 << 40
    assert 2 * largest <= 1 << 8 * form.inner_bytes, "a difference of two sums has room for its sign"
    assert form.steps**3 << 8 * form.inner_bytes <= 1 << 8 * form.outer_bytes
    assert max(form.steps**6 << 39, form.steps**5 << 40) < 1 << 8 * MOVED, "the shift to the top reaches every bit"
    assert fixed_map(k).fits


def test_a_manager_marks_patches_of_both_kinds(teapot):
    higher = Patch(np.random.default_rng(3).normal(size=(4, 5, 3)))
    manager = PatchManager({3: 4, (3, 4): 1}, config=SMALL, method=FIXED)
    handles = [manager.add(patch) for patch in (*teapot[:3], higher)]
    for handle, k in zip(handles, (4, 16, 4, 4), strict=True):
        handle.mark(k)
    manager.tessellate()
    assert [plan.fixed for plan in manager.plans] == [True, True, False]
    assert all(np.nanmax(handle.result.normal_errors) <= 8 for handle in handles)


def test_mixed_sizes_take_a_pass_each(teapot):
    found = tessellate(teapot[:6], [4, 8, 4, 3, 8, 16], config=SMALL, method=FIXED)
    assert found.within_limits and len(found.plans) >= 4
    assert all(len(plan.work.sizes) == 1 for plan in found.plans)


def test_all_engines_give_the_same_bits(teapot):
    patches = [*teapot[:3], *random_patches(2)]
    first, *others = (
        tessellate(patches, 4, config=SMALL, method=FIXED, engine=each) for each in available() if each != "auto"
    )
    assert others and all(same_bits(first, each) and first.cycles == each.cycles for each in others)


def test_time_alone_is_the_time_with_data(teapot):
    session = Session(SMALL, "auto", library_named("tuned-finite"), FIXED)
    numbers = [session.add(patch, 4) for patch in teapot[:6]]
    (plan,) = session.plan(dict.fromkeys(numbers, 4))
    result = session.run(plan)
    timed = session.node.run(session.program(plan), function=False)
    assert timed.total_cycles == result.run.total_cycles and timed.by_stage == result.run.by_stage


@pytest.mark.parametrize("results", [pytest.param("gp", marks=pytest.mark.slow), "gp-coarse"])
def test_results_go_to_the_gps(results, teapot):
    direct, ours = (
        tessellate([*teapot] * 3, 4, config=SMALL, method=Method(schedule="fixed-sums", results=each))
        for each in ("direct", results)
    )
    assert same_bits(direct, ours) and len(ours.plans) > 1


@pytest.mark.slow
def test_what_results_to_the_gps_take():
    alone = pass_of(FIXED, "tuned-finite").on(THESIS)
    returned = pass_of(Method(schedule="fixed-sums", results="gp"), "tuned-finite").on(THESIS)
    coarse = Method(schedule="fixed-sums", results="gp-coarse")
    three = pass_of(coarse, "tuned-finite", given=INPUTS["three"]).on(THESIS)
    cycles = [run.total_cycles - run.by_stage.get(Stage.LEE.value, 0) for run in three.runs]
    assert (alone.cycles, returned.cycles, cycles) == (15_016, 64_302, [15_016, 49_996, 99_282])


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"results": "gp-fine"}, "complete after the last read"),
        ({"mantissa_bytes": 4}, "no mantissas that could be longer"),
        ({"control_points": "lee"}, "texture memory"),
    ],
)
def test_what_has_no_meaning_together_is_refused(more, text):
    with pytest.raises(InputError, match=text):
        Method(schedule="fixed-sums", **more)
