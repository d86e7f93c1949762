"""Do scripts of debugger commands give the transcripts that were read and found right, and the right exit codes?

A transcript is its own script: the lines behind the prompt are the commands, everything else is what they answer.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from pixelflow.debugger.node_dialogue import COMMANDS
from tests.debugger import programs

ROOT = Path(__file__).resolve().parents[2]
TRANSCRIPTS = Path(__file__).with_name("transcripts")
PROMPT = "(pixelflow) "
PROGRAMS = {
    "mandelbrot": "microcode/examples/mandelbrot.mc",
    "texture_copy": "microcode/examples/texture_copy.mc",
    "help": "microcode/examples/panel_sum.mc",
    "fault": "tests/debugger/transcripts/fault.mc",
    "asking": "tests/debugger/transcripts/asking.mc",
    "changing": "tests/debugger/transcripts/asking.mc",
    "two_streams": "microcode/examples/texture_copy.mc",
}
STUCK = "LD R, #1\nWAIT 1\n"
FAULT = "LD R, #1\nRET\n"
LOOP = "LOOP 100\nLD R, #1\nENDL\n"


def _commands(transcript: str) -> str:
    lines = transcript.splitlines()
    return "\n".join(line.removeprefix(PROMPT) for line in lines if line.startswith(PROMPT)) + "\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_transcript(name: str, pixelflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    transcript = (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8")
    script = tmp_path / "commands"
    script.write_text(_commands(transcript), encoding="utf-8")
    found = pixelflow("debug", PROGRAMS[name], "--cmd", script, "--width", 80)
    assert (found.code, found.err) == (0, "")
    assert found.out == transcript
    assert max(len(line) for line in found.out.splitlines()) <= 80
    assert "\x1b" not in found.out


def test_the_transcripts_use_every_command() -> None:
    """All but the two that hold a conversation together."""
    used = {
        line.removeprefix(PROMPT).split()[0]
        for name in PROGRAMS
        for line in (TRANSCRIPTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        if line.startswith(PROMPT)
    }
    assert {command.name for command in COMMANDS} - used <= {"quit"}


@pytest.fixture
def debug(pixelflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run a program's text with commands on standard input."""

    def run(text: str, commands: str, *options: object):
        (tmp_path / "prog.mc").write_text(text)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "stdin", io.StringIO(commands))
        return pixelflow("debug", "prog.mc", "--preset", "tiny", *options)

    return run


