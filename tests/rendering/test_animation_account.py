"""Is what is done once in no frame, and does a report say what GPs do for nothing and what there is nothing of?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pixelflow.config import THESIS, load_effective
from pixelflow.simd.report import json_text
from tessellation import PatchManager, load
from tessellation.host.tessellator import trim_account
from tessellation.microprogram.method import SCHEDULES
from tessellation.plan.schedule import Stage
from tessellation.rendering.animation import RETURNS, AnimationFile, animation_report
from tests.rendering.test_animation import TURNED, animated, method

ROSETTE = f"""
{TURNED}
[[body]]
patches = "rosette"
tolerance = 9.0
"""


@pytest.mark.slow
def test_the_lee_is_configured_before_all_frames_and_trims_are_said_with_their_size(tmp_path: Path) -> None:
    """32 panels, EMCs and modules at (1 + 1 + 16 + 8 + 8 + 8) cycles, once: what the passes of frame 0 take besides."""
    path = tmp_path / "scene.toml"
    path.write_text(ROSETTE)
    made, scenes, _ = animated(str(path), (0, 1), "direct")
    runs = [[run for each in scene.anew for run in each.runs] for scene in scenes]
    took = [sum(run.cycles for run in each) for each in runs]
    first, second = made.frames
    assert made.configuring == first.configuring == runs[0][0].by_stage[Stage.LEE.value] == 32 * 42 == 1_344
    assert (first.tessellation, second.tessellation) == (took[0] - 1_344, took[1]) and second.configuring == 0
    assert made.cycles == sum(took) - 1_344 + first.scan + second.scan
    assert Stage.LEE.value not in first.stages and sum(first.stages.values()) == first.tessellation
    accounts = [trim_account(each.patches, each.mesh(weld=True), THESIS) for scene in scenes for each in scene.anew]
    report = animation_report(made, AnimationFile("scene", (32, 24), "x.png", load_effective(), "auto"))
    found = json.loads(json_text(report))
    assert found["lee_configuration_cycles"] == 1_344
    for key, name in (("triangles_of_cut_cells", "cut_triangles"), ("gp_cycles_by_formula", "gp_cycles")):
        assert found["trims_on_gps"][key] == sum(getattr(each, name) for each in accounts) > 0


@pytest.mark.parametrize("way", [RETURNS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in RETURNS[1:])])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_first_pass_takes_as_much_more_as_the_configuration(schedule: str, way: str) -> None:
    """The same patches twice in a session: nothing goes on beside the configuration, so its stage is what it costs."""
    manager = PatchManager({3: 1}, method=method(way, schedule))
    handle = manager.add(load("enneper").patches[0])
    cycles = []
    for _ in range(2):
        handle.mark(4)
        manager.tessellate()
        cycles.append(manager.cycles)
    assert cycles[0] - cycles[1] == 1_344
