"""Does the table of cycles with ideal and real memory in Larrabee's README say what the command says?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pixelflow.cli.main import main

README = Path(__file__).parents[2] / "larrabee_bridge" / "README.md"
MARK = "<!-- read by: tests/larrabee_compare/test_memory_table.py -->\n"


def rows() -> list[tuple[str, int, int, int]]:
    """Return scene, cores, and cycles with ideal memory and with memory, of each row."""
    found, scene = [], ""
    for line in README.read_text(encoding="utf-8").split(MARK)[1].lstrip("\n").split("\n\n")[0].splitlines()[2:]:
        name, cores, _, ideal, memory = (cell.strip().strip("`").replace(",", "") for cell in line.split("|")[1:-1])
        scene = name or scene
        found.append((scene, int(cores), int(ideal), int(memory)))
    return found


def test_three_scenes_at_three_sizes_of_a_chip() -> None:
    assert [row[:2] for row in rows()] == [
        (scene, cores) for scene in ("still", "swarm", "glass") for cores in (1, 10, 32)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}-{row[1]}")
@pytest.mark.parametrize("options", [["--ideal-memory"], []], ids=["ideal", "memory"])
def test_a_row_is_what_the_command_counts(row, options, tmp_path, capsys) -> None:
    scene, cores, ideal, memory = row
    command = ["render", scene, "--machine", "larrabee", "--size", "640x480", "--cores", str(cores), "--json"]
    assert main([*command, *options, "-o", str(tmp_path / "picture.png")]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] == (ideal if options else memory)
