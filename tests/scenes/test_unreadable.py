"""Do commands that draw, and the page, say what is wrong with folders, damaged scenes and meshes that are cut off?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.simd.errors import InputError
from tessellation.picture import read_model

ROOT = Path(__file__).resolve().parents[2]
POINTS = ["0 0 0", "1.25 0 0", "0 1.25 0", "0 0 1.25"]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
"""A tetrahedron."""
PLY = (
    "ply\nformat {}\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n"
    "property list uchar int vertex_indices\nend_header\n"
)


def obj() -> bytes:
    return "".join([f"v {each}\n" for each in POINTS] + [f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES]).encode()


def off() -> bytes:
    return "\n".join(["OFF", "4 4 6", *POINTS, *(f"3 {a} {b} {c}" for a, b, c in FACES), ""]).encode()


def ply_text() -> bytes:
    return (PLY.format("ascii 1.0") + off().decode().partition("4 4 6\n")[2]).encode()


def ply_binary(order: str = "little") -> bytes:
    mark = "<" if order == "little" else ">"
    points = np.array([each.split() for each in POINTS], f"{mark}f4").tobytes()
    faces = b"".join(b"\3" + np.array(each, f"{mark}i4").tobytes() for each in FACES)
    return PLY.format(f"binary_{order}_endian 1.0").encode() + points + faces


def stl_text() -> bytes:
    corner = "      vertex {}\n".format
    facets = (
        "  facet normal 0 0 0\n    outer loop\n"
        + "".join(corner(POINTS[at]) for at in face)
        + "    endloop\n  endfacet\n"
        for face in FACES
    )
    return ("solid t\n" + "".join(facets) + "endsolid t\n").encode()


def stl_binary() -> bytes:
    points = np.array([each.split() for each in POINTS], "<f4")
    facets = (np.zeros(3, "<f4").tobytes() + points[list(face)].tobytes() + b"\0\0" for face in FACES)
    return b"a tetrahedron".ljust(80) + (4).to_bytes(4, "little") + b"".join(facets)


def glb() -> bytes:
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    points = np.array([each.split() for each in POINTS], float)
    found: bytes = trimesh.Trimesh(points, np.array(FACES), process=False).export(file_type="glb")
    return found


FORMS = {
    "t.obj": obj, "t.off": off, "text.ply": ply_text, "little.ply": ply_binary, "big.ply": lambda: ply_binary("big"),
    "text.stl": stl_text, "binary.stl": stl_binary, "t.glb": glb,
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_mesh_that_is_cut_off_anywhere_is_refused(name: str, tmp_path: Path) -> None:
    """Cut after every fifth byte and each of the last twenty; a file is whole if it still has its last number.

    An OBJ file does not say how long it is.
    """
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    whole, path = FORMS[name](), tmp_path / name
    path.write_bytes(whole)
    assert len(read_model(str(path)).corners) == 4
    for length in (*range(0, len(whole) - 20, 5), *range(len(whole) - 20, len(whole))):
        path.write_bytes(whole[:length])
        try:
            found = read_model(str(path))
        except InputError as error:
            (fault,) = error.faults
            assert fault.place is not None and fault.place.file == str(path) and "pip install" not in (fault.hint or "")
        else:
            assert name == "t.obj" or (len(found.corners) == 4 and length >= len(whole) - len("endsolid t\n"))


@pytest.mark.parametrize("name", ["t.off", "text.ply"])
def test_faces_that_are_declared_and_not_there_are_counted(name: str, tmp_path: Path) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    path = tmp_path / name
    path.write_bytes(FORMS[name]().rpartition(b"3 1 2 3")[0])
    with pytest.raises(InputError, match="the file is cut off: 4 faces declared, 3 triangles there"):
        read_model(str(path))


def test_a_corner_that_is_no_whole_number_is_refused_without_a_warning(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    path = tmp_path / "text.ply"
    path.write_bytes(ply_text().replace(b"0 0 1.25", b"00 1.25").replace(b"3 0 2 1", b"3 0 99999999999999999999 1"))
    with pytest.raises(InputError):
        read_model(str(path))
    assert not recwarn.list


def test_the_library_that_reads_meshes_writes_nothing_on_the_terminal(tmp_path: Path) -> None:
    """In a process of its own: where nobody has set up logging, Python writes warnings on standard error."""
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    path = tmp_path / "t.stl"
    path.write_bytes(stl_text().replace(b"normal 0 0 0", b"normal 0 zero 0"))
    code = "import sys; from tessellation.picture import read_model; print(len(read_model(sys.argv[1]).corners))"
    found = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, cwd=ROOT)
    assert (found.returncode, found.stdout, found.stderr) == (0, "4\n", "")


@pytest.mark.parametrize("damage", [(b"vertex", b"vertx"), (b"outer loop", b"")])
def test_a_facet_of_text_without_its_corners_is_missed(damage: tuple[bytes, bytes], tmp_path: Path) -> None:
    """One of four facets loses all its vertices, or only a word that says nothing."""
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    path = tmp_path / "t.stl"
    path.write_bytes(stl_text().replace(*damage, 3))
    if damage[1]:
        with pytest.raises(InputError, match="the file is cut off: 4 faces declared, 3 triangles there"):
            read_model(str(path))
    else:
        assert len(read_model(str(path)).corners) == 4


def test_a_scene_names_the_mesh_that_is_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    (tmp_path / "t.ply").write_bytes(ply_binary()[:-1])
    scene = tmp_path / "s.toml"
    scene.write_text('[[body]]\nmesh = "t.ply"\n', encoding="utf-8")
    assert main(["render", str(scene), "-o", str(tmp_path / "out.png")]) == 3
    shown = capsys.readouterr().err
    assert "t.ply: error: " in shown and not (tmp_path / "out.png").exists()


def test_letters_of_another_encoding_in_a_remark_are_no_fault(tmp_path: Path) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    path = tmp_path / "t.obj"
    path.write_bytes(b"# caf\xe9\n" + obj())
    assert len(read_model(str(path)).corners) == 4
    path.write_bytes(obj() + b"\0\0")
    with pytest.raises(InputError, match="this is a binary file: it holds a zero byte"):
        read_model(str(path))


DRAWING = {
    "render": ["-o", "out.png"],
    "compare": ["-o", "out.png"],
    "animate": ["-o", "out.gif"],
    "view": ["--no-open"],
}  # fmt: skip


@pytest.mark.parametrize("command", DRAWING)
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("folder", "folder: error: is a folder"),
        ("folder.toml", "folder.toml: error: is a folder"),
        ("folder.obj", "folder.obj: error: is a folder"),
        ("broken.toml", "broken.toml:2:1: error: not TOML"),
        ("binary.toml", "binary.toml:1: error: this is a binary file"),
        ("latin.toml", "latin.toml:1:3: error: not UTF-8 text"),
        ("closed.toml", "closed.toml: error: cannot be read: Permission denied"),
        ("closed.obj", "closed.obj: error: cannot be read: Permission denied"),
    ],
)
def test_what_cannot_be_read_is_bad_input(
    command: str, name: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if name.startswith("closed"):
        if not hasattr(os, "geteuid"):
            pytest.skip("no permissions of this kind here")
        _close(tmp_path / name, monkeypatch)
    elif name.startswith("folder"):
        (tmp_path / name).mkdir()
    else:
        content = {"broken": b"size = [40, 30\n[[", "binary": b"a\0b", "latin": b"# \xe9\n"}[name.partition(".")[0]]
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    if command == "animate" and name.endswith(".obj"):
        pytest.skip("a mesh has one frame, which is said before it is read")
    if name.endswith(".obj") and command != "view":
        pytest.importorskip("trimesh", reason="trimesh is not installed")
    assert main([command, name, *DRAWING[command]]) == 3
    shown = capsys.readouterr().err
    assert shown.startswith(what) and "internal" not in shown
    assert not any(tmp_path.glob("out.*"))


def _close(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file that cannot be opened, by root neither."""
    path.write_text("size = [40, 30]\n", encoding="utf-8")
    path.chmod(0)
    ordinary = Path.open

    def opened(self: Path, *words: object, **named: object) -> object:
        if self.name == path.name:
            raise PermissionError(13, "Permission denied")
        return ordinary(self, *words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "open", opened)
