"""Do threads draw what 64-bit integers draw?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gen6_bridge.drawing import draw_on_gen6
from gen6_bridge.drawing.rasterizer import pixel_threads
from pixelflow.cli.main import main
from pixelflow.simd.drawing import FAR, Blend, Draw, Frame, State, Texture, covered, draw_frame, snap
from pixelflow.simd.errors import InputError
from tessellation.scenes import SceneSource, load_scene

WIDTH, HEIGHT = 40, 24


def triangles(seed: int, count: int = 12):
    source = np.random.default_rng(seed)
    points = source.uniform(-8, 48, (count, 3, 2))
    coordinates = source.uniform(-40, 40, (count, 3, 2))
    return snap(points, source.uniform(0, 1, (count, 3)), source.integers(0, 256, (count, 3, 3)), coordinates)


def texture(seed: int) -> Texture:
    return Texture(np.random.default_rng(seed).integers(0, 256, (16, 8, 4)).astype(np.uint8))


@pytest.mark.parametrize("seed", range(4))
def test_triangles_with_and_without_a_texture_are_the_references(seed: int) -> None:
    draws = (Draw("plain", triangles(seed)), Draw("textured", triangles(seed + 9), State(texture=texture(seed))))
    frame = Frame(WIDTH, HEIGHT, (9, 99, 199), draws)
    drawn = draw_on_gen6(frame, parts=2)
    assert drawn.picture.equals(draw_frame(frame)) and drawn.cycles > 0
    assert set(drawn.stages) == {"plain", "textured"} and sum(drawn.stages.values()) == drawn.cycles


@pytest.mark.parametrize("name", ["enneper", "herd"])
def test_scenes_are_the_references(name: str) -> None:
    samples = 3 if name == "enneper" else None
    frame = load_scene(name, SceneSource(size=(48, 32), patch_samples=samples)).frame
    assert draw_on_gen6(frame).picture.equals(draw_frame(frame))


def test_subspans_cover_what_is_visible_once() -> None:
    draw = Draw("one", triangles(1, 1))
    threads = pixel_threads(draw, np.full((HEIGHT, WIDTH), FAR))
    places = np.stack([threads.rows[threads.visible], threads.columns[threads.visible]])
    count = np.zeros((HEIGHT, WIDTH), np.int64)
    np.add.at(count, tuple(places), 1)
    assert (count == covered(draw.triangles, WIDTH, HEIGHT)).all()
    assert (threads.there.reshape(-1, 4).all(axis=1) == threads.there.reshape(-1, 4).any(axis=1)).all()
    assert threads.there[threads.visible].all()


def test_a_frame_without_visible_pixels_takes_nothing() -> None:
    drawn = draw_on_gen6(Frame(8, 8, (1, 2, 3), (Draw("none", triangles(1, 0)),)))
    assert drawn.cycles == 0 and (drawn.picture.colours == (1, 2, 3)).all()


def test_more_units_take_less_and_draw_the_same() -> None:
    frame = Frame(WIDTH, HEIGHT, (0, 0, 0), (Draw("all", triangles(3, 30)),))
    one, three = (draw_on_gen6(frame, parts=parts) for parts in (1, 3))
    assert three.cycles < one.cycles and three.picture.equals(one.picture) and three.work == one.work


def test_states_without_a_shader_are_refused() -> None:
    draw = Draw("glass", triangles(1), State(blend=Blend.OVER, alpha=9))
    with pytest.raises(InputError, match="draw glass: Gen6 has no shader here"):
        draw_on_gen6(Frame(8, 8, (0, 0, 0), (draw,)))
    with pytest.raises(InputError, match="one sample a pixel"):
        draw_on_gen6(Frame(8, 8, (0, 0, 0), (), samples=4))


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "enneper.png"
    assert main(["render", "enneper", "--machine", "gen6", "--size", "32x24", "--eus", "3", "-o", str(picture)]) == 0
    assert "every pixel equal" in capsys.readouterr().out and picture.stat().st_size > 0


def test_the_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "gen6", "--rounds", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["gen6"]
    assert found["operations"] == 400 * 64 * 16 and set(found["seconds"]) == {"numpy", "native code"}


SOURCE = """.data g10 F 1.0, 2.0
    add (8) g20<1>F g10<8,8,1>F 0.5F {align1}
    nop
"""


def test_run_assemble_and_disassemble(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, assembled = tmp_path / "half.g6a", tmp_path / "half.mco"
    source.write_text(SOURCE)
    assert main(["asm", "--machine", "gen6", str(source), "-o", str(assembled)]) == 0
    assert main(["dis", "--machine", "gen6", str(assembled)]) == 0
    assert "add(8) g20<1>F g10<8,8,1>F 0.5F { align1 WE_normal 1Q };\nnop ;" in capsys.readouterr().out
    for program in (source, assembled):
        assert main(["run", "--machine", "gen6", str(program), "-D", "caches=false", "-D", "count=3"]) == 0
        assert "3 threads on 1 unit" in capsys.readouterr().out
    assert main(["isa", "--machine", "gen6", "pln"]) == 0 and "Plane:" in capsys.readouterr().out


def test_a_broken_rule_is_a_warning_and_fails_a_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "wide.g6a"
    source.write_text("mov (4) g20<1>F g10<8,8,1>F\n")
    assert main(["asm", "--machine", "gen6", str(source), "--check"]) == 1
    assert "S1" in capsys.readouterr().err
    source.write_text("mov (4) g20<1>F g10<4,4,1>\n")
    assert main(["asm", "--machine", "gen6", str(source)]) == 3
    assert "expected a type" in capsys.readouterr().err
