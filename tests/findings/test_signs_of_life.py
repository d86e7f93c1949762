"""Does every command that takes long show that it is alive, and nothing where nobody wants it?"""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable

import pytest

from larrabee_bridge.machine import MACHINE
from pixelflow.cli.screen import STANDARD_STREAM, Progress, Screen, SignOfLife, output_file, write_stdout
from tessellation.scenes import SceneSource, load_scene


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def opened(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a terminal, within a test: pytest sets its own between a fixture and the test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("pixelflow.cli.screen.QUIET_SECONDS", 0.01)
    return stream


def piped(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Make standard error a pipe that gets a line 20 times a second."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("pixelflow.cli.screen.LINE_SECONDS", 0.05)
    return stream


def until(stream: io.StringIO, text: str) -> bool:
    """Wait for a text, at most a minute: a loaded machine is slow."""
    for _ in range(1200):
        if text in stream.getvalue():
            return True
        time.sleep(0.05)
    return False


def test_a_command_that_says_nothing_says_that_it_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = opened(monkeypatch)
    with SignOfLife(Screen(width=80), "pixelflow study"):
        assert until(terminal, "pixelflow study")


@pytest.mark.parametrize("screen", [Screen(width=80, quiet=True), Screen(width=80, progress=False)])
@pytest.mark.parametrize("kind", [opened, piped])
def test_nobody_is_told_who_does_not_want_it(
    monkeypatch: pytest.MonkeyPatch, screen: Screen, kind: Callable[[pytest.MonkeyPatch], io.StringIO]
) -> None:
    stream = kind(monkeypatch)
    with SignOfLife(screen, "pixelflow study"), Progress(screen) as progress:
        progress.doing("table 2")
        time.sleep(0.2)
    assert stream.getvalue() == ""


def written(text: str) -> None:
    with output_file(STANDARD_STREAM) as stream:
        stream.write(text)


@pytest.mark.parametrize("write", [write_stdout, written])
def test_the_line_is_gone_before_a_result_is_written(
    monkeypatch: pytest.MonkeyPatch, write: Callable[[str], None]
) -> None:
    """Both streams are the same terminal."""
    terminal = opened(monkeypatch)
    monkeypatch.setattr(sys, "stdout", terminal)
    with SignOfLife(Screen(width=80), "pixelflow dash"):
        assert until(terminal, "pixelflow dash")
        write("a frame\n")
        time.sleep(0.3)
        line, _, after = terminal.getvalue().partition("a frame\n")
    assert line.endswith("\x1b[2K") and after == "", "erased, and not drawn again"


def test_a_pipe_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is being done, of how many steps how many are done, and for how long: until the command has ended."""
    pipe = piped(monkeypatch)
    with SignOfLife(Screen(width=80), "pixelflow sweep"):
        assert until(pipe, "pixelflow sweep, elapsed 0:00:0")
        with Progress(Screen(width=80), 3) as progress:
            progress.doing("measuring points")
            progress.step()
            assert until(pipe, "pixelflow sweep: measuring points, 1 of 3, elapsed 0:00:0")
        assert until(pipe, "measuring points, 1 of 3, elapsed 0:00:01")
    seen = pipe.getvalue()
    time.sleep(0.2)
    assert pipe.getvalue() == seen
    lines = seen.splitlines()
    assert all(re.match(r"pixelflow sweep(: .*, [01] .* 3)?, ", each) for each in lines)


def test_larrabee_tells_how_far_it_has_come() -> None:
    """A picture took a minute without a word between the first line and the last."""
    told: list[tuple[str, float | None]] = []
    frame = load_scene("tea", SceneSource(size=(64, 48))).frame
    assert MACHINE.draw is not None
    MACHINE.draw(frame, progress=lambda text, share=None: told.append((str(text), share)))
    shares = [share for text, share in told if "tile " in text and share is not None]
    assert shares and shares == sorted(shares) and all(0 <= share < 1 for share in shares)
    draws = [share for text, share in told if "to tiles" in text]
    assert len(draws) == len(frame.draws)
