"""Is k chosen so that triangles stay within the tolerance, and is nothing dropped that somebody could see?"""

from __future__ import annotations

import numpy as np
import pytest

from pixelflow.simd.errors import InputError
from tessellation import Method, Patch, PatchManager, check, evaluate, load
from tessellation.microprogram.method import SCHEDULES
from tessellation.picture import Camera, Standpoint, View
from tessellation.sampling import (
    COUNTS,
    Fate,
    Sampling,
    SecondDifferences,
    choose,
    faces_away,
    outside,
    outward,
    pixel_errors,
    seen_nets,
)
from tessellation.surface.mesh import build_mesh
from tests.tessellation.models import ideal_samples

AHEAD = Standpoint(np.zeros(3), 1.0, Camera(np.array([0.0, 0.0, 10.0]), np.eye(3), 100.0, 640, 480), -0.2, -0.05)
"""An eye 10 above the floor that looks straight down: 10 pixels a unit at the floor."""


def outline(patches) -> np.ndarray:
    return np.concatenate([evaluate(patch.points[None], 16).points.reshape(-1, 3) for patch in patches])


def before(patches, **view) -> Standpoint:
    return Standpoint.of(outline(patches), View(width=320, height=240, **view))


def random_patches(seed: int, count: int = 12) -> list[Patch]:
    random = np.random.default_rng(seed)
    sides = random.integers(3, 7, (count, 2))
    return [Patch(random.normal(size=(m, n, 3)) + 3 * random.normal(size=3)) for m, n in sides]


def parabola(height: float) -> Patch:
    """Return z = 0, x = 4 u, y = v + 4 height u (1 - u): its second derivative is 8 height along u, and none else."""
    net = np.zeros((3, 3, 3))
    net[..., 0] = np.array([0.0, 2.0, 4.0])[:, None]
    net[..., 1] = np.array([0.0, 2 * height, 0.0])[:, None] + np.array([0.0, 0.5, 1.0])
    return Patch(net)


def test_the_bound_of_a_parabola_is_its_error() -> None:
    along_u = parabola(3.0)
    along_v = Patch(along_u.points.swapaxes(0, 1))
    seconds = [SecondDifferences(seen_nets([patch], AHEAD), AHEAD.camera.focal) for patch in (along_u, along_v)]
    for k in (2, 3, 5, 16):
        by_hand = 8 * 3.0 / 8 / (k - 1) ** 2 * 10
        assert seconds[0].bounds(k - 1, 7)[0] == seconds[1].bounds(7, k - 1)[0] == pytest.approx(by_hand, rel=1e-12)
        # An even number of steps along a triangle's side, so that the middle of its edge is one of the points.
        errors = pixel_errors(ideal_samples([along_u, along_v], [k, k]), AHEAD)
        assert errors.tolist() == pytest.approx([by_hand] * 2, rel=1e-5)
    flat = parabola(0.0)
    assert choose([flat], AHEAD, Sampling(1 / 256)).samples == (2,)


def test_the_bound_of_a_twisted_patch_is_its_error() -> None:
    """Of z = u v from the side, 100 pixels a unit: a cell's diagonal is off by a quarter of its rise."""
    u, v = np.meshgrid(np.arange(3) / 2, np.arange(4) / 3, indexing="ij")
    patch = Patch(np.stack([u, v, u * v], axis=-1))
    axes = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    beside = Standpoint(np.zeros(3), 1.0, Camera(np.array([0.0, -1e6, 0.0]), axes, 1e8, 640, 480), -1e-5, -1e-7)
    second = SecondDifferences(seen_nets([patch], beside), beside.camera.focal)
    for k in (2, 3, 5, 16):
        by_hand = 100 / 4 / (k - 1) ** 2
        assert second.bounds(k - 1, k - 1)[0] == pytest.approx(by_hand, rel=1e-5)
        assert pixel_errors(ideal_samples([patch], [k]), beside)[0] == pytest.approx(by_hand, rel=1e-4)
    assert second.bounds(2, 5)[0] == pytest.approx(100 / 4 / 2 / 5, rel=1e-5)


def test_the_bound_is_for_the_nearest_row() -> None:
    """A parabola along u in rows at distances of 10 to 1."""
    net = parabola(0.03).points.copy()
    net[..., 1] -= [0.0, 0.5, 1.0]
    net[..., 2] = [0.0, 4.5, 9.0]
    second = SecondDifferences(seen_nets([Patch(net)], AHEAD), AHEAD.camera.focal)
    for k in (2, 3, 5, 16):
        by_hand = 100 * 0.03 / (k - 1) ** 2
        assert second.bounds(k - 1, 1)[0] == pytest.approx(by_hand, rel=1e-6)
        assert pixel_errors(ideal_samples([Patch(net)], [k]), AHEAD)[0] == pytest.approx(by_hand, rel=1e-4)


