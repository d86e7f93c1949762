"""Are meshes of trimmed patches closed, as large as exact areas, and as near to the curves as is said?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
import shapely

from pixelflow.config import TINY
from tessellation import Mesh, Method, Patch, Tessellation, build_mesh, check, tessellate
from tessellation.surface.patch import trimmed
from tessellation.surface.reference import LIMIT, UNIT, surface_at
from tessellation.surface.trim_curves import Trim, TrimLoop, TrimPolygon
from tests.tessellation.models import ideal_samples
from tests.trimming.exact import FLOAT, Chords, dense, green, region, upward
from tests.trimming.shapes import SHAPES, circle, polygon, square


def area(mesh: Mesh) -> float:
    """Return the area of a mesh in the plane of x and y; each triangle must face upwards."""
    a, b, c = (mesh.points[mesh.triangles[:, corner], :2].astype(np.float64) for corner in range(3))
    twice = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    assert (twice > -1e-7).all()  # corners are rounded to binary32
    return float(twice.sum()) / 2


def boundary(mesh: Mesh) -> np.ndarray:
    """Return the sides of triangles that no other triangle has: pairs of vertices, int[n, 2]."""
    sides = np.concatenate([mesh.triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
    count = Counter(tuple(sorted(side)) for side in sides.tolist())
    return np.array([side for side, times in count.items() if times == 1])


def rounded(mesh: Mesh) -> float:
    """Return the most by which the area of a mesh may be off since points of its boundary are not exact.

    Samples are within LIMIT units of their places in both coordinates, which are at most 1, and other points nearer.
    Where a line's points move by d, it sweeps no more than d times the longer of its lengths.
    """
    ends = mesh.points[boundary(mesh), :2].astype(np.float64)
    moved = math.sqrt(2) * LIMIT * UNIT
    return float((np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) + 2 * moved).sum()) * moved


def allowed_of(mesh: Mesh, segments: TrimPolygon, chords: Chords) -> float:
    """Return the most by which a mesh may be larger or smaller than what its trim curves bound.

    Segments are within their spread of curves: no more than that times the curves' length lies between them.
    """
    return segments.spread * chords.length + rounded(mesh) + FLOAT


def rings(mesh: Mesh) -> int:
    """Return into how many closed lines the boundary falls; every vertex on it must have two sides there."""
    after: dict[int, list[int]] = {}
    for a, b in boundary(mesh).tolist():
        after.setdefault(a, []).append(b)
        after.setdefault(b, []).append(a)
    assert {len(each) for each in after.values()} == {2}
    found = 0
    while after:
        found += 1
        waiting = [next(iter(after))]
        while waiting:
            waiting += after.pop(waiting.pop(), [])
    return found


def euler(mesh: Mesh) -> int:
    """Return vertices - sides + triangles."""
    sides = np.concatenate([mesh.triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
    return len(mesh.points) - len(np.unique(np.sort(sides, axis=1), axis=0)) + len(mesh.triangles)


@pytest.mark.parametrize("k", [7, pytest.param(16, marks=pytest.mark.slow)])
def test_areas(shaped: Callable[[int], Tessellation], k: int) -> None:
    """As large as a polygon library and Green's theorem say, within what segments, chords and rounding allow."""
    for (name, trim), samples in zip(SHAPES.items(), shaped(k).patches, strict=True):
        mesh = build_mesh([samples], weld=True)
        assert check(mesh).clean, name
        segments = trimmed(samples.patch)
        assert segments is not None
        library, chords = region(trim), Chords.of(trim)
        allowed = allowed_of(mesh, segments, chords)
        assert area(mesh) == pytest.approx(library.area, abs=allowed + chords.area), name
        areas = [green(loop) for loop in trim.loops]
        if name == "corners":
            exact = sum(areas)
        else:  # loops lie in the first, and in each other by turns, but for the two holes
            signs = {"two holes": (1, -1, -1)}.get(name, (1, -1, 1))
            exact = sum(sign * each for sign, each in zip(signs, areas, strict=False))
        assert area(mesh) == pytest.approx(exact, abs=allowed), name
        assert library.area == pytest.approx(exact, abs=chords.area + FLOAT), name


def test_topology_of_the_rosette(rosette: tuple[Patch, ...]) -> None:
    """A disc with five holes: six borders, and 1 - 5 from Euler's formula, whatever the samples of its patches are."""
    for counts in ([4] * 4, [3, 5, 7, 4], [16, 2, 9, 3]):
        mesh = build_mesh(ideal_samples(list(rosette), counts), weld=True)
        assert check(mesh).clean
        assert (rings(mesh), euler(mesh)) == (6, -4)
        open_sides = {tuple(sorted(side)) for side in mesh.open_sides.tolist()}
        assert {tuple(side) for side in boundary(mesh).tolist()} <= open_sides


