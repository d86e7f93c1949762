"""Measures that need scenes, on scenes small enough to be looked through."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from larrabee_bridge.claims.bench import PRIMSETS, SceneBench, SeenFrame, drawn, equilateral, even_mesh
from larrabee_bridge.claims.bytes import bytes_of
from larrabee_bridge.claims.paper import PAPER
from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.back_end_programs import Attributes
from larrabee_bridge.pipeline.picture import front_of_screen
from larrabee_bridge.pipeline.rasterizer import rasterize
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.evidence import Measured
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles, State, covered, snap

WIDTH, HEIGHT = 128, 128
SCENES, MESHES = ("herd", "fleet"), ("nut",)


@pytest.fixture(autouse=True, scope="module")
def fewer_scenes():
    """Two of the scenes and one of the meshes are enough to ask whether figures are what they say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("larrabee_bridge.claims.frames.SCENES", SCENES)
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


MEASURES = {getattr(measure, "__name__", name): measure for name, measure in PAPER.measures.items()}
BENCH = SceneBench(
    {
        **{name: lambda seed=seed: mesh_frame(200, seed) for seed, name in enumerate(SCENES)},
        **{name: lambda seed=seed: frame(Draw("mesh", equilateral(100, 6, seed))) for seed, name in enumerate(MESHES)},
    }
)


RELATIVE = {
    *("peak_of_two_designs", "software_filtering", "spread_by_area"),
    "physics_on_cores",
}
"""Measures whose line is about the printed figures: at which area, at which rate, what share, with which shader, on
how many cores."""
OF_A_WAY = {
    *("stages_of_the_way", "volumes_raise_the_share", "raster_cycles_of_the_way"),
    *("scaling_of_cores", "scaling_of_primsets", "smaller_primsets_help", "balance_of_bins", "locks_of_frames"),
    *("utilisation_by_area", "immediate_over_binned", "binning_moves_less", "gain_by_bytes"),
}
"""Those of whole frames along a way of the camera: `test_walk.py` gives them a way, and no printed figures."""
LARGE = {
    *("spread_by_area", "layers_in_lists"),
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


def test_the_mean_gain_of_gathers_is_that_of_all_matrices() -> None:
    found = dict(figures("gather-gain"))
    means = found.pop("mean_alone"), found.pop("mean")
    for mean, alone in zip(means, (True, False), strict=True):
        ratios = [ratio for name, ratio in found.items() if name.endswith("_alone") is alone]
        assert mean == pytest.approx(sum(ratios) / len(ratios), abs=1e-3)


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


@pytest.mark.parametrize("primset", PRIMSETS)
def test_a_frame_costs_what_its_programs_take(primset: int) -> None:
    """Every tile is executed, with caches: PrimSets and tiles are those of the renderer.

    Set-up and descents take about what they take without planes, whose values are in the slice as well.
    """
    whole = ScreenTriangles.joined([_halves(), even_mesh(WIDTH, HEIGHT, 200)])
    scene, config = frame(Draw("all", whole)), CoreConfig(caches=True)
    seen = SeenFrame(scene, [None])
    costs = drawn(seen, seen)
    back = render_back_end(scene, tile=64, config=config, length=50)
    assert costs.works[primset].back.tolist() == back.cycles.tolist()
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
        alone = sum(core.cycles for core in without.cores.values())
        assert alone <= costs.raster < 1.05 * alone and costs.raster < costs.works[primset].front.sum()


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


def test_bytes_of_a_screen_in_one_layer() -> None:
    """Two triangles, four tiles, 16,384 pixels.

    Immediate mode moves half a colour, a quarter of a depth in and out: 4 bytes a pixel, as tiles write of colours.
    Each triangle is in three tiles: 6 entries; 4 corners, read 2 x 4 + 2 x 3 times. Blocks on the diagonal are masks of
    both, others are full in 4x4 or 16x16.
    """
    found = bytes_of(frame(Draw("all", _halves())))
    colours = 4 * WIDTH * HEIGHT
    assert found.immediate == found.binned["none"] == colours
    entries, masks, fours, sixteens = 6, 2 * 32, 2 * 8 * 6, 2 * 28
    bins = 2 * (16 * entries + 2 * (masks + fours + sixteens) + 2 * masks)
    vertices = 32 * (4 + 2 * 4 + 2 * 3)
    assert found.binned["given"] == colours + bins + vertices
    assert found.binned["twice"] - found.binned["given"] == 2 * (found.binned["given"] - found.binned["half"])
    assert found.depth_kept == found.binned["given"] + colours
    assert found.fast_clear == colours - WIDTH * HEIGHT
    assert bytes_of(replace(frame(Draw("all", _halves())), samples=4)).ratios["none"] == 2


@pytest.mark.slow
def test_spread_rises_with_the_area() -> None:
    """Larger triangles are in more bins, and larger tiles hold more of them whole."""
    found = figures("bin-spread")
    for tile in (64, 128):
        row = [found[f"spread_{tile}_{area}"] for area in (4, 6, 10, 16)]
        assert row == sorted(row)
    assert all(found[f"spread_128_{area}"] < found[f"spread_64_{area}"] for area in (4, 6, 10, 16))
    assert 3 < found["area_64"] < found["area_128"] < 20
