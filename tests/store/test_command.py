"""`pixelflow cache`: figures of the store, and its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from pixelflow.simd.store import CODE, PROGRAM, key_of, store


def test_it_shows_and_clears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("PIXELFLOW_CACHE", str(tmp_path / "store"))

    def said(*words: str) -> dict:
        assert main(["cache", *words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert said()["kinds"] == [] and said()["folder"] == str(tmp_path / "store")
    for number in range(3):
        store().put(CODE, key_of(number), bytes(100))
    store().put(PROGRAM, key_of("a"), bytes(200))
    assert [(each["kind"], each["files"]) for each in said()["kinds"]] == [("code", 3), ("program", 1)]
    assert said("--clear")["removed"] == 4
    assert said()["kinds"] == []
