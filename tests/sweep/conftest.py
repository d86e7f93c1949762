"""A program small enough to sweep, and the command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pixelflow.cli.main import main

SOURCE = """\
param N = 2
repeat i in 1 .. N
    LD R, #1
end
"""


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder that holds a program of N cycles."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prog.mc").write_text(SOURCE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def sweep(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run `pixelflow sweep run prog.mc` on the small preset, with more arguments."""

    def run(*arguments: str) -> Result:
        code = main(["sweep", "run", "prog.mc", "--preset", "tiny", *arguments])
        seen = capsys.readouterr()
        return Result(code, seen.out, seen.err)

    return run
