"""Are sizes of tiles executed each, and is what an account leaves out bounded as worked out by hand?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from larrabee_bridge.pipeline.account import LIGHT, line_wait
from larrabee_bridge.pipeline.picture import draw_on_larrabee
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.cli.main import main
from pixelflow.config import THESIS
from pixelflow.simd.drawing import Bound, DrawnFrame, Frame, FreeWork
from tessellation.rendering.machine import draw_on_pixelflow
from tessellation.scenes import sized

FRAME = Frame(150, 100, (10, 20, 30), (sized(150, 100, count=90, pixels=30, seed=2),))
"""On six tiles of 64x64 and four regions; no two triangles share a corner, and all cover some pixel."""


def test_each_size_of_tiles_is_what_the_command_draws_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text("size = [150, 100]\n[[generated]]\nfamily='sized'\ncount=20\npixels=90\n", "utf-8")
    found = {}
    for tile in (32, 64, 128):
        assert main(["compare", "s.toml", "--cores", "3", "--tile", str(tile), "--json"]) == 0
        found[tile] = json.loads(capsys.readouterr().out)
    for tile, each in found.items():
        (side,) = (side for side in each["machines"] if side["machine"] == "Larrabee")
        assert each["tile_sizes"] == found[32]["tile_sizes"]
        (row,) = (row for row in each["tile_sizes"]["tiles"] if row["tile"] == tile)
        assert set(row) == {"tile", "cycles", "next_after", "imbalance", "waiting"}
        assert all(row[key] == side[key] for key in row if key != "tile")
    tiles = found[64]["tile_sizes"]
    assert tiles["best_latency"] == min(tiles["tiles"], key=lambda row: row["cycles"])["tile"]
    assert tiles["best_throughput"] == min(tiles["tiles"], key=lambda row: row["next_after"])["tile"]
    assert main(["compare", "s.toml", "--machine", "pixelflow", "--json"]) == 0
    assert "tile_sizes" not in json.loads(capsys.readouterr().out), "a machine that is not there has no tiles"


def left_out(side: DrawnFrame) -> dict[str, FreeWork]:
    return {each.what: each for each in side.free}


def test_what_larrabee_leaves_out_by_hand() -> None:
    side = draw_on_larrabee(FRAME)
    found = left_out(side)
    assert line_wait(CoreConfig(caches=True)) == 15 + 5 + 5 + 300 + 2 == 327
    # Four threads with 8 bytes for each of six tiles: a line each. One PrimSet.
    assert found["lists of tiles, cleared"].cycles == 4 * (1 + 327)
    # 90 triangles are six times sixteen; 6 + 3 x 4 vectors of 16 lines and a store; 48 lines of the L2 slice.
    assert found["corners' values side by side"].cycles == 6 * (48 * 15 + 18 * (16 + 1))
    # 270 corners are seventeen times sixteen; 105 operations of 4 cycles, eight lines.
    assert sum(LIGHT.values()) == 105
    assert found["light, texture coordinates, 1 / w"].cycles == 17 * (105 * 4 + 8 * 328)
    written = sum(count for name, count in side.traffic.items() if name.endswith("written"))
    lines = -(-written // 64)
    assert found["lines written back"].cycles == 2 * lines
    assert {each.what for each in side.free if each.bound is Bound.OPEN} == {
        "triangles off the screen", "commands and state"
    }  # fmt: skip


def test_cores_share_what_can_be_shared() -> None:
    one, four = (left_out(draw_on_larrabee(FRAME, parts=parts)) for parts in (1, 4))
    light = "light, texture coordinates, 1 / w"
    assert four[light].cycles == 5 * (105 * 4 + 8 * 328), "of seventeen times sixteen the first core has five"
    assert four["lists of tiles, cleared"].cycles == one["lists of tiles, cleared"].cycles, "one PrimSet, one core"


def test_what_an_option_lets_the_host_do_is_open() -> None:
    free = left_out(draw_on_larrabee(FRAME, free_setup=True))
    assert free["vertices, bins and planes"].cycles is None and "lists of tiles, cleared" not in free
    ideal = left_out(draw_on_larrabee(FRAME, ideal_memory=True))
    assert ideal["memory"].bound is Bound.OPEN and "lines written back" not in ideal
    assert ideal["lists of tiles, cleared"].cycles == 4


def test_what_pixelflow_leaves_out_by_hand() -> None:
    side = draw_on_pixelflow(FRAME)
    feed = [each.cycles for each in side.free if each.bound is Bound.FLOOR]
    sent = side.traffic["instructions to the nodes"]
    assert feed == [-(-sent // 8), -(-sent // 2)], "800 and 200 MB/s at 100 MHz"
    # 256 PEs of an EMC, 3 bytes of colour, over so many bytes a cycle.
    each = -(-256 * 3 // THESIS.composition.emc_bytes_per_cycle)
    assert left_out(side)["pixels to the frame buffer"].cycles == 4 * each
    two = left_out(draw_on_pixelflow(FRAME, parts=2))
    assert "pixels to the frame buffer" not in two, "the image composition network is in the picture's time"
    supplied = draw_on_pixelflow(FRAME, config=replace(THESIS, igc=replace(THESIS.igc, supply=800)))
    assert not any(each.bound is Bound.FLOOR for each in supplied.free) and supplied.cycles >= side.cycles


def test_the_object_lists_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = tmp_path / "s.toml"
    scene.write_text("size = [40, 30]\n[[generated]]\nfamily='sized'\ncount=5\npixels=20\n", encoding="utf-8")
    assert main(["compare", str(scene), "--json"]) == 0
    for side in json.loads(capsys.readouterr().out)["machines"]:
        for each in side["left_out"]:
            assert (each["cycles"] is None) == (each["bound"] == "no bound") and each["why"]
            assert (each["standing"] == "-") == (each["cycles"] is None) and each["of"]
