"""Are exported surfaces closed along shared edges, consistently oriented and free of NaN?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tessellation import Patch, build_mesh, check, load
from tessellation.surface.reference import PatchSamples
from tessellation.surface.topology import find_joints, orient
from tests.tessellation.models import ideal_samples, shared_model

MIXED = [4, 16, 7, 8, 2, 3, 13]


def flat(x: float, y: float, *, turn: bool = False) -> Patch:
    net = np.zeros((3, 3, 3))
    net[..., 0], net[..., 1] = np.meshgrid(x + np.arange(3) / 2, y + np.arange(3) / 2, indexing="ij")
    return Patch(net.transpose(1, 0, 2) if turn else net)


def disturbed(samples: list[PatchSamples], seed: int) -> list[PatchSamples]:
    """Return samples with errors of a few last bits, each patch its own."""
    generator = np.random.default_rng(seed)
    noise = [2.0**-24 * s.magnitude * generator.uniform(-4, 4, s.points.shape) for s in samples]
    return [replace(s, points=(s.points + n).astype(np.float32)) for s, n in zip(samples, noise, strict=True)]


def check_normals(mesh):
    assert np.isfinite(mesh.normals).all()
    assert np.abs(np.linalg.norm(mesh.normals.astype(float), axis=1) - 1).max() < 1e-6


@pytest.mark.parametrize("k", [2, 3, 4, 8, 16])
def test_teapot_is_closed_when_welded(teapot, k):
    mesh = build_mesh(disturbed(ideal_samples(list(teapot), [k] * 32), k), weld=True)
    found = check(mesh)
    # With two samples a side, different edges between the same corners fall together.
    assert found.cracks == 0 and (found.clean or k == 2)
    assert (mesh.built.shared_edges, mesh.built.open_edges, mesh.built.point_edges) == (52, 16, 8)
    assert mesh.built.turned_patches == 0 and mesh.built.refused_joints == 0
    check_normals(mesh)


def test_teapot_with_mixed_samples_is_closed_when_welded(teapot):
    for shift in range(len(MIXED)):
        counts = [MIXED[(index * 3 + shift) % len(MIXED)] for index in range(32)]
        mesh = build_mesh(disturbed(ideal_samples(list(teapot), counts), shift), weld=True)
        assert check(mesh).clean
        check_normals(mesh)


@pytest.mark.parametrize("name", ["gumbo", "teaspoon", "teapot_deg7", "enneper_d5"])
def test_other_models_are_closed_when_welded(name):
    patches = load(shared_model(f"{name}.bpt")).patches
    for counts in ([4] * len(patches), [MIXED[index % len(MIXED)] for index in range(len(patches))]):
        mesh = build_mesh(disturbed(ideal_samples(list(patches), counts), 1), weld=True)
        assert check(mesh).clean
        check_normals(mesh)


def test_without_welding_the_gap_is_reported(teapot):
    samples = ideal_samples(list(teapot), [4] * 32)
    assert build_mesh(samples, weld=False).built.largest_gap == 0.0
    mesh = build_mesh(disturbed(samples, 5), weld=False)
    assert 1.0 < mesh.built.largest_gap < 9.0
    assert len(mesh.points) == 32 * 16
    assert (mesh.points[:16] == disturbed(samples, 5)[0].points.reshape(-1, 3)).all(), "every sample keeps its bits"


def test_degenerate_samples_get_the_mean_of_the_faces_around(teapot):
    samples = ideal_samples(list(teapot), [8] * 32)
    for weld in (False, True):
        mesh = build_mesh(samples, weld=weld)
        assert mesh.built.repaired_normals == (2 if weld else 64) and mesh.built.unrepaired_normals == 0
        # du x dv of Newell's patches points into the pot.
        top = np.isclose(mesh.points[:, 2], 3.15) & np.isclose(mesh.points[:, 0], 0) & np.isclose(mesh.points[:, 1], 0)
        assert top.any() and np.allclose(mesh.normals[top], (0, 0, -1), atol=1e-6)
        check_normals(mesh)


def test_triangles_face_the_way_of_their_normals(teapot):
    mesh = build_mesh(ideal_samples(list(teapot), [8] * 32), weld=False)
    a, b, c = (mesh.points[mesh.triangles[:, corner]].astype(float) for corner in range(3))
    faces = np.cross(b - a, c - a)
    mean = mesh.normals[mesh.triangles].astype(float).mean(axis=1)
    assert ((faces * mean).sum(axis=1) > 0).all()


def test_a_patch_that_faces_the_other_way_is_turned():
    patches = [flat(0, 0), flat(1, 0), flat(2, 0, turn=True), flat(2, 1)]
    mesh = build_mesh(ideal_samples(patches, [4] * 4), weld=True)
    assert mesh.built.turned_patches == 1 and check(mesh).clean
    assert np.allclose(mesh.normals, (0, 0, 1))


def test_outward_turns_each_part_as_a_whole(teapot):
    samples = ideal_samples(list(teapot), [4] * 32)
    mesh = build_mesh(samples, weld=True, outward=True)
    assert mesh.built.turned_patches == 32 and check(mesh).clean
    away = mesh.points[:, :2].astype(float)
    # The belly of the pot, where nothing but its wall is that far from the axis.
    body = (mesh.points[:, 2] < 1.0) & (mesh.points[:, 2] > 0.3) & (np.abs(away[:, 0]) < 1.5)
    assert body.sum() > 10 and ((mesh.normals[body, :2] * away[body]).sum(axis=1) > 0).all()
    assert build_mesh(disturbed(samples, 1), weld=True, outward=True).built.turned_patches == 32


def test_where_an_open_surface_stands_does_not_turn_it(teapot):
    """Far away along each axis: the teapot is open below, so that a volume from elsewhere would change its sign."""
    for shift in np.concatenate([100 * np.eye(3), -100 * np.eye(3)]):
        moved = [Patch(patch.points + shift) for patch in teapot]
        assert build_mesh(ideal_samples(moved, [4] * 32), weld=True, outward=True).built.turned_patches == 32


def test_the_largest_gap_is_between_samples_that_should_be_the_same(teapot):
    """One sample on a shared edge is moved by 3/4 of its patch's magnitude times 2^-20: 12 units of 2^-24."""
    samples = ideal_samples(list(teapot), [4] * 32)
    assert build_mesh(samples, weld=True).built.largest_gap < 4
    points = samples[0].points.astype(np.float64)
    points[:, :] += 0.75 * 2.0**-20 * samples[0].magnitude
    moved = [replace(samples[0], points=points.astype(np.float32)), *samples[1:]]
    assert 8 < build_mesh(moved, weld=True).built.largest_gap < 16


