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
    ("camera", "message"),
    [
        ("eye=1/2", "eye: expected X/Y/Z, three numbers from -1000000.0 to 1000000.0; found '1/2'"),
        ("eye=1/2/nan,look_at=0/0/0", "eye: expected X/Y/Z"),
        ("eye=1/2/3", "eye without look_at; eye is the camera's place"),
        ("eye=1/2/3,look_at=1/2/3", "eye is look_at; it must look at another place"),
        ("eye=1/2/3,look_at=0/0/0,azimuth=3", "azimuth with eye; a camera is at its eye or steps back"),
        ("near=1", "near without eye"),
        ("eye=1/2/3,look_at=0/0/0,near=0", "near: expected a number from 1e-06"),
        ("zoom=2,zoom=3", "zoom: expected one of each"),
        ("look=2", "'look' is nothing of a camera; did you mean look_at?"),
    ],
)
def test_a_camera_that_cannot_be_is_refused(camera: str, message: str, capsys) -> None:
    assert main(["render", "nut", "-o", "x.png", "--camera", camera]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("option", "hint"), [("--camera zoom=2", "[camera]"), ("--floor", "[[body]]")])
def test_the_camera_and_the_floor_of_a_scene_file_are_the_files_own(option: str, hint: str, capsys) -> None:
    assert main(["render", "still", "-o", "x.png", *option.split()]) == 2
    assert hint in capsys.readouterr().err


