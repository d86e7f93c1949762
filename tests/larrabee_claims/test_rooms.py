"""Measures that need scenes, on scenes small enough to be looked through."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from larrabee_bridge.claims.bench import SceneBench
from larrabee_bridge.claims.measures.cores import FILLING, scenes_of, work_of
from larrabee_bridge.claims.measures.meshes import equilateral, even_mesh
from larrabee_bridge.claims.measures.rasterizer import SMALL, VOLUMES
from larrabee_bridge.claims.measures.scene_costs import _fitted, _sample, costs_of
from larrabee_bridge.claims.paper import PAPER
from larrabee_bridge.pipeline.backend import render_back_end
from larrabee_bridge.pipeline.raster.rasterizer import rasterize
from larrabee_bridge.pipeline.scheduling import CORES
from pixelflow.evidence import Measured
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles, State, Stencil, StencilStep, covered, snap

WIDTH, HEIGHT = 128, 128
SCENES, MESHES = ("herd", "fleet"), ("nut",)


@pytest.fixture(autouse=True, scope="module")
def fewer_scenes():
    """Half of the scenes and one of the meshes are enough to ask whether figures are what they say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("larrabee_bridge.claims.measures.cores.SCENES", SCENES)
        patch.setattr("larrabee_bridge.claims.measures.rasterizer.MESHES", MESHES)
        patch.setattr("larrabee_bridge.claims.measures.rasterizer.COMPARED", MESHES)
        yield


def frame(*draws: Draw) -> Frame:
    return Frame(WIDTH, HEIGHT, (0, 0, 0), draws)


def _halves() -> ScreenTriangles:
    """The screen in two triangles."""
    corners = np.array([[[0, 0], [WIDTH, 0], [WIDTH, HEIGHT]], [[0, 0], [WIDTH, HEIGHT], [0, HEIGHT]]], float)
    return snap(corners, np.full((2, 3), 0.9), np.zeros((2, 3, 3), np.uint8))


def mesh_frame(area: float, seed: int = 1) -> Frame:
    return frame(Draw("large", _halves()), Draw("mesh", even_mesh(WIDTH, HEIGHT, area, seed=seed), State()))


COUNTED = State(depth_write=False, colour_write=False, stencil=Stencil(hidden=StencilStep.UP))
MEASURES = {measure.__name__: measure for measure in PAPER.measures.values()}
BENCH = SceneBench(
    {
        **{name: lambda seed=seed: mesh_frame(200, seed) for seed, name in enumerate(SCENES)},
        **{name: lambda seed=seed: frame(Draw("mesh", equilateral(100, 6, seed))) for seed, name in enumerate(MESHES)},
        SMALL: lambda: frame(Draw("mesh", even_mesh(WIDTH, HEIGHT, 90))),
        VOLUMES: lambda: frame(Draw("sides", equilateral(1500, 4), COUNTED)),
    }
)


RELATIVE = {
    *("peak_of_two_designs", "utilisation_by_area", "software_filtering", "spread_by_area", "cost_of_locks"),
    "shares_of_stages",
}
"""Measures whose line is about the printed figures: at which area, at which rate, what share, with which shader."""
LARGE = {"immediate_over_binned", "ratio_by_depth", "spread_by_area"}
"""Those whose screens are no scene's, and large."""


class Sealed(Mapping):
    """Printed figures that nobody may look at."""

    def __getitem__(self, name: str) -> float:
        raise AssertionError(f"{name} is a printed figure")

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("these are printed figures")

    def __len__(self) -> int:
        raise AssertionError("these are printed figures")


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[pytest.mark.slow] * (each in LARGE)) for each in sorted(MEASURES)]
)
def test_measures_do_without_printed_figures(name: str) -> None:
    if name in RELATIVE:
        with pytest.raises(AssertionError, match="is a printed figure"):
            MEASURES[name](BENCH, Sealed())
    else:
        assert MEASURES[name](BENCH, Sealed()).figures


def figures(name: str) -> Mapping[str, float]:
    return measured(name, BENCH).figures


def measured(name: str, bench: SceneBench) -> Measured:
    (claim,) = (claim for claim in PAPER.claims if claim.name == name)
    found = PAPER.find(claim, bench)
    assert found.measured is not None, found.reason
    return found.measured


def test_masks_are_compared_one_by_one() -> None:
    found = figures("recursion")
    assert found["differing"] == 0
    assert found["pixels"] == 3 * sum(_pixels(BENCH.frame(name)) for name in MESHES)


def _pixels(drawn: Frame) -> int:
    """Pixels of all triangles together."""
    return int(covered(drawn.draws[0].triangles, WIDTH, HEIGHT).sum())


