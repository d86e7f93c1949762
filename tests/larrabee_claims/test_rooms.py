"""Measures that need scenes, on scenes small enough to be looked through."""

from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from larrabee_bridge.claims.bench import PRIMSETS, SceneBench, _by_state, costs_of, equilateral, even_mesh
from larrabee_bridge.claims.cores import FILLING, VOLUMES, scenes_of, work_of
from larrabee_bridge.claims.paper import PAPER
from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.back_end_programs import Attributes
from larrabee_bridge.pipeline.picture import front_of_screen
from larrabee_bridge.pipeline.rasterizer import rasterize
from larrabee_bridge.pipeline.work import CORES
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.evidence import Measured
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles, State, Stencil, StencilStep, covered, snap

WIDTH, HEIGHT = 128, 128
SCENES, MESHES = ("herd", "fleet"), ("nut",)


@pytest.fixture(autouse=True, scope="module")
def fewer_scenes():
    """Half of the scenes and one of the meshes are enough to ask whether figures are what they say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("larrabee_bridge.claims.cores.SCENES", SCENES)
        patch.setattr("larrabee_bridge.claims.frames.MESHES", MESHES)
        patch.setattr("larrabee_bridge.claims.frames.MESHES", MESHES)
        patch.setattr("larrabee_bridge.claims.frames.COMPARED", MESHES)
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
MEASURES = {getattr(measure, "__name__", name): measure for name, measure in PAPER.measures.items()}
BENCH = SceneBench(
    {
        **{name: lambda seed=seed: mesh_frame(200, seed) for seed, name in enumerate(SCENES)},
        **{name: lambda seed=seed: frame(Draw("mesh", equilateral(100, 6, seed))) for seed, name in enumerate(MESHES)},
        VOLUMES: lambda: frame(Draw("sides", equilateral(1500, 4), COUNTED)),
    }
)


RELATIVE = {
    *("peak_of_two_designs", "utilisation_by_area", "software_filtering", "spread_by_area", "locks_of_scenes"),
    "physics_on_cores",
}
"""Measures whose line is about the printed figures: at which area, at which rate, what share, with which shader, on
how many cores."""
OF_A_WAY = {"stages_of_the_way", "frames_of_the_way", "raster_cycles_of_the_way"}
"""Those of whole frames along a way of the camera: `test_walk.py` gives them a way, and no printed figures."""
LARGE = {
    *("immediate_over_binned", "ratio_by_depth", "spread_by_area", "rays_on_cores"),
    *("scene_that_is_traced", "layers_in_lists"),
}
"""Those whose screens, or trees, are no scene's, and large."""


class Sealed(Mapping):
    """Printed figures that nobody may look at."""

    def __getitem__(self, name: str) -> float:
        raise AssertionError(f"{name} is a printed figure")

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("these are printed figures")

    def __len__(self) -> int:
        raise AssertionError("these are printed figures")


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=[pytest.mark.slow] * (each in LARGE)) for each in sorted(MEASURES.keys() - OF_A_WAY)],
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
        assert shares[f"one_sample_{name}"] == pytest.approx(scan.vector_share, abs=1e-4)
        sampled = rasterize(triangles, WIDTH, HEIGHT, samples=4)
        assert shares[f"share_{name}"] == pytest.approx(sampled.vector_share, abs=1e-4)
        ratio = loop.descent.cycles.sum() / scan.descent.cycles.sum()
        assert more[f"more_{name}"] == pytest.approx(ratio - 1, abs=1e-4)


def test_the_share_of_the_rasterizer_is_that_of_its_cores() -> None:
    """Set-up and descents among all that front end and back end take, in all scenes and in shadow volumes."""
    found = figures("stages")
    assert set(found) == {f"share_{name.replace(' ', '_')}" for name in (*SCENES, VOLUMES)}
    for name in (*SCENES, VOLUMES):
        work, share = work_of(BENCH, name), found[f"share_{name.replace(' ', '_')}"]
        assert share == pytest.approx(costs_of(BENCH, name).raster / (work.front.sum() + work.back.sum()), abs=1e-4)
        assert 0 < share < work.front.sum() / work.cycles
    spread = measured("stages", BENCH).spread
    assert set(spread["games"]) == set(SCENES) and set(spread["volumes"]) == {VOLUMES}


