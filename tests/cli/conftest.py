"""Runs the command line in this process, and programs small enough to run in it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pixelflow.cli.main import main

SOURCE = """\
; every PE learns its column and a copy of a constant
param OFFSET = 3
range x[1]
range y[4]
data y: float 1.5
MARK "load [x]"
EMC_TreeIntoMem_Li x, 1, 1, 0, OFFSET
MARK "double"
CALL double, x
EMC_TreeLTZero_Li 0, 2, 1, 0, -8
routine double(a)
    LD R, a
    ADD R, a
    ST a, R
end
"""
CYCLES = 2 + 4 + 3


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def pixelflow(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run one command; no exception may leave it."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object) -> Result:
        code = main([str(argument) for argument in arguments])
        seen = capsys.readouterr()
        return Result(code, seen.out, seen.err)

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder that holds the program as source."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prog.mc").write_text(SOURCE, encoding="utf-8")
    yield tmp_path


@pytest.fixture
def object_file(folder: Path) -> Path:
    """The program as an object file."""
    from microcode import assemble

    assemble(folder / "prog.mc").save(folder / "prog.mco")
    return folder / "prog.mco"