@pytest.mark.slow
def test_four_samples_a_pixel_and_a_floor(tmp_path: Path, capsys) -> None:
    """The camera goes by the model alone, so its pixels are the same, except for those at its edges."""
    told = ("render", "nut", "--size", "32x24", "--json", "-q", "--antialias", "4")
    for name, more in (("with", ["--floor"]), ("without", [])):
        assert main([*told, *more, "-o", str(tmp_path / f"{name}.png")]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["samples"] == 4 and found["equals_reference"]
    floor, alone = (pixels(tmp_path / f"{name}.png").astype(int) for name in ("with", "without"))
    model = (alone != (222, 224, 230)).any(-1)
    assert 0.9 < (floor[model] == alone[model]).all(-1).mean() < 1
    assert (floor[0] == alone[0]).all() and (floor[-1] < 200).all() and np.ptp(floor[-1], axis=-1).max() < 10


@pytest.mark.parametrize(
    "words",
    [
        ["teapot", "-o", "x.jpg"],
        ["teapot", "-o", "x.png", "--size", "0x9"],
        ["teapot", "-o", "x.png", "--size", "640"],
        ["teapot", "-o", "x.png", "--nodes", "0"],
        ["teapot", "-o", "x.png", "--nodes", "41"],
        ["mesh.obj", "-o", "x.png", "--samples", "4"],
        ["enneper", "-o", "x.png", "--projection", "emc", "--floor"],
        ["enneper", "-o", "x.png", "--projection", "emc-words", "--antialias", "4"],
    ],
)
def test_usage(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", *words]) == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["render", "compare"])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pane.toml"], "pane: blending in the order of drawing, stencil or other tests"),
        (["tea", "--preset", "tiny"], "a region of 128x64 pixels needs as many PEs, the node has 256"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_patches_are_tessellated(
    tmp_path: Path, monkeypatch, capsys, command: str, words: list[str], message: str
) -> None:
    pytest.importorskip("trimesh")
    from tessellation.scenes import scene_load as load

    monkeypatch.setattr(load, "kept_model", lambda *_, **__: pytest.fail("it was tessellated before"))
    scene = '[[body]]\npatches = "teapot"\n[[body]]\nname = "pane"\nmesh = "floor"\nblend = "over"\nalpha = 90\n'
    (folder := tmp_path / "scenes").mkdir()
    (folder / "pane.toml").write_text(scene)
    words = [str(folder / each) if each.endswith(".toml") else each for each in words]
    alone = ["--machine", "pixelflow"] * (command == "compare")  # beside others it is left out, with its reason
    assert main([command, *words, *alone, "-o", str(tmp_path / "x.png")]) == 3
    assert message in capsys.readouterr().err and list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize(
    "words",
    [
        ["render", "enneper", "-o", "x.png"],
        pytest.param(["render", "enneper", "-o", "x.png", "--machine", "larrabee"], marks=pytest.mark.slow),
        pytest.param(["compare", "enneper"], marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_a_terminal_sees_what_is_being_done_in_one_line(tmp_path: Path, monkeypatch, capsys, words: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    words = [*words, "--samples", "4", "--size", "64x48"]
    assert main(words) == 0
    line = capsys.readouterr().err
    assert "\r\x1b[2K" in line and "4 patches" in line
    assert main([*words, "--no-progress"]) == 0
    assert "4 patches" in capsys.readouterr().err.splitlines()[0]
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_rates_of_the_image_composition_network_are_set_as_other_values_are(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["render", "enneper", "--samples", "4", "--size", "128x64", "-o", "x.png"]
    Path("slow.toml").write_text("[composition]\nemc_bytes_per_cycle = 1\n")
    found = []
    for more in ([], ["--config", "slow.toml", "-D", "composition.node_cycles=7"]):
        assert main([*words, "--nodes", "3", *more, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["composition"])
    assert [each["transfer_cycles"] for each in found] == [256 * 6 // 2, 256 * 6]
    assert found[0]["rates"][:2] == ["emc_bytes_per_cycle 2, invented", "node_cycles 2, invented"]
    assert [each.split()[:2] for each in found[1]["rates"][:2]] == [
        ["emc_bytes_per_cycle", "1,"],
        ["node_cycles", "7,"],
    ]
    assert "slow.toml:2" in found[1]["rates"][0] and "-D" in found[1]["rates"][1]
    assert main([*words, "--nodes", "3", "-D", "composition.node_cycels=7"]) == 3
    assert "composition.node_cycles?" in capsys.readouterr().err
    assert main([*words, "-D", "composition.node_cycles=7"]) == 0
    assert "composition.node_cycles (set " in capsys.readouterr().err


def test_values_on_which_no_picture_depends_are_named(tmp_path: Path, monkeypatch, capsys) -> None:
    """No results go to other nodes, while patches are written to texture memory, and triangles load the LEE."""
    monkeypatch.chdir(tmp_path)
    words = ["render", "enneper", "--samples", "2", "--size", "32x24", "-o", "x.png"]
    keys = ["sdram.trp_cycles=2", "gni.mb_per_second=400", "extra.lee_start=2", "composition.node_cycles=7"]
    for nodes, vain in (("1", ["composition", "gni"]), ("2", ["gni"])):
        assert main([*words, "--nodes", nodes, *(word for key in keys for word in ("-D", key))]) == 0
        notes = [line.split()[1] for line in capsys.readouterr().err.splitlines() if "made no difference" in line]
        assert sorted(each.partition(".")[0] for each in notes) == vain


def test_a_pixel_that_differs_fails_the_command(tmp_path: Path, monkeypatch, capsys) -> None:
    from tessellation.rendering import pictures as drawing

    honest = drawing.draw_frame

    def off_by_one(*args):
        picture = honest(*args)
        picture.colours[3, 4, 0] ^= 1
        return picture

    monkeypatch.setattr(drawing, "draw_frame", off_by_one)
    out = str(tmp_path / "x.png")
    assert main(["render", "enneper", "--samples", "3", "--size", "64x48", "-o", out]) == 1
    assert "PIXELS DIFFER" in capsys.readouterr().out


@pytest.mark.parametrize(("scene", "textured"), [("cutout", True), ("layers", False)])
def test_work_of_gps_on_textures_is_left_out_by_name(scene: str, *, textured: bool, capsys) -> None:
    assert main(["compare", scene, "--size", "9x7", "--machine", "pixelflow", "--json"]) == 0
    (side,) = json.loads(capsys.readouterr().out)["machines"]
    assert ("textures" in {each["what"] for each in side["left_out"]}) == textured
