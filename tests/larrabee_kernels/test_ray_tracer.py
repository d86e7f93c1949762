"""Traced pictures against float64 and against trimesh's rays; queues and trees counted; what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.kernels.tracing import (
    SIZE,
    TracedMesh,
    TracedView,
    against_all,
    knot_on_floor,
    shaded,
    trace,
    tree_of,
)
from pixelflow.cli.main import main
from pixelflow.simd.errors import InputError

SMALL = knot_on_floor(60, 10)
PIXELS = np.stack(np.meshgrid(np.arange(64), np.arange(64)), axis=-1).reshape(-1, 2)


def trimesh_nearest(mesh: TracedMesh):
    """The nearest front by trimesh's rays (an R-tree of boxes, planes and barycentric coordinates in float64)."""
    trimesh = pytest.importorskip("trimesh", reason="needs trimesh")
    pytest.importorskip("rtree", reason="needs rtree")
    count = len(mesh)
    solid = trimesh.Trimesh(mesh.corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3), process=False)
    exact = mesh.corners.astype(np.float64)

    def nearest(origin: np.ndarray, direction: np.ndarray):
        found, far = np.full(len(origin), -1), np.full(len(origin), np.inf)
        length = np.linalg.norm(direction, axis=1)
        triangle, ray, place = solid.ray.intersects_id(origin, direction, multiple_hits=True, return_locations=True)
        distance = ((place - origin[ray]) * direction[ray]).sum(1) / length[ray] ** 2
        # What stands in the plane of the triangle that a ray leaves is no hit: 1e-9 is float64's share of that.
        front = ((mesh.facing[triangle] * direction[ray]).sum(1) < 0) & (distance > 1e-9)
        order = np.lexsort((distance, ray))
        order = order[front[order]]
        first = order[np.unique(ray[order], return_index=True)[1]]
        found[ray[first]], far[ray[first]] = triangle[first], distance[first]
        shares = trimesh.triangles.points_to_barycentric(exact[found[ray[first]]], place[first])
        u, v = np.zeros(len(origin)), np.zeros(len(origin))
        u[ray[first]], v[ray[first]] = shares[:, 1], shares[:, 2]
        return found, far, u, v

    return nearest


def test_every_pixel_is_that_of_float64() -> None:
    """Ray against every triangle in float64: of 4,096 pixels none may differ by more than one step of 255."""
    found = trace(SMALL, size=64)
    wanted = np.rint(shaded(SMALL, TracedView(), 64, PIXELS) * 255).reshape(64, 64, 3)
    steps = np.abs(found.picture - wanted).max(axis=-1)
    assert steps.max() <= 1 and (steps > 0).mean() < 0.01


def test_pixels_are_those_of_trimesh() -> None:
    found = trace(SMALL, size=64)
    some = np.random.default_rng(5).permutation(PIXELS)[:400]
    wanted = np.rint(shaded(SMALL, TracedView(), 64, some, trimesh_nearest(SMALL)) * 255)
    steps = np.abs(found.picture[some[:, 1], some[:, 0]] - wanted).max(axis=-1)
    assert steps.max() <= 1


def test_rays_are_those_that_the_scene_has() -> None:
    """One of the eye a pixel; to the light and reflected, at most one for each that hits; then from there."""
    found = trace(SMALL, size=64)
    view = TracedView()
    corner, right, down = view.rays(64).astype(np.float64)
    direction = corner + PIXELS[:, :1] * right + PIXELS[:, 1:] * down
    hit, *_ = against_all(SMALL)(np.broadcast_to(np.array(view.eye, np.float32), direction.shape), direction)
    eye, lights, reflected, more = found.rays
    hits = int((hit >= 0).sum())
    assert eye == 64 * 64 and lights <= hits and more <= reflected <= hits
    assert reflected > 0.9 * hits and lights > 0.5 * hits
    assert found.all_rays / 16 <= found.packets <= found.all_rays / 16 + 4 * 16
    assert 0.9 < found.fullness <= 1


def test_cycles_are_those_of_the_tiles() -> None:
    """One core takes what all tiles take, a lock each and three for the lists; no core is faster than the longest."""
    found = trace(SMALL, size=64)
    pieces = found.run.pieces
    assert len(pieces) == 4 and found.run.alone > pieces.sum()
    assert found.scaling.cycles[0] == pieces.sum() + 100 * (len(pieces) + 3)
    assert found.scaling.cycles[-1] == pieces.max() + 100 * 4
    assert found.run.issuing < 1 and found.run.flops_per_cycle < 32


