"""Does the table of cycles with and without front end and caches say what the machine counts?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from larrabee_bridge.pipeline.frame import FrameSetting, render_on_larrabee
from larrabee_bridge.pipeline.picture import front_of_screen, work_of
from larrabee_bridge.pipeline.schedule import ScheduleConfig, schedule
from larrabee_bridge.pipeline.work import CORES
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.simd.machine import machine_named
from tessellation.scenes import SceneSource, load_scene

PAGE = Path(__file__).parents[2] / "docs/pages/larrabee.md"
MARK = "<!-- read by: tests/larrabee_compare/test_memory_table.py -->\n"
COLUMNS = (
    {"free_setup": True, "ideal_memory": True}, {"free_setup": True}, {"ideal_memory": True}, {}
)  # fmt: skip
"""Of the table."""


def rows() -> Iterator[tuple[str, int, list[str]]]:
    """Yield scene, cores, and the other cells of each row."""
    scene = ""
    for line in PAGE.read_text(encoding="utf-8").split(MARK)[1].split("\n\n")[0].splitlines()[2:]:
        name, cores, *cells = (cell.strip().replace(",", "") for cell in line.split("|")[1:-1])
        scene = name.replace("`", "") or scene
        yield scene, int(cores), cells


def test_scenes_at_three_sizes_of_a_chip() -> None:
    scenes = ("still 640x480", "swarm 1600x1200", "glass 640x480")
    assert [row[:2] for row in rows()] == [(scene, cores) for scene in scenes for cores in (1, 10, 32)]


def scaling() -> list[list[int]]:
    """Return cores, and cycles with bandwidth that grows, writes free and at their rate, and with one memory."""
    lines = PAGE.read_text(encoding="utf-8").split(MARK)[2].split("\n\n")[0].splitlines()[2:]
    return [[int(cell.replace(",", "")) for cell in line.split("|")[1:-1]] for line in lines]


def test_one_memory_limits_many_cores() -> None:
    assert [row[0] for row in scaling()] == list(CORES)
    assert all(free <= growing <= one for _, free, growing, one in scaling())
    (_, _, growing, one), *_, (_, _, many_growing, many_one) = scaling()
    assert growing == one and many_one > 1.1 * many_growing


@pytest.mark.slow
def test_scaling_is_what_is_scheduled() -> None:
    frame = load_scene("swarm", SceneSource(size=(640, 480), affine=True)).frame
    found = []
    for writes, rate in ((0, 0), (2, 0), (2, 115)):
        config = CoreConfig(caches=True, write_line_cycles=writes)
        fronts = [front_of_screen(frame, draw.triangles, 64, config) for draw in frame.draws]
        bins, primsets = [front.bins for front in fronts], [None] * len(fronts)
        work = work_of(render_on_larrabee(frame, FrameSetting(config=config), bins=bins, primsets=primsets), fronts)
        works = [replace(work, frame=number) for number in range(4)]
        found.append([schedule(works, ScheduleConfig(cores, memory_bytes=rate)).makespan for cores in CORES])
    assert [list(row) for row in zip(CORES, *found, strict=True)] == scaling()


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "cores", "cells"), [pytest.param(*row, id=f"{row[0]}-{row[1]}") for row in rows()])
def test_a_row_is_what_is_drawn(scene: str, cores: int, cells: list[str]) -> None:
    name, size = scene.split()
    width, height = map(int, size.split("x"))
    frame, draw = load_scene(name, SceneSource(size=(width, height), affine=True)).frame, machine_named("larrabee").draw
    assert draw is not None
    sides = [draw(frame, parts=cores, **options) for options in COLUMNS]
    assert [side.cycles for side in sides] == [int(cell) for cell in cells[:4]]
    assert sides[-1].imbalance is not None and sides[-1].waiting is not None
    lost = sides[-1].imbalance + sides[-1].waiting
    assert sides[-1].next_after == int(cells[4]) and f"{100 * lost:.1f} %" == cells[5]


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "at"), [("still", 2), ("glass", 4)])
def test_caches_that_stay_warm(scene: str, at: int) -> None:
    """The rows of a scene: each work begins with the lines of the one before it."""
    lines = PAGE.read_text(encoding="utf-8").split(MARK)[3].split("\n\n")[0].splitlines()[at : at + 2]
    frame, draw = load_scene(scene, SceneSource(size=(640, 480), affine=True)).frame, machine_named("larrabee").draw
    assert draw is not None and scene in lines[0]
    for line in lines:
        cores, *cells = (int(cell.replace(",", "")) for cell in line.split("|")[2:-1])
        configs = (CoreConfig(), CoreConfig(warm_caches=True))
        assert [draw(frame, parts=cores, config=config).cycles for config in configs] == cells
