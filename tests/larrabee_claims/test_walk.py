"""Stages of whole frames along a way: are they sums of what ran, and of what the camera sees?"""

from functools import cache

import numpy as np
import pytest

from larrabee_bridge.claims import frames as walk
from larrabee_bridge.claims.bench import SceneBench, SeenFrame
from larrabee_bridge.compare import project_on_larrabee
from larrabee_bridge.pipeline.picture import draw_on_larrabee
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
def seen(number: int, volumes: bool) -> SeenFrame:
    eye = (3.0 - number, -3.0, 1.0)
    view = View(field_of_view=60, width=96, height=64, eye=eye, look_at=(0, 0, 0), near=0.1)
    bodies = [GROUND, BALL]
    bodies += shadow_bodies([BALL], eye, 4.0) if volumes else []
    draws = (*draws_of(bodies, view, affine=True), *([shade(96, 64)] if volumes else []))
    found = project_on_larrabee(Frame(96, 64, (0, 0, 0), draws), bodies, view, config=CoreConfig(caches=True))
    return SeenFrame(found.frame, found.fronts)


STAGES = cache(walk.stages_of)
WAYS = {walk.PLAIN: lambda at: seen(at, False), walk.SHADOWED: lambda at: seen(at, True)}


@pytest.fixture(autouse=True)
def two_cameras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "CAMERAS", 2)
    monkeypatch.setattr(walk, "stages_of", STAGES)


def test_stages_are_those_of_the_drawn_frame() -> None:
    found, given = walk.stages_of(seen(0, False)), seen(0, False)
    side = draw_on_larrabee(given.frame, fronts=given.fronts)
    assert found.same and side.picture.colours.any()
    # Drawn with the shader that a scene needs, everything before the back end is the same.
    before = found.vertices + found.raster + found.planes
    assert before < side.work < found.cycles
    assert found.vertices == sum(int(front.cycles.sum()) for front in given.fronts)
    assert next(iter(given.fronts)).cut == 1  # the ground reaches past the eye
    assert sum(found.parts.values()) == pytest.approx(1)


def test_means_and_spans_are_those_of_the_frames() -> None:
    bench = SceneBench(ways=WAYS)
    means, spans = walk.stages_of_the_way(bench, {}), walk.frames_of_the_way(bench, {})
    frames = {key: [walk.stages_of(seen(at, volumes)) for at in range(2)]
              for key, volumes in (("plain", False), ("shadowed", True))}  # fmt: skip
    for key, each in frames.items():
        share = sum(one.raster for one in each) / sum(one.cycles for one in each)
        assert means.figures[f"raster_{key}"] == round(share, 4)
        shares = [one.raster / one.cycles for one in each]
        assert spans.figures[f"least_{key}"] == round(min(shares), 4) < spans.figures[f"most_{key}"]
        assert spans.figures[f"most_cycles_{key}"] == max(one.cycles for one in each)
    assert means.figures["raster_shadowed"] > means.figures["raster_plain"]
    assert means.spread["volumes"] == {"mean of 25": means.figures["raster_shadowed"]}
    assert "4 of 4 pictures" in means.text


def test_cycles_of_the_rasterizer_are_those_of_its_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "_LARGE_CAMERAS", (0, 1))
    ways = {walk.LARGE: WAYS[walk.PLAIN], walk.LARGE_SHADOWED: WAYS[walk.SHADOWED]}
    found = walk.raster_cycles_of_the_way(SceneBench(ways=ways), {}).figures
    for key, volumes in (("plain", False), ("shadowed", True)):
        assert found[key] == round(sum(walk.stages_of(seen(at, volumes)).raster for at in range(2)) / 2)


def test_a_way_that_is_not_there_is_not_measured() -> None:
    with pytest.raises(NotMeasured, match="needs a way named walk"):
        walk.frames_of_the_way(SceneBench(), {})
