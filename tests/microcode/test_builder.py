"""Does the builder give Python names, places, messages and speed?"""

from __future__ import annotations

import pytest

from microcode import Builder, DataKind, Imm, Mem, R, S, assemble
from pixelflow.isa import INSTRUCTIONS
from pixelflow.simd.errors import InputError, format_error


def message(call, *arguments, **keywords) -> str:
    with pytest.raises(InputError) as caught:
        call(*arguments, **keywords)
    return format_error(caught.value)


def test_every_instruction_is_a_method() -> None:
    b = Builder()
    for declaration in INSTRUCTIONS.values():
        assert callable(getattr(b, declaration.mnemonic))


def test_a_misspelt_method_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match="did you mean MSTEP"):
        _ = Builder().MSTP


def test_mistakes_are_input_errors() -> None:
    b = Builder()
    x = b.range("x", 4, at=0)
    assert message(b.emit, "LDD", R, S) == "error: unknown instruction LDD\n    did you mean LD?"
    assert message(b.LD, R) == "error: LD takes 2 operands, not 1\n    usage: LD[.E] dst, src"
    assert message(b.ST.E, x, R) == "error: ST has no .E form\n    usage: ST address, register"
    assert message(b.LD, R, Imm(300)) == "error: LD: #300 is not a byte, allowed: #-128..#255"
    assert message(b.LD, R, Mem(384)) == "error: LD: byte 384 leaves the PE: its memory is 0..383"
    assert message(x.__getitem__, 4) == "error: x[4] is outside the range: x has 4 bytes"
    assert message(b.range, "y", 4, at=2) == "error: range y, bytes 2..5, overlaps range x, bytes 0..3"
    assert message(b.range, "two words", 4).startswith("error: 'two words' is not a name")
    assert message(b.stream, "gigc") == "error: unknown stream gigc\n    streams: eigc, tigc"
    assert message(b.data, x, 1, 2, 3, 4, 5) == "error: 5 bytes of data, but there is room for 4"


def test_missing_labels_show_the_python_line() -> None:
    b = Builder()
    b.JMP("nowhere")
    with pytest.raises(InputError) as caught:
        b.build()
    (fault,) = caught.value.faults
    assert fault.place is not None
    assert fault.place.file == "test_builder.py"
    assert 'b.JMP("nowhere")' in fault.place.text


def test_instructions_know_the_python_line_that_made_them() -> None:
    b = Builder()
    b.LD(R, S)
    b.emit("MSTEP")
    with b.loop(2):
        b.mark("stage")
    with b.routine("f"):
        b.call("f")
    program = b.build()
    texts = [program.line_at(i).text.strip() for i in range(5)]
    assert texts == ["b.LD(R, S)", 'b.emit("MSTEP")', "with b.loop(2):", 'b.mark("stage")', "with b.loop(2):"]
    assert program.line_at(6).text.strip() == 'with b.routine("f"):'


def test_data_kinds() -> None:
    b = Builder()
    b.data(b.range("x", 4), 1.5, kind=DataKind.FLOAT)
    b.data(b.range("n", 2), kind=DataKind.LANE)
    b.data(Mem(20), 0x0102, kind=DataKind.WORD)
    assert b.build().data == assemble("data [0]: float 1.5\ndata [4]: lane 2\ndata [20]: word 0x0102\n").data


def test_text_may_be_put_in_between() -> None:
    b = Builder()
    x = b.range("x", 4)
    names = b.source("const n = 3\nrepeat i in 0 .. n\nLD R, src[i]\nend\n", src=x)
    assert names["n"] == 3
    assert [i.text() for i in b.build().instructions[:4]] == [f"LD R, [{i}]" for i in range(4)]


def test_building_twice_gives_the_same() -> None:
    b = Builder()
    b.JMP("a")
    b.label("a")
    assert b.build() == b.build()


def test_seventy_thousand_instructions() -> None:
    b = Builder()
    x = b.range("x", 200)
    for i in range(70_000):
        b.LD(R, x[i % 200])
    assert len(b.build().words) == 70_001


def test_twenty_thousand_lines() -> None:
    text = "range x[200]\n" + "".join(f"    LD R, x[{i % 200}]   ; step {i}\n" for i in range(20_000))
    assert len(assemble(text).words) == 20_001
