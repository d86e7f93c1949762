"""Does every class of mistake give one clear message, with place, caret and hint?"""

from __future__ import annotations

import pytest

from microcode import assemble
from microcode.catalogue import Library, Operation, find
from pixelflow.simd.errors import InputError, format_error


def message(text: str, **parameters: int) -> str:
    with pytest.raises(InputError) as caught:
        assemble(text + "\n", **parameters)
    assert caught.value.exit_code == 3
    return format_error(caught.value)


def at(line: int, column: int, what: str, source: str, length: int = 1, *hints: str) -> str:
    """The message for a fault in a line of the text, as a user sees it."""
    rows = [
        f"<text>:{line}:{column}: error: {what}",
        f"{line:>5} | {source}",
        f"      | {' ' * (column - 1)}{'^' * length}",
    ]
    return "\n".join(rows + [f"    {hint}" for hint in hints])


LD = "usage: LD[.E] dst, src"
SEE_LD = f"{LD}     see: pixelflow isa LD"
SOURCES = "a register, a memory byte, or an immediate #-128..#255"

ONE_LINE = {
    "misspelt mnemonic": ("LDD R, S", 1, 3, "unknown instruction or macro LDD", ["did you mean LD?"]),
    "unknown mnemonic": ("frobnicate R", 1, 10, "unknown instruction or macro frobnicate", ["see: pixelflow isa"]),
    "unknown suffix": ("LD.F R, S", 3, 2, "unknown suffix .F", ["the only suffix is .E: act where enabled"]),
    "no gated form": ("ST.E [3], R", 3, 2, "ST has no .E form", ["usage: ST address, register"]),
    "too few operands": ("LD R", 1, 2, "LD takes 2 operands, not 1", [LD]),
    "too many operands": ("LD R, S, M", 10, 1, "LD takes 2 operands, not 3", [LD]),
    "operands where there are none": ("MSTEP R", 7, 1, "MSTEP takes no operands, not 1", ["usage: MSTEP[.E]"]),
    "too many arguments": ("CALL f, #1, #2, #3, #4, #5, #6, #7, #8", 37, 2, "CALL takes 1 to 8 operands, not 9",
        ["usage: CALL target, arguments"]),
    "number for a source": ("LD R, 3", 7, 1, f"LD: src cannot be the number 3, allowed: {SOURCES}",
        ["write #3 for the number, [3] for memory"]),
    "immediate for memory": ("ST #3, R", 4, 2, "ST: address cannot be the immediate #3, allowed: a memory byte", []),
    "memory for a register": ("LD [3], R", 4, 3,
        "LD: dst cannot be the memory byte [3], allowed: a register: R, S or M", []),
    "immediate for a count": ("LOOP #3", 6, 2,
        "LOOP: count cannot be the immediate #3, allowed: an integer 0..65535", ["write 3 without the #"]),
    "byte out of range": ("LD R, #256", 7, 4, "#256 is not a byte", ["allowed: #-128..#255"]),
    "count out of range": ("LOOP 65536", 6, 5, "LOOP: count is 65536, allowed: an integer 0..65535", []),
    "count not among the choices": ("EMC_PixCopy [0], [8], 4, 3", 26, 1,
        "EMC_PixCopy: distance is 3, allowed: one of 1, 2, 4, 8, 16", []),
    "address beyond the PE": ("LD R, [384]", 7, 5, "LD: byte 384 leaves the PE: its memory is 0..383", []),
    "bytes beyond the PE": ("EMC_TreeIntoMem_Li [382], 4, 0, 0, 0", 20, 5,
        "EMC_TreeIntoMem_Li: bytes 382..385 leave the PE: its memory is 0..383", []),
    "missing label": ("JMP nowhere", 5, 7, "nowhere is not a label or routine of this program", []),
    "something else for a label": ("JMP 3", 5, 1, "the name of a label or routine is needed here", []),
    "unknown name": ("LD R, #BYTES", 8, 5, "unknown name BYTES", []),
    "unknown function": ("LD R, #mix(1, 2)", 8, 3, "unknown function mix", ["did you mean min?"]),
    "wrong number of function arguments": ("LD R, #log2(1, 2)", 8, 10, "log2 takes 1 argument, not 2", []),
    "division by zero": ("LD R, #1 / 0", 8, 5, "division by zero", []),
    "huge number": ("const A = 1 << 1000000000", 11, 15, "a shift by 1000000000 bits, allowed: 0..128", []),
    "malformed number": ("LD R, #0xZZ", 8, 4, "0xZZ is not a number", ["numbers look like 10, 0x1F or 0b101"]),
    "chained comparison": ("if 1 < 2 < 3", 10, 1, "comparisons do not chain", ["write a < b && b < c"]),
    "operand missing": ("LD R,", 6, 1, "the line ends too early; expected an operand", [SEE_LD]),
    "comma missing": ("LD R S", 6, 1, "expected an operator, a comma or the end of the line, found 'S'", [SEE_LD]),
    "bracket missing": ("LD R, [3", 9, 1, "the line ends too early; expected ]", [SEE_LD]),
    "operand twice missing": ("LD R,, S", 6, 1, "expected an operand, found ','", [SEE_LD]),
    "strange character": ("LD R, @", 7, 1, "unexpected character '@'", [SEE_LD]),
    "open quotes": ('MARK "abc', 6, 4, 'text without a closing "', ["usage: MARK name     see: pixelflow isa MARK"]),
    "assignment": ("x = 3", 3, 1, "expected an operand, found '='", ["a constant is defined by: const name = value"]),
    "stray end": ("end", 1, 3, "end without macro, repeat, if, routine, proc or loop", []),
    "stray else": ("else", 1, 4, "else without if", []),
    "LOOP without ENDL": ("LOOP 3", 1, 1, "LOOP without ENDL", []),
    "ENDL without LOOP": ("ENDL", 1, 1, "ENDL without LOOP", []),
    "loop without end": ("loop 3", 1, 4, "loop without end", []),
    "macro without end": ("macro m()", 1, 5, "macro without end", []),
    "repeat without end": ("repeat i in 0 .. 3", 1, 6, "repeat without end", []),
    "if without end": ("if 1", 1, 2, "if without end", []),
    "routine without end": ("routine f()", 1, 7, "routine without end", []),
    "proc without end": ("proc f()", 1, 4, "proc without end", []),
    "range beyond the PE": ("range x[10] at 380", 7, 1,
        "range x, bytes 380..389, leaves the PE: its memory is 0..383", []),
    "no room": ("range x[300]", 7, 1, "no room for range x: main memory has no 300 free bytes in a row", []),
    "empty range": ("range x[0]", 7, 1, "range x has size 0; a range has at least one byte", []),
    "a name of the machine": ("const R = 3", 7, 1, "R is a name of the machine and cannot be defined", []),
    "fraction too large": ("data [0]: float 1e999", 17, 5, "1e999 is too large",
        ["the largest binary32 number is 3.4028235e38"]),
    "float too large": ("data [0]: float 1e39", 6, 3, "1e+39 does not fit binary32: the largest is 3.4028235e38", []),
    "whole number too large for a float": (f"data [0]: float 0x1{'0' * 32}", 6, 3,
        f"{1 << 128} does not fit binary32: the largest is 3.4028235e38", []),
    "failed assertion": ('assert 2 < 1, "n is", 2', 8, 5, "n is 2", []),
    "error statement": ('error "not", "here"', 1, 5, "not here", []),
    "unknown stream": ("stream gigc", 8, 4, "unknown stream gigc", ["streams: eigc, tigc"]),
    "lane number too long": ("range x[9]\ndata x: lane", 6, 1, "a lane number takes 1..8 bytes, not 9", []),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_LINE)
