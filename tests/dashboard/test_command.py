"""``pixelflow dash``, ``--frame`` and progress lines, as commands."""

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from pixelflow.cli.screen import Progress, Screen

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
    assert lines[1].startswith("cycle 12 of 15 · stopped here · 120 ns at 100 MHz")
    assert "PEs     2,516 of 8,192 enabled  [0] 335  [1] 1,253  [2] 751  [3] 177" in lines
    assert "▶ 21 EMC_TreeIntoMem_Li depth, 2, 40, 15, 1000       ; 3 cycles" in lines
    assert "1 cycle left" in lines


def test_a_cycle_beyond_the_end_is_the_end(pixelflow: Callable, saved: Path) -> None:
    code, out, errors = pixelflow("dash", saved, "--at", 10**9)
    assert code == 0 and "cycle 15 · halt" in out
    assert errors == "note: the run ends at cycle 15\n"


MAPS = {
    "depth": "depth 0 to 255",
    "R": "R 0 to",
    "byte 1": "byte 1 0 to 255",
    "2": "byte 2 0 to",
    "carry": "carry · dot",
}


@pytest.mark.parametrize(("what", "title"), MAPS.items())
def test_the_map_shows_what_is_asked_for(pixelflow: Callable, saved: Path, what: str, title: str) -> None:
    code, out, _ = pixelflow("dash", saved, "--show", what)
    assert code == 0 and f"─ {title}" in out


def test_what_has_no_map_is_refused(pixelflow: Callable, saved: Path) -> None:
    code, _, errors = pixelflow("dash", saved, "--show", "depht")
    assert code == 2 and "did you mean depth?" in errors
    code, _, errors = pixelflow("dash", saved, "--show", "384")
    assert code == 3 and "outside the PE" in errors


def test_a_picture_is_the_same_every_time(pixelflow: Callable, saved: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        code, out, errors = pixelflow("dash", saved, "--svg", tmp_path / name, "--width", 100, "--height", 30)
        assert (code, out, errors) == (0, "", f"wrote {tmp_path / name}\n")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert SVG.search(text) and "utilisation" in text
    assert text == (tmp_path / "b.svg").read_text(encoding="utf-8")


def test_a_picture_needs_its_suffix(pixelflow: Callable, saved: Path) -> None:
    code, _, errors = pixelflow("dash", saved, "--svg", "frame.png")
    assert code == 2 and "name a file that ends in .svg" in errors


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
    frame, _, report = out.partition("pixelflow run · ")
    assert "cycle 17,238 · halt" in frame and "17,238 cycles" in report
    assert "\x1b" not in out


def test_the_frame_of_a_timing_only_run_has_no_pes(pixelflow: Callable, repository: Path) -> None:
    code, out, _ = pixelflow("run", repository / "microcode/examples/vector_add.mc", "--timing-only", "--frame")
    assert code == 0 and "PEs     – a run without PE data" in out


def test_a_terminal_that_knows_only_lines_gets_lines(
    pixelflow: Callable, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    code, out, _ = pixelflow("dash", saved, "--at", 12)
    assert code == 0 and "cycle:  12  120 ns at 100 MHz  stopped here" in out.splitlines()


# --- progress ------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def progressed(screen: Screen, stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with Progress(screen, 3) as progress:
        for _ in progress.over(["a", "b", "c"], "table [red]"):
            progress._display and progress._display.refresh()
    return stream.getvalue()


def screen(**more: bool) -> Screen:
    return Screen(width=80, color=False, quiet=more.get("quiet", False), verbose=False,
                  progress=more.get("progress", True))  # fmt: skip


def test_progress_counts_and_names_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = progressed(screen(), Terminal(), monkeypatch)
    assert "table [red] 3" in seen and "2/3" in seen and "left" in seen


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_progress_is_for_terminals_that_want_it(stream: type, monkeypatch: pytest.MonkeyPatch) -> None:
    unwanted = screen() if stream is io.StringIO else screen(progress=False)
    assert progressed(unwanted, stream(), monkeypatch) == ""
    assert progressed(screen(quiet=True), stream(), monkeypatch) == ""
