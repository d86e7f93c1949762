"""Does an object file come back as it was, and is a damaged one refused with a reason?"""

from __future__ import annotations

import json

import pytest

from pixelflow.isa import INSTRUCTIONS, DataBlock, Imm, MemoryRange, Program, Register, Routine, SourceLine
from pixelflow.simd.errors import InputError


def _program() -> Program:
    made = [INSTRUCTIONS.make("LD", Register.R, Imm(7)), INSTRUCTIONS.make("HALT")]
    return Program(
        words=tuple(word for one in made for word in one.encode()),
        name="seven",
        labels={"begin": 0},
        routines=(Routine("f", 1, 2, ("a",), ((152, 14),)),),
        names=("stage",),
        ranges=(MemoryRange("x", 0, 4),),
        data=(DataBlock(0, (1, 2, 3)), DataBlock(4, lanes=2)),
        lines=(SourceLine("seven.mc", 1, "LD R, #7"),),
        line_of=(0, -1),
    )


def test_round_trip(tmp_path) -> None:
    program = _program()
    path = tmp_path / "seven.mco"
    program.save(path)
    assert Program.load(path) == program
    assert Program.load(path).to_json() == program.to_json()


def test_places() -> None:
    program = _program()
    assert program.addresses == (0, 1)
    assert program.where(0) == "seven.mc:1"
    assert program.where(1) == "word 1"
    assert program.routine_at(0) is None
    assert program.routine_at(1).name == "f"
    assert program.range("x").size == 4
    with pytest.raises(KeyError):
        program.range("y")


def _refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        Program.from_json(text, "bad.mco")
    return str(caught.value)


def test_damage_is_refused_with_a_reason() -> None:
    good = _program().to_json()
    assert "JSON" in _refused("LD R, #7")
    assert "JSON" in _refused("[" * 100_000)
    assert "None" in _refused("[]")
    assert "schema 'pixelflow.program/9'" in _refused(good.replace("program/1", "program/9"))
    assert "checksum" in _refused(good.replace("10", "11", 1))
    body = json.loads(good)
    del body["labels"]
    assert "'labels'" in _refused(json.dumps(body))
    for at in range(0, len(good), 7):
        flipped = good[:at] + chr(ord(good[at]) ^ 1) + good[at + 1 :]
        try:
            Program.from_json(flipped, "bad.mco")
        except InputError:
            continue


def test_missing_files_are_input_errors(tmp_path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Program.load(tmp_path / "none.mco")
    (tmp_path / "binary.mco").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="this is UTF-16 text"):
        Program.load(tmp_path / "binary.mco")
