"""Does program text survive in every format, whatever it holds?"""

import io
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixelflow.observe import Bus, Executed, RunBegan, RunEnded, StageBegan
from pixelflow.simd.trace import Label, Trace, Track
from pixelflow.simd.trace.perfetto import read_perfetto
from pixelflow.simd.trace.trace_model import ascii_text, line_text
from tests.trace.readers import unescape
from tests.trace.runs import EIGC, checked, listen, written

pywellen = pytest.importorskip("pywellen", reason="pywellen, a reader of dumps, is not installed")

HOSTILE = [
    "LD R, mem[p]",
    "[red]ADD[/red] [/x]",
    "tab\there",
    "line\nend\r",
    "quotes \"double\" and 'single' `back`",
    "naïve → Ω 漢字 🙂",
    r"back\slash \n \x20 \\",
    "$end $var #12 %d {x}",
    "bell\x07 null\0 escape\x1b[31m",
    "\u2028 line separator and \u00a0 no-break space",
    " blanks  at both ends ",
    ";",
    r"\x41;",
]


def program_of(text: str, routine: str = "r") -> SimpleNamespace:
    """A program of one instruction whose text, file and routine are given."""
    instruction = SimpleNamespace(text=lambda: text, declaration=SimpleNamespace(mnemonic="LD", opcode=16), cycles=2)
    return SimpleNamespace(
        name=text,
        sha256="0" * 64,
        instructions=[instruction],
        addresses=[7],
        line_at=lambda index: SimpleNamespace(file=text, line=3, text=text),
        routine_at=lambda address: SimpleNamespace(name=routine, entry=0, end=9),
    )


def trace_of(text: str) -> Trace:
    bus = Bus()
    tracer = listen(bus)
    bus.publish(RunBegan(0, program_of(text, text), ("eigc",), True, SimpleNamespace(streams={})))
    bus.publish(StageBegan(0, "eigc", text))
    bus.publish(Executed(0, "eigc", 0, 2))
    bus.publish(RunEnded(2, "halt", {"eigc": 2}, SimpleNamespace(engine="rows", ledger=None)))
    return tracer.trace


@pytest.mark.parametrize("text", HOSTILE)
def test_perfetto_keeps_every_text(text: str) -> None:
    back = read_perfetto(io.BytesIO(written(trace_of(text), "perfetto")), "t")
    label = back.spans[EIGC][0].label
    assert (label.name, label.arg("src"), label.arg("routine")) == (text, f"{text}:3", text)
    assert back.spans[Track.named("eigc stages")][0].label.name == text
    assert back.header["program"] == text


@pytest.mark.parametrize("text", HOSTILE)
def test_kanata_keeps_every_text_on_one_line(text: str) -> None:
    data = written(trace_of(text), "kanata")
    assert checked(data, "kanata").header["program"] == text
    (line,) = [line for line in data.decode().split("\n") if line.startswith("L\t0\t0\t")]
    assert unescape(line.removeprefix("L\t0\t0\t7: ")) == text


@pytest.mark.parametrize("text", HOSTILE)
def test_a_dump_keeps_every_text_for_other_readers(text: str, tmp_path: object) -> None:
    data = written(trace_of(text), "vcd")
    assert checked(data, "vcd").header["program"] == text
    (tmp_path / "t.vcd").write_bytes(data)
    wave = pywellen.Waveform(str(tmp_path / "t.vcd"))
    read = {variable.full_name: variable.signal.value_at(0) for variable in wave.all_vars()}
    assert unescape(read["eigc.instruction"]) == text
    assert unescape(read["eigc.stage"]) == text


@given(st.text())
def test_what_is_escaped_comes_back(text: str) -> None:
    assert unescape(line_text(text)) == text
    assert unescape(ascii_text(text)) == text
    assert line_text(text).isprintable() or not line_text(text)
    assert ascii_text(text).isascii()


def test_plain_text_stays_as_it_is() -> None:
    assert ascii_text('LD R, mem[p + 1], "x"') == 'LD R, mem[p + 1], "x"'
    assert line_text("größer") == "größer"


def test_labels_with_the_same_text_are_one() -> None:
    trace = trace_of("x")
    label = trace.labels[0]
    assert trace.label(Label(label.name, label.category, label.args)) == 0
