"""Runs ``pixelflow verify`` in this process."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pixelflow.cli.main import main


@dataclass(frozen=True)
class Result:
    """What the command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def verify(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run the command with some arguments; no exception may leave it."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object) -> Result:
        code = main(["verify", *(str(argument) for argument in arguments)])
        seen = capsys.readouterr()
        return Result(code, seen.out, seen.err)

    return run