def test_mix_and_ablation_are_those_of_the_programs() -> None:
    shares, more = figures("vector-share"), figures("find-first-bit")
    for name in MESHES:
        triangles = BENCH.frame(name).draws[0].triangles
        scan, loop = (rasterize(triangles, WIDTH, HEIGHT, scan=how) for how in ("instruction", "loop"))
        assert shares[f"share_{name}"] == pytest.approx(scan.vector_share, abs=1e-4)
        ratio = loop.descent.cycles.sum() / scan.descent.cycles.sum()
        assert more[f"more_{name}"] == pytest.approx(ratio - 1, abs=1e-4)


def test_the_shader_that_is_named_gives_the_printed_share() -> None:
    """Executed with as many operations more as were said, rasterization takes the share that was asked for."""
    found = figures("stages")
    scene = BENCH.frame(SMALL)
    raster = rasterize(scene.draws[0].triangles, WIDTH, HEIGHT, tile=32)
    cycles = int(raster.set_up.cycles.sum() + raster.descent.cycles.sum())
    back = render_back_end(scene, tile=32, length=round(found["operations_high"])).threads.sum()
    assert cycles / (cycles + int(back)) == pytest.approx(0.201, abs=0.003)
    assert found["operations_low"] > found["operations_high"] >= 0
    assert 0 < found["volumes"] < 1


def test_scaling_says_what_the_schedules_are() -> None:
    found = figures("scaling")
    names = {f"{name}_{tile}_{how}" for name in SCENES for tile in (64, 128) for how in ("overlapped", "alone")}
    assert set(found) == names | {f"residual_{name}_{tile}" for name in SCENES for tile in (64, 128)}
    # Four tiles of 64x64 cannot keep 48 cores busy: relative to 8 that is at least 1 - 8 / 48 less.
    assert all(value >= 1 - CORES[0] / CORES[-1] - 0.01 for name, value in found.items() if name.endswith("alone"))
    assert set(figures("smaller-primsets")) == {
        *(f"{how}_{primset}" for how in ("overlapped", "alone") for primset in (1000, 200)),
        "not_worse",
    }


def test_units_are_cycles() -> None:
    """A unit has 10^9 cycles a second."""
    for name in SCENES:
        cycles = work_of(BENCH, name, 64, 1000).cycles
        assert figures("units-for-60")[f"units_{name}"] == pytest.approx(60 * cycles / 1e9, abs=5e-4)


