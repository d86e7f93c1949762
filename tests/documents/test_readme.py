"""Do the README's commands work as printed, and do its links lead somewhere?

The two commands that install something are run whole by `.ci/run`; their `pixelflow` part is run here too.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pixelflow.cli.main import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [
    part.strip()
    for block in BLOCKS
    for line in block.splitlines()
    for part in line.split("&&")
    if part.strip().startswith("pixelflow ")
]


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 8


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    (tmp_path / "microcode").symlink_to(ROOT / "microcode")
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.strip()
    words = shlex.split(command)
    for option in ("-o", "--preview"):
        if option in words:
            assert (tmp_path / words[words.index(option) + 1]).stat().st_size > 1000


def test_python_blocks_run(capsys) -> None:
    for block in re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE):
        exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out


@pytest.mark.parametrize("document", sorted(ROOT.rglob("*.md")), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    if any(part.startswith((".", "build")) for part in document.relative_to(ROOT).parts):
        pytest.skip("not part of the repository")
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_the_printed_output_is_what_the_command_prints(tmp_path, monkeypatch, capsys) -> None:
    """All but the wall time, which differs from run to run."""
    shown = re.search(r"<!-- main-output -->\n```text\n(.*?)```", README, re.DOTALL)
    command = next(c for c in COMMANDS if c.startswith("pixelflow tessellate teapot"))
    monkeypatch.chdir(tmp_path)
    assert main(["--width", "100", *shlex.split(command)[1:]]) == 0
    printed = capsys.readouterr().out

    def steady(text: str) -> list[str]:
        return [line.rstrip() for line in text.splitlines() if not line.startswith("wall time")]

    assert steady(printed) == steady(shown[1])