def test_mistake_in_one_line(name: str) -> None:
    text, column, length, what, hints = ONE_LINE[name]
    line = next(
        n for n, row in enumerate(text.split("\n"), 1) if n == len(text.split("\n")) or row.startswith("routine f(a")
    )
    assert message(text) == at(line, column, what, text.split("\n")[line - 1], length, *hints)


SEVERAL_LINES = {
    "index outside a range": ("range x[4]\nLD R, x[4]",
        at(2, 9, "x[4] is outside the range: x has 4 bytes", "LD R, x[4]")),
    "bytes beyond a range": ("range x[2]\nEMC_TreeIntoMem_Li x, 4, 0, 0, 0",
        at(2, 20, "EMC_TreeIntoMem_Li: 4 bytes from x on leave the range: it has 2",
           "EMC_TreeIntoMem_Li x, 4, 0, 0, 0")),
    "computed address without brackets": ("range x[4]\nLD R, x + 2",
        at(2, 7, "a computed address needs [ ]", "LD R, x + 2", 5, "write [x + 2] or x[2]")),
    "misspelt range": ("range source[4]\nLD R, sorce[1]",
        at(2, 7, "unknown name sorce", "LD R, sorce[1]", 5, "did you mean source?")),
    "overlap": ("range x[4] at 0\nrange y[4] at 2",
        at(2, 7, "range y, bytes 2..5, overlaps range x, bytes 0..3 (<text>:1)", "range y[4] at 2")),
    "range twice": ("range x[4]\nrange x[4]", at(2, 7, "x is defined twice", "range x[4]")),
    "constant twice": ("const a = 1\nconst a = 2", at(2, 7, "a is defined twice", "const a = 2")),
    "label twice": ("a: LD R, S\na: HALT", at(2, 1, "a is defined twice, first in <text>:1", "a: HALT")),
    "routine twice": ("proc f()\nend\nproc f()\nend", at(3, 6, "f is defined twice, first in <text>:1", "proc f()")),
    "macro twice": ("macro m()\nend\nmacro m()\nend",
        at(3, 7, "macro m is defined twice, first in line 1", "macro m()")),
    "misspelt routine": ("CALL vadd\nproc fadd()\nend",
        at(1, 6, "vadd is not a label or routine of this program", "CALL vadd", 4, "did you mean fadd?")),
    "wrong number of arguments": ("CALL f, #1\nproc f(a, b)\nend",
        at(1, 6, "f takes 2 arguments, not 1", "CALL f, #1", 1, "usage: CALL f, a, b")),
    "wrong number of macro arguments": ("macro m(a, b)\nend\nm #1, #2, #3",
        at(3, 11, "macro m takes 2 arguments, not 3", "m #1, #2, #3", 2, "usage: m a, b")),
    "routine in a routine": ("routine f()\nroutine g()\nend\nend",
        at(2, 9, "routine g is inside routine f", "routine g()")),
    "scratch under a placed range": ("range x[4]\nroutine f() uses 2, 8\nend",
        at(2, 9, "scratch of f, bytes 2..9, overlaps range x, bytes 0..3 (<text>:1), which was placed before; "
           "put the routine first", "routine f() uses 2, 8")),
    "data twice": ("data [0]: 1, 2\ndata [1]: 3",
        at(2, 6, "bytes 1..1 have data already (<text>:1)", "data [1]: 3", 3)),
    "too much data": ("range x[1]\ndata x: 1, 2", at(2, 6, "2 bytes of data, but there is room for 1", "data x: 1, 2")),
    "second else": ("if 1\nelse\nelse\nend", at(3, 1, "a second else", "else", 4, "the first is in line 2")),
    "runaway repeat": ("repeat i in 0 .. 1 << 40\nend",
        at(1, 1, "the program expands to more than 200000 lines", "repeat i in 0 .. 1 << 40", 6,
           "is a repeat longer than it should be?")),
    "fault in a macro": ("macro inner(q)\n  ST q, R\nend\nmacro outer(q)\n  inner q\nend\nouter #3",
        at(2, 6, "ST: address cannot be the immediate #3, allowed: a memory byte", "  ST q, R", 1,
           "in macro inner called at <text>:5:3", "in macro outer called at <text>:7:1")),
    "unknown name passed to a macro": ("const four = 4\nmacro m(q)\n  LD R, #q\nend\nm fuor",
        at(5, 3, "unknown name fuor", "m fuor", 4, "did you mean four?", "in macro m called at <text>:5:1")),
    "macro without end of its own": ("macro a()\nb\nend\nmacro b()\na\nend\na",
        at(5, 1, "macros call each other more than 32 deep", "a", 1, "a calls b calls a",
           *["in macro b called at <text>:2:1", "in macro a called at <text>:5:1"] * 2)),
    "too many parameters": ("routine f(a, b, c, d, e, g, h, i)\nend",
        at(1, 32, "f has 8 parameters, at most 7 are passed", "routine f(a, b, c, d, e, g, h, i)")),
    "blocks too deep": ("if 1\n" * 41 + "end\n" * 41, at(41, 1, "blocks are nested deeper than 40", "if 1", 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL_LINES)
def test_mistake_over_several_lines(name: str) -> None:
    text, expected = SEVERAL_LINES[name]
    assert message(text) == expected


def test_several_mistakes_come_in_the_order_of_the_text() -> None:
    text = "LDD R, S\nLD R\nJMP nowhere\nLD R, @\nLD R, #300"
    lines = [line for line in message(text).split("\n") if "error" in line]
    assert [line.split(":")[1] for line in lines[:-1]] == ["1", "2", "3", "4", "5"]
    assert lines[-1] == "5 errors"


def test_a_mistake_in_a_repeated_line_is_reported_once() -> None:
    assert message("repeat i in 0 .. 9\nLD R\nend").count("error") == 1


def test_one_wrong_definition_does_not_cause_more_messages() -> None:
    assert message("const n = 1 / 0\nrange x[n]\nLD R, x[n]\nLD R, #n").count("error") == 1
    assert message("range x[\nLD R, x").count("error") == 1
    assert message("routine f(a) uses 3\nend\nCALL f, #1").count("error") == 1


def test_many_mistakes_are_cut_off() -> None:
    text = message("\n".join(f"LD R, #{n}" for n in range(300, 400)))
    assert "50 errors" in text


def test_an_unknown_parameter_is_an_error() -> None:
    text = message("param SCRATCH = 1\nLD R, S", SCRACH=3)
    assert text == "error: the file has no param SCRACH\n    did you mean SCRATCH?"


def test_control_characters_of_the_source_stay_out_of_messages() -> None:
    assert "\x1b" not in message("LD R, \x1b[2J")


@pytest.mark.parametrize(
    "text",
    ["LD R, #" + "+".join(["1"] * 1900), "LD R, #" + "-" * 3000 + "1", "LD R, #" + "9" * 3000, "LD R, " + "x" * 3999],
)
def test_absurd_lines_are_refused_in_short(text: str) -> None:
    assert len(message(text)) < 1500


def test_expressions_are_nested_up_to_a_depth_of_100() -> None:
    """An operand is the first of them, what is in parentheses the next."""
    deepest = f"LD R, #{'(' * 99}1{')' * 99}\n"
    assert assemble(deepest).words == assemble("LD R, #1\n").words
    with pytest.raises(InputError, match="this is nested too deeply"):
        assemble(deepest.replace("1", "(1)"))


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("R", "register R"),
        ("x", "range x"),
        ("x[1]", r"the memory byte \[9\]"),
        ('"a"', 'the text "a"'),
        ("1.5", "the number 1.5"),
    ],
)
def test_a_value_where_an_integer_is_needed_is_named(value: str, named: str) -> None:
    with pytest.raises(InputError, match=f"an integer is needed here, not {named}"):
        assemble(f"range x[4] at 8\nrepeat i in 0 .. {value}\nend\n")