def test_the_bound_has_what_bends_along_the_view_where_it_is_seen_most() -> None:
    """Of x = 3 v, z = 4 h u (1 - u), 10 below the eye: h / 10 of the place on the screen, of 30 pixels at v = 1."""
    height = 0.01
    net = np.zeros((3, 3, 3))
    net[..., 0] = [0.0, 1.5, 3.0]
    net[1, :, 2] = 2 * height
    second = SecondDifferences(seen_nets([Patch(net)], AHEAD), AHEAD.camera.focal)
    for k in (2, 3, 5, 16):
        by_hand = 30 * height / 10 / (k - 1) ** 2
        error = pixel_errors(ideal_samples([Patch(net)], [k]), AHEAD)[0]
        assert by_hand < error < second.bounds(k - 1, 1)[0] < 1.005 * by_hand


@pytest.mark.parametrize("seed", range(3))
def test_no_triangle_is_further_away_than_the_bound(seed: int) -> None:
    patches = random_patches(seed)
    counts = np.random.default_rng(seed).integers(2, 17, len(patches)).tolist()
    standpoint = before(patches, field_of_view=60.0, azimuth=100.0 * seed)
    measured = pixel_errors(ideal_samples(patches, counts), standpoint)
    for patch, k, error in zip(patches, counts, measured, strict=True):
        second = SecondDifferences(seen_nets([patch], standpoint), standpoint.camera.focal)
        bound = second.bounds(k - 1, k - 1)[0]
        assert 0 < error <= bound * (1 + 1e-6) + 1e-4


def test_strips_along_finer_neighbours_are_within_the_bound_too() -> None:
    patches = list(load("teapot").patches)
    counts = [2 + at % 15 for at in range(len(patches))]
    standpoint = before(patches)
    bounds = SecondDifferences(seen_nets(patches, standpoint), standpoint.camera.focal)
    errors = pixel_errors(ideal_samples(patches, counts), standpoint)
    for at, k in enumerate(counts):
        assert errors[at] <= bounds.bounds(k - 1, k - 1)[at] + 1e-4
    assert (
        max(error / bounds.bounds(k - 1, k - 1)[at] for at, (k, error) in enumerate(zip(counts, errors, strict=True)))
        > 0.5
    )
    # The coarse ones follow their neighbours' vertices, and so are no worse along the edge than with their own.
    mesh = build_mesh(ideal_samples(patches, counts), weld=True)
    assert check(mesh).clean and mesh.built.uneven_edges > 20


def test_k_is_the_smallest_that_is_allowed() -> None:
    patches = list(load("teapot").patches)
    standpoint = before(patches)
    second = SecondDifferences(seen_nets(patches, standpoint), standpoint.camera.focal)
    for name, counts in COUNTS.items():
        choice = choose(patches, standpoint, Sampling(1.5, name))
        assert {Fate.SAMPLED, Fate.LIMITED} >= set(choice.fates)
        for at, (k, fate, bound) in enumerate(zip(choice.samples, choice.fates, choice.bounds, strict=True)):
            assert k in counts and bound == second.bounds(k - 1, k - 1)[at]
            smaller = counts[counts.index(k) - 1] if k > 2 else None
            assert (bound <= 1.5) == (fate is Fate.SAMPLED) and (k == 16 or fate is Fate.SAMPLED)
            assert smaller is None or second.bounds(smaller - 1, smaller - 1)[at] > 1.5
        assert choice.by_direction <= choice.total if name == "any" else choice.by_direction > 0


def test_a_tolerance_of_its_own_for_each_patch() -> None:
    patches = [parabola(3.0)] * 3
    choice = choose(patches, AHEAD, [Sampling(each) for each in (40.0, 30 / 4, 30 / 9 - 0.01)])
    assert choice.samples == (2, 3, 5) and choice.total == 38 and choice.triangles == 2 + 8 + 32


@pytest.mark.parametrize("seed", range(3))
def test_patches_outside_have_no_point_in_the_picture(seed: int) -> None:
    patches = random_patches(seed + 10, 40)
    standpoint = before(patches, zoom=6.0)
    dropped = 0
    for patch in patches:
        points = standpoint.project(evaluate(patch.points[None], 24).points.reshape(-1, 3))[:, :2]
        seen = ((points >= 0) & (points <= (320, 240))).all(axis=1).any()
        if outside(seen_nets([patch], standpoint), standpoint.camera)[0]:
            dropped += 1
            assert not seen
    assert dropped > 5
    turned = Standpoint(AHEAD.origin, 1.0, Camera(np.array([0.0, 0.0, -10.0]), np.eye(3), 100.0, 64, 48), -1.0, 0.0)
    assert outside(seen_nets([parabola(1.0)], turned), turned.camera).all(), "it lies after the eye"


