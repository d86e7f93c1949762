"""``pixelflow dash``, ``--frame`` and progress lines, as commands."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pixelflow.cli.main import main

SVG = re.compile(r"<svg .*</svg>", re.DOTALL)


@pytest.fixture
def pixelflow(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Run one command in this process: its exit code, what it printed and what it noted."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def saved(pixelflow: Callable, repository: Path, tmp_path: Path) -> Path:
    """The triangle of the examples, recorded: 15 cycles."""
    file = tmp_path / "triangle.npz"
    code, _, errors = pixelflow("run", repository / "microcode/examples/triangle.mc", "--record", file)
    assert code == 0, errors
    return file


def test_the_frame_of_a_cycle(pixelflow: Callable, saved: Path) -> None:
    code, out, _ = pixelflow("dash", saved, "--at", 12)
    lines = out.splitlines()
    assert code == 0 and len(lines) <= 24 and "\x1b" not in out
    assert "cycle 12 of 15 " in lines[1] and "120 ns " in lines[1]
    assert any("2,516 of 8,192 " in line and line.split()[-7::2] == ["335", "1,253", "751", "177"] for line in lines)
    assert any(line.startswith("▶ 21 ") for line in lines)
    assert "1 cycle left" in lines


def test_a_cycle_beyond_the_end_is_the_end(pixelflow: Callable, saved: Path) -> None:
    code, out, errors = pixelflow("dash", saved, "--at", 10**9)
    assert code == 0 and "cycle 15 · halt" in out
    assert errors.startswith("note: ") and "15\n" in errors


def test_what_has_no_map_is_refused(pixelflow: Callable, saved: Path) -> None:
    code, _, errors = pixelflow("dash", saved, "--show", "depht")
    assert code == 2 and "depth?" in errors
    code, _, errors = pixelflow("dash", saved, "--show", "384")
    assert code == 3 and "384" in errors


def test_a_picture_is_the_same_every_time(pixelflow: Callable, saved: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        code, out, errors = pixelflow("dash", saved, "--svg", tmp_path / name, "--width", 100, "--height", 30)
        assert (code, out, errors) == (0, "", f"wrote {tmp_path / name}\n")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert SVG.search(text) and "utilisation" in text
    assert text == (tmp_path / "b.svg").read_text(encoding="utf-8")


def test_a_frame_as_json(pixelflow: Callable, saved: Path) -> None:
    code, out, _ = pixelflow("dash", saved, "--at", 12, "--json")
    found = json.loads(out)
    assert code == 0 and found["schema"] == "pixelflow.frame/1"
    assert (found["cycle"], found["total"], found["streams"][0]["remaining"]) == (12, 15, 1)
    assert len(bytes.fromhex(found["array"]["cells"])) == 8192
    assert found["modules"][0]["busy"] is None


def test_a_file_that_is_no_saved_run(pixelflow: Callable, tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(b"no archive")
    code, out, errors = pixelflow("dash", tmp_path / "x.npz")
    assert code == 3 and not out and "x.npz: error:" in errors


def test_playing_needs_a_terminal(pixelflow: Callable, saved: Path) -> None:
    code, _, errors = pixelflow("dash", saved, "--play", 10)
    assert code == 2 and "no terminal" in errors


def test_one_frame_at_the_end_of_a_run(pixelflow: Callable, repository: Path) -> None:
    code, out, errors = pixelflow("run", repository / "microcode/examples/texture_copy.mc", "--frame")
    assert code == 0 and errors == ""
    assert out.index("cycle 17,238 · halt") < out.index("17,238 cycles"), "the frame, then the report"
    assert "\x1b" not in out
