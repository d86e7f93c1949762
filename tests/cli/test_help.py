"""Do the examples at the end of every command's help work as printed?"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from pixelflow.cli.shell.registry import COMMANDS
from tessellation import BUILT_IN
from tessellation.scenes import SCENES

EXPECTED = {"pixelflow grade sides.mc": 1, "pixelflow grade sides.mc --save-data start.npz": 1}
"""Exit codes that are not 0: a stub that nobody has solved does not pass."""
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "microcode").symlink_to(ROOT / "microcode")
    monkeypatch.chdir(tmp_path)
    examples = COMMANDS[name].load().EXAMPLES
    assert any(shlex.split(example)[1] == name for example in examples)
    for example in examples:
        program, *words = shlex.split(example)
        assert program == "pixelflow"
        assert main(words) == EXPECTED.get(example, 0), example
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_them_within_80_columns(name: str, capsys: pytest.CaptureFixture) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    for example in COMMANDS[name].load().EXAMPLES:
        assert f"  {example}\n" in shown and len(example) <= 78


def test_the_help_of_pictures_names_every_scene_that_ships(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "--help"]) == 0
    shown = set(re.findall(r"[a-z]+", capsys.readouterr().out))
    assert {*SCENES, *BUILT_IN} <= shown
