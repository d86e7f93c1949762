"""Does every machine work where the base alone is installed, and say which extra a command lacks?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

PACKAGE = "pixelflow-sim"


def required(name: str) -> set[str]:
    """The names of a distribution and of all that it needs without any extra."""
    found = {name}
    for each in distribution(name).requires or ():
        if "extra ==" not in each:
            found |= required(re.match(r"[\w.-]+", each)[0])
    return found


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> dict[str, str]:
    """An environment whose Python finds this tree, its entry points and what the base install brings, nothing else."""
    folder = tmp_path_factory.mktemp("base")
    for name in required(PACKAGE):
        found = distribution(name)
        for top in {each.parts[0] for each in found.files or ()}:
            if top != ".." and (name != PACKAGE or top.endswith(".dist-info")) and not (folder / top).exists():
                (folder / top).symlink_to(found.locate_file(top))
    assert {"numpy", "bitarray", "rich", "pygments"} <= {each.name for each in folder.iterdir()}
    path = os.pathsep.join(map(str, (folder, repository)))
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "COLUMNS": "120"}


def called(base: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-S",
        "-c",
        "from pixelflow.cli.main import process; raise SystemExit(process())",
        *words,
    ]
    return subprocess.run(command, env=base, capture_output=True, text=True, check=False)


def test_nothing_else_is_found(base: dict[str, str]) -> None:
    code = "from importlib.util import find_spec; print([find_spec(each) for each in ('llvmlite', 'PIL', 'pytest')])"
    found = subprocess.run([sys.executable, "-S", "-c", code], env=base, capture_output=True, text=True, check=True)
    assert found.stdout == "[None, None, None]\n"


@pytest.mark.slow
def test_four_machines_draw_a_scene(base: dict[str, str]) -> None:
    found = called(base, "compare", "enneper", "--machine", "all", "--size", "8x6")
    assert found.returncode == 0, found.stderr
    assert all(name in found.stdout for name in ("PixelFlow", "Larrabee", "ATTILA", "Gen6"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("isa", "--machine", "gen6", "pln"), "pln", marks=pytest.mark.slow),
        pytest.param(("isa", "--machine", "attila", "dp3"), "DP3", marks=pytest.mark.slow),
        pytest.param(("isa", "--machine", "larrabee", "vmadd132ps"), "vmadd132ps", marks=pytest.mark.slow),
        pytest.param(("verify", "attila", "registers"), "registers", marks=pytest.mark.slow),
        (("run", "triangle"), "15 cycles"),
    ],
)
def test_a_command_of_a_machine_works(base: dict[str, str], words: tuple[str, ...], said: str) -> None:
    found = called(base, *words)
    assert found.returncode == 0, found.stderr
    assert said in found.stdout and "internal error" not in found.stderr


@pytest.mark.parametrize(
    ("words", "code", "extra"),
    [
        pytest.param(("view", "--no-open"), 3, "view", marks=pytest.mark.slow),
        (("run", "triangle", "--engine", "compiled"), 3, "fast"),
    ],
)
def test_a_missing_extra_is_named(base: dict[str, str], words: tuple[str, ...], code: int, extra: str) -> None:
    found = called(base, *words)
    assert found.returncode == code and re.search(rf"\b{extra}\b", found.stderr)
