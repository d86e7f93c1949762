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
    child = terminal("LD R, #1\nLD R, #2\nLD R, #3\nRET\n")
    assert "help lists" in child.before
    assert "cycle 1\r\n" in _answer(child, "step")
    assert "cycle 2\r\n" in _answer(child, ""), "an empty line is the last command again"
    assert "LD R, #3" in _answer(child, "list")
    assert "did you mean break?" in _answer(child, "braek 20"), "a mistake does not end the conversation"
    fault = " ".join(_answer(child, "continue").split())  # the path may be so long that the line is folded
    assert "RET without CALL" in fault
    assert "cycle 2\r\n" in _answer(child, "back"), "nor does a fault"
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0, "the end of the input is the end of the conversation"


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
    pytest.importorskip("readline", reason="this Python has no readline")
    up = "\x1b[A"
    assert "cycle 5\r\n" in _answer(child, up + up), "the history is there"
    child.sendline("quit")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