def test_forty_blocks_are_read_on_after_a_fault() -> None:
    with pytest.raises(InputError) as caught:
        assemble("if 1\n" * 40 + "LD )\nLD (\n" + "end\n" * 40)
    assert len(caught.value.faults) == 2


def test_a_line_beyond_all_bounds() -> None:
    assert "the line is longer than 4000 characters" in message("LD R, S".ljust(4001))
    assert len(assemble("LD R, S".ljust(4000)).instructions) == 2, "and HALT"


def test_a_bad_loop_is_one_fault_and_its_end_none() -> None:
    with pytest.raises(InputError) as caught:
        assemble("LOOP 70000\nLD R, #1\nENDL\n")
    (fault,) = caught.value.faults
    assert fault.message == "LOOP: count is 70000, allowed: an integer 0..65535"
    with pytest.raises(InputError) as caught:
        assemble("LOOP 70000\nENDL\nENDL\n")
    assert [fault.message for fault in caught.value.faults][1:] == ["ENDL without LOOP"]


def test_a_routine_of_the_library_names_its_include() -> None:
    with pytest.raises(InputError) as refused:
        assemble("CALL fadd, [0], [4], [8]\nHALT\n")
    assert refused.value.faults[0].hint == f"the library has it: {find(Library.TUNED, Operation.ADD).include}"
