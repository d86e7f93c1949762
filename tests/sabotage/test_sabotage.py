"""Would anybody notice? Changes made on purpose, one at a time, in a copy of the tree: does ``verify`` see them, and do
the tests of the room?

The table of changes is `sabotages.toml`. Each takes a minute or so, so they run with ``-m slow``; that the text of each
still stands in the tree is looked at always.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TREE = HERE.parents[1]
SABOTAGES = {each["name"]: each for each in tomllib.loads((HERE / "sabotages.toml").read_text())["sabotage"]}
PARTS = ("pixelflow", "microcode", "tessellation", "larrabee_bridge", "tests", "pyproject.toml")
LONGEST = 900
"""Seconds until what runs on and on counts as noticed."""


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SABOTAGES)
def test_what_is_changed_stands_once_in_the_tree(name):
    each = SABOTAGES[name]
    assert text_of(TREE / each["file"]).count(each["old"]) == 1
    assert each["old"] != each["new"]
    assert each["changes"] in ("bits", "time", "bits and time", "report")
    assert all((TREE / folder).is_dir() for folder in each["tests"])


def test_each_change_has_a_name_of_its_own():
    names = Counter(line for line in text_of(HERE / "sabotages.toml").splitlines() if line.startswith("name = "))
    assert set(names.values()) == {1} and len(names) == len(SABOTAGES)


def copied(folder: Path) -> Path:
    """Return a copy of the tree without what was made in it."""
    for part in PARTS:
        source, target = TREE / part, folder / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(source, target)
    return folder


def carried_out(folder: Path, *command: str) -> tuple[int | None, str]:
    """Run Python in a copy of the tree; return exit code, None for one that does not end, and what it printed."""
    try:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "HOME": str(folder)},
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def verified(folder: Path) -> tuple[int | None, list[object]]:
    """Return what ``verify`` ends with and the figures of its rows."""
    program = "import sys; from pixelflow.cli.main import process; sys.exit(process())"
    code, printed = carried_out(folder, "-c", program, "verify", "--json")
    try:
        tables = json.loads(printed)["tables"]
    except (ValueError, KeyError):
        return code, []
    return code, [(table["name"], table["rows"]) for table in tables]


@pytest.fixture(scope="session")
def untouched(tmp_path_factory):
    """Return what ``verify`` says of the tree as it is."""
    found = verified(copied(tmp_path_factory.mktemp("untouched")))
    assert found[0] == 0 and found[1]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", SABOTAGES)
def test_is_noticed(name, untouched, tmp_path):
    each = SABOTAGES[name]
    folder = copied(tmp_path)
    path = folder / each["file"]
    path.write_text(text_of(path).replace(each["old"], each["new"]), encoding="utf-8")

    code, rows = verified(folder)
    noticed = code != 0 or rows != untouched[1]
    assert noticed == ("blind" not in each), f"verify {'noticed' if noticed else 'did not notice'}: {each['what']}"

    room = [str(folder / tests) for tests in each["tests"]]
    code, printed = carried_out(folder, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *room)
    assert code != 0, f"no test of {', '.join(each['tests'])} noticed: {each['what']}\n{printed[-500:]}"
