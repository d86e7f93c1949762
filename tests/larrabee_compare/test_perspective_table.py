"""Does the table of perspective say what the commands count?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from tessellation.scenes.scene_file import SCENES

PAGE = Path(__file__).parents[2] / "docs/pages/larrabee.md"
MARK = "<!-- read by: tests/larrabee_compare/test_perspective_table.py -->\n"
OPTIONS = {"PixelFlow": ["--machine", "pixelflow"], "Larrabee": ["--machine", "larrabee", "--cores", "10"]}


def rows() -> list[tuple[str, str, int, int]]:
    """Return scene, machine and cycles without and with perspective."""
    found = []
    for line in PAGE.read_text(encoding="utf-8").split(MARK)[1].split("\n\n")[0].splitlines()[2:]:
        scene, machine, affine, perspective = (
            cell.strip().strip("`").replace(",", "") for cell in line.split("|")[1:-1]
        )
        found.append((scene, machine, int(affine), int(perspective)))
    return found


def test_both_machines_are_in_the_table_and_perspective_costs_something() -> None:
    assert [row[:2] for row in rows()] == [("still", "PixelFlow"), ("still", "Larrabee"), ("glass", "Larrabee")]
    assert all(affine < perspective for _, _, affine, perspective in rows())


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "machine", "affine", "perspective"), rows())
def test_a_row_is_what_the_command_counts(scene, machine, affine, perspective, tmp_path, capsys) -> None:
    linear = tmp_path / f"{scene}.toml"
    linear.write_text(f'interpolation = "affine"\n{SCENES[scene].read_text(encoding="utf-8")}', encoding="utf-8")
    for name, cycles in ((str(linear), affine), (scene, perspective)):
        command = ["render", name, *OPTIONS[machine], "--size", "640x480", "--json"]
        assert main([*command, "-o", str(tmp_path / "picture.png")]) == 0
        assert json.loads(capsys.readouterr().out)["cycles"] == cycles
