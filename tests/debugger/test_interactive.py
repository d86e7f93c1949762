"""Does a conversation on a terminal go as one expects: prompt, history, errors that do not end it, Ctrl-C?"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pexpect = pytest.importorskip("pexpect", reason="terminals are tested with pexpect (extra `test`)")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a terminal of this kind needs a pty")

ROOT = Path(__file__).resolve().parents[2]
PROMPT = r"\(pixelflow\) "
ENDLESS = "range x[1]\nLOOP 60000\n    LOOP 60000\n        LD R, x\n    ENDL\nENDL\n"


@pytest.fixture
def terminal(tmp_path: Path):
    """Start a debugger on a terminal of 80 x 24."""
    started = []

    def start(program: Path | str) -> pexpect.spawn:
        if not isinstance(program, Path):
            (tmp_path / "prog.mc").write_text(program)
            program = tmp_path / "prog.mc"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "INPUTRC": "/dev/null"}
        command = ["-m", "pixelflow.cli.main", "debug", str(program), "--preset", "tiny"]
        child = pexpect.spawn(
            sys.executable, command, env=environment, encoding="utf-8", timeout=600, dimensions=(24, 80)
        )
        started.append(child)
        child.expect(PROMPT)
        return child

    yield start
    for child in started:
        child.close(force=True)


def _answer(child: pexpect.spawn, command: str) -> str:
    child.sendline(command)
    child.expect(PROMPT)
    return child.before


def test_a_conversation(terminal) -> None:
    child = terminal(ROOT / "microcode" / "examples" / "panel_sum.mc")
    assert "help lists" in child.before
    assert "cycle 10" in _answer(child, "step")
    assert "LD R, d[0]" in _answer(child, "list")
    assert "did you mean break?" in _answer(child, "braek 20"), "a mistake does not end the conversation"
    assert "cycle 10" not in _answer(child, "step")
    assert "cycle 10" in _answer(child, "back")
    child.sendline("quit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_an_empty_line_is_the_last_command_again(terminal) -> None:
    child = terminal("LD R, #1\nLD R, #2\nLD R, #3\nLD R, #4\n")
    assert "cycle 1\r\n" in _answer(child, "step")
    assert "cycle 2\r\n" in _answer(child, "")
    assert "cycle 3\r\n" in _answer(child, "")


def test_the_history_is_there(terminal) -> None:
    pytest.importorskip("readline", reason="this Python has no readline")
    child = terminal("LD R, #1\nLD R, #2\nLD R, #3\n")
    assert "cycle 2" in _answer(child, "goto 2")
    assert "cycle 1" in _answer(child, "back")
    up = "\x1b[A"
    assert "cycle 2" in _answer(child, up + up)


def test_control_c_ends_a_long_command_and_nothing_else(terminal) -> None:
    child = terminal(ENDLESS)
    child.sendline("continue")
    with pytest.raises(pexpect.TIMEOUT):
        child.expect(PROMPT, timeout=1)
    child.sendintr()
    child.expect("interrupted")
    child.expect(PROMPT)
    before = _answer(child, "info streams")
    assert "cycle" in before
    assert "cycle 5\r\n" in _answer(child, "goto 5")
    child.sendintr()
    child.expect(PROMPT)
    assert "cycle 6\r\n" in _answer(child, "step")


def test_a_fault_leaves_the_debugger_usable(terminal) -> None:
    child = terminal("LD R, #1\nLD R, #2\nRET\n")
    answer = " ".join(_answer(child, "continue").split())  # the path may be so long that the line is folded
    assert "RET without CALL" in answer
    assert "cycle 1\r\n" in _answer(child, "back")
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0, "the end of the input is the end of the conversation"
