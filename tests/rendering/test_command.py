"""Does `pixelflow render` draw what it says, and refuse what it cannot draw?"""

import json
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.main import main

pytest.importorskip("PIL")

PLY = """\
ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 {}
"""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def pixels(path: Path) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image)


def test_a_mesh(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("trimesh")
    source, out = tmp_path / "t.obj", tmp_path / "t.png"
    source.write_text(TETRAHEDRON)
    stats = tmp_path / "s.json"
    assert main(["render", str(source), "-o", str(out), "--size", "128x96", "--stats", str(stats), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    image = pixels(out)
    assert image.shape == (96, 128, 3) and len(np.unique(image.reshape(-1, 3), axis=0)) > 10
    assert found["equals_reference"] and found["tessellation_cycles"] is None and found["composition_cycles"] is None
    assert found["cycles"] == sum(region["cycles"] for region in found["nodes"][0]["regions"])
    runs = json.loads(stats.read_text())["runs"]
    assert found["cycles"] == sum(run["statistics"]["run.cycles"] for run in runs)


def test_several_nodes_draw_the_same_picture(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for nodes in ("1", "3"):
        out = str(tmp_path / f"{nodes}.png")
        assert main(["render", "enneper", "--samples", "4", "--size", "100x80", "-o", out, "--nodes", nodes, "-q"]) == 0
    assert np.array_equal(pixels(tmp_path / "1.png"), pixels(tmp_path / "3.png"))


@pytest.mark.parametrize(
    ("name", "text", "code", "message"),
    [
        ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", 3, "a.obj"),
        ("a.obj", "", 3, "a.obj"),
        ("a.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 3, "vertex 1 of 3 is not a finite point"),
        ("a.ply", "junk", 3, "a.ply: error: not a mesh that can be read"),
        ("a.ply", PLY.format(7), 3, "triangle 1 names a vertex that does not exist; there are 3"),
        ("a.ply", PLY.format(-1), 3, "triangle 1 names a vertex that does not exist; there are 3"),
        ("a.obj", "v 0 0 1e300\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 3, "vertex 1 of 3 is not a finite point"),
    ],
)
def test_damaged_meshes(tmp_path: Path, capsys, name: str, text: str, code: int, message: str) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / name).write_text(text)
    out = tmp_path / "o.png"
    assert main(["render", str(tmp_path / name), "-o", str(out)]) == code
    shown = capsys.readouterr().err
    assert message in shown and "Traceback" not in shown
    assert not out.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["teapot", "-o", "x.jpg"],
        ["teapot", "-o", "x.png", "--size", "0x9"],
        ["teapot", "-o", "x.png", "--size", "640"],
        ["teapot", "-o", "x.png", "--nodes", "0"],
        ["teapot", "-o", "x.png", "--nodes", "41"],
        ["mesh.obj", "-o", "x.png", "--samples", "4"],
    ],
)
def test_usage(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", *words]) == 2
    assert not list(tmp_path.iterdir())


def test_a_pixel_that_differs_fails_the_command(tmp_path: Path, monkeypatch, capsys) -> None:
    import pixelflow.drawing as drawing

    honest = drawing.draw

    def off_by_one(*args):
        picture = honest(*args)
        picture.colours[3, 4, 0] ^= 1
        return picture

    monkeypatch.setattr(drawing, "draw", off_by_one)
    out = str(tmp_path / "x.png")
    assert main(["render", "enneper", "--samples", "3", "--size", "64x48", "-o", out]) == 1
    assert "PIXELS DIFFER" in capsys.readouterr().out
