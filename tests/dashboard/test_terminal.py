"""The live display in real terminals: what it sends, what a person sees, and what is left when it is gone."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from tests.attila.recorded import drawn, quad, scene_body

pexpect = pytest.importorskip("pexpect", reason="pexpect is not installed: pip install 'pixelflow-sim[test]'")

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
LONG = "LOOP 10000\nLOOP 10000\n    EMC_SetEnab\n    EMC_TreeLTZero_Li 0, 2, 1, 1, -80\nENDL\nENDL\n"
"""A run that only an interrupt ends before the test has seen what it looks for."""

SHORT = "LOOP 200\n    EMC_SetEnab\nENDL\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "long.mc").write_text(LONG, encoding="utf-8")
    (tmp_path / "short.mc").write_text(SHORT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def environment(repository: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(repository), "TERM": "xterm-256color", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pixelflow.cli.main", *arguments]


@pytest.fixture
def terminal(folder: Path, environment: dict[str, str]) -> Iterator:
    """Start a command in a pseudo terminal of some size."""
    started = []

    def start(*arguments: str, size: tuple[int, int] = (24, 80), **more: str):
        child = pexpect.spawn(
            sys.executable, command(*arguments)[1:], dimensions=size, timeout=600, cwd=str(folder), encoding="utf-8",
            codec_errors="replace", env=environment | more,  # ^C may be echoed in the middle of a character
        )  # fmt: skip
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


def test_the_display_comes_and_goes(terminal) -> None:
    child = terminal("run", "short.mc", "--live")
    child.expect(pexpect.EOF)
    child.close()
    seen = child.before
    assert child.exitstatus == 0
    assert seen.count(ENTER) == seen.count(LEAVE) == 1 and seen.index(ENTER) < seen.index(LEAVE)
    assert seen.rindex(SHOW) > seen.rindex(HIDE)
    after = seen[seen.index(LEAVE) :]
    assert after.index("utilisation") < after.index("200 cycles")  # the last frame stays, then the report


def test_an_interrupt_leaves_the_terminal_as_it_was(terminal) -> None:
    child = terminal("run", "long.mc", "--live")
    child.expect("utilisation")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert LEAVE in child.before and SHOW in child.before
    after = child.before[child.before.rindex(LEAVE) :]
    assert "interrupted" in after and "Traceback" not in after


@pytest.mark.parametrize(
    "size", [(1, 1), *(pytest.param(each, marks=pytest.mark.slow) for each in ((3, 25), (5, 200)))]
)
def test_a_tiny_terminal_is_no_error(terminal, size: tuple[int, int]) -> None:
    child = terminal("run", "short.mc", "--live", size=size)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and LEAVE in child.before


@pytest.mark.parametrize(
    "setting", [{"TERM": "dumb"}, pytest.param({"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.slow)]
)
def test_a_terminal_that_cannot_show_it_gets_a_note(terminal, setting: dict[str, str]) -> None:
    child = terminal("run", "short.mc", "--live", **setting)
    child.expect(pexpect.EOF)
    assert "--live" in child.before and "\x1b" not in child.before


def test_a_pipe_gets_a_note_and_no_control_codes(folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command("run", "short.mc", "--live"), cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr.startswith("note: --live ") and done.stderr.count("\n") == 1
    plain = subprocess.run(
        command("run", "short.mc"), cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == plain.stdout and "\x1b" not in done.stdout


@pytest.mark.slow
def test_watching_changes_nothing(terminal, folder: Path) -> None:
    """The same cycles and the same bits, with the display and without."""
    (folder / "lee.mc").write_text("LOOP 300\n    EMC_TreeLTZero_Li 0, 2, 3, 5, -99\nENDL\n", encoding="utf-8")
    for options, name in ((("--live",), "live.json"), ((), "plain.json")):
        child = terminal("run", "lee.mc", "--output", name, *options)
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0
    assert (folder / "live.json").read_bytes() == (folder / "plain.json").read_bytes()


# --- tmux ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def tmux(folder: Path, environment: dict[str, str]) -> Iterator:
    """Run shell commands in a window of 80 x 24, and look at it."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed; with it, what a person sees is looked at")
    server = ["tmux", "-L", f"pixelflow-{folder.name}", "-f", "/dev/null"]
    exports = [f"{name}={value}" for name, value in environment.items() if name != "TERM"]
    subprocess.run(
        [*server, "new-session", "-d", "-x", "80", "-y", "24", "-c", str(folder), "env", *exports, "PS1=ready> ", "sh"],
        check=True,
    )

    def seen() -> str:
        return subprocess.run([*server, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout

    def until(text: str) -> str:
        for _ in range(200):
            if text in (shown := seen()):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"{text!r} did not appear in:\n{shown}")

    def send(*keys: str) -> None:
        subprocess.run([*server, "send-keys", *keys], check=True)

    yield send, until
    subprocess.run([*server, "kill-server"], check=False)


def test_what_a_person_sees(tmux) -> None:
    send, until = tmux
    until("ready>")
    send("echo before; " + " ".join(command("run", "long.mc", "--live")) + "; echo code $?", "Enter")
    during = until("utilisation")
    lines = during.splitlines()
    assert "· long" in lines[0] and re.search(r"[\d,]+ · running", lines[1])
    assert "echo before" not in during
    send("C-c")
    after = until("code 130")
    assert 0 <= after.find("█") < after.index("interrupted")  # the last frame stays, above the report


@pytest.mark.slow
def test_a_long_run_says_cycle_rate_and_line_and_where_it_was_interrupted(terminal, folder: Path) -> None:
    (folder / "endless.mc").write_text("again: LD R, #1\nJMP again\n", encoding="utf-8")
    child = terminal("run", "endless.mc", "--preset", "tiny", size=(24, 110))
    child.expect(r"cycle [0-9,]+ of at most 100,000,000, [0-9,]+ a second, at endless.mc:[12]")
    child.sendintr()
    child.expect(r"interrupted after [0-9,]+ cycles")
    child.expect(r"interrupted at cycle [0-9,]+, endless.mc:[12]\r\n")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


@pytest.mark.slow
def test_a_long_run_of_another_machine_says_how_far_it_has_come(terminal, folder: Path) -> None:
    (folder / "endless.s").write_text("TOP:\nadd (1) g1<1>D g1<0,1,0>D 1D\njmpi (1) TOP\n", encoding="utf-8")
    words = ("run", "--machine", "gen6", "endless.s", "--max-cycles", "90000000")
    child = terminal(*words, size=(24, 110))
    child.expect(r"instruction [0-9,]+ of at most 90,000,000, [0-9,]+ a second, at endless.s:[23]")
    child.sendintr()
    child.expect(r"interrupted at instruction [0-9,]+, endless.s:[23]\r\n")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


@pytest.fixture
def scene(folder: Path) -> Path:
    """Put a scene of ATTILA into the folder: a square of 64x64 pixels."""
    body = scene_body(drawn(quad(0, 0, 64, 64)), size=(64, 64))
    (folder / "square.json").write_text(json.dumps(body), encoding="utf-8")
    return folder / "square.json"


@pytest.mark.parametrize("arguments", [("short.npz",), ("square.json", "--machine", "attila")], ids=["node", "boxes"])
def test_what_plays_says_so_until_a_key_ends_it(
    terminal, scene: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scene.parent)
    assert main(["run", "short.mc", "--record", "short.npz"]) == 0
    child = terminal("dash", *arguments, "--play", "1")
    child.expect("playing", timeout=60)
    child.send(".")
    child.expect("paused", timeout=60)
    assert "stopped here" not in child.before
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    picture, _, after = child.before.partition(LEAVE)
    assert "stopped here" not in picture and "stopped here" in after
