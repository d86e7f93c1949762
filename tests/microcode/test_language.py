"""Does each feature of the language give the instructions derived by hand?"""

from __future__ import annotations

import struct

import pytest

from microcode import assemble
from pixelflow.isa import DataBlock, MemoryRange, Program
from pixelflow.simd.errors import InputError


def code(program: Program) -> list[str]:
    """The instructions of a program as canonical text, without the HALT that ends main code."""
    texts = [instruction.text() for instruction in program.instructions]
    assert "HALT" in texts
    texts.remove("HALT")
    return texts


ROWS = {
    "registers, memory and immediates": (
        "range x[4] at 8\nLD R, x\nLD S, x[3]\nLD M, [x + 1]\nLD R, [12]\nLD R, #-1\nADD R, S",
        ["LD R, [8]", "LD S, [11]", "LD M, [9]", "LD R, [12]", "LD R, #-1", "ADD R, S"]),
    "gated forms": ("LD.E R, S\nADD.E S, #3", ["LD.E R, S", "ADD.E S, #3"]),
    "optional source": ("SHL R\nSHL R, S\nROR.E M", ["SHL R", "SHL R, S", "ROR.E M"]),
    "a written-out optional source means the same": ("SHL R, R", ["SHL R"]),
    "numbers": ("LD R, #10\nLD R, #0x1F\nLD R, #0b101\nLD R, #'A'\nLD R, #1_0",
        [f"LD R, #{n}" for n in (10, 31, 5, 65, 10)]),
    "arithmetic": ("LD R, #2 + 3 * 4\nLD R, #-7 / 2\nLD R, #-7 % 4\nLD R, #1 << 4 >> 1\nLD R, #~0 & 0xF | 16 ^ 1",
        ["LD R, #14", "LD R, #-4", "LD R, #1", "LD R, #8", "LD R, #31"]),
    "bit operators bind tighter than comparisons": ("LD R, #(6 & 2 == 2)", ["LD R, #1"]),
    "conditions": ("LD R, #(1 < 2 && !(3 >= 4) || 0)\nLD R, #(1 == 2)\nLD R, #(1 != 2)",
        ["LD R, #1", "LD R, #0", "LD R, #1"]),
    "a side that does not matter is not computed": ("LD R, #(0 && 1 / 0)\nLD R, #(1 || 1 / 0)",
        ["LD R, #0", "LD R, #1"]),
    "functions": (
        "range x[6] at 9\nLD R, #min(3, 2)\nLD R, #max(3, 9, 2)\nLD R, #abs(-4)\nLD R, #log2(9)\nLD R, #byte(0x1234, 1)"
        "\nLD R, #size(x)\nLD R, #addr(x)",
        [f"LD R, #{n}" for n in (2, 9, 4, 3, 18, 6, 9)]),
    "float gives the bits of binary32": ("EMC_TreeIntoMem_Li [0], 4, 0, 0, float(1.5)",
        [f"EMC_TreeIntoMem_Li [0], 4, 0, 0, {struct.unpack('<I', struct.pack('<f', 1.5))[0]}"]),
    "const and param": ("const A = 3\nparam B = A + 1\nLD R, #A * B", ["LD R, #12"]),
    "repeat has an inclusive upper bound": ("repeat i in 1 .. 3\nLD R, #i\nend", ["LD R, #1", "LD R, #2", "LD R, #3"]),
    "repeat downwards does nothing": ("repeat i in 3 .. 1\nLD R, #i\nend", []),
    "if, else if, else": (
        "repeat i in 0 .. 2\nif i == 0\nLD R, #10\nelse if i == 1\nLD R, #11\nelse\nLD R, #12\nend\nend",
        ["LD R, #10", "LD R, #11", "LD R, #12"]),
    "macro arguments are operands of any kind": (
        "range x[4] at 4\nmacro m(r, a, k, n)\nLD r, a\nLD r, a[n]\nLD r, k\nLD r, #n\nend"
        "\nm S, x, #7, 2\nm R, x[1], R, 1",
        ["LD S, [4]", "LD S, [6]", "LD S, #7", "LD S, #2", "LD R, [5]", "LD R, [6]", "LD R, R", "LD R, #1"]),
    "a macro may come after its use": ("m 1\nmacro m(k)\nLD R, #k\nend", ["LD R, #1"]),
    "a macro sees the names around its definition": (
        "const k = 1\nmacro m()\nLD R, #k\nend\nrepeat i in 1 .. 1\nconst k = 2\nm\nend", ["LD R, #1"]),
    "labels of a macro are its own": ("macro spin()\nagain: JMP again\nend\nspin\nspin", ["JMP 0", "JMP 1"]),
    "labels may be passed to macros": ("macro go(t)\nJMP t\nend\nLD R, S\ntop: go top", ["LD R, S", "JMP 1"]),
    "labels of a repeat belong to one turn": ("repeat i in 0 .. 1\nhere: JMP here\nend", ["JMP 0", "JMP 1"]),
    "loop": ("loop 8\nMSTEP\nend", ["LOOP 8", "MSTEP", "ENDL"]),
    "marks": ('MARK "points"\nMARK "normals"\nMARK "points"', ["MARK 0", "MARK 1", "MARK 0"]),
    "computed names": (
        "macro make(n)\nproc f{n}_x()\nLD R, #n\nend\nend\nmake 3\nCALL f{1 + 2}_x\nconst c3 = 9\nLD S, #c{3}",
        ["CALL 7", "LD S, #9", "LD R, #3", "RET"]),
    "pixel copies": ("EMC_PixCopy [64], [32], 32, 1 << 3", ["EMC_PixCopy [64], [32], 32, 8"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_feature(name: str) -> None:
    text, expected = ROWS[name]
    assert [line.strip() for line in code(assemble(text + "\n"))] == [line.strip() for line in expected]


CONDITIONS = {
    "R == R": True, "R == S": False, "R != S": True, "R != R": False,
    "1.5 == 1.5": True, "1.5 != 1.5": False, "1.5 < 2": True, "2 < 1.5": False, "2.5 >= 2.5": True, "2.5 > 2.5": False,
    '"a" == "a"': True, '"a" == "b"': False, '"a" != "b"': True, '"a" != "a"': False,
    "x == x[0]": True, "x == x[1]": False, "x != x[1]": True, "x != x[0]": False,
    "x < x[1]": True, "x < x": False, "x <= x": True, "x[1] > x": True, "x >= x[1]": False,
    "x[3] - x == 3": True, "1 + x == x[1]": True, "x[3] - 2 == x[1]": True,
}  # fmt: skip


@pytest.mark.parametrize(("condition", "holds"), CONDITIONS.items())
def test_conditions(condition: str, holds: bool) -> None:
    program = assemble(f"range x[4] at 8\nif {condition}\nMSTEP\nend\n")
    assert [each.mnemonic for each in program.instructions] == ["MSTEP"] * holds + ["HALT"]


def test_words_by_hand() -> None:
    """LD: opcode 0x10, no gate, register 00, kind 01, base 000, offset 0000001100 (12): 0x10080300."""
    assert list(assemble("LD R, [12]\n").words) == [0x10080300, 0x01000000]


def test_a_routine_starts_and_returns_and_takes_parameters() -> None:
    text = """
        range x[4] at 16
        CALL f, x, #5, [x + 2]
        routine f(d, k, a) uses 100, 2
            LD R, a[1]
            LD S, #k
            ADD S, #k + 1
            ADDP d, 4
            LD M, [d - 1]
            CALL g, d, a[3]
        end
        proc g(p, q)
            LD R, q
        end
    """
    program = assemble(text)
    f, g = program.routine("f"), program.routine("g")
    assert code(program) == [
        f"CALL {f.entry}, [16], [5], [18]",
        *("START", "LD R, [P2+1]", "LD S, #P1", "ADD S, #P1+1", "ADDP P0, 4", "LD M, [P0-1]"),
        f"CALL {g.entry}, [P0], [P2+3]",
        *("RET", "LD R, [P1]", "RET"),
    ]
    assert (f.parameters, f.scratch, f.started) == (("d", "k", "a"), ((100, 2),), True)
    assert (g.parameters, g.scratch, g.started) == (("p", "q"), (), False)


def test_scratch_may_be_given_by_range() -> None:
    program = assemble("range s[3] at 50\nroutine f(a) uses s, 60, 2\nSTA s, R\nend\n")
    assert program.routine("f").scratch == ((50, 3), (60, 2))


@pytest.mark.parametrize(("size", "start"), [(8, 4), (4, 5), (2, 9), (4, 11), (16, 0)])
def test_a_range_that_reaches_into_an_earlier_one_is_refused(size: int, start: int) -> None:
    with pytest.raises(InputError, match=rf"range y, bytes {start}..{start + size - 1}, overlaps range x, bytes 8..11"):
        assemble(f"range x[4] at 8\nrange y[{size}] at {start}\n")
    beside = assemble(f"range x[4] at 8\nrange y[{size}] at {8 - size if size <= 8 else 12}\n")
    assert len(beside.ranges) == 2


def test_ranges_are_placed_where_there_is_room() -> None:
    program = assemble(
        "range a[4] at 2\nroutine f() uses 6, 4\nend\nrange b[2]\nrange c[3]\noverlay o[8] at a\nrange d[1]\n"
    )
    assert program.ranges == (
        MemoryRange("b", 0, 2),
        MemoryRange("a", 2, 4),
        MemoryRange("o", 2, 8),
        MemoryRange("c", 10, 3),
        MemoryRange("d", 13, 1),
    )


def test_data_sections() -> None:
    text = """
        range x[8] at 4
        range number[2] at 12
        data x: float 1.5, -2
        data [0]: 1, 0xFF, -1
        data [20]: word 0x01020304
        data number: lane
    """
    assert assemble(text).data == (
        DataBlock(0, (1, 255, 255)),
        DataBlock(4, tuple(struct.pack("<2f", 1.5, -2))),
        DataBlock(12, (), 2),
        DataBlock(20, (4, 3, 2, 1)),
    )


def test_streams_have_their_own_code_and_halt() -> None:
    program = assemble("SIGNAL 1\nstream tigc\nWAIT 1\nstream eigc\nWAIT 2\n")
    assert [i.text() for i in program.instructions] == ["SIGNAL 1", "WAIT 2", "HALT", "WAIT 1", "HALT"]
    assert program.entries == {"eigc": 0, "tigc": 3}


def test_an_explicit_halt_is_not_doubled() -> None:
    assert len(assemble("LD R, S\nHALT\n").instructions) == 2


def test_labels_are_reported_with_their_routine() -> None:
    program = assemble("top: LD R, S\nCALL f\nroutine f()\nin_f: LD R, S\nend\n")
    assert program.labels == {"top": 0, "f.in_f": program.routine("f").entry + 1}


def test_parameters_override_params() -> None:
    assert code(assemble("param N = 3\nLD R, #N\n", N=7)) == ["LD R, #7"]


def test_source_lines_are_those_of_the_macro_body() -> None:
    program = assemble("macro m()\n  LD R, S\nend\nm\n")
    line = program.line_at(0)
    assert line is not None and (line.line, line.text) == (2, "  LD R, S")
