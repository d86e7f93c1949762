"""Are lanes lit, by the size of triangles, those that can be counted by hand?"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from gen6_bridge.compare import ways
from pixelflow.cli.main import main
from pixelflow.simd.comparison.triangle_sizes import Way, size_rows
from pixelflow.simd.drawing import Draw, Frame, snap
from pixelflow.simd.lanes import AUTO, choose
from pixelflow.simd.machine import machine_named

GEN6 = list(ways({}, None))


def way(name: str, **told: object) -> Way:
    machine = machine_named(name)
    assert machine.draw is not None
    return Way(machine.title, partial(machine.draw, **told))


MACHINES = [*GEN6, way("larrabee"), way("pixelflow", engine=choose(AUTO).engine)]


def triangle(*corners: tuple[float, float]) -> Draw:
    points = np.array([corners], float)
    return Draw("one", snap(points, np.full((1, 3), 0.5), np.full((1, 3, 3), 99)))


SMALL = triangle((2, 2), (3.9, 2), (2, 3.9))
"""Covers one pixel, (2, 2): the centre of its neighbours, 3.5 + 2.5, is past the edge x + y = 5.9."""
WHOLE = triangle((0, 0), (64, 0), (0, 64))
"""Covers a picture of 32x32 pixels."""


def test_one_pixel_lights_one_lane() -> None:
    (row,) = size_rows(Frame(32, 32, (0, 0, 0), (SMALL,)), MACHINES)
    assert (row.triangles, row.pixels, row.title) == (1, 1, "1 to 3")
    lit = {name: row.lit(name) for name in row.sides}
    assert lit == {"Gen6 SIMD8": 1 / 8, "Gen6 SIMD16": 1 / 16, "Larrabee": 1 / 16, "PixelFlow": 1 / 8192}


def test_a_whole_picture_lights_all_lanes_but_pixelflows() -> None:
    (row,) = size_rows(Frame(32, 32, (0, 0, 0), (WHOLE,)), MACHINES)
    assert row.pixels == 1024 and row.title == "1,024 and more"
    assert [row.lit(name) for name in row.sides] == [1, 1, 1, 1 / 8]
    # The same instructions on as many channels: the pipe is held as long, in twice as many threads.
    eight, sixteen = (row.sides[f"Gen6 SIMD{width}"] for width in (8, 16))
    assert eight.work == sixteen.work and sum(eight.mix.values()) == 2 * sum(sixteen.mix.values())


def test_triangles_go_to_their_sizes_and_are_drawn_alone() -> None:
    rows = list(size_rows(Frame(32, 32, (0, 0, 0), (WHOLE, SMALL)), GEN6))
    assert [(row.least, row.pixels) for row in rows] == [(1, 1), (1024, 1024)]
    small = rows[0].sides["Gen6 SIMD16"]
    # Each of 24 instructions but the write holds the pipe, of sixteen channels, for four cycles: sixteen lanes a cycle.
    assert rows[0].paid("Gen6 SIMD16") == small.work * 4 and small.work == 4 * (sum(small.mix.values()) - 1)
    assert (small.picture.colours[2, 2] == 99).all() and (small.picture.colours == 99).sum() == 3


@pytest.mark.slow
def test_the_table_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "sizes.toml"
    families = "".join(f"[[generated]]\nfamily='sized'\ncount=4\npixels={pixels}\n" for pixels in (2, 200))
    scene.write_text("size = [64, 48]\n" + families)
    told = ["compare", str(scene), "--machine", "gen6", "--machine", "larrabee"]
    assert main([*told, "--explain", "sizes"]) == 0
    shown = capsys.readouterr().out
    assert "lanes lit" in shown
    assert main([*told, "--json", "--eu", "channels=8"]) == 0
    found = json.loads(capsys.readouterr().out)["by_triangle_size"]
    rows = found["rows"]
    assert found["standings"]["Larrabee"] == {"lanes lit": "executed", "busy cycles x lanes": "invented"}
    assert sum(row["triangles"] for row in rows) <= 8
    for row in rows:
        machines = row["machines"]
        assert set(machines) == {"Gen6 SIMD8", "Gen6 SIMD16", "Larrabee"}
        assert machines["Gen6 SIMD8"]["lanes_lit"] >= machines["Gen6 SIMD16"]["lanes_lit"] > 0
    assert rows[0]["pixels"][0] < rows[-1]["pixels"][0]


@pytest.mark.slow
def test_a_comparison_without_gen6_has_the_sizes_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "sizes.toml"
    scene.write_text("size = [64, 48]\n[[generated]]\nfamily='sized'\ncount=4\npixels=40\n")
    assert main(["compare", str(scene), "--machine", "attila", "--machine", "larrabee", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["by_triangle_size"]["rows"]
    assert row["triangles"] == 4 and row["pixels"] == [16, 63] and set(row["machines"]) == {"ATTILA", "Larrabee"}