def test_neighbours_have_the_same_points_bit_for_bit(rosette: tuple[Patch, ...]) -> None:
    """Not welded: where trims cross an edge, and along it, both patches have the point."""
    mesh = tessellate(rosette, 7, config=TINY).mesh(weld=False)
    extra = mesh.samples < 0
    owners = {int(v): int(p) for t, p in zip(mesh.triangles, mesh.patches, strict=True) for v in t}
    seen: dict[bytes, set[int]] = {}
    for vertex in np.flatnonzero(extra).tolist():
        seen.setdefault(mesh.points[vertex].tobytes(), set()).add(owners[vertex])
    shared = [each for each in seen.values() if len(each) > 1]
    assert len(shared) == 8  # an outer and an inner end on each of four edges
    assert check(mesh).cracks > 0  # the check sees what welding closes


def test_a_trim_that_stops_at_an_edge_leaves_the_neighbour_whole(enneper: tuple[Patch, ...]) -> None:
    bitten = [Patch(enneper[0].points, SHAPES["bite"]), *enneper[1:]]
    mesh = build_mesh(ideal_samples(bitten, [5, 4, 4, 6]), weld=True)
    assert check(mesh).clean and (rings(mesh), euler(mesh)) == (2, 0)


def test_trims_within_one_cell_and_without_any_sample(plane: Patch) -> None:
    inner = Patch(plane.points, Trim((circle(0.3, 0.3, 0.05), circle(0.3, 0.3, 0.02))))
    (samples,) = ideal_samples([inner], [2])
    mesh = build_mesh([samples], weld=True)
    assert not samples.inside.any() and check(mesh).clean and (rings(mesh), euler(mesh)) == (2, 0)
    segments, trim = trimmed(inner), inner.trim
    assert segments is not None and trim is not None
    allowed = allowed_of(mesh, segments, Chords.of(trim))
    assert area(mesh) == pytest.approx(math.pi * (0.05**2 - 0.02**2), abs=allowed)
    assert allowed < math.pi * 0.02**2 / 4, "a hole that is left out would be seen"


