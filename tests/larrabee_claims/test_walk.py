"""Stages of whole frames along a way: are they sums of what ran, and of what the camera sees?"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.claims import bench as benches
from larrabee_bridge.claims import cores
from larrabee_bridge.claims import frames as walk
from larrabee_bridge.claims.bench import LARGE, LARGE_SHADOWED, PRIMSETS, SceneBench, SeenFrame
from larrabee_bridge.claims.paper import PAPER
from larrabee_bridge.compare import project_on_larrabee
from larrabee_bridge.pipeline.picture import draw_on_larrabee
from larrabee_bridge.pipeline.schedule import ScheduleConfig, schedule
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.evidence import NotMeasured
from pixelflow.simd.drawing import Frame
from tessellation.picture import View
from tessellation.scenes import Body, draws_of, shade, shadow_bodies
from tests.larrabee_front.meshes import sphere

POINTS, CORNERS = sphere(8, 5)
BALL = Body("ball", POINTS, POINTS, CORNERS)
GROUND = Body("ground", np.array([[-9, -9, -1], [9, -9, -1], [9, 9, -1], [-9, 9, -1]], float), np.ones((4, 3)),
              np.array([[0, 1, 2], [0, 2, 3]]))  # fmt: skip


@cache
def seen(number: int, volumes: bool, primset: int = PRIMSETS[0]) -> SeenFrame:
    eye = (3.0 - number, -3.0, 1.0)
    view = View(field_of_view=60, width=96, height=64, eye=eye, look_at=(0, 0, 0), near=0.1)
    bodies = [GROUND, BALL]
    bodies += shadow_bodies([BALL], eye, 4.0) if volumes else []
    draws = (*draws_of(bodies, view, affine=True), *([shade(96, 64)] if volumes else []))
    config = CoreConfig(caches=True)
    found = project_on_larrabee(Frame(96, 64, (0, 0, 0), draws), bodies, view, primset=primset, config=config)
    return SeenFrame(found.frame, found.fronts)


DRAWN = cache(benches.drawn)
WAYS = {
    LARGE: lambda at, primset: seen(at, False, primset),
    LARGE_SHADOWED: lambda at, primset: seen(at, True, primset),
}


@pytest.fixture(autouse=True)
def two_cameras(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (walk, benches, cores):
        monkeypatch.setattr(each, "CAMERAS", (0, 1))
    monkeypatch.setattr(benches, "drawn", DRAWN)


def test_stages_are_those_of_the_drawn_frame() -> None:
    found, given = benches.drawn(seen(0, False)), seen(0, False)
    side = draw_on_larrabee(given.frame, fronts=given.fronts)
    assert found.same and side.picture.colours.any()
    # Drawn with the shader that a scene needs, everything before the back end is the same.
    before = found.vertices + found.raster + found.planes
    assert before < side.work < found.cycles
    assert found.vertices == sum(int(front.cycles.sum()) for front in given.fronts)
    assert next(iter(given.fronts)).cut == 1  # the ground reaches past the eye
    assert sum(found.parts.values()) == pytest.approx(1)


@pytest.mark.parametrize("volumes", [False, True])
def test_smaller_primsets_cost_what_they_cost_alone(volumes: bool) -> None:
    """The triangles are rasterized once, and timed in the PrimSets of each front end."""
    small = seen(0, volumes, 20)
    both, alone = benches.drawn(seen(0, volumes, 60), small).works[PRIMSETS[1]], benches.drawn(small).works[PRIMSETS[0]]
    assert both.front.tolist() == alone.front.tolist() and both.back.tolist() == alone.back.tolist()
    assert both.front_bytes is not None and alone.front_bytes is not None
    assert both.front_bytes.tolist() == alone.front_bytes.tolist()
    assert len(both.front) > len(benches.drawn(seen(0, volumes, 60)).works[PRIMSETS[0]].front)


def test_means_are_those_of_the_frames() -> None:
    bench = SceneBench(ways=WAYS)
    means, cycles = walk.stages_of_the_way(bench, {}), walk.raster_cycles_of_the_way(bench, {}).figures
    shares = {}
    for key, volumes in (("plain", False), ("shadowed", True)):
        frames = [benches.drawn(seen(at, volumes)) for at in range(2)]
        share = sum(one.raster for one in frames) / sum(one.cycles for one in frames)
        assert means.figures[f"raster_{key}"] == round(share, 4)
        assert cycles[key] == round(sum(one.raster for one in frames) / 2)
        shares[key] = [one.parts["raster"] for one in frames]
    times = [round(after / before, 2) for before, after in zip(shares["plain"], shares["shadowed"], strict=True)]
    assert [*walk.volumes_raise_the_share(bench, {}).spread["times"].values()] == times and min(times) > 1
    assert means.spread["volumes"] == {"mean of 2 cameras": means.figures["raster_shadowed"]}
    assert "4 of 4 pictures" in means.text


def test_a_game_is_25_frames_of_the_way_in_turn() -> None:
    """Its scaling, in PrimSets of either size, and the balance of its bins, which are those of the drawn frames."""
    bench = SceneBench(ways=WAYS)
    drawn = [benches.drawn(seen(at, True), seen(at, True, PRIMSETS[1])) for at in range(2)]
    for primset, name in zip(PRIMSETS, ("scaling", "smaller-primsets"), strict=True):
        works = [replace(drawn[number % 2].works[primset], frame=number) for number in range(25)]
        few, many = (schedule(works, ScheduleConfig(cores, memory_bytes=0)).makespan for cores in (8, 48))
        found = PAPER.measures[name](bench, {})
        assert found.spread["below"][LARGE_SHADOWED] == round(1 - few / many * 8 / 48, 4)
    bins = benches.drawn(seen(1, False)).works[PRIMSETS[0]].back
    ratios = bins[bins > 0] / bins[bins > 0].mean()
    found = PAPER.measures["bin-balance"](bench, {})
    assert found.spread["most"]["camera 1"] == round(((ratios >= 0.5) & (ratios <= 2)).mean(), 4)
    assert set(found.spread["few"]) == {"camera 0", "camera 1"}


def test_locks_are_those_of_5_2() -> None:
    """Two for the bin set, one a PrimSet, one a bin; the products of what is printed beside them."""
    printed = {"locks": 10_000, "clocks": 100, "units": 25, "fewer_units": 10, "frames": 60}
    found = PAPER.measures["locks"](SceneBench(ways=WAYS), printed)
    work = benches.drawn(seen(1, True), seen(1, True, PRIMSETS[1])).works[PRIMSETS[0]]
    assert found.spread["locks"][f"{LARGE_SHADOWED}, camera 1"] == 2 + len(work.front) + len(work.back)
    assert found.figures["all_clocks"] == 10**6
    assert found.figures["share"] == pytest.approx(0.0024) and found.figures["share_fewer"] == pytest.approx(0.006)


def test_what_was_drawn_is_kept_for_the_next_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Under the sources' hash alone: other sources draw again."""
    monkeypatch.setenv("PIXELFLOW_CACHE", str(tmp_path))
    drawn = []
    given = [SceneBench(sources=sources) for sources in ("a", "a", "b")]
    for bench in given:
        assert bench.kept("a frame", int, lambda: drawn.append(1) or 7) == 7
    assert len(drawn) == 2 and [bench.earlier for bench in given] == [0, 1, 0]
    assert [len(bench.remarks()) for bench in given] == [0, 1, 0]


def test_a_way_that_is_not_there_is_not_measured() -> None:
    with pytest.raises(NotMeasured, match="needs a way named walk"):
        walk.stages_of_the_way(SceneBench(), {})