def test_patches_that_face_away_have_no_normal_that_looks_at_the_eye() -> None:
    patches = list(load("teapot").patches)
    outwards = outward(patches)
    counts = {True: 0, False: 0}
    for azimuth in range(0, 360, 30):
        standpoint = before(patches, azimuth=float(azimuth))
        away = faces_away(seen_nets(patches, standpoint), outwards)
        for patch, sign, dropped in zip(patches, outwards, away, strict=True):
            found = evaluate(patch.points[None], 20)
            to_eye = standpoint.camera.eye - standpoint.placed(found.points[0])
            facing = sign * (np.nan_to_num(found.normals[0]) * to_eye).sum(axis=-1)
            counts[bool(dropped)] += 1
            assert not dropped or facing.max() <= 1e-9
    assert counts[True] > 30


def test_outwards_is_where_a_mesh_encloses_its_volume() -> None:
    patches = list(load("teapot").patches)
    turned = [Patch(patch.points[::-1]) if at % 3 == 0 else patch for at, patch in enumerate(patches)]
    for given in (patches, turned):
        mesh = build_mesh(ideal_samples(given, [6] * len(given)), weld=True, outward=True)
        regular = build_mesh(ideal_samples(given, [6] * len(given)), weld=False)
        signs = outward(given)
        for at in (0, 5, 20, 31):
            normals = mesh.normals[mesh.samples // 36 == at].astype(np.float64).sum(axis=0)
            exact = np.nan_to_num(evaluate(given[at].points[None], 6).normals[0]).reshape(-1, 3).sum(axis=0)
            assert normals @ exact * signs[at] > 0
        assert regular.built.turned_patches == 0 or given is turned


def test_a_moebius_strip_has_no_outer_side() -> None:
    near = np.zeros((3, 3, 3))
    near[..., 0], near[..., 1] = np.arange(3)[:, None], np.arange(3)
    far = near.copy()
    far[:, :, 2] = np.array([0.0, 1.0, 0.0])[:, None]
    far[0], far[2] = near[2][::-1], near[0]
    with pytest.raises(InputError, match="one side only"):
        outward([Patch(near), Patch(far)])


@pytest.mark.parametrize(
    "schedule", [pytest.param(each, marks=[pytest.mark.slow] * (each == "thesis")) for each in SCHEDULES]
)
def test_a_manager_samples_for_one_camera_after_the_other(schedule: str) -> None:
    patches = list(load("teapot").patches)
    manager = PatchManager({3: 32}, method=Method(schedule=schedule))
    for patch in patches:
        manager.add(patch)
    with pytest.raises(InputError, match="nothing has been tessellated"):
        _ = manager.last
    outwards = outward(patches)
    sampling = Sampling(3.0, "powers")
    for view in ({}, {"azimuth": 80.0, "zoom": 4.0}):
        standpoint = before(patches, **view)
        choice = manager.mark_by_view(standpoint, sampling, outwards)
        done = manager.tessellate()
        assert tuple(handle.number for handle in done) == choice.kept
        assert manager.last.samples == choice.total and manager.last.within_limits
        assert manager.last.cycles == manager.cycles == sum(manager.last.cycles_by_stage.values())
        errors = pixel_errors(manager.last.patches, standpoint)
        assert (errors <= np.array([choice.bounds[at] for at in choice.kept]) + 1e-4).all()
        assert check(manager.last.mesh(weld=True)).clean
    assert 0 < choice.count(Fate.OUTSIDE) < 32


def test_nobody_sees_anything() -> None:
    patches = [parabola(1.0)]
    manager = PatchManager({2: 1})
    manager.add(patches[0])
    away = Standpoint(AHEAD.origin, 1.0, Camera(np.array([500.0, 0.0, 10.0]), np.eye(3), 100.0, 64, 48), -1.0, 0.0)
    choice = manager.mark_by_view(away, Sampling(1.0))
    assert choice.kept == () and choice.total == 0 and choice.bound == 0
    assert choice.texts[-1].startswith("0 samples; ")
    assert manager.tessellate() == () and manager.last.cycles == 0 and manager.last.worst_point_error == 0


def test_bad_wishes_are_refused() -> None:
    for tolerance in (0.0, -1.0, 1e9, float("nan")):
        with pytest.raises(InputError, match=r"allowed: 0\.00390625 to 1000 pixels"):
            Sampling(tolerance)
    with pytest.raises(InputError, match="did you mean powers"):
        Sampling(1.0, "power")
    manager = PatchManager({2: 1})
    manager.add(parabola(1.0))
    with pytest.raises(InputError, match="allowed: 2 to 16"):
        manager.mark_all([17])