@pytest.mark.slow
def test_engines_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = knot_on_floor(12, 4)
    rows, compiled = (trace(mesh, size=32, engine=engine) for engine in ("rows", "auto"))
    assert (rows.picture == compiled.picture).all() and rows.rays == compiled.rays
    assert (rows.run.pieces == compiled.run.pieces).all()


def test_a_tree_holds_every_triangle_once_within_its_boxes() -> None:
    tree = tree_of(SMALL.corners)
    assert sorted(tree.order.tolist()) == list(range(len(SMALL)))
    assert tree.count.min() >= 1 and tree.count.max() <= 4 and tree.count.sum() == len(SMALL)

    def held(node: int) -> np.ndarray:
        found = []
        for child in range(2):
            link = int(tree.children[node, child])
            leaf = -1 - link
            inside = held(link) if link >= 0 else tree.order[tree.first[leaf] : tree.first[leaf] + tree.count[leaf]]
            box, corners = tree.boxes[node, child], SMALL.corners[inside]
            assert (corners >= box[:3]).all() and (corners <= box[3:]).all()
            found.append(inside)
        return np.concatenate(found)

    assert len(held(0)) == len(SMALL)


def test_triangles_in_one_place_are_cut_in_their_order() -> None:
    tree = tree_of(np.broadcast_to(SMALL.corners[:1], (37, 3, 3)))
    assert tree.count.max() <= 4 and tree.count.sum() == 37


def test_the_mesh_is_closed_and_large() -> None:
    """Its volume is about that of a tube along the knot; every edge of it is shared by two triangles."""
    mesh = knot_on_floor()
    assert len(mesh) == 2 * 1284 * 80 + 512 > 200_000 and SIZE == 1024
    knot = SMALL.corners[:-512]
    _, corner = np.unique(knot.reshape(-1, 3), axis=0, return_inverse=True)
    edges = np.sort(corner.reshape(-1, 3)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    exact = mesh.corners[:-512].astype(np.float64)
    volume = np.einsum("ij,ij->", exact[:, 0], np.cross(exact[:, 1], exact[:, 2])) / 6
    t = np.linspace(0, 2 * np.pi, 10_001)
    reach = 2 + np.cos(3 * t)
    line = np.stack([reach * np.cos(2 * t), np.sin(3 * t), reach * np.sin(2 * t)], axis=1)
    length = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
    assert volume == pytest.approx(np.pi * 0.52**2 * length, rel=0.02)


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="a picture of 48 pixels"):
        trace(SMALL, size=48)
    with pytest.raises(InputError, match=r"a tree of 1 triangle\n"):
        tree_of(SMALL.corners[:1])
    with pytest.raises(InputError, match="a mesh of shapes"):
        TracedMesh(SMALL.corners, SMALL.normals[:3], SMALL.colours)
    with pytest.raises(InputError, match="2 x 80 cells"):
        knot_on_floor(2)


README = Path(__file__).parents[2] / "larrabee_bridge" / "README.md"
MARK = "<!-- read by: tests/larrabee_kernels/test_ray_tracer.py -->\n"


def listed() -> list[list[str]]:
    """Return rays, cycles of each and two speed-ups, as the README has them, by rules."""
    lines = README.read_text(encoding="utf-8").split(MARK)[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[2:-1]] for line in lines]


def test_caches_cost_a_ray_something() -> None:
    (rays, ideal, *_), (same, caches, *_) = listed()
    assert rays == same and float(ideal) < float(caches)


@pytest.mark.slow
@pytest.mark.parametrize(("row", "options"), [(0, []), (1, ["-D", "caches=true"])], ids=["ideal", "caches"])
def test_the_table_of_rays_is_what_the_command_counts(
    row: int, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kernels", "--machine", "larrabee", "ray-tracer", *options, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["kernels"]
    cycles = dict(zip(found["cores"], found["cycles_on_cores"], strict=True))
    speedups = [f"{cycles[1] / cycles[cores]:.1f}" for cores in (32, 48)]
    assert [f"{found['units']:,}", f"{found['cycles_per_unit']:.2f}", *speedups] == listed()[row]
