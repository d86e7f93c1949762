"""Does the array find which samples lie inside trims, by every schedule and engine, in the cycles that it says?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import shapely

from pixelflow.config import TINY
from pixelflow.simd.lanes import available
from tessellation import Method, Patch, PatchManager, PatchServer, Tessellation, tessellate
from tessellation.host.tessellator import trim_account
from tessellation.plan.schedule import Stage
from tessellation.surface.patch import trimmed
from tessellation.surface.reference import OUTSIDE
from tessellation.surface.trim_curves import Trim, TrimLoop, crossings, parity
from tests.documents.marks import table_after
from tests.trimming.exact import Chords, outline, region, upward
from tests.trimming.shapes import SHAPES


def on_eighths(seed: int) -> Trim:
    """Return a polygon around the middle, all of whose vertices are samples of 9 x 9, and some of fewer."""
    places = np.random.default_rng(seed).permutation(81)[: 6 + seed % 20]
    points = np.stack(np.divmod(places, 9), axis=-1)
    angles = np.arctan2(*(points - (4.137, 3.921)).T)
    if np.diff(np.sort(angles), append=angles.min() + 2 * np.pi).max() >= np.pi:
        return on_eighths(seed + 1000)
    return Trim((TrimLoop.of_points([tuple(point) for point in points[np.argsort(angles)] / 8]),))


@pytest.mark.parametrize("k", [3, 5, 9])
def test_samples_are_inside_as_fractions_say_where_vertices_are_samples(plane: Patch, k: int) -> None:
    patches = [Patch(plane.points, on_eighths(seed)) for seed in range(200)]
    polygons = [trimmed(patch) for patch in patches]
    expected = [upward(polygon, k) for polygon in polygons]
    for polygon, inside in zip(polygons, expected, strict=True):
        np.testing.assert_array_equal(parity(polygon, k), inside)
    for found, inside in zip(tessellate(patches[:32], k).patches, expected, strict=False):
        np.testing.assert_array_equal(found.inside, inside)


@pytest.mark.parametrize("k", [16, 5, *(pytest.param(each, marks=pytest.mark.slow) for each in (3, 7, 9))])
def test_samples_are_inside_as_fractions_say(shaped: Callable[[int], Tessellation], k: int) -> None:
    """All samples, also those on curves: a ray in the other direction, without the formula that is broadcast."""
    for name, found in zip(SHAPES, shaped(k).patches, strict=True):
        polygon = trimmed(found.patch)
        assert polygon is not None
        np.testing.assert_array_equal(found.inside, upward(polygon, k), err_msg=name)


def test_samples_are_inside_as_a_library_of_polygons_says(shaped: Callable[[int], Tessellation]) -> None:
    """Against the curves themselves: samples nearer than segments may be off, and those on a curve, have a rule."""
    near = total = 0
    for (name, trim), found in zip(SHAPES.items(), shaped(16).patches, strict=True):
        at = np.arange(16) / 15
        points = shapely.points(*(axis.reshape(-1) for axis in np.meshgrid(at, at, indexing="ij")))
        polygon = trimmed(found.patch)
        assert polygon is not None
        clear = shapely.distance(points, outline(trim)) > polygon.spread + Chords.of(trim).distance
        expected = shapely.contains(region(trim), points)
        np.testing.assert_array_equal(found.inside.reshape(-1)[clear], expected[clear], err_msg=name)
        near += int((~clear).sum())
        total += len(points)
    assert (len(SHAPES), total, near) == (22, 5632, 514)


@pytest.mark.parametrize("schedule", ["thesis", pytest.param("shared-columns", marks=pytest.mark.slow), "fixed-sums"])
def test_cycles(rosette: tuple[Patch, ...], schedule: str) -> None:
    """3 and 9 cycles a pass, 10 a patch, 16 a segment that is broadcast and 12 where only u = 1 is meant."""
    rosette = rosette[:1]
    found = tessellate(rosette, 9, config=TINY, method=Method(schedule=schedule))
    counted = [each for patch in rosette if (polygon := trimmed(patch)) for each in crossings(polygon, 9)]
    expected = 3 + 9 + 10 * len(rosette) + sum(12 if each.only_last else 16 for each in counted)
    assert found.cycles_by_stage[Stage.TRIM.value] == expected
    assert any(each.only_last for each in counted)
    whole = tessellate([Patch(patch.points) for patch in rosette], 9, config=TINY, method=Method(schedule=schedule))
    hidden = Stage.FIRST_STALL.value
    waits = whole.cycles_by_stage.get(hidden, 0) - found.cycles_by_stage.get(hidden, 0)
    assert found.cycles - whole.cycles == expected - waits and waits > 0


def test_whole_patches_beside_trimmed_ones(rosette: tuple[Patch, ...]) -> None:
    """They keep all samples, and passes without a trim take what they took before there were any."""
    whole = Patch(rosette[0].points)
    found = tessellate([whole, rosette[1], whole], [3, 8, 2], config=TINY)
    assert found.patches[0].inside.all() and found.patches[2].inside.all() and not found.patches[1].inside.all()
    assert Stage.TRIM.value not in tessellate([whole], 4, config=TINY).cycles_by_stage


@pytest.mark.parametrize(
    "engine", [pytest.param(each, marks=[pytest.mark.slow] * (each == "bit-serial")) for each in sorted(available())]
)
def test_engines_agree(rosette: tuple[Patch, ...], engine: str) -> None:
    found = tessellate(rosette[:1], 4, engine=engine, config=TINY, library="plain")
    polygon = trimmed(rosette[0])
    assert polygon is not None
    np.testing.assert_array_equal(found.patches[0].inside, parity(polygon, 4))


@pytest.mark.parametrize(
    "method",
    [
        Method(results="gp-both", schedule="shared-columns"), Method(cache="base", kept="beside"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in (
            Method(results="gp"), Method(results="gp-fine"), Method(mantissa_bytes=4), Method(control_points="lee"),
        )),
    ],
    ids=lambda method: f"{method.results} {method.mantissa_bytes} {method.control_points} {method.cache}",
)  # fmt: skip
def test_marks_go_where_results_go(rosette: tuple[Patch, ...], method: Method) -> None:
    """A sample outside has a pattern that is no number in place of its normal; nothing else has."""
    found = tessellate(rosette * 2, 6, config=TINY, method=method)
    assert len(found.runs) == 2
    for patch in found.patches:
        polygon = trimmed(patch.patch)
        assert polygon is not None
        np.testing.assert_array_equal(patch.inside, parity(polygon, 6))
        marks = np.ascontiguousarray(patch.normals[..., 0]).view(np.uint32) == OUTSIDE
        np.testing.assert_array_equal(marks, ~patch.inside)
    assert found.within_limits and found.degenerate == 0


def test_managers_and_servers(rosette: tuple[Patch, ...]) -> None:
    """Retained patches, those that the GPs make for lack of room, and those that go to clients."""
    manager = PatchManager({3: 8}, passes=1, config=TINY)
    handles = [manager.add(patch) for patch in rosette * 2]
    manager.mark_all([8] * 8)
    manager.tessellate()
    assert len(manager.on_gps) == 4
    for handle in handles:
        np.testing.assert_array_equal(handle.result.inside, handles[handle.number % 4].result.inside)
    handles[0].modify(Patch(rosette[0].points))
    handles[0].mark(8)
    manager.tessellate()
    assert handles[0].result.inside.all()
    server = PatchServer({3: 4}, clients=2)
    for patch in rosette:
        server.add(patch).mark(8)
    server.tessellate()
    for handle, retained in zip(server.handles, handles[4:8], strict=True):
        np.testing.assert_array_equal(handle.result.inside, retained.result.inside)


def test_a_larger_tolerance_broadcasts_less(rosette: tuple[Patch, ...]) -> None:
    cycles = [
        tessellate(rosette[:1], 16, config=TINY, method=Method(trim_tolerance=share)).cycles_by_stage[Stage.TRIM.value]
        for share in (0.001, 0.1)
    ]
    assert cycles == sorted(cycles, reverse=True) and cycles[0] > cycles[1]


def test_the_table_of_the_readme_is_what_is_executed(rosette: tuple[Patch, ...]) -> None:
    _, _, *printed = table_after("docs/pages/trims.md", "read by: tests/trimming/test_parity.py")
    whole = [Patch(patch.points) for patch in rosette]
    for line in printed:
        schedule, samples, *figures = (cell.strip() for cell in line.strip("|").split("|"))
        method, k = Method(schedule=schedule), int(samples)
        found, plain = tessellate(rosette, k, method=method), tessellate(whole, k, method=method)
        account = trim_account(found.patches, found.mesh(weld=True), found.config)
        assert account is not None
        trim = found.cycles_by_stage[Stage.TRIM.value]
        more = found.cycles - plain.cycles
        counts = (account.outside, account.segments, account.broadcast, trim, more, found.cycles)
        assert figures == [f"{count:,}" for count in counts]
        if k == 8:
            assert (account.points, account.gp_cycles) == (728, 42_770)