def nearest(points: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the distance of each point from the nearest of some straight lines in space."""
    along = b - a
    t = np.einsum("psc,sc->ps", points[:, None] - a, along) / np.maximum((along**2).sum(axis=1), 1e-300)
    on = a + np.clip(t, 0, 1)[..., None] * along
    found: np.ndarray = np.linalg.norm(points[:, None] - on, axis=-1).min(axis=1)
    return found


@pytest.mark.parametrize("share", [0.001, pytest.param(0.02, marks=pytest.mark.slow)])
def test_borders_lie_at_their_curves(teapot: tuple[Patch, ...], share: float) -> None:
    """In space, from curve to triangles and back, within the derived bound, which is within the tolerance."""
    worst = 0.0
    for name in ("circle", "drop", "quintic"):
        patch = Patch(teapot[5].points, SHAPES[name])
        samples = tessellate([patch], 5, config=TINY, method=Method(trim_tolerance=share)).patches[0]
        mesh = build_mesh([samples], weld=True)
        segments = trimmed(patch, share)
        assert segments is not None and segments.bound <= segments.tolerance
        assert segments.tolerance == pytest.approx(share * np.ptp(patch.points.reshape(-1, 3), axis=0).max())
        assert patch.trim is not None
        curve = np.concatenate([dense(piece, 400) for loop in patch.trim.loops for piece in loop.pieces])
        on_surface, _ = surface_at(patch.points, curve)
        ends = mesh.points[boundary(mesh)].astype(np.float64)
        allowed = segments.bound + 1e-6
        forth = nearest(on_surface, ends[:, 0], ends[:, 1]).max()
        t = np.linspace(0, 1, 5)[:, None, None]
        border = (ends[:, 0] * (1 - t) + ends[:, 1] * t).reshape(-1, 3)
        step = np.linalg.norm(np.diff(on_surface, axis=0), axis=1).max()
        back = nearest(border[::7], on_surface[:-1], on_surface[1:]).max()
        assert forth <= allowed and back <= allowed + step**2, name
        worst = max(worst, forth / segments.bound)
    assert worst > 0.05  # the bound is one of this distance, not of anything


def test_trims_turn_with_their_patches(enneper: tuple[Patch, ...]) -> None:
    """A patch whose square runs the other way is turned over, and its trim with it."""
    flipped = Patch(enneper[1].points[::-1], SHAPES["hole"])
    mesh = build_mesh(ideal_samples([enneper[0], flipped], [4, 5]), weld=True)
    assert mesh.built.turned_patches == 1 and check(mesh).clean and rings(mesh) == 2


def test_a_border_at_a_point_edge(teapot: tuple[Patch, ...]) -> None:
    """A trim that ends on a side that is a single point, at the top of the lid: triangles without an area go."""
    lid = next(patch for patch in teapot if len({p.tobytes() for p in patch.points[0]}) == 1)
    half = Patch(lid.points, SHAPES["corners"])
    mesh = build_mesh(ideal_samples([half], [6]), weld=True)
    assert check(mesh).clean and rings(mesh) >= 1


def test_a_whole_square_as_a_trim_changes_no_triangle(enneper: tuple[Patch, ...]) -> None:
    trimmed_, whole = (
        build_mesh(ideal_samples([Patch(p.points, trim) for p in enneper], [5] * 4), weld=True)
        for trim in (Trim((square(),)), None)
    )
    np.testing.assert_array_equal(trimmed_.points, whole.points)
    triangles = [sorted(map(sorted, mesh.triangles.tolist())) for mesh in (trimmed_, whole)]
    assert triangles[0] == triangles[1]


def _random_trim(seed: int) -> Trim:
    """Return loops around three places, one in the other by turns: circles, and polygons with random corners."""
    generator = np.random.default_rng(seed)
    loops = []
    for u, v in ((0.25, 0.25), (0.75, 0.3), (0.4, 0.75)):
        outer = generator.uniform(0.05, 0.24)
        for radius in (outer, outer * 0.6, outer * 0.25)[: generator.integers(1, 4)]:
            angles = np.sort(generator.uniform(0, 2 * np.pi, generator.integers(5, 9)))
            points = [(u + radius * math.cos(t), v + radius * math.sin(t)) for t in angles]
            # A polygon must leave room for the loops inside.
            roomy = shapely.Polygon(points).contains(shapely.Point(u, v).buffer(0.61 * radius))
            loops.append(polygon(*points) if roomy or radius < outer * 0.3 else circle(u, v, radius))
    return Trim(tuple(loops))


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 300), marks=pytest.mark.slow)], ids=["few", "many"])
def test_random_trims(plane: Patch, seeds: range) -> None:
    """Loops at random: closed, every triangle upwards, and as large as a library of polygons says."""
    for seed in seeds:
        trim = _random_trim(seed)
        patch = Patch(plane.points, trim)
        segments = trimmed(patch)
        assert segments is not None
        if segments.contact is not None:
            continue
        (samples,) = ideal_samples([patch], [2 + seed % 15])
        mesh = build_mesh([samples], weld=True)
        assert check(mesh).clean
        chords = Chords.of(trim)
        allowed = allowed_of(mesh, segments, chords) + chords.area
        assert area(mesh) == pytest.approx(region(trim).area, abs=allowed), seed


def _clipped_trim(seed: int) -> tuple[Trim, shapely.Geometry, int] | None:
    """Return random triangles to pentagons, joined and cut by the square, with corners on a grid of n x n.

    Slivers are left out, of the trim and of the region that it bounds.
    """
    generator = np.random.default_rng(seed)
    n = int(generator.choice([4, 6, 8, 12, 15, 16, 30]))
    whole: shapely.Geometry = shapely.Polygon()
    for _ in range(generator.integers(1, 6)):
        other = shapely.Polygon(generator.integers(-2, n + 3, (generator.integers(3, 6), 2)) / n).buffer(0)
        whole = whole.symmetric_difference(other) if generator.random() < 0.5 else whole.union(other)
    whole = whole.intersection(shapely.box(0, 0, 1, 1)).buffer(0)
    parts = [each for each in shapely.get_parts(whole) if each.geom_type == "Polygon" and each.area > 1e-6]
    rings = [ring for part in parts for ring in (part.exterior, *part.interiors)]
    loops = [TrimLoop.of_points([tuple(at) for at in np.clip(ring.coords[:-1], 0, 1).tolist()]) for ring in rings]
    return (Trim(tuple(loops)), shapely.MultiPolygon(parts), n) if loops else None


@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 400), marks=pytest.mark.slow)], ids=["few", "many"])
def test_trims_along_sides_and_through_samples(plane: Patch, seeds: range) -> None:
    """Polygons whose corners lie on samples, on lines between them and on the sides of the square."""
    done = 0
    for seed in seeds:
        found = _clipped_trim(seed)
        if found is None:
            continue
        trim, whole, n = found
        patch = Patch(plane.points, trim)
        segments = trimmed(patch)
        assert segments is not None
        if segments.contact is not None:
            continue
        k = min(16, n + 1) if seed % 2 else 2 + seed % 15
        (samples,) = ideal_samples([patch], [k])
        np.testing.assert_array_equal(samples.inside, upward(segments, k))
        mesh = build_mesh([samples], weld=True)
        assert check(mesh).clean, seed
        assert area(mesh) == pytest.approx(whole.area, abs=allowed_of(mesh, segments, Chords.of(trim))), seed
        done += 1
    assert done > len(seeds) // 4
