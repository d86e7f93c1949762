"""Does each benchmark run, and report what it measured?"""

from __future__ import annotations

import json

import pytest

from benchmarks import larrabee
from benchmarks.__main__ import BENCHMARKS, main

LONG = {"engine", "nodes", "pass", "tessellation", "frames", "startup", "trace", "attila", "larrabee", "commands"}


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each in LONG)) for each in BENCHMARKS])
def test_each_runs(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for what, value in (("TRIANGLES", 100), ("_TRIANGLES", 3), ("_SIZE", (32, 24)), ("_SIDE_BY_SIDE", (1, 16))):
        monkeypatch.setattr(larrabee, what, value)
    assert main([name, "--rounds", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rounds"] == 1 and found[name]


@pytest.mark.parametrize("words", [["nosuch"], ["timing", "--nodes", "3"], ["nodes", "--markdown"]], ids=" ".join)
def test_what_has_no_effect_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2 and "error" in capsys.readouterr().err
