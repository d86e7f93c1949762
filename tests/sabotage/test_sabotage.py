"""Would anybody notice? Changes made on purpose, one at a time, in a copy of the tree: which part of ``verify`` sees
them, and do the tests of the room?

The table of changes is `sabotages.toml`. Each takes a minute or so, so they run with ``-m slow``; that the text of each
still stands in the tree is looked at always.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sabotage.broken_rules import TREE, carried_out, change, copied, stands_once

HERE = Path(__file__).parent
SABOTAGES = {each["name"]: each for each in tomllib.loads((HERE / "sabotages.toml").read_text())["sabotage"]}
PARTS = (
    "pixelflow",
    "microcode",
    "tessellation",
    "larrabee_bridge",
    "gen6_bridge",
    "benchmarks",
    "docs",
    "tests",
    "pyproject.toml",
)
ROOMS = sorted({room for each in SABOTAGES.values() for room in each["tests"]})
SEEN_BY = {
    "bits": {"data", "fault"},
    "time": {"timing", "fault"},
    "bits and time": {"timing", "data", "fault"},
    "report": {"timing", "fault"},
}
"""Parts of ``verify`` that can see a change of each kind: bits change no count of cycles, and time changes no bit."""


@pytest.mark.parametrize("name", SABOTAGES)
def test_what_is_changed_stands_once_in_the_tree(name):
    each = SABOTAGES[name]
    assert stands_once(each["file"], each["old"], each["new"])
    assert all((TREE / folder).is_dir() for folder in each["tests"])


@pytest.mark.parametrize("name", SABOTAGES)
def test_what_verify_is_to_see_agrees_with_itself(name):
    each = SABOTAGES[name]
    seen = set(each["seen_by"])
    assert seen <= SEEN_BY[each["changes"]] and (len(seen) == 1 or "fault" not in seen)
    assert ("blind" in each) == (not seen), "what is not seen has a reason, and nothing else has one"
    if "passes" in each:
        assert seen == {"timing"} and "code" not in each
    assert ("code" in each) == (seen == {"fault"}), "where there is no report, the exit code is named"


def test_each_change_has_a_name_of_its_own():
    text = (HERE / "sabotages.toml").read_text(encoding="utf-8")
    names = Counter(line for line in text.splitlines() if line.startswith("name = "))
    assert set(names.values()) == {1} and len(names) == len(SABOTAGES)


@dataclass(frozen=True)
class Found:
    """What ``verify`` says of a tree."""

    code: int | None
    timing: list[object]
    """Rows of figures, and limits of counts of cycles."""
    data: list[object]
    """Results that were computed with PE data."""


_COUNTS = ("cycles", "% from the print")
"""Units of limits that are about time."""


def verified(folder: Path) -> Found:
    """Return what ``verify`` ends with, and what its two parts say."""
    program = "import sys; from pixelflow.cli.main import process; sys.exit(process())"
    code, printed = carried_out(folder, "-c", program, "verify", "--json")
    try:
        tables = json.loads(printed)["tables"]
    except (ValueError, KeyError):
        return Found(code, [], [])
    rows = [(table["name"], row) for table in tables for row in table["rows"]]
    results = [(table["name"], result) for table in tables for result in table["results"]]
    limits = [each for each in results if each[1]["unit"] in _COUNTS]
    return Found(code, rows + limits, [each for each in results if each[1]["unit"] not in _COUNTS])


def ran_tests(folder: Path, *rooms: str) -> tuple[int | None, str]:
    """Run the tests of some rooms until the first that fails; return as `carried_out`."""
    return carried_out(
        folder, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(str(folder / each) for each in rooms)
    )


@pytest.fixture(scope="session")
def copy(tmp_path_factory):
    """Return a copy of the tree as it is."""
    return copied(tmp_path_factory.mktemp("untouched"), *PARTS)


@pytest.fixture(scope="session")
def untouched(copy):
    """Return what ``verify`` says of the tree as it is."""
    found = verified(copy)
    assert found.code == 0 and found.timing and found.data
    return found


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_a_room_passes_where_nothing_is_changed(room, copy):
    """Else that its tests fail would say nothing."""
    code, printed = ran_tests(copy, room)
    assert code == 0, printed[-500:]


@pytest.mark.slow
@pytest.mark.parametrize("name", SABOTAGES)
def test_is_noticed(name, untouched, tmp_path):
    each = SABOTAGES[name]
    folder = copied(tmp_path, *PARTS)
    change(folder, each["file"], each["old"], each["new"])

    found = verified(folder)
    if not found.timing:
        seen, code = ["fault"], each.get("code")
    else:
        seen = [part for part in ("timing", "data") if getattr(found, part) != getattr(untouched, part)]
        code = 1 if seen and "passes" not in each else 0
    assert seen == each["seen_by"], f"verify: {each['what']}"
    assert ("never" if found.code is None else found.code) == code, f"verify ends with {found.code}: {each['what']}"

    code, printed = ran_tests(folder, *each["tests"])
    assert code != 0, f"no test of {', '.join(each['tests'])} noticed: {each['what']}\n{printed[-500:]}"