@pytest.mark.parametrize(
    ("text", "commands", "code"),
    [
        ("LD R, #1\n", "continue\n", 0),
        (STUCK, "continue\n", 4),
        (STUCK, "continue\nback\n", 0),
        (LOOP, "continue\n", 5),
        (FAULT, "continue\n", 6),
        (FAULT, "continue\nquit\nback\n", 6),
        (FAULT, "end\ngoto 0\n", 0),
        (FAULT, "", 0),
    ],
)
def test_the_exit_code_is_that_of_where_the_script_leaves_the_run(debug, text: str, commands: str, code: int) -> None:
    assert debug(text, commands, "--max-cycles", 50).code == code


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("stpe", "unknown command 'stpe'\n    did you mean step?"),
        ("step x", "expected a whole number, found 'x'"),
        ("step 1 2", "expected a number, found '1 2'"),
        ("step 0", "expected a number of 1 or more, found '0'"),
        ("back 0", "expected a number of 1 or more, found '0'"),
        ("break 2 every 0", "expected a number of 1 or more, found '0'"),
        ("print x[4]", "no such byte"),
        ("goto", "expected a cycle"),
        ("break nowhere", "no label or routine 'nowhere'"),
        ("break sem 99", "there is no semaphore 99"),
        ("break sem", "no label or routine 'sem'"),
        ("delete 7", "there is no stop 7"),
        ("watch q", "the program has no memory range 'q'"),
        ("watch x[4]", "no such byte"),
        ("watch 380-400", "380-400: no such bytes"),
        ("watch x pe 9999", "9999 does not exist"),
        ("print", "print what?"),
        ("print q", "the program has no memory range 'q'"),
        ("print x:double", "'double' is not a form"),
        ("print x pe", "expected PEs"),
        ("map q", "neither a flag nor a register nor a memory range"),
        ("back prog.mc:2", "'prog.mc:2' is not a number of instructions\n    a stop: break PLACE, or b PLACE"),
        ("break 2 if", "if what?\n    a condition, as in: break if R == 5 && E"),
        ("break 2 if Q == 1", "Q == 1: unknown name Q"),
        ("break 2 if x ==", "x ==: the line ends too early; expected a name or a number"),
        ("break 2 if any(x[0], 1)", "any takes 1, not 2"),
        ("break 2 if summ(R)", "unknown function summ\n    did you mean sum?"),
        ("break 2 if R % 0", "division by zero"),
        ("break 2 if 1 / R", "division by zero"),
        ("break if x[4]", "x[4]: no such byte\n    allowed: x[0] to x[3]"),
        ("break stage one", "the program has no stage 'one'\n    stages: none"),
        ("break if", "if what?"),
        ("print R +", "R +: the line ends too early"),
        ("print R + q", "R + q: unknown name q"),
        ("print x:float & 1", "& needs integers"),
        ("p/x R", "'p/x': the form of a value is given after its name"),
        ("watch R", "R is not memory\n    for a value: break if R == 1"),
        ("poke R", "'R' gives nothing a value\n    as in: poke R = 5 pe 3"),
        ("poke R == 5", "gives nothing a value"),
        ("poke cycle = 5", "cycle cannot be changed, so that going back stays true"),
        ("poke sem = 5", "sem cannot be changed, so that going back stays true"),
        ("poke q = 5", "the program has no memory range 'q'"),
        ("poke R = 256", "R holds whole numbers from -128 to 255"),
        ("poke E = 2", "E holds whole numbers from 0 to 1"),
        ("poke x[1] = 300", "x[1] holds whole numbers from -128 to 255"),
        ("poke x[1] = 1.5", "x[1] holds whole numbers from -128 to 255"),
        ("poke x = 1 << 70", "x cannot hold numbers of more than 64 bits"),
        ("poke x = 1 pe 9999", "9999 does not exist"),
        ("unpoke 3", "there is no poke 3 (there is: none)"),
        ("pe x", "'x' is not a number or a range of numbers"),
        ("info weather", "no information on 'weather'"),
        ("verbose maybe", "'maybe' is neither on nor off"),
        ("finish", "EIGC is in its main program"),
        ("continue now", "'now' is one word too many"),
        ("next tigc", "'tigc' is one word too many"),
    ],
)
def test_a_bad_command_ends_a_script_with_its_line(debug, command: str, message: str) -> None:
    found = debug("range x[4]\nLD R, x\nLD R, x\n", f"step\n\n{command}\nstep\n")
    assert found.code == 3 and found.err.startswith("standard input:3: error: ") and message in found.err
    assert found.out.rstrip().endswith(PROMPT + command)


def test_short_forms_mean_the_same(debug) -> None:
    text = "range x[4]\nLD R, x\nCALL f, x\nLD R, x\nproc f(a)\nLD R, a\nend\n"
    long = "break f\ncontinue\nfinish\nstep\nback\nnext\nprint x\ngoto 1\nend\ninfo streams\nwatch x\ndelete 1\nlist\n"
    short = "b f\nc\nf\ns\nu\nn\np x\ng 1\ne\ni streams\nw x\nd 1\nl\n"
    answers = []
    for commands in (long, short):
        found = debug(text, commands)
        assert found.code == 0
        answers.append([line for line in found.out.splitlines() if not line.startswith(PROMPT)])
    assert answers[0] == answers[1]


def test_info_names_program_machine_and_engine(debug) -> None:
    out = debug("LD R, #1\n", "info\nend\ninfo\n", "--engine", "bit-serial").out
    assert out.count("engine bit-serial\n") == 2
    assert out.index("not known") < out.index("is cycle 1\n")


def test_one_byte_of_a_range_is_printed(debug) -> None:
    out = debug("range x[4]\nSTI x[2], #171\n", "end\nprint x[2] pe 3\n").out
    assert out.splitlines()[-3].split() == ["PE", "m.e.p.pe", "x[2]"] and out.split()[-1] == "ab"


def test_of_many_watched_bytes_those_that_changed_are_shown(debug) -> None:
    out = debug("range x[20]\nLD R, #7\nST x[11], R\n", "watch x pe 3\ncontinue\n").out
    assert "  bytes x[11]\n" in out and out.split("after")[1].splitlines()[2].split() == ["3", "0.0.0.3", "00", "07"]


