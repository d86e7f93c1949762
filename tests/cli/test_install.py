"""Installed from a wheel and from a source distribution, does the main job run in any folder, with all data files?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import pixelflow

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]

needs_a_clone = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no clone: nothing says what is tracked")


def environment(folder: Path) -> Path:
    """Return the folder of programs of a new virtual environment."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def carried_out(command: list[object], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program elsewhere, with nothing of this tree on its path."""
    outside = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PIP_CONSTRAINT")}
    words = [str(each) for each in command]
    return subprocess.run(words, cwd=folder, env=outside, capture_output=True, text=True, timeout=600)


def installed(programs: Path, *packages: object) -> None:
    """Install by pip; skip where it reaches no index."""
    python = programs / "python"
    result = carried_out([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages], ROOT)
    if result.returncode and "No matching distribution" in result.stderr:
        pytest.skip(f"pip finds no packages: {result.stderr.strip().splitlines()[-1]}")
    assert result.returncode == 0, result.stderr


def tracked() -> set[str]:
    """Return the files of the packages that the clone tracks, by their paths."""
    listed = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.splitlines())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    programs = environment(folder / "maker")
    installed(programs, *PROJECT["build-system"]["requires"])
    made = carried_out([programs / "python", "-m", "hatchling", "build", "-d", folder], ROOT)
    assert made.returncode == 0, made.stderr
    return folder


@needs_a_clone
@pytest.mark.slow
def test_both_hold_every_tracked_file_of_the_packages(built: Path) -> None:
    (wheel,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
    assert tracked() <= set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(source) as archive:
        assert tracked() <= {name.partition("/")[2] for name in archive.getnames()}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["*.whl", "*.tar.gz"], ids=["wheel", "source"])
def test_the_main_job_runs_in_an_empty_folder(built: Path, tmp_path: Path, form: str) -> None:
    (package,) = built.glob(form)
    programs = environment(tmp_path / "environment")
    installed(programs, f"{package}[image]")
    elsewhere = tmp_path / "empty"
    elsewhere.mkdir()
    command = ["tessellate", "teapot", "-o", "teapot.obj", "--preview", "teapot.png"]
    done = carried_out([programs / "pixelflow", *command], elsewhere)
    assert done.returncode == 0, done.stderr
    assert "8,192 vertices, 14,280 triangles" in done.stdout
    mesh = (elsewhere / "teapot.obj").read_text(encoding="utf-8")
    assert sum(line.startswith("v ") for line in mesh.splitlines()) == 8192
    assert (elsewhere / "teapot.png").read_bytes()[:4] == b"\x89PNG"
    where = carried_out([programs / "python", "-c", "import pixelflow; print(pixelflow.__file__)"], elsewhere)
    assert str(tmp_path) in where.stdout


def test_users_need_neither_linters_nor_opengl() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    names = {each.split(">")[0].split("=")[0] for each in extras["test"]}
    assert not names & {"ruff", "mypy", "moderngl"}
    assert [each.split(">")[0].split("=")[0] for each in (*extras["gl"], *extras["lint"])] == [
        "moderngl",
        "mypy",
        "ruff",
    ]


def test_a_release_has_one_version() -> None:
    """Until it has a date it is "Unreleased" in the list of changes."""
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    heads = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None and cited[1] == pixelflow.__version__
    assert heads[0] == "Unreleased" or heads[0].split()[0] == pixelflow.__version__


def test_no_python_is_shut_out_from_above() -> None:
    """Later Pythons are tried, not refused: what is known of them is what their wheels and `.ci/run` say."""
    assert PROJECT["project"]["requires-python"] == ">=3.11"
    assert sys.version_info >= (3, 11)