def test_scaling_says_what_the_schedules_are() -> None:
    found = figures("scaling")
    assert set(found) == {f"{name}_{how}" for name in SCENES for how in ("overlapped", "alone")}
    # Four tiles of 64x64 cannot keep 48 cores busy: relative to 8 that is at least 1 - 8 / 48 less.
    assert all(value >= 1 - CORES[0] / CORES[-1] - 0.01 for name, value in found.items() if name.endswith("alone"))
    assert set(figures("smaller-primsets")) == {
        *(f"{how}_{primset}" for how in ("overlapped", "alone") for primset in (1000, 200)),
        "not_worse",
    }


def test_locks_are_those_of_5_2() -> None:
    """Two for the bin set, one a PrimSet, one a bin; the products of what is printed beside them."""
    found = figures("locks")
    for name in SCENES:
        work = work_of(BENCH, name)
        assert found[f"locks_{name}"] == 2 + len(work.front) + len(work.back) == 2 + len(work.front) + 4
    assert found["all_clocks"] == 10**6
    assert found["share"] == pytest.approx(0.0024) and found["share_fewer"] == pytest.approx(0.006)


@pytest.mark.parametrize("primset", PRIMSETS)
def test_a_scene_costs_what_its_programs_take(primset: int) -> None:
    """Every tile is executed, with caches, as one draw: its PrimSets and tiles are those of the renderer."""
    scene, costs = BENCH.frame(SCENES[0]), costs_of(BENCH, SCENES[0])
    whole = ScreenTriangles.joined([draw.triangles for draw in scene.draws])
    config = CoreConfig(caches=True)
    back = render_back_end(frame(Draw("all", whole)), tile=64, config=config, length=50)
    assert costs.executed == 4 and costs.works[primset].back.tolist() == back.cycles.tolist()
    made = front_of_screen(scene, whole, config=config, primset=primset)
    assert made is not None
    sets = np.arange(len(whole)) // primset
    found, without = (
        rasterize(whole, WIDTH, HEIGHT, bins=made.bins, primset=sets, config=config, attributes=attributes)
        for attributes in (Attributes(), None)
    )
    both = zip(made.cycles.tolist(), found.cores.values(), strict=True)
    assert costs.works[primset].front.tolist() == [vertices + core.cycles for vertices, core in both]
    assert len(found.cores) == -(-len(whole) // primset)
    if primset == PRIMSETS[0]:
        assert costs.raster == sum(core.cycles for core in without.cores.values()) < costs.works[primset].front.sum()


def test_draws_of_other_states_stay_apart() -> None:
    """What follows in one state is one draw, as a driver sends it; with another state in between it is not."""
    made = _by_state(frame(*(Draw(str(number), _halves(), state) for number, state in enumerate(STATES))))
    assert [len(draw.triangles) for draw in made.draws] == [4, 2, 2]
    assert [draw.name for draw in made.draws] == ["0", "2", "3"]


STATES = (State(), State(), COUNTED, State())


def test_scenes_that_fill_the_screen_are_looked_at_where_there_are_such() -> None:
    scenes = {**BENCH.scenes, FILLING[0]: BENCH.scenes[SCENES[0]], "another": BENCH.scenes[SCENES[0]]}
    kept = {f"costs of {name}": costs_of(BENCH, name) for name in SCENES}
    more = SceneBench(scenes)
    for key, costs in {**kept, f"costs of {FILLING[0]}": costs_of(BENCH, SCENES[0])}.items():
        more.once(key, lambda costs=costs: costs)
    assert scenes_of(BENCH) == SCENES
    assert scenes_of(more) == (*SCENES, FILLING[0])
    row = measured("bin-balance", more)
    assert f"{FILLING[0]} fills" in row.text
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
            sizes = [found[f"{size}_{depth}_{samples}"] for size in ("ratio", "half", "with_bins", "twice")]
            assert sizes == sorted(sizes, reverse=True)
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