def test_control_characters_of_a_source_are_shown_as_escapes(debug) -> None:
    found = debug("LD R, #1 ; \x1b[2J gone\n", "list\nstep\n")
    assert found.code == 0 and "\x1b" not in found.out and "\\x1b[2J gone" in found.out


def test_hostile_text_is_not_taken_for_markup(debug) -> None:
    text = 'range p[4]\nLD R, p[1] ; [bold]x[/bold] [red]\nMARK "[/red]"\nLD R, p\n'
    found = debug(text, "list\nend\nprint stages\n")
    assert "[bold]x[/bold] [red]" in found.out and "[/red]\n" in found.out


def test_a_saved_run_is_looked_into(pixelflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.npz").write_bytes(programs.saved("texture_copy").to_bytes())
    monkeypatch.setattr(sys, "stdin", io.StringIO("end\ninfo streams\n"))
    found = pixelflow("debug", tmp_path / "run.npz")
    assert found.code == 0 and f"cycle {programs.saved('texture_copy').end.cycles:,}, the end" in found.out


def test_pokes_are_recorded_and_a_replay_has_them(debug, pixelflow, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = "step\npoke R = 40 pe 2\nend\n"
    assert debug("LD R, #1\nADD R, #2\n", commands, "--record", "poked.npz").code == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("info pokes\nend\nprint R pe 1-2\nunpoke 1\nprint R pe 2\n"))
    again = pixelflow("debug", "poked.npz")
    assert again.code == 0 and "poke 1: R = 40" in again.out
    assert re.findall(r"^ *\d+ .* (\d+)$", again.out, re.M) == ["3", "42", "3"]
    assert "42" in pixelflow("dash", "poked.npz", "--show", "R", "--width", 160).out, "the dashboard replays the same"


def test_of_a_program_without_microcode_text_the_instructions_are_shown(
    pixelflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pass.npz").write_bytes(programs.saved("pass").to_bytes())
    monkeypatch.setattr(sys, "stdin", io.StringIO("step\n"))
    out = pixelflow("debug", tmp_path / "pass.npz").out
    assert "builder" not in out and "TIGC  passes.py:" in out and "  TAS_SetCrossbar " in out


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["run.npz", "--preset", "tiny"], 2, "a saved run has its own preset"),
        (["run.npz", "-P", "N=1"], 2, "a saved run has its own parameters"),
        (["bad.npz"], 3, "is not a saved run, or its end is missing"),
        (["prog.mc", "--json"], 2, "a conversation is not a JSON object"),
        (["prog.mc", "--record", "-"], 2, "standard output has the conversation"),
        (["prog.mc", "--record", "gone/run.npz"], 3, "gone/run.npz"),
        (["prog.mc", "--machine", "gen6", "--record", "r.npz"], 2, "is of PixelFlow's runs"),
        (["-"], 2, "standard input cannot be the program and the commands"),
        (["prog.mc", "--cmd", "nothing"], 3, "nothing: error: no such file"),
    ],
)
def test_what_cannot_be_debugged(
    pixelflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("step\n"))
    (tmp_path / "run.npz").write_bytes(programs.saved("panel_sum").to_bytes())
    (tmp_path / "bad.npz").write_bytes(b"PK nothing")
    (tmp_path / "prog.mc").write_text("LD R, #1\n")
    found = pixelflow("debug", *options)
    assert found.code == code and message in found.err and not found.out


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("step 2\nwhere", "step 2\nbt"),
        ("run", "continue"),
        ("si\nni\nrs", "step\nnext\nback"),
        ("b f\nr\nfin", "break f\ncontinue\nfinish"),
        ("br f\nd 1\ni b", "break f\ndelete 1\nbreak"),
        ("x 0-3 pe 2", "print 0-3 pe 2"),
        ("x x[1] pe 2", "print x[1] pe 2"),
        ("set var R = 7\nj 1\ndisas", "poke R = 7\ngoto 1\nlist"),
        ("info registers pe 3", "print registers pe 3"),
        ("info break\nexit", "info stops\nquit"),
    ],
)
def test_words_of_other_debuggers_are_understood(debug, theirs: str, ours: str) -> None:
    text = "range x[4]\nLD S, #1\nCALL f\nLD R, #2\nroutine f()\nLD R, #1\nend\n"
    answers = []
    for commands in (theirs, ours):
        found = debug(text, commands + "\n")
        assert found.code == 0, found.err
        answers.append([line for line in found.out.splitlines() if not line.startswith(PROMPT)])
    assert answers[0] == answers[1]
