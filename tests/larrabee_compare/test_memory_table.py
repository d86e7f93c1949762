"""Do the tables of cycles with and without memory, and with and without set-up, say what the command says?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pixelflow.cli.main import main

README = Path(__file__).parents[2] / "larrabee_bridge" / "README.md"
MARK = "<!-- read by: tests/larrabee_compare/test_memory_table.py -->\n"
EXECUTED, FREE = ([], ["--ideal-memory"]), (["--free-setup"], ["--free-setup", "--ideal-memory"])


def rows(table: int) -> list[tuple[str, int, list[int]]]:
    """Return scene, cores, and cycles of each row of a table."""
    found, scene = [], ""
    for line in (
        README.read_text(encoding="utf-8").split(MARK)[1 + table].lstrip("\n").split("\n\n")[0].splitlines()[2:]
    ):
        name, *numbers = (cell.strip().strip("`").replace(",", "") for cell in line.split("|")[1:-1])
        scene = name or scene
        found.append((scene, int(numbers[0]), [int(each) for each in numbers[1:]]))
    return found


CASES = [
    *((scene, cores, free, each) for scene, cores, (ideal, _, memory, _) in rows(0)
      for free, each in ((ideal, FREE[1]), (memory, FREE[0]))),
    *((scene, cores, executed, each) for scene, cores, (_, ideal, _, memory) in rows(0)
      for executed, each in ((ideal, EXECUTED[1]), (memory, EXECUTED[0]))),
    *((scene, cores, free, each) for scene, cores, (_, ideal, memory) in rows(1)
      for free, each in ((ideal, FREE[1]), (memory, FREE[0]))),
]  # fmt: skip


def test_scenes_at_three_sizes_of_a_chip() -> None:
    assert [row[:2] for row in rows(0)] == [(scene, cores) for scene in ("still", "glass") for cores in (1, 10, 32)]
    assert [row[1] for row in rows(1)] == [1, 10, 32] * 3 and {row[0] for row in rows(1)} == {"still", "swarm", "glass"}


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "cores", "cycles", "options"), CASES)
def test_a_row_is_what_the_command_counts(scene, cores, cycles, options, tmp_path, capsys) -> None:
    command = ["render", scene, "--machine", "larrabee", "--size", "640x480", "--cores", str(cores), "--json"]
    assert main([*command, *options, "-o", str(tmp_path / "picture.png")]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] == cycles