def test_a_scene_costs_what_its_programs_take() -> None:
    """Four tiles are fewer than a sample: the back end of all is executed, as that of one draw."""
    scene, costs = BENCH.frame(SCENES[0]), costs_of(BENCH, SCENES[0], 64)
    whole = ScreenTriangles.joined([draw.triangles for draw in scene.draws])
    assert costs.executed.tolist() == [0, 1, 2, 3]
    assert costs.tiles.tolist() == render_back_end(frame(Draw("all", whole)), tile=64, length=50).cycles.tolist()
    work, found = costs.work("scene", 100), rasterize(whole, WIDTH, HEIGHT)
    assert work.back.tolist() == costs.tiles.tolist()
    # The first draw has two triangles and so one PrimSet.
    assert len(work.front) == 1 + -(-(len(whole) - 2) // 100)
    cycles = found.set_up.cycles.sum() + found.descent.cycles.sum()
    assert work.front.sum() == pytest.approx(costs.turns * cycles, abs=len(found.set_up.cycles) + found.pairs)
    assert costs.turns < 1
    first = found.set_up.cycles[0] * costs.turns, found.descent.cycles[found.bins.triangles < 2] * costs.turns
    assert work.front[0] == round(first[0]) + np.rint(first[1]).sum()


def test_what_is_kept_of_a_scene_grows_with_its_pairs() -> None:
    """Two numbers of each pair, one of sixteen triangles, and a handful of each tile; nothing of its blocks."""
    costs = costs_of(BENCH, SCENES[0], 64)
    arrays = [getattr(record, each.name) for record in (costs, costs.bins) for each in fields(record)]
    kept = sum(each.nbytes for each in arrays if isinstance(each, np.ndarray))
    tiles = costs.bins.columns * costs.bins.rows
    assert kept <= 8 * (2 * costs.bins.entries + -(-costs.triangles // 16) + 6 * tiles + 2)


def test_tiles_that_are_not_executed_are_fitted() -> None:
    """Least squares find what is linear, with tiles of two sizes that have costs of their own; few are looked at."""
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 900, (40, 2))
    linear = counts @ (70, 40)
    which = _sample(counts[:, 1], 5, 1.0)
    ranks = np.searchsorted(np.sort(counts[:, 1]), counts[which, 1])
    assert sorted(ranks.tolist()) == [4, 12, 20, 28, 36]
    assert _fitted(counts, which, 1000 + linear[which], None) == pytest.approx(1000 + linear)
    other = SimpleNamespace(counts=counts, executed=np.arange(10), tiles=300 + linear)
    assert _fitted(counts, which[:1], 1000 + linear[which[:1]], other) == pytest.approx(1000 + linear)
    assert _sample(np.array([0, 3, 0, 2]), 12, 1.0).tolist() == [1, 3]
    assert _sample(np.arange(100), 2, 0.5).tolist() == [13, 38]


def test_the_residual_is_what_the_fit_misses() -> None:
    """Four tiles and three costs: something is missed, and the least squares of numpy miss as much."""
    costs = costs_of(BENCH, SCENES[1], 64)
    columns = np.insert(costs.counts, 0, 1, axis=1)
    fitted = columns @ np.linalg.lstsq(columns.astype(float), costs.tiles, rcond=None)[0]
    missed = np.sqrt(((fitted - costs.tiles) ** 2).mean()) / costs.tiles.mean()
    assert costs.residual == pytest.approx(missed, abs=1e-9) and missed > 0
    assert figures("scaling")[f"residual_{SCENES[1]}_64"] == pytest.approx(missed, abs=1e-4)


def test_scenes_that_fill_the_screen_are_looked_at_where_there_are_such() -> None:
    scenes = {**BENCH.scenes, FILLING[0]: BENCH.scenes[SCENES[0]], "another": BENCH.scenes[SCENES[0]]}
    kept = {f"costs of {name}, 64": costs_of(BENCH, name, 64) for name in SCENES}
    more = SceneBench(scenes)
    for key, costs in {**kept, f"costs of {FILLING[0]}, 64": costs_of(BENCH, SCENES[0], 64)}.items():
        more.once(key, lambda costs=costs: costs)
    assert scenes_of(BENCH) == SCENES
    assert scenes_of(more) == (*SCENES, FILLING[0])
    row = measured("bin-balance", more)
    assert f"of these {FILLING[0]} fills the screen" in row.text
    assert row.figures[f"within_{FILLING[0]}"] == row.figures[f"within_{SCENES[0]}"]


def test_the_spread_and_the_bytes() -> None:
    moved = figures("pixels-once")
    assert {name: value for name, value in moved.items() if name.startswith("plain")} == {
        "plain_read_colour": 1,
        "plain_read_depth": 1,
        "plain_written_colour": 1,
        "plain_written_depth": 1,
    }
    assert moved["saving_read_colour"] == moved["saving_read_depth"] == moved["saving_written_depth"] == 0
    assert moved["saving_written_colour"] == moved["four_written_colour"] == 1


@pytest.mark.slow
def test_layers_follow_the_closed_form() -> None:
    """H_d at one sample and 2 H_d at four, within 2 % of what blocks that are found again in the caches leave."""
    found = figures("binning-bandwidth")
    for depth in (2, 4, 16):
        for samples in (1, 4):
            expected = found[f"expected_{depth}_{samples}"]
            assert found[f"ratio_{depth}_{samples}"] == pytest.approx(expected, rel=0.02)
            assert expected <= found[f"harmonic_{depth}"] * (1 if samples == 1 else 2) + 1e-3
            # What is written or kept besides, and what the other side is given, lowers the gain.
            assert found[f"with_bins_{depth}_{samples}"] < found[f"ratio_{depth}_{samples}"]
            assert found[f"depth_kept_{depth}_{samples}"] < found[f"with_bins_{depth}_{samples}"]
            assert found[f"fast_clear_{depth}_{samples}"] < found[f"with_bins_{depth}_{samples}"]
    grows = figures("gain-grows")
    for samples in (1, 4):
        row = [found[f"with_bins_{depth}_{samples}"] for depth in (2, 4, 16)]
        assert grows[f"monotone_{samples}"] is (row == sorted(row))
        assert row[(2, 4, 16).index(grows[f"most_at_{samples}"])] == max(row)


@pytest.mark.slow
def test_spread_rises_with_the_area() -> None:
    """Larger triangles are in more bins, and larger tiles hold more of them whole."""
    found = figures("bin-spread")
    for tile in (64, 128):
        row = [found[f"spread_{tile}_{area}"] for area in (4, 6, 10, 16)]
        assert row == sorted(row)
    assert all(found[f"spread_128_{area}"] < found[f"spread_64_{area}"] for area in (4, 6, 10, 16))
    assert 3 < found["area_64"] < found["area_128"] < 20
