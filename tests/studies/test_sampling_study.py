"""Are the figures of sampling by view in the README of tessellation those that its study executes?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pixelflow.cli.study import FLIGHT, sampling
from pixelflow.config import THESIS
from pixelflow.simd.errors import InputError, UsageError
from pixelflow.simd.report import json_text
from tessellation.sampling import unseen_facts
from tessellation.scenes import SceneSource, prepare_scene
from tests.documents.marks import table_after

DOCUMENT = "docs/pages/sampling.md"
MARK = "read by: tests/studies/test_sampling_study.py"


SCENE = """
size = [160, 120]
[camera]
zoom = 2.5
[[body]]
patches = "teapot"
tolerance = 1.5
"""


def rows(scene: str, frames: tuple[int, ...]) -> list[dict]:
    return json.loads(json_text(sampling(THESIS, scene, frames, lambda text: None)))["sampling"]


@pytest.mark.slow
def test_sampling_by_view_keeps_its_bound_and_takes_fewer_samples(tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(SCENE)
    any_k, powers, seen, everyone, tolerated = rows(str(path), (0,))
    for row in (any_k, powers):
        assert row["error_pixels"] <= row["bound_pixels"] <= 1.5
    assert seen["error_pixels"] <= any_k["error_pixels"] + 1e-3 and tolerated["error_pixels"] <= 1.5
    assert any_k["samples"] < powers["samples"] and any_k["samples"] < seen["samples"] < everyone["samples"]
    k = int(everyone["way"].split(",")[0])
    assert everyone["samples"] == 32 * k * k and everyone["triangles"] == 32 * 2 * (k - 1) ** 2
    assert any_k["patches"] == powers["patches"] == seen["patches"] == tolerated["patches"] < everyone["patches"] == 32


@pytest.mark.slow
def test_what_the_rows_leave_out_is_below_them(tmp_path: Path) -> None:
    """The LEE is configured once, by the first pass of all: the first row is as if there had been one before."""
    path = tmp_path / "scene.toml"
    path.write_text(SCENE)
    report = sampling(THESIS, str(path), (0,), lambda text: None)
    found = json.loads(json_text(report))
    assert found["lee_configuration_cycles"] == 32 * 42
    words = [each["cycles"] for each in found["left_out"]]
    assert len(words) == 2 and abs(words[1] - 4 * words[0]) <= 4 and words[0] > 0, "800 and 200 MB/s"
    prepared = prepare_scene(str(path), SceneSource(config=THESIS))
    assert prepared.sampled is not None
    here = prepared.sampled.seen(prepared.standpoint(0))
    for _ in range(2):
        prepared.sampled.manager.mark_all(here.choice("any").samples)
        prepared.sampled.manager.tessellate()
    assert found["sampling"][0]["cycles"] == prepared.sampled.manager.cycles


def test_frames_in_which_nothing_is_seen_are_named_unless_these_are_all() -> None:
    ((_, text),) = unseen_facts((2, 3, 7), 9)
    assert "3 of 9 frames" in text and text.endswith(" 2-3,7")
    with pytest.raises(InputError, match="frame of 0-2"):
        unseen_facts((0, 1, 2), 3)


def test_a_scene_without_such_patches_and_a_frame_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no patches with a tolerance"):
        rows("enneper", (0,))
    path = tmp_path / "scene.toml"
    path.write_text(SCENE)
    with pytest.raises(UsageError, match=r"--frames: .* has no frame 3\b"):
        rows(str(path), (3,))


@pytest.mark.slow
def test_the_table_of_the_readme_is_what_is_executed() -> None:
    head, _, *printed = table_after(DOCUMENT, MARK)
    frames = tuple(dict.fromkeys(int(line.split("|")[1]) for line in printed))
    found = [
        f"| {row['frame']} | {row['way']} | {row['patches']:,} | {row['samples']:,} | {row['triangles']:,} | "
        f"{row['passes']} | {row['cycles']:,} | {row['error_pixels']:.2f} | "
        f"{'-' if row['bound_pixels'] is None else format(row['bound_pixels'], '.2f')} |"
        for row in rows(FLIGHT, frames)
    ]
    assert head.count("|") == 10 and printed == found
