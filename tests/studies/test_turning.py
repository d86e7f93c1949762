"""Are frames that the EMCs' words draw those of other machines, by view and alike, and is the table executed?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.config import THESIS
from pixelflow.simd.drawing import DrawnFrame, Frame, Picture, draw_frame
from pixelflow.simd.report import json_text
from tessellation.rendering.labour import Turning, turn, turning_report
from tessellation.scenes import SceneSource, prepare_scene
from tests.documents.marks import markdown_table, table_after

DOCUMENT = "docs/pages/sampling.md"
MARK = "read by: tests/studies/test_turning.py"
HEADS = (
    "frame", "patches", "samples", "triangles", "tessellation", "words", "drawing", "all", "alike: k", "all, alike",
    "Larrabee",
)  # fmt: skip
KEYS = (
    "frame", "patches", "samples", "triangles", "tessellation_cycles", "words_cycles", "drawing_cycles", "cycles",
    "alike_k", "alike_cycles", "larrabee_cycles",
)  # fmt: skip

SCENE = """
size = [48, 40]
frames = 5
interpolation = "affine"
[camera]
elevation = 30.0
[[camera.at]]
frame = 4
azimuth = 80.0
zoom = 2.0
[[body]]
patches = "enneper"
tolerance = 1.5
"""


def _drawn(picture: Picture, frame: Frame) -> DrawnFrame:
    return DrawnFrame("other", 2, 32, 500.0, 1000, 1500, {}, {}, 0.0, None, {}, picture)


@pytest.fixture(scope="module")
def turning(tmp_path_factory) -> Turning:
    path = tmp_path_factory.mktemp("turning") / "scene.toml"
    path.write_text(SCENE)
    scene = prepare_scene(str(path), SceneSource())
    sampled = scene.sampled
    assert sampled is not None
    return Turning("scene", scene.view, lambda frame: sampled.seen(scene.standpoint(frame)), scene.background)


@pytest.mark.slow
def test_both_ways_are_executed_and_the_other_machine_is_asked_for_the_same_triangles(turning: Turning) -> None:
    asked: list[Frame] = []

    def drawer(frame: Frame) -> DrawnFrame:
        asked.append(frame)
        return _drawn(draw_frame(frame), frame)

    frames = list(turn(turning, (0, 4), THESIS, {"Other": drawer}))
    assert [each.number for each in frames] == [0, 4] and not any(each.wrong for each in frames)
    for each, given in zip(frames, asked, strict=True):
        choice = turning.seen(each.number).choice()
        assert each.seen.samples == choice.total and each.alike.samples == 4 * each.k**2
        assert each.seen.error <= 1.5 and each.seen.triangles == len(given.draws[0].triangles)
        # k is the smallest whose exact samples are no farther off; those of the machine are its own by roundings.
        assert each.alike.error <= each.seen.error + 1e-3
        assert each.seen.cycles == each.seen.tessellation + each.seen.words + each.seen.drawing
        assert np.array_equal(each.seen.picture.colours, each.others["Other"].picture.colours)
    report = turning_report(turning, (48, 40), frames, THESIS, (0, 4))
    assert report.failure is None
    rows = json.loads(json_text(report))["frames"]
    assert [row["other_cycles"] for row in rows] == [1000, 1000]
    assert [row["cycles"] for row in rows] == [each.seen.cycles for each in frames]
    left = json.loads(json_text(report))["left_out"]["PixelFlow"]
    # One region of 128x64 a frame: 256 PEs of an EMC with 3 bytes each, at 2 a cycle.
    assert [(each["what"], each["cycles"]) for each in left][2] == ("pixels to the frame buffer", 2 * 384)
    feed = [sum(each.seen.free[at].cycles or 0 for each in frames) for at in (0, 1)]
    assert [each["cycles"] for each in left[:2]] == feed and abs(feed[1] - 4 * feed[0]) <= 8, "800 and 200 MB/s"
    assert all(each.seen.configuring == 1344 for each in frames)


@pytest.mark.slow
def test_a_picture_that_differs_fails_the_study(turning: Turning) -> None:
    def drawer(frame: Frame) -> DrawnFrame:
        picture = draw_frame(frame)
        colours = picture.colours.copy()
        colours[0, 0, 2] ^= 1
        return _drawn(replace(picture, colours=colours), frame)

    frames = list(turn(turning, (0,), THESIS, {"Other": drawer}))
    assert frames[0].wrong == ("Other",)
    assert turning_report(turning, (48, 40), frames, THESIS, (0,)).failure == "pictures differ: frame 0: Other"


@pytest.mark.slow
def test_a_machine_with_arithmetic_of_its_own_may_differ_and_the_report_says_by_how_much(turning: Turning) -> None:
    def drawer(frame: Frame) -> DrawnFrame:
        picture = draw_frame(frame)
        colours = picture.colours.copy()
        colours[0, 0, 2] ^= 1
        return replace(_drawn(replace(picture, colours=colours), frame), own_arithmetic="its colours are its own")

    def same(frame: Frame) -> DrawnFrame:
        return _drawn(draw_frame(frame), frame)

    frames = list(turn(turning, (0,), THESIS, {"Other": drawer, "Third": same}))
    assert frames[0].wrong == () and turning_report(turning, (48, 40), frames, THESIS, (0,)).failure is None
    assert (frames[0].difference("Other").colours, frames[0].difference("Third").colours) == (1, 0)


AWAY = """
size = [24, 20]
frames = 3
interpolation = "affine"
[camera]
eye = [0.5, -6, 1]
look_at = [0.5, 0, 0.5]
[[camera.at]]
frame = 1
look_at = [0.5, -12, 0.5]
[[body]]
patches = "enneper"
tolerance = 1.5
"""


@pytest.mark.parametrize("study", [pytest.param("turning", marks=pytest.mark.slow), "sampling"])
def test_frames_in_which_nothing_is_seen_are_named(study: str, tmp_path: Path, monkeypatch, capsys) -> None:
    """The camera turns away; a line of at most 80 columns has each of the others."""
    monkeypatch.chdir(tmp_path)
    Path("away.toml").write_text(AWAY)
    command = ["study", study, "--scene", "away.toml", "--no-progress", "--width", "80"]
    assert main([*command, "--frames", "0-2"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "2 of 3 frames" in shown
    more = ["-o", "x.gif"] if study == "turning" else []
    assert main([*command, "--frames", "1-2", *more]) == 3
    assert "nothing is seen in any frame of 1-2" in capsys.readouterr().err and not Path("x.gif").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scene", "tea"], "tea has no patches with a tolerance"),
        (["--frames", "3,60"], "--frames: error: turntable has no frame 60 allowed: 0 to 59"),
        (["-o", "frames.jpg"], "name a file that ends in .png or .gif"),
    ],
)
def test_what_cannot_be_turned_is_refused(
    options: list[str], message: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["study", "turning", *options]) != 0
    assert message in " ".join(capsys.readouterr().err.split()) and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_table_of_the_readme_is_what_is_executed(tmp_path: Path, capsys) -> None:
    pytest.importorskip("PIL.Image", reason="pillow (extra: image) is not installed")
    picture = tmp_path / "turntable.gif"
    assert main(["study", "turning", "--cores", "10", "-o", str(picture), "--json", "--quiet"]) == 0
    rows = json.loads(capsys.readouterr().out)["frames"]
    assert [row["frame"] for row in rows] == [str(number) for number in range(60)] and picture.exists()
    printed = table_after(DOCUMENT, MARK)
    wanted = [line.split("|")[1].strip() for line in printed[2:]]
    shown = [[row[key] for key in KEYS] for row in rows if row["frame"] in wanted]
    shown.append(["all 60", *(sum(row[key] for row in rows) if key != "alike_k" else "" for key in KEYS[1:])])
    assert printed == markdown_table(HEADS, shown)