def test_the_smaller_party_is_turned():
    patches = [flat(0, 0, turn=True), flat(1, 0, turn=True), flat(2, 0)]
    assert orient(3, find_joints(patches)).turned.tolist() == [False, False, True]


def test_a_moebius_strip_is_reported():
    angle = np.linspace(0, 2 * np.pi, 9)
    patches = []
    for start in range(0, 8, 2):
        net = np.zeros((3, 3, 3))
        for i in range(3):
            t = angle[start + i]
            if start + i == 8:  # the seam: the first column upside down, bit for bit
                net[i] = patches[0].points[0, ::-1]
                continue
            radius = 2 + np.array([-0.5, 0.0, 0.5]) * np.cos(t / 2)
            net[i] = np.stack([radius * np.cos(t), radius * np.sin(t), np.array([-0.5, 0, 0.5]) * np.sin(t / 2)], -1)
        patches.append(Patch(net))
    joints = find_joints(patches)
    assert joints.shared == 4
    assert orient(4, joints).refusals == 1
    mesh = build_mesh(ideal_samples(patches, [4] * 4), weld=True)
    assert mesh.built.refused_joints == 1 and check(mesh).inconsistent > 0 and check(mesh).cracks == 0


def test_the_check_sees_a_crack(teapot):
    mesh = build_mesh(ideal_samples(list(teapot), [4] * 32), weld=True)
    assert check(replace(mesh, triangles=mesh.triangles[1:])).cracks > 0
    turned = mesh.triangles.copy()
    turned[5] = turned[5, ::-1]
    assert check(replace(mesh, triangles=turned)).inconsistent > 0
    assert check(replace(mesh, triangles=np.concatenate([mesh.triangles, turned[5:6]]))).crowded > 0
    loose = build_mesh(ideal_samples(list(teapot), [4] * 32), weld=False)
    assert check(loose).cracks > 0, "without welding, no vertex is shared"


def test_a_patch_without_any_extent_gets_a_normal_nevertheless():
    mesh = build_mesh(ideal_samples([Patch(np.ones((3, 3, 3)))], [4]), weld=False)
    assert mesh.built.unrepaired_normals == 16
    check_normals(mesh)


def test_an_edge_shared_with_itself_closes_a_ring():
    net = np.zeros((3, 4, 3))
    net[0], net[1], net[2] = 0, (1, 0, 0), (0, 1, 0)
    net[..., 2] = np.arange(4)
    closed = np.concatenate([net, net[:1]])
    mesh = build_mesh(ideal_samples([Patch(closed)], [8]), weld=True)
    assert mesh.built.shared_edges == 1 and check(mesh).clean
    assert len(mesh.points) == 7 * 8
