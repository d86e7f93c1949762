"""Does the debugger stop at its stops, show the state of threads, and have one state for each position?"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gen6_bridge.debugger import EuReplay, EuSession, open_dialogue, place_named
from gen6_bridge.machine import run_program
from gen6_bridge.program import assemble_eu
from gen6_bridge.time import EuConfig
from pixelflow.cli.main import main
from pixelflow.simd.errors import InputError
from pixelflow.simd.isa.program import find_code
from pixelflow.simd.report import Part, as_text

SOURCE = """\
.data g10 D 1, 2, 3, 4, 5, 6, 7, 8
mov (8) g20<1>D 0D
TOP:
add (8) g20<1>D g20<8,8,1>D 1D
cmp.l.f0.0 (8) null<1>D g20<8,8,1>D g10<8,8,1>D
(+f0.0) while (8) TOP
mov (1) a0.0<1>UW 320UW
mov (4) g22<1>D g[a0.0, 4]<4,4,1>D
nop
"""
FAULT = "mov (8) g1<1>D 7D\nmov (8) g2<1>D mask0<0,1,0>UD\n"


def begun(**values: int) -> EuSession:
    return EuSession(EuReplay(assemble_eu(SOURCE), EuConfig(**values)))


class Shown:
    """A viewer that keeps what it shows."""

    width = 100

    def __init__(self) -> None:
        self.text = ""

    def print(self, *parts: Part) -> None:
        self.text += as_text(parts, self.width, color=False)


def said(source: str, *commands: str, **values: int) -> str:
    """Return what a dialogue answers to the last command."""
    shown = Shown()
    dialogue = open_dialogue(assemble_eu(source), EuConfig(**values), shown)
    for command in commands:
        shown.text = ""
        dialogue.carry_out(command)
    return shown.text


def test_a_position_has_one_state() -> None:
    session = begun(count=2)
    states = []
    while not session.replay.ended:
        states.append((session.replay.position, session.unit.memory.data.tobytes(), session.unit.flags.tolist()))
        session.step(1)
    assert len(states) == 1 + 3 * 8 + 3
    for position in (20, 3, 27, 0):
        session.goto(position)
        assert (session.replay.position, session.unit.memory.data.tobytes(), session.unit.flags.tolist()) == states[
            position
        ]


def test_its_cycles_are_the_runs() -> None:
    program = assemble_eu(SOURCE)
    session = begun(count=3)
    session.goto(1 << 62)
    run = run_program(program, config=EuConfig(count=3))
    assert [len(each) for each in session.cycles()] == [each.issued for each in run.account.threads]
    # An issue ends as many cycles later as its part is held: the NOP at the end, 2.
    assert [each[-1][1] + 2 for each in session.cycles()] == [each.end for each in run.account.threads]


def test_a_stop_is_met_every_third_time() -> None:
    session = begun()
    session.add(find_code(session.program, "TOP"), 3)
    hits = session.go_on().hits
    # TOP comes after the first MOV and then after each of the turns of three instructions.
    assert len(hits) == 1 and session.replay.position == 1 + 2 * 3


def test_a_change_has_its_instruction_and_its_threads() -> None:
    session = begun(count=2)
    session.add(place_named("g20.2:D"))
    session.go_on()
    session.go_on()
    (hit,) = session.go_on().hits
    assert hit.by == 1 and hit.threads.tolist() == [0, 1] and hit.after.tolist() == [[3], [3]]
    # Channel 2 counts to 3 and no further.
    assert session.go_on().hits == ()


@pytest.mark.parametrize(
    ("commands", "answer"),
    [
        (("step 4", "print g20:D"), "thread 0 g20:D +0 1 1 1 1"),
        (("step thread 0 4", "print g20:D"), "thread 0 g20:D +0 1 1 1 1"),
        (("step 4", "print masks"), "0 waits 4 0 0"),
        (("step 4", "print masks"), "not dispatched"),
        (("step 4", "print f0"), "00fe 0000"),
        (("print regions 8",), "src0 indirect, D, general register.byte: 0.4 0.8 0.12 0.16"),
        (("goto 26", "print regions"), "10.4 10.8 10.12 10.16"),
        (("break step 5", "continue"), "stop 1: step 5 step 5 <text>:5"),
        (("break 6", "break"), "(met 0 times)"),
        (("end", "info threads"), "ended"),
        (("list TOP",), "(+f0.0) while (8) TOP"),
        (("end", "back 2", "step thread 0"), "step 27"),
        (("help print",), "registers, masks, or regions"),
        (("b TOP", "end", "rc"), "stop 1: TOP step 22 <text>:4"),
        (("b TOP every 3", "end", "rc", "rc"), "stop 1: TOP, 1 time in 3 step 7 <text>:4"),
        (("watch g20.2:D", "end", "rc"), "thread 0: [0] 00000002 -> 00000003 step 8"),
        (("b step 5", "r", "u", "info b"), "step 5 (met 1 time)"),
        (("end", "bt"), "ended"),
        (("help u",), "also: rs, reverse-step, undo"),
        (("step 4", "poke g20.1:D = -7", "print g20:D"), "thread 0 g20:D +0 1 -7 1 1"),
        (("step 4", "poke g20.1:D = -7", "u 4", "print g20:D", "g 4", "print g20:D"), "thread 0 g20:D +0 1 -7 1 1"),
        (("step 4", "set g20:F = 1.5 thread 0", "end", "u 99", "step 4", "print g20:F"), "g20:F +0 1.5 1.5"),
        (("poke g1:UB = 255", "poke"), "poke g1:UB = 255 in 1 thread at step 0"),
    ],
)
def test_commands_answer(commands: tuple[str, ...], answer: str) -> None:
    assert answer in " ".join(said(SOURCE, *commands, channels=8).split())


def test_there_and_back_through_changes_a_position_has_one_state() -> None:
    """Pokes at the beginning, on the way and at the end; then back and forwards, against one pass that makes them."""

    def state(session: EuSession) -> bytes:
        return session.unit.memory.data.tobytes() + session.unit.lanes.get_word("pc").tobytes()

    def poked(session: EuSession, positions: tuple[int, ...]) -> None:
        for position in positions:
            session.goto(position)
            session.replay.poke(place_named(f"g{10 + position % 7}.1:D"), [0], 40 + position)

    one, other = (begun() for _ in range(2))
    poked(one, (9, 4, 0, 6))
    poked(other, (0, 4, 6, 9))
    seen: dict[int, bytes] = {}
    for position in (12, 3, 9, 8, 4, 0, 6, 20, 5):
        one.goto(position)
        seen[one.replay.position] = state(one)
    for position in sorted(seen):
        other.goto(position)
        assert state(other) == seen[position], f"step {position}"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("stp", "unknown command 'stp'"),
        ("print g128", "no such registers"),
        ("print g1.8:D", "no such element"),
        ("print g1:G", "G is not a form"),
        ("where 1", "is one word too many"),
        ("print g1:UDD", "did you mean UD"),
        ("list 0 1", "is one word too many"),
        ("info threads 1", "no information on .threads 1."),
        ("step thread 1", "there is no thread 1"),
        ("break NOWHERE", "no label or routine 'NOWHERE'"),
        ("delete 3", "there is no stop 3"),
        ("watch g1 g2", "expected a register"),
        ("poke pc = 3", "pc cannot be changed, so that going back stays true"),
        ("poke g1:UB = 256", "g1:UB does not hold 256 as UB"),
        ("poke g1:D = 1.5", "g1:D does not hold 1.5 as D"),
        ("poke g1:F = 1e300", "g1:F does not hold 1e.300 as F"),
        (f"print g{'1' * 5000}", "is not a place of a thread"),
        (f"print g1.{'1' * 5000}", "is not a place of a thread"),
        (f"watch g1-g{'1' * 5000}", "is not a place of a thread"),
        ("poke g1", "assigns no number"),
    ],
)
def test_wrong_commands_have_messages(command: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        said(SOURCE, command)


def test_a_fault_stops_before_its_instruction(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                              monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    source = tmp_path / "fault.g6a"
    source.write_text(FAULT)
    monkeypatch.setattr("sys.stdin", io.StringIO("continue\nprint g1:D\nback\ninfo\n"))
    assert main(["debug", "--machine", "gen6", str(source)]) == 0  # it stands before the fault again
    shown = capsys.readouterr().out
    assert "undefined" in shown and "step 1\n" in shown and "step 0\n" in shown
    monkeypatch.setattr("sys.stdin", io.StringIO("end\n"))
    assert main(["debug", "--machine", "gen6", str(source)]) == 6


def test_only_machines_that_can_be_looked_into_are(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                   monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["debug", "--machine", "larrabee", str(tmp_path / "none")]) == 2
    assert "runs of Larrabee cannot be looked into" in capsys.readouterr().err
    assert main(["debug", "--machine", "gen6", str(tmp_path / "none"), "--memory", "x.npz"]) == 2
    assert "--memory" in capsys.readouterr().err
