"""Does a disassembled program assemble back to the same words, labels, ranges and data?"""

from __future__ import annotations

import pytest

from microcode import Builder, Imm, Mem, R, S, assemble, disassemble
from pixelflow.isa import Program
from tests.microcode.sources import EXAMPLES, LIBRARIES, MIXED, random_text


def assert_same(first: Program, again: Program) -> None:
    assert again.words == first.words
    assert again.sha256 == first.sha256
    assert again.labels == first.labels
    assert again.ranges == first.ranges
    assert again.routines == first.routines
    assert again.names == first.names


@pytest.mark.parametrize("path", [*EXAMPLES, *LIBRARIES], ids=lambda path: path.name)
def test_a_program_of_the_repository(path) -> None:
    program = assemble(path)
    assert_same(program, assemble(disassemble(program)))


def test_a_program_with_everything() -> None:
    program = assemble(MIXED)
    text = disassemble(program)
    assert_same(program, assemble(text))
    assert disassemble(assemble(text)) == text


@pytest.mark.parametrize("seed", range(60))
def test_random_instructions(seed: int) -> None:
    program = assemble(random_text(seed))
    again = assemble(disassemble(program))
    assert again.words == program.words, f"seed {seed}"


def test_the_text_uses_the_names_of_the_program() -> None:
    text = "range x[4] at 8\nCALL f, x\nroutine f(d) uses 20, 2\nagain: LD R, d[1]\nSTA [20], R\nJMP again\nend\n"
    assert disassemble(assemble(text)) == (
        "; program: 7 instructions, 11 words\n"
        "range x[4] at 8\n"
        "    CALL f, x\n"
        "    HALT\n"
        "\n"
        "routine f(d) uses 20, 2\n"
        "again:\n"
        "    LD R, d[1]\n"
        "    STA [20], R\n"
        "    JMP again\n"
        "end\n"
    )


def test_targets_without_a_name_get_one() -> None:
    program = assemble("macro spin()\nhere: JMP here\nend\nspin\nL0: LD R, S\n")
    assert program.labels == {"L0": 1}
    again = assemble(disassemble(program))
    assert again.words == program.words
    assert again.labels == {"L0_": 0, "L0": 1}


def test_names_hidden_by_parameters_are_avoided() -> None:
    program = assemble("range x[4] at 8\nroutine f(x)\nLD R, x[1]\nLD R, [9]\nend\n")
    assert assemble(disassemble(program)).words == program.words


def test_the_builder_gives_the_program_of_the_text() -> None:
    b = Builder("program")
    x, y = b.range("x", 4, at=8), b.range("y", 4)
    b.data(x, 1, 2, 3, 4)
    b.label("begin")
    b.mark("stage")
    for i in range(4):
        b.emit("LD", R, x[i])
        (b.ADC if i else b.ADD)(R, y[i])
        b.ST(y[i], R)
    b.SHL.E(S)
    b.call("f", x, Imm(3))
    with b.loop(2):
        b.LD(S, Mem(300))
    b.JMP("begin")
    with b.routine("f", ("d", "k"), uses=[(100, 2)]) as (d, k):
        b.LD(R, Imm(0, k.base))
        b.ST(d[1], R)
        b.STA(Mem(100), R)
    with b.proc("g"):
        b.MSTEP()
    text = """
        range x[4] at 8
        range y[4]
        data x: 1, 2, 3, 4
        begin: MARK "stage"
        repeat i in 0 .. 3
            LD R, x[i]
            if i
                ADC R, y[i]
            else
                ADD R, y[i]
            end
            ST y[i], R
        end
        SHL.E S
        CALL f, x, #3
        loop 2
            LD S, [300]
        end
        JMP begin
        routine f(d, k) uses 100, 2
            LD R, #k
            ST d[1], R
            STA [100], R
        end
        proc g()
            MSTEP
        end
    """
    assert_same(assemble(text), b.build())


@pytest.mark.parametrize("place", ["a[2]", "b", "[b - 2]", "[P2]", "[P2+3]", "[P3]"])
def test_a_parameter_has_its_name_where_the_routine_has_one(place: str) -> None:
    text = disassemble(assemble(f"HALT\nproc f(a, b)\nLD R, {place}\nend\n"))
    assert text.endswith(f"proc f(a, b)\n    LD R, {place}\nend\n")
