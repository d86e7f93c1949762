"""Does everything that is read by path come out of a zip archive, as it does of a folder?"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]

COMMANDS = """
import contextlib, io
from pixelflow.cli.main import main
from tessellation.scenes import SceneSource, load_scene
assert ".zip" in main.__globals__["__file__"]

for words in (
    "run panel_sum --preset tiny --engine rows",
    "run blocks.mc --machine larrabee",
    "run mandelbrot --timing-only",
    "about --language",
    "examples show carries",
    "kernels vector_add --preset tiny",
    "debug mandelbrot --cmd mandelbrot.look",
):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(words.split())
    print(words, code, len(out.getvalue()) > 100)
for name in ("teapot", "glass"):
    print(name, 0, len(load_scene(name, SceneSource()).frame.draws) > 0)
"""


def archive(path: Path) -> Path:
    """Return an archive of the packages, with what a wheel says of its machines."""
    with zipfile.ZipFile(path, "w") as made:
        for file in (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*"))):
            if file.is_file() and "__pycache__" not in file.parts:
                made.write(file, file.relative_to(ROOT).as_posix())
        lines = [
            f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in places.items())
            for group, places in PROJECT["project"]["entry-points"].items()
        ]
        made.writestr("pixelflow_sim-0.dist-info/entry_points.txt", "".join(lines))
        made.writestr("pixelflow_sim-0.dist-info/METADATA", "Name: pixelflow-sim\nVersion: 0\n")
    return path


@pytest.mark.slow
def test_commands_find_their_files_in_an_archive(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    others = [each for each in sys.path if "site-packages" in each]
    path = os.pathsep.join([str(archive(tmp_path / "pixelflow.zip")), *others])
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(temporary)}
    script = tmp_path / "script.py"
    script.write_text(f"import sys\nsys.path[:] = [each for each in sys.path if each != {str(ROOT)!r}]\n" + COMMANDS)
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 9 and all(line.endswith(" 0 True") for line in lines), (lines, done.stderr)
    assert not list(temporary.iterdir()), "what was unpacked goes with the process"
